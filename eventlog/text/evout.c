/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/text/evout.h"

#include "common/base/str.h"
#include "eventlog/text/evwords.h"

static const char *const names[EVOUT_NFORMS] = { "ulm",	 "bp",	   "lite", "xml",
						 "json", "chrome", "otlp" };

int evout_from_name(const char *name, enum evout_form *out)
{
	for (int i = 0; i < EVOUT_NFORMS; i++)
		if (str_eq(name, names[i])) {
			*out = (enum evout_form)i;
			return 0;
		}
	return -ERR_INVALID;
}

/* --- names and values */

bool evattr_fulfil(const struct event *ev, const struct evwhere *w)
{
	const struct evvalue name = { .kind = EV_STRING,
				      .n = (uint32_t)strlen(ev->type->name),
				      .s = ev->type->name };

	for (unsigned i = 0; i < w->n; i++) {
		const struct evvalue *v = evattr_find(ev, w->v[i].field);

		if (!v && str_eq(w->v[i].field, "event"))
			v = &name;
		if (!v || !evtest_holds(&w->v[i].test, v))
			return false;
	}
	return true;
}

/* --- lines of names and values */

static void put_pair(struct buf *b, const char *name, const struct evvalue *v)
{
	buf_putc(b, ' ');
	evwords_put_name(b, name);
	buf_putc(b, '=');
	evwords_put_value(b, v);
}

static void put_text(struct buf *b, const char *name, const char *s)
{
	const struct evvalue v = { .kind = EV_STRING, .n = (uint32_t)strlen(s), .s = s };

	put_pair(b, name, &v);
}

static void put_ulm(struct buf *b, const struct event *ev)
{
	const struct evvalue *host = evattr_find(ev, "HOST"), *prog = evattr_find(ev, "PROG");
	struct evattr_iter i = { .ev = ev };
	char time[EVWORDS_TIME_BYTES];
	struct evattr a;

	buf_puts(b, "DATE=");
	buf_put(b, time, evwords_time_ulm(time, ev->wall_ns));
	if (host)
		put_pair(b, "HOST", host);
	if (prog)
		put_pair(b, "PROG", prog);
	if (ev->type->level)
		put_text(b, "LVL", evlevel_name(ev->type->level));
	put_text(b, "NL.EVNT", ev->type->name);
	while (evattr_next(&i, &a))
		if (a.value != host && a.value != prog)
			put_pair(b, a.name, a.value);
	buf_putc(b, '\n');
}

static void put_bp(struct buf *b, const struct event *ev)
{
	struct evattr_iter i = { .ev = ev };
	char time[EVWORDS_TIME_BYTES];
	struct evattr a;

	buf_puts(b, "ts=");
	buf_put(b, time, evwords_time_iso(time, ev->wall_ns));
	put_text(b, "event", ev->type->name);
	if (ev->type->level)
		put_text(b, "level", evlevel_name(ev->type->level));
	while (evattr_next(&i, &a))
		put_pair(b, a.name, a.value);
	buf_putc(b, '\n');
}

/* --- Lite: every value has its kind */

static void put_lite_pair(struct buf *b, char letter, const char *name, const struct evvalue *v)
{
	buf_putc(b, ' ');
	buf_putc(b, (uint8_t)letter);
	buf_putc(b, ' ');
	evwords_put_name(b, name);
	buf_puts(b, ": ");
	evwords_put_value(b, v);
}

static void put_lite_text(struct buf *b, const char *name, const char *s)
{
	const struct evvalue v = { .kind = EV_STRING, .n = (uint32_t)strlen(s), .s = s };

	put_lite_pair(b, 's', name, &v);
}

static void put_lite(struct buf *b, const struct event *ev)
{
	struct evattr_iter i = { .ev = ev };
	char time[EVWORDS_TIME_BYTES];
	struct evattr a;

	buf_puts(b, "t DATE: ");
	buf_put(b, time, evwords_time_iso(time, ev->wall_ns));
	if (ev->type->level)
		put_lite_text(b, "LVL", evlevel_name(ev->type->level));
	put_lite_text(b, "EVNT", ev->type->name);
	while (evattr_next(&i, &a))
		put_lite_pair(b, "?ilfds"[a.value->kind], a.name, a.value);
	buf_putc(b, '\n');
}

/* --- XML */

static const char markup[] = "<>&\"";

static void put_marked_up(struct buf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *at = s[i] ? strchr(markup, s[i]) : NULL;

		if (at)
			buf_puts(b, (const char *const[]){ "&lt;", "&gt;", "&amp;",
							   "&quot;" }[at - markup]);
		else
			buf_putc(b, (uint8_t)s[i]);
	}
}

/*
 * Appends a string to b with C escapes. Markup in it, which is rare, is escaped in a second pass.
 */
static void put_xml_text(struct buf *b, const char *s, size_t n)
{
	size_t from = b->n;
	struct buf escaped;

	evwords_put_escaped(b, s, n);
	if (b->failed || b->n == from || strcspn((const char *)b->p + from, markup) == b->n - from)
		return;
	buf_init(&escaped, EVOUT_MAX_BYTES);
	b->failed |= buf_put(&escaped, b->p + from, b->n - from) != 0;
	if (!b->failed) {
		b->n = from;
		put_marked_up(b, (const char *)escaped.p, escaped.n);
	}
	buf_done(&escaped);
}

static void put_xml_attr(struct buf *b, const struct evattr *a)
{
	buf_puts(b, a->is_constant ? "<c n=\"" : "<f n=\"");
	put_xml_text(b, a->name, strlen(a->name));
	buf_puts(b, "\" t=\"");
	buf_puts(b, evkind_name(a->value->kind));
	buf_puts(b, "\">");
	if (a->value->kind == EV_STRING)
		put_xml_text(b, a->value->s, a->value->n);
	else
		evwords_put_number(b, a->value);
	buf_puts(b, a->is_constant ? "</c>" : "</f>");
}

static void put_xml(struct buf *b, const struct event *ev)
{
	struct evattr_iter i = { .ev = ev };
	char time[EVWORDS_TIME_BYTES];
	struct evattr a;

	buf_puts(b, "<event ts=\"");
	buf_put(b, time, evwords_time_iso(time, ev->wall_ns));
	buf_puts(b, "\" name=\"");
	put_xml_text(b, ev->type->name, strlen(ev->type->name));
	if (ev->type->level)
		buf_printf(b, "\" level=\"%s", evlevel_name(ev->type->level));
	buf_puts(b, "\">");
	while (evattr_next(&i, &a))
		put_xml_attr(b, &a);
	buf_puts(b, "</event>\n");
}

/* --- all formats */

void evout_begin(struct evout *o, enum evout_form form)
{
	*o = (struct evout){ .form = form, .b = BUF_INIT(2 * EVOUT_MAX_BYTES) };
	if (form == EVOUT_XML)
		buf_puts(&o->b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<events>\n");
	else if (form >= EVOUT_JSON)
		evout_json_begin(o);
}

void evout_event(struct evout *o, const struct event *ev)
{
	static void (*const put[])(struct buf * b, const struct event *ev) = { put_ulm, put_bp,
									       put_lite, put_xml };

	if (!o->n)
		o->start = ev->wall_ns;
	if (o->form < EVOUT_JSON)
		put[o->form](&o->b, ev);
	else
		evout_json_event(o, ev);
	o->stream = ev->stream;
	o->n++;
}

void evout_end(struct evout *o)
{
	if (o->form == EVOUT_XML)
		buf_puts(&o->b, "</events>\n");
	else if (o->form >= EVOUT_JSON)
		evout_json_end(o);
}

void evout_done(struct evout *o)
{
	buf_done(&o->b);
}
