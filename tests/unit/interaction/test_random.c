/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random networks, held against definitions: all paths from the source to the last sink, one by
 * one. Uses of objects are computed a second time, from the texts of the test.
 */
#include "common/base/array.h"
#include "interaction/netmeter.h"
#include "interaction/netretime.h"
#include "interaction/netspent.h"
#include "tests/suite.h"
#include "tests/unit/interaction/made.h"

#define ROUNDS 3000
#define PATHS_MAX 4096

static struct made m;

/* --- a second implementation: by names, from the rows alone, in their order */

struct arc {
	int tail, head; /* rows */
	uint64_t task;
	bool blocks;
	int count[4]; /* of a, b, c, d in use */
};

static struct arc arcs[2 * MADE_MAX];
static size_t narcs;

static void apply(int count[4], const char *use, bool is_child)
{
	for (const char *s = use; *s; s += strcspn(s, " "), s += *s == ' ') {
		const char *at = s + (*s == '>');
		int *c = &count[at[1] - 'a'];

		if ((*s == '>') == is_child)
			*c += *at == '+' ? 1 : *c ? -1 : 0;
	}
}

static void add_arc(const int last[], int count[][4], int head, uint64_t task)
{
	const struct made_event *tail = &m.ev[last[task]];
	struct arc *a = &arcs[narcs++];

	*a = (struct arc){ .tail = last[task], .head = head, .task = task };
	a->blocks = tail->task == task && tail->blocks;
	memcpy(a->count, count[task], sizeof(a->count));
}

/* Fills arcs. Rows are in an order of cause and effect. */
static void make_arcs(void)
{
	static int last[MADE_MAX], count[MADE_MAX][4];

	narcs = 0;
	memset(count, 0, sizeof(count));
	for (int i = 0; i < (int)m.n; i++) {
		const struct made_event *ev = &m.ev[i];
		int *own = count[ev->task], *other = count[ev->other];

		if (ev->kind != NETWORK_SOURCE)
			add_arc(last, count, i, ev->task);
		if (ev->kind == NETWORK_JOIN) {
			add_arc(last, count, i, ev->other);
			for (int k = 2; k < 4; k++)
				own[k] = own[k] > other[k] ? own[k] : other[k];
		}
		if (ev->kind == NETWORK_FORK) {
			other[2] = own[2];
			other[3] = own[3];
			apply(other, ev->use, true);
			last[ev->other] = i;
		}
		apply(own, ev->use, false);
		last[ev->task] = i;
	}
}

static int last_sink(const int64_t *t)
{
	int f = -1;

	for (int i = 0; i < (int)m.n; i++)
		if (m.ev[i].kind == NETWORK_SINK &&
		    (f < 0 || t[i] > t[f] || (t[i] == t[f] && m.ev[i].task > m.ev[f].task)))
			f = i;
	return f;
}

/* --- all paths, backwards from a row */

struct way {
	size_t arc[MADE_MAX]; /* backwards */
	size_t n;
	int64_t length;
	bool has_b;
};

struct paths {
	int64_t length[PATHS_MAX]; /* B-arcs have none */
	size_t n, without_b;
	int64_t state[16]; /* of the only path without B-arcs: by objects in use, as bits */
};

static int bits_of(const int count[4])
{
	return (count[0] > 0) | (count[1] > 0) << 1 | (count[2] > 0) << 2 | (count[3] > 0) << 3;
}

static void note_path(struct paths *p, const struct way *way)
{
	ck_assert_uint_lt(p->n, PATHS_MAX);
	p->length[p->n++] = way->length;
	if (way->has_b)
		return;
	p->without_b++;
	memset(p->state, 0, sizeof(p->state));
	for (size_t i = 0; i < way->n; i++) {
		const struct arc *a = &arcs[way->arc[i]];

		p->state[bits_of(a->count)] += m.ev[a->head].t - m.ev[a->tail].t;
	}
}

static void walk(struct paths *p, const struct way *way, int at)
{
	if (m.ev[at].kind == NETWORK_SOURCE)
		note_path(p, way);
	for (size_t i = 0; i < narcs; i++)
		if (arcs[i].head == at) {
			struct way longer = *way;

			longer.arc[longer.n++] = i;
			longer.has_b |= arcs[i].blocks;
			longer.length += arcs[i].blocks ? 0 : m.ev[at].t - m.ev[arcs[i].tail].t;
			walk(p, &longer, arcs[i].tail);
		}
}

static int falling(const void *a, const void *b)
{
	return array_order_int64(b, a);
}

/* --- the networks */

static struct netuse *u;
static struct network w;
static struct err e;

static void make(struct rng *r)
{
	uint32_t object[2];

	made_draw(&m, r, 10 + (unsigned)rng_below(r, 40), 8);
	make_arcs();
	u = netuse_new();
	made_objects(u);
	ck_assert(!netuse_object(u, "a", 1, &object[0], &e));
	ck_assert(!netuse_object(u, "c", 1, &object[1], &e));
	ck_assert(!netuse_add_state(u, "ac", object, 2, &e));
	ck_assert(!netuse_add_state(u, "c", object + 1, 1, &e));
	network_init(&w, u);
	made_add_mixed(&w, &m, r);
	ck_assert_msg(!network_build(&w, &e), "%s", e.text);
}

static void unmake(void)
{
	network_done(&w);
	netuse_free(u);
}

static int row_of(uint32_t v)
{
	return (int)w.v[v].place - 1;
}

static void check_counts(void)
{
	size_t n = 0, forks = w.count[NETWORK_FORK], joins = w.count[NETWORK_JOIN];
	struct network_arc a;

	for (uint32_t i = 0; i < w.n; i++) {
		n += network_arc(&w, i, false, &a);
		n += network_arc(&w, i, true, &a);
		ck_assert(w.v[i].tail == NETWORK_NONE || w.v[i].tail < i);
	}
	ck_assert_uint_eq(n, narcs);
	ck_assert_uint_eq(w.ntask, 1 + forks);
	ck_assert_uint_eq(w.count[NETWORK_SINK], 1 + forks - joins);
	ck_assert_uint_eq(n, 1 + 2 * forks + joins + w.count[NETWORK_SIMPLE]);
}

static int bits_of_use(uint32_t use)
{
	struct buf b = BUF_INIT(64);
	int bits = 0;

	netuse_put(u, use, &b);
	for (const char *s = buf_str(&b); *s; s++)
		bits |= *s == '+' ? 0 : 1 << (*s - 'a');
	buf_done(&b);
	return bits;
}

static void check_states(const struct netpath *path, const struct paths *all)
{
	int64_t got[16] = { 0 }, sum = 0, ac = 0, c = 0;
	struct netmeter meter = { 0 };
	struct netspent s;

	ck_assert(!netspent_find(&w, path, &s, &e));
	for (size_t i = 0; i < s.nuse; i++) {
		got[bits_of_use(s.use[i].of)] += s.use[i].ns;
		sum += s.use[i].ns;
	}
	ck_assert_int_eq(sum, netpath_response(&w));
	for (int i = 0; i < 16; i++) {
		if (path->is_unique)
			ck_assert_int_eq(got[i], all->state[i]);
		ac += (i & 5) == 5 ? got[i] : 0;
		c += i & 4 ? got[i] : 0;
	}
	ck_assert_int_eq(s.state[0], ac);
	ck_assert_int_eq(s.state[1], c);
	ck_assert(!netmeter_run(&meter, &w, &e));
	ck_assert_int_eq(meter.sum_response, netpath_response(&w));
	ck_assert_int_eq(meter.sum_state[0], ac);
	ck_assert_int_eq(meter.sum_state[1], c);
	netspent_done(&s);
}

TEST(the_path_and_its_states_are_those_of_all_paths_one_by_one)
{
	static struct paths all;
	struct rng r;
	size_t unique = 0;

	rng_init(&r, suite_seed(1991));
	for (int round = 0; round < ROUNDS; round++) {
		int64_t t[MADE_MAX];
		struct netpath p;

		make(&r);
		check_counts();
		for (size_t i = 0; i < m.n; i++)
			t[i] = m.ev[i].t;
		ck_assert_int_eq(row_of(w.vf), last_sink(t));
		ck_assert(!netpath_find(&w, &p, &e));
		ck_assert_int_eq(row_of(p.step[0].v), 0);
		if (!m.has_both_blocked) {
			all = (struct paths){ 0 };
			walk(&all, &(struct way){ .n = 0 }, row_of(w.vf));
			ck_assert_uint_ge(all.without_b, 1);
			ck_assert_int_eq(p.is_unique, all.without_b == 1);
			check_states(&p, &all);
			unique += p.is_unique;
		}
		netpath_done(&p);
		unmake();
	}
	ck_assert_uint_gt(unique, ROUNDS / 4);
	ck_assert_uint_lt(unique, ROUNDS);
}

TEST(near_critical_paths_are_the_longest_of_all_paths)
{
	static struct paths all;
	struct rng r;

	rng_init(&r, suite_seed(1992));
	for (int round = 0; round < ROUNDS; round++) {
		struct netpath *near;
		size_t n, k = 1 + rng_below(&r, 20);

		make(&r);
		if (!m.has_both_blocked) {
			all = (struct paths){ 0 };
			walk(&all, &(struct way){ .n = 0 }, row_of(w.vf));
			qsort(all.length, all.n, sizeof(*all.length), falling);
			ck_assert(!netpath_near(&w, k, &near, &n, &e));
			ck_assert_uint_eq(n, k < all.n ? k : all.n);
			for (size_t i = 0; i < n; i++) {
				ck_assert_int_eq(near[i].length, all.length[i]);
				netpath_done(&near[i]);
			}
			free(near);
		}
		unmake();
	}
}

/* Of the definition: the longest of all ways to a row, where waits have no length. */
static int64_t time_of(int row, int head, uint64_t task, int64_t length)
{
	int64_t most = m.ev[0].t;

	for (size_t i = 0; i < narcs; i++)
		if (arcs[i].head == row) {
			const struct arc *a = &arcs[i];
			bool is_it = row == head && a->task == task;
			int64_t own = is_it	  ? length
				      : a->blocks ? 0
						  : m.ev[row].t - m.ev[a->tail].t,
				t = time_of(a->tail, head, task, length) + own;

			most = t > most ? t : most;
		}
	return most;
}

TEST(times_after_a_change_are_those_of_the_longest_ways)
{
	struct rng r;

	rng_init(&r, suite_seed(1993));
	for (int round = 0; round < ROUNDS; round++) {
		struct netretime_change c;
		struct netretime now;
		int64_t t[MADE_MAX];
		const struct arc *a;

		make(&r);
		if (m.has_both_blocked) {
			unmake();
			continue;
		}
		a = &arcs[rng_below(&r, narcs)];
		c.head = network_find(&w, m.ev[a->head].name);
		c.is_ending = m.ev[a->head].task != a->task;
		c.length = (int64_t)rng_below(&r, 12);
		ck_assert(!netretime(&w, &c, 1, &now, &e));
		for (uint32_t i = 0; i < w.n; i++) {
			t[row_of(i)] = now.t[i];
			ck_assert_int_eq(now.t[i], time_of(row_of(i), a->head, a->task, c.length));
		}
		ck_assert_int_eq(now.response, t[last_sink(t)] - t[0]);
		ck_assert_int_eq(row_of(now.vf), last_sink(t));
		netretime_done(&now);
		unmake();
	}
}

TEST(no_change_changes_no_time)
{
	struct rng r;

	rng_init(&r, suite_seed(1994));
	for (int round = 0; round < ROUNDS; round++) {
		struct netretime now;
		struct netpath p;

		make(&r);
		ck_assert(!netretime(&w, NULL, 0, &now, &e));
		ck_assert(!netpath_find(&w, &p, &e));
		for (uint32_t i = 0; i < w.n; i++)
			ck_assert_int_eq(now.t[i], w.v[i].t);
		if (!m.has_both_blocked) {
			ck_assert_uint_eq(now.path.n, p.n);
			for (size_t i = 0; i < p.n; i++)
				ck_assert_uint_eq(now.path.step[i].v, p.step[i].v);
			ck_assert_int_eq(now.path.is_unique, p.is_unique);
		}
		netpath_done(&p);
		netretime_done(&now);
		unmake();
	}
}

SUITE("interaction")
