/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dataflow graph cut into pieces, which links join: a piece for each node, each site and the top.
 * Each part of the graph runs on the node that has all its inputs. Otherwise it runs at their site,
 * or at the top.
 *
 * - An input of several graph nodes of a piece exists once. A value that is the same everywhere (a
 *   constant, Time) is copied into each piece. An input from a piece below is sent once, however
 *   many graph nodes use it.
 * - A set over objects of several nodes is a set in each node, in each site and at the top. Links
 *   between them carry partial aggregates, or values where each set has only one.
 * - A link leads one level up: a site receives the tokens of its node, and forwards them.
 */
#ifndef PMSL_PLAN_PLACE_H
#define PMSL_PLAN_PLACE_H

#include "pmsl/plan/bind.h"

struct piece {
	struct place place; /* NODE, SITE or TOP */
	struct flow_graph *graph; /* owned, verified */
};

struct pieces {
	struct piece *v; /* the first piece is the top; sites precede their nodes */
	size_t n, cap;
};

/* The graph to be cut. */
struct placed {
	const struct bound *b;
	struct bind_outputs outputs;
	uint32_t measurement; /* number of the measurement, not 0 */
	const struct pmsl_source *text; /* text of the metric, for line numbers; may be NULL */
};

/* -ERR_LIMIT with an error in d if a piece is too large for a daemon; -ERR_NOMEM. */
int place_graph(const struct placed *what, struct pmsl_diags *d, struct pieces *pieces);
void pieces_done(struct pieces *p);

#endif
