/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by lies.c and lies_words.c. */
#ifndef SIM_ROGUES_LIES_INTERNAL_H
#define SIM_ROGUES_LIES_INTERNAL_H

#include "sim/rogues/lies.h"

uint64_t lies_below(struct lies *l, uint64_t n);
bool lies_one_in(struct lies *l, uint64_t n);

/* A token of another peer for a bold rogue, else of its own; class 0: node, process or thread.
 * Invented when none is known. */
const char *lies_token(struct lies *l, char class);

/* The message says something else; nothing, when there is nothing that is known how to be said
 * otherwise. */
void lies_reword(struct lies *l, const uint8_t *p, size_t n, struct buf *out);

#endif
