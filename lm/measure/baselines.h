/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Baselines of measurements, on disk. Counters are in the segments and in the system, which outlive
 * an lm. Their values at the begin of a measurement are only here. From them the next lm continues
 * the measurement. Baselines are valid for one boot of the host.
 */
#ifndef LM_MEASURE_BASELINES_H
#define LM_MEASURE_BASELINES_H

#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>

/* some eight thousand; further ones are not stored */
#define BASELINES_MAX_BYTES (1024 * 1024)
#define BASELINES_KEY_BYTES 256

struct disk;
struct loop;
struct baselines;

struct baselines_conf {
	struct loop *loop;
	const char *path; /* NULL: nothing is stored */
	const struct disk *disk; /* of it; NULL: the system's */
	const char *boot; /* id of this boot; all but the loop borrowed for the call */
	/* what an earlier lm has left is given up when it was not requested in this time */
	nsec_t keep;
};

/* What is there of an earlier lm; a file of another boot is as none. So is one that cannot be
 * read, which is logged.
 * NULL without memory. */
struct baselines *baselines_open(const struct baselines_conf *c);

/* The file stays as it is. NULL is fine. */
void baselines_close(struct baselines *b);

/* Notes that this lm ends in good order, and switches counting off. Written at once. */
void baselines_cut(struct baselines *b);

struct base {
	double value, open; /* open: time in calls that were open then */
	bool is_cut; /* counting was switched off for a while */
};

/* What an earlier lm has left under that key; once, it is ours then. The key has no line end. */
bool baselines_take(struct baselines *b, const char *key, struct base *out);

/* Stores a baseline; written at the end of the turn. */
void baselines_put(struct baselines *b, const char *key, const struct base *v);

/* Drops all keys with this prefix. */
void baselines_drop(struct baselines *b, const char *prefix);

#endif
