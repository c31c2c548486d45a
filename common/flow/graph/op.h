/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on tokens of one key. There is no value if an input that counts has none. Error bounds
 * use interval arithmetic, without the rounding of the operation itself; a comparison of
 * overlapping intervals has the bound 1. Coverage is that of the worst input. Flags are those of
 * all inputs that count. Times are the mean, oldest and newest of all inputs; constants have none.
 * For `if` the condition and the chosen branch count.
 */
#ifndef COMMON_FLOW_GRAPH_OP_H
#define COMMON_FLOW_GRAPH_OP_H

#include "common/flow/graph/graph.h"
#include "common/flow/graph/token.h"

/* in: the inputs of the operation. The key is that of the first input that is not a constant. */
void flow_op_eval(enum flow_op op, const struct flow_token *in, struct flow_token *out);

/*
 * Makes the partial aggregate of a pair of two values, in out and a. The aggregate is empty if a
 * value is missing or excluded.
 */
void flow_pair_eval(const struct flow_token in[2], struct flow_token *out, struct agg *a);

/* Makes the partial aggregate of one value of an object, in the same way. */
void flow_who_eval(const struct flow_token *in, uint64_t object, struct flow_token *out,
		   struct agg *a);

#endif
