/* SPDX-License-Identifier: Apache-2.0 */
/* A square for each pair that has a value; its title has the number. */
#include "tools/waits/matrix.h"

#include "eventlog/lifeline/lifepage.h"
#include "eventlog/lifeline/svgaxis.h"

#include <math.h>
#include <stdio.h>

#define LEFT 64
#define TOP 64
#define SIDE 640 /* of the matrix, at least */
#define LEAST_CELL 1.0 /* pixels: more ranks make a larger picture */
#define LABELS 16 /* ranks with their numbers, on each side */
#define ROWS_MAX 5000 /* of the table below the picture */
#define FAINTEST .12 /* values above 0 are visible */

static const char style[] =
	":root,svg{color-scheme:light dark}"
	"text{font:12px sans-serif;fill:#1b1f24}.soft{fill:#59636e}.grid{stroke:#d8dee4;fill:none}"
	".back{fill:#fff}.cell{fill:#1f6feb}"
	"@media (prefers-color-scheme:dark){text{fill:#e6edf3}.soft{fill:#9da7b3}"
	".grid{stroke:#3d444d}.back{fill:#0d1117}.cell{fill:#58a6ff}}";

static double cell_of(const struct matrix *m)
{
	double n = (double)(m->x->world_size > 0 ? m->x->world_size : 1);

	return fmax(SIDE / n, LEAST_CELL);
}

static void put_labels(struct buf *out, const struct matrix *m, double cell)
{
	int64_t n = m->x->world_size, step = (n + LABELS - 1) / LABELS;
	char number[24];

	for (int64_t i = 0; step && i < n; i += step) {
		double at = ((double)i + .5) * cell;

		snprintf(number, sizeof(number), "%lld", (long long)i);
		svg_text(out, LEFT - 8, TOP + at + 4, "class=\"soft\" text-anchor=\"end\"", number);
		svg_text(out, LEFT + at, TOP - 8, "class=\"soft\" text-anchor=\"middle\"", number);
	}
}

static void put_cell(struct buf *out, const struct matrix *m, const struct matrix_cell *c,
		     double cell)
{
	char pair[MATRIX_PAIR_BYTES], value[MATRIX_VALUE_BYTES];

	buf_printf(out,
		   "<rect class=\"cell\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
		   "fill-opacity=\"%.3f\"><title>",
		   LEFT + c->partner * cell, TOP + c->rank * cell, cell, cell,
		   FAINTEST + (1 - FAINTEST) * c->value / m->most);
	lifepage_put_text(out, matrix_pair(pair, m, c));
	buf_printf(out, ": %s</title></rect>\n", matrix_value(value, m, c->value));
}

static void put_title(struct buf *out, const struct matrix *m)
{
	struct buf text = BUF_INIT(1024);

	matrix_verdict(&text, m);
	if (text.n)
		text.p[text.n - 1] = '\0';
	lifepage_put_text(out, buf_str(&text));
	out->failed |= text.failed;
	buf_done(&text);
}

static void put_picture(struct buf *out, const struct matrix *m, bool is_alone)
{
	double cell = cell_of(m), side = cell * (double)m->x->world_size;

	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%.0f\" "
		   "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n<title>",
		   LEFT + side + 16, TOP + side + 16, LEFT + side + 16, TOP + side + 16);
	put_title(out, m);
	buf_puts(out, "</title>\n");
	if (is_alone)
		buf_printf(out, "<style>%s</style>\n", style);
	buf_puts(out, "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n"
		      "<text x=\"12\" y=\"20\">");
	put_title(out, m);
	buf_puts(out, "</text>\n");
	buf_printf(out, "<rect class=\"grid\" x=\"%d\" y=\"%d\" width=\"%.2f\" height=\"%.2f\"/>\n",
		   LEFT, TOP, side, side);
	svg_text(out, 12, TOP - 8, "class=\"soft\"", "rank");
	svg_text(out, LEFT, TOP - 24, "class=\"soft\"", "partner");
	put_labels(out, m, cell);
	for (size_t i = 0; i < m->n; i++)
		put_cell(out, m, &m->cell[i], cell);
	buf_puts(out, "</svg>\n");
}

void matrix_svg(struct buf *out, const struct matrix *m)
{
	put_picture(out, m, true);
}

static void put_table(struct buf *out, const struct matrix *m)
{
	char value[MATRIX_VALUE_BYTES], bound[MATRIX_VALUE_BYTES];

	buf_puts(out,
		 "<table>\n<caption>The same as a table</caption>\n<thead><tr>"
		 "<th scope=\"col\">rank</th><th scope=\"col\">partner</th><th "
		 "scope=\"col\">value</th><th scope=\"col\">bound</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < m->n && i < ROWS_MAX; i++)
		buf_printf(out, "<tr><td>%d</td><td>%d</td><td>%s</td><td>%s</td></tr>\n",
			   m->cell[i].rank, m->cell[i].partner,
			   matrix_value(value, m, m->cell[i].value),
			   m->cell[i].error > 0 ? matrix_value(bound, m, m->cell[i].error) : "");
	buf_puts(out, "</tbody>\n</table>\n");
	if (m->n > ROWS_MAX)
		buf_printf(out, "<p>%zu more pairs are in the picture; --csv has all.</p>\n",
			   m->n - ROWS_MAX);
}

void matrix_html(struct buf *out, const struct matrix *m)
{
	buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		      "style-src 'unsafe-inline'\">\n<title>");
	put_title(out, m);
	buf_printf(out,
		   "</title>\n<style>%s"
		   "body{font:14px sans-serif;margin:1em;background:#fff;color:#1b1f24}"
		   "table{border-collapse:collapse}td,th{padding:2px 10px;text-align:right}"
		   "caption{text-align:left;font-weight:bold}"
		   "@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}}"
		   "</style>\n</head>\n<body>\n<main>\n<h1>%s</h1>\n<p>",
		   style, m->metric.name);
	put_title(out, m);
	buf_puts(out, "</p>\n");
	put_picture(out, m, false);
	put_table(out, m);
	buf_puts(out, "</main>\n</body>\n</html>\n");
}
