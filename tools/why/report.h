/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a search as text and as JSON. */
#ifndef TOOLS_WHY_REPORT_H
#define TOOLS_WHY_REPORT_H

#include "common/json/json.h"
#include "tools/term/term.h"
#include "tools/why/blocks.h"
#include "why/search.h"

#define REPORT_FINDINGS_SHOWN 5 /* a reader needs no more; --json and --all have all */

/* All is borrowed. */
struct report {
	const struct why *why;
	const struct kept *kept;
	const struct hosts *hosts;
	const char *job, *program; /* program "": not known */
	double threshold;
	int64_t asked, answered; /* objects of the last read */
	size_t silent_blocks; /* in which some did not reply */
	bool has_ended; /* the job */
};

/* --- report.c */

/* Appends the first line, the findings, and what was ruled out or could not be tested. */
void report_show(const struct report *r, const struct term *t, struct buf *out);

/* Appends one finding, of several lines. */
void report_finding(const struct report *r, const struct term *t, const struct why_finding *f,
		    struct buf *out);

/* Appends a table of all hypotheses. -ERR_NOMEM. */
int report_all(const struct report *r, struct buf *out);

/* Returns NULL if no finding has that number. */
const struct why_finding *report_find(const struct report *r, int64_t number);

/* The name of the host; "?" for an index of none. */
const char *report_host(const struct report *r, uint32_t host);

/* Appends "rank 17 on node3", "ranks 1 and 2", "node3"; nothing without a place. */
void report_place(const struct report *r, const struct why_finding *f, struct buf *out);

/* The present findings with a severity above that share. */
size_t report_above(const struct report *r, double share);

/* --- report_explain.c: the figures of the last blocks behind one finding. -ERR_NOMEM. */
int report_explain(const struct report *r, const struct term *t, const struct why_finding *f,
		   struct buf *out);

/* --- report_json.c: objects of which each is one line */
void report_finding_json(const struct report *r, const struct why_finding *f, struct json *j);
/* all: with each hypothesis. */
void report_summary_json(const struct report *r, bool all, struct json *j);
/* Writes the key "blocks", with the figures of report_explain(). */
void report_explain_json(const struct report *r, const struct why_finding *f, struct json *j);

/* --- commands.c: requests that show a finding, as lines for a shell */
#define COMMANDS_MAX 8
#define COMMANDS_BYTES 256

struct commands {
	char line[COMMANDS_MAX][COMMANDS_BYTES];
	size_t n;
};

void commands_of(const struct report *r, const struct why_finding *f, struct commands *out);

#endif
