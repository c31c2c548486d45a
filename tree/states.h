/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of an object as a table. One function makes a step and logs it, and another prints all
 * steps. A table has the next state for each state and event. If that is the same state, the event
 * has no effect. Pure, except for the log.
 */
#ifndef TREE_STATES_H
#define TREE_STATES_H

#include <stdint.h>

struct buf;

struct states {
	const char *name; /* name of the kind of object */
	const char *const *state, *const *event; /* names of states and events */
	unsigned nstate, nevent;
	/* next states: nevent entries for each state, in the order of the states */
	const uint8_t *next;
};

/* Returns the state after the event. which: the name of the object for the log. */
unsigned states_step(const struct states *t, unsigned from, unsigned event, const char *which);

/* Prints a graph for Graphviz, with an edge for each step that changes the state. */
void states_print_dot(const struct states *t, struct buf *b);

#endif
