/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of a thing as a table: one place takes each step, logs it and can print all of them.
 * A table has a next state for each state and event; the same one means that the event changes
 * nothing. Pure, but for the log.
 */
#ifndef TREE_STATES_H
#define TREE_STATES_H

#include <stdint.h>

struct buf;

struct states {
	const char *name; /* of the thing */
	const char *const *state, *const *event; /* names */
	unsigned nstate, nevent;
	const uint8_t *next; /* nevent of each state, in their order */
};

/* The state behind the event. which: the thing, for the log. */
unsigned states_step(const struct states *t, unsigned from, unsigned event, const char *which);

/* As a graph of Graphviz: an edge for each step that changes the state. */
void states_print_dot(const struct states *t, struct buf *b);

#endif
