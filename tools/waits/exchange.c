/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/waits/exchange.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/ring/calls.h"
#include "common/ring/seg.h"
#include "tools/session/reply_each.h"
#include "tools/session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values of a list of omig_calls_read: of a function, of a partner. */
enum { CALL_NAME, CALL_CLASS, CALL_COUNT_AT, CALL_DELAY, CALL_IN_CALL, CALL_OUT, CALL_IN };
enum {
	PAIR_NAME,
	PAIR_RANK,
	PAIR_COUNT,
	PAIR_OUT,
	PAIR_IN,
	PAIR_DELAY,
	PAIR_SHARED,
	PAIR_POSSIBLE,
	PAIR_OPEN,
	PAIR_KINDS,
	PAIR_TAG
};

void exchange_done(struct exchange *x)
{
	for (size_t i = 0; i < x->n; i++) {
		free(x->rank[i].pair);
		free(x->rank[i].call);
	}
	free(x->rank);
	*x = (struct exchange){ 0 };
}

/* --- reading */

struct reading {
	struct exchange *x;
	const struct top_sample *s;
	int func; /* number of the last function; -1: none */
};

static double amount(const Omis_value *list, size_t i)
{
	int64_t v = value_at(list, i) ? value_int(list, i) : 0;

	return v > 0 ? (double)v : 0;
}

static double in_seconds(const Omis_value *list, size_t i)
{
	return amount(list, i) * 1e-9;
}

/* Lists of one function are adjacent. The names of a reply end with its entry. */
static int func_of(struct reading *r, const char *name)
{
	const struct call_desc *last = r->func < 0 ? NULL : call_get((unsigned)r->func);

	if (!last || !str_eq(last->name, name))
		r->func = call_find(name);
	return r->func;
}

static bool is_partner(const struct exchange *x, int64_t rank)
{
	return rank == CALL_PARTNER_UNKNOWN || rank == CALL_PARTNER_ALL ||
	       (rank >= 0 && rank < x->world_size);
}

static void add_pair(struct reading *r, struct exchange_rank *to, const Omis_value *v)
{
	int func = func_of(r, value_text(v, PAIR_NAME));
	int64_t rank = value_int(v, PAIR_RANK), tag = value_int(v, PAIR_TAG);
	struct exchange_pair *p;

	if (!value_text(v, PAIR_NAME)[0])
		to->lost += amount(v, PAIR_COUNT);
	if (func < 0 || !is_partner(r->x, rank))
		return;
	if (array_grow(&to->pair, &to->pair_cap, to->npair + 1, sizeof(*p), OMIS_VALUES_MAX)) {
		r->x->failed = true;
		return;
	}
	p = &to->pair[to->npair++];
	*p = (struct exchange_pair){ .func = (unsigned)func,
				     .partner = (int32_t)rank,
				     .count = amount(v, PAIR_COUNT),
				     .bytes_out = amount(v, PAIR_OUT),
				     .bytes_in = amount(v, PAIR_IN),
				     .certain = in_seconds(v, PAIR_DELAY),
				     .shared = in_seconds(v, PAIR_SHARED),
				     .possible = in_seconds(v, PAIR_POSSIBLE),
				     .open = in_seconds(v, PAIR_OPEN),
				     .kinds = (uint32_t)value_int(v, PAIR_KINDS) & SEG_FOR_KNOWN,
				     .tag = tag >= SEG_TAG_SEVERAL && tag <= INT32_MAX
						    ? (int32_t)tag
						    : -1 };
}

static void add_call(struct reading *r, struct exchange_rank *to, const Omis_value *v)
{
	int func = func_of(r, value_text(v, CALL_NAME));

	if (func < 0)
		return;
	if (array_grow(&to->call, &to->call_cap, to->ncall + 1, sizeof(*to->call), SEG_HOOKS)) {
		r->x->failed = true;
		return;
	}
	to->call[to->ncall++] =
		(struct exchange_call){ .func = (unsigned)func,
					.count = amount(v, CALL_COUNT_AT),
					.seconds = in_seconds(v, CALL_DELAY),
					.bytes = amount(v, CALL_OUT) + amount(v, CALL_IN) };
}

static int by_pair(const void *a, const void *b)
{
	const struct exchange_pair *x = a, *y = b;

	if (x->func != y->func)
		return x->func < y->func ? -1 : 1;
	return (x->partner > y->partner) - (x->partner < y->partner);
}

static int by_func(const void *a, const void *b)
{
	const struct exchange_call *x = a, *y = b;

	return (x->func > y->func) - (x->func < y->func);
}

static int by_rank(const void *a, const void *b)
{
	const struct exchange_rank *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

static struct exchange_rank *rank_new(struct exchange *x, const struct top_rank *r)
{
	struct exchange_rank *to;

	if (array_grow(&x->rank, &x->cap, x->n + 1, sizeof(*x->rank), OMIS_OBJECTS_MAX)) {
		x->failed = true;
		return NULL;
	}
	to = &x->rank[x->n++];
	*to = (struct exchange_rank){ .rank = (int32_t)r->rank };
	str_copy(to->token, sizeof(to->token), r->token);
	return to;
}

/* The second value is a number in the lists of partners only. */
static void add_rank(void *arg, const char *token, const Omis_value *v)
{
	struct reading *r = arg;
	const struct top_rank *of = top_rank_find(r->s, token);
	struct exchange_rank *to;
	const Omis_value *c;

	if (!of || of->rank < 0 || of->rank >= of->world_size || !str_eq(of->job, r->x->job) ||
	    of->world_size > OMIS_OBJECTS_MAX)
		return;
	if (of->world_size > r->x->world_size)
		r->x->world_size = of->world_size;
	to = rank_new(r->x, of);
	if (!to)
		return;
	to->seconds = in_seconds(v, 0);
	for (size_t i = 1; (c = value_at(v, i)); i++) {
		if (value_text(c, CALL_CLASS)[0])
			add_call(r, to, c);
		else
			add_pair(r, to, c);
	}
	if (to->npair)
		qsort(to->pair, to->npair, sizeof(*to->pair), by_pair);
	if (to->ncall)
		qsort(to->call, to->ncall, sizeof(*to->call), by_func);
}

/* Whole, or empty. */
static bool finish(struct exchange *x)
{
	bool ok = !x->failed;

	if (x->n)
		qsort(x->rank, x->n, sizeof(*x->rank), by_rank);
	if (!ok)
		exchange_done(x);
	return ok;
}

bool exchange_read(struct exchange *x, const struct top_sample *s, const char *job,
		   const Omis_object_result *entries)
{
	struct reading r = { .x = x, .s = s, .func = -1 };

	*x = (struct exchange){ 0 };
	str_copy(x->job, sizeof(x->job), job);
	reply_each(entries, add_rank, &r);
	return finish(x);
}

/* --- differences */

static double less(double now, double before)
{
	return now > before ? now - before : 0;
}

static void take_pair(struct exchange_pair *to, const struct exchange_pair *before)
{
	to->count = less(to->count, before->count);
	to->bytes_out = less(to->bytes_out, before->bytes_out);
	to->bytes_in = less(to->bytes_in, before->bytes_in);
	/* Open calls have ended meanwhile, and are certain now. */
	to->certain = less(to->certain + to->open, before->certain + before->open);
	to->open = 0;
	to->shared = less(to->shared, before->shared);
	to->possible = fmax(less(to->possible, before->possible), to->shared);
}

static bool pairs_less(struct exchange_rank *to, const struct exchange_rank *now,
		       const struct exchange_rank *before)
{
	size_t at = 0;

	to->pair = calloc(now->npair + 1, sizeof(*to->pair));
	if (!to->pair)
		return false;
	for (size_t i = 0; i < now->npair; i++) {
		struct exchange_pair p = now->pair[i];

		while (at < before->npair && by_pair(&before->pair[at], &p) < 0)
			at++;
		if (at < before->npair && !by_pair(&before->pair[at], &p))
			take_pair(&p, &before->pair[at]);
		else
			take_pair(&p, &(struct exchange_pair){ 0 });
		if (p.count > 0 || p.bytes_in > 0 || p.bytes_out > 0 || p.certain > 0 ||
		    p.possible > 0)
			to->pair[to->npair++] = p;
	}
	return true;
}

static bool calls_less(struct exchange_rank *to, const struct exchange_rank *now,
		       const struct exchange_rank *before)
{
	size_t at = 0;

	to->call = calloc(now->ncall + 1, sizeof(*to->call));
	if (!to->call)
		return false;
	for (size_t i = 0; i < now->ncall; i++) {
		struct exchange_call c = now->call[i];

		while (at < before->ncall && by_func(&before->call[at], &c) < 0)
			at++;
		if (at < before->ncall && before->call[at].func == c.func) {
			c.count = less(c.count, before->call[at].count);
			c.seconds = less(c.seconds, before->call[at].seconds);
			c.bytes = less(c.bytes, before->call[at].bytes);
		}
		if (c.count > 0 || c.seconds > 0)
			to->call[to->ncall++] = c;
	}
	return true;
}

static bool rank_less(struct exchange *out, const struct exchange_rank *now,
		      const struct exchange_rank *before)
{
	struct exchange_rank *to;

	if (array_grow(&out->rank, &out->cap, out->n + 1, sizeof(*out->rank), OMIS_OBJECTS_MAX))
		return false;
	to = &out->rank[out->n++];
	*to = (struct exchange_rank){ .rank = now->rank,
				      .seconds = less(now->seconds, before->seconds),
				      .lost = less(now->lost, before->lost) };
	str_copy(to->token, sizeof(to->token), now->token);
	return pairs_less(to, now, before) && calls_less(to, now, before);
}

bool exchange_has_moved(const struct exchange *before, const struct exchange *now)
{
	for (size_t i = 0; i < now->n; i++) {
		const struct exchange_rank *then = exchange_find(before, now->rank[i].rank);

		if (!then || now->rank[i].seconds > then->seconds)
			return true;
	}
	return false;
}

/* A rank that was started again is another process. */
bool exchange_difference(struct exchange *out, const struct exchange *before,
			 const struct exchange *now)
{
	*out = (struct exchange){ .world_size = now->world_size };
	str_copy(out->job, sizeof(out->job), now->job);
	for (size_t i = 0; i < now->n && !out->failed; i++) {
		const struct exchange_rank *then = exchange_find(before, now->rank[i].rank);

		if (then && str_eq(then->token, now->rank[i].token))
			out->failed = !rank_less(out, &now->rank[i], then);
	}
	return finish(out);
}

const struct exchange_rank *exchange_find(const struct exchange *x, int64_t rank)
{
	const struct exchange_rank key = { .rank = (int32_t)rank };

	return x->n && rank >= 0 && rank < x->world_size
		       ? bsearch(&key, x->rank, x->n, sizeof(key), by_rank)
		       : NULL;
}
