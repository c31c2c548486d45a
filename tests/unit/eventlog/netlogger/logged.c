/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/eventlog/netlogger/logged.h"

#include "common/base/str.h"
#include "eventlog/text/evwords.h"

#include <unistd.h>

char logged_path[64], logged_url[80];
static char folder[32];

void logged_set_up(void)
{
	snprintf(folder, sizeof(folder), "/tmp/omig-nl-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(logged_path, sizeof(logged_path), "%s/a.olog", folder);
	snprintf(logged_url, sizeof(logged_url), "file://%s", logged_path);
}

void logged_clean_up(void)
{
	unlink(logged_path);
	rmdir(folder);
}

const char *logged_lines(void)
{
	static char text[16384];
	struct buf b = BUF_INIT(sizeof(text) - 1);
	struct evfile *f;
	struct event ev;
	struct err e = { 0 };

	ck_assert_msg(!evfile_open(logged_path, &f, &e), "%s", e.text);
	while (evfile_next(f, &ev, &e) == 1) {
		struct evattr_iter i = { .ev = &ev };
		struct evattr a;

		buf_printf(&b, "%s:", ev.type->name);
		for (ev.stream_type = NULL; evattr_next(&i, &a);) {
			buf_printf(&b, " %s%s=", a.is_constant ? "!" : "", a.name);
			if (a.value->kind == EV_STRING)
				buf_printf(&b, "'%.*s'", (int)a.value->n, a.value->s);
			else
				evwords_put_number(&b, a.value);
			if (a.value->kind != EV_STRING)
				buf_putc(&b, (uint8_t) "?ilfd"[a.value->kind]);
		}
		buf_putc(&b, '\n');
	}
	ck_assert(evread_is_clean(evfile_report(f)));
	evfile_close(f);
	str_copy(text, sizeof(text), buf_str(&b));
	buf_done(&b);
	return text;
}

char *logged_s(const char *text)
{
	return (char *)text;
}
