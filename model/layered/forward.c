/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forwarded calls, replaced: the caller waits for the entry that replies as if it had called it.
 * The thread that forwards is free meanwhile.
 */
#include "model/layered/internal.h"

#include "common/base/array.h"

#include <stdlib.h>

static int add(struct solver *w, const struct layered_call *c)
{
	int rc = array_grow(&w->call, &w->call_cap, w->ncall + 1, sizeof(*c), LAYERED_CALLS_MAX);

	if (!rc)
		w->call[w->ncall++] = *c;
	return rc;
}

/* Adds a call of each entry that c may be forwarded to. Later rounds forward those again. */
static int follow(struct solver *w, struct layered_call c)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < w->m->ncall; i++) {
		const struct layered_call *f = &w->m->call[i];
		struct layered_call to = { .from = c.from, .to = f->to, .kind = c.kind };

		if (f->kind != LAYERED_FORWARD || f->from != c.to)
			continue;
		for (size_t p = 0; p < LAYERED_PHASES; p++)
			to.count[p] = c.count[p] * f->count[0];
		rc = add(w, &to);
	}
	return rc;
}

static void forward_arrivals(struct solver *w)
{
	for (size_t i = 0; i < w->m->nentry; i++)
		w->arrivals[i] = w->m->entry[i].arrivals;
	for (size_t layer = 0; layer < w->nlayer; layer++)
		for (size_t i = 0; i < w->m->ncall; i++) {
			const struct layered_call *f = &w->m->call[i];

			if (f->kind == LAYERED_FORWARD &&
			    w->m->task[w->m->entry[f->from].task].layer == layer)
				w->arrivals[f->to] += w->arrivals[f->from] * f->count[0];
		}
}

/* Sorts the calls by their entries. */
static int sort(struct solver *w)
{
	size_t n = w->m->nentry;

	w->first = calloc(n + 2, sizeof(*w->first));
	w->order = calloc(w->ncall + 1, sizeof(*w->order));
	if (!w->first || !w->order)
		return -ERR_NOMEM;
	for (size_t i = 0; i < w->ncall; i++)
		w->first[w->call[i].from + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		w->first[i] += w->first[i - 1];
	for (size_t i = 0; i < w->ncall; i++)
		w->order[w->first[w->call[i].from + 1]++] = i;
	return 0;
}

int forward_expand(struct solver *w, struct err *e)
{
	bool *forwards = calloc(w->m->nentry + 1, sizeof(*forwards));
	int rc = forwards ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < w->m->ncall; i++) {
		const struct layered_call *c = &w->m->call[i];

		if (c->kind == LAYERED_FORWARD)
			forwards[c->from] = true;
		else
			rc = add(w, c);
	}
	for (size_t i = 0; !rc && i < w->ncall; i++)
		if (forwards[w->call[i].to])
			rc = follow(w, w->call[i]);
	free(forwards);
	if (!rc)
		rc = sort(w);
	if (rc == -ERR_NOMEM)
		return err_nomem(e);
	if (rc)
		return err_set(e, ERR_LIMIT, "more than %d calls, with those that are forwarded",
			       LAYERED_CALLS_MAX);
	forward_arrivals(w);
	return 0;
}
