/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/simulated/sim.h"
#include "neko/core/world.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)

enum { TYPE_A = 1, TYPE_B, TYPE_UNKNOWN };

static const struct neko_type types_a[] = { { TYPE_A, "a" }, { 0, NULL } };
static const struct neko_type types_b[] = { { TYPE_B, "b" }, { 0, NULL } };
static const struct neko_type types_ab[] = { { TYPE_A, "a" }, { TYPE_B, "b" }, { 0, NULL } };

/* The log of the layers of a test, in order. */
static char reported[4096];

static void report(struct neko_layer *l, const char *what)
{
	size_t n = strlen(reported);

	snprintf(reported + n, sizeof(reported) - n, "%u:%s@%lld ", neko_id(neko_process(l)), what,
		 (long long)(neko_now(l) / MS));
}

static void add_net(struct sim *s, const char *delay, double loss)
{
	struct simnet_conf c = { .name = "net", .loss = loss };
	struct err e = { 0 };

	ck_assert_msg(delay_parse(delay, &c.delay, &e) == 0, "%s", e.text);
	ck_assert_int_eq(sim_add_net(s, &c, &e), 0);
}

static struct sim *made(uint32_t m, uint64_t seed, const char *delay)
{
	struct err e = { 0 };
	struct sim *s = NULL;

	reported[0] = 0;
	ck_assert_msg(sim_new(m, seed, &s, &e) == 0, "%s", e.text);
	add_net(s, delay, 0);
	return s;
}

static void push(struct sim *s, uint32_t id, const struct neko_layer_ops *ops)
{
	struct err e = { 0 };

	ck_assert_msg(neko_push(sim_process(s, id), ops, NULL, &e) == 0, "%s", e.text);
}

static enum sim_end run(struct sim *s, nsec_t until)
{
	enum sim_end end = SIM_STOPPED;
	struct err e = { 0 };

	ck_assert_msg(sim_run(s, until, &end, &e) == 0, "%s", e.text);
	return end;
}

/* --- flows of control */

static void wait_in_all_ways(struct neko_layer *l)
{
	struct neko_msg *m;

	ck_assert_int_eq(neko_receive(l, 0, &m), -ERR_TIMEOUT);
	report(l, "polled");
	ck_assert_int_eq(neko_receive(l, 20 * MS, &m), -ERR_TIMEOUT);
	report(l, "timeout");
	ck_assert_int_eq(neko_receive(l, 100 * MS, &m), 0);
	report(l, "one");
	ck_assert_int_eq(neko_sleep(l, 50 * MS), 0);
	report(l, "slept");
	ck_assert_int_eq(neko_receive(l, 0, &m), 0);
	report(l, "second");
	ck_assert_int_eq(neko_receive(l, -1, &m), 0);
	report(l, (const char *)m->content);
	ck_assert_int_eq(neko_receive(l, -1, &m), -ERR_CLOSED);
	ck_assert_int_eq(neko_sleep(l, 1), -ERR_CLOSED);
	report(l, "closed");
}

static void send_three(struct neko_layer *l)
{
	neko_sleep_until(l, 30 * MS);
	ck_assert_int_eq(neko_send_to(l, 1, 0, TYPE_A, NULL, 0), 0);
	neko_sleep(l, 20 * MS);
	ck_assert_int_eq(neko_send_to(l, 1, 0, TYPE_A, NULL, 0), 0);
	if (neko_sleep(l, SECOND) == 0)
		ck_assert_int_eq(neko_send_to(l, 1, 0, TYPE_A, "hello", 6), 0);
}

static const struct neko_layer_ops waiter = { .name = "waiter",
					      .types = types_a,
					      .run = wait_in_all_ways };
static const struct neko_layer_ops sender = { .name = "sender",
					      .types = types_a,
					      .run = send_three };

TEST(an_active_layer_receives_with_and_without_a_timeout_or_wait)
{
	struct sim *s = made(2, 1, "constant(10ms)");

	push(s, 1, &waiter);
	push(s, 2, &sender);
	ck_assert_int_eq(run(s, NEKO_NEVER), SIM_NOTHING_LEFT);
	ck_assert_uint_eq(sim_end_run(s), 0);
	ck_assert_str_eq(reported, "1:polled@0 1:timeout@20 1:one@40 1:slept@90 1:second@90 "
				   "1:hello@1060 1:closed@1060 ");
	sim_free(s);
}

/* --- layers */

static void hear(struct neko_layer *l, struct neko_msg *m)
{
	char what[32];

	snprintf(what, sizeof(what), "%s%u.%u", m->n ? (const char *)m->content : "", m->from,
		 m->net);
	report(l, what);
}

static int send_twice(struct neko_layer *l, struct neko_msg *m)
{
	int rc = neko_send(l, m);

	return rc ? rc : neko_send(l, m);
}

static void deliver_through(struct neko_layer *l, struct neko_msg *m)
{
	report(l, "through");
	neko_deliver(l, m);
}

static void speak(struct neko_layer *l)
{
	static const uint32_t all[] = { 1, 2, 3 };
	struct neko_msg *m = neko_msg_many(l, all, 3, TYPE_B, "m", 2);

	ck_assert_ptr_nonnull(m);
	ck_assert_int_eq(neko_send(l, m), 0);
	neko_msg_unref(l, m);
	ck_assert_int_eq(neko_send_to(l, 2, 1, TYPE_A, "u", 2), 0);
}

static const struct neko_layer_ops doubler = { .name = "doubler",
					       .types = types_b,
					       .send = send_twice };
static const struct neko_layer_ops through = { .name = "through",
					       .types = types_b,
					       .deliver = deliver_through };
static const struct neko_layer_ops listener = { .name = "listener",
						.types = types_ab,
						.deliver = hear };
static const struct neko_layer_ops speaker = {
	.name = "speaker", .types = types_ab, .run = speak, .deliver = hear
};

/* Layers of other types are passed by; a multicast is sent once by the layer above and twice by the
 * one below. */
TEST(messages_go_down_and_up_through_layers_over_several_networks)
{
	struct sim *s = made(3, 1, "constant(10ms)");

	add_net(s, "constant(5ms)", 0);
	push(s, 1, &doubler);
	push(s, 1, &speaker);
	push(s, 2, &through);
	push(s, 2, &listener);
	push(s, 3, &listener);
	ck_assert_int_eq(run(s, NEKO_NEVER), SIM_NOTHING_LEFT);
	ck_assert_str_eq(reported, "2:u1.1@5 2:u1.1@5 1:m1.0@10 2:through@10 2:m1.0@10 3:m1.0@10 "
				   "1:m1.0@10 2:through@10 2:m1.0@10 3:m1.0@10 ");
	ck_assert_uint_eq(sim_counts(s)->delivered, 8);
	sim_free(s);
}

static void send_badly(struct neko_layer *l)
{
	static const uint32_t some[] = { 1, 9 };
	struct neko_msg *m;

	ck_assert_int_eq(neko_send_to(l, 0, 0, TYPE_A, NULL, 0), -ERR_INVALID);
	ck_assert_int_eq(neko_send_to(l, 2, 0, TYPE_A, NULL, 0), -ERR_INVALID);
	ck_assert_int_eq(neko_send_to(l, 1, 1, TYPE_A, NULL, 0), -ERR_INVALID);
	ck_assert_int_eq(neko_send_to(l, 1, 0, TYPE_UNKNOWN, NULL, 0), -ERR_INVALID);
	ck_assert_int_eq(neko_send_to(l, 1, 0, NEKO_TYPES_MAX, NULL, 0), -ERR_INVALID);
	ck_assert_int_eq(neko_send_to(l, 1, 0, TYPE_A, NULL, NEKO_CONTENT_MAX_BYTES + 1),
			 -ERR_LIMIT);
	ck_assert_int_eq(neko_send_to(l, 1, 0, TYPE_A, NULL, NEKO_CONTENT_MAX_BYTES), 0);
	m = neko_msg_many(l, some, 2, TYPE_A, NULL, 0);
	ck_assert_int_eq(neko_send(l, m), -ERR_INVALID);
	neko_msg_unref(l, m);
	report(l, "done");
}

TEST(undeclared_message_types_are_refused)
{
	static const struct neko_layer_ops bad = { .name = "bad",
						   .types = types_a,
						   .run = send_badly };
	static const struct neko_type other[] = { { TYPE_A, "other" }, { 0, NULL } };
	static const struct neko_layer_ops clash = { .name = "clash", .types = other };
	struct sim *s = made(1, 1, "constant(1ms)");
	struct err e = { 0 };

	push(s, 1, &bad);
	ck_assert_int_eq(neko_push(sim_process(s, 1), &clash, NULL, &e), -ERR_EXISTS);
	run(s, NEKO_NEVER);
	ck_assert_str_eq(reported, "1:done@0 ");
	ck_assert_uint_eq(sim_counts(s)->sent, 1);
	sim_free(s);
}

/* --- a run that has something of all: active and passive, losses, polls, moved deadlines,
 * multicasts */

static void report_two(struct neko_layer *l, size_t n)
{
	uint32_t m = neko_count(neko_process(l));
	uint32_t to[2] = { 1 + (uint32_t)rng_below(neko_rng(l), m),
			   1 + (uint32_t)rng_below(neko_rng(l), m) };
	uint64_t words[9] = { rng_next(neko_rng(l)) };
	struct neko_msg *out = neko_msg_many(l, to, 2, TYPE_A, words, n);

	if (!out)
		return;
	neko_send(l, out);
	neko_msg_unref(l, out);
}

/* Sends to two others after a silence, and sometimes after a message. */
static void gossip(struct neko_layer *l)
{
	struct neko_msg *m;
	int rc;

	do {
		rc = neko_receive(l, (nsec_t)rng_below(neko_rng(l), 40) * MS, &m);
		neko_log(l, rc ? "silence" : "heard", 0);
		if (rc || rng_below(neko_rng(l), 4) == 0)
			report_two(l, rc ? 8 : 72);
	} while (rc != -ERR_CLOSED);
}

static const struct neko_layer_ops gossiper = { .name = "gossiper",
						.types = types_a,
						.run = gossip };

static void count_event(void *arg, const struct neko_event *v)
{
	uint64_t *sum = arg;

	*sum = *sum * 31 + (uint64_t)v->at + v->process + (v->what[0] == 'h');
}

static uint64_t hash_of_run(uint64_t seed, uint64_t *events)
{
	struct simnet_conf lossy = {
		.name = "lossy", .loss = 0.05, .duplicate = 0.01, .reorder = 0.1, .reorder_by = MS
	};
	struct sim *s;
	struct err e = { 0 };
	struct neko_handler h = { .handle = count_event, .arg = events };
	uint64_t hash;

	ck_assert_int_eq(sim_new(20, seed, &s, &e), 0);
	ck_assert_int_eq(delay_parse("lognormal(20ms, 30ms)", &lossy.delay, &e), 0);
	ck_assert_int_eq(sim_add_net(s, &lossy, &e), 0);
	sim_set_handler(s, &h);
	for (uint32_t i = 1; i <= 20; i++)
		push(s, i, &gossiper);
	ck_assert_int_eq(sim_crash(s, 5, 2 * SECOND), 0);
	ck_assert_int_eq(run(s, 3 * SECOND), SIM_TIME_OVER);
	ck_assert_uint_gt(sim_counts(s)->delivered, 1000);
	hash = sim_hash(s);
	sim_free(s);
	return hash;
}

TEST(two_runs_of_one_seed_are_the_same_and_of_two_seeds_are_not)
{
	uint64_t seed = suite_seed(42), one = 0, two = 0, other = 0;

	ck_assert_uint_eq(hash_of_run(seed, &one), hash_of_run(seed, &two));
	ck_assert_uint_eq(one, two);
	ck_assert_uint_ne(hash_of_run(seed, &one), hash_of_run(seed + 1, &other));
}

/* --- ends */

static void go_on_for_ever(struct neko_layer *l)
{
	for (;;)
		neko_sleep(l, MS);
}

static void poll_for_ever(struct neko_layer *l)
{
	struct neko_msg *m;

	while (neko_receive(l, 0, &m) == -ERR_TIMEOUT)
		;
}

static void stop_soon(struct neko_layer *l)
{
	neko_sleep(l, 3 * MS);
	neko_stop(l);
}

static const struct neko_layer_ops endless = { .name = "endless", .run = go_on_for_ever };
static const struct neko_layer_ops poller = { .name = "poller", .run = poll_for_ever };
static const struct neko_layer_ops stopper = { .name = "stopper", .run = stop_soon };

TEST(a_layer_that_does_not_end_is_counted_and_left)
{
	struct sim *s = made(2, 1, "constant(1ms)");

	push(s, 1, &endless);
	push(s, 2, &stopper);
	ck_assert_int_eq(run(s, NEKO_NEVER), SIM_LEFT);
	ck_assert_int_eq(sim_now(s), 3 * MS);
	ck_assert_uint_eq(sim_end_run(s), 1);
	sim_free(s);
}

TEST(a_run_in_which_no_time_passes_fails_and_names_the_layer)
{
	struct sim *s = made(1, 1, "constant(1ms)");
	enum sim_end end;
	struct err e = { 0 };

	push(s, 1, &poller);
	ck_assert_int_eq(sim_run(s, NEKO_NEVER, &end, &e), -ERR_LIMIT);
	ck_assert_str_eq(e.text, "process 1: layer poller polls endlessly: no time passes");
	sim_free(s);
}

TEST(a_crashed_process_sends_and_receives_nothing)
{
	struct sim *s = made(2, 1, "constant(10ms)");

	push(s, 1, &listener);
	push(s, 2, &sender);
	sim_crash(s, 1, 45 * MS); /* the message that is sent at 30 arrives at 40 */
	sim_crash(s, 2, 60 * MS);
	run(s, NEKO_NEVER);
	ck_assert_str_eq(reported, "1:2.0@40 ");
	ck_assert_uint_eq(sim_counts(s)->sent, 2);
	ck_assert_int_eq(sim_crash(s, 3, 0), -ERR_INVALID);
	sim_free(s);
}

/* A timer that is moved to an earlier time each millisecond does not fill the queue. */
static void mind_nothing(struct neko_layer *l)
{
	struct neko_msg *m;

	for (nsec_t patience = 3600 * SECOND; neko_receive(l, patience, &m) == 0;
	     patience -= SECOND / 10)
		;
}

static void ping(struct neko_layer *l)
{
	while (neko_sleep(l, MS) == 0)
		neko_send_to(l, 1, 0, TYPE_A, NULL, 0);
}

TEST(deadlines_that_were_moved_cost_nothing_later)
{
	static const struct neko_layer_ops impatient = { .name = "impatient",
							 .types = types_a,
							 .run = mind_nothing };
	static const struct neko_layer_ops pinger = { .name = "pinger",
						      .types = types_a,
						      .run = ping };
	struct sim *s = made(2, 1, "constant(1ms)");

	push(s, 1, &impatient);
	push(s, 2, &pinger);
	run(s, 20 * SECOND);
	ck_assert_uint_lt(sim_counts(s)->events, 20000 * 2 + 100);
	sim_free(s);
}

TEST(without_memory_a_run_fails_and_leaves_nothing)
{
	ALLOC_SWEEP (k) {
		struct simnet_conf c = { .name = "net",
					 .delay = { .kind = DELAY_CONSTANT, .a = 0.001 } };
		struct sim *s = NULL;
		enum sim_end end;
		struct err e = { 0 };
		int rc = sim_new(2, 1, &s, &e);

		if (!rc)
			rc = sim_add_net(s, &c, &e);
		if (!rc)
			rc = neko_push(sim_process(s, 1), &listener, NULL, &e);
		if (!rc)
			rc = neko_push(sim_process(s, 2), &gossiper, NULL, &e);
		if (!rc)
			rc = sim_run(s, SECOND / 10, &end, &e);
		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		sim_free(s);
	}
}

static void send_once(struct neko_layer *l)
{
	neko_send_to(l, 2, 0, TYPE_A, NULL, 0);
}

static int throw_back(struct neko_layer *l, struct neko_msg *m)
{
	neko_deliver(l, m);
	return 0;
}

static void throw_down(struct neko_layer *l, struct neko_msg *m)
{
	neko_send(l, m);
}

static void keep_throwing(struct neko_layer *l)
{
	struct neko_msg *m;

	send_once(l);
	while (neko_receive(l, -1, &m) == 0)
		neko_send(l, m);
}

static void throw_up(struct neko_layer *l)
{
	struct neko_msg *m;

	while (neko_receive(l, -1, &m) == 0)
		neko_deliver(l, m);
}

static int into_own_queue(struct neko_layer *l, struct neko_msg *m)
{
	struct neko_layer *below = l->below;

	neko_deliver(below, m);
	return 0;
}

static const struct neko_layer_ops wall = { .name = "wall", .send = throw_back };
static const struct neko_layer_ops bouncer = { .name = "bouncer",
					       .types = types_a,
					       .deliver = throw_down };
static const struct neko_layer_ops once = { .name = "once", .types = types_a, .run = send_once };
static const struct neko_layer_ops below_all = { .name = "below" };
static const struct neko_layer_ops lower = {
	.name = "lower", .types = types_a, .run = throw_up, .send = into_own_queue
};
static const struct neko_layer_ops upper = { .name = "upper",
					     .types = types_a,
					     .run = keep_throwing };

static void send_to_others(struct neko_layer *l)
{
	ck_assert_int_eq(neko_send_to(l, NEKO_OTHERS, 0, TYPE_A, NULL, 0), 0);
}

static void hear_one(struct neko_layer *l, struct neko_msg *m)
{
	report(l, "heard");
	ck_assert_uint_eq(m->from, 2);
}

static const struct neko_layer_ops to_others = { .name = "to_others",
						 .types = types_a,
						 .run = send_to_others };
static const struct neko_layer_ops hearer = { .name = "hearer",
					      .types = types_a,
					      .deliver = hear_one };

static void expect_failure(struct sim *s, const char *says)
{
	enum sim_end end;
	struct err e = { 0 };

	ck_assert_int_eq(sim_run(s, NEKO_NEVER, &end, &e), -ERR_LIMIT);
	ck_assert_msg(strstr(e.text, says), "%s", e.text);
	sim_free(s);
}

TEST(layers_with_an_endless_exchange_fail_and_are_named)
{
	struct sim *s = made(2, 1, "constant(10ms)");

	push(s, 1, &wall);
	push(s, 1, &bouncer);
	push(s, 1, &once);
	expect_failure(s, "process 1: layer ");

	s = made(2, 1, "constant(10ms)");
	push(s, 1, &below_all);
	push(s, 1, &lower);
	push(s, 1, &upper);
	expect_failure(s, "wake each other endlessly");
}

TEST(a_message_to_all_others_needs_no_list_of_them)
{
	struct sim *s = made(3, 1, "constant(10ms)");

	for (uint32_t i = 1; i <= 3; i++)
		push(s, i, i == 2 ? &to_others : &hearer);
	ck_assert_int_eq(run(s, NEKO_NEVER), SIM_NOTHING_LEFT);
	ck_assert_str_eq(reported, "1:heard@10 3:heard@10 ");
	ck_assert_uint_eq(sim_counts(s)->delivered, 2);
	sim_free(s);

	s = made(1, 1, "constant(10ms)");
	push(s, 1, &to_others);
	ck_assert_int_eq(run(s, NEKO_NEVER), SIM_NOTHING_LEFT);
	ck_assert_uint_eq(sim_counts(s)->sent, 0);
	sim_free(s);
}

TEST(a_run_has_one_process_at_least_and_not_too_many)
{
	struct sim *s = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(sim_new(0, 1, &s, &e), -ERR_INVALID);
	ck_assert_int_eq(sim_new(NEKO_PROCESSES_MAX + 1, 1, &s, &e), -ERR_INVALID);
	ck_assert_int_eq(sim_new(NEKO_PROCESSES_MAX, 1, &s, &e), 0);
	ck_assert_ptr_null(sim_process(s, 0));
	ck_assert_ptr_null(sim_process(s, NEKO_PROCESSES_MAX + 1));
	ck_assert_uint_eq(neko_id(sim_process(s, NEKO_PROCESSES_MAX)), NEKO_PROCESSES_MAX);
	sim_free(s);
}

SUITE("sim")
