/* SPDX-License-Identifier: Apache-2.0 */
/* A read: one pass over the measurement's nodes, inputs before the nodes that read them. */
#include "common/flow/engine/flow_internal.h"

/* Reads an input. A source without data for this read is missing in it. */
static void input_read(struct fnode *n, int64_t read, nsec_t t)
{
	if (n->now.key != read || !n->now.n)
		n->now = flow_token_missing(read, t, n->behind);
	n->now_agg = NULL;
}

/*
 * Returns the begin of the time of a rate. A single source may have had no value at earlier reads:
 * its data since its last value are divided by the whole time. For several sources these times
 * differ, and `late` reports that a part of the data is older.
 */
static nsec_t rate_begin(const struct fmeas *m, const struct fnode *n)
{
	const struct flow_token *t = &n->now;

	if (n->since == FLOW_SINCE_START)
		return m->start;
	return t->n == 1 && t->flags & FLOW_LATE && t->oldest < m->last_t ? t->oldest : m->last_t;
}

/*
 * Computes a rate. If all sources of a node have ended, the rate is over the time in which they
 * existed. The node has no rate in later intervals.
 */
static void rate_read(const struct flow *f, const struct fmeas *m, struct fnode *n, nsec_t t)
{
	double seconds;

	n->now = f->node[n->in[0]].now;
	if (!flow_token_has_value(&n->now))
		return;
	seconds = (double)(flow_token_until(&n->now, t) - rate_begin(m, n)) * 1e-9;
	if (seconds <= 0) {
		n->now.value = NAN;
		n->now.error = 0;
		n->now.flags |= FLOW_MISSING;
		return;
	}
	n->now.value /= seconds;
	n->now.error /= seconds;
}

static void result_read(struct flow *f, const struct fmeas *m, struct fnode *n, int64_t read,
			nsec_t t)
{
	const struct fnode *in = &f->node[n->in[0]];
	struct flow_result r = { .measurement = m->id,
				 .output = n->output,
				 .t = in->now,
				 .a = in->now_agg,
				 .q = n->fold.q };

	if (in->kind == FLOW_STOP)
		stop_report(f, in, &r);
	if (in->domain == FLOW_ANY) {
		r.t = flow_token_constant(in->constant);
		r.t.time = r.t.oldest = r.t.newest = t;
	}
	r.t.key = read;
	r.t.requester = m->id;
	n->count.out++;
	f->out.on_result(f->out.arg, &r);
}

static void link_read(struct flow *f, const struct fmeas *m, struct fnode *n, int64_t read)
{
	const struct fnode *in = &f->node[n->in[0]];
	struct flow_batch b = { .measurement = m->id,
				.link = n->link,
				.read = read,
				.domain = FLOW_READ,
				.partial = n->partial,
				.agg = n->fold.agg,
				.n = 1,
				.t = &in->now,
				.a = in->now_agg };

	n->count.out++;
	f->out.on_batch(f->out.arg, &b);
}

static void read_node(struct flow *f, const struct fmeas *m, struct fnode *n, int64_t read,
		      nsec_t t)
{
	switch (n->kind) {
	case FLOW_INPUT:
		return input_read(n, read, t);
	case FLOW_LINK_IN:
		return reads_read(n, m->last_read, read, t);
	case FLOW_OP:
	case FLOW_PAIR:
	case FLOW_WHO:
		return op_read(f, n);
	case FLOW_SET:
		return set_read(f, n);
	case FLOW_VT_AGG:
		return vt_agg_read(f, n, read, t);
	case FLOW_DELTA:
		return delta_read(f, n);
	case FLOW_RATE:
		return rate_read(f, m, n, t);
	case FLOW_LINK_OUT:
		return link_read(f, m, n, read);
	case FLOW_RESULT:
		return result_read(f, m, n, read, t);
	case FLOW_STOP:
		return stop_read(f, n);
	default:
		return;
	}
}

/*
 * Counts the values of a read: each node takes one value of each input, and emits one. Values from
 * outside, and values that are reported at once, are counted elsewhere.
 */
static void count_read(struct fnode *n)
{
	bool is_source = n->kind == FLOW_INPUT || n->kind == FLOW_LINK_IN;
	bool is_end = n->kind == FLOW_RESULT || n->kind == FLOW_LINK_OUT;

	if (!is_source && n->kind != FLOW_VT_AGG)
		n->count.in += n->nin;
	if (!is_end)
		n->count.out++;
}

static void pass(struct flow *f, const struct fmeas *m, int64_t read, nsec_t t)
{
	for (size_t i = 0; i < m->npass; i++) {
		struct fnode *n = &f->node[m->pass[i]];

		if (n->domain == FLOW_READ || (n->kind == FLOW_RESULT && n->domain == FLOW_ANY)) {
			read_node(f, m, n, read, t);
			count_read(n);
		} else if (n->kind == FLOW_LINK_OUT) {
			queue_send(f, m, n, read);
		}
	}
}

int flow_read(struct flow *f, uint32_t measurement, int64_t read, nsec_t t, struct err *e)
{
	struct fmeas *m = flow_meas(f, measurement);

	if (!m)
		return err_set(e, ERR_NOTFOUND, "there is no measurement %u",
			       (unsigned)measurement);
	if (read <= m->last_read || t <= (m->last_read ? m->last_t : m->start))
		return err_set(e, ERR_INVALID, "read %lld is not after read %lld", (long long)read,
			       (long long)m->last_read);
	flow_settle_if_needed(f);
	if (!m->last_read)
		m->last_t = m->start;
	queue_flow(f, m, read);
	pass(f, m, read, t);
	m->last_read = read;
	m->last_t = t;
	m->announced = false;
	return 0;
}

int flow_announce(struct flow *f, uint32_t measurement, nsec_t t)
{
	struct fmeas *m = flow_meas(f, measurement);

	if (!m)
		return -ERR_NOTFOUND;
	flow_settle_if_needed(f); /* the node's output belongs to the previous interval */
	m->announced = true;
	m->until = t;
	return 0;
}

int64_t flow_last_read(const struct flow *f, uint32_t measurement)
{
	const struct fmeas *m = flow_meas(f, measurement);

	return m ? m->last_read : -1;
}
