/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by lies.c and lies_words.c. */
#ifndef SIM_ROGUES_LIES_INTERNAL_H
#define SIM_ROGUES_LIES_INTERNAL_H

#include "sim/rogues/lies.h"

uint64_t lies_below(struct lies *l, uint64_t n);
bool lies_one_in(struct lies *l, uint64_t n);

/*
 * Returns a token of another peer if the rogue is bold, otherwise one of its own. class 0: a node,
 * process or thread. Invents a token if none is known.
 */
const char *lies_token(struct lies *l, char class);

/*
 * Appends the message with a changed part; appends nothing if no part of the message can be
 * changed.
 */
void lies_reword(struct lies *l, const uint8_t *p, size_t n, struct buf *out);

#endif
