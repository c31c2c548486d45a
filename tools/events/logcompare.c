/* SPDX-License-Identifier: Apache-2.0 */
/* omig log compare: what changed between two archives, as a table or as JSON. */
#include "common/json/json.h"
#include "common/base/str.h"
#include "eventlog/archive/arcompare.h"
#include "tools/term/say.h"
#include "tools/events/logarchive.h"
#include "tools/events/logplace.h"
#include "tools/term/table.h"
#include "tools/term/term.h"

#include <inttypes.h>
#include <math.h>

#define OUT_BYTES (64u << 20)

static const char *const whats[] = { "rate", "duration" };
static const char *const verdicts[] = {
	"more", "less", "new", "gone", "not sure", "too few", "same"
};

static const char *word_of(const struct archange *c)
{
	if (c->what == ARCHANGE_DURATION && c->verdict <= ARCHANGE_LESS)
		return c->verdict == ARCHANGE_MORE ? "slower" : "faster";
	return verdicts[c->verdict];
}

/* --- JSON */

static void put_json(struct buf *out, const struct archange *c)
{
	struct json j;

	json_init(&j, out);
	json_object(&j);
	json_key_str(&j, "event", c->name);
	json_key_str(&j, "what", whats[c->what]);
	json_key_str(&j, "verdict", word_of(c));
	json_key_u64(&j, "n", c->n[0]);
	json_key_u64(&j, "n_base", c->n[1]);
	json_key_double(&j, c->what == ARCHANGE_RATE ? "per_s" : "median_s", c->value[0]);
	json_key_double(&j, c->what == ARCHANGE_RATE ? "per_s_base" : "median_s_base", c->value[1]);
	json_key_double(&j, "ratio", c->ratio.value);
	json_key_double(&j, "ratio_low", c->ratio.low);
	json_key_double(&j, "ratio_high", c->ratio.high);
	json_key_double(&j, "p", c->p);
	json_object_end(&j);
	if (json_end(&j))
		out->failed = true;
	buf_putc(out, '\n');
}

/* --- tables */

static void put_value(struct table *t, const struct archange *c, int side)
{
	char text[TABLE_NUMBER_BYTES];

	if (isnan(c->value[side]) || !c->n[side])
		table_cell(t, "-");
	else if (c->what == ARCHANGE_RATE)
		table_cell(t, "%s/s", table_count(text, c->value[side]));
	else
		table_cell(t,
			   c->value[side] < 1e-3 ? "%.3f us"
			   : c->value[side] < 1	 ? "%.3f ms"
						 : "%.3f s",
			   c->value[side] * (c->value[side] < 1e-3 ? 1e6
					     : c->value[side] < 1  ? 1e3
								   : 1));
}

static double percent(double ratio)
{
	return (ratio - 1) * 100;
}

static void put_row(struct table *t, const struct archange *c)
{
	table_cell(t, "%s", word_of(c));
	table_cell(t, "%s", c->name);
	table_cell(t, "%s", whats[c->what]);
	table_cell(t, "%" PRIu64, c->n[0]);
	table_cell(t, "%" PRIu64, c->n[1]);
	put_value(t, c, 0);
	put_value(t, c, 1);
	if (isnan(c->ratio.value))
		table_cell(t, "-");
	else
		table_cell(t, "%+.1f %%", percent(c->ratio.value));
	if (isnan(c->ratio.low))
		table_cell(t, "-");
	else
		table_cell(t, "%+.1f .. %+.1f %%", percent(c->ratio.low), percent(c->ratio.high));
	if (isnan(c->p))
		table_cell(t, "-");
	else
		table_cell(t, "%.2g", c->p);
}

/* Prints rows of certain changes in bold: the first rows, below the heading. */
static void print_painted(const struct term *term, const char *text, size_t nbold)
{
	for (size_t line = 0; *text; line++) {
		size_t n = strcspn(text, "\n");
		bool is_bold = line > 0 && line <= nbold;

		printf("%s%.*s%s\n", is_bold ? term_paint(term, TERM_BOLD) : "", (int)n, text,
		       is_bold ? term_paint(term, TERM_PLAIN) : "");
		text += n + (text[n] == '\n');
	}
}

static size_t count_sure(const struct archange *c, size_t n)
{
	size_t sure = 0;

	for (size_t i = 0; i < n; i++)
		sure += ARCHANGE_IS_SURE(c[i].verdict);
	return sure;
}

static int print_table(const struct term *term, const struct archange *c, size_t n, struct buf *out)
{
	static const char *const heads[] = { "verdict", "event", "what",   "n",	      "n base",
					     "now",	"base",	 "change", "between", "p" };
	struct table *t = table_new(10, heads, "lllrrrrrrr");
	int rc = t ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < n; i++)
		put_row(t, &c[i]);
	rc = rc ? rc : table_print(t, 0, out);
	table_free(t);
	if (!rc)
		print_painted(term, buf_str(out), count_sure(c, n));
	return rc;
}

/* --- both */

static int show(const struct logarchive_options *w, const struct term *term,
		const struct archange *c, size_t n)
{
	struct buf out = BUF_INIT(OUT_BYTES);
	size_t sure = count_sure(c, n);
	int rc = 0;

	if (w->json) {
		for (size_t i = 0; i < n; i++)
			put_json(&out, &c[i]);
		rc = out.failed ? -ERR_NOMEM : 0;
		fwrite(out.p, 1, out.n, stdout);
	} else {
		rc = print_table(term, c, n, &out);
		printf("%zu of %zu surely changed by more than %g %% "
		       "(level %g %% for all together)\n",
		       sure, n, w->least, w->sure);
	}
	buf_done(&out);
	if (rc)
		return cmd_fail(CMD_FAILURE, "out of memory");
	if (fflush(stdout))
		return cmd_fail(CMD_FAILURE, "standard output: %m");
	return sure ? CMD_CHANGED : CMD_OK;
}

static int compare(const struct logarchive_options *w, const struct term *term,
		   const struct archive *now, const struct archive *base)
{
	const struct arcompare_options options = { .least = w->least / 100,
						   .level = w->sure / 100 };
	struct archange *c = NULL;
	struct err e = { 0 };
	size_t n = 0;
	int rc;

	if (arcompare_run(&(struct arcompared){ now, base }, &options, &c, &n, &e))
		return logplace_fail(w->archive, &e);
	rc = show(w, term, c, n);
	arcompare_free(c, n);
	return rc;
}

int logarchive_compare(const struct logarchive_options *w, const char *base)
{
	struct archive *a = NULL, *b = NULL;
	struct err e = { 0 };
	struct term term;
	int rc = CMD_OK;

	term_open(&term, w->color);
	if (archive_open(w->archive, AR_READ, w->timeout_ns, &a, &e))
		rc = logplace_fail(w->archive, &e);
	else if (archive_open(base, AR_READ, w->timeout_ns, &b, &e))
		rc = logplace_fail(base, &e);
	rc = rc != CMD_OK ? rc : compare(w, &term, a, b);
	archive_close(a);
	archive_close(b);
	return rc;
}
