/* SPDX-License-Identifier: Apache-2.0 */
/* Simulations of layered models against queues whose solutions are known. */
#include "common/base/buf.h"
#include "model/simulate/simulate.h"
#include "tests/suite.h"
#include "tests/unit/model/layered/chain.h"

#include <math.h>

/* Half-widths from the true value that are still chance: one case of 10^5. */
#define CHANCE 2.5

static void read_text(const char *text, struct layered *m)
{
	struct err e = { 0 };

	ck_assert_msg(!layered_read_lqn(text, strlen(text), m, &e), "%u:%u: %s", e.line, e.col,
		      e.text);
}

static void run(const char *text, uint64_t events, struct simulate_result *r)
{
	struct simulate_options o = { .seed = 7, .events = events, .level = 0.95 };
	struct layered m;
	struct err e = { 0 };

	read_text(text, &m);
	ck_assert_int_eq(stop_parse("ci(0.95, batches) < 0.5%", &o.stop, &e), 0);
	ck_assert_msg(!simulate(&m, &o, r, &e), "%s", e.text);
	layered_done(&m);
}

static void check(const char *what, const struct interval *i, double truth)
{
	ck_assert_msg(fabs(i->mean - truth) <= CHANCE * i->half && i->half < 0.04 * truth,
		      "%s: %g +- %g, not %g", what, i->mean, i->half, truth);
}

/* --- open queues with known means: text of the entry lines, and the mean response */

#define QUEUE(KIND, SERVERS, LINES)                                                      \
	"P 0\np cpu " KIND " m " SERVERS "\n-1\nT 0\nt server i serve -1 cpu\n-1\nE 0\n" \
	"a serve 0.8\n" LINES "-1\n"

static const struct {
	const char *what, *text;
	double response, busy;
} queues[] = {
	{ "M/M/1", QUEUE("f", "1", "s serve 1 -1\n"), 5, 0.8 },
	{ "M/M/1 with processor sharing", QUEUE("p", "1", "s serve 1 -1\n"), 5, 0.8 },
	/* Pollaczek and Khinchine: 1 + 0.8 (1 + cv2) / (2 (1 - 0.8)) */
	{ "M/D/1", QUEUE("f", "1", "s serve 1 -1\nc serve 0 -1\n"), 3, 0.8 },
	{ "M/E3/1", QUEUE("f", "1", "s serve 1 -1\nc serve 0.3333333333 -1\n"), 11.0 / 3, 0.8 },
	{ "M/G/1 between Erlang 2 and 3", QUEUE("f", "1", "s serve 1 -1\nc serve 0.4 -1\n"), 3.8,
	  0.8 },
	{ "M/H2/1", QUEUE("f", "1", "s serve 1 -1\nc serve 3 -1\n"), 9, 0.8 },
	/* insensitive */
	{ "M/D/1 with processor sharing", QUEUE("p", "1", "s serve 1 -1\nc serve 0 -1\n"), 5, 0.8 },
	{ "M/M/inf", QUEUE("i", "1", "s serve 2.5 -1\n"), 2.5, 2 },
	{ "a delay beside", QUEUE("f", "1", "s serve 1 -1\nZ serve 2 -1\n"), 7, 0.8 },
};

TEST_EACH(open_queues_have_their_known_means, i, (int)ARRAY_LEN(queues))
{
	struct simulate_result r;

	run(queues[i].text, 3000000, &r);
	check(queues[i].what, &r.entry_response[0], queues[i].response);
	check(queues[i].what, &r.processor_busy[0], queues[i].busy);
	check("arrivals", &r.entry_throughput[0], 0.8);
	simulate_result_done(&r);
}

TEST(several_servers_are_those_of_erlang)
{
	for (unsigned m = 2; m <= 5; m++) {
		struct buf b = BUF_INIT(4096);
		struct simulate_result r;
		double load = 0.8 * m;

		/* threads, servers of a processor, and shared ones wait in the same way */
		for (int kind = 0; kind < 3; kind++) {
			buf_clear(&b);
			buf_printf(&b,
				   "P 0\np cpu %s m %u\n-1\nT 0\nt x %s e -1 cpu m %u\n-1\n"
				   "E 0\na e %g\ns e 1 -1\n-1\n",
				   kind == 0   ? "i"
				   : kind == 1 ? "f"
					       : "p",
				   m, kind ? "i" : "n", m, load);
			run(buf_str(&b), 2500000, &r);
			check("M/M/m", &r.entry_response[0], 1 + erlang_c(m, load) / (m - load));
			check("servers", &r.processor_busy[0], load);
			simulate_result_done(&r);
		}
		buf_done(&b);
	}
}

/* Clients, threads, a processor and a disk, exactly. */
TEST(closed_models_are_those_of_the_chain)
{
	static struct chain c;
	struct buf b = BUF_INIT(4096);
	struct simulate_result r;

	for (c.threads = 1; c.threads <= 3; c.threads++) {
		double truth;

		c.clients = 7;
		c.think = 5;
		c.cpu = 1;
		c.disk = 0.7;
		buf_clear(&b);
		chain_model(&c, &b);
		run(buf_str(&b), 0, &r);
		truth = chain_throughput(&c);
		ck_assert(r.is_precise);
		check("throughput", &r.task_throughput[0], truth);
		check("response", &r.task_response[0], c.clients / truth - c.think);
		check("disk", &r.processor_busy[2], truth * c.disk);
		simulate_result_done(&r);
	}
	buf_done(&b);
}

/*
 * A server of one thread with two phases: the queue of a M/G/1 server whose service is both
 * phases; the response has the first one only.
 */
TEST(second_phases_delay_the_next_request_alone)
{
	struct simulate_result r;
	double s1 = 0.4, s2 = 0.6, rate = 0.7, square = 2 * s1 * s1 + 2 * s2 * s2 + 2 * s1 * s2;

	run("P 0\np cpu i\n-1\nT 0\nt x n e -1 cpu\n-1\nE 0\na e 0.7\ns e 0.4 0.6 -1\n-1\n",
	    2500000, &r);
	check("response", &r.entry_response[0], s1 + rate * square / (2 * (1 - rate)));
	check("thread", &r.task_busy[0], rate);
	simulate_result_done(&r);
}

/* A tandem of queues (Jackson), by messages without a reply and by forwarding. */
TEST(sent_and_forwarded_requests_pass_through_a_tandem)
{
	struct simulate_result r;

	run("P 0\np a f\np b f\n-1\nT 0\nt x i e -1 a\nt y i g -1 b\n-1\n"
	    "E 0\na e 0.5\nf e 1 -1\ns e 0 1 -1\ns g 1.2 -1\nF e g 1 -1\n-1\n",
	    2500000, &r);
	/* e has its time in the second phase: the response is that of g */
	check("forwarded", &r.entry_response[0], 1.2 / (1 - 0.6));
	check("first", &r.entry_service[0], 1 / (1 - 0.5));
	simulate_result_done(&r);
	run("P 0\np a f\np b f\n-1\nT 0\nt x i e -1 a\nt y i g -1 b\n-1\n"
	    "E 0\na e 0.3\nz e g 2 -1\nf g 1 -1\ns e 0 -1\ns g 1 -1\n-1\n",
	    2500000, &r);
	check("sent", &r.entry_throughput[1], 0.6);
	check("its processor", &r.processor_busy[1], 0.6);
	simulate_result_done(&r);
	run("P 0\np a f\np b f\n-1\nT 0\nt x i e -1 a\nt y i g h -1 b\n-1\n"
	    "E 0\na e 0.5\ns e 1 -1\ns g 1 -1\nF e g 0.25 -1\nF e h 0.5 -1\n-1\n",
	    2500000, &r);
	check("a quarter", &r.entry_throughput[1], 0.125);
	check("half", &r.entry_throughput[2], 0.25);
	/* Jackson: both queues as if alone */
	check("response", &r.entry_response[0], 2 + 0.25 / (1 - 0.125));
	simulate_result_done(&r);
}

TEST(a_seed_repeats_a_simulation)
{
	struct simulate_result a, b;

	run(queues[0].text, 200000, &a);
	run(queues[0].text, 200000, &b);
	ck_assert(a.entry_response[0].mean == b.entry_response[0].mean);
	ck_assert(a.time == b.time && a.events == b.events);
	ck_assert(!a.is_precise);
	simulate_result_done(&a);
	simulate_result_done(&b);
}

static const struct {
	const char *text, *words;
} refused[] = {
	{ "P 0\np a f\n-1\nT 0\nt u r g -1 a\n-1\n", "a cycle of 'u' takes no time" },
	{ "P 0\np a f\n-1\nT 0\nt x n e -1 a\n-1\nE 0\na e 1\ns e 1000 -1\n-1\n",
	  "no steady state: more than 1000000 requests wait, the last one for 'e'" },
	{ "P 0\np a f\n-1\nT 0\nt u r g -1 a\nt x n e -1 a\n-1\nE 0\ny g e 1e12 -1\ns e 1 -1\n-1\n",
	  "events are not enough for 1010 cycles" },
};

TEST_EACH(what_never_settles_is_refused, i, (int)ARRAY_LEN(refused))
{
	struct simulate_options o = { .seed = 1, .events = 5000000, .level = 0.95 };
	struct simulate_result r;
	struct layered m;
	struct err e = { 0 };

	read_text(refused[i].text, &m);
	ck_assert_int_lt(simulate(&m, &o, &r, &e), 0);
	ck_assert_msg(strstr(e.text, refused[i].words), "'%s' has no '%s'", e.text,
		      refused[i].words);
	simulate_result_done(&r);
	layered_done(&m);
}

SUITE("simulate")
