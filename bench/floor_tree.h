/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor for a tree of daemons: processes that only pass a few bytes down and up over loopback
 * TCP with TCP_NODELAY. The root, one inner process and n leaves correspond to mainsm, sm and lms.
 */
#ifndef BENCH_FLOOR_TREE_H
#define BENCH_FLOOR_TREE_H

#include "bench/bench.h"

struct floor_tree;

struct floor_tree *floor_tree_start(unsigned leaves);

/*
 * Returns the nanoseconds of one round: a number to each leaf, and the sum of their answers
 * back.
 */
int64_t floor_tree_wave(struct floor_tree *t);

void floor_tree_stop(struct floor_tree *t);

#endif
