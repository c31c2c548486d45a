/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of processes: the built-in ones, and those of shared objects. */
#ifndef NEKO_RUN_APPS_H
#define NEKO_RUN_APPS_H

#include "common/base/err.h"
#include "neko/core/neko.h"

#define APPS_KINDS_MAX 256 /* of a shared object: a longer table is refused */

/* Ends with a NULL name. */
extern const struct neko_kind apps[];

/* The kind without layers. */
int apps_nothing(struct neko_process *p, struct setup *s, struct err *e);

/*
 * path: "./mine.so". The object stays loaded, because it contains names of types and events.
 * ERR_INVALID, ERR_NOTFOUND, ERR_UNSUPPORTED (of another version).
 */
int apps_load(const char *path, const struct neko_kind **out, struct err *e);

/* own: the table of a shared object, which is searched first, or NULL. ERR_NOTFOUND. */
int apps_find(const char *name, const struct neko_kind *own, const struct neko_kind **out,
	      struct err *e);

#endif
