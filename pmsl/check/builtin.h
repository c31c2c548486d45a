/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in metrics (builtin.def), which a host reads without a graph. */
#ifndef PMSL_CHECK_BUILTIN_H
#define PMSL_CHECK_BUILTIN_H

#include "pmsl/text/type.h"

#include <stdbool.h>
#include <stdint.h>

enum pmsl_quantity {
	PMSL_Q_COUNT,
	PMSL_Q_DELAY,
	PMSL_Q_VOLUME, /* in and out, or the only direction of the class */
	PMSL_Q_VOLUME_OUT,
	PMSL_Q_VOLUME_IN,
	PMSL_QUANTITIES,
	PMSL_Q_SAMPLED = PMSL_QUANTITIES,
};

#define PMSL_BUILTIN_NAME_BYTES 64
#define PMSL_BUILTIN_TEXT_BYTES 128

struct pmsl_builtin {
	char name[PMSL_BUILTIN_NAME_BYTES]; /* "Send_volume" */
	char text[PMSL_BUILTIN_TEXT_BYTES]; /* one line, lower case, no full stop */
	const char *unit; /* for pmsl_unit_parse() */
	enum pmsl_quantity quantity;
	/* bits of enum call_class: classes that count; 0 = one call, or sampled */
	uint32_t classes;
	int call; /* id of the call; -1 = a class, or sampled */
	bool counts_out, counts_in; /* directions that a volume counts */
	bool is_total; /* accumulates since the start; else it is the present value */
	bool is_by_partner; /* takes partners and regions */
	bool is_of_region; /* measures a region itself, and needs its name */
	bool is_by_mount; /* takes regions: names of file systems, each by a path on it */
	bool is_of_plugin; /* takes a region: the name of a metric of a plug-in */
	enum pmsl_kind object; /* PROCESS or NODE; NONE = the value is the same everywhere */
};

/*
 * Ids are 0 .. pmsl_builtin_ids() - 1. pmsl_builtin_get() returns false for an unused one. Any
 * thread.
 */
unsigned pmsl_builtin_ids(void);
bool pmsl_builtin_get(unsigned id, struct pmsl_builtin *out);

/* Returns -1 if there is none of that name. */
int pmsl_builtin_find(const char *name);

struct nearest;

/* Tries all names. The nearest one is copied to best, and n->best points there. */
void pmsl_builtin_try(struct nearest *n, char best[PMSL_BUILTIN_NAME_BYTES]);

/* The requested form of a metric's values. */
struct pmsl_builtin_use {
	bool by_partners, by_regions, at_probe;
};

/*
 * Returns the reason why the metric has no such values, as text behind its name; NULL if it has
 * them. The reason does not depend on the processes.
 */
const char *pmsl_builtin_refusal(const struct pmsl_builtin *b, const struct pmsl_builtin_use *use);

/* True for a name that a plug-in may give to its metric. */
bool pmsl_builtin_is_plugged(const char *name);

/* True for a name of a file system. */
bool pmsl_builtin_is_mount(const char *name);
#define PMSL_BUILTIN_MOUNTS \
	"a file system is a path on it that begins with /, or pipe, socket or other"

/* Returns the parameters, as in "Process[] objects, Region[] regions, TimeInterval time". */
const char *pmsl_builtin_params(const struct pmsl_builtin *b);

#endif
