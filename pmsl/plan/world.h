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

/* a hundred thousand hosts with one process each, and their sites */
#define WORLD_OBJECTS_MAX 262144
#define WORLD_NONE UINT32_MAX

struct world_object {
	enum pmsl_kind kind; /* PROCESS, NODE, SITE */
	const char *token; /* "p_3_1a2b3c" */
	const char *name; /* of a node or site, for display; NULL = the token */
	int64_t rank; /* PROCESS: in its job, -1 = none */
	/* index of the process's node, or of the node's site; lower than the object's own */
	uint32_t parent;
	uint32_t job; /* PROCESS: its job, in which ranks and partners are numbered */
	bool is_alone; /* PROCESS: it does not use MPI, so that it has no calls to count */
};

/* The members are borrowed. Each parent precedes its children. */
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

/* Finds an object by its token or name. Returns WORLD_NONE if there is none. */
uint32_t world_find(const struct world *w, const char *token);

/* Returns the node or site that the object is, or is in; WORLD_NONE if there is none. */
uint32_t world_node(const struct world *w, uint32_t i);
uint32_t world_site(const struct world *w, uint32_t i);

/* True if i is the object `in`, or is inside it. */
bool world_is_in(const struct world *w, uint32_t i, uint32_t in);

#endif
