/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/flow/graph/op.h"
#include "tests/suite.h"

static struct flow_token value(double v, double error)
{
	return flow_token_make(5, v, error, 1000);
}

static struct flow_token eval(enum flow_op op, struct flow_token a, struct flow_token b,
			      struct flow_token c)
{
	struct flow_token in[3] = { a, b, c }, out;

	flow_op_eval(op, in, &out);
	return out;
}

static double of2(enum flow_op op, double a, double b)
{
	return eval(op, value(a, 0), value(b, 0), value(0, 0)).value;
}

TEST(operations_compute_what_their_names_say)
{
	ck_assert(of2(FLOW_OP_ADD, 1, 2) == 3 && of2(FLOW_OP_SUB, 1, 2) == -1);
	ck_assert(of2(FLOW_OP_MUL, 3, 2) == 6 && of2(FLOW_OP_DIV, 3, 2) == 1.5);
	ck_assert(of2(FLOW_OP_MOD, 7, 4) == 3 && of2(FLOW_OP_MOD, -7, 4) == -3);
	ck_assert(of2(FLOW_OP_EQ, 1, 1) == 1 && of2(FLOW_OP_NE, 1, 1) == 0);
	ck_assert(of2(FLOW_OP_LT, 1, 2) == 1 && of2(FLOW_OP_LE, 2, 2) == 1);
	ck_assert(of2(FLOW_OP_GT, 1, 2) == 0 && of2(FLOW_OP_GE, 2, 2) == 1);
	ck_assert(of2(FLOW_OP_AND, 2, 0) == 0 && of2(FLOW_OP_AND, 2, -1) == 1);
	ck_assert(of2(FLOW_OP_OR, 0, 0) == 0 && of2(FLOW_OP_OR, 0, 5) == 1);
	ck_assert(of2(FLOW_OP_MIN, 1, 2) == 1 && of2(FLOW_OP_MAX, 1, 2) == 2);
	ck_assert(of2(FLOW_OP_POW, 2, 10) == 1024 && of2(FLOW_OP_NEG, 2, 0) == -2);
	ck_assert(of2(FLOW_OP_ABS, -2, 0) == 2 && of2(FLOW_OP_NOT, 2, 0) == 0);
	ck_assert(of2(FLOW_OP_FLOOR, 1.5, 0) == 1 && of2(FLOW_OP_CEIL, 1.5, 0) == 2);
	ck_assert(of2(FLOW_OP_ROUND, 1.5, 0) == 2 && of2(FLOW_OP_SQRT, 9, 0) == 3);
	ck_assert(of2(FLOW_OP_EXP, 0, 0) == 1 && of2(FLOW_OP_LOG, 1, 0) == 0);
	ck_assert(fabs(of2(FLOW_OP_TIME, 9, 0) - 1e-6) < 1e-18);
	ck_assert(eval(FLOW_OP_IF, value(1, 0), value(2, 0), value(3, 0)).value == 2);
	ck_assert(eval(FLOW_OP_IF, value(0, 0), value(2, 0), value(3, 0)).value == 3);
}

static void is_none(struct flow_token t, uint32_t flags)
{
	ck_assert(isnan(t.value) && t.error == 0);
	ck_assert_uint_eq(t.flags, flags);
}

TEST(a_missing_value_has_a_reason)
{
	struct flow_token one = value(1, 0), zero = value(0, 0),
			  missing = flow_token_missing(5, 9, 3);

	is_none(eval(FLOW_OP_DIV, one, zero, one), FLOW_DIV0);
	is_none(eval(FLOW_OP_MOD, one, zero, one), FLOW_DIV0);
	is_none(eval(FLOW_OP_SQRT, value(-1, 0), one, one), FLOW_NAN);
	is_none(eval(FLOW_OP_SUB, value(INFINITY, 0), value(INFINITY, 0), one), FLOW_NAN);
	is_none(eval(FLOW_OP_ADD, one, missing, one), FLOW_MISSING | FLOW_PARTIAL);
	is_none(eval(FLOW_OP_WHERE, one, zero, one), FLOW_EXCLUDED);
	is_none(eval(FLOW_OP_IF, missing, one, one), FLOW_MISSING | FLOW_PARTIAL);
	is_none(eval(FLOW_OP_IF, one, missing, one),
		FLOW_MISSING | FLOW_PARTIAL); /* of the branch that is taken */
	is_none(eval(FLOW_OP_IF, zero, one, missing), FLOW_MISSING | FLOW_PARTIAL);
	is_none(eval(FLOW_OP_AND, one, missing, one), FLOW_MISSING | FLOW_PARTIAL);
	is_none(eval(FLOW_OP_OR, missing, zero, one), FLOW_MISSING | FLOW_PARTIAL);
	is_none(eval(FLOW_OP_NOT, missing, one, one), FLOW_MISSING | FLOW_PARTIAL);
}

TEST(infinite_result_sets_the_nan_flag)
{
	static const struct {
		enum flow_op op;
		double a, b;
	} too_far[] = {
		{ FLOW_OP_MUL, 1e308, 100 },
		{ FLOW_OP_ADD, 1.7e308, 1.7e308 },
		{ FLOW_OP_SUB, -1.7e308, 1.7e308 },
		{ FLOW_OP_DIV, 1e308, 1e-9 },
		{ FLOW_OP_EXP, 1000, 0 },
		{ FLOW_OP_POW, 1e200, 2 },
		{ FLOW_OP_LOG, 0, 0 },
		{ FLOW_OP_NEG, INFINITY, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(too_far); i++) {
		struct flow_token t = eval(too_far[i].op, value(too_far[i].a, 0),
					   value(too_far[i].b, 0), value(0, 0));

		ck_assert_msg(isinf(t.value) && t.flags == FLOW_NAN && t.error >= 0, "%s",
			      flow_op_name(too_far[i].op));
	}
	ck_assert_uint_eq(value(INFINITY, 0).flags, FLOW_NAN);
	ck_assert_double_eq(value(1, NAN).error, INFINITY);
	ck_assert_uint_eq(eval(FLOW_OP_MUL, value(1e308, 0), value(1, 0), value(0, 0)).flags, 0);
}

/* A division guarded by WHERE: a division by zero is excluded, without an error. */
TEST(excluded_token_keeps_no_div0_flag)
{
	struct flow_token zero = value(0, 0), one = value(1, 0), in[2], out;
	struct flow_token by_zero = eval(FLOW_OP_DIV, one, zero, one);
	struct agg a;

	in[0] = eval(FLOW_OP_WHERE, by_zero, eval(FLOW_OP_NE, zero, zero, one), one);
	is_none(in[0], FLOW_EXCLUDED);
	ck_assert_uint_eq(in[0].k, 1);
	is_none(eval(FLOW_OP_WHERE, by_zero, one, one), FLOW_DIV0);
	in[1] = by_zero;
	agg_init(&a, AGG_COVARIANCE, NULL);
	flow_pair_eval(in, &out, &a);
	ck_assert_uint_eq(out.flags, 0);
	ck_assert_uint_eq(out.k, 1);
}

TEST(operands_without_influence_may_be_missing)
{
	struct flow_token missing = flow_token_missing(5, 9, 3), t;

	t = eval(FLOW_OP_OR, missing, value(1, 0), missing);
	ck_assert(t.value == 1 && t.flags == 0 && t.k == 1 && t.n == 1);
	t = eval(FLOW_OP_AND, value(0, 0), missing, missing);
	ck_assert(t.value == 0 && t.flags == 0);
	t = eval(FLOW_OP_IF, value(1, 0), value(2, 0), missing);
	ck_assert(t.value == 2 && t.flags == 0 && t.k == 1 && t.n == 1);
}

TEST(a_result_has_times_coverage_and_flags_of_its_inputs)
{
	struct flow_token a = value(6, 0), b = value(2, 0), t;

	a.time = 2000;
	a.oldest = 10;
	a.k = 3;
	a.n = 4;
	a.flags = FLOW_PARTIAL;
	b.newest = 5000;
	b.flags = FLOW_STALE;
	t = eval(FLOW_OP_DIV, a, b, b);
	ck_assert(t.value == 3);
	ck_assert_int_eq(t.key, 5);
	ck_assert_int_eq(t.time, 1500);
	ck_assert_int_eq(t.oldest, 10);
	ck_assert_int_eq(t.newest, 5000);
	ck_assert_uint_eq(t.k, 3);
	ck_assert_uint_eq(t.n, 4);
	ck_assert_uint_eq(t.flags, FLOW_PARTIAL | FLOW_STALE);
	t = eval(FLOW_OP_SUB, flow_token_constant(1), b, b);
	ck_assert_int_eq(t.key, 5);
	ck_assert_int_eq(t.time, 1000);
	ck_assert_uint_eq(t.n, 1);
}

TEST(an_overlap_makes_a_comparison_uncertain)
{
	ck_assert(eval(FLOW_OP_LT, value(1, 0.4), value(2, 0.5), value(0, 0)).error == 0);
	ck_assert(eval(FLOW_OP_LT, value(1, 0.6), value(2, 0.5), value(0, 0)).error == 1);
	ck_assert(eval(FLOW_OP_EQ, value(1, 0), value(1, 0), value(0, 0)).error == 0);
	ck_assert(eval(FLOW_OP_DIV, value(1, 0), value(0.1, 0.2), value(0, 0)).error == INFINITY);
	ck_assert(eval(FLOW_OP_IF, value(0.1, 0.2), value(5, 0), value(7, 1)).error == 3);
}

/* The truth anywhere within the inputs' bounds: the result is within its own. */
TEST(a_bound_holds_for_all_inputs_within_theirs)
{
	struct rng r;
	uint64_t useful = 0;

	rng_init(&r, suite_seed(31));
	for (int round = 0; round < 200000; round++) {
		enum flow_op op = (enum flow_op)rng_below(&r, FLOW_NOPS);
		struct flow_token in[3], moved[3], was, is;

		for (int k = 0; k < 3; k++) {
			double v = rng_below(&r, 4) ? 8 * rng_double(&r) - 4
						    : floor(8 * rng_double(&r)) - 4;

			in[k] = value(v, rng_below(&r, 3) ? rng_double(&r) / 2 : 0);
			moved[k] = in[k];
			moved[k].value += (2 * rng_double(&r) - 1) * in[k].error;
		}
		flow_op_eval(op, in, &was);
		flow_op_eval(op, moved, &is);
		if (!isfinite(was.value) || isnan(is.value) || op == FLOW_OP_WHERE)
			continue;
		useful += isfinite(was.error);
		ck_assert_msg(fabs(is.value - was.value) <= was.error * (1 + 1e-9) + 1e-9,
			      "%s: %g +- %g became %g", flow_op_name(op), was.value, was.error,
			      is.value);
	}
	ck_assert_uint_gt(useful, 100000);
}

TEST(flags_have_names)
{
	char text[FLOW_FLAGS_TEXT_BYTES];

	ck_assert_str_eq(flow_flags_print(text, 0), "");
	ck_assert_str_eq(flow_flags_print(text, FLOW_PARTIAL | FLOW_LATE), "partial,late");
	ck_assert_str_eq(flow_flags_print(text, FLOW_FLAGS_ALL),
			 "partial,stale,late,none-yet,div0,nan,missing,excluded,lost,ended");
}

SUITE("op")
