/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/simulated/events.h"

#include "common/base/array.h"
#include "neko/core/limits.h"

#include <stdlib.h>

#define CHILDREN 4

static inline bool is_before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

void events_done(struct events *q)
{
	free(q->heap);
	*q = (struct events){ 0 };
}

int events_add(struct events *q, const struct event *v)
{
	size_t i = q->n, up;

	if (q->n == q->cap) {
		int rc = array_grow(&q->heap, &q->cap, q->n + 1, sizeof(*q->heap), NEKO_EVENTS_MAX);

		if (rc)
			return rc;
	}
	q->n++;
	for (; i; i = up) {
		up = (i - 1) / CHILDREN;
		if (!is_before(v, &q->heap[up]))
			break;
		q->heap[i] = q->heap[up];
	}
	q->heap[i] = *v;
	return 0;
}

static size_t least_child(const struct events *q, size_t first)
{
	size_t end = first + CHILDREN < q->n ? first + CHILDREN : q->n, least = first;

	for (size_t c = first + 1; c < end; c++)
		if (is_before(&q->heap[c], &q->heap[least]))
			least = c;
	return least;
}

/* Moves v down from the empty index i. The subtrees of i are heaps. */
static void sink(struct events *q, size_t i, struct event v)
{
	size_t c;

	for (; (c = i * CHILDREN + 1) < q->n; i = c) {
		c = least_child(q, c);
		if (!is_before(&q->heap[c], &v))
			break;
		q->heap[i] = q->heap[c];
	}
	q->heap[i] = v;
}

struct event events_take(struct events *q)
{
	struct event first = q->heap[0];

	if (--q->n)
		sink(q, 0, q->heap[q->n]);
	return first;
}

void events_sift(struct events *q, bool (*is_stale)(void *arg, const struct event *v), void *arg)
{
	size_t n = 0;

	for (size_t i = 0; i < q->n; i++)
		if (!is_stale(arg, &q->heap[i]))
			q->heap[n++] = q->heap[i];
	q->n = n;
	for (size_t i = n / CHILDREN + 1; i-- > 0;)
		if (i < n)
			sink(q, i, q->heap[i]);
}
