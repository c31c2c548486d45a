/* SPDX-License-Identifier: Apache-2.0 */
/* Events as JSON of each form, to the byte. */
#include "common/base/array.h"
#include "eventlog/text/evout.h"
#include "tests/suite.h"

#include <math.h>
#include <string.h>

#define TEXT(t)                                                 \
	{                                                       \
		.kind = EV_STRING, .s = (t), .n = sizeof(t) - 1 \
	}
#define TIME INT64_C(1700000000123456789)

static const struct evfield fields[] = { { "id", EV_INT32 },
					 { "f", EV_FLOAT },
					 { "d", EV_DOUBLE },
					 { "s", EV_STRING },
					 { "l", EV_INT64 } };
static const struct evconst constants[] = { { "tid", { .kind = EV_INT32, .i32 = 4 } } };
static const struct evtype type = { .name = "work.start",
				    .level = EV_WARN,
				    .nfield = 5,
				    .nconst = 1,
				    .field = fields,
				    .constant = constants };
static const struct evtype end_type = { .name = "work.end", .nfield = 5, .field = fields };
static const struct evtype mark_type = { .name = "mark", .level = EV_FATAL };

static const struct evvalue plain[] = { { .kind = EV_INT32, .i32 = -7 },
					{ .kind = EV_FLOAT, .f32 = 0.1f },
					{ .kind = EV_DOUBLE, .f64 = 2.5 },
					TEXT("a\"b"),
					{ .kind = EV_INT64, .i64 = INT64_MAX } };

static struct evout out;

static void writes(enum evout_form form)
{
	evout_begin(&out, form);
}

static void event_of(const struct evtype *t, const struct evvalue *v, uint64_t stream,
		     uint64_t number)
{
	const struct event ev = { .type = t,
				  .value = v,
				  .stream = stream,
				  .number = number,
				  .wall_ns = TIME + (nsec_t)number * 1500 };

	evout_event(&out, &ev);
}

static void has_written(const char *want)
{
	ck_assert(!out.b.failed);
	ck_assert_str_eq(buf_str(&out.b), want);
	buf_clear(&out.b);
}

static void is_done(const char *want)
{
	evout_end(&out);
	has_written(want);
	evout_done(&out);
}

TEST(an_event_is_an_object_of_a_line)
{
	const struct evvalue edges[] = { { .kind = EV_INT32, .i32 = INT32_MIN },
					 { .kind = EV_FLOAT, .f32 = NAN },
					 { .kind = EV_DOUBLE, .f64 = -INFINITY },
					 TEXT("\xff"),
					 { .kind = EV_INT64 } };

	writes(EVOUT_JSON);
	event_of(&type, plain, 0xab, 3);
	has_written("{\"ts\":\"2023-11-14T22:13:20.123461289Z\",\"event\":\"work.start\",\"level\":"
		    "\"Warn\",\"stream\":\"00000000000000ab\","
		    "\"number\":3,\"fields\":{\"tid\":4,\"id\":-7,\"f\":0.1,\"d\":2.5,\"s\":"
		    "\"a\\\"b\",\"l\":9223372036854775807}}\n");
	event_of(&end_type, edges, 1, 0);
	has_written("{\"ts\":\"2023-11-14T22:13:20.123456789Z\",\"event\":\"work.end\",\"stream\":"
		    "\"0000000000000001\",\"number\":0,"
		    "\"fields\":{\"id\":-2147483648,\"f\":\"nan\",\"d\":\"-inf\",\"s\":\"\\\\xff\","
		    "\"l\":0}}\n");
	is_done("");
}

TEST(names_that_are_no_text_are_escaped)
{
	const struct evfield odd[] = { { "\xff", EV_INT32 }, { "\xc3\xa4\"", EV_INT32 } };
	const struct evtype odd_type = { .name = "e", .nfield = 2, .field = odd };
	const struct evvalue v[] = { { .kind = EV_INT32, .i32 = 1 },
				     { .kind = EV_INT32, .i32 = 2 } };

	writes(EVOUT_JSON);
	event_of(&odd_type, v, 1, 0);
	has_written("{\"ts\":\"2023-11-14T22:13:20.123456789Z\",\"event\":\"e\","
		    "\"stream\":\"0000000000000001\",\"number\":0,"
		    "\"fields\":{\"\\\\xff\":1,\"\xc3\xa4\\\"\":2}}\n");
	is_done("");
}

TEST(chrome_shows_pairs_as_spans_and_others_as_marks)
{
	writes(EVOUT_CHROME);
	event_of(&type, plain, 5, 0);
	event_of(&end_type, plain, 5, 1);
	event_of(&mark_type, NULL, 5, 2);
	has_written("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
		    "{\"name\":\"work\",\"cat\":\"event\",\"ph\":\"b\",\"id\":\"-7\",\"ts\":0,"
		    "\"pid\":5,\"tid\":4,"
		    "\"args\":{\"tid\":4,\"id\":-7,\"f\":0.1,\"d\":2.5,\"s\":\"a\\\"b\",\"l\":"
		    "9223372036854775807}},\n"
		    "{\"name\":\"work\",\"cat\":\"event\",\"ph\":\"e\",\"id\":\"-7\",\"ts\":1.5,"
		    "\"pid\":5,\"tid\":5,"
		    "\"args\":{\"id\":-7,\"f\":0.1,\"d\":2.5,\"s\":\"a\\\"b\",\"l\":"
		    "9223372036854775807}},\n"
		    "{\"name\":\"mark\",\"cat\":\"event\",\"ph\":\"i\",\"s\":\"t\",\"ts\":3,"
		    "\"pid\":5,\"tid\":5,\"args\":{}}");
	is_done("\n],\"otherData\":{\"start\":\"2023-11-14T22:13:20.123456789Z\"}}\n");
}

/* An event without an owner belongs to its thread. */
TEST(a_span_without_an_id_is_one_of_its_thread)
{
	const struct evtype begin = { .name = "io.start" }, end = { .name = "io.end" },
			    bare = { .name = ".end" };

	writes(EVOUT_CHROME);
	event_of(&begin, NULL, 1, 0);
	event_of(&end, NULL, 1, 1);
	event_of(&bare, NULL, 1, 2);
	has_written("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
		    "{\"name\":\"io\",\"cat\":\"event\",\"ph\":\"B\",\"ts\":0,\"pid\":1,\"tid\":1,"
		    "\"args\":{}},\n"
		    "{\"name\":\"io\",\"cat\":\"event\",\"ph\":\"E\",\"ts\":1.5,\"pid\":1,\"tid\":"
		    "1,\"args\":{}},\n"
		    "{\"name\":\".end\",\"cat\":\"event\",\"ph\":\"i\",\"s\":\"t\",\"ts\":3,"
		    "\"pid\":1,\"tid\":1,\"args\":{}}");
	is_done("\n],\"otherData\":{\"start\":\"2023-11-14T22:13:20.123456789Z\"}}\n");
}

#define HEAD(stream)                                                                             \
	"{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":\"omig.stream\",\"value\":{" \
	"\"stringValue\":\"" stream                                                              \
	"\"}}]},\"scopeLogs\":[{\"scope\":{\"name\":\"omig\"},\"logRecords\":["
#define TAIL "]}]}]}\n"

TEST(records_of_one_stream_are_one_request)
{
	const struct evvalue odd[] = { { .kind = EV_INT32 },
				       { .kind = EV_FLOAT, .f32 = INFINITY },
				       { .kind = EV_DOUBLE, .f64 = NAN },
				       TEXT(""),
				       { .kind = EV_INT64, .i64 = -1 } };

	writes(EVOUT_OTLP);
	event_of(&type, plain, 1, 0);
	has_written(
		HEAD("0000000000000001") "{\"timeUnixNano\":\"1700000000123456789\","
					 "\"severityNumber\":13,\"severityText\":\"Warn\","
					 "\"eventName\":\"work.start\",\"attributes\":[{\"key\":"
					 "\"tid\",\"value\":{\"intValue\":\"4\"}},"
					 "{\"key\":\"id\",\"value\":{\"intValue\":\"-7\"}},{"
					 "\"key\":\"f\",\"value\":{\"doubleValue\":0.1}},"
					 "{\"key\":\"d\",\"value\":{\"doubleValue\":2.5}},{\"key\":"
					 "\"s\",\"value\":{\"stringValue\":\"a\\\"b\"}},"
					 "{\"key\":\"l\",\"value\":{\"intValue\":"
					 "\"9223372036854775807\"}}]}");
	event_of(&end_type, odd, 1, 0);
	has_written(",{\"timeUnixNano\":\"1700000000123456789\",\"eventName\":\"work.end\","
		    "\"attributes\":["
		    "{\"key\":\"id\",\"value\":{\"intValue\":\"0\"}},{\"key\":\"f\",\"value\":{"
		    "\"doubleValue\":\"Infinity\"}},"
		    "{\"key\":\"d\",\"value\":{\"doubleValue\":\"NaN\"}},{\"key\":\"s\",\"value\":{"
		    "\"stringValue\":\"\"}},"
		    "{\"key\":\"l\",\"value\":{\"intValue\":\"-1\"}}]}");
	event_of(&mark_type, NULL, 2, 0);
	has_written(
		TAIL HEAD("0000000000000002") "{\"timeUnixNano\":\"1700000000123456789\","
					      "\"severityNumber\":21,\"severityText\":\"Fatal\","
					      "\"eventName\":\"mark\",\"attributes\":[]}");
	is_done(TAIL);
}

TEST(a_request_has_a_thousand_records_and_no_more)
{
	writes(EVOUT_OTLP);
	for (unsigned i = 0; i < 1000; i++) {
		event_of(&mark_type, NULL, 1, i);
		ck_assert((strstr(buf_str(&out.b), "resourceLogs") != NULL) == (i == 0));
		buf_clear(&out.b);
	}
	event_of(&mark_type, NULL, 1, 1000);
	ck_assert_ptr_nonnull(strstr(buf_str(&out.b), TAIL HEAD("0000000000000001")));
	buf_clear(&out.b);
	is_done(TAIL);
}

TEST(nothing_at_all_is_no_request)
{
	writes(EVOUT_OTLP);
	is_done("");
}

/* --- lines of names and values */

static const struct evconst of_host[] = { { "HOST", TEXT("h 1") },
					  { "PROG", TEXT("p") },
					  { "tid", { .kind = EV_INT32, .i32 = 9 } } };
static const struct evtype of_stream = { .name = "", .nconst = 3, .constant = of_host };

static void line_of(enum evout_form form, const struct evtype *t, const struct evtype *stream,
		    const char *want)
{
	const struct event ev = {
		.type = t, .stream_type = stream, .value = plain, .wall_ns = TIME
	};

	evout_begin(&out, form);
	buf_clear(&out.b);
	evout_event(&out, &ev);
	has_written(want);
	evout_done(&out);
}

TEST(an_event_is_a_line_of_each_form)
{
	line_of(EVOUT_ULM, &type, &of_stream,
		"DATE=20231114221320.123456789 HOST=\"h 1\" PROG=p LVL=Warn NL.EVNT=work.start "
		"tid=4 id=-7 f=0.1 d=2.5 s=\"a\\\"b\" l=9223372036854775807\n");
	line_of(EVOUT_ULM, &end_type, NULL,
		"DATE=20231114221320.123456789 NL.EVNT=work.end "
		"id=-7 f=0.1 d=2.5 s=\"a\\\"b\" l=9223372036854775807\n");
	line_of(EVOUT_BP, &type, &of_stream,
		"ts=2023-11-14T22:13:20.123456789Z event=work.start level=Warn HOST=\"h 1\" "
		"PROG=p tid=4 id=-7 f=0.1 d=2.5 s=\"a\\\"b\" l=9223372036854775807\n");
	line_of(EVOUT_BP, &mark_type, NULL,
		"ts=2023-11-14T22:13:20.123456789Z event=mark level=Fatal\n");
	line_of(EVOUT_LITE, &type, &of_stream,
		"t DATE: 2023-11-14T22:13:20.123456789Z s LVL: Warn s EVNT: work.start "
		"s HOST: \"h 1\" s PROG: p i tid: 4 i id: -7 f f: 0.1 d d: 2.5 s s: \"a\\\"b\" "
		"l l: 9223372036854775807\n");
	line_of(EVOUT_LITE, &(struct evtype){ .name = "bare" }, NULL,
		"t DATE: 2023-11-14T22:13:20.123456789Z s EVNT: bare\n");
	line_of(EVOUT_XML, &type, &of_stream,
		"<event ts=\"2023-11-14T22:13:20.123456789Z\" name=\"work.start\" level=\"Warn\">"
		"<c n=\"HOST\" t=\"string\">h 1</c><c n=\"PROG\" t=\"string\">p</c>"
		"<c n=\"tid\" t=\"int32\">4</c><f n=\"id\" t=\"int32\">-7</f>"
		"<f n=\"f\" t=\"float\">0.1</f><f n=\"d\" t=\"double\">2.5</f>"
		"<f n=\"s\" t=\"string\">a\\&quot;b</f>"
		"<f n=\"l\" t=\"int64\">9223372036854775807</f></event>\n");
	line_of(EVOUT_XML, &(struct evtype){ .name = "<&>" }, NULL,
		"<event ts=\"2023-11-14T22:13:20.123456789Z\" name=\"&lt;&amp;&gt;\"></event>\n");
}

TEST(a_document_has_a_frame)
{
	writes(EVOUT_XML);
	has_written("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<events>\n");
	is_done("</events>\n");
	writes(EVOUT_ULM);
	has_written("");
	is_done("");
}

TEST(forms_have_names)
{
	static const char *const names[EVOUT_NFORMS] = { "ulm",	 "bp",	   "lite", "xml",
							 "json", "chrome", "otlp" };
	enum evout_form form;

	for (int i = 0; i < EVOUT_NFORMS; i++) {
		ck_assert_int_eq(evout_from_name(names[i], &form), 0);
		ck_assert_int_eq(form, i);
	}
	ck_assert_int_eq(evout_from_name("ctf", &form), -ERR_INVALID);
	ck_assert_int_eq(evout_from_name("", &form), -ERR_INVALID);
}

/* A constant of the stream counts where the event has none of that name. */
TEST(values_are_found_by_their_names)
{
	const struct event ev = { .type = &type, .stream_type = &of_stream, .value = plain };
	struct evattr_iter i = { .ev = &ev };
	struct evattr a;
	unsigned n = 0, nconst = 0;

	ck_assert_int_eq(evattr_find(&ev, "tid")->i32, 4);
	ck_assert_int_eq(evattr_find(&ev, "id")->i32, -7);
	ck_assert_uint_eq(evattr_find(&ev, "HOST")->n, 3);
	ck_assert_ptr_null(evattr_find(&ev, "none"));
	for (; evattr_next(&i, &a); n++)
		nconst += a.is_constant;
	ck_assert_uint_eq(n, 8);
	ck_assert_uint_eq(nconst, 3);
}

TEST(evattr_find_id_finds_the_identifying_field)
{
	static const struct {
		const char *name;
		bool is_one;
	} known[] = { { "id", true },	{ "ID", true },	  { "guid", true }, { "task.id", true },
		      { ".id", false }, { "Id", false },  { "gid", false }, { "id.task", false },
		      { "x.id", true }, { "x.ID", false } };

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		const struct evfield f[] = { { "other", EV_INT32 }, { known[i].name, EV_INT32 } };
		const struct evtype t = { .name = "e", .nfield = 2, .field = f };
		const struct evvalue v[] = { { .kind = EV_INT32 }, { .kind = EV_INT32 } };
		const struct event ev = { .type = &t, .value = v };

		ck_assert_msg(evattr_find_id(&ev) == (known[i].is_one ? &v[1] : NULL), "%s",
			      known[i].name);
	}
}

SUITE("evout")
