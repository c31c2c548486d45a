/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on tokens of one key.
 *
 * Value: none when an input that counts has none. Error bound: by interval
 * arithmetic, without the rounding of the operation itself; a comparison whose
 * intervals overlap has the bound 1. Coverage: the worst of the inputs. Flags:
 * of all inputs that count. Time: the mean, oldest and newest those of all;
 * constants have none. For `if` the condition and the branch taken count.
 */
#ifndef COMMON_FLOW_GRAPH_OP_H
#define COMMON_FLOW_GRAPH_OP_H

#include "common/flow/graph/graph.h"
#include "common/flow/graph/token.h"

/* in: as many as the operation has; the key is that of the first which is no constant. */
void flow_op_eval(enum flow_op op, const struct flow_token *in, struct flow_token *out);

/*
 * Two values become the partial aggregate of their pair, of a kind of pairs, in out and a; of none
 * where one is not there, or was left out.
 */
void flow_pair_eval(const struct flow_token in[2], struct flow_token *out, struct agg *a);

#endif
