/* SPDX-License-Identifier: Apache-2.0 */
#include "common/store/store.h"

#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/str.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "omig-store "
#define HEAD_MAX_BYTES 64
#define RECORD_HEAD_BYTES 19 /* length of "+00000000 00000000\n" */
#define SUMS "%08x %08x\n"
#define SUMS_BYTES 18

static size_t file_max(const struct store *s)
{
	return HEAD_MAX_BYTES + s->kind->max_bytes;
}

static int path_beside(const struct store *s, const char *suffix, char out[FILE_PATH_BYTES],
		       struct err *e)
{
	if ((size_t)snprintf(out, FILE_PATH_BYTES, "%s%s", s->path, suffix) < FILE_PATH_BYTES)
		return 0;
	return err_set(e, ERR_LIMIT, "path is too long: %.100s", s->path);
}

/* --- reading */

/* Reads the length and the checksum of the body. */
static bool read_sums(const uint8_t *p, size_t n, uint32_t sums[2])
{
	char hex[9] = "";
	uint64_t v;

	if (n < SUMS_BYTES || p[8] != ' ' || p[17] != '\n')
		return false;
	for (int i = 0; i < 2; i++) {
		memcpy(hex, p + 9 * i, 8);
		if (strspn(hex, "0123456789abcdef") != 8 || str_to_hex64(hex, &v))
			return false;
		sums[i] = (uint32_t)v;
	}
	return true;
}

/* Checks the body at p, with n bytes left. Returns true if it is complete and unchanged. */
static bool read_body(const uint8_t *p, size_t n, uint32_t *bytes)
{
	uint32_t sums[2];

	if (!read_sums(p, n, sums) || sums[0] > n - SUMS_BYTES ||
	    hash_crc32c(0, p + SUMS_BYTES, sums[0]) != sums[1])
		return false;
	*bytes = sums[0];
	return true;
}

static size_t put_head(const struct store *s, char out[HEAD_MAX_BYTES])
{
	return (size_t)snprintf(out, HEAD_MAX_BYTES, MAGIC "%s %u ", s->kind->what,
				s->kind->version);
}

static int damaged(const struct store *s, size_t at, const char *why, struct err *e)
{
	const struct disk *d = disk_or_system(s->disk);
	char bad[FILE_PATH_BYTES];
	bool is_aside = s->kind->is_expendable && !path_beside(s, ".bad", bad, NULL) &&
			!d->rename(d->arg, s->path, bad);

	return err_set(e, ERR_PARSE, "%s: byte %zu: %s; %s", s->path, at, why,
		       is_aside ? "it is renamed to .bad" : "move it away to begin without it");
}

/* Returns the offset of the next good record; n if there is none. */
static size_t next_record(const uint8_t *p, size_t n, size_t at)
{
	uint32_t bytes;

	for (; at < n; at++)
		if (p[at] == '+' && read_body(p + at + 1, n - at - 1, &bytes))
			return at;
	return n;
}

/*
 * Removes the heads between records. An invalid record was cut off by a crash; or it is damaged, if
 * others follow it.
 */
static void join_records(struct store *s, struct buf *b, size_t end)
{
	size_t at = next_record(b->p, b->n, end);

	s->damaged = at - end;
	while (at < b->n) {
		size_t next;
		uint32_t bytes = 0;

		read_body(b->p + at + 1, b->n - at - 1, &bytes);
		next = at + RECORD_HEAD_BYTES + bytes;
		memmove(b->p + end, b->p + at + RECORD_HEAD_BYTES, bytes);
		end += bytes;
		at = next_record(b->p, b->n, next);
		s->damaged += at - next;
	}
	b->n = end;
	b->p[end] = 0;
}

static int check(struct store *s, struct buf *b, struct err *e)
{
	char head[HEAD_MAX_BYTES];
	size_t n = put_head(s, head);
	uint32_t bytes;

	if (b->n < n || memcmp(b->p, head, n) != 0)
		return damaged(s, 0, "not in the form of this version", e);
	if (!read_body(b->p + n, b->n - n, &bytes))
		return damaged(s, n, "cut off, or not what was written", e);
	join_records(s, b, n + SUMS_BYTES + bytes);
	s->is_whole = !s->damaged;
	buf_drop_front(b, n + SUMS_BYTES);
	return 0;
}

static int read_file(struct store *s, int fd, struct buf *b, struct err *e)
{
	const struct disk *d = disk_or_system(s->disk);
	int64_t n = d->size(d->arg, fd);
	ssize_t got = 1;

	if (n < 0)
		return disk_fail(s->path, (int)n, e);
	if ((uint64_t)n > file_max(s))
		return damaged(s, file_max(s), "larger than such a file can be", e);
	if (buf_reserve(b, (size_t)n + 1))
		return err_nomem(e);
	while (got > 0 && b->n < (size_t)n) {
		got = d->read_at(d->arg, fd, b->p + b->n, (size_t)n - b->n, b->n);
		b->n += got > 0 ? (size_t)got : 0;
	}
	b->p[b->n] = 0;
	s->bytes = b->n;
	return got < 0 ? disk_fail(s->path, (int)got, e) : 0;
}

int store_read(struct store *s, struct buf *out, struct err *e)
{
	const struct disk *d = disk_or_system(s->disk);
	struct buf b = BUF_INIT(file_max(s) + 1);
	int fd = d->open(d->arg, s->path), rc;

	s->is_whole = false;
	s->damaged = 0;
	if (fd < 0)
		return disk_fail(s->path, fd, e);
	rc = read_file(s, fd, &b, e);
	d->close(d->arg, fd);
	if (!rc)
		rc = check(s, &b, e);
	if (rc)
		buf_done(&b);
	else
		*out = b;
	return rc;
}

int store_read_lines(struct store *s, int (*fn)(void *arg, char *line, struct err *e), void *arg,
		     struct err *e)
{
	struct buf b = { 0 };
	size_t line = 0;
	int rc = store_read(s, &b, e);

	for (char *at = (char *)b.p; !rc && at && *at;) {
		char *end = strchr(at, '\n');

		if (end)
			*end++ = 0;
		line++;
		rc = fn(arg, at, e);
		if (rc)
			err_add(e, "%s:%zu", s->path, line);
		at = end;
	}
	buf_done(&b);
	return rc == -ERR_NOTFOUND && !line ? 0 : rc;
}

/* --- writing */

static int write_new(struct store *s, const char *name, const struct buf *body)
{
	const struct disk *d = disk_or_system(s->disk);
	char head[HEAD_MAX_BYTES];
	size_t n = put_head(s, head);
	int fd, rc;

	n += (size_t)snprintf(head + n, sizeof(head) - n, SUMS, (unsigned)body->n,
			      hash_crc32c(0, body->p, body->n));
	d->remove(d->arg, name); /* from an earlier attempt */
	fd = d->create(d->arg, name);
	if (fd < 0)
		return fd;
	rc = disk_write_all(d, fd, head, n, 0);
	if (!rc && body->n)
		rc = disk_write_all(d, fd, body->p, body->n, n);
	if (!rc && !s->kind->ends_with_boot)
		rc = d->sync(d->arg, fd);
	d->close(d->arg, fd);
	s->bytes = n + body->n;
	return rc;
}

int store_write(struct store *s, const struct buf *body, struct err *e)
{
	const struct disk *d = disk_or_system(s->disk);
	char name[FILE_PATH_BYTES];
	int rc = body->failed ? err_nomem(e) : path_beside(s, ".new", name, e);

	if (rc)
		return rc;
	if (body->n > s->kind->max_bytes)
		return err_set(e, ERR_LIMIT, "%s: more than %zu bytes", s->path,
			       s->kind->max_bytes);
	s->is_whole = false;
	rc = write_new(s, name, body);
	if (!rc)
		rc = d->rename(d->arg, name, s->path);
	if (rc)
		d->remove(d->arg, name);
	else if (!s->kind->ends_with_boot)
		rc = d->sync_names(d->arg, s->path);
	s->is_whole = !rc;
	return rc ? disk_fail(s->path, rc, e) : 0;
}

static int add(struct store *s, const struct buf *record)
{
	const struct disk *d = disk_or_system(s->disk);
	int fd = d->open(d->arg, s->path), rc;

	if (fd < 0)
		return fd;
	rc = disk_write_all(d, fd, record->p, record->n, s->bytes);
	if (!rc && !s->kind->ends_with_boot)
		rc = d->sync(d->arg, fd);
	d->close(d->arg, fd);
	return rc;
}

int store_add(struct store *s, const void *p, size_t n, struct err *e)
{
	struct buf record = BUF_INIT(RECORD_HEAD_BYTES + n + 1);
	int rc;

	if (!s->is_whole || s->bytes + RECORD_HEAD_BYTES + n > s->kind->max_bytes)
		return err_set(e, ERR_LIMIT, "%s must be written again", s->path);
	buf_printf(&record, "+" SUMS, (unsigned)n, hash_crc32c(0, p, n));
	if (buf_put(&record, p, n)) {
		buf_done(&record);
		return err_nomem(e);
	}
	rc = add(s, &record);
	s->is_whole = !rc;
	s->bytes += rc ? 0 : record.n;
	buf_done(&record);
	return rc ? disk_fail(s->path, rc, e) : 0;
}

int store_remove(struct store *s, struct err *e)
{
	const struct disk *d = disk_or_system(s->disk);
	int rc = d->remove(d->arg, s->path);

	s->is_whole = false;
	if (!rc && !s->kind->ends_with_boot)
		rc = d->sync_names(d->arg, s->path);
	return rc && rc != -ENOENT ? disk_fail(s->path, rc, e) : 0;
}
