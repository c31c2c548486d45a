/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one tool is attached to: sites, nodes and processes; threads follow
 * their process. Tokens, not objects: an object may go, its token never comes
 * again. Pure.
 */
#ifndef MAINSM_SCOPE_H
#define MAINSM_SCOPE_H

#include "mainsm/directory.h"

struct scope;

/* NULL without memory. */
struct scope *scope_new(void);
void scope_free(struct scope *s);

/*
 * Attaches a site, node or process, and what contains it. 1: it was not
 * attached before, 0: it was, -ERR_NOMEM, -ERR_INVALID (a thread).
 */
int scope_attach(struct scope *s, const struct object *o);

/* And what it contains. 1, or 0 when it was not attached. */
int scope_detach(struct scope *s, const struct object *o);

/* The object is leaving the directory. */
void scope_forget(struct scope *s, const struct object *o);

/* Attached; for a thread: its process is. */
bool scope_has(const struct scope *s, const struct object *o);

size_t scope_count(const struct scope *s);

/* Goes up whenever the set changes. */
uint64_t scope_version(const struct scope *s);

#endif
