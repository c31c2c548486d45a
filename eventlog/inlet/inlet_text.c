/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of text, which may be longer than the window. */
#include "eventlog/inlet/inlet_internal.h"

#include <string.h>

static void note_bad(struct inlet *i, const char *why)
{
	if (!i->report.bad_lines++)
		memcpy(i->report.why, why, strnlen(why, sizeof(i->report.why) - 1));
}

/* Skips the rest of a line that is too long. */
static int skip(struct inlet *i, const uint8_t *end)
{
	size_t n = end ? (size_t)(end + 1 - (i->window + i->at)) : i->n;

	i->is_skipping = !end;
	inlet_drop(i, n);
	return end != NULL;
}

static int read_line(struct inlet *i, size_t n, struct err *e)
{
	const char *text = (const char *)i->window + i->at;
	struct err bad = { 0 };
	int got = evline_read(i->conf.line, i->line_form, text,
			      n && text[n - 1] == '\r' ? n - 1 : n, &bad);

	if (got < 0)
		note_bad(i, bad.text);
	return got == 1 ? inlet_put(i, &i->conf.line->event, e) : 0;
}

int inlet_step_text(struct inlet *i, struct err *e)
{
	const uint8_t *p = i->window + i->at, *end = i->n ? memchr(p, '\n', i->n) : NULL;
	size_t n = end ? (size_t)(end - p) : i->n;
	int rc;

	if (i->is_skipping)
		return skip(i, end);
	if (n > EVLINE_MAX_BYTES) {
		note_bad(i, "a line is too long");
		return skip(i, end);
	}
	if (!end && !(i->is_last && n))
		return 0;
	rc = read_line(i, n, e);
	inlet_drop(i, n + (end != NULL));
	return rc ? rc : 1;
}
