/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/proc/totals_site.h"

#include "common/base/array.h"
#include "lm/proc/current.h"

#include <stdlib.h>
#include <string.h>

static bool is_used(const struct segview_call *v)
{
	return v->count || v->delay || v->open_delay || v->in_call || v->sampled || v->bytes_out ||
	       v->bytes_in;
}

static int take_calls(const struct segview *v, struct totals *t)
{
	unsigned n = segview_funcs(v);
	struct segview_call c;
	size_t cap = 0;
	int rc;

	for (unsigned i = 0; i < n; i++) {
		if (segview_call(v, SEGVIEW_ALL, i, t->ticks, &c) || !is_used(&c))
			continue;
		rc = array_grow(&t->call, &cap, t->ncall + 1, sizeof(*t->call), n);
		if (rc)
			return rc;
		t->call[t->ncall++] = (struct total_call){ (uint16_t)i, c };
	}
	return 0;
}

static void put_partner(struct totals *t, const struct total_partner *p)
{
	if (array_grow(&t->partner, &t->partner_cap, t->npartner + 1, sizeof(*p),
		       TOTALS_PARTNERS_MAX))
		t->partner_lost += p->count;
	else
		t->partner[t->npartner++] = *p;
}

static void on_partner(void *arg, const struct segview_partner *p)
{
	const struct total_partner one = { .func = p->func,
					   .rank = p->rank,
					   .count = p->count,
					   .bytes_out = p->bytes_out,
					   .bytes_in = p->bytes_in,
					   .delay = p->delay,
					   .shared = p->shared,
					   .possible = p->possible,
					   .kinds = p->kinds,
					   .tag = p->tag };

	put_partner(arg, &one);
}

/* The call that the thread is in, where its time is measured and its partner is known already. */
static void take_open(const struct segview *v, unsigned thread, struct totals *t)
{
	struct segview_current c;
	struct segview_call call;
	struct total_partner one;
	struct seg_own own;

	if (!segview_current(v, thread, &c) || !c.is_inside ||
	    segview_call(v, thread, c.func, t->ticks, &call) || !call.open_delay)
		return;
	segview_own(v, &own);
	one = (struct total_partner){ .func = c.func,
				      .rank = current_awaited(&own, &c),
				      .tag = -1,
				      .open = call.open_delay };
	if (one.rank >= 0)
		put_partner(t, &one);
}

static int compare_partners(const void *a, const void *b)
{
	const struct total_partner *x = a, *y = b;

	if (x->func != y->func)
		return x->func < y->func ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void join_purposes(struct total_partner *to, const struct total_partner *from)
{
	if (!to->kinds)
		to->tag = from->tag;
	else if (from->kinds && to->tag != from->tag)
		to->tag = SEG_TAG_SEVERAL;
	to->kinds |= from->kinds;
}

/* Returns NULL if there is none. */
static const void *find(const void *key, const void *table, size_t n, size_t size,
			int (*compare)(const void *, const void *))
{
	return n ? bsearch(key, table, n, size, compare) : NULL;
}

const struct total_partner *totals_partner(const struct totals *t, const struct total_partner *p)
{
	return find(p, t->partner, t->npartner, sizeof(*p), compare_partners);
}

/* Two threads may have had the same partner in the same call. */
static void join_partners(struct totals *t)
{
	size_t n = 0;

	if (t->npartner)
		qsort(t->partner, t->npartner, sizeof(*t->partner), compare_partners);
	for (size_t i = 0; i < t->npartner; i++) {
		struct total_partner *to = n ? &t->partner[n - 1] : NULL;

		if (!to || compare_partners(to, &t->partner[i])) {
			t->partner[n++] = t->partner[i];
			continue;
		}
		to->count += t->partner[i].count;
		to->bytes_out += t->partner[i].bytes_out;
		to->bytes_in += t->partner[i].bytes_in;
		to->delay += t->partner[i].delay;
		to->shared += t->partner[i].shared;
		to->possible += t->partner[i].possible;
		join_purposes(to, &t->partner[i]);
		to->open += t->partner[i].open;
	}
	t->npartner = n;
}

static void take_partners(const struct segview *v, struct totals *t)
{
	struct segview_thread th;

	for (unsigned i = 0; i < segview_threads(v); i++) {
		if (segview_thread(v, i, &th) || !th.tid)
			continue;
		t->partner_lost += th.partner_lost;
		segview_partners(v, i, on_partner, t);
		take_open(v, i, t);
	}
	join_partners(t);
}

/* --- sizes */

struct sizing {
	struct totals *t;
	int rc;
};

static void on_size(void *arg, const struct segview_size *s)
{
	struct sizing *k = arg;
	struct totals *t = k->t;

	if (!k->rc)
		k->rc = array_grow(&t->size, &t->size_cap, t->nsize + 1, sizeof(*t->size),
				   SEG_SIZES * SEG_THREADS_MAX);
	if (!k->rc)
		t->size[t->nsize++] =
			(struct total_size){ s->func, s->class, s->count, s->bytes, s->delay };
}

static int compare_sizes(const void *a, const void *b)
{
	const struct total_size *x = a, *y = b;

	if (x->func != y->func)
		return x->func < y->func ? -1 : 1;
	return (x->class > y->class) - (x->class < y->class);
}

const struct total_size *totals_size(const struct totals *t, const struct total_size *s)
{
	return find(s, t->size, t->nsize, sizeof(*s), compare_sizes);
}

/* Several threads make the same calls. */
static void join_sizes(struct totals *t)
{
	size_t n = 0;

	if (t->nsize)
		qsort(t->size, t->nsize, sizeof(*t->size), compare_sizes);
	for (size_t i = 0; i < t->nsize; i++) {
		struct total_size *to = n ? &t->size[n - 1] : NULL;

		if (!to || compare_sizes(to, &t->size[i])) {
			t->size[n++] = t->size[i];
			continue;
		}
		to->count += t->size[i].count;
		to->bytes += t->size[i].bytes;
		to->delay += t->size[i].delay;
	}
	t->nsize = n;
}

static int take_sizes(const struct segview *v, struct totals *t)
{
	struct sizing k = { .t = t };
	struct segview_thread th;

	for (unsigned i = 0; i < segview_threads(v) && !k.rc; i++) {
		if (segview_thread(v, i, &th) || !th.tid)
			continue;
		t->size_lost += th.size_lost;
		segview_sizes(v, i, on_size, &k);
	}
	join_sizes(t);
	return k.rc;
}

static int compare_calls(const void *a, const void *b)
{
	const struct total_call *x = a, *y = b;

	return (x->func > y->func) - (x->func < y->func);
}

const struct total_call *totals_call(const struct totals *t, unsigned func)
{
	const struct total_call key = { .func = (uint16_t)func };

	return find(&key, t->call, t->ncall, sizeof(key), compare_calls);
}

int totals_take(const struct segview *v, uint64_t ticks, unsigned with, struct totals **out)
{
	struct totals *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return -ERR_NOMEM;
	t->ticks = ticks;
	t->timed = segview_timed(v, ticks);
	t->word = segview_hook_get(v, 0);
	rc = take_calls(v, t);
	if (rc) {
		totals_free(t);
		return rc;
	}
	if (with & TOTALS_PARTNERS)
		take_partners(v, t);
	if (with & TOTALS_SITES)
		rc = totals_take_sites(v, t);
	if (!rc && with & TOTALS_SIZES)
		rc = take_sizes(v, t);
	if (rc) {
		totals_free(t);
		return rc;
	}
	*out = t;
	return 0;
}

/* NULL for none; *ok becomes false without memory. */
static void *copy_array(const void *from, size_t n, size_t size, bool *ok)
{
	void *to = n ? calloc(n, size) : NULL;

	if (to)
		memcpy(to, from, n * size);
	*ok = *ok && (to || !n);
	return to;
}

int totals_copy(const struct totals *t, struct totals **out)
{
	struct totals *c = malloc(sizeof(*c));
	bool ok = true;

	if (!c)
		return -ERR_NOMEM;
	*c = *t;
	c->call = copy_array(t->call, t->ncall, sizeof(*t->call), &ok);
	c->partner = copy_array(t->partner, t->npartner, sizeof(*t->partner), &ok);
	c->partner_cap = t->npartner;
	c->site = copy_array(t->site, t->nsite, sizeof(*t->site), &ok);
	c->site_cap = t->nsite;
	c->size = copy_array(t->size, t->nsize, sizeof(*t->size), &ok);
	c->size_cap = t->nsize;
	c->module = copy_array(t->module, t->nmodule, sizeof(*t->module), &ok);
	c->module_cap = t->nmodule;
	if (!ok) {
		totals_free(c);
		return -ERR_NOMEM;
	}
	*out = c;
	return 0;
}

void losses_add(struct losses *to, const struct segview *v)
{
	struct segview_thread t;
	struct seg_own own;

	segview_own(v, &own);
	to->threads += own.threads_lost;
	to->calls += own.calls_lost;
	to->actions += own.actions_skipped;
	to->requests += own.requests_lost;
	for (unsigned i = 0; i < segview_threads(v); i++) {
		if (segview_thread(v, i, &t))
			continue;
		to->partner_calls += t.partner_lost;
		to->records += t.ring_dropped;
	}
}

void totals_free(struct totals *t)
{
	if (!t)
		return;
	free(t->call);
	free(t->partner);
	free(t->site);
	free(t->size);
	free(t->module);
	free(t);
}
