/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/evwhere.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "eventlog/evbytes.h"

#include <string.h>

bool evpattern_fits(const char *pattern, const char *name)
{
	size_t n = strlen(pattern);

	if (n && pattern[n - 1] == '*')
		return !strncmp(pattern, name, n - 1);
	if (str_eq(pattern, "own"))
		return strncmp(name, "MPI_", 4) != 0;
	return str_eq(pattern, name) || str_eq(pattern, "all");
}

/* --- reading */

static const char *skip_spaces(const char *s)
{
	return s + strspn(s, " \t\n");
}

/* Copies the n bytes at s, and appends a 0. */
static int keep(char *out, size_t size, const char *s, size_t n, struct err *e)
{
	if (n >= size)
		return err_set(e, ERR_LIMIT, "'%.20s...' has more than %zu bytes", s, size - 1);
	memcpy(out, s, n);
	out[n] = '\0';
	return 0;
}

static int read_op(const char **at, uint8_t *out)
{
	/* Longer operators are first. */
	static const struct {
		const char *name;
		enum evwhere_op op;
	} ops[] = { { "<=", EVWHERE_LE }, { ">=", EVWHERE_GE }, { "==", EVWHERE_EQ },
		    { "!=", EVWHERE_NE }, { "<", EVWHERE_LT },	{ ">", EVWHERE_GT } };

	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		if (str_has_prefix(*at, ops[i].name)) {
			*out = (uint8_t)ops[i].op;
			*at += strlen(ops[i].name);
			return 0;
		}
	return -ERR_PARSE;
}

static int read_quoted(const char **at, char out[EVWHERE_WORD_BYTES], struct err *e)
{
	const char *from = *at + 1;
	size_t n = 0;

	for (; *from && *from != '"'; from++) {
		if (*from == '\\' && (from[1] == '"' || from[1] == '\\'))
			from++;
		if (n == EVWHERE_WORD_BYTES - 1)
			return err_set(e, ERR_LIMIT, "'%.20s...' has more than %d bytes", *at,
				       EVWHERE_WORD_BYTES - 1);
		out[n++] = *from;
	}
	if (!*from)
		return err_set(e, ERR_PARSE, "the quotes of '%.20s' do not end", *at);
	out[n] = '\0';
	*at = from + 1;
	return 0;
}

static int read_value(const char **at, struct evtest *t, struct err *e)
{
	size_t n = strcspn(*at, " \t\n");
	int rc;

	if (**at == '"')
		return read_quoted(at, t->word, e);
	rc = keep(t->word, sizeof(t->word), *at, n, e);
	if (rc)
		return rc;
	*at += n;
	t->is_number = !str_to_double(t->word, -1e308, 1e308, &t->number);
	t->is_prefix = n && !t->is_number && t->word[n - 1] == '*';
	if (t->is_prefix)
		t->word[n - 1] = '\0';
	return 0;
}

static int read_compare(const char **at, struct evcompare *c, struct err *e)
{
	size_t n = strcspn(*at, " \t\n<>=!");
	int rc = keep(c->field, sizeof(c->field), *at, n, e);

	if (rc)
		return rc;
	*at = skip_spaces(*at + n);
	if (!n || read_op(at, &c->test.op))
		return err_set(
			e, ERR_PARSE,
			"write a condition as FIELD OP VALUE, with OP one of < <= > >= == !=");
	*at = skip_spaces(*at);
	if (!**at)
		return err_set(e, ERR_PARSE, "'%.60s' has no value to compare with", c->field);
	rc = read_value(at, &c->test, e);
	if (!rc && !c->test.is_number && c->test.op < EVWHERE_EQ)
		return err_set(e, ERR_PARSE, "words have only the comparisons == and !=: '%.60s'",
			       c->field);
	*at = skip_spaces(*at);
	return rc;
}

int evwhere_read(const char *text, struct evwhere *out, struct err *e)
{
	struct evwhere w = { 0 };
	const char *at = skip_spaces(text);

	while (*at) {
		int rc;

		if (w.n == EVWHERE_MAX)
			return err_set(e, ERR_LIMIT, "at most %d comparisons are permitted",
				       EVWHERE_MAX);
		rc = read_compare(&at, &w.v[w.n], e);
		if (rc)
			return rc;
		w.n++;
		if (!*at)
			break;
		if (!str_has_prefix(at, "and") || skip_spaces(at + 3) == at + 3 ||
		    !*skip_spaces(at + 3))
			return err_set(e, ERR_PARSE, "join comparisons by 'and': '%.20s'", at);
		at = skip_spaces(at + 3);
	}
	*out = w;
	return 0;
}

/* --- evaluation */

static bool compare(double a, unsigned op, double b)
{
	switch (op) {
	case EVWHERE_LT:
		return a < b;
	case EVWHERE_LE:
		return a <= b;
	case EVWHERE_GT:
		return a > b;
	case EVWHERE_GE:
		return a >= b;
	case EVWHERE_EQ:
		return a == b;
	default:
		return a != b;
	}
}

static bool is_word(const struct evtest *t, const char *s, size_t n)
{
	size_t len = strlen(t->word);

	return (t->is_prefix ? n >= len : n == len) && !memcmp(s, t->word, len);
}

bool evtest_holds(const struct evtest *t, const struct evvalue *v)
{
	switch (v->kind) {
	case EV_INT32:
		return t->is_number && compare(v->i32, t->op, t->number);
	case EV_INT64:
		return t->is_number && compare((double)v->i64, t->op, t->number);
	case EV_FLOAT:
		return t->is_number && compare((double)v->f32, t->op, t->number);
	case EV_DOUBLE:
		return t->is_number && compare(v->f64, t->op, t->number);
	case EV_STRING:
		break;
	}
	return t->op >= EVWHERE_EQ && is_word(t, v->s, v->n) == (t->op == EVWHERE_EQ);
}

/*
 * Evaluates a comparison for the type alone. Returns 1 if it holds, 0 if not, and -1 if it must be
 * evaluated for each record: field *k.
 */
static int decide(const struct evcompare *c, const struct evtype *t, unsigned *k)
{
	const struct evvalue name = { .kind = EV_STRING,
				      .n = (uint32_t)strlen(t->name),
				      .s = t->name };

	for (*k = 0; *k < t->nfield; ++*k)
		if (str_eq(t->field[*k].name, c->field)) {
			if (t->field[*k].kind == EV_STRING ? c->test.op >= EVWHERE_EQ
							   : c->test.is_number)
				return -1;
			return 0;
		}
	for (unsigned i = 0; i < t->nconst; i++)
		if (str_eq(t->constant[i].name, c->field))
			return evtest_holds(&c->test, &t->constant[i].value);
	return str_eq(c->field, "event") && evtest_holds(&c->test, &name);
}

bool evwhere_bind(const struct evwhere *w, const struct evtype *t, struct evtests *out)
{
	out->n = 0;
	for (unsigned i = 0; i < w->n; i++) {
		unsigned k;
		int decided = decide(&w->v[i], t, &k);

		if (!decided)
			return false;
		if (decided > 0)
			continue;
		out->v[out->n] = w->v[i].test;
		out->v[out->n++].field = (uint8_t)k;
	}
	return true;
}

/* Reads the value at p, which is complete. */
static void get_value(const uint8_t *p, enum evkind kind, struct evvalue *out)
{
	out->kind = kind;
	if (kind == EV_STRING) {
		out->n = ev_get16(p, false);
		out->s = (const char *)p + 2;
	} else {
		memcpy(&out->i64, p, kind == EV_INT32 || kind == EV_FLOAT ? 4 : 8);
	}
}

/*
 * Returns the size of the value at p, of which at most `left` bytes exist; more than `left` if it
 * is incomplete.
 */
static size_t value_bytes(enum evkind kind, const uint8_t *p, size_t left)
{
	if (kind == EV_STRING)
		return left < 2 ? 2 : 2u + ev_get16(p, false);
	return kind == EV_INT32 || kind == EV_FLOAT ? 4 : 8;
}

/*
 * Returns the place of a field's value, or of the end of the last one. Returns NULL if the record
 * ends before.
 */
static const uint8_t *find_field(const struct evtype *t, const uint8_t *p, size_t n, unsigned field)
{
	size_t at = 0;

	for (unsigned k = 0; k < field; k++) {
		size_t bytes = value_bytes(t->field[k].kind, p + at, n - at);

		if (bytes > n - at)
			return NULL;
		at += bytes;
	}
	return p + at;
}

bool evtests_pass(const struct evtests *s, const struct evtype *t, const uint8_t *values, size_t n)
{
	for (unsigned i = 0; i < s->n; i++) {
		enum evkind kind = t->field[s->v[i].field].kind;
		const uint8_t *at = find_field(t, values, n, s->v[i].field);
		struct evvalue v;

		if (!at ||
		    value_bytes(kind, at, n - (size_t)(at - values)) > n - (size_t)(at - values))
			return false;
		get_value(at, kind, &v);
		if (!evtest_holds(&s->v[i], &v))
			return false;
	}
	return true;
}

bool evtype_fits_values(const struct evtype *t, const uint8_t *values, size_t n)
{
	const uint8_t *end = find_field(t, values, n, t->nfield);

	return end && ev_is_padded((size_t)(end - values), n);
}
