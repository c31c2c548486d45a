/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences between reads. A source that reports nothing while a call is
 * under way has no value at some reads. What came meanwhile belongs to the next
 * read with a value. It counts over all that time, not over the last interval.
 */
#include "common/flow/engine/flow_internal.h"

void delta_init(struct fnode *n, nsec_t start)
{
	n->delta = (struct delta_state){ .time = start };
}

static double per_second(struct fnode *n, double v, nsec_t span)
{
	if (!n->per_second)
		return v;
	if (span <= 0) {
		n->now.flags |= n->now.flags & FLOW_ENDED ? FLOW_MISSING : FLOW_DIV0;
		return NAN;
	}
	return v / ((double)span * 1e-9);
}

void delta_read(struct flow *f, struct fnode *n)
{
	const struct flow_token *in = &f->node[n->in[0]].now;
	struct delta_state *s = &n->delta;
	nsec_t until = flow_token_until(in, in->time), span = until - s->time;

	n->now = *in;
	if (!flow_token_has_value(in))
		return;
	if (s->time < n->now.oldest) /* the clock of the source may be behind */
		n->now.oldest = s->time;
	if (in->key > s->read + 1)
		n->now.flags |= FLOW_LATE;
	n->now.value = per_second(n, in->value - s->value, span);
	n->now.error = fabs(per_second(n, in->error + s->error, span));
	if (isnan(n->now.value)) {
		n->now.error = 0;
		n->now.flags |= n->now.flags & FLOW_MISSING ? 0 : FLOW_NAN;
	}
	*s = (struct delta_state){ in->value, in->error, until > s->time ? until : s->time,
				   in->key };
}
