/* SPDX-License-Identifier: Apache-2.0 */
/* Order of events: in each sub-task by time, and over all by cause and effect. */
#include "interaction/network.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Refuses an event, with its name and place. */
static int __attribute__((format(printf, 4, 5)))
refuse(const struct network *w, uint32_t v, struct err *e, const char *fmt, ...)
{
	char text[ERR_TEXT_BYTES], name[NETWORK_NAME_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(e, ERR_INVALID, "vertex '%s': %s", network_name(w, v, name), text);
	return err_at(e, w->v[v].place, 0);
}

/* --- the order in a sub-task */

struct place {
	uint32_t task, v;
	int64_t t;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->v < y->v ? -1 : 1;
}

uint32_t *network_by_task(const struct network *w)
{
	struct place *p = calloc(w->n, sizeof(*p));
	uint32_t *out = calloc(w->n, sizeof(*out));

	if (!p || !out) {
		free(p);
		free(out);
		return NULL;
	}
	for (uint32_t i = 0; i < w->n; i++)
		p[i] = (struct place){ w->v[i].task, i, w->v[i].t };
	qsort(p, w->n, sizeof(*p), by_place);
	for (size_t i = 0; i < w->n; i++)
		out[i] = p[i].v;
	free(p);
	return out;
}

static int sort(struct network *w, struct err *e)
{
	uint32_t *v = network_by_task(w);

	if (!v)
		return err_nomem(e);
	for (size_t i = 0; i < w->n; i++) {
		struct network_task *t = &w->task[w->v[v[i]].task];
		bool is_first = !i || w->v[v[i - 1]].task != w->v[v[i]].task;

		w->v[v[i]].tail = is_first ? NETWORK_NONE : v[i - 1];
		if (is_first)
			t->first = v[i];
		t->last = v[i];
	}
	free(v);
	return 0;
}

/* --- arcs between sub-tasks */

static int link_task(struct network *w, const struct network_task *t, struct err *e)
{
	bool is_source = w->v[t->creator].kind == NETWORK_SOURCE,
	     is_sink = w->v[t->ender].kind == NETWORK_SINK;

	if (is_source && t->first != t->creator)
		return refuse(w, t->first, e, "is before the source of sub-task %" PRIu64, t->id);
	if (is_sink && t->last != t->ender)
		return refuse(w, t->last, e, "is after the sink of sub-task %" PRIu64, t->id);
	if (!is_source && t->first != NETWORK_NONE)
		w->v[t->first].tail = t->creator;
	if (!is_sink)
		w->v[t->ender].tail2 = t->last != NETWORK_NONE ? t->last : t->creator;
	return 0;
}

static int check_arc(struct network *w, uint32_t head, bool is_ending, struct err *e)
{
	const struct network_vertex *v = &w->v[head], *tail;
	char name[NETWORK_NAME_BYTES];
	struct network_arc a;

	if (!network_arc(w, head, is_ending, &a))
		return 0;
	tail = &w->v[a.tail];
	if (tail->t <= v->t)
		return 0;
	if (tail->node == v->node || tail->node == NETWORK_NONE || v->node == NETWORK_NONE)
		return refuse(w, head, e, "its time is before that of '%s', which precedes it",
			      network_name(w, a.tail, name));
	w->anomaly[NETWORK_BACKWARD_MESSAGE]++;
	return 0;
}

/* Checks that no event of another host is in the middle of a contracted stretch. */
static int check_stretch(const struct network *w, uint32_t head, struct err *e)
{
	const struct network_stretch *s = network_stretch(w, head);
	const struct network_piece *p = s ? w->piece + s->first : NULL;
	const struct network_vertex *v = &w->v[head];
	int64_t sum = 0;
	bool is_wrong = false;

	if (!s)
		return 0;
	if (v->tail == NETWORK_NONE || w->v[v->tail].t != s->begin) {
		refuse(w, head, e, "another event is in the middle of its contracted arc");
		return -ERR_EXISTS;
	}
	for (uint32_t i = 0; i < s->n; i++)
		is_wrong |= p[i].ns < 0 || __builtin_add_overflow(sum, p[i].ns, &sum);
	if (is_wrong || (s->n && sum != v->t - s->begin))
		return refuse(w, head, e, "the times of its contracted arc are not its length");
	return 0;
}

static int check_times(struct network *w, struct err *e)
{
	int64_t least = INT64_MAX, most = INT64_MIN, span;
	int rc = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		least = w->v[i].t < least ? w->v[i].t : least;
		most = w->v[i].t > most ? w->v[i].t : most;
	}
	if (__builtin_sub_overflow(most, least, &span))
		return err_set(e, ERR_LIMIT, "times are 2^63 ns or more apart");
	for (uint32_t i = 0; i < w->n && !rc; i++) {
		rc = check_arc(w, i, false, e);
		rc = rc ? rc : check_arc(w, i, true, e);
		rc = rc ? rc : check_stretch(w, i, e);
	}
	return rc;
}

/* --- the order of cause and effect */

static bool is_ordered(const struct network *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		const struct network_vertex *v = &w->v[i];

		if ((v->tail != NETWORK_NONE && v->tail >= i) ||
		    (v->tail2 != NETWORK_NONE && v->tail2 >= i))
			return false;
	}
	return true;
}

/* Work of the search: heads of the two arcs that may begin at a vertex, and arcs that end there. */
struct search {
	uint32_t *next, *order, *rank;
	uint8_t *waits;
	size_t n;
};

static void note_arc(struct search *s, uint32_t tail, uint32_t head)
{
	if (tail == NETWORK_NONE)
		return;
	s->next[2 * (size_t)tail + (s->next[2 * (size_t)tail] != NETWORK_NONE)] = head;
	s->waits[head]++;
}

/* Searches breadth first: a vertex is next when all its predecessors are ordered. */
static void search(struct search *s, const struct network *w)
{
	memset(s->next, 0xff, 2 * w->n * sizeof(*s->next));
	for (uint32_t i = 0; i < w->n; i++) {
		note_arc(s, w->v[i].tail, i);
		note_arc(s, w->v[i].tail2, i);
	}
	s->order[s->n++] = w->v0;
	for (size_t i = 0; i < s->n; i++)
		for (int k = 0; k < 2; k++) {
			uint32_t head = s->next[2 * (size_t)s->order[i] + (size_t)k];

			if (head != NETWORK_NONE && --s->waits[head] == 0)
				s->order[s->n++] = head;
		}
}

static void move(uint32_t *v, const uint32_t *rank)
{
	if (*v != NETWORK_NONE)
		*v = rank[*v];
}

/* Puts the vertices in that order. */
static int permute(struct network *w, const struct search *s, struct err *e)
{
	struct network_vertex *v = calloc(w->cap, sizeof(*v));

	if (!v)
		return err_nomem(e);
	for (uint32_t i = 0; i < w->n; i++) {
		v[i] = w->v[s->order[i]];
		s->rank[s->order[i]] = i;
	}
	free(w->v);
	w->v = v;
	for (size_t i = 0; i < w->n; i++) {
		move(&v[i].tail, s->rank);
		move(&v[i].tail2, s->rank);
	}
	for (size_t i = 0; i < w->ntask; i++) {
		move(&w->task[i].creator, s->rank);
		move(&w->task[i].ender, s->rank);
		move(&w->task[i].first, s->rank);
		move(&w->task[i].last, s->rank);
	}
	move(&w->v0, s->rank);
	network_rename(w);
	return 0;
}

static int refuse_cycle(const struct network *w, const struct search *s, struct err *e)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (s->waits[i])
			return refuse(w, i, e, "a cycle: the vertex would precede itself");
	return err_set(e, ERR_INTERNAL, "a cycle without vertices");
}

static int order_all(struct network *w, struct err *e)
{
	struct search s = { .next = malloc(2 * w->n * sizeof(*s.next)),
			    .order = malloc(w->n * sizeof(*s.order)),
			    .rank = malloc(w->n * sizeof(*s.rank)),
			    .waits = calloc(w->n, sizeof(*s.waits)) };
	int rc;

	if (!s.next || !s.order || !s.rank || !s.waits) {
		rc = err_nomem(e);
	} else {
		search(&s, w);
		rc = s.n < w->n ? refuse_cycle(w, &s, e) : permute(w, &s, e);
	}
	free(s.next);
	free(s.order);
	free(s.rank);
	free(s.waits);
	return rc;
}

int network_order(struct network *w, struct err *e)
{
	int rc = w->is_unsorted ? sort(w, e) : 0;

	for (size_t i = 0; i < w->ntask && !rc; i++)
		rc = link_task(w, &w->task[i], e);
	rc = rc ? rc : check_times(w, e);
	return rc || is_ordered(w) ? rc : order_all(w, e);
}
