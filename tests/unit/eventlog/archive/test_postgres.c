/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of each database, with PostgreSQL, and tests of PostgreSQL alone. */
#include "common/base/array.h"
#include "tests/unit/eventlog/archive/each_database.h"
#include "tests/unit/eventlog/archive/questions.h"
#include "tests/unit/eventlog/archive/server.h"
#include "tests/unit/eventlog/archive/stored.h"

#include <math.h>
#include <string.h>

static struct arsql opened(enum armode mode, nsec_t time_ns)
{
	struct arsql s = { 0 };
	struct err e = { 0 };

	ck_assert_msg(!arpg_open(server_url("postgres"), mode, time_ns, &s, &e), "%s", e.text);
	return s;
}

static void done(const struct arsql *s, const char *sql)
{
	struct err e = { 0 };

	ck_assert_msg(!arsql_do(s, sql, &e), "%s: %s", sql, e.text);
}

static void fails(const struct arsql *s, const char *sql, int rc, const char *word)
{
	struct err e = { 0 };
	int got = arsql_do(s, sql, &e);

	ck_assert_msg(got == rc && strstr(e.text, word), "%s: %d, %s", sql, got, e.text);
}

/* --- values */

static const struct seen_value {
	const char *sql;
	struct arvalue value;
} values[] = {
	{ "7::int2", AR_I(7) },
	{ "-70000::int4", AR_I(-70000) },
	{ "(-9223372036854775808)::int8", AR_I(INT64_MIN) },
	{ "0.5::float4", AR_R(0.5) },
	{ "-2.5e300::float8", AR_R(-2.5e300) },
	{ "12.25::numeric", AR_R(12.25) },
	{ "'Infinity'::float8", AR_R((double)INFINITY) },
	{ "'-Infinity'::float8", AR_R(-(double)INFINITY) },
	{ "'NaN'::float8", AR_S("NaN", 3) },
	{ "'word'::text", AR_S("word", 4) },
	{ "''::text", AR_S("", 0) },
	{ "true", AR_S("t", 1) },
	{ "'\\x00ff7a'::bytea", AR_B("\0\xffz", 3) },
	{ "'\\x'::bytea", AR_B("", 0) },
	{ "NULL::int8", { .class = AR_NULL } },
};

static int is_value(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		    struct err *e)
{
	const struct seen_value *want = arg;
	bool is_same = v->class == want->value.class && n == 1;

	if (is_same && v->class == AR_INT)
		is_same = v->i == want->value.i;
	else if (is_same && v->class == AR_REAL)
		is_same = v->r == want->value.r;
	else if (is_same && v->class != AR_NULL)
		is_same = v->n == want->value.n && !memcmp(v->s, want->value.s, v->n);
	ck_assert_msg(is_same, "%s", want->sql);
	ck_assert_str_eq(names[0], "it");
	return 1;
}

START_TEST(each_type_of_a_column_has_its_class)
{
	struct arsql s[] = { opened(AR_WRITE, 0), opened(AR_READ, 0) };
	char text[80];

	for (unsigned i = 0; i < ARRAY_LEN(values); i++)
		for (int k = 0; k < 2; k++) {
			snprintf(text, sizeof(text), "SELECT %s AS it", values[i].sql);
			ck_assert_int_eq(s[k].ops->run(s[k].db,
						       &(struct arsql_statement){ .text = text },
						       is_value, (void *)&values[i], NULL),
					 1);
		}
	arsql_close(&s[0]);
	arsql_close(&s[1]);
}
END_TEST

static int same_again(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		      struct err *e)
{
	static const struct arvalue want[] = { AR_I(INT64_MAX), AR_R(-0.125), AR_S("w\xc3\xa9", 3),
					       AR_B("\0\x80", 2) };

	ck_assert_uint_eq(n, 7);
	ck_assert_int_eq(v[0].i, want[0].i);
	ck_assert_double_eq(v[1].r, want[1].r);
	for (int i = 2; i < 4; i++) {
		ck_assert_int_eq(v[i].class, want[i].class);
		ck_assert_uint_eq(v[i].n, want[i].n);
		ck_assert(!memcmp(v[i].s, want[i].s, want[i].n));
	}
	ck_assert_int_eq(v[4].class, AR_NULL);
	ck_assert_int_eq(v[5].class, AR_TEXT);
	ck_assert_uint_eq(v[5].n, 0);
	ck_assert_int_eq(v[6].class, AR_BYTES);
	ck_assert_uint_eq(v[6].n, 0);
	return 1;
}

START_TEST(parameters_return_as_they_are)
{
	static const struct arvalue v[] = { AR_I(INT64_MAX),	  AR_R(-0.125),
					    AR_S("w\xc3\xa9", 3), AR_B("\0\x80", 2),
					    { .class = AR_NULL }, { .class = AR_TEXT },
					    { .class = AR_BYTES } };
	static const char sql[] = "SELECT $1::int8, $2::float8, $3::text, $4::bytea, $5::int8, "
				  "$6::text, $7::bytea";
	struct arsql s = opened(AR_WRITE, 0);

	ck_assert_int_eq(
		s.ops->run(s.db,
			   &(struct arsql_statement){ .text = sql, .v = v, .n = ARRAY_LEN(v) },
			   same_again, NULL, NULL),
		1);
	arsql_close(&s);
}
END_TEST

START_TEST(a_statement_has_a_limit_of_parameters)
{
	static struct arvalue v[2049];
	struct arsql s = opened(AR_WRITE, 0);
	struct buf b = BUF_INIT(1 << 16);
	struct err e = { 0 };

	buf_puts(&b, "SELECT coalesce(NULL");
	for (unsigned i = 1; i <= 2048; i++) {
		v[i - 1] = AR_I(i);
		buf_printf(&b, ", $%u::int8", i);
	}
	buf_puts(&b, ")");
	ck_assert_msg(!arsql_run(&s, buf_str(&b), v, 2048, &e), "%s", e.text);
	ck_assert_int_eq(arsql_run(&s, buf_str(&b), v, 2049, &e), -ERR_LIMIT);
	buf_done(&b);
	arsql_close(&s);
}
END_TEST

/* --- failures */

START_TEST(each_state_of_the_server_has_an_error)
{
	static const struct {
		const char *state, *word;
		int rc;
	} known[] = {
		{ "53100", "no space is left", -ERR_SYS },
		{ "55P03", "has the archive locked", -ERR_AGAIN },
		{ "57014", "took too long", -ERR_TIMEOUT },
		{ "25006", "ERROR:  what it is", -ERR_DENIED },
		{ "42501", "ERROR:  what it is", -ERR_DENIED },
		{ "22012", "ERROR:  what it is", -ERR_INVALID },
	};
	struct arsql s = opened(AR_WRITE, 0);
	char text[120];

	for (unsigned i = 0; i < ARRAY_LEN(known); i++) {
		snprintf(text, sizeof(text),
			 "DO $$ BEGIN RAISE 'what it is' USING ERRCODE = '%s'; END $$",
			 known[i].state);
		fails(&s, text, known[i].rc, known[i].word);
	}
	done(&s, "SELECT 1");
	fails(&s, "SELECT pg_terminate_backend(pg_backend_pid())", -ERR_CLOSED, "terminat");
	fails(&s, "SELECT 1", -ERR_CLOSED, "");
	arsql_close(&s);
}
END_TEST

START_TEST(a_server_that_is_not_there_or_has_no_utf8_is_refused)
{
	struct arsql s = opened(AR_WRITE, 0), other = { 0 };
	struct err e = { 0 };

	done(&s, "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' "
		 "TEMPLATE template0");
	ck_assert_int_eq(arpg_open(server_url("latin"), AR_READ, 0, &other, &e), -ERR_UNSUPPORTED);
	ck_assert_msg(strstr(e.text, "encoding LATIN1"), "%s", e.text);
	done(&s, "DROP DATABASE latin");
	ck_assert_int_eq(arpg_open(server_url("latin"), AR_READ, 0, &other, &e), -ERR_CLOSED);
	ck_assert_int_eq(arpg_open("postgresql:///x?host=/nonexistent", AR_READ, 0, &other, &e),
			 -ERR_CLOSED);
	ck_assert(!strchr(e.text, '\n'));
	arsql_close(&s);
}
END_TEST

START_TEST(a_loader_waits_for_the_lock_of_another_one)
{
	struct arsql s[] = { opened(AR_WRITE, 0), opened(AR_WRITE, 0) };

	done(&s[1], "SET lock_timeout = '20ms'");
	ck_assert(!s[0].ops->begin(s[0].db, NULL));
	ck_assert_int_eq(s[1].ops->begin(s[1].db, NULL), -ERR_AGAIN);
	s[1].ops->rollback(s[1].db);
	ck_assert(!s[0].ops->commit(s[0].db, NULL));
	ck_assert(!s[1].ops->begin(s[1].db, NULL));
	ck_assert(!s[1].ops->commit(s[1].db, NULL));
	arsql_close(&s[0]);
	arsql_close(&s[1]);
}
END_TEST

/* --- reading */

static const char *const words[] = {
	"DELETE FROM type",
	"DROP TABLE type",
	"CREATE TABLE x (y int)",
	"COPY type TO '/tmp/omig-test-other'",
	"SET default_transaction_read_only = off",
	"COMMIT",
};

START_TEST(a_reader_changes_nothing)
{
	struct archive *a;
	struct arsql s;

	stored_new();
	a = stored_open(AR_WRITE);
	stored_put(a, (struct stored_at){ .stream = 1, .number = 0 }, "x", "n", I32(1));
	done(archive_sql(a), "CREATE SEQUENCE omig_archive.q");
	stored_close(a);
	s = opened(AR_READ, 0);
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		fails(&s, words[i], -ERR_INVALID, "syntax error");
	fails(&s, "SELECT 1; SELECT 2", -ERR_INVALID, "multiple commands");
	fails(&s, "SELECT nextval('omig_archive.q')", -ERR_DENIED, "read-only transaction");
	arsql_close(&s);
	a = stored_open(AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM e_x"), 1);
	archive_close(a);
	stored_remove();
}
END_TEST

static int count_rows(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		      struct err *e)
{
	++*(uint64_t *)arg;
	return 0;
}

/* Rows come by the thousand. The time holds for one statement of the server, and for all of the
 * answer. */
START_TEST(a_query_has_its_time_and_all_of_its_rows)
{
	/* The server does not know how many rows come: else it would compile the query. */
	static const char endless[] = "SELECT generate_series(1, (SELECT 10000000000))";
	struct arsql s = opened(AR_READ, 50 * NSEC_PER_MSEC);
	uint64_t n = 0;

	fails(&s, "SELECT count(*) FROM generate_series(1, 10000000000)", -ERR_TIMEOUT,
	      "took too long");
	ck_assert_int_eq(s.ops->run(s.db, &(struct arsql_statement){ .text = endless }, count_rows,
				    &n, NULL),
			 -ERR_TIMEOUT);
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_eq(n % 1000, 0);
	arsql_close(&s);
	s = opened(AR_READ, 0);
	n = 0;
	ck_assert(!s.ops->run(
		s.db, &(struct arsql_statement){ .text = "SELECT generate_series(1, 2500)" },
		count_rows, &n, NULL));
	ck_assert_uint_eq(n, 2500);
	arsql_close(&s);
}
END_TEST

/* --- writing */

START_TEST(rows_that_the_server_refuses_end_the_transaction_alone)
{
	static const struct arvalue good[] = { AR_I(7), AR_S("seven", 5) }, bad = AR_S("word", 4);
	struct arsql s = opened(AR_WRITE, 0);
	int64_t n = -1;

	done(&s, "CREATE TEMP TABLE few (n BIGINT, s TEXT)");
	ck_assert(!s.ops->begin(s.db, NULL));
	ck_assert(!s.ops->into(s.db, 3, "few", "n, s", NULL));
	ck_assert(!s.ops->put(s.db, 3, good, 2, NULL));
	ck_assert(!s.ops->commit(s.db, NULL));
	ck_assert(!s.ops->begin(s.db, NULL));
	ck_assert(!s.ops->put(s.db, 3, good, 2, NULL));
	ck_assert(!s.ops->into(s.db, 3, "few", "n", NULL)); /* rows of before go in first */
	ck_assert(!s.ops->put(s.db, 3, &bad, 1, NULL));
	ck_assert_int_eq(s.ops->commit(s.db, NULL), -ERR_INVALID);
	s.ops->rollback(s.db);
	ck_assert(!s.ops->begin(s.db, NULL));
	ck_assert(!s.ops->put(s.db, 3, good, 1, NULL));
	s.ops->rollback(s.db); /* with its row */
	ck_assert(!s.ops->begin(s.db, NULL));
	ck_assert(!s.ops->into(s.db, 4, "none", "n", NULL));
	ck_assert(!s.ops->put(s.db, 4, good, 1, NULL));
	ck_assert_int_eq(s.ops->commit(s.db, NULL), -ERR_INVALID);
	s.ops->rollback(s.db);
	ck_assert(!arsql_number(&s, "SELECT count(*) FROM few WHERE s = 'seven'", &n, NULL));
	ck_assert_int_eq(n, 1);
	arsql_close(&s);
}
END_TEST

static int run_all(const char *url)
{
	const TTest *const own[] = {
		each_type_of_a_column_has_its_class,
		parameters_return_as_they_are,
		a_statement_has_a_limit_of_parameters,
		each_state_of_the_server_has_an_error,
		a_server_that_is_not_there_or_has_no_utf8_is_refused,
		a_loader_waits_for_the_lock_of_another_one,
		a_reader_changes_nothing,
		a_query_has_its_time_and_all_of_its_rows,
		rows_that_the_server_refuses_end_the_transaction_alone,
	};
	const TTest *all[EACH_DATABASE_MAX + QUESTIONS_MAX + ARRAY_LEN(own)];
	size_t n = add_tests_of_each_database(all);

	n += add_tests_of_questions(all + n);
	memcpy(all + n, own, sizeof(own));
	stored_in(url);
	return suite_run_with("PostgreSQL", NULL, NULL, all, n + ARRAY_LEN(own));
}

int main(void)
{
	struct arsql s = { 0 };
	struct err e = { 0 };
	const char *url;
	int rc;

	if (arpg_open("postgresql:///x?host=/nonexistent", AR_READ, 0, &s, &e) ==
	    -ERR_UNSUPPORTED) {
		puts(e.text);
		return 77;
	}
	url = server_start();
	if (!url)
		return 77;
	rc = run_all(url);
	server_stop();
	return rc;
}
