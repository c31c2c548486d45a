/* SPDX-License-Identifier: Apache-2.0 */
/* Passes a token through the VT domain: depth first, at most FLOW_DEPTH_MAX calls deep. */
#include "common/flow/engine/flow_internal.h"

static void shift(struct flow *f, struct fnode *n, const struct flow_token *t, const struct agg *a)
{
	struct flow_token moved = *t;

	if (__builtin_add_overflow(t->key, n->shift, &moved.key)) {
		n->count.overflow++;
		return;
	}
	flow_emit(f, n, &moved, a);
}

static void difference(struct flow *f, struct fnode *n, const struct flow_token *t)
{
	struct flow_token d;

	delta_take(n, t, &d);
	flow_emit(f, n, &d, NULL);
}

/* Drops tokens that are not chosen. */
static void choose(struct flow *f, struct fnode *n, const struct flow_token *t, const struct agg *a)
{
	const struct flow_choice c = { n->choice.word, n->choice.n };

	if (choice_has(&c, t->key))
		flow_emit(f, n, t, a);
}

static void result(struct flow *f, struct fnode *n, const struct flow_token *t, const struct agg *a)
{
	struct flow_result r = { .measurement = f->meas[n->measurement].id,
				 .output = n->output,
				 .t = *t,
				 .a = a,
				 .q = n->fold.q };

	if (t->flags & FLOW_EXCLUDED)
		return;
	n->count.out++;
	r.t.requester = r.measurement;
	f->out.on_result(f->out.arg, &r);
}

static void deliver(struct flow *f, const struct fedge *to, const struct flow_token *t,
		    const struct agg *a)
{
	struct fnode *n = &f->node[to->node];

	n->count.in++;
	switch (n->kind) {
	case FLOW_OP:
	case FLOW_PAIR:
	case FLOW_WHO:
		return op_take(f, n, to->input, t);
	case FLOW_SET:
		return set_take(f, n, to->input, t, a);
	case FLOW_VT_AGG:
		return vt_agg_take(f, n, t, a);
	case FLOW_SHIFT:
		return shift(f, n, t, a);
	case FLOW_DELTA:
		return difference(f, n, t);
	case FLOW_CHOICE:
		return choose(f, n, t, a);
	case FLOW_LINK_OUT:
		return queue_put(n, t, a);
	case FLOW_RESULT:
		return result(f, n, t, a);
	default:
		return;
	}
}

void flow_emit(struct flow *f, struct fnode *n, const struct flow_token *t, const struct agg *a)
{
	const struct fedge *to = &f->edge[n->edge], *end = to + n->nedge;

	n->count.out++;
	for (; to < end; to++)
		deliver(f, to, t, a);
}

static void hold(struct flow *f, struct fnode *n, const struct flow_token *t)
{
	const struct fmeas *m = &f->meas[n->measurement];

	if (t->key <= m->last_read) {
		n->count.late++;
		return;
	}
	n->count.doubles += n->now.key == t->key && n->now.n > 0;
	n->now = *t;
	n->now.requester = m->id;
}

static struct fnode *input(struct flow *f, uint32_t place)
{
	struct fnode *n = place < f->nnode ? &f->node[place] : NULL;

	return n && n->refs && n->kind == FLOW_INPUT ? n : NULL;
}

void flow_push(struct flow *f, uint32_t place, const struct flow_token *t)
{
	struct fnode *n = input(f, place);

	if (!n)
		return;
	flow_settle_if_needed(f);
	n->count.in++;
	if (n->shut)
		n->count.late++;
	else if (n->domain == FLOW_VT)
		flow_emit(f, n, t, NULL);
	else
		hold(f, n, t);
}

static void set_shut(struct flow *f, struct fnode *n, bool shut, bool ended)
{
	if (!n || (n->shut == shut && n->ended == ended))
		return;
	n->shut = shut;
	n->ended = ended;
	f->is_unsettled = true;
}

void flow_close(struct flow *f, uint32_t place)
{
	set_shut(f, input(f, place), true, false);
}

void flow_end(struct flow *f, uint32_t place)
{
	set_shut(f, input(f, place), true, true);
}

void flow_open(struct flow *f, uint32_t place)
{
	set_shut(f, input(f, place), false, false);
}

/* --- links */

static struct fnode *link_in(const struct flow *f, uint32_t measurement, const char *link)
{
	const struct fmeas *m = flow_meas(f, measurement);
	uintptr_t known = m ? (uintptr_t)smap_find(&m->link, link) : 0;

	return known ? &f->node[known - 1] : NULL;
}

static int set_link(struct flow *f, uint32_t measurement, const char *link, bool shut)
{
	struct fnode *n = link_in(f, measurement, link);

	set_shut(f, n, shut, false);
	return n ? 0 : -ERR_NOTFOUND;
}

int flow_link_close(struct flow *f, uint32_t measurement, const char *link)
{
	return set_link(f, measurement, link, true);
}

int flow_link_open(struct flow *f, uint32_t measurement, const char *link)
{
	return set_link(f, measurement, link, false);
}

static int fits(const struct fnode *n, const struct flow_batch *b, struct err *e)
{
	if (b->domain != n->domain || b->partial != n->partial ||
	    (n->partial && b->agg != n->fold.agg))
		return err_set(e, ERR_INVALID, "link '%s' carries something else", n->link);
	if (b->read < 1 || (n->domain == FLOW_READ && b->n > 1))
		return err_set(e, ERR_INVALID, "link '%s': %u values for read %lld", n->link,
			       (unsigned)b->n, (long long)b->read);
	return 0;
}

/*
 * False for a batch that was sent again after a link broke, which must not count twice. Batches
 * older than 64 reads cannot be distinguished, and count as repeated.
 */
static bool is_new(struct fnode *n, int64_t read)
{
	int64_t back = n->batch_top - read;

	if (back < 0) {
		n->batch_seen = -back < 64 ? n->batch_seen << -back : 0;
		n->batch_top = read;
		back = 0;
	}
	if (back >= 64 || n->batch_seen >> back & 1)
		return false;
	n->batch_seen |= UINT64_C(1) << back;
	return true;
}

bool flow_has_taken(const struct flow *f, uint32_t measurement, const char *link, int64_t read)
{
	const struct fnode *n = link_in(f, measurement, link);
	int64_t back = n ? n->batch_top - read : -1;

	return back >= 0 && (back >= 64 || n->batch_seen >> back & 1);
}

int flow_take(struct flow *f, const struct flow_batch *b, struct err *e)
{
	const struct fmeas *m = flow_meas(f, b->measurement);
	struct fnode *n = link_in(f, b->measurement, b->link);
	int rc;

	if (!n)
		return err_set(e, ERR_NOTFOUND, "measurement %u has no link '%s' here",
			       (unsigned)b->measurement, b->link);
	rc = fits(n, b, e);
	if (rc)
		return rc;
	if (b->read > m->last_read + FLOW_READS_OPEN) {
		n->count.overflow += b->n;
		return 0;
	}
	if (!is_new(n, b->read)) {
		n->count.doubles += b->n;
		return 0;
	}
	if (n->domain == FLOW_VT)
		queue_take(n, m->last_read, b);
	else
		reads_take(n, m->last_read, b);
	return 0;
}
