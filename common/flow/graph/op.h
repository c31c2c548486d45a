/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on tokens of one key. Value: none if an input that counts has none. Error bound: by
 * interval arithmetic, without the rounding of the operation itself; a comparison with overlapping
 * intervals has the bound 1. Coverage: the worst of the inputs. Flags: of all inputs that count.
 * Time: the mean, oldest and newest of all; constants have none. For `if` the condition and the
 * chosen branch count.
 */
#ifndef COMMON_FLOW_GRAPH_OP_H
#define COMMON_FLOW_GRAPH_OP_H

#include "common/flow/graph/graph.h"
#include "common/flow/graph/token.h"

/* in: the inputs of the operation; the key is that of the first input that is not a constant. */
void flow_op_eval(enum flow_op op, const struct flow_token *in, struct flow_token *out);

/*
 * Makes the partial aggregate of a pair of two values, in out and a. It has no pair if a value is
 * missing or excluded.
 */
void flow_pair_eval(const struct flow_token in[2], struct flow_token *out, struct agg *a);

#endif
