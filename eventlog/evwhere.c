/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/evwhere.h"

#include "common/base/str.h"
#include "eventlog/evbytes.h"

#include <string.h>

bool evpattern_fits(const char *pattern, const char *name)
{
	size_t n = strlen(pattern);

	if (n && pattern[n - 1] == '*')
		return !strncmp(pattern, name, n - 1);
	return str_eq(pattern, name) || str_eq(pattern, "all");
}

/* --- reading */

/* The next word between blanks, cut to what fits with its 0. False: there is none, or it is too long. */
static bool next_word(const char **at, char *out, size_t size)
{
	size_t n;

	*at += strspn(*at, " \t");
	n = strcspn(*at, " \t");
	if (!n || n >= size)
		return false;
	memcpy(out, *at, n);
	out[n] = 0;
	*at += n;
	return true;
}

static int op_from_name(const char *s, enum evwhere_op *out)
{
	static const char *const names[] = { "<", "<=", ">", ">=", "==", "!=" };

	for (int i = EVWHERE_LT; i <= EVWHERE_NE; i++)
		if (str_eq(s, names[i])) {
			*out = (enum evwhere_op)i;
			return 0;
		}
	return -ERR_INVALID;
}

static bool read_compare(const char **at, struct evcompare *out)
{
	char op[4], value[64];

	return next_word(at, out->field, sizeof(out->field)) && next_word(at, op, sizeof(op)) &&
	       next_word(at, value, sizeof(value)) && !op_from_name(op, &out->op) &&
	       !str_to_double(value, -1e308, 1e308, &out->value);
}

int evwhere_read(const char *text, struct evwhere *out, struct err *e)
{
	struct evwhere w = { 0 };
	char word[8];

	text += strspn(text, " \t");
	while (*text) {
		if (w.n == EVWHERE_MAX)
			return err_set(e, ERR_LIMIT, "%d comparisons are the most", EVWHERE_MAX);
		if (!read_compare(&text, &w.v[w.n]))
			return err_set(e, ERR_PARSE, "a comparison is: field, one of < <= > >= == !=, number");
		w.n++;
		text += strspn(text, " \t");
		if (*text && !(next_word(&text, word, sizeof(word)) && str_eq(word, "and") && text[strspn(text, " \t")]))
			return err_set(e, ERR_PARSE, "comparisons are joined by \"and\"");
	}
	*out = w;
	return 0;
}

bool evwhere_bind(const struct evwhere *w, const struct evtype *t, struct evtests *out)
{
	for (unsigned i = 0; i < w->n; i++) {
		unsigned k = 0;

		while (k < t->nfield && !str_eq(t->field[k].name, w->v[i].field))
			k++;
		if (k == t->nfield || t->field[k].kind == EV_STRING)
			return false;
		out->v[i] = (struct evtest){ (uint8_t)k, (uint8_t)w->v[i].op, w->v[i].value };
	}
	out->n = w->n;
	return true;
}

/* --- asking */

static double number_at(const uint8_t *p, enum evkind kind)
{
	int32_t i;
	int64_t l;
	float f;
	double d = 0;

	if (kind == EV_INT32) {
		memcpy(&i, p, sizeof(i));
		d = i;
	} else if (kind == EV_INT64) {
		memcpy(&l, p, sizeof(l));
		d = (double)l;
	} else if (kind == EV_FLOAT) {
		memcpy(&f, p, sizeof(f));
		d = (double)f;
	} else {
		memcpy(&d, p, sizeof(d));
	}
	return d;
}

static bool holds(const struct evtest *c, double v)
{
	switch (c->op) {
	case EVWHERE_LT:
		return v < c->value;
	case EVWHERE_LE:
		return v <= c->value;
	case EVWHERE_GT:
		return v > c->value;
	case EVWHERE_GE:
		return v >= c->value;
	case EVWHERE_EQ:
		return v == c->value;
	default:
		return v != c->value;
	}
}

/* Bytes of the value at p, of which `left` are there at most; more than `left` when it is not whole. */
static size_t value_bytes(enum evkind kind, const uint8_t *p, size_t left)
{
	if (kind == EV_STRING)
		return left < 2 ? 2 : 2u + ev_get16(p, false);
	return kind == EV_INT32 || kind == EV_FLOAT ? 4 : 8;
}

/* The value of a field, or where the last one ends. NULL: the record ends before. */
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

		if (!at || value_bytes(kind, at, n - (size_t)(at - values)) > n - (size_t)(at - values) ||
		    !holds(&s->v[i], number_at(at, kind)))
			return false;
	}
	return true;
}

bool evtype_fits_values(const struct evtype *t, const uint8_t *values, size_t n)
{
	const uint8_t *end = find_field(t, values, n, t->nfield);

	return end && values + n - end <= 3;
}
