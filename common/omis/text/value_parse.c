/* SPDX-License-Identifier: Apache-2.0 */
/* The recursive part of the grammar: lists of values. */
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/text/lex.h"
#include "common/omis/text/token.h"

#include <math.h>
#include <string.h>

static int push(struct lex *l, const struct omis_value *v)
{
	struct omis_value *grown;

	if (!l->values_left)
		return lex_limit(l, v->offset, "the text has more values than are permitted");
	if (l->top == l->cap) {
		grown = arena_array(l->arena, 2 * l->cap, sizeof(*grown));
		if (!grown)
			return lex_nomem(l);
		memcpy(grown, l->stack, l->top * sizeof(*grown));
		l->stack = grown;
		l->cap *= 2;
	}
	l->values_left--;
	l->stack[l->top++] = *v;
	return 0;
}

static int copy_word(struct lex *l, const char *p, size_t n, struct omis_value *v)
{
	v->s.n = n;
	v->s.p = arena_copy(l->arena, p, n);
	return v->s.p ? 0 : lex_nomem(l);
}

static int parse_ecp(struct lex *l, struct omis_value *v)
{
	const char *p;
	size_t n;
	int rc;

	v->kind = OMIS_ECP;
	l->at++;
	rc = lex_word(l, &p, &n);
	if (rc)
		return rc;
	return n ? copy_word(l, p, n, v) : lex_expected(l, "a name behind '$'");
}

static int parse_word(struct lex *l, struct omis_value *v)
{
	const char *p;
	size_t n;
	int rc = lex_word(l, &p, &n);

	if (rc)
		return rc;
	v->kind = OMIS_FLOAT;
	v->f = NAN;
	if (n == 3 && !memcmp(p, "nan", 3))
		return 0;
	v->f = INFINITY;
	if (n == 3 && !memcmp(p, "inf", 3))
		return 0;
	v->kind = OMIS_TOKEN;
	if (lex_next(l) == '(')
		return lex_fail(l, v->offset, "a service cannot be a parameter,");
	if (!token_is_valid(p, n))
		return lex_fail(l, v->offset, "'%.*s' is not a token (a string needs quotes),",
				n > 40 ? 40 : (int)n, p);
	return copy_word(l, p, n, v);
}

static int parse_list(struct lex *l, struct omis_value *v)
{
	int rc;

	if (l->depth == OMIS_DEPTH_MAX)
		return lex_limit(l, l->at, "lists nested deeper than %d", OMIS_DEPTH_MAX);
	l->depth++;
	l->at++;
	v->kind = OMIS_LIST;
	rc = lex_params(l, ']', &v->list.v, &v->list.n);
	l->depth--;
	return rc;
}

static int parse_value(struct lex *l, struct omis_value *v)
{
	int c = lex_next(l);

	v->offset = (uint32_t)l->at;
	if (lex_is_digit(c) || c == '-' || c == '+' || c == '.')
		return lex_number(l, v);
	if (lex_is_letter(c))
		return parse_word(l, v);
	switch (c) {
	case '[':
		return parse_list(l, v);
	case '"':
		return lex_string(l, v);
	case '\'':
		return lex_char(l, v);
	case '$':
		return parse_ecp(l, v);
	default:
		return lex_expected(l, "a value");
	}
}

/* Consumes the closer, or the end of the text if there is no closer. */
static bool take_closer(struct lex *l, char closer)
{
	return closer ? lex_take(l, closer) : lex_next(l) < 0;
}

static const char *separator_or(char closer)
{
	return closer == ']' ? "',' or ']'" : closer ? "',' or ')'" : "','";
}

int lex_params(struct lex *l, char closer, struct omis_value **out, size_t *n)
{
	size_t base = l->top;
	struct omis_value v = { 0 };
	int rc;

	if (!take_closer(l, closer)) {
		do {
			rc = parse_value(l, &v);
			if (!rc)
				rc = push(l, &v);
			if (rc)
				return rc;
		} while (lex_take(l, ','));
		if (!take_closer(l, closer))
			return lex_expected(l, separator_or(closer));
	}
	*n = l->top - base;
	*out = arena_array(l->arena, *n, sizeof(**out));
	if (!*out)
		return lex_nomem(l);
	memcpy(*out, l->stack + base, *n * sizeof(**out));
	l->top = base;
	return 0;
}

int omis_parse_values(const char *p, size_t n, struct omis_values **out, struct err *e)
{
	struct omis_values *v = NULL;
	struct arena *arena;
	struct lex l;
	int rc;

	if (n > FRAME_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "values of more than %d bytes", FRAME_MAX_BYTES);
	arena = arena_new(LEX_HEAP_MAX_BYTES);
	if (!arena)
		return err_nomem(e);
	lex_init(&l, bytes_at(p, n), arena, OMIS_VALUES_MAX, e);
	v = arena_alloc(arena, sizeof(*v));
	rc = v ? lex_params(&l, 0, &v->v, &v->n) : err_nomem(e);
	if (rc) {
		arena_free(arena);
		return rc;
	}
	v->arena = arena;
	*out = v;
	return 0;
}

void omis_values_free(struct omis_values *v)
{
	if (v)
		arena_free(v->arena);
}
