/* SPDX-License-Identifier: Apache-2.0 */
/* A reader of lines, and the lines that it has read. */
#ifndef TESTS_UNIT_EVENTLOG_TEXT_LINES_H
#define TESTS_UNIT_EVENTLOG_TEXT_LINES_H

#include "common/base/str.h"
#include "eventlog/text/evline.h"
#include "eventlog/text/evout.h"
#include "tests/suite.h"

#include <string.h>

static struct evline *line;

static inline void set_up(void)
{
	line = evline_new(EVWORDS_AUTO);
	ck_assert_ptr_nonnull(line);
}

static inline void clean_up(void)
{
	free(line);
}

static inline int try(enum evline_form form, const char *s, struct err *e)
{
	return evline_read(line, form, s, strlen(s), e);
}

static inline const struct event *reads(enum evline_form form, const char *s)
{
	struct err e = { 0 };
	int rc = try(form, s, &e);

	ck_assert_msg(rc == 1, "%s: %s", s, e.text);
	return &line->event;
}

/* The value as text, with quotes when it is a string. */
static inline const char *text_of(const struct evvalue *v)
{
	static char out[512];
	struct buf b = BUF_INIT(400);

	if (v->kind == EV_STRING)
		buf_printf(&b, "'%.*s'", (int)v->n, v->s);
	else
		evwords_put_number(&b, v);
	str_copy(out, sizeof(out), buf_str(&b));
	buf_done(&b);
	return out;
}

static inline void has(const char *name, const char *want)
{
	const struct evvalue *v = evattr_find(&line->event, name);

	ck_assert_msg(v != NULL, "no %s", name);
	ck_assert_str_eq(text_of(v), want);
}

#endif
