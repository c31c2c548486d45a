/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/measure/charts.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "tools/measure/charts_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_NS (10 * 60 * NSEC_PER_SEC)
#define LINES_MAX 8 /* as many curves as there are colours; of more objects a map is drawn */
#define BINS_MAX 4096
#define WORDS_BYTES 4096
#define KEYS_WORDS "c: next chart  space: freeze  left, right: scroll  q: quit"

static const char *const kinds[CHARTS_KINDS] = { "auto", "line",  "band", "heat",
						 "bar",	 "spark", "hist" };

struct charts {
	struct history *history;
	enum charts_kind kind;
	struct paint paint;
	size_t frozen; /* reads that have arrived since the picture was frozen */
	size_t back; /* reads by which the picture is scrolled back from there */
	bool is_frozen;
	/* owned: the buckets of the last histogram; NULL: none has arrived */
	struct bars_bin *bin;
	size_t nbin;
};

int charts_kind(void *into, const char *text, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_eq(text, kinds[i])) {
			*(enum charts_kind *)into = (enum charts_kind)i;
			return 0;
		}
	return err_set(e, ERR_INVALID, "line, band, heat, bar, spark, hist or auto, not '%.20s'",
		       text);
}

int charts_glyphs(void *into, const char *text, struct err *e)
{
	if (!paint_glyphs(text, into))
		return 0;
	return err_set(e, ERR_INVALID, "ascii, blocks, braille or auto, not '%.20s'", text);
}

struct charts *charts_new(enum charts_kind kind, struct paint paint, int64_t every_ns)
{
	struct charts *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->history = history_new((size_t)(KEPT_NS / (every_ns > 0 ? every_ns : NSEC_PER_SEC)));
	c->kind = kind;
	c->paint = paint;
	if (c->history)
		return c;
	free(c);
	return NULL;
}

void charts_free(struct charts *c)
{
	if (!c)
		return;
	history_free(c->history);
	free(c->bin);
	free(c);
}

/* --- reads */

/* Keeps the buckets of the last histogram. */
static int take_bins(struct charts *c, const Omis_value *list)
{
	size_t n = list->n < BINS_MAX ? list->n : BINS_MAX;
	struct bars_bin *bin = calloc(n + 1, sizeof(*bin));

	if (!bin)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		bin[i] = (struct bars_bin){ value_float(&list->list[i], 0),
					    value_float(&list->list[i], 1),
					    (double)value_int(&list->list[i], 2) };
	free(c->bin);
	c->bin = bin;
	c->nbin = n;
	return 0;
}

struct adding {
	struct charts *charts;
	const struct measurement *m;
	int rc;
};

static void add_value(void *arg, const struct measured *v)
{
	struct adding *a = arg;
	char label[MEASURED_LABEL_BYTES];
	int rc;

	measurement_label_of(a->m, v, label, sizeof(label));
	rc = v->buckets ? take_bins(a->charts, v->buckets) : 0;
	if (!rc)
		rc = history_set(a->charts->history, label, v->k ? v->value : NAN, v->error);
	if (rc == -ERR_NOMEM)
		a->rc = rc;
}

int charts_add(struct charts *c, const struct measurement *m, const struct reading *r)
{
	struct adding a = { c, m, 0 };

	history_begin(c->history, value_int(r->part[0], READ_UNTIL));
	if (c->is_frozen && c->frozen < history_reads(c->history))
		c->frozen++;
	measurement_each(m, r, add_value, &a);
	return a.rc;
}

/* --- keys */

static bool freeze(struct charts *c, bool is_frozen)
{
	c->is_frozen = is_frozen;
	c->frozen = c->back = 0;
	return true;
}

static bool scroll(struct charts *c, int by)
{
	size_t most = history_reads(c->history);

	if (by < 0 && c->frozen + c->back + 1 < most)
		c->back++;
	else if (by > 0 && c->back)
		c->back--;
	c->is_frozen = true;
	return true;
}

bool charts_key(struct charts *c, int key)
{
	switch (key) {
	case 'c':
		c->kind = (c->kind + 1) % CHARTS_KINDS;
		return true;
	case ' ':
	case 'p':
		return freeze(c, !c->is_frozen);
	case TERM_KEY_LEFT:
	case '[':
		return scroll(c, -1);
	case TERM_KEY_RIGHT:
	case ']':
		return scroll(c, 1);
	default:
		return false;
	}
}

bool charts_is_frozen(const struct charts *c)
{
	return c->is_frozen;
}

/* --- drawing */

static enum charts_kind kind_of(const struct charts *c)
{
	if (c->kind != CHARTS_AUTO)
		return c->kind;
	return c->bin					 ? CHARTS_HIST
	       : history_objects(c->history) > LINES_MAX ? CHARTS_HEAT
							 : CHARTS_LINE;
}

static struct charts_view view_of(const struct charts *c, const struct measurement *m)
{
	size_t reads = history_reads(c->history), hidden = c->frozen + c->back;

	return (struct charts_view){ .history = c->history,
				     .end = hidden < reads ? reads - hidden
					    : reads	   ? 1
							   : 0,
				     .kind = kind_of(c),
				     .metric = m->options->metric,
				     .unit = m->unit,
				     .bin = c->bin,
				     .nbin = c->nbin,
				     .paint = c->paint };
}

static void print_words(const struct charts_view *v, struct grid *g)
{
	struct buf words = BUF_INIT(WORDS_BYTES);

	charts_words(v, &words);
	if (words.n)
		words.p[--words.n] = 0; /* the line feed */
	grid_text(g, (struct grid_span){ 0, 0, grid_all(g).cols }, buf_str(&words), PAINT_NO_INK);
	buf_done(&words);
}

static void print_keys(const struct charts *c, const struct measurement *m, struct grid *g)
{
	struct grid_area all = grid_all(g);
	char words[160];

	snprintf(words, sizeof(words), "%s%s", c->is_frozen ? "frozen  " : "", KEYS_WORDS);
	if (m->term.is_raw)
		grid_text(g, (struct grid_span){ all.rows - 1, 0, all.cols }, words, PAINT_NO_INK);
}

/* Drops blank lines below the picture. */
static void drop_blank_lines(struct buf *out)
{
	while (out->n > 1 && out->p[out->n - 1] == '\n' && out->p[out->n - 2] == '\n')
		out->p[--out->n] = 0;
}

int charts_draw(const struct charts *c, const struct measurement *m, struct grid_area size,
		struct buf *out)
{
	struct charts_view v = view_of(c, m);
	struct grid *g = grid_new(size.rows, size.cols);
	struct grid_area all;
	unsigned foot = m->term.is_raw ? 1 : 0;
	int rc;

	if (!g)
		return -ERR_NOMEM;
	all = grid_all(g);
	print_words(&v, g);
	rc = all.rows > foot + 2
		     ? charts_picture(&v, g,
				      (struct grid_area){ 2, 0, all.rows - 2 - foot, all.cols })
		     : 0;
	if (rc == -ERR_LIMIT)
		grid_text(g, (struct grid_span){ 1, 0, all.cols }, "the window is too small",
			  PAINT_NO_INK);
	print_keys(c, m, g);
	if (rc != -ERR_NOMEM)
		rc = grid_print(g, c->paint.depth, out);
	drop_blank_lines(out);
	grid_free(g);
	return rc;
}
