/* SPDX-License-Identifier: Apache-2.0 */
#include "libapp/match/receives.h"

static bool is_specific(const struct match_pattern *p)
{
	return p->source != MATCH_ANY && p->tag != MATCH_ANY;
}

static bool agree(int32_t a, int32_t b)
{
	return a == b || a == MATCH_ANY || b == MATCH_ANY;
}

/* True if one message can match both receives. */
static bool may_meet(const struct match_pattern *a, const struct match_pattern *b)
{
	return a->comm == b->comm && agree(a->source, b->source) && agree(a->tag, b->tag);
}

static uint64_t key_of(const struct match_receives *r, const struct match_pattern *p)
{
	return match_key(&(struct match_channel){ p->comm, p->source, r->rank, p->tag });
}

/* True if the receive may still get a message of another channel, or none. */
static bool is_undecided(const struct match_open *o)
{
	return !o->n && (o->is_cancelling || (!o->has_ended && !is_specific(&o->from)));
}

/* True if one of the first n open receives may have taken a message of that channel. */
static bool is_behind(const struct match_receives *r, unsigned n, const struct match_pattern *p)
{
	for (unsigned i = 0; i < n; i++)
		if (is_undecided(&r->open[i]) && may_meet(&r->open[i].from, p))
			return true;
	return false;
}

/* Returns 0 if there is no room for its channel. */
static uint64_t next_number(struct match_receives *r, uint64_t key)
{
	struct match_count *c = match_find(&r->table, key);

	return c ? ++c->n : 0;
}

/* --- cancelled receives that have a number */

static struct match_drop *find_drop(struct match_receives *r, uint64_t key, uint64_t n)
{
	for (unsigned i = 0; i < r->ndrop; i++)
		if (r->drop[i].key == key && r->drop[i].n == n)
			return &r->drop[i];
	return NULL;
}

/* Counts the cancelled receives before number n. Returns false if one has not ended yet. */
static bool count_drops(const struct match_receives *r, uint64_t key, uint64_t n, uint64_t *out)
{
	*out = 0;
	for (unsigned i = 0; i < r->ndrop; i++) {
		if (r->drop[i].key != key || r->drop[i].n >= n)
			continue;
		if (!r->drop[i].is_over)
			return false;
		++*out;
	}
	return true;
}

static void remove_drop(struct match_receives *r, struct match_drop *d)
{
	*d = r->drop[--r->ndrop];
}

/* --- reports */

/* Returns false if the number is open. */
static bool rank(const struct match_receives *r, const struct match_open *o, struct match_sent *out)
{
	uint64_t drops;

	if (!count_drops(r, o->key, o->n, &drops))
		return false;
	*out = (struct match_sent){ .id = match_id(o->key, o->n - drops),
				    .in_doubt = r->in_doubt || o->in_doubt };
	return true;
}

/* Numbers one whose channel is known. Without room in the table its id stays unknown. */
static bool settle(struct match_receives *r, unsigned i)
{
	struct match_open *o = &r->open[i];

	if (o->n)
		return true;
	if (is_undecided(o) || is_behind(r, i, &o->from))
		return false;
	o->key = key_of(r, &o->from);
	o->n = next_number(r, o->key);
	return o->n != 0 || o->has_ended || o->is_forgotten;
}

static void remove_open(struct match_receives *r, unsigned at)
{
	r->nopen--;
	for (unsigned i = at; i < r->nopen; i++)
		r->open[i] = r->open[i + 1];
}

static void sweep(struct match_receives *r)
{
	for (unsigned i = 0; i < r->nopen;) {
		struct match_open o;
		struct match_sent got = { 0 };
		bool is_settled = settle(r, i);

		if (is_settled && r->open[i].is_forgotten) {
			remove_open(r, i);
			continue;
		}
		if (!is_settled || !r->open[i].has_ended ||
		    (r->open[i].n && !rank(r, &r->open[i], &got))) {
			i++;
			continue;
		}
		o = r->open[i];
		remove_open(r, i);
		r->on_late(o.arg, o.from.source, &got);
	}
}

/* --- posts */

/*
 * Adds an open receive. Returns false if there is no room: then the numbers of this receive and of
 * all later ones are in doubt.
 */
static bool put_open(struct match_receives *r, const struct match_open *o)
{
	if (r->nopen == MATCH_OPEN) {
		r->in_doubt = true;
		return false;
	}
	r->open[r->nopen++] = *o;
	return true;
}

static void begin_posting(struct match_receives *r, const struct match_pattern *from,
			  unsigned thread)
{
	struct match_posting *own = &r->posting[thread];

	*own = (struct match_posting){ .from = *from, .is_on = true };
	for (unsigned i = 0; i < MATCH_THREADS; i++) {
		struct match_posting *p = &r->posting[i];

		if (p != own && p->is_on && may_meet(&p->from, from))
			p->in_doubt = own->in_doubt = true;
	}
}

void match_post(struct match_receives *r, const struct match_pattern *from, unsigned thread,
		struct match_ticket *out)
{
	*out = (struct match_ticket){ 0 };
	if (r->is_shared)
		begin_posting(r, from, thread);
	if (is_specific(from) && (!r->nopen || !is_behind(r, r->nopen, from))) {
		out->key = key_of(r, from);
		out->n = next_number(r, out->key);
		return;
	}
	if (put_open(r, &(struct match_open){ .place = r->places + 1, .from = *from }))
		out->place = ++r->places;
}

/* Finds the open receive of a ticket. Receives with place 0 have ended and have no ticket. */
static struct match_open *find_open(struct match_receives *r, uint64_t place)
{
	for (unsigned i = 0; place && i < r->nopen; i++)
		if (r->open[i].place == place)
			return &r->open[i];
	return NULL;
}

void match_posted(struct match_receives *r, unsigned thread, struct match_ticket *t)
{
	struct match_open *o;

	if (!r->is_shared)
		return;
	t->in_doubt = r->posting[thread].in_doubt;
	o = find_open(r, t->place);
	if (o)
		o->in_doubt = t->in_doubt;
	r->posting[thread] = (struct match_posting){ 0 };
}

/* --- ends */

/* Removes the mark of a receive that had completed before it was cancelled. */
static void undrop(struct match_receives *r, uint64_t key, uint64_t n)
{
	struct match_drop *d = r->ndrop && n ? find_drop(r, key, n) : NULL;

	if (!d)
		return;
	remove_drop(r, d);
	sweep(r);
}

static bool end_numbered(struct match_receives *r, const struct match_ticket *t,
			 const struct match_pattern *from, uint64_t arg, struct match_sent *out)
{
	struct match_open o = { .from = *from,
				.key = t->key,
				.n = t->n,
				.arg = arg,
				.has_ended = true,
				.in_doubt = t->in_doubt };

	undrop(r, t->key, t->n);
	if (rank(r, &o, out))
		return true;
	if (put_open(r, &o))
		return false;
	*out = (struct match_sent){ match_id(t->key, t->n), true };
	return true;
}

/* Ends a receive for which the list had no room. */
static void end_lost(struct match_receives *r, const struct match_pattern *from,
		     struct match_sent *out)
{
	uint64_t key = key_of(r, from), n = next_number(r, key);

	*out = (struct match_sent){ n ? match_id(key, n) : 0, true };
}

bool match_end(struct match_receives *r, const struct match_ticket *t,
	       const struct match_pattern *from, uint64_t arg, struct match_sent *out)
{
	struct match_open *o;

	*out = (struct match_sent){ 0 };
	o = find_open(r, t->place);
	if (o)
		undrop(r, o->key, o->n);
	o = find_open(r, t->place); /* entries have moved */
	if (t->n)
		return end_numbered(r, t, from, arg, out);
	if (t->key) /* no room for its channel */
		return true;
	if (!o) {
		end_lost(r, from, out);
		return true;
	}
	o->from = *from;
	o->arg = arg;
	o->has_ended = true;
	o->is_cancelling = false;
	sweep(r);
	return false;
}

void match_cancel(struct match_receives *r, const struct match_ticket *t)
{
	struct match_open *o = find_open(r, t->place);
	uint64_t key = o ? o->key : t->key, n = o ? o->n : t->n;

	if (o && !o->n)
		o->is_cancelling = true;
	else if (n && r->ndrop < MATCH_DROPS && !find_drop(r, key, n))
		r->drop[r->ndrop++] = (struct match_drop){ key, n, false };
	else if (n && r->ndrop == MATCH_DROPS)
		r->in_doubt = true;
}

/* Decreases the count of a channel by the cancelled receives at its end. */
static void shrink(struct match_receives *r, uint64_t key)
{
	struct match_count *c = match_find(&r->table, key);
	struct match_drop *d;

	while (c && (d = find_drop(r, key, c->n)) && d->is_over) {
		remove_drop(r, d);
		c->n--;
	}
}

void match_cancelled(struct match_receives *r, const struct match_ticket *t)
{
	struct match_open *o = find_open(r, t->place);
	uint64_t key = o ? o->key : t->key, n = o ? o->n : t->n;
	struct match_drop *d = n ? find_drop(r, key, n) : NULL;

	if (o)
		remove_open(r, (unsigned)(o - r->open));
	if (d)
		d->is_over = true;
	else if (n) /* the call of MPI_Cancel was not watched */
		r->in_doubt = true;
	if (d)
		shrink(r, key);
	sweep(r);
}

void match_abandon(struct match_receives *r, const struct match_ticket *t)
{
	struct match_open *o = find_open(r, t->place);
	struct match_drop *d = t->n ? find_drop(r, t->key, t->n) : NULL;

	if (d || (o && is_undecided(o)))
		r->in_doubt = true;
	if (d)
		remove_drop(r, d);
	if (o && is_undecided(o))
		remove_open(r, (unsigned)(o - r->open));
	else if (o)
		o->is_forgotten = true;
	sweep(r);
}
