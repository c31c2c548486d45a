/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools that have asked for something, by their session numbers: when
 * mainsm is gone for good, somebody has to tell the hosts that they left. Pure.
 */
#ifndef SM_NODE_SESSIONS_H
#define SM_NODE_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOOLS_SEEN_MAX 4096 /* TOOLS_MAX at a time; those that left are taken out */

struct tools;

struct tools *tools_new(void);
void tools_free(struct tools *t);

/* It is here. -ERR_LIMIT, -ERR_NOMEM. */
int tools_seen(struct tools *t, uint32_t tool);

/* It left. */
void tools_gone(struct tools *t, uint32_t tool);

bool tools_has(const struct tools *t, uint32_t tool);
size_t tools_count(const struct tools *t);

/* Any that is here; false when none is: for taking them out one by one. */
bool tools_any(const struct tools *t, uint32_t *tool);

#endif
