/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/text/diag.h"

#include "common/base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_BYTES 100 /* bytes of a line, which fit a terminal */

const struct pmsl_colors pmsl_no_colors = { "", "", "", "", "" };

static bool has_fault_at(const struct pmsl_diags *d, uint32_t at)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].at == at && at != PMSL_NOWHERE)
			return true;
	return false;
}

/* A later error replaces a warning: warnings are reported only while there is room. */
static struct pmsl_diag *make_room(struct pmsl_diags *d, bool is_warning)
{
	if (d->n < PMSL_DIAGS_MAX)
		return &d->v[d->n++];
	for (size_t i = d->n; i-- > 0 && !is_warning;)
		if (d->v[i].is_warning) {
			memmove(&d->v[i], &d->v[i + 1], (d->n - i - 1) * sizeof(d->v[0]));
			return &d->v[d->n - 1];
		}
	d->is_full |= !is_warning;
	return NULL;
}

__attribute__((format(printf, 3, 0))) static void add(struct pmsl_diags *d, struct pmsl_diag about,
						      const char *fmt, va_list ap)
{
	struct pmsl_diag *v = has_fault_at(d, about.at) ? NULL : make_room(d, about.is_warning);
	char text[PMSL_DIAG_TEXT_BYTES];

	if (!v)
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	*v = about;
	str_escape(v->text, sizeof(v->text), text, strlen(text));
	d->nerror += !about.is_warning;
}

void pmsl_error(struct pmsl_diags *d, uint32_t at, uint32_t len, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(d, (struct pmsl_diag){ .at = at, .len = len }, fmt, ap);
	va_end(ap);
}

void pmsl_warn(struct pmsl_diags *d, uint32_t at, uint32_t len, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(d, (struct pmsl_diag){ .at = at, .len = len, .is_warning = true }, fmt, ap);
	va_end(ap);
}

void pmsl_hint(struct pmsl_diags *d, const char *fmt, ...)
{
	va_list ap;

	if (!d->n || d->v[d->n - 1].hint[0])
		return;
	va_start(ap, fmt);
	vsnprintf(d->v[d->n - 1].hint, PMSL_DIAG_HINT_BYTES, fmt, ap);
	va_end(ap);
}

/*
 * Prints the text between two positions of the line, with its tabs: the line with the mark has the
 * same tabs.
 */
static void print_part(struct buf *b, const struct pmsl_source *s, size_t from, size_t to)
{
	char safe[8];

	for (size_t i = from; i < to; i++) {
		unsigned char c = (unsigned char)s->text[i];

		if (c == '\t' || (c >= ' ' && c != 0x7f))
			buf_putc(b, c);
		else
			buf_puts(b, str_escape(safe, sizeof(safe), &c, 1));
	}
}

static void print_mark(struct buf *b, const struct pmsl_source *s, size_t from, size_t at,
		       size_t to)
{
	for (size_t i = from; i < at; i++)
		if (((unsigned char)s->text[i] & 0xc0) != 0x80)
			buf_putc(b, s->text[i] == '\t' ? '\t' : ' ');
	buf_putc(b, '^');
	for (size_t i = at + 1; i < to; i++)
		if (((unsigned char)s->text[i] & 0xc0) != 0x80)
			buf_putc(b, '~');
}

static void print_line(struct buf *b, const struct pmsl_source *s, const struct pmsl_diag *d,
		       const struct pmsl_place *p, const struct pmsl_colors *c)
{
	size_t at = d->at < p->end ? d->at : p->end, from = p->begin, to = p->end,
	       end = at + d->len;

	if (at - from > SHOWN_BYTES / 2)
		from = at - SHOWN_BYTES / 2;
	if (to - from > SHOWN_BYTES)
		to = from + SHOWN_BYTES;
	while (from < at && ((unsigned char)s->text[from] & 0xc0) == 0x80)
		from++;
	while (to > at && to < p->end && ((unsigned char)s->text[to] & 0xc0) == 0x80)
		to--;
	/* Invalid UTF-8 is not printed: its effect on a terminal is unknown. */
	if (!str_is_utf8(s->text + from, to - from))
		return;
	buf_puts(b, "    ");
	print_part(b, s, from, to);
	buf_printf(b, "\n    %s", c->mark);
	print_mark(b, s, from, at, end < to ? end : to);
	buf_printf(b, "%s\n", c->plain);
}

void pmsl_diag_print(struct buf *b, const struct pmsl_source *s, const struct pmsl_diag *d,
		     const struct pmsl_colors *c)
{
	const char *kind = d->is_warning ? "warning" : "error";
	struct pmsl_place p;
	char name[256];

	str_escape(name, sizeof(name), s->name, strlen(s->name));
	if (d->at == PMSL_NOWHERE) {
		buf_printf(b, "%s%s: %s%s:%s %s\n", c->bold, name,
			   d->is_warning ? c->warning : c->error, kind, c->plain, d->text);
	} else {
		p = pmsl_source_place(s, d->at);
		buf_printf(b, "%s%s:%u:%u: %s%s:%s %s\n", c->bold, name, p.line, p.col,
			   d->is_warning ? c->warning : c->error, kind, c->plain, d->text);
		print_line(b, s, d, &p, c);
	}
	if (d->hint[0])
		buf_printf(b, "    hint: %s\n", d->hint);
}
