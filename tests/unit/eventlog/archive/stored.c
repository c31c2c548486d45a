/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/eventlog/archive/stored.h"

#include <string.h>
#include <unistd.h>

static char folder[32], path[160];
static bool is_in_server;

void stored_in(const char *url)
{
	snprintf(path, sizeof(path), "%s", url);
	is_in_server = true;
}

static void remove_schema(void)
{
	struct arsql s = { 0 };
	struct err e = { 0 };

	ck_assert_msg(!arpg_open(path, AR_WRITE, 0, &s, &e), "%s", e.text);
	ck_assert_msg(!arsql_do(&s, "DROP SCHEMA IF EXISTS omig_archive CASCADE", &e), "%s",
		      e.text);
	arsql_close(&s);
}

static void remove_all(void)
{
	static const char *const tails[] = { "", "-wal", "-shm" };
	char name[170];

	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s%s", path, tails[i]);
		unlink(name);
	}
}

const char *stored_new(void)
{
	if (is_in_server) {
		remove_schema();
		return path;
	}
	if (!*folder) {
		snprintf(folder, sizeof(folder), "/tmp/omig-test-XXXXXX");
		ck_assert_ptr_nonnull(mkdtemp(folder));
		snprintf(path, sizeof(path), "%s/a.db", folder);
	}
	remove_all();
	return path;
}

const char *stored_path(void)
{
	return path;
}

void stored_remove(void)
{
	if (is_in_server) {
		remove_schema();
		return;
	}
	remove_all();
	rmdir(folder);
	*folder = '\0';
}

struct archive *stored_open(enum armode mode)
{
	struct archive *a;
	struct err e = { 0 };

	ck_assert_msg(!archive_open(path, mode, 0, &a, &e), "%s", e.text);
	return a;
}

int stored_put(struct archive *a, struct stored_at at, const char *type, const char *field,
	       struct evvalue v)
{
	struct evfield f = { field, v.kind };
	struct evtype t = { .name = type, .level = EV_INFO, .nfield = 1, .field = &f };
	struct event ev = { .type = &t,
			    .value = &v,
			    .stream = at.stream,
			    .number = at.number,
			    .wall_ns = at.ts ? at.ts : (int64_t)at.number * 1000 };
	struct err e = { 0 };
	int got = archive_put(a, &ev, &e);

	ck_assert_msg(got >= 0, "%s", e.text);
	return got;
}

int64_t stored_number(const struct archive *a, const char *sql)
{
	int64_t n = INT64_MIN;
	struct err e = { 0 };
	int rc = arsql_number(archive_sql(a), sql, &n, &e);

	ck_assert_msg(!rc, "%s: %s", sql, e.text);
	return n;
}

void stored_close(struct archive *a)
{
	struct err e = { 0 };

	ck_assert_msg(!archive_commit(a, &e), "%s", e.text);
	archive_close(a);
}

struct arevents_report stored_read(const struct archive *a, const struct arevents_options *w,
				   arevents_fn fn, void *arg)
{
	struct arevents_report r;
	struct err e = { 0 };
	int rc = arevents_read(a, w, &(struct arevents_taker){ fn, arg }, &r, &e);

	ck_assert_msg(!rc, "%s", e.text);
	return r;
}
