/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event logs into SQL. The event is that of paper 001: a time, a 32-bit integer, a 32-bit float,
 * static fields. A million of them are read from a file and stored. SQLite's own prepared insert of
 * the same rows is the floor. Then the archive is queried. Values are wall time, with the time of
 * the disk.
 */
#include "bench/bench.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "eventlog/archive/arquery.h"
#include "eventlog/evfile.h"
#include "eventlog/evwrite.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS 1000000
#define ROUNDS 3
#define BATCH ARCHIVE_BATCH_EVENTS

static struct bench_series series;
static char log_path[64], db_path[64];

static void remove_db(void)
{
	static const char *const tails[] = { "", "-wal", "-shm" };
	char path[96];

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", db_path, tails[i]);
		unlink(path);
	}
}

/* --- the log */

static const struct evfield fields[] = { { "MY_INT", EV_INT32 }, { "MY_FLOAT", EV_FLOAT } };
static const struct evconst constants[] = {
	{ "HOST", { .kind = EV_STRING, .n = 12, .s = "foo.lbl.gov." } },
	{ "PROG", { .kind = EV_STRING, .n = 8, .s = "testprog" } }
};
static const struct evtype type = { "MY_EVENT", EV_INFO, 2, 2, fields, constants };

static void put_out(FILE *f, struct evwrite *w)
{
	if (fwrite(w->out.p, 1, w->out.n, f) != w->out.n)
		bench_fail("%s cannot be written", log_path);
	buf_clear(&w->out);
}

static void make_log(void)
{
	FILE *f = fopen(log_path, "w");
	struct evwrite w;
	struct err e = { 0 };

	evwrite_init(&w, 1, false, 0);
	if (!f || evwrite_define(&w, 1, &type, &e))
		bench_fail("%s cannot be made", log_path);
	for (int i = 0; i < EVENTS; i++) {
		struct evvalue v[] = { { .kind = EV_INT32, .i32 = i % 1000 },
				       { .kind = EV_FLOAT, .f32 = (float)(i % 77) / 7 } };

		if (evwrite_event(
			    &w, 1,
			    &(struct event){ .type = &type,
					     .ticks = 1700000000000000000u + (uint64_t)i * 1000,
					     .value = v },
			    &e))
			bench_fail("%s", e.text);
		if (w.out.n)
			put_out(f, &w);
	}
	evwrite_cut(&w, true, &e);
	put_out(f, &w);
	evwrite_done(&w);
	fclose(f);
}

/* --- loading it */

static double load_once(const char *where, double *cpu_ns)
{
	struct archive *a;
	struct evfile *f;
	struct event ev;
	struct err e = { 0 };
	int64_t t;
	int got = 0;

	if (archive_open(where, AR_WRITE, 0, &a, &e) || evfile_open(log_path, &f, &e))
		bench_fail("%s", e.text);
	*cpu_ns = (double)bench_clock(CLOCK_PROCESS_CPUTIME_ID);
	t = bench_now();
	while (got >= 0 && evfile_next(f, &ev, &e) == 1)
		got = archive_put(a, &ev, &e);
	if (got < 0 || archive_commit(a, &e) || archive_report(a)->safe != EVENTS)
		bench_fail("loading: %s", e.text);
	t = bench_now() - t;
	*cpu_ns = ((double)bench_clock(CLOCK_PROCESS_CPUTIME_ID) - *cpu_ns) / EVENTS;
	archive_close(a);
	evfile_close(f);
	return EVENTS * 1e9 / (double)t;
}

/* The floor: a prepared insert for each row, with the same rows and batches. */
static void must(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		bench_fail("%s: %s", sql, sqlite3_errmsg(db));
}

static double floor_once(double *cpu_ns)
{
	sqlite3 *db;
	sqlite3_stmt *st;
	int64_t t;

	if (sqlite3_open(db_path, &db) != SQLITE_OK)
		bench_fail("%s cannot be made", db_path);
	must(db, "PRAGMA journal_mode=WAL");
	must(db, "PRAGMA synchronous=FULL");
	must(db,
	     "CREATE TABLE e (id INTEGER PRIMARY KEY, ts BIGINT, d BIGINT, i BIGINT, f DOUBLE PRECISION)");
	sqlite3_prepare_v2(db, "INSERT INTO e VALUES (?,?,?,?,?)", -1, &st, NULL);
	*cpu_ns = (double)bench_clock(CLOCK_PROCESS_CPUTIME_ID);
	t = bench_now();
	for (int i = 0; i < EVENTS; i++) {
		if (i % BATCH == 0)
			must(db, i ? "COMMIT; BEGIN" : "BEGIN");
		sqlite3_bind_int64(st, 1, INT64_C(1) << 40 | i);
		sqlite3_bind_int64(st, 2, INT64_C(1700000000000000000) + (int64_t)i * 1000);
		sqlite3_bind_int64(st, 3, 1);
		sqlite3_bind_int64(st, 4, i % 1000);
		sqlite3_bind_double(st, 5, (double)((float)(i % 77) / 7));
		if (sqlite3_step(st) != SQLITE_DONE)
			bench_fail("%s", sqlite3_errmsg(db));
		sqlite3_reset(st);
	}
	must(db, "COMMIT");
	t = bench_now() - t;
	*cpu_ns = ((double)bench_clock(CLOCK_PROCESS_CPUTIME_ID) - *cpu_ns) / EVENTS;
	sqlite3_finalize(st);
	sqlite3_close(db);
	return EVENTS * 1e9 / (double)t;
}

static void print_cpu(const char *name, const double *ns, const char *floor)
{
	bench_clear(&series);
	for (int i = 0; i < ROUNDS; i++)
		bench_add(&series, ns[i]);
	bench_print(name, "ns", &series, floor);
}

static void sqlite(void)
{
	double ns[2][ROUNDS];

	bench_clear(&series);
	for (int i = 0; i < ROUNDS; i++) {
		remove_db();
		bench_add(&series, floor_once(&ns[0][i]));
	}
	bench_print("floor.sqlite_insert.per_s", "1/s", &series, NULL);
	bench_clear(&series);
	for (int i = 0; i < ROUNDS; i++) {
		remove_db();
		bench_add(&series, load_once(db_path, &ns[1][i]));
	}
	bench_print("archive.sqlite.events_per_s", "1/s", &series, "floor.sqlite_insert.per_s");
	print_cpu("floor.sqlite_insert.cpu.ns", ns[0], NULL);
	print_cpu("archive.sqlite.cpu.ns", ns[1], "floor.sqlite_insert.cpu.ns");
}

/* --- PostgreSQL, if a server runs (bench/archive.sh) */

static void postgresql(void)
{
	/* prefix of the names of empty databases, before a number */
	const char *urls = getenv("OMIG_BENCH_POSTGRESQL");
	char url[256];
	double ns[ROUNDS];

	if (!urls)
		return;
	bench_clear(&series);
	for (int i = 0; i < ROUNDS; i++) {
		snprintf(url, sizeof(url), "%s%d", urls, i);
		bench_add(&series, load_once(url, &ns[i]));
	}
	bench_print("archive.postgresql.events_per_s", "1/s", &series, "floor.sqlite_insert.per_s");
	print_cpu("archive.postgresql.cpu.ns", ns, NULL); /* without the server's */
}

/* --- queries on a million events */

static int count_row(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		     struct err *e)
{
	++*(uint64_t *)arg;
	return 0;
}

static void ask(const char *name, const char *sentence)
{
	struct archive *a;
	struct err e = { 0 };
	uint64_t rows = 0;

	if (archive_open(db_path, AR_READ, 0, &a, &e))
		bench_fail("%s", e.text);
	bench_clear(&series);
	for (int i = 0; i < ROUNDS; i++) {
		int64_t t = bench_now();

		if (arquery_run(a, sentence, count_row, &rows, &e) || !rows)
			bench_fail("%s: %s", sentence, e.text);
		bench_add(&series, (double)(bench_now() - t) / 1e6);
	}
	bench_print(name, "ms", &series, NULL);
	archive_close(a);
}

static void questions(void)
{
	ask("archive.query.count.ms", "count of MY_EVENT by MY_INT");
	ask("archive.query.where.ms", "MY_EVENT where MY_INT == 7 and MY_FLOAT > 10.5");
	ask("archive.query.slowest.ms", "slowest 20 lifelines of MY_EVENT by MY_INT");
}

int main(void)
{
	snprintf(log_path, sizeof(log_path), "/var/tmp/omig-bench-%ld.olog", (long)getpid());
	snprintf(db_path, sizeof(db_path), "/var/tmp/omig-bench-%ld.db", (long)getpid());
	make_log();
	sqlite();
	questions();
	postgresql();
	remove_db();
	unlink(log_path);
	bench_done(&series);
	return 0;
}
