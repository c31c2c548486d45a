/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions on virtual times: evaluated, checked, printed. */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/flow/graph/choice.h"
#include "common/flow/graph/graph.h"
#include "tests/suite.h"

#define VT(n)                                    \
	{                                        \
		.kind = CHOICE_VT, .number = (n) \
	}
#define NUMBER(n)                                    \
	{                                            \
		.kind = CHOICE_NUMBER, .number = (n) \
	}
#define OP(o)                                        \
	{                                            \
		.kind = CHOICE_OP, .op = FLOW_OP_##o \
	}
#define WORDS(...)                                                             \
	((struct flow_choice){ (struct choice_word[]){ __VA_ARGS__ },          \
			       sizeof((struct choice_word[]){ __VA_ARGS__ }) / \
				       sizeof(struct choice_word) })

TEST(each_tenth_key_is_chosen)
{
	const struct flow_choice c = WORDS(VT(0), NUMBER(10), OP(MOD), NUMBER(0), OP(EQ));

	ck_assert_int_eq(choice_check(&c, NULL), 0);
	for (int64_t key = -30; key <= 30; key++)
		ck_assert_int_eq(choice_has(&c, key), key % 10 == 0);
}

TEST(choice_that_overflows_chooses_nothing)
{
	const struct flow_choice later = WORDS(VT(1), NUMBER(0), OP(NE)),
				 sum = WORDS(VT(0), NUMBER(INT64_MAX), OP(ADD), OP(NOT), OP(NOT)),
				 minus = WORDS(VT(0), OP(NEG), NUMBER(0), OP(NE)),
				 by_zero = WORDS(VT(0), NUMBER(0), OP(MOD), NUMBER(0), OP(EQ)),
				 by_one = WORDS(VT(0), NUMBER(-1), OP(MOD), NUMBER(0), OP(EQ));

	ck_assert(!choice_has(&later, INT64_MAX) && choice_has(&later, INT64_MAX - 1));
	ck_assert(!choice_has(&sum, 1) && choice_has(&sum, 0));
	ck_assert(!choice_has(&minus, INT64_MIN) && choice_has(&minus, INT64_MIN + 1));
	ck_assert(!choice_has(&by_zero, 0));
	ck_assert(choice_has(&by_one, INT64_MIN) && choice_has(&by_one, 7));
}

/* --- random conditions, evaluated independently */

#define PUT_MAX 200

struct made {
	struct choice_word v[PUT_MAX];
	size_t n;
	int64_t key;
};

static struct rng rng;

static void put(struct made *m, struct choice_word w)
{
	ck_assert_uint_lt(m->n, PUT_MAX);
	m->v[m->n++] = w;
}

/* A number of the key, with no great powers: everything fits. */
static int64_t put_number(struct made *m, unsigned depth)
{
	int64_t a, b, shift = (int64_t)rng_below(&rng, 7) - 3;

	if (!depth || rng_below(&rng, 3) == 0) {
		if (rng_below(&rng, 2)) {
			put(m, (struct choice_word)NUMBER(shift));
			return shift;
		}
		put(m, (struct choice_word)VT(shift));
		return m->key + shift;
	}
	a = put_number(m, depth - 1);
	switch (rng_below(&rng, 4)) {
	case 0:
		put(m, (struct choice_word)OP(NEG));
		return -a;
	case 1:
		put(m, (struct choice_word)NUMBER(5));
		put(m, (struct choice_word)OP(MOD));
		return a - a / 5 * 5;
	case 2:
		b = put_number(m, depth - 1);
		put(m, (struct choice_word)OP(ADD));
		return a + b;
	default:
		b = put_number(m, depth - 1);
		put(m, (struct choice_word)OP(SUB));
		return a - b;
	}
}

static bool compare(struct made *m)
{
	static const enum flow_op ops[] = { FLOW_OP_EQ, FLOW_OP_NE, FLOW_OP_LT,
					    FLOW_OP_LE, FLOW_OP_GT, FLOW_OP_GE };
	int64_t a = put_number(m, 2), b = put_number(m, 2);
	unsigned k = (unsigned)rng_below(&rng, 6);

	put(m, (struct choice_word){ .kind = CHOICE_OP, .op = ops[k] });
	return (bool[]){ a == b, a != b, a<b, a <= b, a> b, a >= b }[k];
}

static bool put_condition(struct made *m, unsigned depth)
{
	bool a, b;

	if (!depth || rng_below(&rng, 3) == 0)
		return compare(m);
	a = put_condition(m, depth - 1);
	if (rng_below(&rng, 3) == 0) {
		put(m, (struct choice_word)OP(NOT));
		return !a;
	}
	b = put_condition(m, depth - 1);
	if (rng_below(&rng, 2)) {
		put(m, (struct choice_word)OP(AND));
		return a && b;
	}
	put(m, (struct choice_word)OP(OR));
	return a || b;
}

TEST(random_conditions_hold_where_their_expressions_do)
{
	unsigned held = 0;

	rng_init(&rng, suite_seed(20261127));
	for (unsigned i = 0; i < 20000; i++) {
		struct made m = { .key = (int64_t)rng_below(&rng, 40) - 20 };
		bool holds = put_condition(&m, 3);
		const struct flow_choice c = { m.v, m.n };

		ck_assert_int_eq(choice_check(&c, NULL), 0);
		ck_assert_msg(choice_has(&c, m.key) == holds, "program %u", i);
		held += holds;
	}
	ck_assert(held > 5000 && held < 15000);
}

/* --- hostile ones */

TEST(malformed_choices_are_refused)
{
	const struct flow_choice bad[] = {
		{ NULL, 0 },
		WORDS(OP(EQ)),
		WORDS(VT(0), OP(EQ)),
		WORDS(VT(0), VT(0)),
		WORDS(VT(0), NUMBER(1), OP(MUL)),
		WORDS(VT(0), NUMBER(1), OP(POW)),
		WORDS(VT(0), { .kind = CHOICE_OP, .op = 4000 }),
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ck_assert_msg(choice_check(&bad[i], NULL) == -ERR_INVALID, "%zu", i);
}

TEST(its_limits_are_exact)
{
	struct choice_word v[CHOICE_WORDS_MAX + 1] = { VT(0) };
	struct flow_choice c = { v, CHOICE_WORDS_MAX };

	for (size_t i = 1; i <= CHOICE_WORDS_MAX; i++)
		v[i] = (struct choice_word)OP(NOT);
	ck_assert_int_eq(choice_check(&c, NULL), 0);
	c.n++;
	ck_assert_int_eq(choice_check(&c, NULL), -ERR_LIMIT);
	for (size_t i = 0; i < CHOICE_DEPTH_MAX; i++)
		v[i] = (struct choice_word)VT(0);
	for (size_t i = CHOICE_DEPTH_MAX; i < 2 * CHOICE_DEPTH_MAX - 1; i++)
		v[i] = (struct choice_word)OP(OR);
	c.n = 2 * CHOICE_DEPTH_MAX - 1;
	ck_assert_int_eq(choice_check(&c, NULL), 0);
	ck_assert(choice_has(&c, 1) && !choice_has(&c, 0));
	v[CHOICE_DEPTH_MAX] = (struct choice_word)VT(0);
	v[c.n] = v[c.n + 1] = (struct choice_word)OP(OR);
	c.n += 2;
	ck_assert_int_eq(choice_check(&c, NULL), -ERR_LIMIT);
}

TEST(a_choice_is_printed_in_the_syntax_of_its_text)
{
	const struct flow_choice c = WORDS(VT(-1), NUMBER(10), OP(MOD), NUMBER(0), OP(EQ), VT(0),
					   NUMBER(7), OP(GT), OP(NOT), OP(AND));
	struct buf b = BUF_INIT(1000);

	choice_print(&c, &b);
	ck_assert_str_eq(buf_str(&b), "(((vt - 1) % 10) == 0) and (not (vt > 7))");
	buf_done(&b);
	ck_assert(choice_equal(&c, &c));
	ck_assert(!choice_equal(&c, &WORDS(VT(-1))));
	ck_assert(!choice_equal(&WORDS(VT(1)), &WORDS(VT(2))));
}

SUITE("choice")
