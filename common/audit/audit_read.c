/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the last lines as values. Other programs may have changed the file, so each line is
 * checked.
 */
#include "common/audit/audit_internal.h"
#include "common/base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIELDS 13 /* fields of a line */
#define ANSWER_MAX_BYTES AUDIT_READ_MAX_BYTES

/* Returns the index after the quoted string that begins at i; n if it has no end. */
static size_t skip_string(const char *p, size_t n, size_t i)
{
	for (i++; i < n && p[i] != '"'; i++)
		if (p[i] == '\\')
			i++;
	return i < n ? i + 1 : n;
}

/* Converts {"a":1,"b":"c"} to 1,"c": JSON's strings and numbers are values of our language, too. */
static bool audit_values_of_line(const char *p, size_t n, struct buf *values)
{
	size_t i = 1, end;

	if (n < 2 || p[0] != '{' || p[n - 1] != '}')
		return false;
	for (n--; i < n; i = end) {
		end = p[i] == '"' ? skip_string(p, n, i) : i + 1;
		if (p[i] != '"' || end >= n || p[end] != ':')
			buf_put(values, p + i, end - i);
		else
			end++; /* a key */
	}
	return !values->failed;
}

static bool is_entry(const struct omis_values *v)
{
	int64_t number;

	if (v->n != FIELDS || !omis_values_i64(v, 0, &number))
		return false;
	for (size_t i = 0; i < v->n; i++)
		if (v->v[i].kind != OMIS_INT && v->v[i].kind != OMIS_STRING)
			return false;
	return true;
}

struct reading {
	int64_t since, max, n;
	bool more;
	struct omis_writer w;
};

static void write_entry(struct reading *r, const struct omis_values *v)
{
	omis_write_list(&r->w);
	for (size_t i = 0; i < v->n; i++)
		omis_write_value(&r->w, &v->v[i]);
	omis_write_list_end(&r->w);
	r->n++;
}

/* Adds a line. Returns false when earlier lines are not requested. */
static bool take_line(struct reading *r, const char *line, size_t n)
{
	struct buf text = BUF_INIT(AUDIT_READ_MAX_BYTES);
	struct omis_values *v = NULL;
	int64_t number = 0;
	bool goes_on = true;

	if (!audit_values_of_line(line, n, &text) ||
	    omis_parse_values(buf_str(&text), text.n, &v, NULL) || !is_entry(v))
		goto out; /* not a complete entry */
	omis_values_i64(v, 0, &number);
	goes_on = number > r->since;
	if (goes_on && (r->n >= r->max || r->w.b->n + 2 * n > ANSWER_MAX_BYTES)) {
		r->more = true;
		goes_on = false;
	}
	if (goes_on)
		write_entry(r, v);
out:
	omis_values_free(v);
	buf_done(&text);
	return goes_on;
}

/*
 * Adds lines from the end to the beginning. The text before the first newline may be a partial
 * line.
 */
static void take_lines(struct reading *r, const struct buf *text, bool is_whole)
{
	size_t end = text->n, at = end;

	while (at > 0) {
		for (at = end; at > 0 && text->p[at - 1] != '\n'; at--)
			;
		if (at == 0 && !is_whole) {
			r->more = true;
			return;
		}
		if (end > at && !take_line(r, (const char *)text->p + at, end - at))
			return;
		end = at ? at - 1 : 0;
	}
}

static void read_tail(const char *path, struct buf *out, size_t most, bool *is_whole)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	off_t from;
	ssize_t n;

	*is_whole = true;
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		from = (size_t)st.st_size > most ? st.st_size - (off_t)most : 0;
		*is_whole = from == 0;
		if (!buf_reserve(out, most)) {
			do {
				n = pread(fd, out->p + out->n, most, from);
			} while (n < 0 && errno == EINTR);
			out->n += n > 0 ? (size_t)n : 0;
		}
	}
	close(fd);
}

/* Reads the newest entries first: the file, then the older file, up to the bound. */
static void read_files(const struct audit *a, struct reading *r)
{
	const char *const files[] = { a->path, a->older };
	size_t most = AUDIT_READ_MAX_BYTES;

	for (size_t i = 0; i < 2 && most && !r->more; i++) {
		struct buf text = BUF_INIT(AUDIT_READ_MAX_BYTES + 1);
		bool is_whole;

		read_tail(files[i], &text, most, &is_whole);
		most -= text.n;
		take_lines(r, &text, is_whole);
		buf_done(&text);
	}
}

int audit_read(const struct audit *a, int64_t since, int64_t max, struct buf *out)
{
	struct buf entries = BUF_INIT(2 * ANSWER_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(out);
	struct reading r = { .since = since,
			     .max = max < AUDIT_ENTRIES_MAX ? max : AUDIT_ENTRIES_MAX };
	int rc;

	r.w = OMIS_WRITER(&entries);
	read_files(a, &r);
	omis_write_string(&w, a->daemon);
	omis_write_string(&w, a->host);
	omis_write_int(&w, (int64_t)a->left_out);
	omis_write_int(&w, r.more);
	if (entries.n) {
		buf_putc(out, ',');
		buf_put(out, entries.p, entries.n);
	}
	rc = out->failed || entries.failed ? -ERR_NOMEM : 0;
	buf_done(&entries);
	return rc;
}
