/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks the programs to be watched that have no segment. `omig run` and `omig exec` set a variable
 * in the environment. All descendants inherit it, so that an lm recognises them.
 */
#ifndef COMMON_RING_CHOSEN_H
#define COMMON_RING_CHOSEN_H

#include <stdbool.h>

/* value: the pid of the first process of the program, which no other program shares */
#define CHOSEN_VARIABLE "OMIG_CHOSEN"

/*
 * True for a launcher of MPI programs or a daemon of one, by the last part of its path. Neither it
 * nor its descendants are chosen, because ranks register themselves.
 */
bool chosen_is_launcher(const char *program);

#endif
