/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "neko/core/setup.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

static const char text[] = "# a run\n"
			   "process.num = 10 # all of them\n"
			   "\n"
			   "process.2-4.crash = 30s\n"
			   "  fd.eta=1.5s\n"
			   "network.n.loss = 0.25\r\n"
			   "fifo = true";

static struct setup *parsed(const char *what)
{
	struct setup *s = NULL;
	struct err e = { 0 };

	ck_assert_msg(setup_parse(what, strlen(what), &s, &e) == 0, "%u: %s", e.line, e.text);
	return s;
}

TEST(values_come_as_what_they_are)
{
	struct setup *s = parsed(text);
	double loss = 0, other = 7;
	struct err e = { 0 };
	bool fifo = false;
	uint64_t m = 1;
	nsec_t eta = 0;

	ck_assert_int_eq(setup_u64(s, "process.num", 1, 100, &m, &e), 0);
	ck_assert_int_eq(setup_nsec(s, "fd.eta", 0, NSEC_PER_SEC * 9, &eta, &e), 0);
	ck_assert_int_eq(setup_double(s, "network.n.loss", 0, 1, &loss, &e), 0);
	ck_assert_int_eq(setup_double(s, "network.n.other", 0, 1, &other, &e), 0);
	ck_assert_int_eq(setup_bool(s, "fifo", &fifo, &e), 0);
	ck_assert(m == 10 && eta == 1500000000 && loss == 0.25 && other == 7 && fifo);
	ck_assert_ptr_null(setup_of_process(s, 1, "crash"));
	ck_assert_int_eq(setup_finish(s, &e), -ERR_NOTFOUND);
	ck_assert_str_eq(setup_of_process(s, 4, "crash"), "30s");
	ck_assert_ptr_null(setup_of_process(s, 5, "crash"));
	ck_assert_int_eq(setup_check_processes(s, 4, &e), 0);
	ck_assert_int_eq(setup_check_processes(s, 3, &e), -ERR_INVALID);
	ck_assert_uint_eq(e.line, 4);
	ck_assert_int_eq(setup_finish(s, &e), 0);
	setup_free(s);
}

TEST(an_invalid_configuration_is_refused_with_its_line)
{
	static const struct {
		const char *text, *says;
		unsigned line;
	} bad[] = {
		{ "a = 1\nb", "write: key = value", 2 },
		{ "a = 1\n\na = 2", "in line 1 already", 3 },
		{ "a =", "has no value", 1 },
		{ "= 1", "not a key", 1 },
		{ "a b = 1", "not a key", 1 },
		{ "a\x01 = 1", "not a key", 1 },
		{ "\xff = 1", "not UTF-8 text", 1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct setup *s = NULL;
		struct err e = { 0 };

		ck_assert_int_lt(setup_parse(bad[i].text, strlen(bad[i].text), &s, &e), 0);
		ck_assert_ptr_null(s);
		ck_assert_msg(strstr(e.text, bad[i].says), "row %zu says: %s", i, e.text);
		ck_assert_uint_eq(e.line, bad[i].line);
	}
}

TEST(values_that_are_none_are_refused_with_line_and_remedy)
{
	struct setup *s = parsed("# one\nt = -5ms\nu = 3 apples\nn = 1e9\nb = maybe\n");
	struct err e = { 0 };
	bool b = false;
	uint64_t n = 4;
	double d = 3;
	nsec_t t = 2;

	ck_assert_int_eq(setup_nsec(s, "t", 0, 100, &t, &e), -ERR_INVALID);
	ck_assert_str_eq(e.text, "t: '-5ms': a time before 0; write one such as 20ms, 1.5s, 10m");
	ck_assert_uint_eq(e.line, 2);
	ck_assert_int_eq(setup_nsec(s, "u", 0, 100, &t, &e), -ERR_INVALID);
	ck_assert_uint_eq(e.line, 3);
	ck_assert_int_eq(setup_double(s, "n", 0, 1, &d, &e), -ERR_INVALID);
	ck_assert_str_eq(e.text, "n: '1e9' is not a number from 0 to 1");
	ck_assert_int_eq(setup_u64(s, "n", 0, 1, &n, &e), -ERR_INVALID);
	ck_assert_int_eq(setup_bool(s, "b", &b, &e), -ERR_INVALID);
	ck_assert(t == 2 && d == 3 && n == 4 && !b);
	setup_free(s);
}

TEST(an_unknown_key_is_reported_with_the_nearest_one)
{
	struct setup *s = parsed("fd.eta = 1s\n\nfd.deltaa = 2s\n");
	struct err e = { 0 };

	setup_get(s, "fd.eta");
	setup_get(s, "fd.delta");
	ck_assert_int_eq(setup_finish(s, &e), -ERR_NOTFOUND);
	ck_assert_str_eq(e.text, "this run does not use 'fd.deltaa'; did you mean fd.delta?");
	ck_assert_uint_eq(e.line, 3);
	ck_assert_int_eq(setup_set(s, "fd.eta", "3s", &e), 0);
	ck_assert_str_eq(setup_get(s, "fd.eta"), "3s");
	setup_free(s);
}

TEST(without_memory_there_is_no_setup)
{
	ALLOC_SWEEP (k) {
		struct setup *s = NULL;
		struct err e = { 0 };
		int rc = setup_parse(text, sizeof(text) - 1, &s, &e);

		if (!rc) {
			setup_get(s, "fd.eta");
			rc = setup_set(s, "fd.eta", "1", &e);
		}
		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		setup_free(s);
	}
}

SUITE("setup")
