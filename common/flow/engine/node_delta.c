/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences between reads. A source that reports nothing during a call has no value at some
 * reads. Its data of that time belong to the next read with a value. They count over the whole
 * time, not over the last interval.
 */
#include "common/flow/engine/flow_internal.h"

void delta_init(struct fnode *n, nsec_t start)
{
	n->delta = (struct delta_state){ .time = start };
}

static double per_second(const struct fnode *n, struct flow_token *out, double v, nsec_t span)
{
	if (!n->per_second)
		return v;
	if (span <= 0) {
		out->flags |= out->flags & FLOW_ENDED ? FLOW_MISSING : FLOW_DIV0;
		return NAN;
	}
	return v / ((double)span * 1e-9);
}

/* Subtracts the previous value from *out, with that bound, and stores *in as the previous value. */
static void subtract(struct fnode *n, const struct flow_token *in, double error,
		     struct flow_token *out)
{
	struct delta_state *s = &n->delta;
	nsec_t until = flow_token_until(in, in->time), span = until - s->time;

	if (s->time < out->oldest) /* the clock of the source may be behind */
		out->oldest = s->time;
	out->value = per_second(n, out, in->value - s->value, span);
	out->error = fabs(per_second(n, out, error, span));
	if (isnan(out->value)) {
		out->error = 0;
		out->flags |= out->flags & FLOW_MISSING ? 0 : FLOW_NAN;
	}
	*s = (struct delta_state){ in->value, in->error, until > s->time ? until : s->time,
				   in->key };
}

void delta_read(struct flow *f, struct fnode *n)
{
	const struct fnode *source = &f->node[n->in[0]];
	const struct flow_token *in = &source->now;
	double before = source->bounds_steps ? 0 : n->delta.error;

	n->now = *in;
	if (!flow_token_has_value(in))
		return;
	if (in->key > n->delta.read + 1)
		n->now.flags |= FLOW_LATE;
	subtract(n, in, in->error + before, &n->now);
}

/* An event without a value has none of the increase, which the next event with a value gets. */
void delta_take(struct fnode *n, const struct flow_token *t, struct flow_token *out)
{
	*out = *t;
	if (flow_token_has_value(t))
		subtract(n, t, t->error + n->delta.error, out);
}
