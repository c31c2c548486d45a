/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of an object as a table: one function makes each step and logs it, another prints all
 * steps. A table has the next state for each state and event; the same state means that the event
 * has no effect. Pure, except for the log.
 */
#ifndef TREE_STATES_H
#define TREE_STATES_H

#include <stdint.h>

struct buf;

struct states {
	const char *name; /* of the kind of object */
	const char *const *state, *const *event; /* names */
	unsigned nstate, nevent;
	const uint8_t *next; /* nevent of each state, in their order */
};

/* Returns the state after the event. which: the object, for the log. */
unsigned states_step(const struct states *t, unsigned from, unsigned event, const char *which);

/* Prints a graph for Graphviz: an edge for each step that changes the state. */
void states_print_dot(const struct states *t, struct buf *b);

#endif
