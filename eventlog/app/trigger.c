/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trigger file: which events are on, for how long, under what conditions.
 * A line is
 *
 *	PATTERN [level=LEVEL] [until=TIME] [where FIELD OP VALUE [and FIELD OP VALUE]...]
 *
 * The first line whose pattern fits an event decides. The file is checked once a second, and read
 * when it is another file than before. It replaces the old one when it is whole.
 */
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "eventlog/app/log.h"

#include <stdlib.h>
#include <sys/stat.h>

#define TRIGGER_MAX_BYTES (256 * 1024) /* some thousand lines */
#define TRIGGER_LINES_MAX 4096

struct line {
	char *pattern; /* in the text; a * at the end stands for anything */
	unsigned level;
	nsec_t until; /* wall time; INT64_MAX = no end */
	struct evwhere where;
};

struct table {
	struct buf text;
	struct line *line;
	size_t n, cap;
};

struct trigger {
	struct table *table; /* NULL: there is no file, and nothing is on */
	struct stat seen; /* of the file that the table is of; st_ino 0 = none */
	nsec_t next_end; /* the earliest `until` that is to come */
	char path[];
};

struct trigger *trigger_new(const char *path)
{
	size_t n = strlen(path) + 1;
	struct trigger *t = calloc(1, sizeof(*t) + n);

	if (!t)
		return NULL;
	memcpy(t->path, path, n);
	t->next_end = INT64_MAX;
	return t;
}

static void free_table(struct table *b)
{
	if (!b)
		return;
	buf_done(&b->text);
	free(b->line);
	free(b);
}

/* --- reading a line */

/* Seconds since 1970. */
static bool read_until(struct line *l, const char *s)
{
	double sec;

	if (str_to_double(s, 0, 9e9, &sec))
		return false;
	l->until = (nsec_t)(sec * 1e9);
	return true;
}

static bool read_line(struct line *l, char *s)
{
	char *rest = NULL, *word = strtok_r(s, " \t", &rest);

	*l = (struct line){ .pattern = word, .level = EV_NLEVELS, .until = INT64_MAX };
	while ((word = strtok_r(NULL, " \t", &rest))) {
		bool is_good;

		if (str_has_prefix(word, "level="))
			is_good = !evlevel_from_name(word + 6, strlen(word + 6), &l->level);
		else if (str_has_prefix(word, "until="))
			is_good = read_until(l, word + 6);
		else
			return str_eq(word, "where") &&
			       !evwhere_read(rest ? rest : "", &l->where, NULL) && l->where.n;
		if (!is_good)
			return false;
	}
	return true;
}

/* A wrong line is left out: whatever else is requested stays on. */
static struct table *read_table(const char *path)
{
	struct table *b = calloc(1, sizeof(*b));
	char *rest = NULL;

	if (!b)
		return NULL;
	buf_init(&b->text, TRIGGER_MAX_BYTES);
	if (file_read(path, TRIGGER_MAX_BYTES, 0, &b->text, NULL)) {
		free_table(b);
		return NULL;
	}
	for (char *s = b->text.p ? strtok_r((char *)b->text.p, "\r\n", &rest) : NULL; s;
	     s = strtok_r(NULL, "\r\n", &rest)) {
		s += strspn(s, " \t");
		if (!*s || *s == '#')
			continue;
		if (array_grow(&b->line, &b->cap, b->n + 1, sizeof(*b->line), TRIGGER_LINES_MAX))
			break;
		b->n += read_line(&b->line[b->n], s);
	}
	return b;
}

/* --- looking */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void find_next_end(struct trigger *t, nsec_t wall)
{
	t->next_end = INT64_MAX;
	for (size_t i = 0; t->table && i < t->table->n; i++)
		if (t->table->line[i].until > wall && t->table->line[i].until < t->next_end)
			t->next_end = t->table->line[i].until;
}

bool trigger_look(struct trigger *t, nsec_t wall)
{
	struct stat now = { 0 };
	struct table *before = t->table;
	bool has_ended = wall >= t->next_end;

	if (stat(t->path, &now))
		now = (struct stat){ 0 };
	if (!is_same(&now, &t->seen)) {
		t->table = now.st_ino ? read_table(t->path) : NULL;
		t->seen = now;
		free_table(before);
		has_ended = true;
	}
	if (has_ended)
		find_next_end(t, wall);
	return has_ended;
}

/* --- what a line says about an event */

bool trigger_asks(const struct trigger *t, const struct omig_event *ev, nsec_t wall,
		  struct log_type *type)
{
	for (size_t i = 0; t->table && i < t->table->n; i++) {
		const struct line *l = &t->table->line[i];

		if (evpattern_fits(l->pattern, ev->name) && l->until > wall)
			return ev->level <= l->level &&
			       evwhere_bind(&l->where, &type->form, &type->tests);
	}
	return false;
}
