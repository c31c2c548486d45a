/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of nodes of a template: by a hash of their contents, and in full. */
#ifndef PMSL_PLAN_DAG_NODE_H
#define PMSL_PLAN_DAG_NODE_H

#include "pmsl/plan/dag.h"

/* FNV-1a: its tables are for one text each, and their chains are bounded by DAG_NODES_MAX. */
uint64_t dag_mix(uint64_t h, uint64_t v);

/* Hashes a node whose inputs are set. Its position in the text has no influence. */
uint64_t dag_node_hash(const struct dag_node *n);
bool dag_node_is_equal(const struct dag_node *a, const struct dag_node *b);

#endif
