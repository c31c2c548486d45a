/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts objects in the usual order: names with their numbers, ranks, thread ids. */
#include "tools/view/tree.h"

#include "common/base/str.h"
#include "tools/session/session.h"
#include "tools/libomis/tree_fields.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	const Omis_value *object;
	const struct entry *path[TREE_THREADS + 1]; /* its containers and itself, by level */
};

unsigned tree_level(const Omis_value *object)
{
	switch (value_text(object, TREE_TOKEN)[0]) {
	case 's':
		return TREE_SITES;
	case 'n':
		return TREE_NODES;
	case 'p':
		return TREE_PROCESSES;
	default:
		return TREE_THREADS;
	}
}

static int compare_int(const Omis_value *a, const Omis_value *b, size_t field)
{
	long long x = value_int(a, field), y = value_int(b, field);

	return (x > y) - (x < y);
}

static int compare_text(const Omis_value *a, const Omis_value *b, size_t field)
{
	return strverscmp(value_text(a, field), value_text(b, field));
}

static int compare_siblings(const Omis_value *a, const Omis_value *b, unsigned level)
{
	int c = 0;

	if (level <= TREE_NODES)
		return compare_text(a, b, TREE_NAME);
	if (level == TREE_PROCESSES)
		c = compare_text(a, b, TREE_JOB);
	if (!c && level == TREE_PROCESSES)
		c = compare_int(a, b, TREE_RANK);
	return c ? c : compare_int(a, b, TREE_PID);
}

static int compare(const void *left, const void *right)
{
	const struct entry *const *a = left, *const *b = right;

	for (unsigned level = TREE_SITES; level <= TREE_THREADS; level++) {
		const struct entry *x = (*a)->path[level], *y = (*b)->path[level];
		int c;

		if (x == y)
			continue;
		if (!x || !y)
			return x ? 1 : -1; /* a container before its contents */
		c = compare_siblings(x->object, y->object, level);
		return c ? c : x < y ? -1 : 1;
	}
	return 0;
}

/* path: the last object of each level, which may contain the next one. */
static void place(struct entry *e, const struct entry *path[])
{
	unsigned level = tree_level(e->object);
	const struct entry *above = path[level - 1];

	if (above &&
	    str_eq(value_text(above->object, TREE_TOKEN), value_text(e->object, TREE_PARENT)))
		memcpy(e->path, above->path, sizeof(e->path));
	e->path[level] = e;
	path[level] = e;
}

static size_t count(const Omis_value *list)
{
	size_t n = 0;

	while (value_at(list, n))
		n++;
	return n;
}

bool tree_sort(struct tree *t, const Omis_value *list)
{
	const struct entry *path[TREE_THREADS + 1] = { NULL };
	size_t n = count(list);
	struct entry *all = calloc(n + 1, sizeof(*all));
	const struct entry **order = calloc(n + 1, sizeof(*order));

	*t = (struct tree){ .object = calloc(n + 1, sizeof(*t->object)), .n = n };
	for (size_t i = 0; all && order && i < n; i++) {
		all[i].object = value_at(list, i);
		place(&all[i], path);
		order[i] = &all[i];
	}
	if (all && order)
		qsort(order, n, sizeof(*order), compare);
	for (size_t i = 0; all && order && t->object && i < n; i++)
		t->object[i] = order[i]->object;
	if (!all || !order)
		tree_done(t);
	free(all);
	free(order);
	return t->object;
}

/*
 * Containers precede their contents: they remain if an object of the job follows before the next of
 * their level.
 */
static bool has_job(const struct tree *t, size_t i, const char *job)
{
	unsigned level = tree_level(t->object[i]);

	if (level == TREE_PROCESSES)
		return str_eq(value_text(t->object[i], TREE_JOB), job);
	for (i++; i < t->n && tree_level(t->object[i]) > level; i++)
		if (tree_level(t->object[i]) == TREE_PROCESSES &&
		    str_eq(value_text(t->object[i], TREE_JOB), job))
			return true;
	return false;
}

void tree_select_job(struct tree *t, const char *job)
{
	bool keep = false;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (tree_level(t->object[i]) != TREE_THREADS)
			keep = has_job(t, i, job);
		if (keep)
			t->object[n++] = t->object[i];
	}
	t->n = n;
}

void tree_done(struct tree *t)
{
	free(t->object);
	*t = (struct tree){ 0 };
}
