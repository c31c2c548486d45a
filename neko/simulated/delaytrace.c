/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/simulated/delaytrace.h"

#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "neko/core/limits.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 0x7fffffff /* more rows than a file can have */
#define DELAY_MAX_S 1e9 /* limit of the delays of distributions */
#define EXAMPLE "lan 1 2 12.000000000 0.010023456, or lost instead of the delay"

struct row {
	uint64_t link; /* sender << 32 | destination */
	uint32_t at; /* offset of the line in the file */
	nsec_t delay;
};

struct link {
	uint64_t id;
	uint32_t first, n;
};

struct delaytrace {
	nsec_t *all, *sorted; /* owned, n each: in the order of the file, and by link */
	uint32_t n;
	struct link *link; /* owned, by id */
	uint32_t nlink;
};

/* Rows of one network that have been read so far. */
struct reading {
	const char *net;
	struct row *row; /* owned */
	size_t n, cap;
};

static int take_fields(char *line, char *field[5])
{
	char *rest = NULL;
	int n = 0;

	for (char *one = strtok_r(line, " \t\r", &rest); one;
	     one = strtok_r(NULL, " \t\r", &rest)) {
		if (n == 5)
			return -ERR_PARSE;
		field[n++] = one;
	}
	return n == 5 ? 0 : -ERR_PARSE;
}

static int read_fields(char *field[5], struct row *out, struct err *e)
{
	uint64_t from, to;
	double sent, delay;

	if (str_to_u64(field[1], 1, NEKO_PROCESSES_MAX, &from) ||
	    str_to_u64(field[2], 1, NEKO_PROCESSES_MAX, &to))
		return err_set(e, ERR_INVALID, "processes are numbers from 1 to %d: " EXAMPLE,
			       NEKO_PROCESSES_MAX);
	if (str_to_double(field[3], -DELAY_MAX_S, DELAY_MAX_S, &sent))
		return err_set(e, ERR_INVALID, "the time of sending is in seconds: " EXAMPLE);
	out->link = from << 32 | to;
	out->delay = DELAYTRACE_LOST;
	if (str_eq(field[4], "lost"))
		return 0;
	if (field[4][0] == '-')
		return err_set(e, ERR_INVALID,
			       "a negative delay: were the clocks of that run synchronised?");
	if (str_to_double(field[4], 0, DELAY_MAX_S, &delay))
		return err_set(e, ERR_INVALID, "the delay is in seconds: " EXAMPLE);
	out->delay = (nsec_t)(delay * 1e9 + 0.5);
	return 0;
}

static int read_line(struct reading *r, const char *line, size_t n, struct err *e)
{
	char copy[DELAYTRACE_LINE_MAX], *field[5], *text;
	struct row row = { 0 };
	int rc;

	if (n >= sizeof(copy))
		return err_set(e, ERR_LIMIT, "a line has fewer than %d bytes: " EXAMPLE,
			       DELAYTRACE_LINE_MAX);
	memcpy(copy, line, n);
	copy[n] = 0;
	text = str_trim(copy);
	if (!*text || *text == '#')
		return 0;
	if (memchr(line, 0, n) || !str_is_utf8(line, n) || take_fields(text, field))
		return err_set(e, ERR_PARSE, "a line has five words: " EXAMPLE);
	rc = read_fields(field, &row, e);
	if (rc || !str_eq(field[0], r->net))
		return rc;
	row.at = (uint32_t)r->n;
	rc = array_grow(&r->row, &r->cap, r->n + 1, sizeof(row), ROWS_MAX);
	if (rc)
		return err_nomem(e);
	r->row[r->n++] = row;
	return 0;
}

static int read_lines(struct reading *r, const char *text, size_t n, struct err *e)
{
	const char *end = text + n, *next;
	unsigned number = 0;
	int rc = 0;

	for (; text < end && !rc; text = next + 1) {
		number++;
		next = memchr(text, '\n', (size_t)(end - text));
		if (!next)
			next = end;
		rc = read_line(r, text, (size_t)(next - text), e);
	}
	if (rc)
		err_add(e, "%u", number);
	else if (!r->n)
		rc = err_set(e, ERR_NOTFOUND,
			     "no message of network %s; give the network the name that it had "
			     "there",
			     r->net);
	return rc;
}

static int by_link(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->link != y->link)
		return x->link < y->link ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

static void lay_out(struct delaytrace *t, struct reading *r)
{
	struct link *last = NULL;

	for (uint32_t i = 0; i < t->n; i++)
		t->all[i] = r->row[i].delay;
	qsort(r->row, r->n, sizeof(*r->row), by_link);
	for (uint32_t i = 0; i < t->n; i++) {
		if (!last || last->id != r->row[i].link) {
			last = &t->link[t->nlink++];
			*last = (struct link){ r->row[i].link, i, 0 };
		}
		last->n++;
		t->sorted[i] = r->row[i].delay;
	}
}

static int build(struct reading *r, struct delaytrace **out, struct err *e)
{
	struct delaytrace *t = calloc(1, sizeof(*t));

	if (!t)
		return err_nomem(e);
	t->n = (uint32_t)r->n;
	t->all = calloc(r->n, sizeof(*t->all));
	t->sorted = calloc(r->n, sizeof(*t->sorted));
	/* the largest possible number; links are few, messages many */
	t->link = calloc(r->n, sizeof(*t->link));
	if (!t->all || !t->sorted || !t->link) {
		delaytrace_free(t);
		return err_nomem(e);
	}
	lay_out(t, r);
	*out = t;
	return 0;
}

int delaytrace_parse(const char *text, size_t n, const char *net, struct delaytrace **out,
		     struct err *e)
{
	struct reading r = { .net = net };
	int rc = read_lines(&r, text, n, e);

	if (!rc)
		rc = build(&r, out, e);
	free(r.row);
	return rc;
}

int delaytrace_read(const char *path, const char *net, struct delaytrace **out, struct err *e)
{
	struct buf text = BUF_INIT(DELAYTRACE_MAX_BYTES + 1);
	int rc = file_read(path, DELAYTRACE_MAX_BYTES, 0, &text, e);

	if (!rc) {
		rc = delaytrace_parse(buf_str(&text), text.n, net, out, e);
		if (rc && rc != -ERR_NOMEM)
			err_add(e, "%s", path);
	}
	buf_done(&text);
	return rc;
}

void delaytrace_free(struct delaytrace *t)
{
	if (!t)
		return;
	free(t->all);
	free(t->sorted);
	free(t->link);
	free(t);
}

uint32_t delaytrace_links(const struct delaytrace *t)
{
	return t->nlink;
}

static int to_link(const void *key, const void *link)
{
	uint64_t id = *(const uint64_t *)key, other = ((const struct link *)link)->id;

	return id < other ? -1 : id > other;
}

uint32_t delaytrace_link(const struct delaytrace *t, uint32_t from, uint32_t to)
{
	uint64_t id = (uint64_t)from << 32 | to;
	const struct link *l = bsearch(&id, t->link, t->nlink, sizeof(*l), to_link);

	return l ? (uint32_t)(l - t->link) : t->nlink;
}

uint32_t delaytrace_count(const struct delaytrace *t, uint32_t link)
{
	return link < t->nlink ? t->link[link].n : t->n;
}

nsec_t delaytrace_get(const struct delaytrace *t, uint32_t link, uint32_t i)
{
	return link < t->nlink ? t->sorted[t->link[link].first + i] : t->all[i];
}
