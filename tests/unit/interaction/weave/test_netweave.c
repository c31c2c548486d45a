/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of recorded threads have known paths, and those of random ones are valid. */
#include "common/base/clock.h"
#include "common/base/rng.h"
#include "interaction/netanalysis.h"
#include "interaction/set/netsplit.h"
#include "interaction/weave/netweave.h"
#include "tests/suite.h"

#include <stdio.h>
#include <string.h>

#define SECOND NSEC_PER_SEC
#define BOTH (NETWEAVE_GIVES | NETWEAVE_TAKES)
#define THREADS 5

static struct netuse *u;
static struct netsplit *split;
static struct netweave *weave;
static struct err e;
static char use[2048]; /* of the longest interaction's path: "rank1:30 rank0+wait:5 " */
static char names[2048], why[512];
static int64_t response;
static bool is_unique;
static unsigned nwhole, nunfit;

static int on_vertex(void *arg, const struct network_event *ev, const char *name, struct err *x)
{
	(void)arg;
	return netsplit_add(split, ev, name, x);
}

static void note_path(const struct network *w)
{
	struct netanalysis a;
	struct buf b = BUF_INIT(sizeof(use));

	ck_assert_int_eq(netanalysis_run(w, &a, &e), 0);
	response = a.path.length;
	is_unique = a.path.is_unique;
	for (size_t i = 0; i < a.spent.nuse; i++) {
		if (!a.spent.use[i].ns)
			continue;
		netuse_put(w->use, a.spent.use[i].of, &b);
		buf_printf(&b, ":%lld ", (long long)a.spent.use[i].ns);
	}
	snprintf(use, sizeof(use), "%s", buf_str(&b));
	buf_done(&b);
	netanalysis_done(&a);
}

static int on_part(void *arg, const struct netsplit_part *p, struct err *x)
{
	size_t n = strlen(names);

	(void)arg;
	snprintf(names + n, sizeof(names) - n, "%s;", p->name);
	if (p->outcome != NETSPLIT_WHOLE || network_build(p->w, x)) {
		nunfit++;
		snprintf(why, sizeof(why), "%s: %s %s", p->name, p->why ? p->why->text : "",
			 x->text);
		return 0;
	}
	nwhole++;
	note_path(p->w);
	return 0;
}

static void begin(enum netweave_mode mode)
{
	*use = *names = *why = '\0';
	response = -1;
	nwhole = nunfit = 0;
	u = netuse_new();
	split = netsplit_new(u, NETSPLIT_VERTICES_MAX, on_part, NULL);
	weave = netweave_new(u, mode, on_vertex, NULL);
	ck_assert_ptr_nonnull(weave);
}

static void add(unsigned rank, struct netweave_event ev)
{
	struct netweave_thread t = { .key = rank + 1, .node = rank % 2, .job = "job" };

	snprintf(t.label, sizeof(t.label), "rank%u", rank);
	ck_assert_int_eq(netweave_add(weave, &t, &ev, &e), 0);
}

static void finish(void)
{
	ck_assert_int_eq(netweave_end(weave, &e), 0);
	ck_assert_int_eq(netsplit_end(split, &e), 0);
}

static void end(void)
{
	netweave_free(weave);
	netsplit_free(split);
	netuse_free(u);
}

static void send(unsigned rank, int64_t t, uint64_t id)
{
	add(rank, (struct netweave_event){ .kind = NETWEAVE_SEND, .t = t, .id = id });
}

static void wait(unsigned rank, int64_t t)
{
	add(rank, (struct netweave_event){ .kind = NETWEAVE_WAIT, .t = t });
}

static void receive(unsigned rank, int64_t t, uint64_t id)
{
	add(rank, (struct netweave_event){ .kind = NETWEAVE_RECEIVE, .t = t, .id = id });
}

static void meet(unsigned rank, int64_t t, int32_t ranks, int32_t roles)
{
	add(rank,
	    (struct netweave_event){
		    .kind = NETWEAVE_MEET, .t = t, .id = 77, .ranks = ranks, .roles = roles });
}

static void mark(unsigned rank, int64_t t, enum netweave_kind kind, uint64_t number)
{
	add(rank, (struct netweave_event){ .kind = kind,
					   .t = t,
					   .id = number,
					   .has_number = true,
					   .name = "step",
					   .n = 4 });
}

static void region(unsigned rank, int64_t t, bool is_end)
{
	add(rank,
	    (struct netweave_event){
		    .kind = NETWEAVE_REGION, .t = t, .is_end = is_end, .name = "work", .n = 4 });
}

TEST(a_thread_waits_for_a_message_that_is_sent_later)
{
	begin(NETWEAVE_ALL);
	region(0, 0, false);
	wait(1, 0);
	region(0, 80, true);
	send(0, 80, 9);
	receive(1, 90, 9);
	region(1, 95, false);
	region(1, 99, true);
	finish();
	ck_assert_str_eq(use, "rank0+work:80 message:10 rank1:5 rank1+work:4 ");
	ck_assert_int_eq(response, 99);
	ck_assert(is_unique);
	end();
}

TEST(a_message_waits_for_a_thread_that_is_busy)
{
	begin(NETWEAVE_ALL);
	send(0, 0, 9);
	region(1, 0, false);
	region(1, 80, true);
	wait(1, 80);
	receive(1, 90, 9);
	finish();
	ck_assert_str_eq(use, "rank1+work:80 rank1+wait:10 ");
	ck_assert(is_unique);
	end();
}

TEST(a_call_that_waits_for_several_waits_for_the_last_one)
{
	begin(NETWEAVE_ALL);
	send(0, 0, 8);
	region(2, 0, true);
	wait(1, 10);
	send(2, 50, 9);
	send(0, 20, 7);
	receive(1, 60, 9);
	receive(1, 61, 8);
	receive(1, 62, 7);
	finish();
	ck_assert_str_eq(use, "rank2:50 message:12 ");
	ck_assert(is_unique);
	end();
}

TEST(a_barrier_waits_for_the_last_rank)
{
	begin(NETWEAVE_ALL);
	for (unsigned i = 0; i < 4; i++)
		region(i, 0, false);
	wait(0, 10);
	wait(3, 11);
	wait(1, 12);
	wait(2, 70);
	for (unsigned i = 0; i < 4; i++)
		meet(i, 75 + i, 4, BOTH);
	region(3, 90, true);
	finish();
	ck_assert_str_eq(use, "rank2+work:70 rank3+work:12 message:8 ");
	ck_assert_uint_eq(nwhole, 1);
	ck_assert_uint_eq(netweave_report(weave)->meets, 4);
	end();
}

TEST(a_broadcast_depends_on_its_root)
{
	begin(NETWEAVE_ALL);
	for (unsigned i = 0; i < 3; i++)
		region(i, 0, false);
	wait(0, 5);
	wait(2, 60);
	wait(1, 40);
	meet(1, 45, 3, NETWEAVE_GIVES);
	meet(0, 50, 3, NETWEAVE_TAKES);
	meet(2, 62, 3, NETWEAVE_TAKES);
	region(0, 100, true);
	finish();
	ck_assert_str_eq(use, "rank0+work:50 rank1+work:40 message:10 ");
	end();
}

TEST(a_reduction_waits_at_its_root)
{
	begin(NETWEAVE_ALL);
	for (unsigned i = 0; i < 3; i++)
		region(i, 0, false);
	wait(0, 5);
	wait(2, 60);
	wait(1, 40);
	meet(1, 41, 3, NETWEAVE_GIVES);
	meet(2, 61, 3, NETWEAVE_GIVES);
	meet(0, 65, 3, NETWEAVE_TAKES);
	region(0, 100, true);
	finish();
	ck_assert_str_eq(use, "rank2+work:60 rank0+work:35 message:5 ");
	end();
}

TEST(steps_count_threads_that_begin_late)
{
	begin(NETWEAVE_STEP);
	mark(0, 0, NETWEAVE_BEGIN, 1);
	mark(0, 30, NETWEAVE_BEGIN, 2);
	mark(1, 40, NETWEAVE_BEGIN, 1);
	send(1, 60, 9);
	mark(1, 70, NETWEAVE_BEGIN, 2);
	wait(0, 71);
	receive(0, 72, 9); /* of the step before */
	mark(1, 90, NETWEAVE_END, 2);
	mark(0, 100, NETWEAVE_END, 2);
	finish();
	ck_assert_str_eq(names, "step 1;step 2;");
	ck_assert_uint_eq(nwhole, 2);
	ck_assert_str_eq(use, "rank0:69 rank0+wait:1 ");
	ck_assert_int_eq(response, 70);
	end();
}

TEST(requests_take_their_workers_with_them)
{
	begin(NETWEAVE_REQUEST);
	wait(1, 0);
	mark(0, 10, NETWEAVE_BEGIN, 5);
	send(0, 20, 7);
	wait(0, 21);
	receive(1, 25, 7);
	send(1, 80, 8);
	wait(1, 81); /* and nothing comes: its work ends here */
	receive(0, 90, 8);
	mark(0, 95, NETWEAVE_END, 5);
	finish();
	ck_assert_str_eq(names, "step 5;");
	ck_assert_str_eq(use, "rank1:55 rank0:15 message:15 ");
	ck_assert_int_eq(response, 85);
	end();
}

TEST(a_message_of_an_unwatched_sender_begins_an_interaction)
{
	begin(NETWEAVE_REQUEST);
	wait(0, 10);
	receive(0, 20, 7);
	send(0, 30, 8);
	finish();
	ck_assert_str_eq(names, "message 1 to rank0;");
	ck_assert_uint_eq(nwhole, 1);
	ck_assert_uint_eq(netweave_report(weave)->unsent, 1);
	ck_assert_uint_eq(netweave_report(weave)->unreceived, 1);
	end();
}

TEST(a_lost_send_holds_its_receiver_for_a_bounded_time)
{
	begin(NETWEAVE_ALL);
	receive(0, 20, 7);
	send(0, 30, 8);
	wait(1, 31);
	receive(1, 40, 8);
	region(1, 41 + 2 * NETWEAVE_GRACE_NS, false);
	ck_assert_uint_eq(netweave_report(weave)->unsent, 1);
	ck_assert_uint_eq(netweave_report(weave)->receives, 2);
	finish();
	ck_assert_uint_eq(nwhole, 1);
	end();
}

TEST(a_barrier_without_all_ranks_is_counted)
{
	begin(NETWEAVE_ALL);
	wait(0, 10);
	wait(1, 50);
	meet(0, 60, 3, BOTH);
	meet(1, 61, 3, BOTH);
	finish();
	ck_assert_uint_eq(nwhole, 1);
	ck_assert_uint_eq(netweave_report(weave)->partial, 1);
	end();
}

TEST(a_call_without_all_ranks_spoils_no_later_one)
{
	begin(NETWEAVE_ALL);
	meet(0, 10, 3, BOTH); /* the other ranks are not recorded yet */
	add(2, (struct netweave_event){
		       .kind = NETWEAVE_MEET, .t = 20, .id = 78, .ranks = 3, .roles = BOTH });
	add(1, (struct netweave_event){
		       .kind = NETWEAVE_MEET, .t = 21, .id = 78, .ranks = 3, .roles = BOTH });
	add(0, (struct netweave_event){
		       .kind = NETWEAVE_MEET, .t = 22, .id = 78, .ranks = 3, .roles = BOTH });
	finish();
	ck_assert_uint_eq(netweave_report(weave)->partial, 1);
	end();
}

TEST(a_repeated_id_is_no_message)
{
	begin(NETWEAVE_ALL);
	send(0, 10, 7);
	send(0, 20, 7);
	receive(1, 30, 7);
	receive(1, 40, 7);
	finish();
	ck_assert_uint_eq(nwhole, 1);
	ck_assert_uint_eq(netweave_report(weave)->unsent, 1);
	ck_assert_uint_eq(netweave_report(weave)->unreceived, 1);
	end();
}

TEST(a_message_of_another_century_is_not_received)
{
	begin(NETWEAVE_ALL);
	receive(0, -9 * (INT64_MAX / 10), 7);
	send(1, 9 * (INT64_MAX / 10), 7);
	finish();
	ck_assert_uint_eq(netweave_report(weave)->unsent, 1);
	end();
}

/* --- random programs: whatever is lost, doubled or reordered, networks are valid */

struct random {
	struct rng r;
	int64_t t;
	uint64_t under_way[64];
	size_t n;
	uint64_t next;
};

static void random_step(struct random *x)
{
	unsigned rank = (unsigned)rng_below(&x->r, THREADS), what = (unsigned)rng_below(&x->r, 12);
	int64_t t = x->t += (int64_t)rng_below(&x->r, 5);
	struct netweave_event ev = { .t = t };

	if (what < 4) {
		if (x->n == 64)
			return;
		send(rank, t, x->under_way[x->n++] = ++x->next);
	} else if (what < 6) {
		wait(rank, t);
		if (!rng_below(&x->r, 8)) /* by its clock, the other node sends it later */
			receive(rank, t, x->next + 1);
	} else if (what < 9 && x->n) {
		size_t i = rng_below(&x->r, x->n);

		receive(rank, t, x->under_way[i]);
		if (rng_below(&x->r, 20))
			x->under_way[i] = x->under_way[--x->n];
	} else if (what == 9) {
		region(rank, t, rng_below(&x->r, 2));
	} else if (what == 10) {
		mark(rank, t, rng_below(&x->r, 3) ? NETWEAVE_BEGIN : NETWEAVE_END,
		     rng_below(&x->r, 4));
	} else {
		ev = (struct netweave_event){ .kind = NETWEAVE_MEET,
					      .t = t,
					      .id = 1000000 + rng_below(&x->r, 3),
					      .ranks = 2,
					      .roles = (int32_t)rng_below(&x->r, 4) };
		add(rank, ev);
	}
}

TEST_EACH(random_threads_make_valid_networks, mode, 3)
{
	uint64_t seed = suite_seed(19);

	for (unsigned round = 0; round < 300; round++) {
		struct random x = { .n = 0 };

		rng_init(&x.r, seed + round);
		begin((enum netweave_mode)mode);
		for (int i = 0; i < 200; i++)
			random_step(&x);
		finish();
		ck_assert_msg(!nunfit, "seed %llu: %s", (unsigned long long)(seed + round), why);
		end();
	}
}

/* --- processes and streams: rank N is process N */

static void process(unsigned rank, int64_t t, enum netweave_kind kind, unsigned other)
{
	add(rank, (struct netweave_event){ .kind = kind, .t = t, .other = other + 1 });
}

static void stream(unsigned rank, int64_t t, enum netweave_kind kind, uint64_t end)
{
	add(rank, (struct netweave_event){ .kind = kind, .t = t, .id = 7, .other = end });
}

static void become(unsigned rank, int64_t t, const char *program)
{
	struct netweave_thread to = { .key = rank + 1, .node = 0, .job = "job" };
	struct netweave_event ev = { .kind = NETWEAVE_EXEC, .t = t };

	snprintf(to.label, sizeof(to.label), "%s", program);
	ck_assert_int_eq(netweave_add(weave, &to, &ev, &e), 0);
}

/* Figure 3 of the paper: csh starts date and waits for its end. */
TEST(a_shell_waits_for_the_end_of_its_command)
{
	begin(NETWEAVE_ALL);
	become(0, 0, "csh");
	process(0, 10, NETWEAVE_SPAWN, 2);
	wait(0, 15);
	become(2, 20, "date");
	process(2, 70, NETWEAVE_EXIT, 0);
	process(0, 75, NETWEAVE_REAP, 2);
	process(0, 80, NETWEAVE_EXIT, 0);
	finish();
	ck_assert_str_eq(use, "date:50 csh:25 message:5 ");
	ck_assert(is_unique);
	ck_assert_uint_eq(nwhole, 1);
	ck_assert_uint_eq(netweave_report(weave)->unseen, 0);
	end();
}

TEST(a_command_that_ended_before_waits_for_the_shell)
{
	begin(NETWEAVE_ALL);
	process(0, 10, NETWEAVE_SPAWN, 2);
	process(2, 20, NETWEAVE_EXIT, 0);
	wait(0, 50);
	process(0, 60, NETWEAVE_REAP, 2);
	finish();
	ck_assert_str_eq(use, "rank0:40 rank0+wait:10 ");
	end();
}

TEST(the_time_of_a_process_without_an_end_is_unseen)
{
	begin(NETWEAVE_ALL);
	process(0, 10, NETWEAVE_SPAWN, 2);
	wait(0, 15);
	become(2, 20, "date");
	process(0, 75, NETWEAVE_REAP, 2);
	finish();
	ck_assert_str_eq(use, "unseen:55 rank0:10 ");
	ck_assert_uint_eq(netweave_report(weave)->unseen, 1);
	end();
}

/* The parent waits for a message: its child's events stay behind the begin of the child. */
TEST(a_child_is_not_ahead_of_its_begin)
{
	begin(NETWEAVE_ALL);
	wait(1, 0);
	receive(1, 40, 9);
	process(1, 45, NETWEAVE_SPAWN, 3);
	region(3, 50, false);
	send(0, 30, 9); /* late in the log */
	region(3, 60, true);
	process(3, 70, NETWEAVE_EXIT, 0);
	wait(1, 50);
	process(1, 71, NETWEAVE_REAP, 3);
	finish();
	ck_assert_uint_eq(nwhole, 1);
	ck_assert_uint_eq(nunfit, 0);
	ck_assert_int_eq(response, 71);
	end();
}

TEST(one_read_ends_several_writes_and_one_write_needs_several_reads)
{
	begin(NETWEAVE_ALL);
	wait(1, 5);
	stream(0, 10, NETWEAVE_WRITE, 5);
	stream(0, 20, NETWEAVE_WRITE, 9);
	stream(1, 30, NETWEAVE_READ, 9);
	stream(0, 40, NETWEAVE_WRITE, 20);
	wait(1, 35);
	stream(1, 50, NETWEAVE_READ, 15);
	wait(1, 55);
	stream(1, 60, NETWEAVE_READ, 20);
	process(1, 70, NETWEAVE_EXIT, 0);
	finish();
	ck_assert_uint_eq(nwhole, 1);
	ck_assert_uint_eq(netweave_report(weave)->sends, 3);
	ck_assert_uint_eq(netweave_report(weave)->receives, 3);
	ck_assert_uint_eq(netweave_report(weave)->unsent, 0);
	ck_assert_int_eq(response, 65);
	end();
}

TEST(bytes_from_outside_begin_a_request)
{
	begin(NETWEAVE_REQUEST);
	add(0, (struct netweave_event){
		       .kind = NETWEAVE_READ, .t = 5, .id = 7, .other = 3, .is_unsent = true });
	process(0, 10, NETWEAVE_SPAWN, 2);
	process(2, 20, NETWEAVE_EXIT, 0);
	process(0, 30, NETWEAVE_REAP, 2);
	finish();
	ck_assert_str_eq(names, "message 1 to rank0;");
	ck_assert_uint_eq(netweave_report(weave)->outside, 1);
	ck_assert_int_eq(response, 25);
	end();
}

SUITE("interaction/weave")
