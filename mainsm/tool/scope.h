/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one tool is attached to: sites, nodes and processes; threads follow
 * their process, unless they were detached alone. Tokens, not objects: an object may go, its token
 * never comes again. Pure.
 */
#ifndef MAINSM_TOOL_SCOPE_H
#define MAINSM_TOOL_SCOPE_H

#include "mainsm/directory/directory.h"

struct scope;

/* NULL without memory. */
struct scope *scope_new(void);
void scope_free(struct scope *s);

/*
 * Attaches a site, node or process, and what contains it. 1: it was not
 * attached before, 0: it was, -ERR_NOMEM, -ERR_INVALID (a thread).
 */
int scope_attach(struct scope *s, const struct object *o);

/*
 * And what it contains. 1, or 0 when it was not attached. A thread that was detached alone comes
 * back when its process is detached and attached again; -ERR_NOMEM for a thread only.
 */
int scope_detach(struct scope *s, const struct object *o);

/* The object is leaving the directory. */
void scope_forget(struct scope *s, const struct object *o);

/* Attached; for a thread: its process is, and it was not detached alone. */
bool scope_has(const struct scope *s, const struct object *o);

/* None of the process's threads was detached alone. O(threads) when any thread was. */
bool scope_has_all(const struct scope *s, const struct object *proc);

/* Some thread was detached alone. */
bool scope_hides_any(const struct scope *s);

size_t scope_count(const struct scope *s);

/* A number that increases whenever the set changes. */
uint64_t scope_version(const struct scope *s);

#endif
