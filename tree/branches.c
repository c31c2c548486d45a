/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/branches.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/link/link.h"

#include <stdlib.h>
#include <string.h>

struct branches {
	struct branch **v; /* NULL: the index is free */
	size_t cap, n, max;
	uint64_t ids;
};

struct branches *branches_new(size_t max)
{
	struct branches *bs = calloc(1, sizeof(*bs));

	if (bs)
		bs->max = max;
	return bs;
}

static void branch_free(struct branch *b)
{
	if (!b)
		return;
	free(b->listen);
	free(b);
}

void branches_free(struct branches *bs)
{
	if (!bs)
		return;
	for (size_t i = 0; i < bs->cap; i++)
		branch_free(bs->v[i]);
	free(bs->v);
	free(bs);
}

static size_t free_index(const struct branches *bs)
{
	size_t i = 0;

	if (bs->n == bs->cap)
		return bs->cap;
	while (i < bs->cap && bs->v[i])
		i++;
	return i;
}

int branches_add(struct branches *bs, bool is_sm, struct branch **out)
{
	size_t i = free_index(bs);
	struct branch *b;
	int rc = array_grow(&bs->v, &bs->cap, i + 1, sizeof(struct branch *), bs->max);

	if (rc)
		return rc;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ERR_NOMEM;
	b->index = (uint32_t)i;
	b->id = ++bs->ids;
	b->is_sm = is_sm;
	list_init(&b->nodes);
	bs->v[i] = b;
	bs->n++;
	*out = b;
	return 0;
}

void branches_remove(struct branches *bs, struct branch *b)
{
	bs->v[b->index] = NULL;
	bs->n--;
	branch_free(b);
}

struct branch *branches_at(const struct branches *bs, uint32_t index)
{
	return index < bs->cap ? bs->v[index] : NULL;
}

uint32_t branches_bound(const struct branches *bs)
{
	return (uint32_t)bs->cap;
}

size_t branches_count(const struct branches *bs)
{
	return bs->n;
}

struct branch *branches_find(const struct branches *bs, const char *name)
{
	for (size_t i = 0; i < bs->cap; i++)
		if (bs->v[i] && str_eq(bs->v[i]->name, name))
			return bs->v[i];
	return NULL;
}

const char *branches_name(const struct branches *bs, uint32_t index)
{
	const struct branch *b = branches_at(bs, index);

	return b ? b->name : "?";
}

/* A cut branch misses no message: it gets the whole state when it is connected again. */
int branches_send(const struct branches *bs, uint32_t index, const struct msg *m)
{
	const struct branch *b = branches_at(bs, index);
	int rc = b && b->link ? link_send(b->link, m) : -ERR_CLOSED;

	if (rc == -ERR_AGAIN)
		link_fail(b->link, MSG_ERR_SLOW, "too much waits to be read");
	return rc;
}

void branches_send_all(const struct branches *bs, const struct msg *m)
{
	for (size_t i = 0; i < bs->cap; i++)
		if (bs->v[i])
			branches_send(bs, (uint32_t)i, m);
}

struct branch *branches_find_sm(const struct branches *bs, const uint8_t serial[SERIAL_BYTES])
{
	for (size_t i = 0; i < bs->cap; i++) {
		struct branch *b = bs->v[i];

		if (b && b->is_sm && !memcmp(b->serial, serial, SERIAL_BYTES))
			return b;
	}
	return NULL;
}

static size_t load_of(struct branch *b, nsec_t now)
{
	if (now - b->promised_at > PROMISED_NS)
		b->promised = 0;
	return b->nnode + b->promised;
}

struct branch *branches_choose_sm(struct branches *bs, nsec_t now)
{
	struct branch *least = NULL;

	for (size_t i = 0; i < bs->cap; i++) {
		struct branch *b = bs->v[i];

		if (!b || !b->is_sm || !b->link || !b->listen || !b->listen[0])
			continue;
		if (!least || load_of(b, now) < load_of(least, now))
			least = b;
	}
	if (least) {
		least->promised++;
		least->promised_at = now;
	}
	return least;
}

void branches_sum(const struct branches *bs, struct branches_sum *out)
{
	*out = (struct branches_sum){ .rtt_max = -1 };
	for (size_t i = 0; i < bs->cap; i++) {
		const struct branch *b = bs->v[i];

		if (!b || !b->link)
			continue;
		out->lms += !b->is_sm;
		out->sms += b->is_sm;
		out->queued += link_queued(b->link);
		out->dropped += link_dropped(b->link);
		if (link_rtt(b->link) > out->rtt_max)
			out->rtt_max = link_rtt(b->link);
	}
}

nsec_t branch_rtt(const struct branch *b)
{
	nsec_t rtt = b->link ? link_rtt(b->link) : 0;

	return rtt > 0 ? rtt : 0;
}
