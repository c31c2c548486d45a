/* SPDX-License-Identifier: Apache-2.0 */
#include "common/authority/fields.h"

#include "common/base/buf.h"
#include "common/base/file.h"

#include <string.h>

size_t fields_split(char *line, char **field, size_t max)
{
	size_t n = 0;

	for (char *at = line; at;) {
		char *tab = strchr(at, '\t');

		if (n < max)
			field[n] = at;
		n++;
		if (tab)
			*tab++ = 0;
		at = tab;
	}
	return n;
}

struct reader {
	int (*fn)(void *arg, char *line, struct err *e);
	void *arg;
	bool is_log; /* of its last line the end may be missing: then it is no line */
};

/* Up to the first 0, which is no text: l->bytes and l->lines are what was read. */
static int each_line(struct fields_log *l, const struct buf *b, const struct reader *r,
		     struct err *e)
{
	int rc = 0;

	for (char *at = (char *)b->p; !rc && at && *at;) {
		char *end = strchr(at, '\n');

		if (!end && r->is_log)
			break;
		if (end)
			*end++ = 0;
		l->lines++;
		rc = r->fn(r->arg, at, e);
		if (rc)
			err_add(e, "%s:%zu", l->path, l->lines);
		at = end;
		l->bytes = end ? (size_t)(end - (char *)b->p) : b->n;
	}
	return rc;
}

static int read_lines(struct fields_log *l, const struct reader *r, struct err *e)
{
	struct buf b = BUF_INIT(l->max_bytes + 1);
	int rc = file_read(l->path, l->max_bytes, FILE_SECRET, &b, e);

	if (rc == -ERR_NOTFOUND) {
		buf_done(&b);
		return 0;
	}
	if (!rc)
		rc = each_line(l, &b, r, e);
	l->is_whole = !rc && l->bytes == b.n;
	buf_done(&b);
	return rc;
}

int fields_read(const char *path, size_t max_bytes, int (*fn)(void *arg, char *line, struct err *e),
		void *arg, struct err *e)
{
	struct fields_log all = { .path = path, .max_bytes = max_bytes };

	return read_lines(&all, &(struct reader){ .fn = fn, .arg = arg }, e);
}

int fields_log_read(struct fields_log *l, int (*fn)(void *arg, char *line, struct err *e),
		    void *arg, struct err *e)
{
	return read_lines(l, &(struct reader){ fn, arg, true }, e);
}

int fields_log_add(struct fields_log *l, const struct buf *line, struct err *e)
{
	int rc;

	if (line->failed)
		return err_nomem(e);
	if (!l->is_whole || line->n > l->max_bytes - l->bytes)
		return err_set(e, ERR_LIMIT, "%s must be written again", l->path);
	l->is_whole = false;
	rc = file_append(l->path, line->p, line->n, e);
	if (rc)
		return rc;
	l->is_whole = true;
	l->bytes += line->n;
	l->lines++;
	return 0;
}

int fields_log_write(struct fields_log *l, const struct buf *all, size_t lines, struct err *e)
{
	int rc;

	l->is_whole = false;
	if (all->failed)
		return err_nomem(e);
	rc = file_write_atomic(l->path, all->p, all->n, e);
	if (rc)
		return rc;
	l->is_whole = true;
	l->bytes = all->n;
	l->lines = lines;
	return 0;
}
