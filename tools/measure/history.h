/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last reads of a measurement: a value with its bound for each object and read. The oldest read
 * is dropped for a new one. An object that a read does not have is unknown in it (NaN).
 */
#ifndef TOOLS_MEASURE_HISTORY_H
#define TOOLS_MEASURE_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#define HISTORY_READS_MAX 6000 /* ten minutes at 10 Hz */
#define HISTORY_VALUES_MAX (1u << 22) /* objects x reads: 64 MiB; 4,096 objects at 1 Hz fit */

struct history;

/* Keeps at most `reads` reads (1 to HISTORY_READS_MAX). NULL: no memory. */
struct history *history_new(size_t reads);
void history_free(struct history *h);

/* Begins a read at this wall time. */
void history_begin(struct history *h, int64_t wall_ns);

/*
 * Sets the value of an object in the last read. -ERR_NOMEM; -ERR_LIMIT: there are too many objects,
 * and this one is left out and counted.
 */
int history_set(struct history *h, const char *name, double value, double bound);

size_t history_reads(const struct history *h);
size_t history_objects(const struct history *h);
/* The number of values that were left out. */
uint64_t history_left_out(const struct history *h);

/* Read 0 is the oldest one that is kept. */
int64_t history_time(const struct history *h, size_t read);
const char *history_name(const struct history *h, size_t object);
double history_value(const struct history *h, size_t object, size_t read);
double history_bound(const struct history *h, size_t object, size_t read);

#endif
