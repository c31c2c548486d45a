/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that a tree can cost: processes that do nothing but pass a word
 * down and a word up over loopback TCP with TCP_NODELAY. root - one inner
 * process - n leaves, as mainsm - sm - lms.
 */
#ifndef BENCH_FLOOR_TREE_H
#define BENCH_FLOOR_TREE_H

#include "bench/bench.h"

struct floor_tree;

struct floor_tree *floor_tree_start(unsigned leaves);

/* One wave: a word to every leaf, the sum of their answers back. Nanoseconds. */
int64_t floor_tree_wave(struct floor_tree *t);

void floor_tree_stop(struct floor_tree *t);

#endif
