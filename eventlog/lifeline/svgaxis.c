/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/lifeline/svgaxis.h"

#include "eventlog/lifeline/lifepage.h"

void svg_text(struct buf *out, double x, double y, const char *attributes, const char *text)
{
	buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
	lifepage_put_text(out, text);
	buf_puts(out, "</text>\n");
}

void svg_ticks_x(struct buf *out, const struct axis *a, double top, double bottom)
{
	char words[AXIS_WORDS_BYTES];
	double x;

	for (int i = 0; axis_tick(a, i, &x, words); i++) {
		buf_printf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x, top, bottom);
		svg_text(out, x, bottom + 14, "class=\"soft\" text-anchor=\"middle\"", words);
	}
}

void svg_ticks_y(struct buf *out, const struct axis *a, double left, double right)
{
	char words[AXIS_WORDS_BYTES];
	double y;

	for (int i = 0; axis_tick(a, i, &y, words); i++) {
		buf_printf(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", left, y, right);
		svg_text(out, left - 6, y + 4, "class=\"soft\" text-anchor=\"end\"", words);
	}
}
