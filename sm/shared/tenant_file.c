/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a tenant beside its certificate: a small file with mode 0600. */
#include "common/base/str.h"
#include "common/store/store.h"
#include "eventlog/keep/keeps.h"
#include "sm/shared/tenant_internal.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "user"
#define FIELDS_MAX 3

static const struct store_kind file_kind = { .what = "tenant", .version = 1, .max_bytes = 8192 };

static int path_of(const struct tenant *t, const char *name, char out[FILE_PATH_BYTES],
		   struct err *e)
{
	return file_join(out, FILE_PATH_BYTES, t->dir, name, e);
}

void tenant_set_address(struct tenant *t)
{
	struct buf b = BUF_INIT(sizeof(t->address));

	if (t->conn.nhost && !hostport_print(t->conn.host[0], t->conn.port, &b))
		str_copy(t->address, sizeof(t->address), buf_str(&b));
	buf_done(&b);
}

static int wrong(struct err *e)
{
	return err_set(e, ERR_PARSE, "not a line of a user's file");
}

static int read_limit(struct tenant *t, const char *name, const char *number, struct err *e)
{
	enum quota_what what = quota_from_name(name);
	int64_t n;

	if (what == QUOTA_COUNT || str_to_i64(number, 0, INT64_MAX, &n))
		return wrong(e);
	t->own[what] = n;
	return 0;
}

static int read_conn(struct tenant *t, const char *text, struct err *e)
{
	int rc = connstr_parse(text, &t->conn, e);

	if (!rc && !str_eq(t->conn.pin, t->pin))
		return err_set(e, ERR_PARSE, "the connection string is of another mainsm");
	return rc;
}

static int read_time(const char *text, nsec_t *out, struct err *e)
{
	return str_to_i64(text, 0, INT64_MAX, out) ? wrong(e) : 0;
}

static int read_pair(struct tenant *t, const char *key, const char *value, struct err *e)
{
	int64_t n;

	if (str_eq(key, "conn"))
		return read_conn(t, value, e);
	if (str_eq(key, "name") && str_is_name(value, strlen(value)))
		return str_copy(t->name, sizeof(t->name), value) ? 0 : wrong(e);
	if (str_eq(key, "since"))
		return read_time(value, &t->wall_since, e);
	if (str_eq(key, "seen"))
		return read_time(value, &t->wall_seen, e);
	if (str_eq(key, "draining")) {
		t->is_draining = str_eq(value, "1");
		return 0;
	}
	if (!str_eq(key, "port") || str_to_i64(value, 0, UINT16_MAX, &n))
		return wrong(e);
	t->port = (uint16_t)n;
	return 0;
}

static int read_line(void *arg, char *line, struct err *e)
{
	struct tenant *t = arg;
	char *field[FIELDS_MAX];
	size_t n = str_split_tabs(line, field, FIELDS_MAX);

	if (n == 3 && str_eq(field[0], "limit"))
		return read_limit(t, field[1], field[2], e);
	return n == 2 ? read_pair(t, field[0], field[1], e) : wrong(e);
}

int tenant_read(struct tenant *t, struct err *e)
{
	char path[FILE_PATH_BYTES];
	int rc = path_of(t, FILE_NAME, path, e);

	if (!rc)
		rc = store_read_lines(&STORE_INIT(&file_kind, t->conf->disk, path), read_line, t,
				      e);
	if (!rc && !t->conn.nhost)
		return err_set(e, ERR_NOTFOUND, "%s: no user is remembered there", t->dir);
	tenant_set_address(t);
	return rc;
}

static int print(const struct tenant *t, struct buf *b)
{
	int rc;

	buf_puts(b, "conn\t");
	rc = connstr_print(&t->conn, false, b);
	buf_printf(b, "\nsince\t%" PRId64 "\nseen\t%" PRId64 "\nport\t%u\n", t->wall_since,
		   t->wall_seen, t->port);
	if (t->name[0])
		buf_printf(b, "name\t%s\n", t->name);
	if (t->is_draining)
		buf_puts(b, "draining\t1\n");
	for (int i = 0; i < QUOTA_COUNT; i++)
		if (t->own[i] >= 0)
			buf_printf(b, "limit\t%s\t%" PRId64 "\n", quota_name((enum quota_what)i),
				   t->own[i]);
	return rc ? rc : b->failed ? -ERR_NOMEM : 0;
}

int tenant_write(const struct tenant *t, struct err *e)
{
	struct buf b = BUF_INIT(file_kind.max_bytes);
	char path[FILE_PATH_BYTES];
	int rc = path_of(t, FILE_NAME, path, e);

	if (!rc && print(t, &b))
		rc = err_nomem(e);
	if (!rc)
		rc = store_write(&STORE_INIT(&file_kind, t->conf->disk, path), &b, e);
	buf_done(&b);
	return rc;
}

void tenant_erase(struct tenant *t)
{
	char path[FILE_PATH_BYTES];

	loop_timer_cancel(t->save);
	if (!path_of(t, FILE_NAME, path, NULL))
		store_remove(&STORE_INIT(&file_kind, t->conf->disk, path), NULL);
	pki_creds_erase(t->dir);
	keeps_erase(t->conf->disk, t->spool);
	rmdir(t->dir);
}
