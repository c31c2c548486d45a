/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic broadcast by consensus and by a sequencer: its properties over many seeds, and the shapes
 * of latency that were published (Urban, Shnayderman and Schiper, DSN 2003).
 */
#include "common/base/array.h"
#include "tests/alloc_sweep.h"
#include "tests/unit/neko/algorithms/run_seeds.h"

enum { LATENCY, TIME_TO_DELIVER, VIEW };

static const char *const kinds[] = { "abcast-ct", "abcast-seq" };

/* Two of five crash; the network doubles and exchanges messages, and is cut for a while. */
#define HARD                                                                                  \
	"process.num = 5\nprocess.1.crash = 200ms..2s\nprocess.3.crash = 500ms..3s\n"         \
	"network = n\nnetwork.n.delay = exponential(8ms) + 1ms\nnetwork.n.loss = 0.1\n"       \
	"network.n.resend = 20ms\nnetwork.n.fifo = false\nnetwork.n.duplicate = 0.02\n"       \
	"network.n.partition = 2500ms..2800ms: 1, 2 | 3-5\nqos.detection = 200ms\n"           \
	"qos.recurrence = 500ms\nqos.duration = 20ms\nabcast.rate = 100\nabcast.until = 4s\n" \
	"abcast.settle = 10s\nsimulation.until = 25s\n"
/* A shared line; heartbeats do not load it. */
#define LINE                                                                          \
	"network = lan, beats\nnetwork.lan.medium = ethernet\nnetwork.beats.delay = " \
	"constant(1us)\nqos.network = 2\nqos.detection = 20ms\nsimulation.until = 10s\n"

static struct found run_kind(const char *kind, const char *text, const char *more, unsigned runs)
{
	char whole[1500];

	snprintf(whole, sizeof(whole), "process.initializer = %s\n%s", kind, text);
	return run_seeds(whole, more, runs);
}

static double latency(const char *kind, const char *more)
{
	struct found f = run_kind(kind, LINE, more, 1);

	ck_assert_msg(!f.broken[0], "%s, %s: %s", kind, more, f.broken);
	ck_assert_uint_gt(f.n[LATENCY], 100);
	return f.mean[LATENCY];
}

TEST(all_deliver_in_one_order_whatever_crashes_and_suspicions)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct found f = run_kind(kinds[i], HARD, "", 100);

		ck_assert_msg(!f.broken[0], "%s: %s; seed %llu", kinds[i], f.broken,
			      (unsigned long long)f.figures.seed_of_last);
		ck_assert_uint_gt(f.n[TIME_TO_DELIVER], 100 * 200);
	}
}

/* A decision without a majority is one of several. */
TEST(too_few_acknowledgements_are_found)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct found f = run_kind(kinds[i], HARD, "abcast.quorum = 1\n", 500);

		ck_assert_msg(strstr(f.broken, "total order: process "), "%s: '%s'", kinds[i],
			      f.broken);
	}
}

TEST(without_suspicions_both_cost_the_same)
{
	double ct = latency("abcast-ct", "process.num = 5\nabcast.rate = 50\n"),
	       seq = latency("abcast-seq", "process.num = 5\nabcast.rate = 50\n");

	ck_assert_double_eq_tol(ct, seq, ct * 0.05);
}

TEST(latency_grows_with_the_rate_and_with_the_processes)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		double few = latency(kinds[i], "process.num = 3\nabcast.rate = 50\n"),
		       busy = latency(kinds[i], "process.num = 3\nabcast.rate = 1500\n"),
		       many = latency(kinds[i], "process.num = 7\nabcast.rate = 50\n"),
		       full = latency(kinds[i], "process.num = 7\nabcast.rate = 1500\n");

		ck_assert_msg(few < many && few < busy && many < full && busy < full,
			      "%s: %g %g %g %g", kinds[i], few, busy, many, full);
		/* The line of seven is full long before that of three. */
		ck_assert_double_gt(full / many, 2 * busy / few);
	}
}

/* The mean latency for mistakes of this kind in multiples of that without mistakes. */
static double slower(const char *kind, const char *mistakes)
{
	char more[200];

	snprintf(more, sizeof(more), "process.num = 3\nabcast.rate = 100\n%s", mistakes);
	return latency(kind, more) / latency(kind, "process.num = 3\nabcast.rate = 100\n");
}

TEST(consensus_suffers_less_from_mistakes_than_views)
{
	static const char often[] = "qos.recurrence = 5ms\n",
			  longer[] = "qos.recurrence = 200ms\nqos.duration = 20ms\n",
			  seldom[] = "qos.recurrence = 100s\nqos.duration = 1ms\n";

	ck_assert_double_lt(slower("abcast-ct", often), 1.3);
	ck_assert_double_gt(slower("abcast-seq", often), 1.8);
	ck_assert_double_gt(slower("abcast-seq", longer), 3 * slower("abcast-ct", longer));
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		ck_assert_double_lt(slower(kinds[i], seldom), 1.1);
}

/* After the crash of the first coordinator, and sequencer, messages wait for its detection. */
TEST(a_crash_costs_its_detection_once)
{
	static const char crash[] = "process.num = 5\nprocess.1.crash = 5s\nabcast.rate = 100\n";

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct found f = run_kind(kinds[i], LINE, crash, 1);

		ck_assert_msg(!f.broken[0], "%s: %s", kinds[i], f.broken);
		ck_assert_msg(f.max[LATENCY] < 0.03 && f.mean[LATENCY] < 0.003, "%s: %g, %g",
			      kinds[i], f.max[LATENCY], f.mean[LATENCY]);
	}
}

TEST(one_process_orders_its_own_messages)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct found f = run_kind(kinds[i], LINE, "process.num = 1\n", 1);

		ck_assert_msg(!f.broken[0], "%s: %s", kinds[i], f.broken);
		ck_assert_uint_gt(f.n[TIME_TO_DELIVER], 100);
		ck_assert_double_eq(f.max[LATENCY], 0);
	}
}

TEST(without_memory_a_run_of_them_reports_that)
{
	static const char text[] =
		"process.num = 3\nprocess.initializer = %s\nnetwork = n\nnetwork.n.delay = "
		"exponential(1ms)\nqos.recurrence = 100ms\nabcast.rate = 20\nabcast.until = 200ms\n"
		"abcast.settle = 0s\nsimulation.until = 300ms\n";
	char whole[sizeof(text) + 16];

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		snprintf(whole, sizeof(whole), text, kinds[i]);
		ALLOC_SWEEP (k) {
			struct err e = { 0 };
			struct found f;
			int rc = run_text(whole, &f, &e);

			alloc_sweep_pause();
			ck_assert(!rc || e.text[0]);
		}
	}
}

SUITE("abcast")
