/* SPDX-License-Identifier: Apache-2.0 */
/* Mixed events of many random networks are split into these networks again. */
#include "interaction/netanalysis.h"
#include "interaction/set/netclock.h"
#include "interaction/set/netsplit.h"
#include "interaction/set/nettotal.h"
#include "tests/suite.h"
#include "tests/unit/interaction/made.h"

#define NETWORKS 40
#define STEP 1000 /* ids of sub-tasks of one network */

struct mixed {
	size_t network, row;
};

static struct made made[NETWORKS];
static struct mixed mixed[NETWORKS * MADE_MAX];
static size_t nmixed;
static bool has_distinct_times; /* of each sub-task */
static struct netuse *u;
static struct err e;

struct seen {
	unsigned whole[NETWORKS];
	unsigned incomplete, wrong;
	size_t most_open;
	char missing[256];
};

static int on_part(void *arg, const struct netsplit_part *p, struct err *why)
{
	struct seen *s = arg;
	size_t i = (size_t)(p->w->task[0].id / STEP);

	(void)why;
	s->wrong += p->outcome == NETSPLIT_WRONG;
	if (p->outcome == NETSPLIT_INCOMPLETE) {
		struct buf b = BUF_INIT(sizeof(s->missing) - 1);

		network_put_missing(p->w, &b);
		snprintf(s->missing, sizeof(s->missing), "%s", buf_str(&b));
		buf_done(&b);
		s->incomplete++;
	}
	if (p->outcome != NETSPLIT_WHOLE)
		return 0;
	ck_assert_uint_lt(i, NETWORKS);
	ck_assert_uint_eq(p->w->n, made[i].n);
	ck_assert_msg(!network_build(p->w, &e), "%s", e.text);
	s->whole[i]++;
	return 0;
}

static int add(struct netsplit *s, const struct mixed *x)
{
	const struct made_event *m = &made[x->network].ev[x->row];
	uint64_t base = x->network * STEP;
	struct network_event ev = { .t = (has_distinct_times ? (int64_t)x->row : m->t) +
					 (int64_t)x->network * 20,
				    .kind = m->kind,
				    .task = m->task + base,
				    .other = m->other + base,
				    .node = NETWORK_NONE,
				    .blocks = m->blocks };

	return netsplit_add(s, &ev, NULL, &e);
}

/* Networks overlap in time; each keeps the order of its events. */
static void draw(struct rng *r)
{
	size_t at[NETWORKS] = { 0 }, left = 0;

	nmixed = 0;
	for (size_t i = 0; i < NETWORKS; i++) {
		made_draw(&made[i], r, 30, 6);
		left += made[i].n;
	}
	while (left) {
		size_t i = rng_below(r, NETWORKS);

		if (at[i] == made[i].n)
			continue;
		mixed[nmixed++] = (struct mixed){ i, at[i]++ };
		left--;
	}
}

static struct netsplit *begin(struct seen *s, size_t most)
{
	struct netsplit *split;

	*s = (struct seen){ .wrong = 0 };
	has_distinct_times = false;
	u = netuse_new();
	split = netsplit_new(u, most, on_part, s);
	ck_assert_ptr_nonnull(split);
	return split;
}

static void end(struct netsplit *split)
{
	netsplit_free(split);
	netuse_free(u);
}

TEST(mixed_networks_are_split_again)
{
	struct rng r;

	rng_init(&r, suite_seed(3001));
	for (int round = 0; round < 20; round++) {
		struct seen s;
		struct netsplit *split = begin(&s, NETSPLIT_VERTICES_MAX);

		draw(&r);
		for (size_t i = 0; i < nmixed; i++)
			ck_assert(!add(split, &mixed[i]));
		ck_assert(!netsplit_end(split, &e));
		for (size_t i = 0; i < NETWORKS; i++)
			ck_assert_uint_eq(s.whole[i], 1);
		ck_assert_uint_eq(s.wrong + s.incomplete, 0);
		ck_assert_uint_eq(netsplit_report(split)->events, nmixed);
		end(split);
	}
}

TEST(forks_and_joins_that_come_late_unite_their_parts)
{
	struct rng r;

	rng_init(&r, suite_seed(3002));
	for (int round = 0; round < 20; round++) {
		struct seen s;
		struct netsplit *split = begin(&s, NETSPLIT_VERTICES_MAX);

		draw(&r);
		has_distinct_times = true;
		/* all forks and joins last */
		for (int pass = 0; pass < 2; pass++)
			for (size_t i = 0; i < nmixed; i++) {
				enum network_kind k = made[mixed[i].network].ev[mixed[i].row].kind;

				if ((k == NETWORK_FORK || k == NETWORK_JOIN) == pass)
					ck_assert(!add(split, &mixed[i]));
			}
		ck_assert(!netsplit_end(split, &e));
		ck_assert_uint_eq(s.incomplete, 0);
		ck_assert_uint_eq(netsplit_report(split)->interactions, NETWORKS);
		end(split);
	}
}

TEST(an_event_that_is_lost_leaves_its_network_incomplete)
{
	struct rng r;

	rng_init(&r, suite_seed(3003));
	for (int round = 0; round < 50; round++) {
		struct seen s;
		struct netsplit *split = begin(&s, NETSPLIT_VERTICES_MAX);
		size_t lost, whole = 0;
		enum network_kind kind;

		draw(&r);
		/* without its fork a sub-task that never joins is a network of its own */
		do {
			lost = rng_below(&r, nmixed);
			kind = made[mixed[lost].network].ev[mixed[lost].row].kind;
		} while (kind == NETWORK_SIMPLE || kind == NETWORK_FORK);
		for (size_t i = 0; i < nmixed; i++)
			if (i != lost)
				ck_assert(!add(split, &mixed[i]));
		ck_assert(!netsplit_end(split, &e));
		for (size_t i = 0; i < NETWORKS; i++)
			whole += s.whole[i];
		ck_assert_uint_eq(whole, NETWORKS - 1);
		ck_assert_uint_ge(s.incomplete, 1);
		ck_assert_uint_gt(strlen(s.missing), 0);
		end(split);
	}
}

TEST(events_that_are_there_twice_count_once)
{
	struct rng r;
	struct seen s;
	struct netsplit *split = begin(&s, NETSPLIT_VERTICES_MAX);
	uint64_t twice = 0;

	rng_init(&r, suite_seed(3004));
	draw(&r);
	for (size_t i = 0; i < nmixed; i++) {
		ck_assert(!add(split, &mixed[i]));
		if (made[mixed[i].network].ev[mixed[i].row].kind == NETWORK_SIMPLE)
			continue;
		ck_assert(!add(split, &mixed[i]));
		twice++;
	}
	ck_assert(!netsplit_end(split, &e));
	for (size_t i = 0; i < NETWORKS; i++)
		ck_assert_uint_eq(s.whole[i], 1);
	ck_assert_uint_eq(netsplit_report(split)->repeated, twice);
	end(split);
}

TEST(a_liar_spoils_only_the_networks_that_it_takes_part_in)
{
	struct rng r;
	struct seen s;
	struct netsplit *split = begin(&s, NETSPLIT_VERTICES_MAX);
	struct network_event lie = { .t = 5, .kind = NETWORK_SINK, .task = 1, .node = 7 };
	size_t whole = 0;

	rng_init(&r, suite_seed(3005));
	draw(&r);
	for (size_t i = 0; i < nmixed; i++)
		ck_assert(!add(split, &mixed[i]));
	ck_assert(!netsplit_add(split, &lie, NULL, &e));
	ck_assert(!netsplit_end(split, &e));
	for (size_t i = 0; i < NETWORKS; i++)
		whole += s.whole[i];
	ck_assert_uint_eq(whole, NETWORKS - 1);
	ck_assert_uint_eq(s.wrong, 1);
	end(split);
}

/* The parts contradict each other, and are joined: one wrong interaction, whose ids are free then.
 */
TEST(parts_that_contradict_each_other_are_one_wrong_interaction)
{
	static const struct network_event ev[] = {
		{ .name = "a", .n = 1, .t = 0, .kind = NETWORK_SOURCE, .task = 1 },
		{ .name = "b", .n = 1, .t = 1, .kind = NETWORK_FORK, .task = 1, .other = 2 },
		{ .name = "c", .n = 1, .t = 0, .kind = NETWORK_SOURCE, .task = 5 },
		{ .name = "d", .n = 1, .t = 1, .kind = NETWORK_FORK, .task = 5, .other = 6 },
		{ .name = "e", .n = 1, .t = 2, .kind = NETWORK_JOIN, .task = 1, .other = 5 },
		{ .name = "f", .n = 1, .t = 3, .kind = NETWORK_SINK, .task = 6 },
	};
	struct seen s;
	struct netsplit *split = begin(&s, NETSPLIT_VERTICES_MAX);

	for (size_t i = 0; i < ARRAY_LEN(ev); i++)
		ck_assert(!netsplit_add(split, &ev[i], NULL, &e));
	ck_assert(!netsplit_end(split, &e));
	ck_assert_uint_eq(s.wrong, 1);
	ck_assert_uint_eq(s.incomplete, 0);
	/* nothing is left of the sub-tasks */
	for (size_t i = 0; i < 4; i++)
		ck_assert(!netsplit_add(split, &ev[i], NULL, &e));
	ck_assert(!netsplit_end(split, &e));
	ck_assert_uint_eq(s.incomplete, 2);
	end(split);
}

TEST(memory_is_bounded_by_the_interactions_under_way)
{
	struct seen s;
	struct netsplit *split = begin(&s, 100);

	/* ten thousand interactions, one after the other, and one that stays open */
	ck_assert(!netsplit_add(
		split,
		&(struct network_event){ .kind = NETWORK_SOURCE, .task = 1, .node = NETWORK_NONE },
		NULL, &e));
	made[0].n = 2;
	for (uint64_t i = 2; i < 10000; i++) {
		struct network_event ev = {
			.t = (int64_t)i, .kind = NETWORK_SOURCE, .task = i, .node = NETWORK_NONE
		};

		for (size_t k = 0; k < NETWORKS; k++)
			made[k].n = 2;
		ck_assert(!netsplit_add(split, &ev, NULL, &e));
		ev.kind = NETWORK_SINK;
		ck_assert(!netsplit_add(split, &ev, NULL, &e));
		if (i / STEP >= NETWORKS - 1)
			break;
	}
	ck_assert_uint_eq(netsplit_report(split)->incomplete, 0);
	ck_assert_uint_ge(netsplit_report(split)->interactions, 9900);
	ck_assert(!netsplit_end(split, &e));
	ck_assert_uint_eq(s.incomplete, 1);
	end(split);
}

TEST(the_oldest_is_given_out_incomplete_when_there_is_no_room)
{
	struct seen s;
	struct netsplit *split = begin(&s, 100);

	for (uint64_t i = 0; i < 250; i++)
		ck_assert(!netsplit_add(split,
					&(struct network_event){ .t = (int64_t)i,
								 .kind = NETWORK_SOURCE,
								 .task = i,
								 .node = NETWORK_NONE },
					NULL, &e));
	ck_assert_uint_eq(s.incomplete, 151);
	end(split);
}

/* --- clocks */

TEST(messages_bound_the_difference_of_two_clocks)
{
	/* b's clock is 1 s behind: messages need 10 to 20 ns there, 5 ns back */
	static const int64_t behind = 1000000000;
	struct network w;
	struct netclock c;

	u = netuse_new();
	network_init(&w, u);
	netclock_init(&c);
	ck_assert(!network_add(
		&w, &(struct network_event){ .t = 0, .kind = NETWORK_SOURCE, .task = 1 }, &e));
	for (uint64_t i = 0; i < 2; i++) {
		int64_t t = 100 * (int64_t)(i + 1), there = t + (i ? 10 : 20) - behind;
		struct network_event ev[] = {
			{ .t = t, .kind = NETWORK_FORK, .task = 1, .other = 10 + i },
			{ .t = there,
			  .kind = NETWORK_FORK,
			  .task = 10 + i,
			  .other = 20 + i,
			  .node = 1 },
			{ .t = there, .kind = NETWORK_SINK, .task = 10 + i, .node = 1 },
			{ .t = t + 30, .kind = NETWORK_JOIN, .task = 1, .other = 20 + i },
		};

		for (size_t k = 0; k < ARRAY_LEN(ev); k++)
			ck_assert_msg(!network_add(&w, &ev[k], &e), "%s", e.text);
	}
	ck_assert(!network_add(
		&w, &(struct network_event){ .t = 999, .kind = NETWORK_SINK, .task = 1 }, &e));
	ck_assert_msg(!network_build(&w, &e), "%s", e.text);
	ck_assert_uint_eq(w.anomaly[NETWORK_BACKWARD_MESSAGE], 2);
	ck_assert_int_eq(netpath_response(&w), 999);
	ck_assert(!netclock_add(&c, &w, &e));
	ck_assert_uint_eq(c.n, 1);
	ck_assert_uint_eq(c.pair[0].backward, 2);
	ck_assert_int_eq(c.pair[0].most, 10 - behind);
	ck_assert_int_eq(c.pair[0].least, 20 - 30 - behind);
	ck_assert(netclock_agrees(&c.pair[0]));
	netclock_done(&c);
	network_done(&w);
	netuse_free(u);
}

TEST(totals_are_the_sums_of_their_interactions)
{
	static struct made m;
	struct nettotal t;
	struct rng r;
	int64_t sum = 0, uses = 0, most = 0;

	nettotal_init(&t);
	rng_init(&r, suite_seed(3006));
	for (int i = 0; i < 200; i++) {
		struct netanalysis a;
		struct network w;

		u = netuse_new();
		made_objects(u);
		network_init(&w, u);
		made_draw(&m, &r, 30, 6);
		made_add_mixed(&w, &m, &r);
		ck_assert(!network_build(&w, &e));
		ck_assert(!netanalysis_run(&w, &a, &e));
		ck_assert(!nettotal_add(&t, "x", &w, &a, &e));
		sum += a.path.length;
		most = a.path.length > most ? a.path.length : most;
		netanalysis_done(&a);
		network_done(&w);
		netuse_free(u);
	}
	for (size_t i = 0; i < t.uses.n; i++)
		uses += t.uses.part[i]->sum;
	ck_assert_int_eq(t.response.sum, sum);
	ck_assert_int_eq(uses, sum);
	ck_assert_int_eq(t.response.most, most);
	nettotal_sort(&t);
	ck_assert(t.uses.n > 1 && t.uses.part[0]->sum >= t.uses.part[1]->sum);
	nettotal_done(&t);
}

SUITE("interaction/set")
