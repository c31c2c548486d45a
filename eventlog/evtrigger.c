/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/evtrigger.h"

#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/limits.h"
#include "common/base/str.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TRIGGER_MAX_BYTES (256 * 1024) /* a file of some thousand lines */
#define TRIGGER_LINES_MAX 4096

struct table {
	struct buf text;
	struct evtrigger_entry *line;
	size_t n, cap;
};

struct evtrigger {
	struct table *table; /* NULL: there is no file, so that nothing is on */
	struct table *fresh; /* the table that was read last, if has_fresh is set */
	bool has_fresh;
	struct stat seen; /* state of the file that was read last; st_ino 0 = none */
	nsec_t interval, next_read;
	nsec_t next_end; /* earliest `until` in the future */
	char path[];
};

struct evtrigger *evtrigger_new(const char *path, nsec_t interval)
{
	size_t n = strlen(path) + 1;
	struct evtrigger *t = calloc(1, sizeof(*t) + n);

	if (!t)
		return NULL;
	memcpy(t->path, path, n);
	t->interval = interval;
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

void evtrigger_free(struct evtrigger *t)
{
	if (!t)
		return;
	free_table(t->table);
	free_table(t->fresh);
	free(t);
}

/* --- reading a line */

/* Reads seconds since 1970. */
static bool read_until(struct evtrigger_entry *l, const char *s)
{
	double sec;

	if (str_to_double(s, 0, 9e9, &sec))
		return false;
	l->until = (nsec_t)(sec * 1e9);
	return true;
}

static bool read_line(struct evtrigger_entry *l, char *s)
{
	char *rest = NULL, *word = strtok_r(s, " \t", &rest);

	*l = (struct evtrigger_entry){ .pattern = word, .level = EV_NLEVELS, .until = INT64_MAX };
	while ((word = strtok_r(NULL, " \t", &rest))) {
		bool is_good;

		if (str_has_prefix(word, "level="))
			is_good = !evlevel_from_name(word + 6, strlen(word + 6), &l->level);
		else if (str_has_prefix(word, "until="))
			is_good = read_until(l, word + 6);
		else if (str_has_prefix(word, "to="))
			is_good = *(l->to = word + 3);
		else
			return str_eq(word, "where") &&
			       !evwhere_read(rest ? rest : "", &l->where, NULL) && l->where.n;
		if (!is_good)
			return false;
	}
	return true;
}

/* Reads the table. An invalid line is skipped, and the other lines are valid. */
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

/* --- checks of the file */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void find_next_end(struct evtrigger *t, nsec_t wall)
{
	t->next_end = INT64_MAX;
	for (size_t i = 0; t->table && i < t->table->n; i++)
		if (t->table->line[i].until > wall && t->table->line[i].until < t->next_end)
			t->next_end = t->table->line[i].until;
}

/* True at the time of the next read. A clock that was set back does not delay it. */
static bool is_due(const struct evtrigger *t, nsec_t wall)
{
	return wall >= t->next_read || wall < t->next_read - t->interval;
}

void evtrigger_read(struct evtrigger *t, nsec_t wall)
{
	struct stat now = { 0 };

	if (t->interval && !is_due(t, wall))
		return;
	/* so that a caller with the same period does not miss a read */
	t->next_read = wall + t->interval - t->interval / 8;
	if (stat(t->path, &now))
		now = (struct stat){ 0 };
	if (is_same(&now, &t->seen))
		return;
	free_table(t->fresh);
	t->fresh = now.st_ino ? read_table(t->path) : NULL;
	t->has_fresh = true;
	t->seen = now;
}

bool evtrigger_switch(struct evtrigger *t, nsec_t wall)
{
	bool has_changed = t->has_fresh || wall >= t->next_end;

	if (t->has_fresh) {
		free_table(t->table);
		t->table = t->fresh;
		t->fresh = NULL;
		t->has_fresh = false;
	}
	if (has_changed)
		find_next_end(t, wall);
	return has_changed;
}

bool evtrigger_look(struct evtrigger *t, nsec_t wall)
{
	evtrigger_read(t, wall);
	return evtrigger_switch(t, wall);
}

const struct evtrigger_entry *evtrigger_find(const struct evtrigger *t, const char *name,
					     nsec_t wall)
{
	for (size_t i = 0; t->table && i < t->table->n; i++) {
		const struct evtrigger_entry *l = &t->table->line[i];

		if (evpattern_fits(l->pattern, name) && l->until > wall)
			return l;
	}
	return NULL;
}
