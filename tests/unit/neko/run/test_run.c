/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/file.h"
#include "neko/core/limits.h"
#include "neko/run/run.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/neko/run/run_text.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#define GOOD                                                                                  \
	"process.num = 2\nprocess.1.initializer = heartbeat\nprocess.2.initializer = nfd-s\n" \
	"network = n\nnetwork.n.delay = exponential(20ms)\nsimulation.until = 100s\n"

struct wrong {
	const char *text, *says;
	unsigned line;
};

static void is_reported(const struct wrong *w, size_t n)
{
	struct run_counts f;

	for (size_t i = 0; i < n; i++) {
		struct err e = { 0 };

		ck_assert_msg(run_text(w[i].text, &f, &e) < 0, "row %zu", i);
		ck_assert_msg(strstr(e.text, w[i].says), "row %zu says: %s", i, e.text);
		ck_assert_msg(e.line == w[i].line, "row %zu says line %u: %s", i, e.line, e.text);
	}
}

TEST(networks_without_equivalent_and_unknown_models_are_reported)
{
	static const struct wrong bad[] = {
		{ "process.num = 1\nprocess.initializer = none\nnetwork = "
		  "lse.neko.networks.comm.PMNetwork\n",
		  "use UDPNetwork", 3 },
		{ "process.num = 1\nprocess.initializer = none\nnetwork = "
		  "lse.neko.networks.comm.FooNetwork\n",
		  "lse.neko.networks.comm.FooNetwork has no equivalent", 3 },
		{ "process.num = 1\nprocess.initializer = none\nnetwork = org.UDPNetwork\n",
		  "org.UDPNetwork has no equivalent", 3 },
		{ "process.num = 1\nprocess.initializer = none\nsimulation.until = 1s\nnetwork = "
		  "lse.neko.networks.comm.UDPNetwork\n",
		  "network.udp.delay = exponential(20ms)", 4 },
		{ GOOD "stat.network.index = 1\n", "from 0 to 0", 7 },
		{ GOOD "simulation = perhaps\n", "neither true nor false", 7 },
		{ GOOD "network.n.model = bus\n", "NEKO_NETWORKS", 7 },
	};

	is_reported(bad, ARRAY_LEN(bad));
}

TEST(configuration_error_has_a_line_and_a_remedy)
{
	static const struct wrong bad[] = {
		{ "network = n\n", "write process.num = 2", 0 },
		{ "process.num = 0\n", "from 1 to", 1 },
		{ "process.num = 2\nprocess.1.initializer = heartbeat\n",
		  "write process.2.initializer", 0 },
		{ "process.num = 2\nprocess.initializer = nfds\n", "did you mean nfd-s", 2 },
		{ "process.num = 2\nprocess.initializer = none\nprocess.3.crash = 1s\n",
		  "processes are 1..2", 3 },
		{ "process.num = 2\nprocess.initializer = none\nprocess.2.crash = 2s..1s\n",
		  "30s..31s", 3 },
		{ "process.num = 1\nprocess.initializer = none\n", "write network = lan", 0 },
		{ "process.num = 1\nprocess.initializer = none\nnetwork = a,\nsimulation.until = 1s\n",
		  "delay; write", 3 },
		{ "process.num = 1\nprocess.initializer = none\n\nnetwork = a\nnetwork.a.delay = "
		  "constant(-1ms)\n",
		  "before it is sent", 5 },
		{ "process.num = 1\nprocess.initializer = none\nnetwork = a\nnetwork.a.delay = "
		  "constant(20)\n",
		  "'20' is not a time; write it as 20ms", 4 },
		{ GOOD "real.silence = 10\n", "'10' is not a time", 7 },
		{ "process.num = 1\n\xff\xfe\n", "this line is not UTF-8 text", 2 },
		{ "process.num = 1\nprocess.initializer = none\nnetwork = a, a\nnetwork.a.delay = "
		  "constant(1ms)\n",
		  "listed twice", 3 },
		{ "process.num = 1\nprocess.initializer = none\nnetwork = a\nnetwork.a.delay = "
		  "constant(1ms)\n"
		  "network.a.loss = 1.5\n",
		  "not a number from 0 to 1", 5 },
		{ "process.num = 1\nprocess.initializer = none\nnetwork = a\nnetwork.a.delay = "
		  "constant(1ms)\n",
		  "would never end", 0 },
		{ GOOD "network.m.loss = 0.1\n", "did you mean network.n.loss", 7 },
		{ GOOD "network.n.loss = 0.95\nnetwork.n.resend = 200ms\n",
		  "at most 0.9 of repeated messages may be lost", 8 },
		{ GOOD "network.n.resend = 3m\n", "network.n.resend", 7 },
		{ GOOD "fd.dleta = 1s\n", "did you mean fd.", 7 },
		{ GOOD "fd.threshold = 3\n", "remove the line", 7 },
		{ GOOD "fd.eta = -1s\n", "a time before 0", 7 },
		{ GOOD "fd.monitored = 2\n", "would monitor itself; write fd.monitored = 1", 7 },
		{ GOOD "network.n.medium = ethernet\n",
		  "the medium of a shared line determines its delay", 5 },
		{ GOOD "fd.monitored = 3\n", "from 1 to 2", 7 },
		{ GOOD "fd.network = 2\n", "from 1 to 1", 7 },
		{ "process.num = 1\nprocess.initializer = none\nnetwork = a\nnetwork.a.delay = "
		  "file:/none/such\n",
		  "network.a.delay: /none/such: ", 4 },
		{ GOOD "network.n.replay = resampled\n", "this run does not use", 7 },
		{ "process.num = 1\nprocess.initializer = none\nnetwork = ,\n",
		  "write network = lan", 3 },
		{ GOOD "network.n.partition = 1s..2s: 1 | 7\n", "not a process of 1..2", 7 },
		{ GOOD "stat.stop = ci(2) < 5%\n", "stat.stop", 7 },
		{ GOOD "simulation.stack = 4096\n", "from 16384 to 1073741824", 7 },
		{ "process.num = 1\nprocess.initializer = heartbeat\nnetwork = a\nnetwork.a.delay "
		  "= constant(1ms)\n"
		  "simulation.until = 1s\n",
		  "raise process.num", 0 },
	};

	is_reported(bad, ARRAY_LEN(bad));
}

TEST(a_transport_that_cannot_be_is_reported_in_simulations_too)
{
	static const struct wrong bad[] = {
		{ GOOD "network.n.transport = ip\n", "udp, tcp or multicast", 7 },
		{ GOOD "network.n.group = 10.0.0.1\n", "not a multicast group; write", 7 },
		{ GOOD "network.n.group = 224.0.0.1\n", "such as 239.255.72.1", 7 },
		{ GOOD "network.n.group = a.b\n", "such as 239.255.72.1", 7 },
		{ GOOD "network.n.port = 0\n", "from 1 to 65535", 7 },
		{ "process.num = 1\nprocess.initializer = none\nnetwork = a, b\nnetwork.a.delay = "
		  "constant(1ms)\nnetwork.b.delay = constant(1ms)\n"
		  "network.a.transport = multicast\nnetwork.b.group = 239.255.72.1\n"
		  "network.b.transport = multicast\n",
		  "networks a and b have the same group and port; choose another network.b.group",
		  8 },
	};

	is_reported(bad, ARRAY_LEN(bad));
}

TEST(runs_are_equal_for_one_seed_and_differ_for_another)
{
	struct run_counts one, two, other;
	struct err e = { 0 };

	ck_assert_msg(run_text(GOOD "simulation.runs = 3\n", &one, &e) == 0, "%s", e.text);
	ck_assert_int_eq(run_text(GOOD "simulation.runs = 3\n", &two, &e), 0);
	ck_assert_int_eq(run_text(GOOD "simulation.runs = 3\nsimulation.seed = 1\n", &other, &e),
			 0);
	ck_assert_uint_eq(one.hash, two.hash);
	ck_assert_uint_ne(one.hash, other.hash);
	ck_assert(one.runs == 3 && one.sent == 300 && one.stuck == 0 && !one.is_stopped &&
		  !one.is_cut);
}

/* The seed of the last of n runs. */
static uint64_t seed_of(unsigned seed, unsigned n)
{
	struct run_counts f;
	struct err e = { 0 };
	char text[512];

	snprintf(text, sizeof(text), GOOD "simulation.seed = %u\nsimulation.runs = %u\n", seed, n);
	ck_assert_msg(run_text(text, &f, &e) == 0, "%s", e.text);
	return f.seed_of_last;
}

TEST(runs_of_two_seeds_have_no_seed_in_common)
{
	uint64_t seed[3][20];

	for (unsigned s = 0; s < 3; s++)
		for (unsigned n = 0; n < 20; n++)
			seed[s][n] = seed_of(s + 1, n + 1);
	for (unsigned i = 0; i < 60; i++)
		for (unsigned j = 0; j < i; j++)
			ck_assert_uint_ne(seed[i / 20][i % 20], seed[j / 20][j % 20]);
}

/* A network without losses: no mistake ever occurs. */
TEST(a_run_that_misses_its_rule_ends_at_its_deadline)
{
	static const char text[] =
		"process.num = 2\nprocess.1.initializer = heartbeat\nprocess.2.initializer = "
		"nfd-s\n"
		"network = n\nnetwork.n.delay = constant(1ms)\nstat.stop = n >= 10\n";
	struct run_options w = { .deadline = 1 }; /* over since long: it ends before it begins */
	struct setup *s = NULL;
	struct run *r = NULL;
	struct run_counts f;
	struct err e = { 0 };

	ck_assert_int_eq(setup_parse(text, sizeof(text) - 1, &s, &e), 0);
	ck_assert_int_eq(run_new(s, &r, &e), 0);
	ck_assert_int_eq(run_simulate(r, &w, &f, &e), 0);
	ck_assert(f.is_cut && !f.is_stopped);
	run_free(r);
	setup_free(s);
}

struct interrupting {
	volatile sig_atomic_t flag;
	unsigned left; /* events until then */
};

static void count_down(void *arg, const struct neko_event *v)
{
	struct interrupting *i = arg;

	i->flag = i->left == 0 || --i->left == 0;
}

/* Each run has a mistake for each heartbeat. Returns how many events there were. */
static unsigned interrupt_after(unsigned events, struct run_counts *out)
{
	static const char text[] =
		"process.num = 2\nprocess.1.initializer = heartbeat\nprocess.2.initializer = nfd-s\n"
		"fd.delta = 0s\nnetwork = n\nnetwork.n.delay = constant(1ms)\n"
		"simulation.until = 100s\nsimulation.runs = 5\n";
	struct interrupting i = { .flag = !events, .left = events };
	struct run_options w = { .interrupt = &i.flag, .on_event = count_down, .arg = &i };
	struct setup *s = NULL;
	struct run *r = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(setup_parse(text, sizeof(text) - 1, &s, &e), 0);
	ck_assert_int_eq(run_new(s, &r, &e), 0);
	ck_assert_msg(run_simulate(r, &w, out, &e) == 0, "%s", e.text);
	run_free(r);
	setup_free(s);
	return events - i.left;
}

TEST(an_interrupted_experiment_counts_its_complete_runs)
{
	struct run_counts all, some, none;
	unsigned each = interrupt_after(UINT_MAX, &all) / 5;

	interrupt_after(0, &none);
	interrupt_after(2 * each + each / 2, &some);
	ck_assert_uint_gt(each, 10);
	ck_assert(!all.is_interrupted && !all.is_cut);
	ck_assert_uint_eq(all.whole_runs, 5);
	ck_assert(none.is_interrupted && none.is_cut);
	ck_assert_uint_eq(none.whole_runs, 0);
	ck_assert_uint_eq(none.runs_requested, 5);
	ck_assert(some.is_interrupted);
	ck_assert_uint_ge(some.whole_runs, 2);
	ck_assert_uint_lt(some.whole_runs, 5);
	ck_assert_uint_gt(some.delivered, 0);
}

/* A million steps of eleven days are more than a time of 64 bits has. */
TEST(a_run_without_an_end_ends_where_times_do)
{
	static const char text[] =
		"process.num = 2\nprocess.1.initializer = heartbeat\nprocess.2.initializer = "
		"nfd-s\n"
		"network = n\nnetwork.n.delay = constant(1ms)\nfd.eta = 11d\nfd.delta = 1s\n"
		"stat.stop = n >= 10\n";
	struct run_counts f;
	struct err e = { 0 };

	ck_assert_msg(run_text(text, &f, &e) == 0, "%s", e.text);
	ck_assert(!f.is_stopped && !f.is_cut && f.stuck == 0);
	ck_assert_uint_eq(f.sent, NEKO_TIME_MAX / (11 * 86400 * NSEC_PER_SEC));
	ck_assert_uint_eq(f.delivered, f.sent);
}

TEST(without_memory_a_run_reports_that)
{
	ALLOC_SWEEP (k) {
		struct run_counts f;
		struct err e = { 0 };
		int rc = run_text(
			"process.num = 3\nprocess.initializer = adaptive\nprocess.1.initializer = "
			"heartbeat\n"
			"process.2.crash = 1s\nnetwork = n\nnetwork.n.delay = constant(1ms)\n"
			"network.n.fifo = true\nnetwork.n.rate = 1e6\nnetwork.n.partition = "
			"1s..2s: 1 | 2\n"
			"simulation.until = 3s\nfd.window = 5\n",
			&f, &e);

		alloc_sweep_pause();
		ck_assert_msg(!rc || rc == -ERR_NOMEM, "%s", e.text);
	}
}

static size_t lines_of(const char *path)
{
	struct buf b = BUF_INIT(1 << 20);
	size_t n = 0;

	ck_assert_int_eq(file_read(path, 1 << 20, 0, &b, NULL), 0);
	for (size_t i = 0; i < b.n; i++)
		n += b.p[i] == '\n';
	buf_done(&b);
	return n;
}

TEST(values_are_lines_of_files_and_the_first_are_dropped)
{
	static const char *const names[] = { "T_M", "T_MR", "P_A", "T_D", "delay" };
	struct run_counts f;
	struct err e = { 0 };
	char dir[] = "/tmp/neko-XXXXXX", text[512], path[64];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(text, sizeof(text), GOOD "stat.drop = 10\nstat.files = %s/x.\n", dir);
	ck_assert_msg(run_text(text, &f, &e) == 0, "%s", e.text);
	snprintf(path, sizeof(path), "%s/x.delay", dir);
	ck_assert_uint_eq(lines_of(path), f.delivered - 10);
	ck_assert_int_eq(run_text(text, &f, &e), -ERR_EXISTS); /* no file is overwritten */
	ck_assert_uint_eq(e.line, 8);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/x.%s", dir, names[i]);
		ck_assert_int_eq(unlink(path), 0);
	}
	ck_assert_int_eq(rmdir(dir), 0);
}

SUITE("run")
