/* SPDX-License-Identifier: Apache-2.0 */
/* A file that a benchmark shares with the ranks of bench-loop: their pace. */
#ifndef BENCH_PACE_H
#define BENCH_PACE_H

#include <stdint.h>

struct pace {
	int64_t go; /* 0: they have not begun; -1: they end */
	int64_t rate; /* iterations a second of each; 0: they wait */
	int64_t turn; /* grows with each change of the rate */
};

/* The benchmark's side. On failure the program ends. */
struct pace *pace_make(const char *path);
void pace_begin(struct pace *p);
void pace_set(struct pace *p, int64_t rate);

/* Ends the ranks; p is invalid afterwards. */
void pace_end(struct pace *p);

#endif
