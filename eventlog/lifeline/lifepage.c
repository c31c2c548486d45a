/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/lifeline/lifepage.h"

#include "common/base/array.h"
#include "eventlog/lifeline/lifepack.h"
#include "eventlog/lifeline/lifewords.h"
#include "eventlog/text/evwords.h"

#include <string.h>

extern const char page_css[], page_js[], page_policy[];

#define STEPS_SHOWN 8 /* steps that are always visible; the others are folded */
#define STEPS_LISTED 200
#define BAR_PIXELS 100

void lifepage_put_text(struct buf *out, const char *s)
{
	struct buf clean = BUF_INIT(LIFEPAGE_MAX_BYTES);

	evwords_put_escaped(&clean, s, strlen(s));
	for (size_t i = 0; i < clean.n; i++)
		switch (clean.p[i]) {
		case '<':
			buf_puts(out, "&lt;");
			break;
		case '>':
			buf_puts(out, "&gt;");
			break;
		case '&':
			buf_puts(out, "&amp;");
			break;
		case '"':
			buf_puts(out, "&quot;");
			break;
		case '\'':
			buf_puts(out, "&#39;");
			break;
		default:
			buf_putc(out, clean.p[i]);
		}
	out->failed |= clean.failed;
	buf_done(&clean);
}

/* --- the slowest steps, as a sentence and a table, which are visible without a script */

static void put_verdict(struct buf *out, const struct life_model *m)
{
	struct buf before = BUF_INIT(4096), behind = BUF_INIT(4096);
	const char *name = lifewords_verdict(m, &before, &behind);

	buf_puts(out, "<p class=\"verdict\">");
	lifepage_put_text(out, buf_str(&before));
	if (name) {
		buf_puts(out, "<b>");
		lifepage_put_text(out, name);
		buf_puts(out, "</b>");
		lifepage_put_text(out, buf_str(&behind));
	}
	buf_puts(out, "</p>\n");
	out->failed |= before.failed || behind.failed;
	buf_done(&before);
	buf_done(&behind);
}

static void put_row(struct buf *out, const struct life_step *s, double largest)
{
	char text[LIFEWORDS_TIME_BYTES + 8];

	buf_puts(out, "<tr><td>");
	lifepage_put_text(out, s->name);
	buf_printf(
		out,
		"</td><td><svg width=\"%d\" height=\"10\" aria-hidden=\"true\"><rect width=\"%.1f\" height=\"10\" rx=\"2\"/></svg></td><td>%.1f %%</td>",
		BAR_PIXELS, largest > 0 && s->share > 0 ? s->share / largest * BAR_PIXELS : 0,
		s->share * 100);
	buf_printf(out, "<td>%s</td>", lifewords_time(text, s->median));
	buf_printf(out, "<td>%s</td>", lifewords_time(text, s->p95));
	buf_printf(out, "<td>%s</td>", lifewords_time(text, s->max));
	buf_printf(out, "<td>%s</td></tr>\n", lifewords_count(text, s->n));
}

static void put_rows(struct buf *out, const struct life_model *m, size_t from, size_t to)
{
	buf_puts(
		out,
		"<table class=\"steps\"><thead><tr><th>step</th><th colspan=\"2\">share of the time</th><th>median</th><th>p95</th><th>most</th>"
		"<th>n</th></tr></thead><tbody>\n");
	for (size_t i = from; i < to; i++)
		put_row(out, &m->step[i], m->step[0].share);
	buf_puts(out, "</tbody></table>\n");
}

static void put_table(struct buf *out, const struct life_model *m)
{
	size_t n = m->nstep < STEPS_LISTED ? m->nstep : STEPS_LISTED,
	       shown = n < STEPS_SHOWN ? n : STEPS_SHOWN;

	if (shown)
		put_rows(out, m, 0, shown);
	if (n <= shown)
		return;
	buf_printf(out, "<details><summary>%zu rarer steps</summary>\n", n - shown);
	put_rows(out, m, shown, n);
	buf_puts(out, "</details>\n");
}

static void put_note(struct buf *out, const char *text)
{
	if (!*text)
		return;
	buf_puts(out, "<p class=\"note\">");
	lifepage_put_text(out, text);
	buf_puts(out, "</p>\n");
}

static void put_doubts(struct buf *out, const struct life_model *m)
{
	unsigned each = lifepack_sampling(m);
	struct buf b = BUF_INIT(4096);

	lifewords_doubts(m, &b);
	put_note(out, buf_str(&b));
	out->failed |= b.failed;
	buf_clear(&b);
	if (each > 1)
		buf_printf(
			&b,
			"Figures and density include all lines. Single lines are one in %u, and the slowest %d: "
			"with more the page would not open. --from, --to and --where show a part completely.",
			each, LIFEPACK_SLOWEST);
	put_note(out, buf_str(&b));
	out->failed |= b.failed;
	buf_done(&b);
}

static void put_facts(struct buf *out, const struct life_model *m, const char *key)
{
	struct buf b = BUF_INIT(64 * 1024);

	lifewords_facts(m, key, &b);
	buf_puts(out, "<p class=\"facts\">");
	lifepage_put_text(out, buf_str(&b));
	buf_puts(out, "</p>\n");
	out->failed |= b.failed;
	buf_done(&b);
}

/* --- the page */

static const char page_tools[] =
	"<div class=\"tools\">\n"
	"<input id=\"search\" type=\"search\" placeholder=\"find a key\" aria-label=\"find a key\" autocomplete=\"off\">\n"
	"<button data-do=\"slow\">slowest</button><button data-do=\"next\">next</button><button data-do=\"fit\">fit</button>\n"
	"<button data-do=\"in\" aria-label=\"closer\">+</button><button data-do=\"out\" aria-label=\"farther\">&minus;</button>"
	"<button data-do=\"all\">all</button>\n"
	"<div class=\"legend\"><span class=\"l\">lifeline</span><span class=\"s\">slowest 5 %</span><span class=\"p\">chosen</span>"
	"<span class=\"m\">missing stage</span><span class=\"k\">event</span><span class=\"o\">load</span></div>\n"
	"</div>\n"
	"<div class=\"view\"><canvas id=\"whole\" role=\"img\" aria-label=\"events over the whole time, and the visible part\"></canvas>\n"
	"<canvas id=\"lines\" tabindex=\"0\" role=\"application\" aria-label=\"lifelines: time to the right, stages downwards; "
	"arrows move and zoom, s goes to the slowest line\"></canvas><div id=\"tip\" hidden></div></div>\n"
	"<details id=\"help\"><summary>keys</summary><p>Drag or <kbd>&larr;</kbd> <kbd>&rarr;</kbd>: move. Wheel, double click, "
	"<kbd>&uarr;</kbd> <kbd>&darr;</kbd>, <kbd>+</kbd> <kbd>-</kbd>: zoom. <kbd>0</kbd>: all. Click: choose a line. "
	"<kbd>n</kbd> <kbd>p</kbd>: the next, the previous. <kbd>s</kbd> <kbd>S</kbd>: the slowest, the next slowest. "
	"<kbd>z</kbd>: fit the chosen line. <kbd>/</kbd>: find a key. <kbd>Esc</kbd>: choose none. The address describes what is "
	"shown, and can be passed on.</p>"
	"<p>A line is one key. Time goes to the right, stages downwards: a steep part is fast, a flat one slow. Where there are more "
	"lines than pixels their density is shown: the darker, the more lines are in that step at that time. The slowest are drawn over it.</p></details>\n"
	"<noscript><p class=\"note\">The picture needs JavaScript; the table does not.</p></noscript>\n";

/*
 * Writes the data for the script. A script element ends at the first "</script", in any context, so
 * that no < may be left.
 */
static int put_data(struct buf *out, const struct life_model *m, const char *title, const char *key,
		    struct err *e)
{
	struct buf j = BUF_INIT(LIFEPAGE_MAX_BYTES);
	int rc = lifepack_json(&j, m, title, key, e);
	size_t from = 0;

	buf_puts(out, "<script type=\"application/json\" id=\"log\">");
	for (size_t i = 0; i <= j.n && !rc; i++)
		if (i == j.n || j.p[i] == '<') {
			buf_put(out, j.p + from, i - from);
			if (i < j.n)
				buf_puts(out, "\\u003c");
			from = i + 1;
		}
	buf_puts(out, "</script>\n");
	buf_done(&j);
	return rc;
}

int lifepage_html(struct buf *out, const struct life_model *m, const struct lifepage_words *words,
		  struct err *e)
{
	int rc;

	buf_printf(out,
		   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		   "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n"
		   "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
		   page_policy);
	lifepage_put_text(out, words->title);
	buf_puts(out, " - lifelines</title>\n<style>");
	buf_puts(out, page_css);
	buf_puts(out, "</style>\n</head>\n<body>\n<h1>Lifelines of ");
	lifepage_put_text(out, words->title);
	buf_puts(out, "</h1>\n");
	put_verdict(out, m);
	put_facts(out, m, words->key);
	put_note(out, words->complaints);
	put_doubts(out, m);
	buf_puts(out, "<div class=\"top\">\n<div>\n");
	put_table(out, m);
	buf_puts(out, "</div>\n<div id=\"said\" aria-live=\"polite\"></div>\n</div>\n");
	buf_puts(out, page_tools);
	rc = put_data(out, m, words->title, words->key, e);
	buf_puts(out, "<script>");
	buf_puts(out, page_js);
	buf_puts(out, "</script>\n</body>\n</html>\n");
	if (!rc && out->failed)
		rc = err_set(e, ERR_LIMIT, "a page of more than %u MiB", LIFEPAGE_MAX_BYTES >> 20);
	return rc;
}
