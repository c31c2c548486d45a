/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/eventlog/archive/questions.h"

#include "common/base/array.h"
#include "eventlog/archive/arquery.h"
#include "tests/unit/eventlog/archive/stored.h"

#include <string.h>

/* --- the archive: two streams with gaps, of which one has a constant */

#define WORD(w) STR(w, sizeof(w) - 1)

static const struct evconst host = { "HOST", WORD("alpha") }, program = { "PROG", WORD("p") };
static const struct evtype of_stream = { .name = "", .nconst = 1, .constant = &host };

static const struct row {
	uint64_t stream, number;
	int64_t ts;
	const char *type;
	unsigned n;
	struct evfield field[2];
	struct evvalue value[2];
} rows[] = {
	{ 7,
	  0,
	  1000,
	  "job.start",
	  2,
	  { { "id", EV_INT32 }, { "size", EV_DOUBLE } },
	  { I32(1), F64(0.5) } },
	{ 7,
	  1,
	  2000,
	  "job.start",
	  2,
	  { { "id", EV_INT32 }, { "size", EV_DOUBLE } },
	  { I32(2), F64(2.5) } },
	{ 7,
	  2,
	  3500,
	  "job.end",
	  2,
	  { { "id", EV_INT32 }, { "code", EV_INT32 } },
	  { I32(1), I32(0) } },
	{ 7,
	  3,
	  9000,
	  "job.end",
	  2,
	  { { "id", EV_INT32 }, { "code", EV_INT32 } },
	  { I32(2), I32(4) } },
	{ 7, 6, 9100, "mix", 1, { { "v", EV_INT32 } }, { I32(5) } },
	{ 7, 7, 9200, "mix", 1, { { "v", EV_DOUBLE } }, { F64(7.5) } },
	{ 7, 8, 9300, "mix", 1, { { "v", EV_STRING } }, { WORD("7") } },
	{ 7, 9, 9400, "mix", 1, { { "v", EV_STRING } }, { WORD("\x90\x91") } },
	{ 9, 2, 500, "tick", 1, { { "step.id", EV_STRING } }, { WORD("a") } },
	{ 9, 3, 600, "tick", 1, { { "step.id", EV_STRING } }, { WORD("b") } },
	{ 9, 4, 800, "tick", 1, { { "step.id", EV_STRING } }, { WORD("a") } },
	{ 9, 5, 100, "jobs", 1, { { "id", EV_INT32 } }, { I32(1) } },
};

static void put_row(struct archive *a, const struct row *r)
{
	bool is_start = !strcmp(r->type, "job.start");
	struct evtype t = { .name = r->type,
			    .level = EV_INFO,
			    .nfield = r->n,
			    .nconst = is_start,
			    .field = r->field,
			    .constant = &program };
	struct event ev = { .type = &t,
			    .stream_type = r->stream == 7 ? &of_stream : NULL,
			    .value = r->value,
			    .stream = r->stream,
			    .number = r->number,
			    .wall_ns = r->ts };
	struct err e = { 0 };

	ck_assert_msg(!archive_put(a, &ev, &e), "%s", e.text);
}

static struct archive *filled(void)
{
	struct archive *a;

	stored_new();
	a = stored_open(AR_WRITE);
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
		put_row(a, &rows[i]);
	stored_close(a);
	return stored_open(AR_READ);
}

static void removed(struct archive *a)
{
	archive_close(a);
	stored_remove();
}

/* --- answers as text: "name=value name=value" a row */

static void put_value(struct buf *b, const struct arvalue *v)
{
	switch (v->class) {
	case AR_INT:
		buf_printf(b, "%lld", (long long)v->i);
		break;
	case AR_REAL:
		buf_printf(b, "%.17g", v->r);
		break;
	case AR_TEXT:
		buf_printf(b, "'%.*s'", (int)v->n, v->s);
		break;
	case AR_BYTES:
		for (size_t i = 0; i < v->n; i++)
			buf_printf(b, "%02x", (uint8_t)v->s[i]);
		break;
	default:
		buf_puts(b, "-");
	}
}

static int add_row(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		   struct err *e)
{
	struct buf *b = arg;

	for (unsigned i = 0; i < n; i++) {
		buf_printf(b, "%s%s=", i ? " " : "", names[i]);
		put_value(b, &v[i]);
	}
	buf_puts(b, "\n");
	return 0;
}

static void answers(const struct archive *a, const char *question, const char *want)
{
	struct buf b = BUF_INIT(1 << 20);
	struct err e = { 0 };
	int rc = arquery_run(a, question, add_row, &b, &e);

	ck_assert_msg(!rc, "%s: %s", question, e.text);
	ck_assert_msg(!strcmp(buf_str(&b), want), "%s:\n%snot\n%s", question, buf_str(&b), want);
	buf_done(&b);
}

static void fails(const struct archive *a, const char *question, int rc, const char *word)
{
	struct buf b = BUF_INIT(1 << 20);
	struct err e = { 0 };
	int got = arquery_run(a, question, add_row, &b, &e);

	ck_assert_msg(got == rc && strstr(e.text, word), "%.80s: %d, %s", question, got, e.text);
	ck_assert_uint_eq(b.n, 0);
	buf_done(&b);
}

struct answer {
	const char *question, *rows;
};

static void answers_all(const struct answer *known, size_t n)
{
	struct archive *a = filled();

	for (size_t i = 0; i < n; i++)
		answers(a, known[i].question, known[i].rows);
	removed(a);
}

START_TEST(types_streams_and_gaps_are_listed)
{
	static const struct answer known[] = {
		{ "types", "event='mix' events=4 first_ns=9100 last_ns=9400 fields=4\n"
			   "event='tick' events=3 first_ns=500 last_ns=800 fields=1\n"
			   "event='job.end' events=2 first_ns=3500 last_ns=9000 fields=2\n"
			   "event='job.start' events=2 first_ns=1000 last_ns=2000 fields=2\n"
			   "event='jobs' events=1 first_ns=100 last_ns=100 fields=1\n" },
		{ " streams\t\n", "stream=7 events=8 gaps=1 host='alpha'\n"
				  "stream=9 events=4 gaps=0 host=-\n" },
		{ "gaps", "stream=7 first=4 events=2\nstream=9 first=0 events=2\n" },
		{ "baseline of job.start",
		  "event='job.start' field='id' n=2 mean=1.5 variance=0.5 low=1 high=2\n"
		  "event='job.start' field='size' n=2 mean=1.5 variance=2 low=0.5 high=2.5\n" },
		{ "baseline of job.e*",
		  "event='job.end' field='code' n=2 mean=2 variance=8 low=0 high=4\n"
		  "event='job.end' field='id' n=2 mean=1.5 variance=0.5 low=1 high=2\n" },
		{ "baseline of tick", "" },
	};

	answers_all(known, ARRAY_LEN(known));
}
END_TEST

START_TEST(events_are_counted_by_type_field_or_constant)
{
	static const struct answer known[] = {
		{ "count of tick", "event='tick' events=3\n" },
		{ "count of 'tick'", "event='tick' events=3\n" },
		{ "count of job.*", "event='job.end' events=2\nevent='job.start' events=2\n" },
		{ "count of job*", "event='job.end' events=2\nevent='job.start' events=2\n"
				   "event='jobs' events=1\n" },
		{ "count of tick by step.id", "value='a' events=2\nvalue='b' events=1\n" },
		{ "count of job.* by \"id\"", "value='1' events=2\nvalue='2' events=2\n" },
		{ "count of job.start by size", "value='0.5' events=1\nvalue='2.5' events=1\n" },
		{ "count of mix by v", "value='5' events=1\nvalue='7' events=1\n"
				       "value='7.5' events=1\nvalue='9091' events=1\n" },
		{ "count of job.end by code", "value='0' events=1\nvalue='4' events=1\n" },
		{ "count of job.start by PROG", "value='p' events=2\n" },
		{ "count of job.* by HOST", "value='alpha' events=4\n" },
		{ "count of tick by HOST", "value=- events=3\n" },
	};

	answers_all(known, ARRAY_LEN(known));
}
END_TEST

#define START1 "ts_ns=1000 event='job.start' id=1 size=0.5\n"
#define START2 "ts_ns=2000 event='job.start' id=2 size=2.5\n"
#define END1 "ts_ns=3500 event='job.end' id=1 code=0\n"
#define END2 "ts_ns=9000 event='job.end' id=2 code=4\n"
#define MIX_INT "ts_ns=9100 event='mix' v=5 v=- v=- v=-\n"
#define MIX_REAL "ts_ns=9200 event='mix' v=- v=7.5 v=- v=-\n"
#define MIX_TEXT "ts_ns=9300 event='mix' v=- v=- v='7' v=-\n"
#define MIX_BYTES "ts_ns=9400 event='mix' v=- v=- v=- v=9091\n"

START_TEST(events_are_selected_by_their_values)
{
	static const struct answer known[] = {
		{ "job.end where code > 0", END2 },
		{ "job.end where code >= 4", END2 },
		{ "job.end where code >= 0", END1 END2 },
		{ "job.end where code < 4", END1 },
		{ "job.end where code <= 4", END1 END2 },
		{ "job.end where code = 4", END2 },
		{ "job.end where code == 4", END2 },
		{ "job.end where code != 4", END1 },
		{ "job.end where code > -1 and id != 1", END2 },
		{ "job.end where code > 0.5", END2 },
		{ "job.end where code = word", "" },
		{ "job.start where size >= 2.5", START2 },
		{ "job.start where size < 1", START1 },
		{ "job.start where size > 0 and id = 1 and PROG = p", START1 },
		{ "job.* where id == 1", START1 END1 },
		{ "job.* where size > 1", START2 },
		{ "mix where v = 5", MIX_INT },
		{ "mix where v >= 5", MIX_INT MIX_REAL },
		{ "mix where v > 5.5", MIX_REAL },
		{ "mix where v = '7'", MIX_TEXT },
		{ "mix where v = \"7.5\"", MIX_REAL },
		{ "mix where v = '9091'", MIX_BYTES },
		{ "job.start where PROG = p", START1 START2 },
		{ "job.start where PROG != 'p'", "" },
		{ "job.end where HOST = alpha and id < 2", END1 },
		{ "job.start where HOST = 5", "" },
		{ "job.start where HOST = 5.5", "" },
		{ "tick where step.id > 5", "" },
		{ "tick where step.id > 'a'", "ts_ns=600 event='tick' step.id='b'\n" },
	};

	answers_all(known, ARRAY_LEN(known));
}
END_TEST

/* The key is the given one, or id, or a field in .id. Stages of job are job.start and job.end. */
START_TEST(lifelines_are_sorted_by_their_length)
{
	static const char both[] = "key='2' begin_ns=2000 duration_ns=7000 events=2\n"
				   "key='1' begin_ns=1000 duration_ns=2500 events=2\n";
	static const char steps[] = "key='a' begin_ns=500 duration_ns=300 events=2\n"
				    "key='b' begin_ns=600 duration_ns=0 events=1\n";
	static const struct answer known[] = {
		{ "slowest 1000000 lifelines of job", both },
		{ "slowest 1 lifelines of job",
		  "key='2' begin_ns=2000 duration_ns=7000 events=2\n" },
		{ "slowest 2 lifelines of job by id", both },
		{ "slowest 9 lifelines of tick", steps },
		{ "slowest 9 lifelines of tick by step.id", steps },
		{ "slowest 9 lifelines of job.* by HOST",
		  "key='alpha' begin_ns=1000 duration_ns=8000 events=4\n" },
		{ "slowest 9 lifelines of tick by HOST", "" },
	};

	answers_all(known, ARRAY_LEN(known));
}
END_TEST

START_TEST(an_invalid_sentence_is_refused)
{
	static const char *const bad[] = {
		"",
		"what",
		"'types'",
		"types now",
		"streams 7",
		"gaps 7",
		"baseline of",
		"baseline in tick",
		"baseline of tick by step.id",
		"count",
		"count tick",
		"count of",
		"count in tick",
		"count of tick by",
		"count of tick in step.id",
		"count of tick by step.id now",
		"job.end where code",
		"job.end where code >",
		"job.end where code > 0 and",
		"job.end where code > 0 or id = 2",
		"job.end where code > 0 'and' id = 2",
		"job.end where code > 0 and id ~ 2",
		"job.end where code ~ 0",
		"slowest",
		"slowest 1 lifelines of",
		"slowest 0 lifelines of job",
		"slowest 1000001 lifelines of job",
		"slowest few lifelines of job",
		"slowest 1 'lifelines' of job",
		"slowest 1 lifelines in job",
		"slowest 1 lifelines of job by",
		"slowest 1 lifelines of job in id",
		"slowest 1 lifelines of job by id now",
	};
	struct archive *a = filled();

	for (unsigned i = 0; i < ARRAY_LEN(bad); i++)
		fails(a, bad[i], -ERR_PARSE, "is not a sentence of this language");
	fails(a, "count of 'tick", -ERR_PARSE, "a ' is not closed");
	fails(a, "count of \"tick'", -ERR_PARSE, "a \" is not closed");
	removed(a);
}
END_TEST

START_TEST(a_name_that_is_not_there_is_a_mistake)
{
	struct archive *a = filled();

	fails(a, "count of none", -ERR_NOTFOUND, "no event 'none'");
	fails(a, "count of job", -ERR_NOTFOUND, "no event 'job'");
	fails(a, "none* where id = 1", -ERR_NOTFOUND, "no event 'none*'");
	fails(a, "slowest 1 lifelines of jo", -ERR_NOTFOUND, "no event 'jo'");
	fails(a, "count of tick by none", -ERR_NOTFOUND, "no field 'none'");
	fails(a, "job.end where code = 4 and none = 1", -ERR_NOTFOUND, "no field 'none'");
	fails(a, "slowest 1 lifelines of tick by none", -ERR_NOTFOUND, "no field 'none'");
	fails(a, "slowest 1 lifelines of mix", -ERR_NOTFOUND, "by KEY");
	removed(a);
}
END_TEST

START_TEST(a_query_has_a_limit_of_bytes_words_and_types)
{
	char text[ARQUERY_MAX_BYTES + 1] = "gaps", name[16];
	struct archive *a = filled();

	memset(text + 4, ' ', sizeof(text) - 5);
	text[ARQUERY_MAX_BYTES] = '\0';
	fails(a, text, -ERR_PARSE, "at most 4095 bytes");
	text[ARQUERY_MAX_BYTES - 1] = '\0';
	answers(a, text, "stream=7 first=4 events=2\nstream=9 first=0 events=2\n");
	for (unsigned i = 0; i < ARQUERY_WORDS_MAX; i++)
		memcpy(text + 2 * i, "x ", 3);
	fails(a, text, -ERR_PARSE, "is not a sentence of this language");
	memcpy(text + 2 * ARQUERY_WORDS_MAX, "x", 2);
	fails(a, text, -ERR_PARSE, "at most 64 words");
	removed(a);
	stored_new();
	a = stored_open(AR_WRITE);
	for (unsigned i = 0; i < 401; i++) {
		snprintf(name, sizeof(name), i < 400 ? "few.%u" : "fewer", i);
		stored_put(a, (struct stored_at){ .stream = 1, .number = i }, name, "n", I32(1));
	}
	stored_close(a);
	a = stored_open(AR_READ);
	fails(a, "count of few* by n", -ERR_LIMIT, "more than 400 types");
	answers(a, "count of few.* by n", "value='1' events=400\n");
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM event"), 401);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM value WHERE name = 'n'"), 401);
	removed(a);
}
END_TEST

static int add_length(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		      struct err *e)
{
	buf_printf(arg, "%lld ", (long long)v->i);
	return 0;
}

static void pairs_are(const struct archive *a, const char *start, const char *end, const char *want)
{
	const struct arcat *c = archive_cat(a);
	struct buf b = BUF_INIT(1000);

	ck_assert_int_eq(arquery_pairs(a,
				       (const struct artype *const[]){ arcat_find(c, start),
								       arcat_find(c, end) },
				       add_length, &b, NULL),
			 0);
	ck_assert_msg(!strcmp(buf_str(&b), want), "%s", buf_str(&b));
	buf_done(&b);
}

/* By the key that both have; else by what follows in the stream. */
START_TEST(a_start_and_the_end_that_follows_are_a_pair)
{
	struct archive *a = filled();

	pairs_are(a, "job.start", "job.end", "2500 7000 ");
	pairs_are(a, "job.end", "job.start", "");
	pairs_are(a, "job.start", "mix", "7100 ");
	pairs_are(a, "job.start", "tick", "");
	removed(a);
}
END_TEST

static int end_with_7(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		      struct err *e)
{
	++*(int *)arg;
	return -7;
}

/* Each condition compares all fields of its name: 200 values. */
START_TEST(a_statement_has_a_limit_of_values)
{
	struct evfield f[200];
	struct evvalue v[200];
	const struct evtype t = { .name = "same", .nfield = 200, .field = f };
	const struct event ev = { .type = &t, .value = v, .stream = 1 };
	struct buf b = BUF_INIT(ARQUERY_MAX_BYTES);
	struct archive *a;
	int n = 0;

	for (unsigned i = 0; i < 200; i++) {
		f[i] = (struct evfield){ "n", EV_INT32 };
		v[i] = I32((int)i);
	}
	stored_new();
	a = stored_open(AR_WRITE);
	ck_assert_int_eq(archive_put(a, &ev, NULL), 0);
	stored_close(a);
	a = stored_open(AR_READ);
	buf_puts(&b, "same where n = 7");
	for (unsigned i = 0; i < 7; i++)
		buf_puts(&b, " and n = 7");
	ck_assert_int_eq(arquery_run(a, buf_str(&b), end_with_7, &n, NULL), -7);
	buf_puts(&b, " and n = 7");
	fails(a, buf_str(&b), -ERR_LIMIT, "is too large for one query");
	buf_done(&b);
	removed(a);
}
END_TEST

START_TEST(sql_is_run_unchanged_until_the_callback_stops_it)
{
	struct archive *a = filled();
	struct buf b = BUF_INIT(1 << 10);
	int n = 0;

	ck_assert(
		!arquery_sql(a, "SELECT 1 AS x, 'y' AS y, 2.5 AS z, NULL AS u", add_row, &b, NULL));
	ck_assert_str_eq(buf_str(&b), "x=1 y='y' z=2.5 u=-\n");
	buf_done(&b);
	ck_assert_int_eq(arquery_sql(a, "SELECT id FROM row_all", end_with_7, &n, NULL), -7);
	ck_assert_int_eq(arquery_run(a, "types", end_with_7, &n, NULL), -7);
	ck_assert_int_eq(arquery_run(a, "mix where v > 0", end_with_7, &n, NULL), -7);
	ck_assert_int_eq(n, 3);
	ck_assert_int_lt(arquery_sql(a, "DELETE FROM type", NULL, NULL, NULL), 0);
	ck_assert_int_lt(arquery_sql(a, "SELECT nothing", NULL, NULL, NULL), 0);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM type"), 5);
	removed(a);
}
END_TEST

size_t add_tests_of_questions(const TTest **list)
{
	const TTest *const all[] = {
		types_streams_and_gaps_are_listed,
		events_are_counted_by_type_field_or_constant,
		events_are_selected_by_their_values,
		lifelines_are_sorted_by_their_length,
		an_invalid_sentence_is_refused,
		a_name_that_is_not_there_is_a_mistake,
		a_query_has_a_limit_of_bytes_words_and_types,
		a_statement_has_a_limit_of_values,
		a_start_and_the_end_that_follows_are_a_pair,
		sql_is_run_unchanged_until_the_callback_stops_it,
	};

	memcpy(list, all, sizeof(all));
	return ARRAY_LEN(all);
}
