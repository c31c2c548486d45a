/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scope of one tool: attached sites, nodes and processes. Threads follow their process, unless
 * they were detached separately. The scope has tokens, not objects: an object may end, but its
 * token is never reused. Pure.
 */
#ifndef MAINSM_TOOL_SCOPE_H
#define MAINSM_TOOL_SCOPE_H

#include "mainsm/directory/directory.h"

struct scope;

/* Returns NULL without memory. */
struct scope *scope_new(void);
void scope_free(struct scope *s);

/*
 * Attaches a site, node or process, and its containers. Returns 1: it was not attached before, 0:
 * it was, -ERR_NOMEM, -ERR_INVALID (a thread).
 */
int scope_attach(struct scope *s, const struct object *o);

/*
 * Detaches the object and its contents. Returns 1, or 0 if it was not attached. A thread that was
 * detached separately returns when its process is detached and attached again; -ERR_NOMEM for a
 * thread only.
 */
int scope_detach(struct scope *s, const struct object *o);

/* The object is being removed from the directory. */
void scope_forget(struct scope *s, const struct object *o);

/* True if attached; for a thread: its process is, and it was not detached separately. */
bool scope_has(const struct scope *s, const struct object *o);

/* True if none of the process's threads was detached separately. O(threads) if any thread was. */
bool scope_has_all(const struct scope *s, const struct object *proc);

/* True if some thread was detached separately. */
bool scope_hides_any(const struct scope *s);

size_t scope_count(const struct scope *s);

/* Returns a number that increases with each change of the set. */
uint64_t scope_version(const struct scope *s);

#endif
