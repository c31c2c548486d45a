/* SPDX-License-Identifier: Apache-2.0 */
/* A summary as a page without a script: sentences, tables, and two pictures that repeat them. */
#include "tools/summary/summary_text.h"

#include "eventlog/lifeline/lifepage.h"
#include "tools/summary/summary_tables.h"

#include <math.h>
#include <stdlib.h>

#define BAR_WIDE 720
#define BAR_HIGH 14
#define BARS_MAX 512 /* a taller picture shows less than the table */
#define TIME_HIGH 120

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'\">\n<style>\n"
	":root { color-scheme: light dark; --ink: #1b1b1b; --paper: #fff; --soft: #5a5a5a;\n"
	"  --line: #d0d0d0; --mpi: #b5530b; --own: #2a6f97; }\n"
	"@media (prefers-color-scheme: dark) { :root { --ink: #ececec; --paper: #161616;\n"
	"  --soft: #b0b0b0; --line: #444; --mpi: #f0a060; --own: #7cc0e8; } }\n"
	"body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink);\n"
	"  background: var(--paper); max-width: 72rem; margin: 1.5rem auto; padding: 0 1rem; }\n"
	"table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }\n"
	"caption { text-align: left; font-weight: 600; padding: .3rem 0; }\n"
	"th, td { padding: .15rem .7rem; border-bottom: 1px solid var(--line); text-align: left; }\n"
	"th { color: var(--soft); font-weight: 600; }\n"
	".r { text-align: right; } .wide { overflow-x: auto; }\n"
	"svg text { fill: var(--ink); font: 11px system-ui, sans-serif; }\n"
	".mpi { fill: var(--mpi); } .own { fill: var(--own); }\n"
	".curve { fill: none; stroke: var(--mpi); stroke-width: 2; }\n"
	".grid { stroke: var(--line); fill: none; }\n"
	"</style>\n";

/* --- tables */

/* The first cell of a row is its head. */
static bool put_cell(void *arg, size_t row, size_t column, const char *text, bool is_right)
{
	struct buf *out = arg;
	bool is_head = !row || !column;

	if (!column)
		buf_puts(out, row == 1 ? "</tr></thead>\n<tbody>\n<tr>"
			      : row    ? "</tr>\n<tr>"
				       : "<thead><tr>");
	buf_printf(out, "<%s%s%s>", is_head ? "th" : "td",
		   !row	     ? " scope=\"col\""
		   : is_head ? " scope=\"row\""
			     : "",
		   is_right ? " class=\"r\"" : "");
	lifepage_put_text(out, text);
	buf_puts(out, is_head ? "</th>" : "</td>");
	return !out->failed;
}

static int put_table(struct buf *out, const char *caption, const struct table *tab)
{
	bool ok;

	buf_puts(out, "<div class=\"wide\"><table>\n<caption>");
	lifepage_put_text(out, caption);
	buf_puts(out, "</caption>\n");
	ok = table_each(tab, put_cell, out);
	buf_puts(out, "</tr></tbody>\n</table></div>\n");
	return ok ? 0 : -ERR_NOMEM;
}

/* --- pictures */

static void put_bar(struct buf *out, const struct summary_process *p, double longest, size_t row)
{
	double mpi = summary_mpi_seconds(p), scale = BAR_WIDE / longest;
	int y = (int)row * (BAR_HIGH + 4);

	buf_printf(out, "<text x=\"60\" y=\"%d\" text-anchor=\"end\">rank %lld</text>",
		   y + BAR_HIGH - 3, (long long)p->rank);
	if (isnan(mpi)) {
		buf_printf(out, "<text x=\"70\" y=\"%d\">not known</text>\n", y + BAR_HIGH - 3);
		return;
	}
	buf_printf(out,
		   "<rect class=\"own\" x=\"70\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>"
		   "<rect class=\"mpi\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
		   y, (p->seconds - mpi) * scale, BAR_HIGH, 70 + (p->seconds - mpi) * scale, y,
		   mpi * scale, BAR_HIGH);
}

static void put_bars(struct buf *out, const struct summary_section *of)
{
	double longest = efficiency_of(of).seconds;
	size_t rows = of->n < BARS_MAX ? of->n : BARS_MAX;

	if (!(longest > 0))
		return;
	buf_printf(out,
		   "<svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\">\n"
		   "<title>Time outside of MPI (first) and in MPI of %s%zu rank%s; the table of "
		   "ranks has the values</title>\n",
		   BAR_WIDE + 80, (int)rows * (BAR_HIGH + 4), BAR_WIDE + 80,
		   rows < of->n ? "the first " : "", rows, rows == 1 ? "" : "s");
	for (size_t i = 0; i < rows; i++)
		put_bar(out, &of->process[i], longest, i);
	buf_puts(out, "</svg>\n");
}

static double share_of(const struct summary_slice *slice)
{
	double sum = 0;

	for (size_t i = 0; i < slice->n; i++)
		sum += slice->seconds[i];
	return slice->rank_s > 0 ? fmin(1, sum / slice->rank_s) : 0;
}

static void put_curve(struct buf *out, const struct summary_section *of)
{
	double begin = of->nslice ? of->slice[0].begin_s : 0,
	       end = of->nslice ? of->slice[of->nslice - 1].end_s : 0;

	if (of->nslice < 2 || !(end > begin))
		return;
	buf_printf(out,
		   "<svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\">\n"
		   "<title>Share of time in MPI over time, in %zu slices of together %.1f s"
		   "</title>\n<path class=\"grid\" d=\"M70 10H%dM70 %dH%d\"/>\n"
		   "<text x=\"60\" y=\"14\" text-anchor=\"end\">100 %%</text>"
		   "<text x=\"60\" y=\"%d\" text-anchor=\"end\">0 %%</text>\n"
		   "<path class=\"curve\" d=\"",
		   BAR_WIDE + 80, TIME_HIGH + 20, BAR_WIDE + 80, of->nslice, end - begin,
		   BAR_WIDE + 70, TIME_HIGH + 10, BAR_WIDE + 70, TIME_HIGH + 14);
	for (size_t i = 0; i < of->nslice; i++) {
		const struct summary_slice *slice = &of->slice[i];
		double y = 10 + TIME_HIGH * (1 - share_of(slice));

		buf_printf(out, "%s%.1f %.1fH%.1f", i ? "L" : "M",
			   70 + (slice->begin_s - begin) / (end - begin) * BAR_WIDE, y,
			   70 + (slice->end_s - begin) / (end - begin) * BAR_WIDE);
	}
	buf_puts(out, "\"/>\n</svg>\n");
}

/* --- the page */

struct page {
	struct summary_writer w;
	struct buf words; /* the sentence that is being composed */
};

static void end_sentence(struct page *p)
{
	if (p->words.n) {
		buf_puts(p->w.out, "<p>");
		lifepage_put_text(p->w.out, buf_str(&p->words));
		buf_puts(p->w.out, "</p>\n");
	}
	buf_clear(&p->words);
}

static void put_world(struct page *p, const struct summary_section *of, size_t number)
{
	size_t n;
	struct call_sum *sum = efficiency_calls(of, &n);

	buf_printf(p->w.out, "<section>\n<h2>MPI program %zu</h2>\n", number);
	if (!summary_only_world(p->w.s)) {
		summary_say_section(of, &p->words);
		end_sentence(p);
	}
	summary_say_calls(sum, n, &p->words);
	end_sentence(p);
	summary_say_efficiency(of, &p->words);
	end_sentence(p);
	put_bars(p->w.out, of);
	if (n)
		summary_put_calls(&p->w, of, sum, n);
	summary_put_ranks(&p->w, of);
	put_curve(p->w.out, of);
	summary_put_pairs(&p->w, of);
	summary_put_hosts(&p->w, of);
	buf_puts(p->w.out, "</section>\n");
	free(sum);
}

static void put_missing(struct page *p, const struct summary *s)
{
	if (!s->nnote)
		return;
	buf_puts(p->w.out, "<section>\n<h2>Not covered</h2>\n<ul>\n");
	for (size_t i = 0; i < s->nnote; i++) {
		buf_puts(p->w.out, "<li>");
		lifepage_put_text(p->w.out, s->note[i]);
		buf_puts(p->w.out, "</li>\n");
	}
	buf_puts(p->w.out, "</ul>\n</section>\n");
}

int summary_html(const struct summary *s, struct buf *out)
{
	struct page p = { .w = { .s = s, .all = true, .out = out, .put = put_table },
			  .words = BUF_INIT(SUMMARY_FILE_MAX_BYTES) };

	buf_puts(out, head);
	buf_puts(out, "<title>Summary of job ");
	lifepage_put_text(out, s->job);
	buf_puts(out, "</title>\n</head>\n<body>\n<main>\n<h1>Summary of job ");
	lifepage_put_text(out, s->job);
	buf_puts(out, "</h1>\n");
	summary_say_job(s, &p.words);
	end_sentence(&p);
	summary_say_sites(s, &p.words);
	end_sentence(&p);
	put_missing(&p, s);
	for (size_t i = 0; i < s->n; i++)
		if (s->section[i].world_size)
			put_world(&p, &s->section[i], i + 1);
		else
			summary_put_programs(&p.w, &s->section[i]);
	if (s->nsite)
		buf_puts(out, "<section>\n<h2>Call sites</h2>\n");
	summary_put_sites(&p.w);
	if (s->nsite)
		buf_puts(out, "</section>\n");
	if (s->nsize)
		buf_puts(out, "<section>\n<h2>Sizes</h2>\n");
	summary_put_sizes(&p.w);
	if (s->nsize)
		buf_puts(out, "</section>\n");
	buf_puts(out, "</main>\n</body>\n</html>\n");
	buf_done(&p.words);
	return p.w.rc ? p.w.rc : out->failed ? -ERR_NOMEM : 0;
}
