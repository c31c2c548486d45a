/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools with requests here, by their session numbers: when mainsm is gone for good, the sm
 * announces to the hosts that they have left. Pure.
 */
#ifndef SM_NODE_SESSIONS_H
#define SM_NODE_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOOLS_SEEN_MAX 4096 /* TOOLS_MAX at a time; those that left are taken out */

struct sessions;

struct sessions *sessions_new(void);
void sessions_free(struct sessions *t);

/* Notes that the tool has requests here. -ERR_LIMIT, -ERR_NOMEM. */
int sessions_seen(struct sessions *t, uint32_t tool);

/* The tool has left. */
void sessions_gone(struct sessions *t, uint32_t tool);

bool sessions_has(const struct sessions *t, uint32_t tool);
size_t sessions_count(const struct sessions *t);

/* Any that is here; false when none is: for taking them out one by one. */
bool sessions_any(const struct sessions *t, uint32_t *tool);

#endif
