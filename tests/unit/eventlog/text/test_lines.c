/* SPDX-License-Identifier: Apache-2.0 */
/* Lines as other tools wrote them, and every edge value there and back. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "tests/unit/eventlog/made.h"
#include "tests/unit/eventlog/text/lines.h"

#include <string.h>

TEST(ulm_as_it_was_written)
{
	const struct event *ev =
		reads(EVLINE_ULM,
		      "DATE=20020329210355.443568 HOST=10.1.1.10 PROG=nliperf NL.EVNT=SlowStart "
		      "ID=2746 DST=10.1.1.11 VAL=2 DELTA=3");

	ck_assert_str_eq(ev->type->name, "SlowStart");
	ck_assert_int_eq(ev->wall_ns, INT64_C(1017435835443568000));
	ck_assert_uint_eq(ev->type->nfield, 6);
	has("HOST", "'10.1.1.10'");
	has("ID", "2746");
	has("VAL", "2");
	reads(EVLINE_ULM,
	      "DATE=20040609163425.483923 HOST=jmayor1 PROG=wuftpd NL.EVNT=FTP_INFO START=20040609163425.339678 "
	      "USER=voeckler FILE=/home/voeckler/vdldemo/test.tmp BUFFER=524288 BLOCK=65536 NBYTES=47 VOLUME=/home "
	      "STREAMS=1 STRIPES=1 DEST=1[128.135.152.241] TYPE=STOR CODE=227");
	/* a second DATE: as a double it would lose its end */
	has("START", "'20040609163425.339678'");
	has("DEST", "'1[128.135.152.241]'");
	has("FILE", "'/home/voeckler/vdldemo/test.tmp'");
}

TEST(microseconds_without_their_zeros_are_distinguished)
{
	const char *globus =
		"DATE=20070215110703.2102 HOST=pdsfgrid1.nersc.gov PROG=globus-gridftp-server NL.EVNT=FTP_INFO "
		"START=20070215110702.763298 FILE=//tmp/YY5raYFdo5.local_out_moved DEST=[129.79.4.64]";
	const char *other = "DATE=20070215110703.2102 HOST=h PROG=wuftpd NL.EVNT=X";

	ck_assert_int_eq(reads(EVLINE_ULM, globus)->wall_ns % NSEC_PER_SEC, 2102000);
	ck_assert_uint_eq(line->padded, 1);
	ck_assert_int_eq(reads(EVLINE_ULM, other)->wall_ns % NSEC_PER_SEC, 210200000);
	ck_assert_uint_eq(line->plain, 1);
	line->fraction = EVWORDS_PADDED;
	ck_assert_int_eq(reads(EVLINE_ULM, other)->wall_ns % NSEC_PER_SEC, 2102000);
	line->fraction = EVWORDS_FRACTION;
	ck_assert_int_eq(reads(EVLINE_ULM, globus)->wall_ns % NSEC_PER_SEC, 210200000);
	free(line);
	line = evline_new(EVWORDS_PADDED);
	ck_assert_int_eq(reads(EVLINE_ULM, other)->wall_ns % NSEC_PER_SEC, 2102000);
}

TEST(ulm_without_a_name_of_an_event)
{
	const struct event *ev = reads(
		EVLINE_ULM, "DATE=20060327125110.975908 HOST=heri PROG=pathload LVL=Usage "
			    "PATHLOAD.SNDR=141.85.99.136 PATHLOAD.FLEETS=9 PATHLOAD.ABWL=98.2Mbps");

	ck_assert_str_eq(ev->type->name, "pathload");
	ck_assert_uint_eq(ev->type->level, EV_UNSAID);
	has("LVL", "'Usage'");
	has("PATHLOAD.FLEETS", "9");
	has("PATHLOAD.ABWL", "'98.2Mbps'");
	ev = reads(
		EVLINE_ULM,
		"DATE=20040831150159.702224 HOST=\"some.host\" PROG=edg-wms LVL=USAGE DG.PRIORITY=0 "
		"DG.SOURCE=\"UserInterface\" DG.SRC_INSTANCE=\"\" DG.EVNT=\"RegJob\" ");
	ck_assert_str_eq(ev->type->name, "RegJob");
	has("HOST", "'some.host'");
	has("DG.SRC_INSTANCE", "''");
	has("DG.PRIORITY", "0");
}

TEST(levels_in_any_case_quotes_and_escapes)
{
	ck_assert_uint_eq(
		reads(EVLINE_ULM,
		      "DATE=20060327125110 NL.EVNT=e LVL=dEBUG  A=\"x = \\\"y\\\" [/]\" B=\"5\"")
			->type->level,
		EV_DEBUG);
	has("A", "'x = \"y\" [/]'");
	has("B", "'5'"); /* quoted: meant as a string */
}

TEST(a_socket_stream_is_detected_by_its_first_bytes)
{
	static const char s[] = "ULM\0    DATE=20060327125110.000001 NL.EVNT=e V=1";
	enum evline_form form = EVLINE_BP;
	struct err e = { 0 };

	ck_assert_int_eq(evline_guess((const uint8_t *)s, sizeof(s) - 1, &form), 0);
	ck_assert_int_eq(form, EVLINE_ULM);
	ck_assert_int_eq(evline_read(line, EVLINE_ULM, s, sizeof(s) - 1, &e), 1);
	has("V", "1");
}

TEST(text_of_another_form_is_refused)
{
	static const char *const none[] = { "V=1 DATE=20060327125110", "# comment", "\n\n", "",
					    "DAT" };
	enum evline_form form;

	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		ck_assert_int_eq(evline_guess((const uint8_t *)none[i], strlen(none[i]), &form),
				 -ERR_NOTFOUND);
	ck_assert_int_eq(evline_guess((const uint8_t *)"# c\n\tts=1 event=x", 17, &form), 0);
	ck_assert_int_eq(form, EVLINE_BP);
}

TEST(bp_as_it_was_written)
{
	const struct event *ev = reads(
		EVLINE_BP,
		"ts=2012-03-13T12:35:36.000000Z event=stampede.task.info level=Info "
		"type_desc=compute task.id=j1 argv=\" -a preprocess -T 60 -i  f.a  -o  f.b1    f.b2 \" "
		"type=1 transformation=pegasus::preprocess:4.0");

	ck_assert_str_eq(ev->type->name, "stampede.task.info");
	ck_assert_uint_eq(ev->type->level, EV_INFO);
	ck_assert_int_eq(ev->wall_ns, INT64_C(1331642136) * NSEC_PER_SEC);
	has("argv", "' -a preprocess -T 60 -i  f.a  -o  f.b1    f.b2 '");
	has("type", "1");
	has("transformation", "'pegasus::preprocess:4.0'");
	ck_assert_int_eq(reads(EVLINE_BP, "ts=1331657468.981414 event=x.end status=0")->wall_ns,
			 INT64_C(1331657468981414000));
	has("status", "0");
	/* Words in any order. If time, name or level occurs twice, the second one is a field. */
	ev = reads(EVLINE_BP, "event=x level=Info ts=1331657468.981414 ts=5 event=y level=Error");
	ck_assert_str_eq(ev->type->name, "x");
	ck_assert_uint_eq(ev->type->level, EV_INFO);
	ck_assert_int_eq(ev->wall_ns, INT64_C(1331657468981414000));
	ck_assert_uint_eq(ev->type->nfield, 3);
	has("ts", "5");
	has("event", "'y'");
	has("level", "'Error'");
}

TEST(lite_has_the_kinds_of_values)
{
	const struct event *ev = reads(
		EVLINE_LITE,
		"t DATE: 2004-04-15T213601.425059 s LVL: Info s HOST: 131.243.2.143 s TGT: node "
		"s EVNT: cpu.utilization.user i VAL: 50 l BIG: 5 d R: 0.5 s UNITS: \"per cent\"");

	ck_assert_str_eq(ev->type->name, "cpu.utilization.user");
	ck_assert_int_eq(ev->wall_ns, INT64_C(1082064961425059000));
	ck_assert_int_eq(evattr_find(ev, "VAL")->kind, EV_INT32);
	ck_assert_int_eq(evattr_find(ev, "BIG")->kind, EV_INT64);
	ck_assert_int_eq(evattr_find(ev, "R")->kind, EV_DOUBLE);
	has("UNITS", "'per cent'");
	ev = reads(
		EVLINE_LITE,
		"s DATE: a s EVNT: x t DATE: 2004-04-15T213601.425059 t DATE: 2004-04-15T213602 s EVNT: y");
	ck_assert_str_eq(ev->type->name, "x");
	ck_assert_int_eq(ev->wall_ns, INT64_C(1082064961425059000));
	ck_assert_uint_eq(ev->type->nfield, 3);
	has("EVNT", "'y'");
}

TEST(malformed_line_is_refused_with_a_reason)
{
	static const struct {
		enum evline_form form;
		const char *line;
	} bad[] = {
		{ EVLINE_ULM, "NL.EVNT=x" },
		{ EVLINE_ULM, "DATE=2006 NL.EVNT=x" },
		{ EVLINE_ULM, "DATE=20061327125110.1 NL.EVNT=x" },
		{ EVLINE_ULM, "DATE=20060327125110.1x NL.EVNT=x" },
		{ EVLINE_ULM, "DATE=99990327125110.1 NL.EVNT=x" },
		{ EVLINE_ULM, "DATE=20060327125110" },
		{ EVLINE_ULM, "DATE=20060327125110 NL.EVNT=x word" },
		{ EVLINE_ULM, "DATE=20060327125110 NL.EVNT=x A=\"never closed" },
		{ EVLINE_ULM, "DATE=20060327125110 NL.EVNT=x =5" },
		{ EVLINE_ULM, "DATE=20060327125110 NL.EVNT=x a\\x00b=5" },
		{ EVLINE_BP, "event=x" },
		{ EVLINE_BP, "ts=2012-03-13T12:35:36Z" },
		{ EVLINE_BP, "ts=yesterday event=x" },
		{ EVLINE_LITE, "t DATE: 2004-04-15T213601.425059 s EVNT: x i VAL: five" },
		{ EVLINE_LITE, "t DATE: 2004-04-15T213601.425059 EVNT: x" },
		{ EVLINE_XML,
		  "<event ts=\"2012-03-13T12:35:36Z\" name=\"x\"><f n=\"a\" t=\"int32\">5</f>" },
		{ EVLINE_XML,
		  "<event ts=\"2012-03-13T12:35:36Z\" name=\"x\"><f n=\"a\" t=\"int\">5</f></event>" },
		{ EVLINE_XML,
		  "<event ts=\"2012-03-13T12:35:36Z\" name=\"x\"><f n=\"a\" t=\"int32\">5</c></event>" },
		{ EVLINE_XML, "<event ts=\"2012-03-13T12:35:36Z\" name=\"\"></event>" },
		{ EVLINE_XML, "<event ts=\"2012-03-13T12:35:36Z\" name=\"&xxe;\"></event>" },
		{ EVLINE_XML, "<!DOCTYPE x>" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err e = { 0 };
		int got = try(bad[i].form, bad[i].line, &e);

		ck_assert_msg(got < 0 && e.text[0], "%s is taken", bad[i].line);
	}
	for (int form = 0; form < EVLINE_NFORMS; form++)
		ck_assert_int_eq(try((enum evline_form)form, "", NULL), 0);
}

#define XML(attributes, fields) "<event ts=\"2012-03-13T12:35:36Z\" " attributes ">" fields

TEST(xml_reports_the_mistake)
{
	static const struct {
		const char *line, *words;
	} bad[] = {
		{ "<even></even>", "not an event element with ts and name" },
		{ "</event>", "not an event element with ts and name" },
		{ "<event name=\"x\"></event>", "not an event element with ts and name" },
		{ "<event ts=\"now\" name=\"x\"></event>", "ts is not a time" },
		{ XML("", "</event>"), "not an event element with ts and name" },
		{ XML("name=\"x\" who=\"y\"", "</event>"), "not an event element" },
		{ XML("name=\"\"", "</event>"), "a name of an event that is empty or too long" },
		{ XML("name=\"x\" level=\"loud\"", "</event>"), "an unknown level" },
		{ XML("name=\"x\"", ""), "an event has no end" },
		{ XML("name=\"x\"", "<g></g></event>"), "an unknown element" },
		{ XML("name=\"x\"", "</f></event>"), "an unknown element" },
		{ XML("name=\"x\"", "<f t=\"int32\">5</f></event>"), "a good name or kind" },
		{ XML("name=\"x\"", "<f n=\"\" t=\"int32\">5</f></event>"), "a good name or kind" },
		{ XML("name=\"x\"", "<f n=\"a\">5</f></event>"), "a good name or kind" },
		{ XML("name=\"x\"", "<f n=\"a\" t=\"i\">5</f></event>"), "a good name or kind" },
		{ XML("name=\"x\"", "<f n=\"a\" t=\"int32\">x</f></event>"), "not of its kind" },
		{ XML("name=\"x\"", "<f n=\"a\" t=\"int32\">5<f></event>"), "a field has no end" },
		{ XML("name=\"x\"", "<f n=\"a\" t=\"int32\">5</c></event>"), "a field has no end" },
	};
	static const char *const frames[] = { "<?xml version=\"1.0\"?>", "<events>", "</events>",
					      "<!-- note -->", "  " };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err e = { 0 };

		ck_assert_msg(try(EVLINE_XML, bad[i].line, &e) == -ERR_PARSE, "%s", bad[i].line);
		ck_assert_msg(strstr(e.text, bad[i].words) != NULL, "%s: %s", bad[i].line, e.text);
	}
	for (size_t i = 0; i < ARRAY_LEN(frames); i++)
		ck_assert_int_eq(try(EVLINE_XML, frames[i], NULL), 0);
	ck_assert_int_eq(try(EVLINE_XML, XML("name=\"x\" level=\"info\"", "</event>"), NULL), 1);
}

TEST(lines_have_a_limit)
{
	char *text = malloc(EVLINE_MAX_BYTES + 2);
	struct err e = { 0 };

	ck_assert_ptr_nonnull(text);
	memset(text, ' ', EVLINE_MAX_BYTES + 1);
	text[EVLINE_MAX_BYTES] = 0;
	ck_assert_int_eq(try(EVLINE_XML, text, &e), 0);
	text[EVLINE_MAX_BYTES] = ' ';
	text[EVLINE_MAX_BYTES + 1] = 0;
	ck_assert_int_eq(try(EVLINE_XML, text, &e), -ERR_LIMIT);
	free(text);
}

TEST(fields_are_accepted_up_to_the_limit)
{
	struct buf b = BUF_INIT(100000);
	struct err e = { 0 };

	buf_puts(&b, "ts=1 event=e");
	for (unsigned i = 0; i < EV_FIELDS_MAX; i++)
		buf_printf(&b, " f%u=%u", i, i);
	ck_assert_int_eq(try(EVLINE_BP, buf_str(&b), &e), 1);
	buf_puts(&b, " more=1");
	ck_assert_int_eq(try(EVLINE_BP, buf_str(&b), &e), -ERR_LIMIT);
	buf_done(&b);
}

/* --- there and back */

static const char *written(struct evout *o, enum evout_form form, const struct event *ev, size_t *n)
{
	char *s;

	evout_begin(o, form);
	buf_clear(&o->b);
	evout_event(o, ev);
	ck_assert(!o->b.failed);
	s = (char *)o->b.p;
	*n = o->b.n - 1;
	ck_assert_int_eq(s[*n], '\n');
	ck_assert_msg(!memchr(s, '\n', *n), "%s", s);
	return s;
}

static struct event edge(size_t i)
{
	return (struct event){
		.type = &made_all, .value = made_edge(i), .wall_ns = made_edge_time(i), .stream = 1
	};
}

TEST(xml_and_lite_give_back_every_edge_value_with_its_kind)
{
	static const enum evout_form out[] = { EVOUT_XML, EVOUT_LITE };
	static const enum evline_form in[] = { EVLINE_XML, EVLINE_LITE };

	for (size_t i = 0; i < 2 * MADE_EDGES; i++) {
		struct event ev = edge(i % MADE_EDGES);
		struct evattr_iter at = { .ev = &ev };
		struct evattr a;
		struct evout o;
		struct err e = { 0 };
		size_t n;
		const char *s = written(&o, out[i / MADE_EDGES], &ev, &n);

		ck_assert_msg(evline_read(line, in[i / MADE_EDGES], s, n, &e) == 1, "%s: %s", s,
			      e.text);
		ck_assert_int_eq(line->event.wall_ns, ev.wall_ns);
		ck_assert_uint_eq(line->type.level, ev.type->level);
		while (evattr_next(&at, &a)) {
			const struct evvalue *v = evattr_find(&line->event, a.name);

			ck_assert_msg(v && evvalue_equal(v, a.value), "%s in %s", a.name, s);
		}
		if (i < MADE_EDGES)
			ck_assert_uint_eq(line->type.nconst, made_all.nconst);
		evout_done(&o);
	}
}

TEST(ulm_and_bp_keep_every_value_as_text)
{
	for (size_t i = 0; i < 2 * MADE_EDGES; i++) {
		bool is_bp = i >= MADE_EDGES;
		struct event ev = edge(i % MADE_EDGES);
		struct evattr_iter at = { .ev = &ev };
		struct evattr a;
		struct evout o, again;
		struct err e = { 0 };
		size_t n, m;
		const char *s = written(&o, is_bp ? EVOUT_BP : EVOUT_ULM, &ev, &n);

		ck_assert_msg(evline_read(line, is_bp ? EVLINE_BP : EVLINE_ULM, s, n, &e) == 1,
			      "%s: %s", s, e.text);
		ck_assert_int_eq(line->event.wall_ns, ev.wall_ns);
		while (evattr_next(&at, &a)) {
			const struct evvalue *v = evattr_find(&line->event, a.name);
			char want[512];

			str_copy(want, sizeof(want), text_of(a.value));
			ck_assert_msg(v && str_eq(text_of(v), want), "%s in %s", a.name, s);
			ck_assert((v->kind == EV_STRING) == (a.value->kind == EV_STRING));
		}
		s = written(&again, is_bp ? EVOUT_BP : EVOUT_ULM, &line->event, &m);
		ck_assert(m == n && !memcmp(s, o.b.p, n));
		evout_done(&o);
		evout_done(&again);
	}
}

static void times_come_back(nsec_t t)
{
	char iso[EVWORDS_TIME_BYTES], ulm[EVWORDS_TIME_BYTES], rfc[CLOCK_TEXT_BYTES];
	size_t n = evwords_time_iso(iso, t), m = evwords_time_ulm(ulm, t);
	nsec_t back;
	bool is_short;

	ck_assert_msg(evwords_iso(iso, n, &back) && back == t, "%.*s", (int)n, iso);
	ck_assert_msg(evwords_date(ulm, m, true, &back, &is_short) && back == t && !is_short,
		      "%.*s", (int)m, ulm);
	clock_format_rfc3339(rfc, t, t % 1000 ? 9 : 6);
	ck_assert(strlen(rfc) == n && !memcmp(rfc, iso, n));
}

TEST(invalid_days_are_refused)
{
	static const char *const no_day[] = { "19000229000000.000000", "20230229000000.000000",
					      "20230431000000.000000", "20230631000000.000000",
					      "20231131000000.000000", "20230100000000.000000" };
	static const char *const day[] = { "20000229000000.000000", "20240229000000.000000",
					   "20231231235960.000000" };
	bool is_short;
	nsec_t t;

	for (size_t i = 0; i < ARRAY_LEN(no_day); i++)
		ck_assert_msg(!evwords_date(no_day[i], strlen(no_day[i]), true, &t, &is_short),
			      "%s", no_day[i]);
	for (size_t i = 0; i < ARRAY_LEN(day); i++)
		ck_assert_msg(evwords_date(day[i], strlen(day[i]), true, &t, &is_short), "%s",
			      day[i]);
}

TEST(times_of_five_centuries_return)
{
	static const nsec_t edge_times[] = { 0,
					     -1,
					     1,
					     INT64_MIN,
					     INT64_MAX,
					     INT64_C(951782399999999999),
					     INT64_C(951782400000000000),
					     -NSEC_PER_SEC,
					     -NSEC_PER_SEC - 1 };

	for (size_t i = 0; i < ARRAY_LEN(edge_times); i++)
		times_come_back(edge_times[i]);
	for (nsec_t t = INT64_MIN + NSEC_PER_SEC; t < INT64_MAX - INT64_C(400000) * NSEC_PER_SEC;
	     t += INT64_C(345678) * NSEC_PER_SEC + 987654321)
		times_come_back(t);
}

SUITE_WITH("lines", set_up, clean_up)
