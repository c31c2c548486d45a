/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs built by tests: each function adds a node and returns its number. */
#ifndef TESTS_COMMON_FLOW_MADE_H
#define TESTS_COMMON_FLOW_MADE_H

#include "common/flow/graph/graph.h"

#include <stdarg.h>

uint32_t made_node(struct flow_graph *g, struct flow_node n, size_t nin, ...);
uint32_t made_const(struct flow_graph *g, double v);
/* A parameter of a probe of p_RANK; of the VT domain. */
uint32_t made_event(struct flow_graph *g, unsigned rank, const char *probe);
/* A metric of p_RANK; of the READ domain. */
uint32_t made_metric(struct flow_graph *g, unsigned rank, const char *metric);
uint32_t made_op(struct flow_graph *g, enum flow_op op, uint32_t a, uint32_t b);
uint32_t made_op1(struct flow_graph *g, enum flow_op op, uint32_t a);
uint32_t made_set(struct flow_graph *g, enum agg_kind agg, bool partial_out, const uint32_t *in,
		  size_t n);
uint32_t made_vt_agg(struct flow_graph *g, enum agg_kind agg, bool partial_out,
		     enum flow_since since, uint32_t in);
uint32_t made_result(struct flow_graph *g, uint32_t output, uint32_t in);
uint32_t made_link_out(struct flow_graph *g, const char *name, uint32_t in);
uint32_t made_link_in(struct flow_graph *g, struct flow_link link);

/* The graph that is read from its text has that text; g is freed. */
void made_is_read_as_written(struct flow_graph *g);

#endif
