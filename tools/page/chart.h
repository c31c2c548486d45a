/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Charts: measurements that viewers have requested, with the last reads. Viewers that request the
 * same share one. A chart of many objects is five quantiles and the highest object, made when a
 * read arrives: its cost depends neither on viewers nor, on the way to them, on objects.
 */
#ifndef TOOLS_PAGE_CHART_H
#define TOOLS_PAGE_CHART_H

#include "common/base/limits.h"
#include "common/json/json.h"
#include "tools/measure/charts_picture.h"

#define CHART_READS 600 /* ten minutes of a read a second */
#define CHART_CURVES_MAX 8 /* of one chart: eight colours can be distinguished */
#define CHART_BANDS 5 /* least, 10 %, median, 90 %, most */

/* A chart that a viewer requests. */
struct chart_wanted {
	const char *metric, *text; /* text "": a metric that mainsm has */
	const char *by; /* process, node, site or "" */
	bool rate; /* per second; else the increase since the last read */
};

struct chart_band {
	double q[CHART_BANDS]; /* NaN: nothing is known */
	double bound; /* the largest of all */
	uint32_t highest; /* object */
	uint32_t known;
};

struct chart {
	unsigned id; /* 0: free */
	char *metric, *text, *by; /* owned */
	bool rate;
	unsigned viewers;
	nsec_t unused_at; /* clock_mono(); with viewers 0 */
	struct measurement_options options;
	struct measurement m;
	bool is_on; /* m is begun */
	struct history *history;
	uint64_t reads; /* all; the history has the last ones */
	struct chart_band band[CHART_READS]; /* by read number */
	struct buf words; /* owned; about the last read */
	char why[256]; /* it has ended; "": it has not */
};

struct charts_all {
	struct chart *chart[PAGE_CHARTS_MAX]; /* owned; NULL: none */
	unsigned last_id;
	const char *job;
	nsec_t every;
	uint64_t version; /* changes with each read */
};

/*
 * Finds or begins a chart and counts a viewer of it. Blocks for its requests to mainsm. NULL:
 * `why` has the reason.
 */
struct chart *charts_open(struct charts_all *c, const struct chart_wanted *w, char *why,
			  size_t size);
struct chart *charts_find(const struct charts_all *c, unsigned id);
/* One viewer less; a chart without one ends some seconds later. */
void charts_leave(struct charts_all *c, unsigned id);

/* Takes new reads; ends charts that are not used. */
void charts_turn(struct charts_all *c);
/* After a time without mainsm: begins all again. */
void charts_restart(struct charts_all *c);
void charts_done(struct charts_all *c);

/*
 * Writes an object with all reads from number `from` on that are kept. is_banded: the viewer has
 * seen bands until now; if that changes, all reads are written.
 */
struct chart_seen {
	uint64_t next;
	bool is_banded;
};
void chart_put(const struct chart *c, struct chart_seen *seen, struct json *j);

/* Makes the sentence about the last read, for all viewers. */
void chart_say(struct chart *c);

#endif
