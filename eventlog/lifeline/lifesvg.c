/* SPDX-License-Identifier: Apache-2.0 */
/* The picture for papers: white background, no script, vectors only. */
#include "eventlog/lifeline/lifepage.h"
#include "eventlog/lifeline/lifetile.h"
#include "eventlog/lifeline/lifewords.h"
#include "eventlog/lifeline/svgaxis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDE 1000
#define GUTTER 220
#define PLOT (WIDE - GUTTER - 20)
#define TOP 64
#define TICKS 8
#define BAND 48
#define MARK 22
#define LOAD 52
#define NAME_CHARS 30 /* characters of a stage's name in the left margin */
#define SLOW_OVER_DENSITY 40
#define SHADES 5 /* shades of density: a picture needs fewer than a page */

/* The picture, and the time that it covers. */
struct drawing {
	struct buf *out;
	const struct life_model *m;
	double span;
	int loads_at, marks_at, end; /* y */
};

static double x_of(const struct drawing *d, nsec_t t)
{
	return GUTTER + (double)t / d->span * PLOT;
}

static int y_of(unsigned stage)
{
	return TOP + (int)stage * BAND;
}

/* Writes a name, cut after a whole character so that it fits the margin. */
static void put_name(struct buf *out, const char *name, int y)
{
	size_t i = 0, chars = 0;
	char *copy;

	for (; name[i] && chars < NAME_CHARS; chars++)
		do
			i++;
		while (((uint8_t)name[i] & 0xc0) == 0x80);
	copy = strndup(name, i);
	buf_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", GUTTER - 8, y + 4);
	lifepage_put_text(out, copy ? copy : "");
	buf_puts(out, name[i] ? "\xe2\x80\xa6</text>\n" : "</text>\n");
	free(copy);
}

/* --- axes */

static void put_axes(const struct drawing *d)
{
	double step = axis_step(d->span, TICKS);
	char text[LIFEWORDS_TIME_BYTES];

	for (int i = 0; i * step <= d->span && i < 20; i++) {
		double x = GUTTER + i * step / d->span * PLOT;

		buf_printf(d->out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", x, TOP - 6,
			   d->end);
		buf_printf(
			d->out,
			"<text class=\"soft\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
			x, TOP - 12, i ? lifewords_time(text, (nsec_t)(i * step + 0.5)) : "0");
	}
	for (unsigned s = 0; s < d->m->nstage; s++) {
		buf_printf(d->out, "<path class=\"grid\" d=\"M%d %dH%d\"/>\n", GUTTER, y_of(s),
			   GUTTER + PLOT);
		put_name(d->out, d->m->stage[s].name, y_of(s));
	}
}

static void put_head(const struct drawing *d, const char *title, const char *key)
{
	struct buf before = BUF_INIT(4096), behind = BUF_INIT(4096), facts = BUF_INIT(64 * 1024);
	const char *name = lifewords_verdict(d->m, &before, &behind);

	lifewords_facts(d->m, key, &facts);
	buf_printf(
		d->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>Lifelines of ",
		WIDE, d->end + 10, WIDE, d->end + 10);
	lifepage_put_text(d->out, title);
	buf_puts(
		d->out,
		"</title>\n<style>text{font:12px sans-serif;fill:#1b1f24}.soft{fill:#59636e}.grid{stroke:#d8dee4;fill:none}"
		".line,.slow{fill:none;stroke-linejoin:round}.line{stroke:#1f6feb}.slow{stroke:#d4580b}"
		".cell{fill:#1f6feb}.lack{stroke:#c81e3a;fill:none}.load{fill:#1a7f64;fill-opacity:.25;stroke:#1a7f64;stroke-width:.8}"
		".mark{stroke:#8250df}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"12\" y=\"20\">");
	lifepage_put_text(d->out, buf_str(&before));
	if (name)
		lifepage_put_text(d->out, name);
	lifepage_put_text(d->out, buf_str(&behind));
	buf_puts(d->out, "</text>\n<text class=\"soft\" x=\"12\" y=\"37\">");
	lifepage_put_text(d->out, buf_str(&facts));
	buf_puts(d->out, "</text>\n");
	d->out->failed |= before.failed || behind.failed || facts.failed;
	buf_done(&before);
	buf_done(&behind);
	buf_done(&facts);
}

/* --- lines */

static nsec_t duration(const struct life_model *m, const struct life_line *l)
{
	return m->point[l->first + l->n - 1].at - l->at;
}

static int by_length(const void *a, const void *b)
{
	const nsec_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/*
 * Returns the least duration of the slowest 5 %, or of so many lines that a density remains
 * visible.
 */
static nsec_t slow_from(const struct life_model *m)
{
	nsec_t *took = malloc((m->nline + 1) * sizeof(*took)), slow = INT64_MAX;
	size_t i = m->nline > LIFESVG_LINES_MAX ? SLOW_OVER_DENSITY : m->nline / 20;

	if (took && m->nline) {
		for (size_t k = 0; k < m->nline; k++)
			took[k] = duration(m, &m->line[k]);
		qsort(took, m->nline, sizeof(*took), by_length);
		slow = took[i];
	}
	free(took);
	return slow;
}

static void put_lines(const struct drawing *d, bool is_slow, nsec_t slow)
{
	const struct life_model *m = d->m;

	buf_printf(d->out, "<path class=\"%s\" stroke-opacity=\"%.2f\" d=\"",
		   is_slow ? "slow" : "line",
		   m->nline > LIFESVG_LINES_MAX ? 0.5
		   : is_slow || m->nline < 100	? 0.8
						: 0.5);
	for (size_t i = 0; i < m->nline; i++) {
		const struct life_line *l = &m->line[i];

		if ((duration(m, l) > slow) != is_slow)
			continue;
		for (uint32_t k = 0; k < l->n; k++)
			buf_printf(d->out, "%c%.2f %d", k ? 'L' : 'M',
				   x_of(d, m->point[l->first + k].at),
				   y_of(m->point[l->first + k].stage));
	}
	buf_puts(d->out, "\"/>\n");
}

static unsigned coarse(const struct lifetile *t, float count)
{
	return (lifetile_shade(t, count) + 2) / 3;
}

/* Writes one path for each shade: rows of equal cells, as flat boxes. */
static void put_shade(const struct drawing *d, const struct lifetile *t, unsigned shade)
{
	double w = (double)PLOT / t->columns, h = (double)BAND / t->fine;

	buf_printf(d->out, "<path class=\"cell\" fill-opacity=\"%.2f\" d=\"",
		   0.12 + 0.88 * shade / SHADES);
	for (unsigned r = 0; r < t->rows; r++)
		for (unsigned x = 0, n; x < t->columns; x += n) {
			const float *c = t->count + (size_t)r * t->columns;

			for (n = 1; x + n < t->columns && coarse(t, c[x + n]) == coarse(t, c[x]);)
				n++;
			if (coarse(t, c[x]) == shade)
				buf_printf(d->out, "M%.2f %.1fh%.2fv%.1fh-%.2fz", GUTTER + x * w,
					   TOP + r * h, n * w, h, n * w);
		}
	buf_puts(d->out, "\"/>\n");
}

static int put_density(const struct drawing *d)
{
	struct lifetile t;

	if (lifetile_draw(&t, d->m, 0))
		return -ERR_NOMEM;
	for (unsigned i = 1; i <= SHADES; i++)
		put_shade(d, &t, i);
	lifetile_done(&t);
	return 0;
}

static int put_all_lines(const struct drawing *d)
{
	nsec_t slow = slow_from(d->m);
	int rc = 0;

	if (d->m->nline > LIFESVG_LINES_MAX)
		rc = put_density(d);
	else
		put_lines(d, false, slow);
	put_lines(d, true, slow);
	return rc;
}

/* --- missing events, by stage; marks; loads */

static void put_lacks(const struct drawing *d)
{
	char n[LIFEWORDS_TIME_BYTES + 8];

	for (unsigned s = 0; s < d->m->nstage; s++)
		if (d->m->stage[s].missing)
			buf_printf(
				d->out,
				"<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#c81e3a\" style=\"font-size:10px;fill:#c81e3a\">"
				"%s missing</text>\n",
				GUTTER - 8, y_of(s) + 16,
				lifewords_count(n, d->m->stage[s].missing));
}

static void put_marks(const struct drawing *d, const struct life_series *s, int y)
{
	double before = -1;

	put_name(d->out, s->name, y + MARK / 2);
	buf_puts(d->out, "<path class=\"mark\" d=\"");
	for (size_t i = 0; i < s->n; i++) {
		double x = floor(x_of(d, s->sample[i].at) * 2) / 2;

		if (x > before)
			buf_printf(d->out, "M%.1f %dv%d", x, y + 4, MARK - 8);
		before = x;
	}
	buf_puts(d->out, "\"/>\n");
}

/* Draws the area between the smallest and the largest value of each pixel. */
static void put_range(const struct drawing *d, const struct liferange *r, double low, double scale,
		      int y)
{
	bool is_first = true;

	buf_puts(d->out, "<path class=\"load\" d=\"");
	for (int i = 0; i < PLOT; i++)
		if (r[i].min <= r[i].max) {
			buf_printf(d->out, "%c%d %.1f", is_first ? 'M' : 'L', GUTTER + i,
				   y + (1 - (r[i].max - low) * scale) * (LOAD - 12));
			is_first = false;
		}
	for (int i = PLOT - 1; i >= 0; i--)
		if (r[i].min <= r[i].max)
			buf_printf(d->out, "L%d %.1f", GUTTER + i,
				   y + (1 - (r[i].min - low) * scale) * (LOAD - 12));
	buf_puts(d->out, is_first ? "\"/>\n" : "z\"/>\n");
}

static int put_load(const struct drawing *d, const struct life_series *s, int y)
{
	struct liferange *r = malloc(PLOT * sizeof(*r));
	double low = s->min >= 0 && s->min < s->max * 0.7 ? 0 : s->min, range = s->max - low;

	if (!r)
		return -ERR_NOMEM;
	lifetile_range(d->m, s, r, PLOT);
	put_name(d->out, s->name, y + LOAD / 2);
	buf_printf(d->out,
		   "<text class=\"soft\" x=\"%d\" y=\"%d\" style=\"font-size:9px\">%.4g</text>\n",
		   GUTTER + 4, y + 4, s->max);
	put_range(d, r, low, range > 0 && isfinite(range) ? 1 / range : 0, y);
	free(r);
	return 0;
}

static int put_series(const struct drawing *d)
{
	int marks_at = d->marks_at, loads_at = d->loads_at, rc = 0;

	for (size_t i = 0; i < d->m->nseries && !rc; i++) {
		const struct life_series *s = &d->m->series[i];

		if (s->is_marks) {
			put_marks(d, s, marks_at);
			marks_at += MARK;
		} else {
			rc = put_load(d, s, loads_at);
			loads_at += LOAD;
		}
	}
	return rc;
}

int lifepage_svg(struct buf *out, const struct life_model *m, const char *title, const char *key,
		 struct err *e)
{
	struct drawing d = { .out = out,
			     .m = m,
			     .span = m->end > m->start ? (double)(m->end - m->start) : 1 };
	int nmarks = 0, rc;

	for (size_t i = 0; i < m->nseries; i++)
		nmarks += m->series[i].is_marks;
	d.marks_at = y_of(m->nstage > 1 ? m->nstage - 1 : 1) + 26;
	d.loads_at = d.marks_at + nmarks * MARK;
	d.end = d.loads_at + ((int)m->nseries - nmarks) * LOAD;
	put_head(&d, title, key);
	put_axes(&d);
	rc = put_all_lines(&d);
	put_lacks(&d);
	rc = rc ? rc : put_series(&d);
	buf_puts(out, "</svg>\n");
	if (rc)
		return err_set(e, ERR_NOMEM, "out of memory");
	return out->failed ? err_set(e, ERR_LIMIT, "a picture of more than %u MiB",
				     LIFEPAGE_MAX_BYTES >> 20)
			   : 0;
}
