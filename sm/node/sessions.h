/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools with requests here, by their session numbers. If mainsm does not return, the sm
 * announces to the hosts that they have left. Pure.
 */
#ifndef SM_NODE_SESSIONS_H
#define SM_NODE_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOOLS_SEEN_MAX 4096 /* TOOLS_MAX at a time; tools that left are removed */

struct sessions;

struct sessions *sessions_new(void);
void sessions_free(struct sessions *t);

/* Notes that the tool has requests here. -ERR_LIMIT, -ERR_NOMEM. */
int sessions_seen(struct sessions *t, uint32_t tool);

/* The tool has left. */
void sessions_gone(struct sessions *t, uint32_t tool);

bool sessions_has(const struct sessions *t, uint32_t tool);
size_t sessions_count(const struct sessions *t);

/* Returns any tool, to remove them one by one; false if there is none. */
bool sessions_any(const struct sessions *t, uint32_t *tool);

#endif
