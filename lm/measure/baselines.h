/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Baselines of measurements, on disk. Counters are in the segments and in the system, which outlive
 * an lm. Only this file has their values at the start of a measurement. The next lm continues the
 * measurement from them. Baselines are valid for one boot of the host.
 */
#ifndef LM_MEASURE_BASELINES_H
#define LM_MEASURE_BASELINES_H

#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>

/* some eight thousand baselines; further ones are not stored */
#define BASELINES_MAX_BYTES (1024 * 1024)
#define BASELINES_KEY_BYTES 256

struct disk;
struct loop;
struct baselines;

struct baselines_conf {
	struct loop *loop;
	const char *path; /* NULL: nothing is stored */
	const struct disk *disk; /* for the file; NULL: the system's */
	const char *boot; /* id of this boot; all but the loop borrowed for the call */
	/* time after which an earlier lm's baseline is dropped if not requested */
	nsec_t keep;
};

/*
 * Reads the baselines of an earlier lm. A file of another boot counts as empty. A file that cannot
 * be read does so too, and is logged. Returns NULL without memory.
 */
struct baselines *baselines_open(const struct baselines_conf *c);

/* Leaves the file as it is. NULL is fine. */
void baselines_close(struct baselines *b);

/* Stores that this lm ends orderly and switches counting off. Writes the file at once. */
void baselines_cut(struct baselines *b);

struct base {
	double value, open; /* open: time in calls that were open then */
	bool is_cut; /* counting was switched off for a while */
};

/*
 * Takes the baseline of an earlier lm under that key, once; it then belongs to this lm. The key has
 * no line end.
 */
bool baselines_take(struct baselines *b, const char *key, struct base *out);

/* Stores a baseline; written at the end of the turn. */
void baselines_put(struct baselines *b, const char *key, const struct base *v);

/* Drops all keys with this prefix. */
void baselines_drop(struct baselines *b, const char *prefix);

#endif
