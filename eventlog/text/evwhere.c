/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/text/evwhere.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "eventlog/text/evout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum op { OP_LE, OP_LT, OP_GE, OP_GT, OP_EQ, OP_NE };

/* The longer ones first. */
static const char *const op_names[] = { [OP_LE] = "<=", [OP_LT] = "<", [OP_GE] = ">=", [OP_GT] = ">", [OP_EQ] = "==", [OP_NE] = "!=" };
static const enum op op_order[] = { OP_LE, OP_GE, OP_EQ, OP_NE, OP_LT, OP_GT };

struct comparison {
	const char *field, *word; /* in the text */
	enum op op;
	double number;
	bool is_number, is_prefix;
};

struct evwhere {
	unsigned n;
	struct comparison c[EVWHERE_MAX];
	char text[]; /* cut into pieces */
};

/* --- reading */

static char *skip_spaces(char *s)
{
	return s + strspn(s, " \t\n");
}

static bool read_op(char **at, enum op *out)
{
	for (unsigned i = 0; i < ARRAY_LEN(op_order); i++)
		if (str_has_prefix(*at, op_names[op_order[i]])) {
			*out = op_order[i];
			*at += strlen(op_names[*out]);
			return true;
		}
	return false;
}

/* In place, for it only becomes shorter. False: no end. */
static bool read_quoted(char **at)
{
	char *from = *at + 1, *to = *at;

	for (; *from && *from != '"'; from++) {
		if (*from == '\\' && (from[1] == '"' || from[1] == '\\'))
			from++;
		*to++ = *from;
	}
	if (!*from)
		return false;
	*to = '\0';
	*at = from + 1;
	return true;
}

/* A word up to the next space; what follows is *at. */
static void read_word(char **at)
{
	char *end = *at + strcspn(*at, " \t\n");

	*at = *end ? end + 1 : end;
	*end = '\0';
}

static int read_value(char **at, struct comparison *c)
{
	char *word = *at;

	c->word = word;
	if (*word == '"')
		return read_quoted(at) ? 0 : -ERR_INVALID;
	read_word(at);
	if (!*word)
		return -ERR_INVALID;
	c->is_number = !str_to_double(word, -HUGE_VAL, HUGE_VAL, &c->number);
	c->is_prefix = !c->is_number && word[strlen(word) - 1] == '*';
	if (c->is_prefix)
		word[strlen(word) - 1] = '\0';
	return 0;
}

static int read_comparison(char **at, struct comparison *c, struct err *e)
{
	char *field = *at, *end = field + strcspn(field, " \t\n<>=!");

	*at = skip_spaces(end);
	if (end == field || !read_op(at, &c->op))
		return err_set(e, ERR_INVALID, "a condition is FIELD OP VALUE, OP one of < <= > >= == !=");
	*end = '\0';
	c->field = field;
	*at = skip_spaces(*at);
	if (read_value(at, c))
		return err_set(e, ERR_INVALID, "'%s' is compared with nothing", field);
	if (!c->is_number && c->op != OP_EQ && c->op != OP_NE)
		return err_set(e, ERR_INVALID, "words compare with == and != alone: '%s'", field);
	*at = skip_spaces(*at);
	return 0;
}

static int read_all(struct evwhere *w, struct err *e)
{
	char *at = skip_spaces(w->text);

	for (;;) {
		int rc = w->n == EVWHERE_MAX ? err_set(e, ERR_LIMIT, "more than %d comparisons", EVWHERE_MAX) :
					       read_comparison(&at, &w->c[w->n], e);

		if (rc)
			return rc;
		w->n++;
		if (!*at)
			return 0;
		if (!str_has_prefix(at, "and") || !strchr(" \t\n", at[3]) || !at[3])
			return err_set(e, ERR_INVALID, "'and' is missing before '%.20s'", at);
		at = skip_spaces(at + 3);
	}
}

int evwhere_new(const char *text, struct evwhere **out, struct err *e)
{
	size_t n = strlen(text) + 1;
	struct evwhere *w;
	int rc;

	if (n > EVWHERE_TEXT_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "a condition of more than %d bytes", EVWHERE_TEXT_MAX_BYTES);
	w = calloc(1, sizeof(*w) + n);
	if (!w)
		return err_set(e, ERR_NOMEM, "out of memory");
	memcpy(w->text, text, n);
	rc = read_all(w, e);
	if (rc)
		evwhere_free(w);
	else
		*out = w;
	return rc;
}

void evwhere_free(struct evwhere *w)
{
	free(w);
}

/* --- asking */

static bool compare(double a, enum op op, double b)
{
	switch (op) {
	case OP_LE: return a <= b;
	case OP_LT: return a < b;
	case OP_GE: return a >= b;
	case OP_GT: return a > b;
	case OP_EQ: return a == b;
	case OP_NE: return a != b;
	}
	return false;
}

static bool is_word(const struct comparison *c, const char *s, size_t n)
{
	size_t len = strlen(c->word);

	return (c->is_prefix ? n >= len : n == len) && !memcmp(s, c->word, len);
}

static bool holds(const struct comparison *c, const struct evvalue *v)
{
	switch (v->kind) {
	case EV_INT32: return c->is_number && compare(v->i32, c->op, c->number);
	case EV_INT64: return c->is_number && compare((double)v->i64, c->op, c->number);
	case EV_FLOAT: return c->is_number && compare((double)v->f32, c->op, c->number);
	case EV_DOUBLE: return c->is_number && compare(v->f64, c->op, c->number);
	case EV_STRING: break;
	}
	if (c->op != OP_EQ && c->op != OP_NE)
		return false;
	return is_word(c, v->s, v->n) == (c->op == OP_EQ);
}

bool evwhere_holds(const struct evwhere *w, const struct event *ev)
{
	for (unsigned i = 0; i < w->n; i++) {
		const struct comparison *c = &w->c[i];
		const struct evvalue *v = evattr_find(ev, c->field), name = { .kind = EV_STRING,
									     .n = (uint32_t)strlen(ev->type->name),
									     .s = ev->type->name };

		if (!v && str_eq(c->field, "event"))
			v = &name;
		if (!v || !holds(c, v))
			return false;
	}
	return true;
}
