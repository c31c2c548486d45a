/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/picture/netlayout.h"

#include "common/base/array.h"

#include <stdlib.h>
#include <string.h>

void netlayout_done(struct netlayout *l)
{
	free(l->column);
	free(l->head);
	free(l->rank);
	free(l->on_path);
	*l = (struct netlayout){ .n = 0 };
}

bool netlayout_is_message(const struct network *w, const struct network_arc *a)
{
	const struct network_vertex *tail = &w->v[a->tail], *head = &w->v[a->head];

	return tail->task != a->task || head->task != a->task;
}

/* --- columns */

/* A sub-task with own vertices, and its time. */
struct stretch {
	uint32_t task, node;
	int64_t from, to;
};

static int by_node(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->task < y->task ? -1 : 1;
}

/* The sub-task that was drawn last in a column. */
struct last {
	int64_t to;
	uint32_t task;
};

struct places {
	struct last *last; /* the last sub-task of each column */
	size_t cap;
};

#define COLUMNS_TRIED 64 /* columns that are examined for a free one; more would take long */

/*
 * True if the sub-task may use the column: a new thread has a separate one, and a message another
 * one than its sender.
 */
static bool may_share(const struct network *w, const struct stretch *s, const struct last *last)
{
	const struct network_vertex *creator = &w->v[w->task[s->task].creator];

	return creator->is_message && last->to < s->from && creator->task != last->task;
}

static int place(struct netlayout *l, const struct network *w, const struct stretch *s,
		 struct places *p)
{
	size_t i = l->n > COLUMNS_TRIED ? l->n - COLUMNS_TRIED : 0;
	int rc;

	while (i < l->n && !(l->head[i].node == s->node && may_share(w, s, &p->last[i])))
		i++;
	rc = array_grow(&l->head, &l->cap, i + 1, sizeof(*l->head), SIZE_MAX / 64);
	rc = rc ? rc : array_grow(&p->last, &p->cap, i + 1, sizeof(*p->last), SIZE_MAX / 64);
	if (rc)
		return rc;
	if (i == l->n)
		l->head[l->n++] = (struct netlayout_column){ s->node, s->task };
	p->last[i] = (struct last){ s->to, s->task };
	l->column[s->task] = (uint32_t)i;
	return 0;
}

static int place_all(struct netlayout *l, const struct network *w)
{
	struct stretch *s = calloc(w->ntask, sizeof(*s));
	struct places p = { .last = NULL };
	size_t n = 0;
	int rc = s ? 0 : -ERR_NOMEM;

	for (uint32_t i = 0; i < w->ntask && !rc; i++) {
		const struct network_task *t = &w->task[i];

		l->column[i] = NETWORK_NONE;
		if (t->first != NETWORK_NONE)
			s[n++] = (struct stretch){ i, w->v[t->first].node, w->v[t->first].t,
						   w->v[t->last].t };
	}
	if (!rc && n)
		qsort(s, n, sizeof(*s), by_node);
	for (size_t i = 0; i < n && !rc; i++)
		rc = place(l, w, &s[i], &p);
	free(p.last);
	free(s);
	return rc;
}

/* --- order of times */

struct moment {
	int64_t t;
	uint32_t v;
};

static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->v < y->v ? -1 : 1;
}

static int rank_all(struct netlayout *l, const struct network *w)
{
	struct moment *m = calloc(w->n, sizeof(*m));

	if (!m)
		return -ERR_NOMEM;
	for (uint32_t i = 0; i < w->n; i++)
		m[i] = (struct moment){ w->v[i].t, i };
	qsort(m, w->n, sizeof(*m), by_time);
	for (size_t i = 0; i < w->n; i++) {
		l->ranks += i && m[i].t != m[i - 1].t;
		l->rank[m[i].v] = l->ranks;
	}
	l->ranks++;
	free(m);
	return 0;
}

int netlayout_make(struct netlayout *l, const struct network *w, const struct netpath *p,
		   struct err *e)
{
	int rc;

	*l = (struct netlayout){ .column = calloc(w->ntask, sizeof(*l->column)),
				 .rank = calloc(w->n, sizeof(*l->rank)),
				 .on_path = calloc(w->n, 1) };
	rc = l->column && l->rank && l->on_path ? place_all(l, w) : -ERR_NOMEM;
	rc = rc ? rc : rank_all(l, w);
	for (size_t i = 1; i < p->n && !rc; i++)
		l->on_path[p->step[i].v] |= p->step[i].is_ending ? NETLAYOUT_ENDING : NETLAYOUT_OWN;
	if (!rc)
		return 0;
	netlayout_done(l);
	return err_nomem(e);
}
