/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the jobs for omig web: samples, the strip, the objects, and the efficiencies.
 * One session reads it, however many viewers look.
 */
#ifndef TOOLS_PAGE_SCENE_H
#define TOOLS_PAGE_SCENE_H

#include "tools/page/strip.h"
#include "tools/summary/efficiency.h"
#include "tools/view/tree.h"

/* Totals of a rank at a moment, for rates over more than one sample. */
struct scene_mark {
	char token[TOP_TOKEN_BYTES];
	double time_s, mpi_s;
};

struct scene_marks {
	struct scene_mark *v; /* owned */
	size_t n;
	nsec_t at; /* wall time */
};

struct scene {
	const char *job; /* borrowed; NULL: all */
	nsec_t every;
	struct top_sample now; /* ranks are sorted by job and rank */
	struct strip *strip; /* owned */
	Omis_value *list; /* owned; of omig_tree() */
	struct tree tree;
	uint64_t version, tree_version; /* change with what they count */
	uint64_t samples;
	nsec_t lost_at; /* wall time; 0: mainsm is connected */
	nsec_t next; /* clock_mono() of the next sample */
	bool is_asked; /* a sample is under way */
	uint64_t round; /* of requests; replies to earlier rounds are dropped */
	struct scene_marks mark[2]; /* the older one is in use */
	struct efficiency efficiency; /* over span_s, of the job with the most ranks */
	char largest[TOP_NAME_BYTES]; /* that job */
	size_t jobs; /* with ranks */
	size_t ranks, hosts; /* of MPI; with processes */
	double computes; /* share of the time of all ranks; NaN: not known */
	double span_s; /* 0: not known yet */
};

/* -ERR_NOMEM. */
int scene_init(struct scene *b, const char *job, nsec_t every);
void scene_done(struct scene *b);

/* Requests the next sample when it is due. It never waits for one. */
void scene_turn(struct scene *b);

/* After a time without mainsm: rates begin again. */
void scene_restart(struct scene *b);

/* Notes that mainsm is gone, or back. */
void scene_set_lost(struct scene *b, bool is_lost);

/* Appends the sentence that a viewer reads first. */
void scene_answer(const struct scene *b, struct buf *out);

#endif
