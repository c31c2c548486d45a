/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions. The operators, from the loosest to the tightest: OR; AND; NOT; relations and IN,
 * which do not associate; + and -; * / %; a sign; AT; .name. The grammar of the language has two
 * kinds of expressions, of numbers and of truths; here types (check.h) distinguish them, and the
 * messages are better.
 */
#include "pmsl/text/parsing.h"

#include "common/base/array.h"
#include "common/base/limits.h"

static struct pmsl_expr *parse_or(struct pmsl_parser *p);

static struct pmsl_expr *make_expr(struct pmsl_parser *p, enum pmsl_expr_kind kind, uint32_t at)
{
	struct pmsl_expr *e = pmsl_make(p, sizeof(*e));

	if (!e)
		return NULL;
	e->kind = kind;
	e->at = at;
	e->height = 1;
	e->builtin = e->function = -1;
	return e;
}

/*
 * Appends an operand or argument, and extends the expression to its end. Returns NULL if arg is
 * NULL.
 */
static struct pmsl_expr *put_arg(struct pmsl_parser *p, struct pmsl_expr *e, struct pmsl_expr *arg)
{
	struct pmsl_expr **end = &e->arg;

	if (!arg)
		return NULL;
	if (arg->height >= PMSL_HEIGHT_MAX) {
		pmsl_lost(p, e->at, 1, "the expression has more than %d operators in a row",
			  PMSL_HEIGHT_MAX);
		return NULL;
	}
	while (*end)
		end = &(*end)->next;
	*end = arg;
	e->narg++;
	if (e->height <= arg->height)
		e->height = (uint16_t)(arg->height + 1);
	e->len = p->end - e->at;
	return e;
}

/* Parses EXPR, ... ) behind the open parenthesis. */
static struct pmsl_expr *parse_args(struct pmsl_parser *p, struct pmsl_expr *e)
{
	if (pmsl_accept(p, ')')) {
		e->len = p->end - e->at;
		return e;
	}
	do {
		if (e->narg > PMSL_PARAMS_MAX) {
			pmsl_lost(p, p->word.at, p->word.len, "more than %d arguments",
				  PMSL_PARAMS_MAX);
			return NULL;
		}
		if (!put_arg(p, e, parse_or(p)))
			return NULL;
	} while (pmsl_accept(p, ','));
	if (!pmsl_expect(p, ')', "',' or ')'"))
		return NULL;
	e->len = p->end - e->at;
	return e;
}

/* Parses NAME, NAME[EXPR]..., NAME(EXPR, ...). */
static struct pmsl_expr *parse_name(struct pmsl_parser *p)
{
	struct pmsl_expr *e = make_expr(p, PMSL_E_NAME, p->word.at);

	if (!e)
		return NULL;
	e->name = pmsl_copy_word(p, &p->word);
	e->len = p->word.len;
	pmsl_take(p);
	if (pmsl_accept(p, '(')) {
		e->kind = PMSL_E_CALL;
		return parse_args(p, e);
	}
	while (pmsl_accept(p, '[')) {
		if (e->narg == PMSL_INDICES_MAX) {
			pmsl_lost(p, p->word.at, p->word.len, "more than %d indices",
				  PMSL_INDICES_MAX);
			return NULL;
		}
		if (!put_arg(p, e, parse_or(p)) || !pmsl_expect(p, ']', "']'"))
			return NULL;
		e->len = p->end - e->at;
	}
	return e;
}

static struct pmsl_expr *parse_number(struct pmsl_parser *p)
{
	struct pmsl_expr *e = make_expr(p, PMSL_E_NUMBER, p->word.at);

	if (!e)
		return NULL;
	e->number = p->word.number;
	e->is_integer = p->word.is_integer;
	e->len = p->word.len;
	pmsl_take(p);
	return e;
}

/* "NAME" */
static struct pmsl_expr *parse_region(struct pmsl_parser *p)
{
	struct pmsl_expr *e = make_expr(p, PMSL_E_REGION, p->word.at);

	if (!e)
		return NULL;
	e->name = pmsl_copy_word(p, &p->word);
	e->len = p->word.len;
	pmsl_take(p);
	return e;
}

/*
 * Joins x and y of COVARIANCE(x, y) to the one value that the fold runs over. The check reports any
 * other number of values.
 */
static bool pair_args(struct pmsl_parser *p, struct pmsl_expr *e)
{
	struct pmsl_expr *x = e->arg, *y = e->narg == 2 ? x->next : NULL, *pair;

	if (!y || !pmsl_fold_is_of_pairs(e->op))
		return true;
	pair = make_expr(p, PMSL_E_PAIR, x->at);
	if (!pair)
		return false;
	x->next = NULL;
	e->arg = NULL;
	e->narg = 0;
	return put_arg(p, pair, x) && put_arg(p, pair, y) && put_arg(p, e, pair);
}

/* Parses FOLD[NAME]...(EXPR WHERE EXPR), FOLD(EXPR, EXPR...). */
static struct pmsl_expr *parse_fold(struct pmsl_parser *p)
{
	struct pmsl_expr *e = make_expr(p, PMSL_E_FOLD, p->word.at);

	if (!e)
		return NULL;
	e->op = (uint8_t)p->word.sub;
	pmsl_take(p);
	if (!pmsl_parse_indices(p, &e->over) || !pmsl_expect(p, '(', "'('"))
		return NULL;
	do {
		if (e->narg > PMSL_PARAMS_MAX) {
			pmsl_lost(p, p->word.at, p->word.len, "more than %d values",
				  PMSL_PARAMS_MAX);
			return NULL;
		}
		if (!put_arg(p, e, parse_or(p)))
			return NULL;
	} while (pmsl_accept(p, ','));
	if (!pair_args(p, e))
		return NULL;
	if (pmsl_accept_keyword(p, PMSL_K_WHERE)) {
		e->where = parse_or(p);
		if (!e->where)
			return NULL;
		if (e->height <= e->where->height)
			e->height = (uint16_t)(e->where->height + 1);
	}
	if (!pmsl_expect(p, ')', e->where ? "')'" : "WHERE, ',' or ')'"))
		return NULL;
	e->len = p->end - e->at;
	return e;
}

/* Parses [START, NOW]. */
static struct pmsl_expr *parse_interval(struct pmsl_parser *p)
{
	struct pmsl_expr *e = make_expr(p, PMSL_E_INTERVAL, p->word.at);

	pmsl_take(p);
	if (!e || !put_arg(p, e, parse_or(p)) || !pmsl_expect(p, ',', "','") ||
	    !put_arg(p, e, parse_or(p)) || !pmsl_expect(p, ']', "']'"))
		return NULL;
	e->len = p->end - e->at;
	return e;
}

/* Parses IF(CONDITION, EXPR, EXPR). */
static struct pmsl_expr *parse_if(struct pmsl_parser *p)
{
	struct pmsl_expr *e = make_expr(p, PMSL_E_IF, p->word.at);

	pmsl_take(p);
	if (!e || !pmsl_expect(p, '(', "'('"))
		return NULL;
	if (!parse_args(p, e))
		return NULL;
	if (e->narg == 3)
		return e;
	pmsl_lost(p, e->at, e->len,
		  "IF takes a condition, a value if it holds, and a value if it does not");
	return NULL;
}

static struct pmsl_expr *parse_parenthesis(struct pmsl_parser *p)
{
	struct pmsl_expr *e;

	pmsl_take(p);
	e = parse_or(p);
	return e && pmsl_expect(p, ')', "')'") ? e : NULL;
}

static struct pmsl_expr *parse_primary(struct pmsl_parser *p)
{
	if (p->word.kind == PMSL_W_NAME)
		return parse_name(p);
	if (p->word.kind == PMSL_W_NUMBER)
		return parse_number(p);
	if (p->word.kind == PMSL_W_STRING)
		return parse_region(p);
	if (p->word.kind == PMSL_W_FOLD)
		return parse_fold(p);
	if (pmsl_is_keyword(p, PMSL_K_IF))
		return parse_if(p);
	if (pmsl_is_mark(p, '['))
		return parse_interval(p);
	if (pmsl_is_mark(p, '('))
		return parse_parenthesis(p);
	pmsl_expected(p, "a value");
	return NULL;
}

/* Parses .rank. p.NAME(EXPR, ...) means NAME(p, EXPR, ...). */
static struct pmsl_expr *parse_attr(struct pmsl_parser *p, struct pmsl_expr *of)
{
	struct pmsl_expr *e;

	if (p->word.kind != PMSL_W_NAME) {
		pmsl_expected(p, "rank, node, site, time or a metric");
		return NULL;
	}
	e = make_expr(p, PMSL_E_ATTR, of->at);
	if (!e)
		return NULL;
	e->name = pmsl_copy_word(p, &p->word);
	pmsl_take(p);
	if (!put_arg(p, e, of) || !pmsl_accept(p, '('))
		return e;
	e->kind = PMSL_E_CALL;
	return parse_args(p, e);
}

/* Parses ... AT NAME(EXPR, EXPR). */
static struct pmsl_expr *parse_at(struct pmsl_parser *p, struct pmsl_expr *what)
{
	struct pmsl_expr *e = make_expr(p, PMSL_E_AT, what->at);

	if (!e || !put_arg(p, e, what))
		return NULL;
	if (p->word.kind != PMSL_W_NAME) {
		pmsl_expected(p, "the name of a probe");
		return NULL;
	}
	e->name = pmsl_copy_word(p, &p->word);
	pmsl_take(p);
	return pmsl_expect(p, '(', "'(' and the probe's process and virtual time")
		       ? parse_args(p, e)
		       : NULL;
}

static struct pmsl_expr *parse_postfix(struct pmsl_parser *p)
{
	struct pmsl_expr *e = parse_primary(p);

	while (e) {
		if (pmsl_accept(p, '.'))
			e = parse_attr(p, e);
		else if (pmsl_accept_keyword(p, PMSL_K_AT))
			e = parse_at(p, e);
		else
			break;
	}
	return e;
}

/* True if expressions are nested too deep. Every recursion of the parser calls this. */
static bool is_too_deep(struct pmsl_parser *p)
{
	if (p->depth < PMSL_DEPTH_MAX)
		return false;
	pmsl_lost(p, p->word.at, p->word.len, "nested deeper than %d levels", PMSL_DEPTH_MAX);
	return true;
}

static struct pmsl_expr *parse_sign(struct pmsl_parser *p)
{
	struct pmsl_expr *e;
	uint32_t at = p->word.at;
	bool is_minus = pmsl_is_mark(p, '-');

	if (is_too_deep(p))
		return NULL;
	p->depth++;
	if (is_minus || pmsl_is_mark(p, '+')) {
		pmsl_take(p);
		e = parse_sign(p);
		if (e && is_minus) {
			struct pmsl_expr *minus = make_expr(p, PMSL_E_OP, at);

			if (minus)
				minus->op = PMSL_NEG;
			e = minus ? put_arg(p, minus, e) : NULL;
		}
	} else {
		e = parse_postfix(p);
	}
	p->depth--;
	return e;
}

static struct pmsl_expr *binary(struct pmsl_parser *p, enum pmsl_expr_kind kind, unsigned op,
				struct pmsl_expr *a, struct pmsl_expr *b)
{
	struct pmsl_expr *e = a && b ? make_expr(p, kind, a->at) : NULL;

	if (!e)
		return NULL;
	e->op = (uint8_t)op;
	return put_arg(p, e, a) ? put_arg(p, e, b) : NULL;
}

struct operator
{
	unsigned mark, op;
};

/* Returns the operator in the table that is the next word, or NULL. */
static const struct operator*
	next_operator(const struct pmsl_parser *p, const struct operator* v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pmsl_is_mark(p, v[i].mark))
			return &v[i];
	return NULL;
}

static struct pmsl_expr *parse_product(struct pmsl_parser *p)
{
	static const struct operator ops[] = { { '*', PMSL_MUL },
					       { '/', PMSL_DIV },
					       { '%', PMSL_MOD } };
	struct pmsl_expr *e = parse_sign(p);
	const struct operator* o;

	while (e && (o = next_operator(p, ops, ARRAY_LEN(ops)))) {
		pmsl_take(p);
		e = binary(p, PMSL_E_OP, o->op, e, parse_sign(p));
	}
	return e;
}

static struct pmsl_expr *parse_sum(struct pmsl_parser *p)
{
	static const struct operator ops[] = { { '+', PMSL_ADD }, { '-', PMSL_SUB } };
	struct pmsl_expr *e = parse_product(p);
	const struct operator* o;

	while (e && (o = next_operator(p, ops, ARRAY_LEN(ops)))) {
		pmsl_take(p);
		e = binary(p, PMSL_E_OP, o->op, e, parse_product(p));
	}
	return e;
}

static struct pmsl_expr *parse_relation(struct pmsl_parser *p)
{
	static const struct operator ops[] = { { PMSL_M_EQ, PMSL_EQ }, { PMSL_M_NE, PMSL_NE },
					       { '<', PMSL_LT },       { PMSL_M_LE, PMSL_LE },
					       { '>', PMSL_GT },       { PMSL_M_GE, PMSL_GE } };
	struct pmsl_expr *e = parse_sum(p);
	const struct operator* o;

	if (!e)
		return NULL;
	if (pmsl_accept_keyword(p, PMSL_K_IN))
		return binary(p, PMSL_E_IN, 0, e, parse_sum(p));
	o = next_operator(p, ops, ARRAY_LEN(ops));
	if (!o) {
		if (pmsl_is_mark(p, '=')) {
			pmsl_lost(p, p->word.at, 1, "expected an operator, found '='");
			pmsl_hint(p->d, "two values are compared by ==");
			return NULL;
		}
		return e;
	}
	pmsl_take(p);
	return binary(p, PMSL_E_OP, o->op, e, parse_sum(p));
}

static struct pmsl_expr *parse_not(struct pmsl_parser *p)
{
	uint32_t at = p->word.at;
	struct pmsl_expr *e;

	if (!pmsl_is_keyword(p, PMSL_K_NOT))
		return parse_relation(p);
	if (is_too_deep(p))
		return NULL;
	pmsl_take(p);
	p->depth++;
	e = parse_not(p);
	p->depth--;
	if (e) {
		struct pmsl_expr *not = make_expr(p, PMSL_E_OP, at);

		if (not )
			not ->op = PMSL_NOT;
		e = not ? put_arg(p, not, e) : NULL;
	}
	return e;
}

static struct pmsl_expr *parse_and(struct pmsl_parser *p)
{
	struct pmsl_expr *e = parse_not(p);

	while (e && pmsl_accept_keyword(p, PMSL_K_AND))
		e = binary(p, PMSL_E_OP, PMSL_AND, e, parse_not(p));
	return e;
}

static struct pmsl_expr *parse_or(struct pmsl_parser *p)
{
	struct pmsl_expr *e = parse_and(p);

	while (e && pmsl_accept_keyword(p, PMSL_K_OR))
		e = binary(p, PMSL_E_OP, PMSL_OR, e, parse_and(p));
	return e;
}

struct pmsl_expr *pmsl_parse_expr(struct pmsl_parser *p)
{
	return parse_or(p);
}
