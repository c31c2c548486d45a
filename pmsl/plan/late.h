/* SPDX-License-Identifier: Apache-2.0 */
/* The fold of a link: whether late tokens count in the next read, and by which aggregate. */
#ifndef PMSL_PLAN_LATE_H
#define PMSL_PLAN_LATE_H

#include "pmsl/plan/bound.h"

/* Returns the fold of a link that carries partial aggregates of v. */
struct flow_fold late_fold_of_part(const struct bound *b, const struct bound_node *v);

/*
 * Returns the fold of a link that carries plain values of v. FLOW_SINCE_START: late tokens are
 * dropped.
 */
struct flow_fold late_fold_of_value(const struct bound *b, const struct bound_node *v);

#endif
