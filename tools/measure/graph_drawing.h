/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running dataflow graph in the language of graphviz (thesis, section 7.3): pieces where they
 * run, data providers, requesters, and what each node has received and sent.
 */
#ifndef TOOLS_MEASURE_GRAPH_DRAWING_H
#define TOOLS_MEASURE_GRAPH_DRAWING_H

#include "common/base/buf.h"
#include "tools/libomis/omis.h"
#include "tools/session/object_names.h"

struct graph_counts {
	bool is_known;
	int64_t in, out, lost; /* lost: late, unmatched, incomplete or without room */
};

/* All pointers are borrowed. */
struct graph_drawing {
	const char *dfg, *metric;
	const Omis_value *graph; /* the list of bit 5 of dfg_get_info */
	struct object_names *names; /* of the objects in it */
	int64_t tool, reads; /* the number of the requesting tool, and of the reads that it has
			      * received */
	struct graph_counts (*counts)(void *arg, const Omis_value *node);
	void *arg;
};

/* Appends the whole drawing. */
void graph_drawing_put(struct buf *b, const struct graph_drawing *d);

#endif
