/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/spool/ledger.h"

#include "common/base/str.h"

#include <stdlib.h>
#include <string.h>

static void gaps_init(struct gaps *g)
{
	list_init(&g->all);
	map_init(&g->by_stream);
	g->n = g->unreported = 0;
}

static void gaps_done(struct gaps *g)
{
	list_each_safe (i, &g->all)
		free(list_entry(i, struct gap, at));
	map_done(&g->by_stream);
	gaps_init(g);
}

static int add_new(struct gaps *g, const struct evgap *what, uint64_t place)
{
	struct gap *gap;

	if (g->n >= LEDGER_GAPS_MAX)
		return -ERR_LIMIT;
	gap = calloc(1, sizeof(*gap));
	if (!gap || map_put(&g->by_stream, what->stream, gap, NULL)) {
		free(gap);
		return -ERR_NOMEM;
	}
	gap->what = *what;
	gap->place = place;
	list_push_back(&g->all, &gap->at);
	g->n++;
	g->unreported++;
	return 0;
}

int gaps_add(struct gaps *g, const struct evgap *what, uint64_t place)
{
	struct gap *gap = map_find(&g->by_stream, what->stream);

	if (!gap)
		return add_new(g, what, place);
	evgap_merge(&gap->what, what);
	gap->place = place > gap->place ? place : gap->place;
	g->unreported += gap->is_reported;
	gap->is_reported = false;
	return 0;
}

void gaps_remove(struct gaps *g, struct gap *gap)
{
	map_del(&g->by_stream, gap->what.stream);
	list_del(&gap->at);
	g->n--;
	g->unreported -= !gap->is_reported;
	free(gap);
}

void gaps_report(struct gaps *g, struct gap *gap)
{
	g->unreported -= !gap->is_reported;
	gap->is_reported = true;
}

void ledger_init(struct ledger *l)
{
	memset(l, 0, sizeof(*l));
	gaps_init(&l->lost);
	for (size_t i = 0; i < LEDGER_CONSUMERS_MAX; i++)
		gaps_init(&l->consumer[i].gaps);
}

void ledger_done(struct ledger *l)
{
	gaps_done(&l->lost);
	for (size_t i = 0; i < LEDGER_CONSUMERS_MAX; i++)
		gaps_done(&l->consumer[i].gaps);
}

struct consumer *ledger_find(struct ledger *l, const char *name)
{
	for (size_t i = 0; i < LEDGER_CONSUMERS_MAX; i++)
		if (*name && str_eq(l->consumer[i].name, name))
			return &l->consumer[i];
	return NULL;
}

bool ledger_is_name(const char *s)
{
	static const char may[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t n = strlen(s);

	return n && n < LEDGER_NAME_BYTES && strspn(s, may) == n;
}

int ledger_add(struct ledger *l, const char *name, uint64_t place, struct consumer **out)
{
	if (!ledger_is_name(name))
		return -ERR_INVALID;
	if (ledger_find(l, name))
		return -ERR_EXISTS;
	for (size_t i = 0; i < LEDGER_CONSUMERS_MAX; i++) {
		struct consumer *c = &l->consumer[i];

		if (*c->name)
			continue;
		snprintf(c->name, sizeof(c->name), "%s", name);
		c->cursor = c->next = c->given = place;
		*out = c;
		l->is_dirty = true;
		return 0;
	}
	return -ERR_LIMIT;
}

void ledger_forget(struct ledger *l, struct consumer *c)
{
	gaps_done(&c->gaps);
	*c->name = 0;
	l->is_dirty = true;
}

int ledger_lose(struct ledger *l, struct consumer *c, const struct evgap *what, uint64_t place)
{
	size_t n = 0;

	for (size_t i = 0; i < LEDGER_CONSUMERS_MAX; i++)
		n += l->consumer[i].gaps.n;
	if (n >= LEDGER_GAPS_OF_ALL_MAX && !map_find(&c->gaps.by_stream, what->stream))
		return -ERR_LIMIT;
	return gaps_add(&c->gaps, what, place);
}

uint64_t ledger_least(const struct ledger *l)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < LEDGER_CONSUMERS_MAX; i++)
		if (*l->consumer[i].name && l->consumer[i].cursor < least)
			least = l->consumer[i].cursor;
	return least == UINT64_MAX ? 0 : least;
}

uint64_t ledger_most(const struct ledger *l)
{
	uint64_t most = 0;

	for (size_t i = 0; i < LEDGER_CONSUMERS_MAX; i++)
		if (*l->consumer[i].name && l->consumer[i].cursor > most)
			most = l->consumer[i].cursor;
	return most;
}
