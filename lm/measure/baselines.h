/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where measurements began to count, on disk. What they count stands in the segments and in the
 * system, which outlive an lm; what it was when a measurement began only the lm knows. With this
 * the next lm counts on from the same place. It outlives an lm, and no boot.
 */
#ifndef LM_MEASURE_BASELINES_H
#define LM_MEASURE_BASELINES_H

#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>

/* some eight thousand; the others are as if nothing was kept */
#define BASELINES_MAX_BYTES (1024 * 1024)
#define BASELINES_KEY_BYTES 256

struct disk;
struct loop;
struct baselines;

struct baselines_conf {
	struct loop *loop;
	const char *path; /* NULL: nothing is kept */
	const struct disk *disk; /* of it; NULL: the system's */
	const char *boot; /* of which boot of the machine; all borrowed for the call but the loop */
	/* what an lm before us has left is given up when it was not asked for in this time */
	nsec_t keep;
};

/* What is there of an lm before us; a file of another boot is as none. So is one that cannot be
 * read, which is logged.
 * NULL without memory. */
struct baselines *baselines_open(const struct baselines_conf *c);

/* The file stays as it is. NULL is fine. */
void baselines_close(struct baselines *b);

/* This lm ends in good order, and switches counting off: the next one knows it. Written at once. */
void baselines_cut(struct baselines *b);

struct base {
	double value, open; /* open: of calls that were under way then */
	bool is_cut; /* counting was switched off for a while */
};

/* What an lm before us has left under that key; once, it is ours then. The key has no line end. */
bool baselines_take(struct baselines *b, const char *key, struct base *out);

/* Written at the end of the turn. */
void baselines_put(struct baselines *b, const char *key, const struct base *v);

/* All keys that begin so. */
void baselines_drop(struct baselines *b, const char *prefix);

#endif
