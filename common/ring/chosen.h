/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks programs that are watched without a segment. `omig run` and `omig exec` set a variable in
 * the environment. All descendants inherit it, and an lm recognises them by it.
 */
#ifndef COMMON_RING_CHOSEN_H
#define COMMON_RING_CHOSEN_H

#include <stdbool.h>

/* its value is the pid of the program's first process, which no other program shares */
#define CHOSEN_VARIABLE "OMIG_CHOSEN"

/*
 * True for a launcher of MPI programs or a daemon of one, by the last part of its path. Neither it
 * nor its descendants are chosen, because ranks register themselves.
 */
bool chosen_is_launcher(const char *program);

#endif
