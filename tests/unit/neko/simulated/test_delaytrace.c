/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/file.h"
#include "neko/simulated/delaytrace.h"
#include "neko/simulated/simnet.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>
#include <unistd.h>

#define MS INT64_C(1000000)

#define GOOD                                \
	"# omig neko delays 1\n"            \
	"# network from to sent delay\n"    \
	"lan 1 2 0.000000000 0.010000000\n" \
	"wan 1 2 0.000000000 7\n"           \
	"lan 2 1 0.500000000 0.001\n"       \
	"\n"                                \
	"lan 1 2 1.000000000 lost\n"        \
	"lan 1 2 2.000000000 0.000000001"

static struct delaytrace *read_text(const char *text)
{
	struct delaytrace *t = NULL;
	struct err e = { 0 };

	ck_assert_msg(delaytrace_parse(text, strlen(text), "lan", &t, &e) == 0, "%s", e.text);
	return t;
}

TEST(a_link_has_its_delays_in_order_and_another_one_those_of_all)
{
	struct delaytrace *t = read_text(GOOD);
	uint32_t a = delaytrace_link(t, 1, 2), b = delaytrace_link(t, 2, 1),
		 all = delaytrace_link(t, 7, 1);

	ck_assert_uint_eq(delaytrace_links(t), 2);
	ck_assert_uint_eq(delaytrace_count(t, a), 3);
	ck_assert_uint_eq(delaytrace_count(t, b), 1);
	ck_assert_uint_eq(all, 2);
	ck_assert_uint_eq(delaytrace_count(t, all), 4);
	ck_assert_int_eq(delaytrace_get(t, a, 0), 10 * MS);
	ck_assert_int_eq(delaytrace_get(t, a, 1), DELAYTRACE_LOST);
	ck_assert_int_eq(delaytrace_get(t, a, 2), 1);
	ck_assert_int_eq(delaytrace_get(t, b, 0), MS);
	ck_assert_int_eq(delaytrace_get(t, all, 1), MS);
	delaytrace_free(t);
}

TEST(an_invalid_trace_is_reported_with_its_line_and_a_remedy)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "the name that it had there" },
		{ "wan 1 2 0 1\n", "the name that it had there" },
		{ "lan 1 2 0\n", "1: a line has five words: lan 1 2" },
		{ "# x\nlan 1 2 0 1 2\n", "2: a line has five words" },
		{ "lan 0 2 0 1\n", "1: processes are numbers" },
		{ "lan 1 1000001 0 1\n", "1: processes are numbers" },
		{ "lan 1 2 0 1\nlan 1 2 x 1\n", "2: the time of sending" },
		{ "lan 1 2 0 -0.1\n", "1: a negative delay" },
		{ "lan 1 2 0 nan\n", "1: the delay is in seconds" },
		{ "lan 1 2 0 1e10\n", "1: the delay is in seconds" },
		{ "lan 1 2 0 Lost\n", "1: the delay is in seconds" },
		{ "lan 1 2 0 \xff\n", "1: a line has five words" },
	};
	char long_line[400];
	struct delaytrace *t = NULL;
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		ck_assert_int_lt(delaytrace_parse(bad[i].text, strlen(bad[i].text), "lan", &t, &e),
				 0);
		ck_assert_msg(strstr(e.text, bad[i].says), "row %zu says: %s", i, e.text);
	}
	memset(long_line, 'x', sizeof(long_line));
	ck_assert_int_eq(delaytrace_parse(long_line, sizeof(long_line), "lan", &t, &e), -ERR_LIMIT);
	ck_assert_int_eq(delaytrace_parse("lan 1 2 0 1\0\n", 13, "lan", &t, &e), -ERR_PARSE);
	ck_assert_ptr_null(t);
	ck_assert_int_lt(delaytrace_read("/no/such/file", "lan", &t, &e), 0);
	ck_assert_msg(strstr(e.text, "/no/such/file"), "%s", e.text);
}

TEST(a_network_replays_its_trace_in_order_and_begins_again)
{
	struct delaytrace *t = read_text(GOOD);
	struct simnet_conf c = { .name = "lan", .trace = t };
	static const int arrives[] = { 1, 0, 1, 1, 0, 1 };
	nsec_t at[SIMNET_COPIES_MAX], back[SIMNET_COPIES_MAX];
	struct simnet *n = NULL;

	ck_assert_int_eq(simnet_new(&c, 9, 1, &n, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(arrives); i++) {
		ck_assert_int_eq(simnet_pass(n, 5 * MS, (struct simnet_frame){ 1, 2, 8 }, at),
				 arrives[i]);
		ck_assert_int_eq(simnet_pass(n, 0, (struct simnet_frame){ 2, 1, 8 }, back), 1);
		ck_assert_int_eq(back[0], MS);
		if (i % 3 == 0)
			ck_assert_int_eq(at[0], 15 * MS);
	}
	ck_assert_uint_eq(simnet_counts(n)->lost, 2);
	simnet_free(n);
	delaytrace_free(t);
}

TEST(resampled_each_delay_comes_as_often_as_the_trace_has_it)
{
	struct delaytrace *t = read_text(GOOD);
	struct simnet_conf c = { .name = "lan", .trace = t, .is_resampled = true };
	nsec_t at[SIMNET_COPIES_MAX];
	unsigned lost = 0, slow = 0;
	struct simnet *n = NULL;

	ck_assert_int_eq(simnet_new(&c, 9, 1, &n, NULL), 0);
	for (unsigned i = 0; i < 30000; i++)
		if (simnet_pass(n, 0, (struct simnet_frame){ 1, 2, 8 }, at) == 0)
			lost++;
		else
			slow += at[0] == 10 * MS;
	/* Six deviations of a third of them, for the fixed seed. */
	ck_assert(lost > 9510 && lost < 10490 && slow > 9510 && slow < 10490);
	simnet_free(n);
	delaytrace_free(t);
}

TEST(without_memory_there_is_no_trace)
{
	ALLOC_SWEEP (k) {
		struct delaytrace *t = NULL;
		int rc = delaytrace_parse(GOOD, strlen(GOOD), "lan", &t, NULL);

		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		ck_assert((!rc) == (t != NULL));
		delaytrace_free(t);
	}
}

SUITE("delaytrace")
