/* SPDX-License-Identifier: Apache-2.0 */
/* Parts common to all pictures of results: head, style, names, and omitted points. */
#include "neko/cmd/neko_plot.h"

#include "eventlog/lifeline/lifepage.h"
#include "eventlog/lifeline/svgchart.h"

#include <stdio.h>

#define LEFT 70

void plot_name(char *out, size_t size, struct json_object *quantity)
{
	const char *unit = results_text(results_get(quantity, "unit"), "");

	snprintf(out, size, "%.100s%s%.20s%s", results_text(results_get(quantity, "name"), "?"),
		 *unit ? " (" : "", unit, *unit ? ")" : "");
}

void plot_begin(struct buf *out, double high, const char *title, const char *words)
{
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
		   "viewBox=\"0 0 %d %.0f\">\n<title>",
		   PLOT_WIDE, high, PLOT_WIDE, high);
	lifepage_put_text(out, title);
	buf_puts(
		out,
		"</title>\n<style>text{font:12px "
		"sans-serif;fill:#1b1f24}.soft{fill:#59636e;font-size:11px;paint-order:stroke;"
		"stroke:#fff;stroke-width:2px}.name{font-weight:bold}"
		".bad{fill:#c81e3a;font-weight:bold}.grid{stroke:#d8dee4;fill:none}.bar{fill:#"
		"1f6feb;fill-opacity:.75}"
		".dot{fill:#1f6feb;fill-opacity:.6}.mean{stroke:#d4580b;fill:none;stroke-width:1.5}"
		".formula{stroke:#1a7f64;fill:none;stroke-width:1.5;stroke-dasharray:5 3}"
		".life{stroke:#1b1f24;stroke-width:1.5;fill:none}.dead{stroke:#c7ccd1;stroke-"
		"dasharray:2 3;fill:none}");
	buf_printf(out, "%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		   svg_chart_style);
	svg_text(out, 12, 20, "class=\"name\"", title);
	svg_text(out, 12, 37, "class=\"soft\"", words);
}

void plot_left_out(struct buf *out, double at, size_t n)
{
	char words[96];

	if (!n)
		return;
	snprintf(words, sizeof(words), "%zu point%s outside of these axes", n, n == 1 ? "" : "s");
	svg_text(out, LEFT, at, "class=\"bad\"", words);
}
