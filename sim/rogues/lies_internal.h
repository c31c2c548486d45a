/* SPDX-License-Identifier: Apache-2.0 */
/* Of the two files of lies. */
#ifndef SIM_ROGUES_LIES_INTERNAL_H
#define SIM_ROGUES_LIES_INTERNAL_H

#include "sim/rogues/lies.h"

uint64_t lies_below(struct lies *l, uint64_t n);
bool lies_one_in(struct lies *l, uint64_t n);

/* Of another peer, for a bold rogue, else its own; class 0: any of node, process and thread. Made
 * up when none is known. */
const char *lies_token(struct lies *l, char class);

/* The message says something else; nothing, when there is nothing that is known how to be said
 * otherwise. */
void lies_reword(struct lies *l, const uint8_t *p, size_t n, struct buf *out);

#endif
