/* SPDX-License-Identifier: Apache-2.0 */
/* Layered models: their text, and their solutions against exact Markov chains. */
#include "common/base/buf.h"
#include "model/layered/layered.h"
#include "tests/suite.h"
#include "tests/unit/model/layered/chain.h"
#include "tests/unit/model/layered/second.h"

#include <math.h>

static void read_text(const char *text, struct layered *m)
{
	struct err e = { 0 };

	ck_assert_msg(!layered_read_lqn(text, strlen(text), m, &e), "%u:%u: %s", e.line, e.col,
		      e.text);
}

static double layered_throughput(const struct chain *c)
{
	struct buf b = BUF_INIT(4096);
	struct layered m;
	struct layered_result r;
	struct err e = { 0 };
	double x;

	chain_model(c, &b);
	read_text(buf_str(&b), &m);
	ck_assert_msg(!layered_solve(&m, &r, &e), "%s", e.text);
	x = r.task_throughput[0];
	ck_assert(x <= layered_bound(&m, 0) * (1 + 1e-6));
	layered_result_done(&r);
	layered_done(&m);
	buf_done(&b);
	return x;
}

/* 108 cases from a light load to saturation. */
TEST(layers_are_close_to_the_exact_chain)
{
	static struct chain c;
	static const double thinks[] = { 1, 5, 20 }, disks[] = { 0.3, 1, 2 };
	double worst = 0, sum = 0, n = 0;

	c.cpu = 1;
	for (size_t i = 0; i < 9; i++)
		for (c.threads = 1; c.threads <= 3; c.threads++)
			for (c.clients = 1; c.clients <= CLIENTS_MAX; c.clients += 2) {
				double off;

				c.think = thinks[i / 3];
				c.disk = disks[i % 3];
				off = fabs(layered_throughput(&c) / chain_throughput(&c) - 1);
				worst = fmax(worst, off);
				sum += off;
				n++;
			}
	ck_assert_msg(worst < 0.01 && sum / n < 0.002, "worst %.4f, mean %.4f", worst, sum / n);
}

/* --- second phases */

struct errors {
	double throughput, throughput_most, response, response_most, n;
};

static void add_error(const struct second *s, struct errors *to)
{
	struct buf b = BUF_INIT(4096);
	struct layered m;
	struct layered_result r;
	struct err e = { 0 };
	double exact = second_throughput(s), x, response;

	second_model(s, &b);
	read_text(buf_str(&b), &m);
	ck_assert_msg(!layered_solve(&m, &r, &e), "%s", e.text);
	x = fabs(r.task_throughput[0] / exact - 1);
	response = fabs(r.task_response[0] / (s->clients / exact - s->think) - 1);
	to->throughput += x;
	to->throughput_most = fmax(to->throughput_most, x);
	to->response += response;
	to->response_most = fmax(to->response_most, response);
	to->n++;
	layered_result_done(&r);
	layered_done(&m);
	buf_done(&b);
}

/* At most: mean and worst errors of throughput and response, of 36 cases each. */
static const struct {
	int threads;
	bool is_shared;
	double limit[4];
} second_cases[] = {
	{ 1, false, { 0.015, 0.04, 0.03, 0.11 } }, { 1, true, { 0.015, 0.04, 0.03, 0.11 } },
	{ 2, false, { 0.01, 0.07, 0.02, 0.17 } },  { 2, true, { 0.015, 0.08, 0.03, 0.13 } },
	{ 3, false, { 0.01, 0.04, 0.02, 0.17 } },  { 3, true, { 0.015, 0.1, 0.04, 0.18 } },
};

TEST_EACH(second_phases_are_close_to_the_exact_chain, i, (int)ARRAY_LEN(second_cases))
{
	static const double phases[][2] = { { 1, 0.3 }, { 1, 1 }, { 0.5, 1.5 } };
	static const double thinks[] = { 1, 5, 20 };
	static const int clients[] = { 1, 3, 6, 10 };
	const double *limit = second_cases[i].limit;
	struct errors sum = { 0 };

	for (size_t k = 0; k < 36; k++) {
		const struct second s = { .clients = clients[k % 4],
					  .threads = second_cases[i].threads,
					  .think = thinks[k / 4 % 3],
					  .phase = { phases[k / 12][0], phases[k / 12][1] },
					  .is_shared = second_cases[i].is_shared };

		add_error(&s, &sum);
	}
	ck_assert_msg(sum.throughput / sum.n < limit[0] && sum.throughput_most < limit[1] &&
			      sum.response / sum.n < limit[2] && sum.response_most < limit[3],
		      "throughput %.4f, at most %.4f; response %.4f, at most %.4f",
		      sum.throughput / sum.n, sum.throughput_most, sum.response / sum.n,
		      sum.response_most);
}

static const char shared[] =
	"P 0\np d i\np c p\n-1\nT 0\nt u r g -1 d z 1 m 3\nt s n e -1 c\nt v n f -1 c m 3\n-1\n"
	"E 0\ny g e 1.7 -1\ns e 0.35 -1\ny e f 1 -1\ns f 0.2 0.4 -1\n-1\n";

/* The second phase of a task below competes with its caller: their processor is not used twice. */
TEST(second_phases_compete_with_callers)
{
	struct layered m;
	struct layered_result r;

	read_text(shared, &m);
	ck_assert_int_eq(layered_solve(&m, &r, NULL), 0);
	ck_assert_msg(r.processor_busy[1] < 1.02, "busy %.4f", r.processor_busy[1]);
	layered_result_done(&r);
	layered_done(&m);
}

/* --- the text */

static const struct {
	const char *text;
	unsigned line, col;
	const char *words;
} wrong[] = {
	{ "Q\n", 1, 1, "'Q' is unknown here" },
	{ "P 0\np a f\n", 3, 1, "does not end with -1" },
	{ "P x\n", 1, 3, "number of lines" },
	{ "P 0\np a q\n-1\n", 2, 5, "discipline 'q' is not served" },
	{ "P 0\np a f\np a f\n-1\n", 3, 3, "a second processor" },
	{ "P 0\np a f m 0\n-1\n", 2, 9, "multiplicity" },
	{ "P 0\np a f R nan\n-1\n", 2, 9, "speed" },
	{ "P 0\np a f\n-1\nT 0\nt x r e -1 b\n-1\n", 5, 12, "no processor 'b'" },
	{ "P 0\np a f\n-1\nT 0\nt x q e -1 a\n-1\n", 5, 5, "kind of task 'q'" },
	{ "P 0\np a f\n-1\nT 0\nt x r -1 a\n-1\n", 5, 7, "has no entry" },
	{ "P 0\np a f\n-1\nT 0\nt x r e e -1 a\n-1\n", 5, 9, "a second entry 'e'" },
	{ "P 0\np a f\n-1\nT 0\nt x r e -1 a\n-1\nE 0\ns f 1 -1\n-1\n", 8, 3, "no task has an" },
	{ "P 0\np a f\n-1\nT 0\nt x r e -1 a\n-1\nE 0\ns e -1 -1\n-1\n", 8, 5, "a time" },
	{ "P 0\np a f\n-1\nT 0\nt x r e -1 a\n-1\nE 0\ns e 1 2 3 -1\n-1\n", 8, 9, "third phases" },
	{ "P 0\np a f\n-1\nT 0\nt x r e -1 a\n-1\nE 0\nM e 1\n-1\n", 8, 1, "'M' are not served" },
	{ "P 0\np a f\n-1\nT 0\nt x r e -1 a\n-1\nE 0\na e 1\n-1\n", 0, 0, "nothing arrives" },
	{ "P 0\np a f\n-1\nT 0\nt x r e -1 a\n-1\nE 0\na e -1\n-1\n", 8, 5, "a rate" },
	{ "P 0\np a f\n-1\nT 0\nt x r e -1 a\n-1\nE 0\nc e 1e5 -1\n-1\n", 0, 0,
	  "coefficient of variation is from 0 to 10000" },
	{ "P 0\np a f\n-1\nT 0\nt u r g -1 a\nt x n e -1 a\n-1\nE 0\nf g 1 -1\n"
	  "y g e 1.5 -1\n-1\n",
	  0, 0, "a whole one, not 1.5" },
	{ "P 0\np a f\n-1\nT 0\nt u r g -1 a\nt x n e -1 a\n-1\nE 0\nF g e 1 -1\n-1\n", 0, 0,
	  "it cannot forward" },
	{ "P 0\np a f\n-1\nT 0\nt u n g -1 a\nt x n e -1 a\n-1\nE 0\na g 1\nF g e 0.7 -1\n"
	  "F g e 0.7 -1\n-1\n",
	  0, 0, "forwards with a probability above 1: 1.4" },
	{ "P 0\np a f\n-1\nT 0\nt u n g -1 a\nt x n e -1 a\n-1\nE 0\nF g e 0.5 0.5 -1\n-1\n", 9, 15,
	  "only the end of the first phase" },
	{ "P 0\np a f\n-1\nT 0\nt x r e -1 a\n-1\nE 0\nservice e 1\n-1\n", 8, 1, "unknown here" },
	{ "P 0\np a f\n-1\nT 0\nt x n e -1 a\n-1\n", 0, 0, "no reference task" },
	{ "P 0\np a f\n-1\nT 0\nt u r g -1 a\nt x n e -1 a\nt y n f -1 a\n-1\nE 0\n"
	  "y g e 1 -1\ny e f 1 -1\ny f e 1 -1\n-1\n",
	  0, 0, "waits for itself" },
	{ "P 0\np a f\n-1\nT 0\nt u r g -1 a\nt x r e -1 a\n-1\nE 0\ny g e 1 -1\n-1\n", 0, 0,
	  "entry of a reference task" },
	{ "", 0, 0, "no reference task" },
#define SMALL "P 0\np a f\n-1\nT 0\nt x r e -1 a\n-1\nE 0\ns e 2 -1\n-1\n"
	{ SMALL "#interval f 1 1 3 0.9\n", 10, 11, "no task has an entry 'f'" },
	{ SMALL "#interval e 3 1 3 0.9\n", 10, 13, "third phases" },
	{ SMALL "#interval e 1 1 3 1.1\n", 10, 19, "a level above 0" },
	{ SMALL "#interval e 1 2.5 3 0.9\n", 10, 21, "the demand 2 is not between" },
	{ SMALL "#interval e 1 nan 3 0.9\n", 10, 15, "the low end" },
	{ SMALL "#interval e 1 1 3 0.9 x\n", 10, 23, "the line ends behind the level" },
	{ SMALL "#interval e 1 1\n", 10, 16, "the high end" },
};

TEST_EACH(a_wrong_model_is_refused_with_its_place, i, (int)ARRAY_LEN(wrong))
{
	struct layered m = { 0 };
	struct err e = { 0 };

	ck_assert_int_lt(layered_read_lqn(wrong[i].text, strlen(wrong[i].text), &m, &e), 0);
	ck_assert_msg(strstr(e.text, wrong[i].words), "'%s' has no '%s'", e.text, wrong[i].words);
	ck_assert_msg(e.line == wrong[i].line && e.col == wrong[i].col, "%u:%u: %s", e.line, e.col,
		      e.text);
	ck_assert(!m.task);
}

TEST(a_text_has_its_parts)
{
	struct layered m;

	read_text("# a model\nG \"x y\" 0.1 1 1 -1\nP 2\np desk i\np cpu p m 3 R 2\n-1\n"
		  "T 0\nt user r go -1 desk z 2.5 m 7\nt server n e1 e2 -1 cpu m 4\n-1\n"
		  "E 0\ny go e1 2 -1\ns e1 0.5 -1\nZ e2 3 -1\n-1\n",
		  &m);
	ck_assert_uint_eq(m.nprocessor, 2);
	ck_assert_uint_eq(m.processor[1].servers, 3);
	ck_assert_double_eq_tol(m.processor[1].speed, 2, 1e-12);
	ck_assert_uint_eq(m.ntask, 2);
	ck_assert_uint_eq(m.task[0].threads, 7);
	ck_assert_double_eq_tol(m.task[0].think, 2.5, 1e-12);
	ck_assert_uint_eq(m.task[1].layer, 1);
	ck_assert_uint_eq(m.nentry, 3);
	ck_assert_uint_eq(m.ncall, 1);
	ck_assert_double_eq_tol(m.entry[2].phase[0].think, 3, 1e-12);
	layered_done(&m);
}

TEST(a_comment_has_the_interval_of_a_demand)
{
	struct layered m;

	read_text("#interval e 1 1.5 - 0.9\n" SMALL "#interval\n#intervals e\n # interval e x\n"
		  "#interval e 2 -1 3 1 # sure\n",
		  &m);
	ck_assert_double_eq_tol(m.entry[0].phase[0].low, 1.5, 1e-12);
	ck_assert(isnan(m.entry[0].phase[0].high));
	ck_assert_double_eq_tol(m.entry[0].phase[0].level, 0.9, 1e-12);
	ck_assert_double_eq_tol(m.entry[0].phase[1].low, -1, 1e-12);
	ck_assert_double_eq_tol(m.entry[0].phase[1].level, 1, 1e-12);
	layered_done(&m);
}

/* Without any competition a response is the sum of all times. */
TEST(one_client_waits_for_nothing)
{
	struct layered m;
	struct layered_result r;

	read_text("P 0\np desk i\np cpu f R 2\np disk f\n-1\nT 0\nt user r go -1 desk z 4\n"
		  "t server n serve -1 cpu\nt store n get -1 disk\n-1\n"
		  "E 0\ny go serve 1 -1\ns serve 1 -1\ny serve get 3 -1\ns get 0.5 -1\n-1\n",
		  &m);
	ck_assert_int_eq(layered_solve(&m, &r, NULL), 0);
	ck_assert_double_eq_tol(r.task_response[0], 2, 1e-6);
	ck_assert_double_eq_tol(r.task_throughput[0], 1.0 / 6, 1e-6);
	ck_assert_double_eq_tol(r.processor_busy[2], 0.25, 1e-6);
	layered_result_done(&r);
	layered_done(&m);
}

TEST(a_cycle_without_any_time_is_refused)
{
	struct layered m;
	struct layered_result r;
	struct err e = { 0 };

	read_text("P 0\np a f\n-1\nT 0\nt user r go -1 a\n-1\n", &m);
	ck_assert_int_eq(layered_solve(&m, &r, &e), -ERR_INVALID);
	ck_assert_msg(strstr(e.text, "a cycle of 'user' takes no time"), "%s", e.text);
	layered_result_done(&r);
	layered_done(&m);
}

#define DEEP 900

/* A round of so many layers takes a second: they are bounded in all, not each. */
TEST(a_model_that_takes_too_long_is_refused)
{
	struct buf b = BUF_INIT(1 << 20);
	struct layered m;
	struct layered_result r;
	struct err e = { 0 };

	buf_puts(&b, "P 0\np cpu f\n-1\nT 0\nt user r go -1 cpu m 5\n");
	for (int i = 0; i < DEEP; i++)
		buf_printf(&b, "t t%d n e%d -1 cpu\n", i, i);
	buf_puts(&b, "-1\nE 0\ny go e0 1 -1\n");
	for (int i = 0; i < DEEP; i++)
		buf_printf(&b, "s e%d 1 -1\n", i);
	for (int i = 0; i + 1 < DEEP; i++)
		buf_printf(&b, "y e%d e%d 1 -1\n", i, i + 1);
	buf_puts(&b, "-1\n");
	read_text(buf_str(&b), &m);
	ck_assert_int_eq(layered_solve(&m, &r, &e), -ERR_LIMIT);
	ck_assert_msg(strstr(e.text, "901 layers of 901 tasks need more than 3e+08 steps"), "%s",
		      e.text);
	layered_result_done(&r);
	layered_done(&m);
	buf_done(&b);
}

/* --- open requests, second phases, forwarding */

static void solve_text(const char *text, struct layered *m, struct layered_result *r)
{
	struct err e = { 0 };

	read_text(text, m);
	ck_assert_msg(!layered_solve(m, r, &e), "%s", e.text);
}

TEST(open_queues_are_those_of_their_formulas)
{
	struct layered m;
	struct layered_result r;

	/* M/M/1 and, with half of the variation, Pollaczek and Khinchine */
	solve_text("P 0\np a f\n-1\nT 0\nt x i e -1 a\n-1\nE 0\na e 0.8\ns e 1 -1\n-1\n", &m, &r);
	ck_assert_double_eq_tol(r.entry_response[0], 5, 0.001);
	ck_assert_double_eq_tol(r.processor_busy[0], 0.8, 1e-9);
	layered_result_done(&r);
	layered_done(&m);
	solve_text("P 0\np a f\n-1\nT 0\nt x i e -1 a\n-1\nE 0\na e 0.8\ns e 1 -1\n"
		   "c e 0 -1\n-1\n",
		   &m, &r);
	ck_assert_double_eq_tol(r.entry_response[0], 3, 0.001);
	layered_result_done(&r);
	layered_done(&m);
	for (unsigned n = 2; n <= 6; n += 2) {
		struct buf b = BUF_INIT(4096);

		buf_printf(
			&b,
			"P 0\np a f m %u\n-1\nT 0\nt x i e -1 a\n-1\nE 0\na e %g\ns e 1 -1\n-1\n",
			n, 0.75 * n);
		solve_text(buf_str(&b), &m, &r);
		ck_assert_double_eq_tol(r.entry_response[0], 1 + erlang_c(n, 0.75 * n) / (0.25 * n),
					0.001);
		layered_result_done(&r);
		layered_done(&m);
		buf_done(&b);
	}
}

TEST(a_forwarded_request_gets_its_reply_from_the_last_entry)
{
	struct layered m;
	struct layered_result r;

	/* Jackson: 1 / (1 - 0.5), and a quarter of the time 1 / (1 - 0.125) */
	solve_text("P 0\np a f\np b f\n-1\nT 0\nt x i e -1 a\nt y i g -1 b\n-1\n"
		   "E 0\na e 0.5\ns e 1 -1\ns g 1 -1\nF e g 0.25 -1\n-1\n",
		   &m, &r);
	ck_assert_double_eq_tol(r.entry_throughput[1], 0.125, 1e-9);
	ck_assert_double_eq_tol(r.entry_response[0], 2 + 0.25 / (1 - 0.125), 0.001);
	layered_result_done(&r);
	layered_done(&m);
}

/* One client, a server of one thread: a second phase delays only what comes before its end. */
TEST(second_phases_are_no_part_of_a_response)
{
	struct layered m;
	struct layered_result r;

	solve_text("P 0\np a i\n-1\nT 0\nt u r g -1 a z 1000\nt x n e -1 a\n-1\nE 0\ny g e 1 -1\n"
		   "s e 1 2 -1\n-1\n",
		   &m, &r);
	ck_assert_double_eq_tol(r.task_response[0], 1, 0.01);
	ck_assert_double_eq_tol(r.entry_service[1], 3, 0.01);
	layered_result_done(&r);
	layered_done(&m);
}

static const struct {
	const char *text, *words;
} full[] = {
	{ "P 0\np db f\n-1\nT 0\nt x i e -1 db\n-1\nE 0\na e 1.13\ns e 1 -1\n-1\n",
	  "no steady state: utilisation of db is 1.13" },
	{ "P 0\np db i\n-1\nT 0\nt x n e -1 db m 2\n-1\nE 0\na e 1.5\ns e 1 1 -1\n-1\n",
	  "no steady state: utilisation of the threads of x is 1.50" },
	{ "P 0\np a f\np b f\n-1\nT 0\nt u r g -1 a\nt x i e -1 b\n-1\nE 0\ns g 1 -1\n"
	  "z g e 2 -1\ns e 0.6 -1\n-1\n",
	  "no steady state: utilisation of b is 1.20" },
};

TEST_EACH(a_saturated_open_model_has_no_steady_state, i, (int)ARRAY_LEN(full))
{
	struct layered m;
	struct layered_result r;
	struct err e = { 0 };

	read_text(full[i].text, &m);
	ck_assert_int_eq(layered_solve(&m, &r, &e), -ERR_LIMIT);
	ck_assert_msg(strstr(e.text, full[i].words), "'%s' has no '%s'", e.text, full[i].words);
	layered_result_done(&r);
	layered_done(&m);
}

/* Two tasks on one processor that work for the same thread never compete. */
TEST(calls_do_not_compete_with_their_callers)
{
	struct layered m;
	struct layered_result r;

	solve_text("P 0\np a i\np b f\n-1\nT 0\nt u r g -1 a z 1 m 5\nt x n e -1 b\n"
		   "t y n f -1 b\n-1\nE 0\ny g e 1 -1\ns e 0.2 -1\ny e f 1 -1\ns f 0.1 -1\n-1\n",
		   &m, &r);
	ck_assert_double_eq_tol(r.entry_service[2], 0.1, 1e-6);
	ck_assert_double_eq_tol(r.entry_service[1], 0.3, 1e-6);
	layered_result_done(&r);
	layered_done(&m);
}

SUITE("layered")
