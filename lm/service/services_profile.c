/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: what the ranks of this host have done in their calls, added up here. */
#include "lm/service/profile.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/ring/calls.h"
#include "common/time/timebase.h"
#include "lm/instrument/calls.h"
#include "lm/proc/totals.h"

#include <stdlib.h>
#include <string.h>

static const char *const by_names[BY_KINDS] = { "call", "rank", "partner", "site", "size" };

/* Tables that each kind of profile needs besides that of calls. */
static const unsigned with[BY_KINDS] = { 0, 0, TOTALS_PARTNERS, TOTALS_SITES, TOTALS_SIZES };

/* --- one rank */

static const struct segview_call *call_before(const struct totals *t, unsigned func)
{
	static const struct segview_call none;
	const struct total_call *found = t ? totals_call(t, func) : NULL;

	return found ? &found->v : &none;
}

/*
 * Computes the shortest and the longest call since `b`. If the extreme call is one that `b`
 * contains, those since then are unknown.
 */
static void extent_of(struct sum *to, const struct segview_call *v, const struct segview_call *b,
		      const struct ticks_scale *s)
{
	bool is_any = v->longest && v->sampled > b->sampled;

	to->shortest_ns = !is_any ? 0
			  : b->longest && v->shortest >= b->shortest
				  ? PROFILE_UNKNOWN
				  : ticks_delta_to_nsec(s, v->shortest);
	to->longest_ns = !is_any		    ? 0
			 : v->longest <= b->longest ? PROFILE_UNKNOWN
						    : ticks_delta_to_nsec(s, v->longest);
}

struct sum sum_of(const struct segview_call *v, const struct segview_call *b,
		  const struct ticks_scale *s)
{
	struct sum sum = {
		.count = profile_gained(v->count, b->count),
		.bytes_out = profile_gained(v->bytes_out, b->bytes_out),
		.bytes_in = profile_gained(v->bytes_in, b->bytes_in),
		.delay_ns = ticks_delta_to_nsec(
			s, profile_gained(v->delay + v->open_delay, b->delay + b->open_delay)),
		.in_call = v->in_call,
	};

	extent_of(&sum, v, b, s);
	return sum;
}

/* A value unknown for one rank is unknown for all. */
static int64_t join_extent(int64_t to, int64_t v, bool is_longest)
{
	if (!v || to == PROFILE_UNKNOWN)
		return to;
	if (!to || v == PROFILE_UNKNOWN)
		return v;
	return (v > to) == is_longest ? v : to;
}

void sum_add(struct sum *to, const struct sum *v)
{
	to->count += v->count;
	to->bytes_out += v->bytes_out;
	to->bytes_in += v->bytes_in;
	to->delay_ns += v->delay_ns;
	to->in_call += v->in_call;
}

static void add_to_function(struct profile *f, unsigned func, const struct sum *v, int32_t rank)
{
	struct sum *to = &f->func[func];

	if (!to->ranks++ || v->delay_ns > to->most_ns) {
		to->most_ns = v->delay_ns;
		to->most_rank = rank;
	}
	to->shortest_ns = join_extent(to->shortest_ns, v->shortest_ns, false);
	to->longest_ns = join_extent(to->longest_ns, v->longest_ns, true);
	sum_add(to, v);
}

/* Returns a rank's sum; its most_rank is the call with most of the time. */
static struct sum add_calls(struct profile *f, const struct proc *p, const struct totals *t,
			    const struct totals *mark)
{
	const struct ticks_scale *s = calls_scale(f->calls, p);
	struct sum all = { .most_rank = -1 };

	for (size_t i = 0; i < t->ncall; i++) {
		unsigned func = t->call[i].func;
		struct sum v = sum_of(&t->call[i].v, call_before(mark, func), s);

		if (!call_get(func) || (!v.count && !v.delay_ns && !v.in_call))
			continue;
		add_to_function(f, func, &v, p->own.rank);
		sum_add(&all, &v);
		if (all.most_rank < 0 || v.delay_ns > all.most_ns) {
			all.most_rank = (int64_t)func;
			all.most_ns = v.delay_ns;
		}
	}
	return all;
}

static void write_rank(struct profile *f, const struct proc *p, const struct sum *v,
		       int64_t timed_ns)
{
	struct omis_writer *w = &f->w;

	omis_write_list(w);
	omis_write_int(w, p->own.rank);
	omis_write_token(w, p->token.s);
	OMIS_WRITE_INTS(w, !p->held, (int64_t)v->count, v->delay_ns, (int64_t)v->bytes_out,
			(int64_t)v->bytes_in, timed_ns);
	omis_write_string(w, v->most_rank < 0 ? "" : call_get((unsigned)v->most_rank)->name);
	omis_write_int(w, v->most_ns);
	omis_write_list_end(w);
}

/* --- partners: (rank, partner) once, for all functions */

static int compare_ranks(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->partner > y->partner) - (x->partner < y->partner);
}

/* Pairs with more time are first, then those with more bytes. */
static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	uint64_t xb = x->bytes_out + x->bytes_in, yb = y->bytes_out + y->bytes_in;

	if (x->delay_ns != y->delay_ns)
		return x->delay_ns < y->delay_ns ? 1 : -1;
	return (xb < yb) - (xb > yb);
}

/* Merges the pairs after `from`, and keeps as many as there are rows for. */
static void join_pairs(struct profile *f, size_t from)
{
	struct pair *pair = f->pair + from;
	size_t n = 0, all = f->npair - from;

	if (!all)
		return;
	qsort(pair, all, sizeof(*pair), compare_ranks);
	for (size_t i = 0; i < all; i++) {
		struct pair *to = n ? &pair[n - 1] : NULL;

		if (!to || compare_ranks(to, &pair[i])) {
			pair[n++] = pair[i];
			continue;
		}
		to->count += pair[i].count;
		to->bytes_out += pair[i].bytes_out;
		to->bytes_in += pair[i].bytes_in;
		to->delay_ns += pair[i].delay_ns;
	}
	qsort(pair, n, sizeof(*pair), compare_pairs);
	f->npair = from + (n < PROFILE_PAIRS_MAX ? n : PROFILE_PAIRS_MAX);
	f->left_out += from + n - f->npair;
}

/* Pairs without room are counted. */
static int add_pair(struct profile *f, const struct pair *p)
{
	int rc = array_grow(&f->pair, &f->pair_cap, f->npair + 1, sizeof(*p),
			    PROFILE_PAIRS_HELD_MAX);

	if (rc == -ERR_LIMIT)
		f->left_out++;
	else if (!rc)
		f->pair[f->npair++] = *p;
	return rc == -ERR_LIMIT ? 0 : rc;
}

static const struct total_partner *partner_before(const struct totals *t,
						  const struct total_partner *p)
{
	static const struct total_partner none;
	const struct total_partner *found = t ? totals_partner(t, p) : NULL;

	return found ? found : &none;
}

static int add_partners(struct profile *f, const struct proc *p, const struct totals *t,
			const struct totals *mark)
{
	const struct ticks_scale *s = calls_scale(f->calls, p);
	size_t from = f->npair;
	int rc = 0;

	for (size_t i = 0; !rc && i < t->npartner; i++) {
		const struct total_partner *v = &t->partner[i], *b = partner_before(mark, v);
		const struct pair pair = {
			.rank = p->own.rank,
			.partner = v->rank,
			.count = profile_gained(v->count, b->count),
			.bytes_out = profile_gained(v->bytes_out, b->bytes_out),
			.bytes_in = profile_gained(v->bytes_in, b->bytes_in),
			.delay_ns = ticks_delta_to_nsec(
				s, profile_gained(total_partner_time(v), total_partner_time(b))),
		};

		/* Waits have a bound, which a row here has no room for. */
		if (call_waits(call_get(v->func)))
			continue;
		if (pair.count || pair.bytes_out || pair.bytes_in || pair.delay_ns)
			rc = add_pair(f, &pair);
	}
	join_pairs(f, from);
	return rc;
}

static void write_pairs(struct profile *f)
{
	join_pairs(f, 0); /* two jobs may have the same rank */
	for (size_t i = 0; i < f->npair; i++) {
		const struct pair *p = &f->pair[i];

		omis_write_list(&f->w);
		OMIS_WRITE_INTS(&f->w, p->rank, p->partner, (int64_t)p->count, p->delay_ns,
				(int64_t)p->bytes_out, (int64_t)p->bytes_in);
		omis_write_list_end(&f->w);
	}
}

/* --- sizes: (function, class) once */

static void add_size(struct profile *f, const struct total_size *v, const struct size *gained)
{
	struct size *to = &f->size[v->func * SEG_SIZE_CLASSES + v->class];

	to->count += gained->count;
	to->bytes += gained->bytes;
	to->delay_ns += gained->delay_ns;
}

static const struct total_size *size_before(const struct totals *t, const struct total_size *v)
{
	static const struct total_size none;
	const struct total_size *found = t ? totals_size(t, v) : NULL;

	return found ? found : &none;
}

static int add_sizes(struct profile *f, const struct proc *p, const struct totals *t,
		     const struct totals *mark)
{
	const struct ticks_scale *s = calls_scale(f->calls, p);

	if (!f->size)
		f->size = calloc(PROFILE_SIZES, sizeof(*f->size));
	if (!f->size)
		return -ERR_NOMEM;
	for (size_t i = 0; i < t->nsize; i++) {
		const struct total_size *v = &t->size[i], *b = size_before(mark, v);
		const struct size gained = {
			.count = profile_gained(v->count, b->count),
			.bytes = profile_gained(v->bytes, b->bytes),
			.delay_ns = ticks_delta_to_nsec(s, profile_gained(v->delay, b->delay)),
		};

		if (call_get(v->func))
			add_size(f, v, &gained);
	}
	return 0;
}

static void write_sizes(struct profile *f)
{
	for (unsigned i = 0; f->size && i < PROFILE_SIZES; i++) {
		const struct size *s = &f->size[i];
		unsigned class = i % SEG_SIZE_CLASSES;
		bool is_last = class + 1 == SEG_SIZE_CLASSES;

		if (!s->count)
			continue;
		if (f->rows.n >= PROFILE_ROWS_MAX_BYTES) {
			f->left_out++;
			continue;
		}
		omis_write_list(&f->w);
		omis_write_string(&f->w, call_get(i / SEG_SIZE_CLASSES)->name);
		omis_write_int(&f->w, (int64_t)seg_size_from(class));
		omis_write_int(&f->w, is_last ? -1 : (int64_t)seg_size_from(class + 1) - 1);
		omis_write_int(&f->w, (int64_t)s->count);
		omis_write_int(&f->w, s->delay_ns);
		omis_write_int(&f->w, (int64_t)s->bytes);
		omis_write_list_end(&f->w);
	}
}

/* --- all ranks of the host */

/* Calls that have no row, so far. */
static uint64_t lost_of(enum by by, const struct totals *t)
{
	return !t		  ? 0
	       : by == BY_PARTNER ? t->partner_lost
	       : by == BY_SITE	  ? t->site_lost
	       : by == BY_SIZE	  ? t->size_lost
				  : 0;
}

static int add_rows(struct profile *f, const struct proc *p, const struct totals *t,
		    const struct totals *mark)
{
	switch (f->by) {
	case BY_PARTNER:
		return add_partners(f, p, t, mark);
	case BY_SITE:
		return profile_add_sites(f, p, t, mark);
	case BY_SIZE:
		return add_sizes(f, p, t, mark);
	default:
		return 0;
	}
}

static void write_calls(struct profile *f)
{
	for (unsigned i = 0; i < SEG_HOOKS; i++) {
		const struct sum *s = &f->func[i];
		const struct call_desc *d = s->ranks ? call_get(i) : NULL;

		if (!d)
			continue;
		omis_write_list(&f->w);
		omis_write_string(&f->w, d->name);
		omis_write_string(&f->w, call_class_name(d->class));
		OMIS_WRITE_INTS(&f->w, (int64_t)s->count, s->delay_ns, s->in_call,
				(int64_t)s->bytes_out, (int64_t)s->bytes_in, s->most_rank,
				s->most_ns, s->ranks, s->shortest_ns, s->longest_ns);
		omis_write_list_end(&f->w);
	}
}

static int add_totals(struct profile *f, const struct proc *p, const struct totals *t,
		      const struct totals *mark)
{
	uint64_t timed = profile_gained(t->timed, mark ? mark->timed : 0);
	int64_t timed_ns = ticks_delta_to_nsec(calls_scale(f->calls, p), timed);
	struct sum v;

	f->word = f->ranks++ ? f->word & t->word : t->word;
	f->ended += !p->held;
	f->untimed += !timed;
	f->marked += mark != NULL;
	f->timed_ns += timed_ns;
	if (timed_ns > f->longest_ns)
		f->longest_ns = timed_ns;
	v = add_calls(f, p, t, mark);
	if (f->by == BY_RANK)
		write_rank(f, p, &v, timed_ns);
	f->lost += profile_gained(lost_of(f->by, t), lost_of(f->by, mark));
	return add_rows(f, p, t, mark);
}

/* A process without MPI calls is in the entry, and adds nothing. */
static int add_proc(struct profile *f, struct proc *p)
{
	struct totals *t = NULL;
	int rc;

	buf_printf(&f->objects, "%s%s", f->objects.n ? "," : "", p->token.s);
	if (proc_is_alone(p))
		return 0;
	rc = calls_take(f->calls, p, with[f->by], &t);
	if (rc)
		return rc;
	if (!t) {
		f->unread++;
		return 0;
	}
	rc = add_totals(f, p, t, f->window == WINDOW_SINCE_MARK ? calls_mark(p, f->c->tool) : NULL);
	if (!rc && f->window != WINDOW_ALL)
		rc = calls_set_mark(p, f->c->tool, &t);
	totals_free(t);
	return rc;
}

static int add_entry(struct profile *f, struct service_call *c)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);
	const int64_t head[] = { f->ranks,  f->ended,	 f->untimed,	f->unread,
				 f->marked, f->timed_ns, f->longest_ns, f->word };

	if (f->by == BY_CALL)
		write_calls(f);
	else if (f->by == BY_PARTNER)
		write_pairs(f);
	else if (f->by == BY_SITE)
		profile_write_sites(f);
	else if (f->by == BY_SIZE)
		write_sizes(f);
	omis_write_int(&w, call_now(c));
	omis_write_token(&w, procs_node_token(c->procs));
	for (size_t i = 0; i < ARRAY_LEN(head); i++)
		omis_write_int(&w, head[i]);
	omis_write_int(&w, (int64_t)f->left_out);
	omis_write_int(&w, (int64_t)f->lost);
	if (f->rows.n) {
		buf_putc(&b, ',');
		buf_put(&b, f->rows.p, f->rows.n);
	}
	b.failed |= f->rows.failed || f->objects.failed;
	return call_add_values(c, buf_str(&f->objects), &b);
}

static int serve_with(struct service_call *c, struct profile *f)
{
	struct objects o = { 0 };
	int rc = call_resolve(c, 'p', &o);

	f->c = c;
	f->calls = c->of;
	f->window = (enum window)call_int(c, 2);
	buf_init(&f->objects, FRAME_MAX_BYTES / 4);
	buf_init(&f->rows, FRAME_MAX_BYTES / 2);
	f->w = OMIS_WRITER(&f->rows);
	map_init(&f->site_by_hash);
	for (size_t i = 0; !rc && i < o.n; i++)
		rc = add_proc(f, o.v[i].proc);
	if (!rc && o.n)
		rc = add_entry(f, c);
	reply_add_time(c->reply, call_now(c), call_now(c));
	buf_done(&f->objects);
	buf_done(&f->rows);
	free(f->pair);
	profile_sites_done(f);
	free(f->size);
	objects_done(&o);
	return rc;
}

static int serve_profile(struct service_call *c)
{
	struct profile *f;
	unsigned by = 0;
	int rc;

	while (by < BY_KINDS && !str_eq(call_text(c, 1), by_names[by]))
		by++;
	if (by == BY_KINDS)
		return reply_add_error(c->reply, c->action, "", STATUS_PARAMETER_ERROR,
				       "by is one of: call, rank, partner, site, size");
	if (call_int(c, 2) < WINDOW_ALL || call_int(c, 2) > WINDOW_SINCE_MARK)
		return reply_add_error(c->reply, c->action, "", STATUS_PARAMETER_ERROR,
				       "window is 0, 1 or 2");
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ERR_NOMEM;
	f->by = (enum by)by;
	rc = serve_with(c, f);
	free(f);
	return rc;
}

const struct service profile_services[] = {
	{ "omig_calls_profile", serve_profile },
	{ NULL, NULL },
};
