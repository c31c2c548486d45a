/* SPDX-License-Identifier: Apache-2.0 */
/* Truncated and overlong lines, and the detection of each form. */
#include "common/base/array.h"
#include "tests/unit/eventlog/text/lines.h"

/* The bytes after the cut would complete it. */
TEST(a_line_that_is_cut_is_no_event)
{
	static const char xml[] =
		"<event ts=\"2012-03-13T12:35:36Z\" name=\"x\"><c n=\"a\" t=\"string\">&lt;v</c>"
		"<f n=\"b\" t=\"int32\">5</f></event>",
			  quoted[] = "ts=1 event=x a=\"b c\"";
	struct err e = { 0 };

	for (size_t n = 1; n < sizeof(xml) - 1; n++)
		ck_assert_msg(evline_read(line, EVLINE_XML, xml, n, &e) < 0, "%.*s", (int)n, xml);
	ck_assert_int_eq(evline_read(line, EVLINE_XML, xml, sizeof(xml) - 1, &e), 1);
	has("a", "'<v'");
	for (size_t n = sizeof("ts=1 event=x a=\""); n < sizeof(quoted) - 1; n++)
		ck_assert_int_eq(evline_read(line, EVLINE_BP, quoted, n, &e), -ERR_PARSE);
	ck_assert_int_eq(evline_read(line, EVLINE_BP, quoted, sizeof(quoted) - 1, &e), 1);
	has("a", "'b c'");
	ck_assert_int_eq(try(EVLINE_BP, "ts=1 event=x a=\"b\\\"", &e), -ERR_PARSE);
	ck_assert_int_eq(try(EVLINE_BP, "ts=1 event=x a=\"b\\", &e), -ERR_PARSE);
	ck_assert_int_eq(try(EVLINE_BP, "ts=1 event=x a=\"b\\\"\"", &e), 1);
	has("a", "'b\"'");
}

TEST(each_form_is_known_by_its_beginning_and_name)
{
	static const struct {
		const char *begin, *name;
		enum evline_form form;
	} known[] = {
		{ "DATE=20", "ulm", EVLINE_ULM },
		{ "ts=1 event=x", "bp", EVLINE_BP },
		{ "t DATE: 2004", "lite", EVLINE_LITE },
		{ "<", "xml", EVLINE_XML },
		{ " \t\r\n# c\n#\n<events>", "xml", EVLINE_XML },
	};
	static const char magic[] = "ULM\0    ?";
	enum evline_form form;

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		size_t n = strlen(known[i].begin);

		ck_assert_int_eq(evline_guess((const uint8_t *)known[i].begin, n, &form), 0);
		ck_assert_int_eq(form, known[i].form);
		ck_assert_int_eq(evline_from_name(known[i].name, &form), 0);
		ck_assert_int_eq(form, known[i].form);
	}
	ck_assert_int_eq(evline_from_name("json", &form), -ERR_INVALID);
	form = EVLINE_XML;
	ck_assert_int_eq(evline_guess((const uint8_t *)magic, sizeof(magic) - 1, &form), 0);
	ck_assert_int_eq(form, EVLINE_ULM);
	ck_assert_int_eq(evline_guess((const uint8_t *)magic, 7, &form), -ERR_NOTFOUND);
	ck_assert_int_eq(evline_guess((const uint8_t *)"# no end", 8, &form), -ERR_NOTFOUND);
	ck_assert_int_eq(evline_guess((const uint8_t *)"ts", 2, &form), -ERR_NOTFOUND);
}

TEST(names_have_a_limit)
{
	struct buf b = BUF_INIT(4096);
	struct err e = { 0 };

	for (int more = 0; more < 2; more++) {
		buf_clear(&b);
		buf_puts(&b, "ts=1 event=x ");
		for (int i = 0; i < NAME_MAX_BYTES + more; i++)
			buf_putc(&b, 'n');
		buf_puts(&b, "=1");
		ck_assert_int_eq(try(EVLINE_BP, buf_str(&b), &e), more ? -ERR_LIMIT : 1);
		buf_clear(&b);
		buf_puts(&b, "ts=1 event=");
		for (int i = 0; i < NAME_MAX_BYTES + more; i++)
			buf_putc(&b, 'n');
		ck_assert_int_eq(try(EVLINE_BP, buf_str(&b), &e), more ? -ERR_PARSE : 1);
		buf_clear(&b);
		buf_puts(&b, "<event ts=\"1\" name=\"");
		for (int i = 0; i < NAME_MAX_BYTES + more; i++)
			buf_putc(&b, 'n');
		buf_puts(&b, "\"></event>");
		ck_assert_int_eq(try(EVLINE_XML, buf_str(&b), &e), more ? -ERR_PARSE : 1);
	}
	buf_done(&b);
}

/* A record has less than 64 KB with all of its values. */
TEST(an_event_has_a_limit_of_bytes)
{
	struct buf b = BUF_INIT(EVLINE_MAX_BYTES);
	struct err e = { 0 };

	buf_puts(&b, "ts=1 event=x a=");
	for (int i = 0; i < 60000; i++)
		buf_putc(&b, 'v');
	ck_assert_int_eq(try(EVLINE_BP, buf_str(&b), &e), 1);
	for (int i = 0; i < 6000; i++)
		buf_putc(&b, 'v');
	ck_assert_int_eq(try(EVLINE_BP, buf_str(&b), &e), -ERR_LIMIT);
	buf_done(&b);
}

TEST(each_letter_of_lite_is_a_kind)
{
	const struct event *ev =
		reads(EVLINE_LITE, "t DATE: 2004-04-15T213601 s EVNT: x f A: 0.5 t B: 12 i D: 7");
	struct err e = { 0 };

	ck_assert_int_eq(evattr_find(ev, "A")->kind, EV_FLOAT);
	ck_assert_int_eq(evattr_find(ev, "B")->kind, EV_STRING);
	has("B", "'12'");
	has("D", "7");
	ck_assert_int_eq(try(EVLINE_LITE, "t DATE: 2004-04-15T213601 s EVNT: x x A: 1", &e),
			 -ERR_PARSE);
	ck_assert_int_eq(try(EVLINE_LITE, "t DATE: 2004-04-15T213601 s EVNT: x iA: 1", &e),
			 -ERR_PARSE);
	ck_assert_int_eq(try(EVLINE_LITE, "t DATE: never s EVNT: x", &e), -ERR_PARSE);
	ck_assert_int_eq(try(EVLINE_LITE, "s EVNT: x", &e), -ERR_PARSE);
}

SUITE_WITH("limits of lines", set_up, clean_up)
