/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An incomplete aggregate, and properties of its tokens. t.value and t.error are valid only after
 * partial_finish(). Coverage: over contributors (a set of one key) k and n are added up; over keys
 * (of the same contributors) the minimum is taken. A token without a value counts for n and not for
 * k, but one that WHERE excluded contributed.
 */
#ifndef COMMON_FLOW_ENGINE_PARTIAL_H
#define COMMON_FLOW_ENGINE_PARTIAL_H

#include "common/flow/graph/agg.h"
#include "common/flow/graph/token.h"

enum partial_over { PARTIAL_OVER_SET, PARTIAL_OVER_KEYS };

struct flow_partial {
	struct flow_token t;
	struct agg a;
	/* a member has reported, even without a value; otherwise the set may be empty */
	bool is_reported;
};

void partial_init(struct flow_partial *p, enum agg_kind kind, union agg_room *room);
void partial_clear(struct flow_partial *p);

/* a: the aggregate of a partial token; otherwise NULL. */
void partial_fold(struct flow_partial *p, const struct flow_token *t, const struct agg *a,
		  enum partial_over over);

/* Copies `from`; p keeps its own room. */
void partial_copy(struct flow_partial *p, const struct flow_partial *from);

/*
 * Returns the result: value, error and flags of t. is_part: the result is passed on as an
 * aggregate, so that its value is not needed yet. A part with one value has no variance, which is
 * not flagged, because the part will be merged.
 */
struct flow_token partial_finish(const struct flow_partial *p, double q, bool is_part);

#endif
