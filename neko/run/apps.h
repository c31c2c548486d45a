/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of processes: the built-in ones, and those of shared objects. */
#ifndef NEKO_RUN_APPS_H
#define NEKO_RUN_APPS_H

#include "common/base/err.h"
#include "neko/core/neko.h"

#define APPS_KINDS_MAX 256 /* kinds in a shared object: a longer table is refused */

/* Ends with a NULL name. */
extern const struct neko_kind apps[];

/* Pushes no layers. */
int apps_nothing(struct neko_process *p, struct setup *s, struct err *e);

/* The tables of a shared object; NULL for one that it does not have. */
struct apps_object {
	const struct neko_kind *kinds;
	const struct neko_net_ops *nets;
	const struct neko_clock_ops *clocks;
};

/*
 * path: such as "./mine.so". The object stays loaded, because it contains names of types and
 * events. Fails with ERR_INVALID, ERR_NOTFOUND, and ERR_UNSUPPORTED for another version.
 */
int apps_load(const char *path, struct apps_object *out, struct err *e);

/* own: the table of a shared object, which is searched first, or NULL. Fails with ERR_NOTFOUND. */
int apps_find(const char *name, const struct neko_kind *own, const struct neko_kind **out,
	      struct err *e);

/* Fails with ERR_NOTFOUND; the text has the known names. */
int apps_find_net(const char *name, const struct neko_net_ops *nets,
		  const struct neko_net_ops **out, struct err *e);

int apps_find_clock(const char *name, const struct neko_clock_ops *clocks,
		    const struct neko_clock_ops **out, struct err *e);

#endif
