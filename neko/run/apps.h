/* SPDX-License-Identifier: Apache-2.0 */
/* What a process can be: what comes with us, and shared objects of others. */
#ifndef NEKO_RUN_APPS_H
#define NEKO_RUN_APPS_H

#include "common/base/err.h"
#include "neko/core/neko.h"

#define APPS_KINDS_MAX 256 /* of a shared object: more is no table */

/* Ends with a NULL name. */
extern const struct neko_kind apps[];

/* The one that has no layers. */
int apps_nothing(struct neko_process *p, struct setup *s, struct err *e);

/*
 * "./mine.so". It stays for the life of the program: types and events have their names in it.
 * ERR_INVALID, ERR_NOTFOUND, ERR_UNSUPPORTED (of another version).
 */
int apps_load(const char *path, const struct neko_kind **out, struct err *e);

/* own: of a shared object, looked at first; NULL for none. ERR_NOTFOUND. */
int apps_find(const char *name, const struct neko_kind *own, const struct neko_kind **out,
	      struct err *e);

#endif
