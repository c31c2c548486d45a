/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an lm knows which processes without a segment belong to a program that is to be watched:
 * `omig run` and `omig exec` put a variable into its environment, which all have that come of it.
 */
#ifndef COMMON_RING_CHOSEN_H
#define COMMON_RING_CHOSEN_H

#include <stdbool.h>

/* its value: the pid of the first of them, which is no other program's */
#define CHOSEN_VARIABLE "OMIG_CHOSEN"

/*
 * A launcher of MPI programs, or a daemon of one, by the last part of its path: neither it nor what
 * comes of it is chosen, for its ranks come by themselves.
 */
bool chosen_is_launcher(const char *program);

#endif
