/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters and integrators. Each is a cell in the segment of each process, to which the rank adds.
 * Increments from the lm are stored beside it. Only the rank writes its cells, so a reset stores
 * the cell's value as base.
 */
#ifndef LM_INSTRUMENT_PA_H
#define LM_INSTRUMENT_PA_H

#include "lm/proc/proc.h"
#include "lm/proc/tickbase.h"

#define PA_OBJECTS_MAX 4096 /* TOOLS_MAX tools with 64 each */

struct pa;
struct loop;
struct timebase;

struct pa_conf {
	struct loop *loop;
	struct procs *procs;
	struct tickbase *ticks;
	struct timebase *timebase; /* all borrowed */
};

struct pa *pa_new(const struct pa_conf *c);
void pa_free(struct pa *a);

/* fn is called when an object was deleted, and its cells are free. */
void pa_on_delete(struct pa *a, void (*fn)(void *arg), void *arg);

/* A counter or integrator, and the tool that owns it: it ends with its tool. */
struct pa_name {
	const char *token;
	uint32_t tool;
};

/*
 * Returns the cell of the object in this process; makes one if there is none. ERR_INVALID: not a
 * token of a counter or integrator; ERR_LIMIT: all cells of the process are in use, or too many
 * objects; ERR_NOTFOUND: the process has no segment.
 */
int pa_cell(struct pa *a, const struct pa_name *name, struct proc *p, unsigned *cell,
	    struct err *e);

/* Deletes the objects of the tool. */
void pa_tool_gone(struct pa *a, uint32_t tool);

size_t pa_count(const struct pa *a);

#endif
