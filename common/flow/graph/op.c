/* SPDX-License-Identifier: Apache-2.0 */
#include "common/flow/graph/op.h"

#define SECOND 1e-9 /* one nanosecond in seconds */

/* --- flags, coverage and time of the result */

static void merge_about(struct flow_token *out, const struct flow_token *in)
{
	out->oldest = in->oldest < out->oldest ? in->oldest : out->oldest;
	out->newest = in->newest > out->newest ? in->newest : out->newest;
	flow_coverage_worse(&out->k, &out->n, in->k, in->n);
}

/*
 * Returns the mean of at most three times, given as differences to the first. A division by a
 * variable would cost as much as the rest of an operation.
 */
static nsec_t mean_of(nsec_t first, nsec_t differences, int n)
{
	return first + (n == 1 ? 0 : n == 2 ? differences / 2 : differences / 3);
}

static void about(struct flow_token *out, const struct flow_token *in, size_t nin)
{
	const struct flow_token *end = in + nin;
	nsec_t differences = 0;
	uint32_t flags = 0;
	int times = 1;

	for (; in < end && !in->n; in++) /* skips constants */
		flags |= in->flags;
	if (in == end) {
		*out = (struct flow_token){ .flags = flags };
		return;
	}
	*out = *in;
	for (in++; in < end; in++) {
		flags |= in->flags;
		if (!in->n)
			continue;
		differences += in->time - out->time;
		times++;
		merge_about(out, in);
	}
	out->time = mean_of(out->time, differences, times);
	out->flags |= flags;
}

/* --- value and bound */

struct bounded {
	double v, e;
};

static struct bounded multiplied(double a, double ea, double b, double eb)
{
	double e = 0;

	if (ea > 0 || eb > 0)
		e = fabs(a) * eb + fabs(b) * ea + ea * eb;
	return (struct bounded){ a * b, e };
}

static struct bounded divided(double a, double ea, double b, double eb)
{
	if (ea == 0 && eb == 0)
		return (struct bounded){ a / b, 0 };
	if (fabs(b) <= eb)
		return (struct bounded){ a / b, INFINITY };
	return (struct bounded){ a / b,
				 (fabs(a) * eb + fabs(b) * ea) / (fabs(b) * (fabs(b) - eb)) };
}

/* Returns the remainder of the division rounded towards zero, as in C. */
static struct bounded remainder_of(double a, double ea, double b, double eb)
{
	double v = fmod(a, b);
	bool same = eb == 0 && trunc((a - ea) / b) == trunc((a + ea) / b);

	if (ea == 0 && eb == 0)
		return (struct bounded){ v, 0 };
	return (struct bounded){ v, same ? ea : fabs(b) + eb };
}

/* A comparison is certain if the intervals do not touch, or are points. */
static struct bounded compared(bool truth, double a, double ea, double b, double eb)
{
	bool certain = (ea == 0 && eb == 0) || fabs(a - b) > ea + eb;

	return (struct bounded){ truth, certain ? 0 : 1 };
}

static double farther(double v, double low, double high)
{
	return fmax(fabs(v - low), fabs(high - v));
}

/* Evaluates a function that rises between a - ea and a + ea. low: begin of its domain. */
static struct bounded rising(double (*f)(double), double a, double ea, double low)
{
	double v = f(a);

	if (ea == 0)
		return (struct bounded){ v, 0 };
	return (struct bounded){ v, farther(v, f(fmax(a - ea, low)), f(a + ea)) };
}

/* If the base is positive, the extremes are at the corners of the intervals. */
static struct bounded power(double a, double ea, double b, double eb)
{
	double v = pow(a, b), e = 0;

	if (ea == 0 && eb == 0)
		return (struct bounded){ v, 0 };
	if (a - ea <= 0)
		return (struct bounded){ v, INFINITY };
	for (int corner = 0; corner < 4; corner++)
		e = fmax(e,
			 fabs(v - pow(corner & 1 ? a + ea : a - ea, corner & 2 ? b + eb : b - eb)));
	return (struct bounded){ v, e };
}

/* A condition is uncertain if the interval of its value contains 0 and other numbers. */
static double doubt(const struct flow_token *t)
{
	return t->error > 0 && fabs(t->value) <= t->error;
}

static struct bounded function(enum flow_op op, double a, double ea)
{
	switch (op) {
	case FLOW_OP_NEG:
		return (struct bounded){ -a, ea };
	case FLOW_OP_ABS:
		return (struct bounded){ fabs(a), ea };
	case FLOW_OP_FLOOR:
		return rising(floor, a, ea, -INFINITY);
	case FLOW_OP_CEIL:
		return rising(ceil, a, ea, -INFINITY);
	case FLOW_OP_ROUND:
		return rising(round, a, ea, -INFINITY);
	case FLOW_OP_SQRT:
		return rising(sqrt, a, ea, 0);
	case FLOW_OP_EXP:
		return rising(exp, a, ea, -INFINITY);
	default:
		return rising(log, a, ea, 0);
	}
}

static struct bounded relation(enum flow_op op, double a, double ea, double b, double eb)
{
	switch (op) {
	case FLOW_OP_EQ:
		return compared(a == b, a, ea, b, eb);
	case FLOW_OP_NE:
		return compared(a != b, a, ea, b, eb);
	case FLOW_OP_LT:
		return compared(a < b, a, ea, b, eb);
	case FLOW_OP_LE:
		return compared(a <= b, a, ea, b, eb);
	case FLOW_OP_GT:
		return compared(a > b, a, ea, b, eb);
	default:
		return compared(a >= b, a, ea, b, eb);
	}
}

static struct bounded binary(enum flow_op op, double a, double ea, double b, double eb)
{
	switch (op) {
	case FLOW_OP_ADD:
		return (struct bounded){ a + b, ea + eb };
	case FLOW_OP_SUB:
		return (struct bounded){ a - b, ea + eb };
	case FLOW_OP_MUL:
		return multiplied(a, ea, b, eb);
	case FLOW_OP_DIV:
		return divided(a, ea, b, eb);
	case FLOW_OP_MOD:
		return remainder_of(a, ea, b, eb);
	case FLOW_OP_MIN:
		return (struct bounded){ a < b ? a : b, fmax(ea, eb) };
	case FLOW_OP_MAX:
		return (struct bounded){ a > b ? a : b, fmax(ea, eb) };
	case FLOW_OP_POW:
		return power(a, ea, b, eb);
	default:
		return relation(op, a, ea, b, eb);
	}
}

static void give(struct flow_token *out, struct bounded b)
{
	out->value = b.v;
	out->error = b.e;
	if (isnan(b.e))
		out->error = INFINITY;
	if (isnan(b.v))
		out->error = 0;
	if (!isfinite(b.v))
		out->flags |= FLOW_NAN;
}

static void give_nothing(struct flow_token *out, uint32_t flag)
{
	out->value = NAN;
	out->error = 0;
	out->flags |= flag;
}

/*
 * Evaluates `and` and `or`. One side may decide alone: `false and x` is false and `true or x` is
 * true for any x.
 */
static void eval_logic(enum flow_op op, const struct flow_token *in, struct flow_token *out)
{
	bool decides = op == FLOW_OP_OR;

	for (int i = 0; i < 2; i++) {
		if (flow_token_has_value(&in[i]) && (in[i].value != 0) == decides &&
		    !doubt(&in[i])) {
			about(out, &in[i], 1);
			if (!in[i].n)
				about(out, in, 2);
			return give(out, (struct bounded){ decides, 0 });
		}
	}
	about(out, in, 2);
	if (!flow_token_has_value(&in[0]) || !flow_token_has_value(&in[1]))
		return give_nothing(out, 0);
	give(out, (struct bounded){ op == FLOW_OP_OR ? in[0].value != 0 || in[1].value != 0
						     : in[0].value != 0 && in[1].value != 0,
				    fmax(doubt(&in[0]), doubt(&in[1])) });
}

/* Evaluates a choice. If the condition is in doubt, the bound also covers the other branch. */
static void eval_if(const struct flow_token *in, struct flow_token *out)
{
	const struct flow_token *other = in[0].value != 0 ? &in[2] : &in[1];
	struct flow_token taken[2] = { in[0], in[0].value != 0 ? in[1] : in[2] };

	about(out, taken, 2);
	if (!out->n)
		about(out, in, 3);
	if (!flow_token_has_value(&in[0]) || !flow_token_has_value(&taken[1]))
		return give_nothing(out, 0);
	give(out, (struct bounded){ taken[1].value, taken[1].error });
	if (doubt(&in[0]))
		out->error =
			flow_token_has_value(other)
				? fmax(out->error, fabs(other->value - out->value) + other->error)
				: INFINITY;
}

/*
 * An excluded value does not count: neither the reason for its absence, nor its missing
 * contributors.
 */
static void leave_out(const struct flow_token *in, struct flow_token *out)
{
	struct flow_token both[2] = { in[0], in[1] };

	both[0].flags = 0;
	about(out, &in[1], 1);
	if (!in[1].n)
		about(out, both, 2);
	give_nothing(out, FLOW_EXCLUDED);
}

static void eval_where(const struct flow_token *in, struct flow_token *out)
{
	if (flow_token_has_value(&in[1]) && in[1].value == 0)
		return leave_out(in, out);
	about(out, in, 2);
	if (!flow_token_has_value(&in[1]))
		return give_nothing(out, 0);
	if (!flow_token_has_value(&in[0]))
		return give_nothing(out, 0);
	give(out, (struct bounded){ in[0].value, in[0].error });
}

static void eval_unary(enum flow_op op, const struct flow_token *in, struct flow_token *out)
{
	about(out, in, 1);
	if (op == FLOW_OP_TIME)
		return give(out, (struct bounded){ (double)in->time * SECOND, 0 });
	if (!flow_token_has_value(in))
		return give_nothing(out, 0);
	if (op == FLOW_OP_NOT)
		return give(out, (struct bounded){ in->value == 0, doubt(in) });
	give(out, function(op, in->value, in->error));
}

static void eval_binary(enum flow_op op, const struct flow_token *in, struct flow_token *out)
{
	about(out, in, 2);
	if (!flow_token_has_value(&in[0]) || !flow_token_has_value(&in[1]))
		return give_nothing(out, 0);
	if ((op == FLOW_OP_DIV || op == FLOW_OP_MOD) && in[1].value == 0)
		return give_nothing(out, FLOW_DIV0);
	give(out, binary(op, in[0].value, in[0].error, in[1].value, in[1].error));
}

void flow_op_eval(enum flow_op op, const struct flow_token *in, struct flow_token *out)
{
	switch (op) {
	case FLOW_OP_AND:
	case FLOW_OP_OR:
		return eval_logic(op, in, out);
	case FLOW_OP_IF:
		return eval_if(in, out);
	case FLOW_OP_WHERE:
		return eval_where(in, out);
	case FLOW_OP_NEG:
	case FLOW_OP_NOT:
	case FLOW_OP_TIME:
	case FLOW_OP_ABS:
	case FLOW_OP_FLOOR:
	case FLOW_OP_CEIL:
	case FLOW_OP_ROUND:
	case FLOW_OP_SQRT:
	case FLOW_OP_EXP:
	case FLOW_OP_LOG:
		return eval_unary(op, in, out);
	default:
		return eval_binary(op, in, out);
	}
}

void flow_who_eval(const struct flow_token *in, uint64_t object, struct flow_token *out,
		   struct agg *a)
{
	agg_clear(a);
	about(out, in, 1);
	if (flow_token_has_value(in))
		agg_add_who(a, &(struct who){ in->value, in->error, object });
	else if (!(in->flags & FLOW_EXCLUDED))
		out->k = 0;
	out->flags &= ~(uint32_t)FLOW_EXCLUDED;
	out->value = out->error = 0;
}

/* A pair that was excluded by WHERE is complete: no value is missing. */
void flow_pair_eval(const struct flow_token in[2], struct flow_token *out, struct agg *a)
{
	bool is_there = flow_token_has_value(&in[0]) && flow_token_has_value(&in[1]);

	agg_clear(a);
	about(out, in, 2);
	if (is_there)
		agg_add_pair(a, in[0].value, in[0].error, in[1].value, in[1].error);
	else if (!(out->flags & FLOW_EXCLUDED))
		out->k = 0;
	else
		out->flags = in[0].flags & FLOW_EXCLUDED ? in[0].flags : in[1].flags;
	out->flags &= ~(uint32_t)FLOW_EXCLUDED;
	out->value = out->error = 0;
}
