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
	uint32_t classes; /* bits of enum call_class whose calls count; 0 = one call, or sampled */
	int call; /* id of that call, -1 = a class, or sampled */
	bool counts_out, counts_in; /* directions that a volume counts */
	bool is_total; /* accumulates since the start; else it is the present value */
	bool is_by_partner; /* takes partners and regions */
	bool is_of_region; /* of a region itself: takes regions, and needs one */
	bool is_by_mount; /* takes regions: its file systems, by any path on them */
	enum pmsl_kind object; /* PROCESS, NODE; NONE = the same everywhere */
};

/* Ids are 0 .. pmsl_builtin_ids() - 1, with unused ones: false for these. Any thread. */
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
 * Returns why the metric has no such values, as text to follow its name; NULL: it has. The set of
 * calls does not depend on the processes.
 */
const char *pmsl_builtin_refusal(const struct pmsl_builtin *b, const struct pmsl_builtin_use *use);

/* True for a name of a file system. */
bool pmsl_builtin_is_mount(const char *name);
#define PMSL_BUILTIN_MOUNTS \
	"a file system is a path on it that begins with /, or pipe, socket or other"

/* "Process[] objects, Process[] partners, Region[] regions, TimeInterval time". */
const char *pmsl_builtin_params(const struct pmsl_builtin *b);

#endif
