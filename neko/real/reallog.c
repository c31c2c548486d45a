/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/real/reallog.h"

#include <stdlib.h>
#include <string.h>

static void free_chunks(struct reallog_chunk *c)
{
	struct reallog_chunk *next;

	for (; c; c = next) {
		next = c->next;
		free(c);
	}
}

void reallog_done(struct reallog *l)
{
	free_chunks(l->first);
	free_chunks(l->spare);
	*l = (struct reallog){ 0 };
}

bool reallog_extend(struct reallog *l)
{
	struct reallog_chunk *c = l->spare;

	if (!c || l->held >= REALLOG_CHUNKS_MAX) {
		l->has_lost = true;
		return false;
	}
	l->spare = c->next;
	l->nspare--;
	l->held++;
	c->next = NULL;
	c->n = 0;
	if (l->last)
		l->last->next = c;
	else
		l->first = c;
	l->last = c;
	return true;
}

void reallog_event_bytes(struct reallog *l, const struct neko_event *v)
{
	struct neko_event mine = *v;
	void *copy = l->bytes + v->n > REALLOG_BYTES_MAX ? NULL : malloc(v->n);
	struct reallog_chunk *c = copy ? reallog_room(l) : NULL;

	if (!c) {
		l->has_lost = true;
		free(copy);
		return;
	}
	mine.bytes = memcpy(copy, v->bytes, v->n);
	l->bytes += v->n;
	c->event[c->n++] = mine;
}

struct reallog_chunk *reallog_take(struct reallog *l)
{
	struct reallog_chunk *all = l->first;

	l->first = l->last = NULL;
	return all;
}

struct reallog_chunk *reallog_make(size_t n)
{
	struct reallog_chunk *made = NULL, *c;

	while (n-- > 0 && (c = malloc(sizeof(*c))) != NULL) {
		memset(c, 0xff, sizeof(*c)); /* not zeros: a page of zeros might stay unallocated */
		c->next = made;
		made = c;
	}
	return made;
}

size_t reallog_wants(const struct reallog *l)
{
	return l->nspare < REALLOG_SPARE_CHUNKS ? REALLOG_SPARE_CHUNKS - l->nspare : 0;
}

void reallog_refill(struct reallog *l, struct reallog_chunk *made)
{
	struct reallog_chunk *next;

	for (; made; made = next) {
		next = made->next;
		made->next = l->spare;
		l->spare = made;
		l->nspare++;
	}
}

void reallog_give_back(struct reallog *l, struct reallog_chunk *c)
{
	l->held--;
	if (l->nspare >= REALLOG_SPARE_CHUNKS) {
		free(c);
		return;
	}
	c->next = l->spare;
	l->spare = c;
	l->nspare++;
}
