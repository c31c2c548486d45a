/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of a measurement: sites, their nodes, the nodes' processes. A plain table, filled by
 * the caller.
 */
#ifndef PMSL_PLAN_WORLD_H
#define PMSL_PLAN_WORLD_H

#include "common/base/err.h"
#include "pmsl/text/type.h"

#include <stdbool.h>

/* a hundred thousand hosts with a process each, and their sites */
#define WORLD_OBJECTS_MAX 262144
#define WORLD_NONE UINT32_MAX

struct world_object {
	enum pmsl_kind kind; /* PROCESS, NODE, SITE */
	const char *token; /* "p_3_1a2b3c" */
	const char *name; /* of a node or site, for display; NULL = the token */
	int64_t rank; /* PROCESS: in its application, -1 = none */
	uint32_t parent; /* of a process its node, of a node its site; an index that is lower */
	uint32_t job; /* PROCESS: its application, which ranks and partners refer to */
	bool is_alone; /* PROCESS: without MPI, so that no call of it can be counted */
};

/* All is borrowed. Each parent precedes its children. */
struct world {
	const struct world_object *v;
	size_t n;
};

struct arena;

/*
 * Makes a world from a text, to draw graphs without a monitor:
 * "site1:hostA=p_1,p_2;hostB=p_3/site2:...". The text has the tokens of processes; sites and nodes
 * get tokens; ranks count from 0 in the order of the text. -ERR_PARSE, -ERR_LIMIT, -ERR_NOMEM.
 */
int world_from_layout(const char *text, struct arena *a, struct world *out, struct err *e);

/* Finds by token or name. Returns WORLD_NONE if there is none. */
uint32_t world_find(const struct world *w, const char *token);

/* Returns the node or site that contains the object, or is it; WORLD_NONE: there is none. */
uint32_t world_node(const struct world *w, uint32_t i);
uint32_t world_site(const struct world *w, uint32_t i);

/* True if i is `in`, or is inside it. */
bool world_is_in(const struct world *w, uint32_t i, uint32_t in);

#endif
