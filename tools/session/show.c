/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/session/show.h"

#include "common/base/str.h"
#include "tools/session/object_names.h"
#include "tools/term/say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t action_count(Omis_reply r)
{
	size_t n = 0;

	while (r[n])
		n++;
	return n ? n - 1 : 0;
}

/* Prints objects or values: safe for a terminal, and with names instead of tokens. */
static void put_text(const struct show *w, FILE *to, const char *text, size_t bytes)
{
	struct buf b = BUF_INIT(SHOW_MAX_BYTES);

	if (w->names)
		object_names_put(w->names, &b, text, bytes);
	if (w->names && !b.failed)
		term_put_safe(to, buf_str(&b), b.n);
	else
		term_put_safe(to, text, bytes);
	buf_done(&b);
}

void show_entry(const struct show *w, FILE *to, const Omis_object_result *o)
{
	const struct term *t = &w->term;

	if (o->status != OMIS_OK)
		fprintf(to, "%s%s%s ",
			term_paint(t, o->status >= OMIS_FIRST_ERROR ? TERM_RED : TERM_GREEN),
			omis_strerror(o->status), term_paint(t, TERM_PLAIN));
	fputs(term_paint(t, TERM_BOLD), to);
	put_text(w, to, o->obj_list, strlen(o->obj_list));
	fprintf(to, "%s%s", term_paint(t, TERM_PLAIN), o->obj_list[0] && o->result ? ": " : "");
	if (o->result)
		put_text(w, to, o->result, o->result_len);
	putc('\n', to);
}

/* True for an entry that all other objects succeeded: it is omitted unless it is the only one. */
static bool is_silent(const Omis_object_result *o)
{
	return o->status == OMIS_OK && !o->obj_list[0] && !o->result;
}

/* An entry, and the readable names of its objects. */
struct line {
	const Omis_object_result *entry;
	char *names; /* owned; NULL: tokens are shown */
};

static int by_names(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->names && y->names ? strverscmp(x->names, y->names) : 0;
}

/* Orders entries by rank if there are names, else as they arrived. NULL: no memory. */
static struct line *lines_of(const struct show *w, const Omis_object_result *s, size_t *n)
{
	struct line *line;

	for (*n = 0; s[*n].obj_list;)
		++*n;
	line = calloc(*n + 1, sizeof(*line));
	for (size_t i = 0; line && i < *n; i++) {
		struct buf b = BUF_INIT(SHOW_MAX_BYTES);

		line[i].entry = &s[i];
		if (!w->names)
			continue;
		object_names_put(w->names, &b, s[i].obj_list, strlen(s[i].obj_list));
		line[i].names = str_dup(buf_str(&b));
		buf_done(&b);
	}
	if (line && w->names && *n > 1)
		qsort(line, *n, sizeof(*line), by_names);
	return line;
}

/*
 * number: that of the action; 0: there is only one action. Returns true if the entry was not
 * empty.
 */
static bool show_numbered(const struct show *w, const Omis_object_result *o, size_t number)
{
	if (is_silent(o))
		return false;
	if (number)
		printf("%zu ", number);
	show_entry(w, stdout, o);
	return true;
}

static size_t show_action(const struct show *w, const Omis_object_result *s, size_t number)
{
	size_t n, shown = 0;
	struct line *line = lines_of(w, s, &n);

	for (size_t i = 0; i < n; i++)
		shown += show_numbered(w, line ? line[i].entry : &s[i], number);
	for (size_t i = 0; line && i < n; i++)
		free(line[i].names);
	free(line);
	return shown;
}

bool show_reply(const struct show *w, Omis_reply r)
{
	size_t n = action_count(r), shown = 0;

	for (size_t i = 0; r[i]; i++)
		shown += show_action(w, r[i], n > 1 ? i : 0);
	if (!shown)
		puts("OK");
	if (fflush(stdout) != 0)
		return false;
	show_missing(&w->term, stderr, r);
	return true;
}

static void show_result(const struct show *w, const Omis_object_result *o)
{
	fputs("  ", stdout);
	if (o->status != OMIS_OK)
		printf("%s%s%s ", term_paint(&w->term, TERM_RED), omis_strerror(o->status),
		       term_paint(&w->term, TERM_PLAIN));
	if (o->obj_list[0] && o->status != OMIS_OK) {
		put_text(w, stdout, o->obj_list, strlen(o->obj_list));
		fputs(": ", stdout);
	}
	if (o->result)
		put_text(w, stdout, o->result, o->result_len);
}

bool show_event(const struct show *w, Omis_reply r)
{

	printf("%s", term_paint(&w->term, TERM_BOLD));
	put_text(w, stdout, r[0]->obj_list, strlen(r[0]->obj_list));
	fputs(term_paint(&w->term, TERM_PLAIN), stdout);
	for (size_t i = 1; r[i]; i++)
		for (Omis_service_result s = r[i]; s->obj_list; s++)
			if (!is_silent(s))
				show_result(w, s);
	putchar('\n');
	return fflush(stdout) == 0;
}

void show_missing(const struct term *t, FILE *to, Omis_reply r)
{
	Omis_coverage c;

	omis_reply_coverage(r, &c);
	if (c.answered >= c.asked)
		return;
	fflush(stdout);
	fprintf(to, "%s%u of %u objects answered%s", term_paint(t, TERM_YELLOW), c.answered,
		c.asked, term_paint(t, TERM_PLAIN));
	for (unsigned i = 0; i < c.n_missing; i++) {
		fputs(i ? ", " : "; ", to);
		term_put_safe(to, c.missing[i].object, strlen(c.missing[i].object));
		fputs(": ", to);
		term_put_safe(to, c.missing[i].reason, strlen(c.missing[i].reason));
	}
	putc('\n', to);
}

static void binary_json(struct json *j, const Omis_value *v)
{
	char *hex = malloc(STR_HEX_LEN(v->n) + 1);

	if (hex)
		str_hex(hex, v->s, v->n);
	json_object(j);
	json_key_str(j, "base16", hex);
	json_object_end(j);
	free(hex);
}

void show_value_json(struct json *j, const Omis_value *v)
{
	switch (v->kind) {
	case OMIS_VALUE_INT:
		json_i64(j, v->i);
		break;
	case OMIS_VALUE_FLOAT:
		json_double(j, v->f);
		break;
	case OMIS_VALUE_STRING:
	case OMIS_VALUE_TOKEN:
		json_str_n(j, v->s, v->n);
		break;
	case OMIS_VALUE_BINARY:
		binary_json(j, v);
		break;
	case OMIS_VALUE_LIST:
		json_array(j);
		for (size_t i = 0; i < v->n; i++)
			show_value_json(j, &v->list[i]);
		json_array_end(j);
		break;
	}
}

void show_coverage_json(struct json *j, Omis_reply r)
{
	Omis_coverage c;

	omis_reply_coverage(r, &c);
	json_key_object(j, "coverage");
	json_key_u64(j, "asked", c.asked);
	json_key_u64(j, "answered", c.answered);
	json_key_i64(j, "oldest_ns", c.oldest_ns);
	json_key_i64(j, "newest_ns", c.newest_ns);
	json_key_array(j, "missing");
	for (unsigned i = 0; i < c.n_missing; i++) {
		json_object(j);
		json_key_str(j, "object", c.missing[i].object);
		json_key_str(j, "reason", c.missing[i].reason);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

static void objects_json(struct json *j, const char *list)
{
	size_t n;

	json_array(j);
	while (*list) {
		n = strcspn(list, ",");
		json_str_n(j, list, n);
		list += n + (list[n] == ',');
	}
	json_array_end(j);
}

/* An error's result is text. A result that cannot be parsed is printed unchanged. */
static void result_json(struct json *j, const Omis_object_result *o)
{
	Omis_value *v = NULL;

	if (!o->result)
		return;
	if (o->status < OMIS_FIRST_ERROR)
		v = omis_value_parse(o->result, o->result_len);
	json_key(j, v ? "value" : "text");
	if (v)
		show_value_json(j, v);
	else
		json_str_n(j, o->result, o->result_len);
	omis_value_free(v);
}

static void entry_json(struct json *j, const Omis_object_result *o, size_t action)
{
	json_object(j);
	json_key_u64(j, "action", action);
	json_key(j, "objects");
	objects_json(j, o->obj_list);
	json_key_str(j, "status", omis_strerror(o->status));
	result_json(j, o);
	json_object_end(j);
}

bool show_json_next(struct json *j, struct buf *b)
{
	bool ok = !json_end(j);

	errno = 0;
	if (ok) {
		buf_putc(b, '\n');
		ok = !b->failed && fwrite(b->p, 1, b->n, stdout) == b->n && fflush(stdout) == 0;
	}
	if (!ok && errno != EPIPE)
		cmd_fail(CMD_FAILURE, "the output could not be written");
	return ok;
}

bool show_json_line(struct json *j, struct buf *b)
{
	cmd_document();
	return show_json_next(j, b);
}

struct json *show_doc_open(struct show_doc *d)
{
	d->b = BUF_INIT(SHOW_MAX_BYTES);
	json_init(&d->j, &d->b);
	return &d->j;
}

static int close_doc(struct show_doc *d, bool is_written)
{
	buf_done(&d->b);
	return is_written ? CMD_OK : CMD_FAILURE;
}

int show_doc_close(struct show_doc *d)
{
	return close_doc(d, show_json_line(&d->j, &d->b));
}

int show_doc_next(struct show_doc *d)
{
	return close_doc(d, show_json_next(&d->j, &d->b));
}

bool show_reply_json(Omis_reply r)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	json_key_str(j, "status", omis_strerror(omis_reply_status(r)));
	json_key_array(j, "entries");
	for (size_t i = 0; r[i]; i++)
		for (Omis_service_result s = r[i]; s->obj_list; s++)
			entry_json(j, s, i);
	json_array_end(j);
	show_coverage_json(j, r);
	json_object_end(j);
	return show_doc_close(&d) == CMD_OK;
}
