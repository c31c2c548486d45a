/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/branches.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/link/link.h"

#include <stdlib.h>
#include <string.h>

/*
 * age at which the sum of all queues is computed again: a limit is checked for each answer of a
 * host
 */
#define QUEUED_SUM_NS (10 * NSEC_PER_MSEC)

struct branches {
	struct branch **v; /* by index; NULL: the index is free */
	size_t cap, n, max;
	uint64_t ids;
	bool (*owns)(void *arg, const struct branch *b, const char *token, size_t n);
	void *owns_arg;
	size_t queued; /* bytes in all queues at summed_at, plus all that was sent later */
	nsec_t summed_at;
	uint64_t cut_slow, cut_wrong;
};

struct branches *branches_new(size_t max)
{
	struct branches *bs = calloc(1, sizeof(*bs));

	if (bs)
		bs->max = max;
	return bs;
}

void branches_set_owner(struct branches *bs,
			bool (*owns)(void *arg, const struct branch *b, const char *token,
				     size_t n),
			void *arg)
{
	bs->owns = owns;
	bs->owns_arg = arg;
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
	b->in = bs;
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

	return b ? b->name : "u_0";
}

/* --- sending */

void branch_cut(struct branch *b, enum msg_error_code code, const char *why)
{
	if (!b->link)
		return;
	if (code == MSG_ERR_SLOW)
		b->in->cut_slow++;
	else
		b->in->cut_wrong++;
	link_fail(b->link, code, why);
}

/* A disconnected branch misses no message: it gets the whole state when it connects again. */
int branch_send(struct branch *b, const struct msg *m)
{
	size_t before = b->link ? link_queued(b->link) : 0;
	int rc = b->link ? link_send(b->link, m) : -ERR_CLOSED;

	if (!rc)
		b->in->queued += link_queued(b->link) - before;
	if (rc == -ERR_AGAIN)
		branch_cut(b, MSG_ERR_SLOW, "too much data waits to be read");
	return rc;
}

int branches_send(const struct branches *bs, uint32_t index, const struct msg *m)
{
	struct branch *b = branches_at(bs, index);

	return b ? branch_send(b, m) : -ERR_NOTFOUND;
}

void branches_send_all(const struct branches *bs, const struct msg *m)
{
	for (size_t i = 0; i < bs->cap; i++)
		if (bs->v[i])
			branch_send(bs->v[i], m);
}

/* --- objects of a branch */

bool branch_owns(const struct branch *b, const char *token, size_t n)
{
	return b->in->owns && b->in->owns(b->in->owns_arg, b, token, n);
}

/* True if the branch owns each object of a list such as "a,b,c". */
static bool owns_list(const struct branch *b, const char *objects)
{
	size_t n;

	for (; *objects; objects += n + (objects[n] == ',')) {
		n = strcspn(objects, ",");
		if (!branch_owns(b, objects, n))
			return false;
	}
	return true;
}

bool branch_owns_entries(const struct branch *b, const struct msg_entry *entry, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!owns_list(b, entry[i].objects))
			return false;
	return true;
}

static bool owns_or_none(const struct branch *b, const char *token)
{
	uint32_t number;

	return !token[0] ||
	       (token_node(token, strlen(token), &number) && branch_owns(b, token, strlen(token)));
}

bool branch_owns_event(const struct branch *b, const struct msg_triggered *m)
{
	return m->node[0] && owns_or_none(b, m->node) && owns_or_none(b, m->proc) &&
	       owns_or_none(b, m->thread) && branch_owns_entries(b, m->entry, m->nentry);
}

/* --- sms */

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

/* --- sums over branches */

void branches_sum(const struct branches *bs, struct branches_sum *out)
{
	*out = (struct branches_sum){ .rtt_max = -1,
				      .cut_slow = bs->cut_slow,
				      .cut_wrong = bs->cut_wrong };
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

size_t branches_queued(struct branches *bs, nsec_t now)
{
	struct branches_sum sum;

	if (bs->queued && now - bs->summed_at < QUEUED_SUM_NS)
		return bs->queued;
	branches_sum(bs, &sum);
	bs->summed_at = now;
	bs->queued = sum.queued;
	return bs->queued;
}

nsec_t branch_rtt(const struct branch *b)
{
	nsec_t rtt = b->link ? link_rtt(b->link) : 0;

	return rtt > 0 ? rtt : 0;
}

const struct msg_object *branches_find_host(const struct msg_directory *m)
{
	struct token t;

	token_print_number(&t, TOKEN_NODE, m->node);
	for (size_t i = 0; i < m->nobject; i++)
		if (str_eq(m->object[i].token, t.s))
			return &m->object[i];
	return NULL;
}

bool branches_fence(const struct host_owned *owned, const struct msg_object *head, uint64_t attach)
{
	bool is_up = head && head->op != MSG_OP_GONE && head->sub == MSG_NODE_UP;

	if (head && is_up != owned->is_up)
		return !is_up;
	return owned->is_connected ? attach <= owned->attach : attach < owned->attach;
}
