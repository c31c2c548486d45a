/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/run/merge.h"

#include "common/base/array.h"
#include "common/base/err.h"

#include <stdlib.h>
#include <string.h>

struct line {
	struct neko_event *event; /* owned; entries from `at` on were not handled yet */
	size_t at, n, cap;
	nsec_t until; /* all events before this time have been added */
};

#define BYTES_MAX                                                                      \
	((size_t)256 << 20) /* of events that wait, as many as PENDING_MAX events take \
			     */

struct merge {
	struct line *line; /* owned */
	uint32_t m;
	size_t waiting, max; /* waiting events of all processes */
	size_t bytes; /* bytes of all waiting events */
	void *handled; /* owned: bytes of the event that was returned last */
};

static void free_bytes(const struct neko_event *v)
{
	free((void *)(uintptr_t)v->bytes);
}

struct merge *merge_new(uint32_t m, size_t max)
{
	struct merge *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->line = calloc(m, sizeof(*g->line));
	if (!g->line) {
		free(g);
		return NULL;
	}
	g->m = m;
	g->max = max;
	return g;
}

void merge_free(struct merge *g)
{
	if (!g)
		return;
	for (uint32_t i = 0; i < g->m; i++) {
		struct line *l = &g->line[i];

		for (size_t k = l->at; k < l->n; k++)
			free_bytes(&l->event[k]);
		free(l->event);
	}
	free(g->handled);
	free(g->line);
	free(g);
}

/*
 * Removes handled events when they are more than half of the list, so that each event moves once on
 * average.
 */
static void forget_heard(struct line *l)
{
	if (l->at < l->n - l->at)
		return;
	memmove(l->event, l->event + l->at, (l->n - l->at) * sizeof(*l->event));
	l->n -= l->at;
	l->at = 0;
}

static int copy_bytes(struct merge *g, struct neko_event *v)
{
	void *copy = malloc(v->n);

	if (!copy)
		return -ERR_NOMEM;
	v->bytes = memcpy(copy, v->bytes, v->n);
	g->bytes += v->n;
	return 0;
}

int merge_add(struct merge *g, const struct neko_event *v)
{
	struct line *l = &g->line[v->process - 1];
	struct neko_event mine = *v;
	int rc;

	if (v->at < l->until || (l->at < l->n && v->at < l->event[l->n - 1].at))
		return -ERR_INVALID;
	if (g->waiting == g->max || g->bytes + v->n > BYTES_MAX)
		return -ERR_LIMIT;
	if (l->at)
		forget_heard(l);
	rc = array_grow(&l->event, &l->cap, l->n + 1, sizeof(*v), 2 * g->max);
	if (!rc && v->n)
		rc = copy_bytes(g, &mine);
	if (rc)
		return rc;
	l->event[l->n++] = mine;
	g->waiting++;
	return 0;
}

int merge_advance(struct merge *g, uint32_t id, nsec_t until)
{
	if (until < g->line[id - 1].until)
		return -ERR_INVALID;
	g->line[id - 1].until = until;
	return 0;
}

nsec_t merge_time(const struct merge *g, uint32_t id)
{
	return g->line[id - 1].until;
}

const struct neko_event *merge_next(struct merge *g)
{
	struct line *first = NULL;
	nsec_t until = INT64_MAX;

	for (uint32_t i = 0; i < g->m; i++) {
		struct line *l = &g->line[i];

		if (l->until < until)
			until = l->until;
		if (l->at < l->n && (!first || l->event[l->at].at < first->event[first->at].at))
			first = l;
	}
	if (!first || first->event[first->at].at >= until)
		return NULL;
	g->waiting--;
	free(g->handled);
	g->handled = (void *)(uintptr_t)first->event[first->at].bytes;
	g->bytes -= first->event[first->at].n;
	return &first->event[first->at++];
}
