/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/draw/law.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "stats/draw/normal.h"

#include <math.h>
#include <string.h>

#define WORD_BYTES 32

static const struct {
	const char *word;
	double least, most; /* limits of the number in brackets */
	bool has_number;
} kinds[] = {
	[LAW_CONSTANT] = { .word = "constant" },
	[LAW_EXPONENTIAL] = { .word = "exponential" },
	[LAW_ERLANG] = { "erlang", 1, LAW_STAGES_MAX, true },
	[LAW_NORMAL] = { "normal", 0, LAW_NORMAL_CV_MAX, true },
	[LAW_LOGNORMAL] = { "lognormal", 0, LAW_CV_MAX, true },
	[LAW_HYPEREXPONENTIAL] = { "hyperexponential", 1, LAW_CV_MAX, true },
};

static int unknown(const char *text, struct err *e)
{
	return err_set(
		e, ERR_PARSE,
		"'%.30s' is not a distribution: constant, exponential, erlang(K), normal(CV), "
		"lognormal(CV) or hyperexponential(CV)",
		text);
}

/* Splits "normal(0.3)"; number is "" without brackets. Returns false for another form. */
static bool split(const char *text, char word[WORD_BYTES], char number[WORD_BYTES])
{
	size_t n = strcspn(text, "("), rest = strlen(text + n);

	if (n >= WORD_BYTES || rest >= WORD_BYTES || (rest && text[n + rest - 1] != ')'))
		return false;
	memcpy(word, text, n);
	word[n] = 0;
	number[0] = 0;
	if (rest < 2)
		return rest == 0;
	memcpy(number, text + n + 1, rest - 2);
	number[rest - 2] = 0;
	return rest > 2;
}

static int complete(struct law *l, double v, struct err *e)
{
	if (l->kind == LAW_ERLANG) {
		l->stages = (unsigned)v;
		if ((double)l->stages < v || (double)l->stages > v)
			return err_set(e, ERR_INVALID, "erlang(K): K is a whole number, not %g", v);
		v = 1 / sqrt(v);
	}
	l->cv = l->kind == LAW_EXPONENTIAL ? 1 : v;
	return 0;
}

int law_parse(const char *text, struct law *out, struct err *e)
{
	char word[WORD_BYTES], number[WORD_BYTES];
	struct law l = { 0 };
	double v = 0;
	int rc;

	if (!split(text, word, number))
		return unknown(text, e);
	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		if (!str_eq(word, kinds[i].word))
			continue;
		if (kinds[i].has_number != (*number != 0))
			return unknown(text, e);
		l.kind = (enum law_kind)i;
		if (*number && str_to_double(number, kinds[i].least, kinds[i].most, &v))
			return err_set(e, ERR_INVALID, "%s: a number from %g to %g, not '%s'", word,
				       kinds[i].least, kinds[i].most, number);
		rc = complete(&l, v, e);
		if (!rc)
			*out = l;
		return rc;
	}
	return unknown(text, e);
}

void law_print(const struct law *l, struct buf *out)
{
	char number[STR_DOUBLE_BYTES];

	buf_puts(out, kinds[l->kind].word);
	if (l->kind == LAW_ERLANG)
		buf_printf(out, "(%u)", l->stages);
	else if (kinds[l->kind].has_number)
		buf_printf(out, "(%s)", str_from_double(number, l->cv));
}

static double draw_stages(unsigned n, struct rng *r)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += draw_exponential(r);
	return sum / n;
}

static double draw_positive_normal(double cv, struct rng *r)
{
	double v;

	do {
		v = 1 + cv * draw_normal(r);
	} while (v <= 0);
	return v;
}

static double draw_lognormal(double cv, struct rng *r)
{
	double square = log1p(cv * cv);

	return exp(sqrt(square) * draw_normal(r) - square / 2);
}

/* Each branch contributes half of the mean (Allen, Probability, Statistics and Queueing, 1990). */
static double draw_hyperexponential(double cv, struct rng *r)
{
	double square = cv * cv, p = (1 + sqrt((square - 1) / (square + 1))) / 2;
	bool is_first = rng_double(r) < p;

	return draw_exponential(r) / (2 * (is_first ? p : 1 - p));
}

double law_draw(const struct law *l, struct rng *r)
{
	switch (l->kind) {
	case LAW_CONSTANT:
		return 1;
	case LAW_EXPONENTIAL:
		return draw_exponential(r);
	case LAW_ERLANG:
		return draw_stages(l->stages, r);
	case LAW_NORMAL:
		return draw_positive_normal(l->cv, r);
	case LAW_LOGNORMAL:
		return draw_lognormal(l->cv, r);
	case LAW_HYPEREXPONENTIAL:
		return draw_hyperexponential(l->cv, r);
	}
	return 1;
}
