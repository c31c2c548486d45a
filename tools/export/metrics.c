/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/export/metrics.h"

#include "common/base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *metrics_type(enum metrics_form form)
{
	return form == METRICS_OPEN ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
				    : "text/plain; version=0.0.4; charset=utf-8";
}

void metrics_init(struct metrics *m, struct buf *b, enum metrics_form form, size_t max)
{
	*m = (struct metrics){ .b = b, .form = form, .max = max };
}

void metrics_family(struct metrics *m, const struct metric *family)
{
	m->family = family;
	m->is_headed = false;
}

static const char *suffix(const struct metrics *m)
{
	static const char *const of[] = { "", "_total", "_info" };

	return of[m->family->kind];
}

/* Only the older format has unescaped quotes, and only in help. */
static void put_escaped(struct metrics *m, const char *s, size_t n, bool is_help)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\n')
			buf_puts(m->b, "\\n");
		else if (s[i] == '\\')
			buf_puts(m->b, "\\\\");
		else if (s[i] == '"' && !(is_help && m->form == METRICS_PLAIN))
			buf_puts(m->b, "\\\"");
		else
			buf_putc(m->b, (uint8_t)s[i]);
	}
}

/*
 * Values may be those of other machines. A reader may refuse a whole text that is not valid UTF-8.
 */
static void put_value(struct metrics *m, const char *s)
{
	size_t n;

	while (*s) {
		for (n = (unsigned char)*s < 0x80 ? 1 : 2; n <= 4 && strnlen(s, n) == n; n++)
			if (str_is_utf8(s, n))
				break;
		if (n <= 4 && strnlen(s, n) == n) {
			put_escaped(m, s, n, false);
			s += n;
		} else {
			buf_puts(m->b, "\xef\xbf\xbd");
			s++;
		}
	}
}

static void put_head(struct metrics *m)
{
	static const char *const open[] = { "gauge", "counter", "info" };
	static const char *const plain[] = { "gauge", "counter", "gauge" };
	bool is_open = m->form == METRICS_OPEN;
	const struct metric *f = m->family;
	const char *end = is_open ? "" : suffix(m);

	m->is_headed = true;
	buf_printf(m->b, "# TYPE %s%s %s\n", f->name, end, (is_open ? open : plain)[f->kind]);
	if (is_open && f->unit[0])
		buf_printf(m->b, "# UNIT %s %s\n", f->name, f->unit);
	buf_printf(m->b, "# HELP %s%s ", f->name, end);
	put_escaped(m, f->help, strlen(f->help), true);
	buf_putc(m->b, '\n');
}

static void put_labels(struct metrics *m, const struct metric_label *l)
{
	char before = '{';

	for (; l && l->name; l++) {
		if (!l->value || !l->value[0])
			continue;
		buf_printf(m->b, "%c%s=\"", before, l->name);
		put_value(m, l->value);
		buf_putc(m->b, '"');
		before = ',';
	}
	if (before == ',')
		buf_putc(m->b, '}');
}

/* The shortest that reads back; the program has no locale but C. */
static void put_number(struct metrics *m, double v)
{
	char text[32];

	if (isinf(v)) {
		buf_puts(m->b, v < 0 ? "-Inf" : "+Inf");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	buf_puts(m->b, text);
}

static void put_line(struct metrics *m, const char *end, const struct metric_label *labels,
		     double v)
{
	if (m->series == m->max) {
		m->left_out++;
		return;
	}
	m->series++;
	if (!m->is_headed)
		put_head(m);
	buf_printf(m->b, "%s%s", m->family->name, end);
	put_labels(m, labels);
	buf_putc(m->b, ' ');
	put_number(m, v);
	buf_putc(m->b, '\n');
}

void metrics_sample(struct metrics *m, const struct metric_label *labels, double v)
{
	if (!isnan(v))
		put_line(m, suffix(m), labels, v);
}

void metrics_count(struct metrics *m, const struct metric_label *labels, double v, double since)
{
	if (isnan(v))
		return;
	put_line(m, suffix(m), labels, v);
	if (m->form == METRICS_OPEN && since > 0)
		put_line(m, "_created", labels, since);
}

void metrics_raise(struct metrics *m, size_t more)
{
	m->max += more;
}

void metrics_end(struct metrics *m)
{
	if (m->form == METRICS_OPEN)
		buf_puts(m->b, "# EOF\n");
}
