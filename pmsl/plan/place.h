/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dataflow graph cut into pieces: what is evaluated in each node, in each
 * site, at the top, joined by links. From the bottom up a part goes to the
 * node that has all its inputs. Else it goes to their site, else to the top.
 *
 * - What several parents share is there once where they are; what is the same
 *   everywhere (constants, Time) is copied into each piece; what runs below a
 *   parent sends to it, once, however many nodes there take it.
 * - A set over objects of several nodes is a set in each node, one in each
 *   site, one at the top; between them go partial aggregates. Where each has
 *   one value only, the values go.
 * - A link leads one step up: a site takes what its node sends, and sends it on.
 */
#ifndef PMSL_PLAN_PLACE_H
#define PMSL_PLAN_PLACE_H

#include "pmsl/plan/bind.h"

struct piece {
	struct place place; /* NODE, SITE or TOP */
	struct flow_graph *graph; /* owned, verified */
};

struct pieces {
	struct piece *v; /* the top is the first; sites stand above their nodes */
	size_t n, cap;
};

/*
 * measurement: its number, not 0. lines: of the text that the metric stands in, may be NULL.
 * -ERR_LIMIT with an error in d when a piece is larger than a daemon takes; -ERR_NOMEM.
 */
int place_graph(const struct bound *b, const struct bind_output *out, size_t nout,
		uint32_t measurement, const struct pmsl_source *text, struct pmsl_diags *d,
		struct pieces *pieces);
void pieces_done(struct pieces *p);

#endif
