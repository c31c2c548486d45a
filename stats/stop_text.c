/* SPDX-License-Identifier: Apache-2.0 */
/* Stop rules as text. */
#include "stats/stop.h"

#include "common/base/array.h"
#include "common/base/str.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define WORD_BYTES 40

static const char *const readings[] = { "law-kelton", "printed", "plain" };

struct scan {
	const char *text, *at;
	struct err *e;
};

static int wrong(struct scan *s, const char *wanted)
{
	err_set(s->e, ERR_PARSE, "%s expected at column %zu of '%.60s'", wanted,
		(size_t)(s->at - s->text) + 1, s->text);
	err_at(s->e, 1, (unsigned)(s->at - s->text) + 1);
	return -ERR_PARSE;
}

static void skip_space(struct scan *s)
{
	while (*s->at == ' ' || *s->at == '\t')
		s->at++;
}

static bool take(struct scan *s, const char *symbol)
{
	skip_space(s);
	if (!str_has_prefix(s->at, symbol))
		return false;
	s->at += strlen(symbol);
	return true;
}

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_';
}

/* Matches whole words only: `nn` is not `n`. */
static bool take_word(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	skip_space(s);
	if (strncmp(s->at, word, n) || is_of_word(s->at[n]))
		return false;
	s->at += n;
	return true;
}

/*
 * Reads digits, a point and an exponent with its sign; a `-` between words is not part of a number.
 */
static int take_number(struct scan *s, const char *wanted, double *out)
{
	char word[WORD_BYTES];
	size_t n = 0;

	skip_space(s);
	while (n < sizeof(word) - 1 &&
	       (isalnum((unsigned char)s->at[n]) || s->at[n] == '.' ||
		(n && strchr("+-", s->at[n]) && strchr("eE", s->at[n - 1]) && s->at[n])))
		n++;
	memcpy(word, s->at, n);
	word[n] = 0;
	if (str_to_double(word, 0, 1e300, out))
		return wrong(s, wanted);
	s->at += n;
	return 0;
}

/* Reads a count up to 2^53, which a double represents exactly. */
static int take_count(struct scan *s, uint64_t *out)
{
	const char *from = s->at;
	double v;
	int rc = take_number(s, "a number of values", &v);

	if (rc)
		return rc;
	s->at = v >= 1 && v <= 0x1p53 && v == (double)(uint64_t)v ? s->at : from;
	if (s->at == from)
		return wrong(s, "a whole number of values, 1 or more,");
	*out = (uint64_t)v;
	return 0;
}

static int take_share(struct scan *s, const char *wanted, double *out, bool *is_percent)
{
	int rc = take_number(s, wanted, out);

	if (rc)
		return rc;
	*is_percent = take(s, "%");
	if (*is_percent)
		*out /= 100;
	return 0;
}

static int take_argument(struct scan *s, struct stop_term *t)
{
	for (unsigned i = 0; i < ARRAY_LEN(readings); i++)
		if (take_word(s, readings[i])) {
			t->reading = (enum stop_reading)i;
			return 0;
		}
	if (take_word(s, "batches")) {
		t->by_batches = true;
		return 0;
	}
	if (take_word(s, "min"))
		return take_count(s, &t->count_min);
	return wrong(s, "law-kelton, printed, plain, batches or min N");
}

static int take_interval(struct scan *s, struct stop_term *t)
{
	bool is_percent;
	int rc = take(s, "(") ? take_share(s, "a level, 0.95 for instance,", &t->level, &is_percent)
			      : wrong(s, "'(' and a level");

	t->count_min = STOP_COUNT_MIN;
	while (!rc && take(s, ","))
		rc = take_argument(s, t);
	if (!rc && !take(s, ")"))
		rc = wrong(s, "',' or ')'");
	if (!rc && !take(s, "<=") && !take(s, "<"))
		rc = wrong(s, "'<'");
	return rc ? rc : take_share(s, "a width, 5% for instance,", &t->width, &t->is_relative);
}

static int check_interval(struct stop_term *t, struct err *e)
{
	struct stop tried;
	int rc = stop_on_interval(&tried, t->level, t->is_relative ? t->width : 0.5, e);

	if (!rc && !(t->width > 0))
		return err_set(e, ERR_INVALID, "a width is more than 0");
	if (!rc)
		t->z = tried.term[0].z;
	return rc;
}

static int take_term(struct scan *s, struct stop_term *t)
{
	int rc;

	if (take_word(s, "n")) {
		t->kind = STOP_ON_COUNT;
		return take(s, ">=") ? take_count(s, &t->count) : wrong(s, "'>='");
	}
	if (!take_word(s, "ci"))
		return wrong(s, "'n >= N' or 'ci(LEVEL) < WIDTH'");
	t->kind = STOP_ON_INTERVAL;
	rc = take_interval(s, t);
	return rc ? rc : check_interval(t, s->e);
}

/* Returns false at the end of the text. */
static bool take_joint(struct scan *s, bool *is_or)
{
	*is_or = take_word(s, "or");
	return *is_or || take_word(s, "and");
}

int stop_parse(const char *text, struct stop *out, struct err *e)
{
	struct scan s = { .text = text, .at = text, .e = e };
	struct stop made = { 0 };
	bool is_or = false;
	int rc;

	do {
		if (made.n == STOP_TERMS_MAX)
			return err_set(e, ERR_LIMIT, "more than %d conditions", STOP_TERMS_MAX);
		made.term[made.n].is_alternative = is_or;
		rc = take_term(&s, &made.term[made.n++]);
		if (rc)
			return rc;
	} while (take_joint(&s, &is_or));
	skip_space(&s);
	if (*s.at)
		return wrong(&s, "'and', 'or' or the end");
	*out = made;
	return 0;
}

/* Prints 0.07 as "7%", though 0.07 * 100 is not exactly 7. */
static void print_share(struct buf *out, double v, bool is_percent)
{
	char text[STR_DOUBLE_BYTES];
	double percent = nearbyint(v * 1e14) / 1e12;

	if (percent / 100 != v)
		percent = v * 100;
	buf_printf(out, "%s%s", str_from_double(text, is_percent ? percent : v),
		   is_percent ? "%" : "");
}

static void print_interval(const struct stop_term *t, struct buf *out)
{
	buf_puts(out, "ci(");
	print_share(out, t->level, false);
	if (t->reading != STOP_LAW_KELTON)
		buf_printf(out, ", %s", readings[t->reading]);
	if (t->by_batches)
		buf_puts(out, ", batches");
	if (t->count_min != STOP_COUNT_MIN)
		buf_printf(out, ", min %" PRIu64, t->count_min);
	buf_puts(out, ") < ");
	print_share(out, t->width, t->is_relative);
}

void stop_print(const struct stop *s, struct buf *out)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct stop_term *t = &s->term[i];

		if (i)
			buf_puts(out, t->is_alternative ? " or " : " and ");
		if (t->kind == STOP_ON_COUNT)
			buf_printf(out, "n >= %" PRIu64, t->count);
		else
			print_interval(t, out);
	}
}
