/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Archives from hostile sources. The first byte selects the form: the rest is a file, or changes to
 * the catalogue and the rows of a good one. (No fuzzer finds its way through the pages of SQLite to
 * them.) The archive is read, queried and written to; a reader leaves the file unchanged.
 */
#include "common/base/array.h"
#include "common/base/hash.h"
#include "eventlog/archive/arevents.h"
#include "eventlog/archive/arkept.h"
#include "eventlog/archive/arquery.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define QUERY_NS (200 * NSEC_PER_MSEC) /* a query of the input may be slow; it is ended */
#define CHANGE_BYTES 12 /* table, column, row, class, value */

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static char path[64];
static uint8_t *good; /* the file of a good archive */
static size_t ngood;
static uint64_t nread; /* events */

static void forget_file(void)
{
	static const char *const tails[] = { "", "-wal", "-shm", "-journal" };
	char name[80];

	for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
		snprintf(name, sizeof(name), "%s%s", path, tails[i]);
		unlink(name);
	}
}

static void write_file(const uint8_t *p, size_t n)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(p, 1, n, f) != n || fclose(f))
		abort();
}

static uint32_t sum_of_file(void)
{
	uint8_t b[65536];
	uint32_t sum = 0;
	FILE *f = fopen(path, "r");

	if (!f)
		abort();
	for (size_t n; (n = fread(b, 1, sizeof(b), f));)
		sum = hash_crc32c(sum, b, n);
	fclose(f);
	return sum;
}

/* --- a good one */

static void put_events(struct archive *a, const char *name, unsigned n)
{
	struct evfield f[] = { { "id", EV_INT32 }, { "x", EV_DOUBLE }, { "text", EV_STRING } };
	struct evconst c = { "HOST", { .kind = EV_STRING, .n = 1, .s = "h" } };
	struct evtype t = {
		.name = name, .level = EV_INFO, .nfield = 3, .field = f, .nconst = 1, .constant = &c
	};
	struct evtype stream = { .name = "", .nconst = 1, .constant = &c };

	for (unsigned i = 0; i < n; i++) {
		struct evvalue v[] = { { .kind = EV_INT32, .i32 = (int32_t)i },
				       { .kind = EV_DOUBLE, .f64 = i },
				       { .kind = EV_STRING, .n = 2, .s = "\xff\0" } };
		struct event ev = { .type = &t,
				    .stream_type = &stream,
				    .value = v,
				    .stream = 7 + n,
				    .number = 2 * i,
				    .wall_ns = i };

		if (archive_put(a, &ev, NULL) < 0)
			abort();
	}
}

static void make_good(void)
{
	struct archive *a;
	struct evbalance b;
	struct evbalance_stream s = { .id = 9, .seq = 1, .first = 5, .stored = 4 };
	struct stat st;
	FILE *f;

	snprintf(path, sizeof(path), "%s/omig-fuzz-%ld.db",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
	atexit(forget_file);
	evbalance_init(&b);
	if (archive_open(path, AR_WRITE, 0, &a, NULL) || arkept_open(a, &b, NULL) ||
	    evbalance_restore(&b, &s, NULL))
		abort();
	put_events(a, "x.start", 8);
	put_events(a, "x.end", 9);
	if (archive_commit(a, NULL))
		abort();
	archive_close(a);
	evbalance_done(&b);
	f = fopen(path, "r");
	if (!f || stat(path, &st) || !(good = malloc((size_t)st.st_size)) ||
	    fread(good, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
		abort();
	fclose(f);
	ngood = (size_t)st.st_size;
}

/* --- changes */

static const struct {
	const char *table, *column[8];
	unsigned ncolumn;
} places[] = {
	{ "archive", { "version", "generation" }, 2 },
	{ "stream", { "sid", "stream", "bytes" }, 3 },
	{ "loaded", { "sid", "first", "next" }, 3 },
	{ "type", { "type", "tab", "name", "bytes", "n", "first_ns", "last_ns" }, 7 },
	{ "field", { "type", "place", "col", "bytes", "class", "kind", "nth", "n" }, 8 },
	{ "description", { "d", "type", "level", "hash", "bytes" }, 5 },
	{ "constant", { "d", "place", "name", "value" }, 4 },
	{ "kept", { "stream", "seq", "first", "stored", "left_out", "dropped", "is_over" }, 7 },
	{ "e_x_start", { "id", "ts", "d", "f_id", "f_x", "f_text" }, 6 },
	{ "e_x_end", { "id", "ts", "d", "f_id", "f_x", "f_text_bytes" }, 6 },
};

static void bind(sqlite3_stmt *st, uint8_t class, const uint8_t *p, size_t n)
{
	int64_t i = 0;
	double r;

	memcpy(&i, p, n < 8 ? n : 8);
	memcpy(&r, &i, sizeof(r));
	switch (class % 6) {
	case 0:
		sqlite3_bind_int64(st, 1, i);
		return;
	case 1:
		sqlite3_bind_int64(st, 1, i & 15);
		return;
	case 2:
		sqlite3_bind_double(st, 1, r);
		return;
	case 3:
		sqlite3_bind_text(st, 1, (const char *)p, (int)n, SQLITE_TRANSIENT);
		return;
	case 4:
		sqlite3_bind_blob(st, 1, p, (int)n, SQLITE_TRANSIENT);
		return;
	default:
		sqlite3_bind_null(st, 1);
	}
}

/* Replaces the value with number n, or a part of it. */
static void change(sqlite3 *db, const uint8_t *p, size_t n)
{
	size_t at = p[0] % ARRAY_LEN(places);
	const char *column = places[at].column[p[1] % places[at].ncolumn];
	sqlite3_stmt *st;
	char sql[256];

	if (p[3] & 64 && n > 4) /* bytes in the middle of bytes */
		snprintf(
			sql, sizeof(sql),
			"UPDATE %s SET %s = CAST(substr(%s, 1, %u) || ?1 || substr(%s, %u) AS BLOB) WHERE rowid %% 16 = %u",
			places[at].table, column, column, p[4], column, p[4] + (unsigned)n - 4,
			p[2] % 16u);
	else
		snprintf(sql, sizeof(sql), "UPDATE %s SET %s = ?1 WHERE rowid %% 16 = %u",
			 places[at].table, column, p[2] % 16u);
	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
		return;
	bind(st, p[3] & 64 && n > 4 ? 4 : p[3], p + 4, n - 4);
	sqlite3_step(st);
	sqlite3_finalize(st);
}

static void change_all(const uint8_t *p, size_t n)
{
	sqlite3 *db;

	write_file(good, ngood);
	if (sqlite3_open(path, &db) != SQLITE_OK)
		abort();
	sqlite3_exec(db, "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY", NULL, NULL, NULL);
	for (; n > 4; n -= n < CHANGE_BYTES ? n : CHANGE_BYTES, p += CHANGE_BYTES)
		change(db, p, n < CHANGE_BYTES ? n : CHANGE_BYTES);
	sqlite3_close(db);
}

/* --- checks */

static int look_at_event(void *arg, const struct event *ev)
{
	struct buf b = BUF_INIT(2 * EV_RECORD_MAX_BYTES);

	nread++;
	if (ev->type->nfield > EV_FIELDS_MAX || evtype_encode(&b, 1, ev->type, false, NULL))
		abort();
	for (unsigned i = 0; i < ev->type->nfield; i++)
		if (ev->value[i].kind != ev->type->field[i].kind ||
		    (ev->value[i].kind == EV_STRING && ev->value[i].n && !ev->value[i].s))
			abort();
	buf_done(&b);
	return 0;
}

static int look_at_row(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		       struct err *e)
{
	for (unsigned i = 0; i < n; i++)
		if (v[i].class >= AR_NCLASSES || !names[i])
			abort();
	return 0;
}

static void read_it(void)
{
	static const char *const questions[] = { "types",
						 "streams",
						 "gaps",
						 "count of x.* by text",
						 "x.start where id > 1",
						 "slowest 3 lifelines of x" };
	struct arevents_report report;
	struct archive *a;
	struct err e = { 0 };

	if (archive_open(path, AR_READ, QUERY_NS, &a, &e))
		return;
	arevents_read(a, NULL, &(struct arevents_taker){ look_at_event, NULL }, &report, &e);
	for (size_t i = 0; i < ARRAY_LEN(questions); i++)
		arquery_run(a, questions[i], look_at_row, NULL, &e);
	archive_close(a);
}

static void write_it(void)
{
	struct evbalance b;
	struct archive *a;
	struct err e = { 0 };
	struct evtype t = { .name = "x.start", .level = EV_INFO };

	if (archive_open(path, AR_WRITE, QUERY_NS, &a, &e))
		return;
	evbalance_init(&b);
	arkept_open(a, &b, &e);
	for (uint64_t i = 0; i < 4; i++)
		archive_put(a, &(struct event){ .type = &t, .stream = 15, .number = i }, &e);
	archive_commit(a, &e);
	archive_close(a);
	evbalance_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	uint32_t sum;

	if (!good) {
		make_good();
		read_it();
		if (nread != 17) /* the archive has its 17 events before the changes */
			abort();
	}
	if (!n)
		return 0;
	forget_file();
	if (*p & 1)
		change_all(p + 1, n - 1);
	else
		write_file(p + 1, n - 1);
	sum = sum_of_file();
	read_it();
	if (sum_of_file() != sum)
		abort();
	write_it();
	forget_file();
	return 0;
}
