/* SPDX-License-Identifier: Apache-2.0 */
/* Predicates of events: accepted events, and invalid predicates. */
#include "common/base/array.h"
#include "common/route/predicate.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/common/route/world.h"

#include <math.h>
#include <string.h>

#define EVENT "thread_has_started_lib_call([t_1_000001],\"MPI_Send\"):"

static struct omis_request *r;
static struct predicates *f;

static void open_predicates(const char *actions)
{
	char text[300];

	snprintf(text, sizeof(text), EVENT "%s", actions);
	r = world_request(text);
	ck_assert_int_eq(predicates_new(r, &f, NULL), 0);
}

static void close_predicates(void)
{
	predicates_free(f);
	omis_request_free(r);
}

static struct omis_value number(int64_t i)
{
	return (struct omis_value){ .kind = OMIS_INT, .i = i };
}

static struct omis_value real(double d)
{
	return (struct omis_value){ .kind = OMIS_FLOAT, .f = d };
}

static struct omis_value text_of(enum omis_kind kind, const char *s)
{
	struct omis_value v = { .kind = kind };

	v.s.p = s;
	v.s.n = strlen(s);
	return v;
}

/* One event with $par1 and $par2 at a time. */
static bool passes_at(struct omis_value one, struct omis_value two, nsec_t now)
{
	const struct omis_ecp e[] = { { "par1", one }, { "par2", two } };

	return predicates_pass(f, &(struct omis_ecps){ e, 2 }, now);
}

static bool passes(struct omis_value one, struct omis_value two)
{
	return passes_at(one, two, 0);
}

/* "==" "!=" ... as letters for the operators that hold. */
static void holds(struct omis_value a, struct omis_value b, const char *want)
{
	static const char *const ops[] = { "==", "!=", "<", "<=", ">", ">=" };
	char actions[100], got[7] = "";
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		snprintf(actions, sizeof(actions), "omig_if($par1,\"%s\",$par2) print([1])",
			 ops[i]);
		open_predicates(actions);
		if (passes(a, b))
			got[n++] = "enlLgG"[i];
		close_predicates();
	}
	ck_assert_str_eq(got, want);
}

TEST(numbers_compare_by_value)
{
	holds(number(5), number(5), "eLG");
	holds(number(4), number(5), "nlL");
	holds(number(6), number(5), "ngG");
	holds(number(5), real(5.0), "eLG");
	holds(real(-0.5), number(0), "nlL");
	/* Whole numbers stay whole where a double would merge them. */
	holds(number((INT64_C(1) << 53) + 1), number(INT64_C(1) << 53), "ngG");
	holds(number(INT64_MIN), number(INT64_MAX), "nlL");
	holds(real(NAN), number(5), "n");
	holds(real(NAN), real(NAN), "n");
	holds(real(INFINITY), number(INT64_MAX), "ngG");
}

TEST(texts_compare_by_their_bytes)
{
	holds(text_of(OMIS_STRING, "abc"), text_of(OMIS_STRING, "abc"), "eLG");
	holds(text_of(OMIS_STRING, "abc"), text_of(OMIS_STRING, "abd"), "nlL");
	holds(text_of(OMIS_STRING, "abc"), text_of(OMIS_STRING, "ab"), "ngG");
	holds(text_of(OMIS_STRING, ""), text_of(OMIS_STRING, "a"), "nlL");
	holds(text_of(OMIS_TOKEN, "p_1_00000a"), text_of(OMIS_TOKEN, "p_1_00000a"), "eLG");
	holds(text_of(OMIS_TOKEN, "p_1_00000a"), text_of(OMIS_STRING, "p_1_00000a"), "eLG");
}

TEST(unordered_kinds_compare_as_different)
{
	holds(number(5), text_of(OMIS_STRING, "5"), "n");
	holds((struct omis_value){ .kind = OMIS_LIST }, number(5), "n");
	holds((struct omis_value){ .kind = OMIS_LIST }, (struct omis_value){ .kind = OMIS_LIST },
	      "n");
}

TEST(a_parameter_without_a_value_lets_nothing_pass)
{
	open_predicates("omig_if($par7,\"!=\",1) print([1])");
	ck_assert(!passes(number(1), number(2)));
	close_predicates();
}

TEST(every_nth_is_the_nth_and_the_2nth)
{
	char got[13] = "";

	open_predicates("omig_every(4) print([1])");
	for (int i = 0; i < 12; i++)
		got[i] = passes(number(0), number(0)) ? '+' : '-';
	ck_assert_str_eq(got, "---+---+---+");
	close_predicates();
	open_predicates("omig_every(1) print([1])");
	ck_assert(passes(number(0), number(0)));
	close_predicates();
}

TEST(later_predicate_counts_only_events_that_passed)
{
	char got[13] = "";

	open_predicates("omig_if($par1,\">\",5) omig_every(2) print([1])");
	for (int i = 0; i < 12; i++)
		got[i] = passes(number(i), number(0)) ? '+' : '-';
	ck_assert_str_eq(got, "-------+-+-+");
	close_predicates();
}

static unsigned passed(unsigned events, nsec_t from, nsec_t apart)
{
	unsigned n = 0;

	for (unsigned i = 0; i < events; i++)
		n += passes_at(number(0), number(0), from + (nsec_t)i * apart);
	return n;
}

TEST(at_most_limits_events_per_second)
{
	const nsec_t ms = NSEC_PER_MSEC, from = 7 * NSEC_PER_SEC + 300 * ms;

	open_predicates("omig_at_most(3) print([1])");
	ck_assert_uint_eq(passed(100, from, ms), 3);
	/* Its second began with the first that passed. */
	ck_assert_uint_eq(passed(1, from + 999 * ms, ms), 0);
	ck_assert_uint_eq(passed(100, from + 1000 * ms, ms), 3);
	/* Ten quiet seconds do not permit a burst. */
	ck_assert_uint_eq(passed(100, from + 11000 * ms, ms), 3);
	close_predicates();
	open_predicates("omig_at_most(2.9) print([1])");
	ck_assert_uint_eq(passed(100, from, ms), 2);
	close_predicates();
}

TEST(less_than_one_a_second_is_one_in_a_longer_time)
{
	open_predicates("omig_at_most(0.1) print([1])");
	ck_assert_uint_eq(passed(10, 0, NSEC_PER_SEC), 1);
	ck_assert_uint_eq(passed(10, 10 * NSEC_PER_SEC, NSEC_PER_SEC), 1);
	close_predicates();
}

TEST(only_those_in_front_are_leading)
{
	open_predicates("omig_every(2) omig_if(1,\"<\",2) print([1]) omig_every(3) print([2])");
	ck_assert_uint_eq(predicates_leading(f), 2);
	ck_assert(!passes(number(0), number(0)));
	ck_assert(passes(number(0), number(0)));
	ck_assert(!predicate_passes(f, 3, &r->action[3], 0));
	ck_assert(!predicate_passes(f, 3, &r->action[3], 0));
	ck_assert(predicate_passes(f, 3, &r->action[3], 0));
	ck_assert(!predicate_passes(f, 99, &r->action[3], 0));
	close_predicates();
	open_predicates("print([1]) ; print([2])");
	ck_assert_ptr_null(f);
	ck_assert_uint_eq(predicates_leading(f), 0);
	ck_assert(passes(number(0), number(0)));
	close_predicates();
}

TEST(armed_again_it_continues_counting)
{
	struct predicates *old;

	open_predicates("omig_every(3) print([1])");
	ck_assert_uint_eq(passed(2, 0, 0), 0);
	old = f;
	ck_assert_int_eq(predicates_new(r, &f, NULL), 0);
	predicates_continue(f, old);
	predicates_free(old);
	ck_assert_uint_eq(passed(1, 0, 0), 1);
	predicates_continue(f, NULL);
	predicates_continue(NULL, f);
	close_predicates();
}

TEST(a_malformed_predicate_is_refused_with_a_reason)
{
	static const char *const bad[] = {
		"omig_if(1,\"=\",2)",  "omig_if(1,\"\",2)",
		"omig_if(1,$par1,2)",  "omig_every(0)",
		"omig_every(-3)",      "omig_every($par1)",
		"omig_at_most(0)",     "omig_at_most(-1.5)",
		"omig_at_most(1e9)",   "print([1]) omig_every(0)",
		"omig_at_most($par1)", "omig_at_most(nan)",
	};
	char text[200];
	struct err e;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		snprintf(text, sizeof(text), EVENT "%s print([1])", bad[i]);
		r = world_request(text);
		f = NULL;
		e = (struct err){ 0 };
		ck_assert_msg(predicates_new(r, &f, &e) == -ERR_INVALID, "%s", bad[i]);
		ck_assert_uint_gt(strlen(e.text), 20);
		ck_assert_ptr_null(f);
		omis_request_free(r);
	}
}

TEST(a_predicate_needs_an_event)
{
	struct omis_request *q = NULL;
	struct omis_diag d = { 0 };
	const char text[] = ":omig_every(2) version()";

	ck_assert_int_eq(omis_parse(text, sizeof(text) - 1, &q, NULL), 0);
	ck_assert_int_eq(omis_check(q, &d), -ERR_INVALID);
	ck_assert_uint_eq(d.status, STATUS_TYPE_MISMATCH);
	omis_request_free(q);
}

TEST(one_test_of_a_parameter_is_simple)
{
	static const struct {
		const char *actions;
		bool simple;
	} cell[] = {
		{ "omig_if($par8,\">\",65536)", true },
		{ "omig_if($par8,\">=\",0.5)", true },
		{ "omig_if($par0,\"==\",0)", false },
		{ "omig_if($time,\">\",5)", false },
		{ "omig_if(5,\"<\",$par8)", false },
		{ "omig_if($par8,\"==\",\"5\")", false },
		{ "omig_if($par8,\">\",5) omig_every(2)", false },
		{ "omig_every(2)", false },
		{ "print([1])", false },
	};
	struct predicate_test t = { 0 };
	char text[200];

	for (size_t i = 0; i < ARRAY_LEN(cell); i++) {
		snprintf(text, sizeof(text), "%s print([1])", cell[i].actions);
		open_predicates(text);
		ck_assert_msg(predicates_simple(f, &t) == cell[i].simple, "%s", text);
		close_predicates();
	}
	open_predicates("omig_if($par8,\">\",65536) print([1])");
	ck_assert(predicates_simple(f, &t));
	ck_assert_uint_eq(t.par, 8);
	ck_assert_int_eq(t.op, PREDICATE_GT);
	ck_assert_double_eq(t.value, 65536);
	close_predicates();
}

TEST(without_memory_there_are_no_predicates)
{
	struct omis_request *q = world_request(EVENT "omig_every(2) print([1])");
	int rc;

	ALLOC_SWEEP (k) {
		struct predicates *got = NULL;

		rc = predicates_new(q, &got, NULL);
		ck_assert(!rc ? got != NULL : rc == -ERR_NOMEM && !got);
		predicates_free(got);
	}
	omis_request_free(q);
}

SUITE("route predicates")
