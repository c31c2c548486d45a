/* SPDX-License-Identifier: Apache-2.0 */
/* What a link is to say of tokens that come late: whether they go into the next read, and how. */
#ifndef PMSL_PLAN_LATE_H
#define PMSL_PLAN_LATE_H

#include "pmsl/plan/bound.h"

/* The fold of a link that carries partial aggregates of v. */
struct flow_fold late_fold_of_part(const struct bound *b, const struct bound_node *v);

/* Of one that carries v's plain values; since the start: a late one is dropped. */
struct flow_fold late_fold_of_value(const struct bound *b, const struct bound_node *v);

#endif
