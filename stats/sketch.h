/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sketch for quantiles and histograms: values in a fixed number of buckets. An octave has 64
 * buckets at level 0: the middle of a bucket is within 1/128 of every value in it. If values need
 * more than SKETCH_BUCKETS buckets, each two neighbours are merged: the level rises by one, and the
 * relative error doubles. Every value counts, and the bound of the error is known. The order of
 * values and merges has no influence.
 */
#ifndef STATS_SKETCH_H
#define STATS_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

#define SKETCH_BUCKETS 512 /* 8 octaves at level 0, enough for usual times and sizes */
#define SKETCH_LEVEL_MAX 10 /* at this level, 512 buckets hold all doubles */

/* Only sketch.c, and the readers and writers of messages, use the members. */
struct sketch {
	uint64_t zeros; /* zeros, and values too small for a normal number */
	uint32_t level, n; /* buckets in use */
	int32_t key[SKETCH_BUCKETS]; /* rising, in the order of the values */
	uint64_t count[SKETCH_BUCKETS]; /* > 0 */
};

struct sketch_bucket {
	double from, to; /* from <= to; both 0 for the zeros */
	uint64_t count;
};

void sketch_init(struct sketch *s);
void sketch_add(struct sketch *s, double v); /* v is finite */
void sketch_merge(struct sketch *s, const struct sketch *from);
void sketch_copy(struct sketch *s, const struct sketch *from);

/*
 * Returns the value with `rank` values below it (rank < number of values), and its largest error.
 */
double sketch_at(const struct sketch *s, uint64_t rank, double *error);

/*
 * Returns buckets by rising value, including that of the zeros; false behind the last one. *i
 * starts at 0.
 */
bool sketch_next(const struct sketch *s, uint32_t *i, struct sketch_bucket *out);

uint64_t sketch_total(const struct sketch *s);

/*
 * True if keys are valid and rise, and counts are not 0 and do not overflow: a check of data from a
 * peer.
 */
bool sketch_is_sane(const struct sketch *s);

#endif
