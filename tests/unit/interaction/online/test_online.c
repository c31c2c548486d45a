/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks contracted on a random tree of hosts give what the analysis of all events gives.
 * OMIG_TEST_INTERACTIONS sets how many are drawn: make check-online runs 10^5.
 */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/interaction/online/hosts.h"

static size_t rounds(void)
{
	const char *wish = getenv("OMIG_TEST_INTERACTIONS");
	size_t n = wish ? strtoul(wish, NULL, 10) : 4000;

	return n / HOSTS_NETWORKS + 1;
}

static bool is_same(const struct hosts_result *a, const struct hosts_result *b)
{
	return a->fate == b->fate && a->response == b->response && a->is_unique == b->is_unique &&
	       !memcmp(a->state, b->state, sizeof(a->state));
}

static void show(const struct hosts_result *r, const char *what)
{
	fprintf(stderr, "%s: fate %d RT %lld unique %d states %lld %lld %lld %lld\n", what, r->fate,
		(long long)r->response, r->is_unique, (long long)r->state[0],
		(long long)r->state[1], (long long)r->state[2], (long long)r->state[3]);
}

static void check_same(const struct hosts_world *w, size_t i)
{
	if (is_same(&w->off[i], &w->on[i]))
		return;
	show(&w->off[i], "off line");
	show(&w->on[i], "on line");
	fprintf(stderr, "torn %llu strays %llu wrong %llu incomplete %llu\n",
		(unsigned long long)w->report.torn, (unsigned long long)w->report.strays,
		(unsigned long long)w->report.wrong, (unsigned long long)w->report.incomplete);
	ck_abort_msg("interaction %zu differs", i);
}

static void forget(struct hosts_world *w)
{
	nettotal_done(w->off_total);
	free(w->off_total);
}

static void draw_plan(struct hosts_plan *p, struct rng *r)
{
	*p = (struct hosts_plan){ .has_members = rng_below(r, 2),
				  .loses_events = !rng_below(r, 3),
				  .repeats = rng_below(r, 2),
				  .reorders = rng_below(r, 2),
				  .is_late = rng_below(r, 2),
				  .moves = rng_below(r, 2),
				  .is_hasty = rng_below(r, 2),
				  .is_small = !rng_below(r, 3) };
}

TEST(on_line_equals_off_line)
{
	static struct hosts_world w;
	struct hosts_plan plan;
	struct rng r;
	uint64_t whole = 0, arcs = 0, events = 0;

	rng_init(&r, suite_seed(4001));
	for (size_t round = 0; round < rounds(); round++) {
		draw_plan(&plan, &r);
		hosts_run(&w, &plan, &r);
		for (size_t i = 0; i < HOSTS_NETWORKS; i++) {
			check_same(&w, i);
			whole += w.on[i].fate == HOSTS_WHOLE;
		}
		ck_assert_uint_eq(w.report.batches_lost + w.report.arcs_lost, 0);
		ck_assert_uint_eq(w.report.batches_bad, 0);
		events += w.events;
		arcs += w.report.arcs;
		forget(&w);
	}
	printf("# %zu interactions, %llu whole and of the set; %llu events became %llu arcs\n",
	       rounds() * HOSTS_NETWORKS, (unsigned long long)whole, (unsigned long long)events,
	       (unsigned long long)arcs);
	ck_assert_uint_gt(whole, rounds() * HOSTS_NETWORKS / 4);
	ck_assert_uint_lt(arcs, events);
}

TEST(a_lost_batch_is_counted_and_spoils_its_interactions_only)
{
	static struct hosts_world w;
	struct hosts_plan plan = { .loses_batches = true, .is_hasty = true, .has_members = true };
	uint64_t lost = 0;
	struct rng r;

	rng_init(&r, suite_seed(4002));
	for (int round = 0; round < 40; round++) {
		hosts_run(&w, &plan, &r);
		for (size_t i = 0; i < HOSTS_NETWORKS; i++)
			if (!w.is_hit[i])
				check_same(&w, i);
		/* links end with the top: what lower daemons lost, they count themselves */
		ck_assert_uint_le(w.report.batches_lost, w.lost);
		ck_assert_uint_le(w.report.arcs_lost, w.lost_arcs);
		lost += w.report.arcs_lost;
		forget(&w);
	}
	ck_assert_uint_gt(lost, 0);
}

TEST(a_sub_task_that_returns_is_reported)
{
	static struct hosts_world w;
	struct hosts_plan plan = { .moves = true, .returns = true };
	uint64_t torn = 0, differ;
	struct rng r;

	rng_init(&r, suite_seed(4003));
	for (int round = 0; round < 40; round++) {
		hosts_run(&w, &plan, &r);
		differ = 0;
		for (size_t i = 0; i < HOSTS_NETWORKS; i++)
			differ += !is_same(&w.off[i], &w.on[i]);
		ck_assert_uint_le(differ, w.report.torn + w.report.strays + w.report.incomplete);
		torn += w.report.torn;
		forget(&w);
	}
	ck_assert_uint_gt(torn, 0);
}

/* --- one contractor, by hand */

struct taken {
	struct buf bytes;
	uint64_t batches;
};

static void keep_batch(void *arg, struct bytes batch)
{
	struct taken *t = arg;

	buf_clear(&t->bytes);
	buf_put(&t->bytes, batch.p, batch.n);
	t->batches++;
}

static struct netonline *begin(struct taken *t, uint64_t sender)
{
	struct netonline_plan plan = { .sender = sender,
				       .is_lowest = sender > 0,
				       .most = 1000,
				       .idle_ns = 10,
				       .age_ns = 100,
				       .grace_ns = 5,
				       .timeout_ns = 50,
				       .send = sender ? keep_batch : NULL,
				       .arg = t };
	struct netuse *u = netuse_new();
	struct netonline *o;
	struct err e;
	uint32_t db;

	ck_assert(!netuse_object(u, "db", 2, &db, &e));
	ck_assert(!netuse_add_state(u, "db", &db, 1, &e));
	ck_assert(!netonline_new(&u, &plan, &o, &e));
	return o;
}

static void event(struct netonline *o, int64_t t, enum network_kind kind, uint64_t other,
		  const struct network_use *use)
{
	struct network_event ev = { .t = t,
				    .kind = kind,
				    .task = 1,
				    .other = other,
				    .use = use,
				    .nuse = use != NULL,
				    .node = 0 };
	struct err e;

	ck_assert(!netonline_add(o, &ev, kind == NETWORK_SOURCE ? "request" : NULL, &e));
}

/* Ten uses of db, a thread that is waited for, and the end: 40 ns of 103 in db. */
static void request(struct netonline *o)
{
	struct network_use begin_use = { 0, false, false }, end_use = { 0, true, false };

	event(o, 0, NETWORK_SOURCE, 0, NULL);
	for (int i = 0; i < 10; i++) {
		event(o, i * 10 + 2, NETWORK_SIMPLE, 0, &begin_use);
		event(o, i * 10 + 6, NETWORK_SIMPLE, 0, &end_use);
	}
	event(o, 100, NETWORK_FORK, 2, NULL);
	event(o, 101, NETWORK_JOIN, 2, NULL);
	event(o, 103, NETWORK_SINK, 0, NULL);
}

TEST(a_local_interaction_goes_up_as_two_arcs)
{
	struct taken t = { .bytes = BUF_INIT(100000) };
	struct netonline *o = begin(&t, 7), *top = begin(&t, 0);
	struct nettotal *total = netonline_total(top);
	struct netarc_reader r;
	struct netarc a;
	struct err e;

	request(o);
	ck_assert(!netonline_tick(o, 5, &e));
	ck_assert_uint_eq(t.batches, 0);
	ck_assert(!netonline_tick(o, 10, &e));
	ck_assert_uint_eq(t.batches, 1);
	ck_assert_uint_eq(netonline_held(o), 0);
	ck_assert(!netarc_open(&r, buf_bytes(&t.bytes), 1, &e));
	ck_assert_int_eq(netarc_next(&r, &a, &e), 1);
	ck_assert_int_eq(a.ev.kind, NETWORK_SOURCE);
	ck_assert_str_eq(a.name, "request");
	ck_assert_int_eq(netarc_next(&r, &a, &e), 1);
	ck_assert_int_eq(a.ev.kind, NETWORK_SINK);
	ck_assert_uint_eq(a.stretch.n, 2);
	ck_assert_int_eq(netarc_next(&r, &a, &e), 0);
	ck_assert(!netonline_take(top, buf_bytes(&t.bytes), &e));
	ck_assert(!netonline_take(top, buf_bytes(&t.bytes), &e));
	ck_assert_uint_eq(netonline_report(top).batches_repeated, 1);
	ck_assert(!netonline_tick(top, 5, &e));
	ck_assert_uint_eq(total->response.n, 0);
	ck_assert(!netonline_tick(top, 6, &e));
	ck_assert_uint_eq(total->response.n, 1);
	ck_assert_int_eq(total->response.sum, 103);
	ck_assert_int_eq(total->states.part[0]->sum, 40);
	ck_assert_str_eq(total->slowest, "request");
	netonline_free(o);
	netonline_free(top);
	buf_done(&t.bytes);
}

TEST(an_interaction_without_end_is_reported_after_the_time_out)
{
	struct taken t = { .bytes = BUF_INIT(100000) };
	struct netonline *o = begin(&t, 7), *top = begin(&t, 0);
	struct netonline_report report;
	struct err e;

	event(o, 0, NETWORK_SOURCE, 0, NULL);
	event(o, 5, NETWORK_FORK, 2, NULL);
	ck_assert(!netonline_tick(o, 10, &e));
	ck_assert(!netonline_take(top, buf_bytes(&t.bytes), &e));
	ck_assert(!netonline_tick(top, 49, &e));
	ck_assert_uint_eq(netonline_report(top).incomplete, 0);
	ck_assert(!netonline_tick(top, 50, &e));
	ck_assert_uint_eq(netonline_report(top).incomplete, 1);
	ck_assert_uint_eq(netonline_total(top)->response.n, 0);
	/* its end is a stray now */
	event(o, 60, NETWORK_SINK, 0, NULL);
	ck_assert(!netonline_tick(o, 200, &e));
	ck_assert(!netonline_take(top, buf_bytes(&t.bytes), &e));
	ck_assert(!netonline_end(top, &e));
	report = netonline_report(top);
	ck_assert_uint_eq(report.strays, 1);
	ck_assert_uint_eq(report.incomplete, 1);
	netonline_free(o);
	netonline_free(top);
	buf_done(&t.bytes);
}

TEST(a_liar_spoils_only_the_interactions_that_it_names)
{
	struct taken t = { .bytes = BUF_INIT(100000) };
	struct netonline *o = begin(&t, 7), *liar = begin(&t, 8), *top = begin(&t, 0);
	struct network_event ev = { .kind = NETWORK_SINK, .task = 1, .t = INT64_MAX };
	struct err e;

	for (int i = 0; i < 2; i++) {
		ev.task = 1;
		if (i)
			ck_assert(!netonline_add(liar, &ev, NULL, &e));
		ev = (struct network_event){ .kind = NETWORK_SOURCE, .task = 900, .t = INT64_MIN };
		ck_assert(!netonline_add(liar, &ev, NULL, &e));
		ck_assert(!netonline_tick(liar, 1000 * (i + 1), &e));
		ck_assert(!netonline_take(top, buf_bytes(&t.bytes), &e));
		request(o);
		ck_assert(!netonline_tick(o, 1000 * (i + 1), &e));
		ck_assert(!netonline_take(top, buf_bytes(&t.bytes), &e));
		ck_assert(!netonline_tick(top, 1000 * (i + 1), &e));
		ev.kind = NETWORK_SINK;
	}
	ck_assert(!netonline_end(top, &e));
	ck_assert_uint_eq(netonline_total(top)->response.n, 1);
	ck_assert_uint_ge(netonline_report(top).wrong, 1);
	netonline_free(o);
	netonline_free(liar);
	netonline_free(top);
	buf_done(&t.bytes);
}

TEST(no_record_is_longer_than_48_bytes)
{
	struct network_use use[NETARC_USES_MAX];
	struct network_piece piece[NETWORK_PIECES_MAX];
	struct network_stretch s = { .piece = piece, .n = NETWORK_PIECES_MAX, .begin = INT64_MIN };
	struct network_event ev = { .kind = NETWORK_FORK,
				    .t = -1,
				    .task = UINT64_MAX,
				    .other = UINT64_MAX - 1,
				    .node = NETWORK_NONE - 1,
				    .use = use,
				    .nuse = NETARC_USES_MAX,
				    .stretch = &s };
	struct netarc_head head = { 1, UINT64_MAX, UINT64_MAX, UINT64_MAX, INT64_MAX };
	struct buf b = BUF_INIT(100000);
	struct netarc_reader r;
	struct netarc a;
	struct err e;

	for (unsigned i = 0; i < NETARC_USES_MAX; i++)
		use[i] = (struct network_use){ i % 63, i & 1, i & 2 };
	for (unsigned i = 0; i < NETWORK_PIECES_MAX; i++)
		piece[i] = (struct network_piece){ .with = UINT64_MAX >> 1,
						   .ns = INT64_MAX,
						   .is_child = i & 1 };
	netarc_put_head(&b, &head);
	ck_assert(!netarc_put(&b, head.base, &ev, NULL));
	ck_assert(!netarc_open(&r, buf_bytes(&b), 63, &e));
	ck_assert_int_eq(netarc_next(&r, &a, &e), 1);
	ck_assert_uint_eq(a.ev.nuse, NETARC_USES_MAX);
	ck_assert_uint_eq(a.stretch.n, NETWORK_PIECES_MAX);
	ck_assert_int_eq(a.ev.t, -1);
	ck_assert_int_eq(a.stretch.begin, INT64_MIN);
	ck_assert_uint_eq(a.ev.node, NETWORK_NONE - 1);
	/* the first record has its fixed part; each other one holds two of these pieces */
	ck_assert_uint_le(b.n - 49, NETARC_RECORD_BYTES * (1 + (256 + 14) / 15 + 32));
	for (unsigned i = 0; i < NETWORK_PIECES_MAX; i++)
		ck_assert_int_eq(a.piece[i].ns, INT64_MAX);
	/* each cut is refused, or ends between two arcs */
	for (size_t n = r.at - 1; n > 49; n--) {
		ck_assert(!netarc_open(&r, bytes_at(b.p, n), 63, &e));
		(void)netarc_next(&r, &a, &e);
	}
	buf_done(&b);
}

SUITE("interaction/online")
