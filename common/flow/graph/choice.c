/* SPDX-License-Identifier: Apache-2.0 */
#include "common/flow/graph/choice.h"

#include "common/flow/graph/graph.h"

bool choice_takes(unsigned op)
{
	switch (op) {
	case FLOW_OP_ADD:
	case FLOW_OP_SUB:
	case FLOW_OP_MOD:
	case FLOW_OP_NEG:
	case FLOW_OP_EQ:
	case FLOW_OP_NE:
	case FLOW_OP_LT:
	case FLOW_OP_LE:
	case FLOW_OP_GT:
	case FLOW_OP_GE:
	case FLOW_OP_AND:
	case FLOW_OP_OR:
	case FLOW_OP_NOT:
		return true;
	default:
		return false;
	}
}

/*
 * Returns the number of values on the stack after word w, with `depth` values before it; 0 if
 * operands are missing.
 */
static size_t depth_behind(const struct choice_word *w, size_t depth)
{
	size_t takes = w->kind == CHOICE_OP ? flow_op_arity((enum flow_op)w->op) : 0;

	return depth < takes ? 0 : depth - takes + 1;
}

int choice_check(const struct flow_choice *c, struct err *e)
{
	size_t depth = 0;

	if (c->n > CHOICE_WORDS_MAX)
		return err_set(e, ERR_LIMIT, "a choice of %zu words, %d are the limit", c->n,
			       CHOICE_WORDS_MAX);
	for (size_t i = 0; i < c->n; i++) {
		if (c->v[i].kind == CHOICE_OP && !choice_takes(c->v[i].op))
			return err_set(e, ERR_INVALID, "word %zu of a choice is none of its words",
				       i);
		depth = depth_behind(&c->v[i], depth);
		if (!depth)
			return err_set(e, ERR_INVALID, "word %zu of a choice has no operands", i);
		if (depth > CHOICE_DEPTH_MAX)
			return err_set(e, ERR_LIMIT, "more than %d values wait in a choice",
				       CHOICE_DEPTH_MAX);
	}
	return depth == 1 ? 0
			  : err_set(e, ERR_INVALID, "a choice of %zu values is not a condition",
				    depth);
}

static bool compute(enum flow_op op, int64_t a, int64_t b, int64_t *out)
{
	switch (op) {
	case FLOW_OP_ADD:
		return !__builtin_add_overflow(a, b, out);
	case FLOW_OP_SUB:
		return !__builtin_sub_overflow(a, b, out);
	case FLOW_OP_NEG:
		return !__builtin_sub_overflow(0, a, out);
	case FLOW_OP_MOD:
		*out = b && b != -1 ? a % b : 0; /* INT64_MIN % -1 would overflow */
		return b != 0;
	default:
		return false;
	}
}

static bool is_true(enum flow_op op, int64_t a, int64_t b)
{
	switch (op) {
	case FLOW_OP_EQ:
		return a == b;
	case FLOW_OP_NE:
		return a != b;
	case FLOW_OP_LT:
		return a < b;
	case FLOW_OP_LE:
		return a <= b;
	case FLOW_OP_GT:
		return a > b;
	case FLOW_OP_GE:
		return a >= b;
	case FLOW_OP_AND:
		return a && b;
	case FLOW_OP_OR:
		return a || b;
	default:
		return !a;
	}
}

static bool apply(enum flow_op op, int64_t a, int64_t b, int64_t *out)
{
	if (op == FLOW_OP_ADD || op == FLOW_OP_SUB || op == FLOW_OP_MOD || op == FLOW_OP_NEG)
		return compute(op, a, b, out);
	*out = is_true(op, a, b);
	return true;
}

bool choice_has(const struct flow_choice *c, int64_t key)
{
	int64_t stack[CHOICE_DEPTH_MAX + 1];
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct choice_word *w = &c->v[i];
		size_t takes;

		if (w->kind == CHOICE_NUMBER) {
			stack[n++] = w->number;
			continue;
		}
		if (w->kind == CHOICE_VT) {
			if (__builtin_add_overflow(key, w->number, &stack[n++]))
				return false;
			continue;
		}
		takes = flow_op_arity((enum flow_op)w->op);
		n -= takes;
		if (!apply((enum flow_op)w->op, stack[n], takes > 1 ? stack[n + 1] : 0, &stack[n]))
			return false;
		n++;
	}
	return n && stack[0];
}

bool choice_equal(const struct flow_choice *a, const struct flow_choice *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++)
		if (a->v[i].kind != b->v[i].kind || a->v[i].op != b->v[i].op ||
		    a->v[i].number != b->v[i].number)
			return false;
	return a->n == b->n;
}

/* Returns the first word of the operand that ends before word `end`. */
static size_t begin_of(const struct flow_choice *c, size_t end)
{
	for (size_t want = 1; want; want--) {
		const struct choice_word *w = &c->v[--end];

		want += w->kind == CHOICE_OP ? flow_op_arity((enum flow_op)w->op) : 0;
	}
	return end;
}

static void print_leaf(const struct choice_word *w, struct buf *out)
{
	if (w->kind == CHOICE_NUMBER)
		buf_printf(out, "%lld", (long long)w->number);
	else if (w->number)
		buf_printf(out, "(" CHOICE_VT_WORD " %c %llu)", w->number < 0 ? '-' : '+',
			   w->number < 0 ? -(unsigned long long)w->number
					 : (unsigned long long)w->number);
	else
		buf_puts(out, CHOICE_VT_WORD);
}

/* Prints the operand that ends before word `end`, in parentheses if it is inside an operator. */
static void print_operand(const struct flow_choice *c, size_t end, bool is_inner, struct buf *out)
{
	const struct choice_word *w = &c->v[end - 1];

	if (w->kind != CHOICE_OP) {
		print_leaf(w, out);
		return;
	}
	if (is_inner)
		buf_putc(out, '(');
	if (flow_op_arity((enum flow_op)w->op) > 1) {
		print_operand(c, begin_of(c, end - 1), true, out);
		buf_putc(out, ' ');
	}
	buf_printf(out, "%s ", flow_op_name((enum flow_op)w->op));
	print_operand(c, end - 1, true, out);
	if (is_inner)
		buf_putc(out, ')');
}

void choice_print(const struct flow_choice *c, struct buf *out)
{
	if (c->n)
		print_operand(c, c->n, false, out);
}
