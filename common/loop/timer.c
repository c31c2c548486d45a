/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/loop/internal.h"

#include <stdint.h>
#include <stdlib.h>

#define NOT_ARMED SIZE_MAX

struct loop_timer {
	struct loop *loop;
	nsec_t at;
	uint64_t seq; /* of the arming: equal times keep their order */
	size_t place; /* in the heap, or NOT_ARMED */
	void (*fn)(void *);
	void *arg;
	void *owner; /* loop_owner() when it was made */
};

static bool is_before(const struct loop_timer *a, const struct loop_timer *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void put_at(struct loop *l, size_t i, struct loop_timer *t)
{
	l->heap[i] = t;
	t->place = i;
}

static void sift_up(struct loop *l, size_t i)
{
	struct loop_timer *t = l->heap[i];

	for (; i && is_before(t, l->heap[(i - 1) / 2]); i = (i - 1) / 2)
		put_at(l, i, l->heap[(i - 1) / 2]);
	put_at(l, i, t);
}

static void sift_down(struct loop *l, size_t i)
{
	struct loop_timer *t = l->heap[i];
	size_t child;

	for (; (child = 2 * i + 1) < l->armed; i = child) {
		if (child + 1 < l->armed && is_before(l->heap[child + 1], l->heap[child]))
			child++;
		if (!is_before(l->heap[child], t))
			break;
		put_at(l, i, l->heap[child]);
	}
	put_at(l, i, t);
}

struct loop_timer *loop_timer_new(struct loop *l, void (*fn)(void *), void *arg)
{
	struct loop_timer *t;

	if (array_grow(&l->heap, &l->cap, l->timers + 1, sizeof(*l->heap),
		       SIZE_MAX / sizeof(*l->heap)))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	*t = (struct loop_timer){ .loop = l, .place = NOT_ARMED, .fn = fn, .arg = arg, .owner = l->owner };
	l->timers++;
	return t;
}

void loop_timer_cancel(struct loop_timer *t)
{
	struct loop *l = t->loop;
	struct loop_timer *last;
	size_t i = t->place;

	if (i == NOT_ARMED)
		return;
	t->place = NOT_ARMED;
	last = l->heap[--l->armed];
	if (last == t)
		return;
	put_at(l, i, last);
	sift_down(l, i);
	sift_up(l, last->place);
}

void loop_timer_arm_at(struct loop_timer *t, nsec_t at)
{
	struct loop *l = t->loop;

	loop_timer_cancel(t);
	t->at = at;
	t->seq = ++l->seq;
	put_at(l, l->armed++, t);
	sift_up(l, t->place);
	loop_rouse(l);
}

void loop_timer_arm(struct loop_timer *t, nsec_t after)
{
	nsec_t now = loop_now(t->loop);

	if (after < 0)
		after = 0;
	loop_timer_arm_at(t, after > INT64_MAX - now ? INT64_MAX : now + after);
}

bool loop_timer_is_armed(const struct loop_timer *t)
{
	return t->place != NOT_ARMED;
}

void loop_timer_free(struct loop_timer *t)
{
	if (!t)
		return;
	loop_timer_cancel(t);
	t->loop->timers--;
	free(t);
}

bool timers_run_first(struct loop *l, nsec_t until, uint64_t last)
{
	struct loop_timer *t;

	if (!l->armed || l->heap[0]->at > until || l->heap[0]->seq > last)
		return false;
	t = l->heap[0];
	loop_timer_cancel(t);
	l->called++;
	l->owner = t->owner;
	t->fn(t->arg); /* t may be gone now */
	return true;
}

nsec_t loop_next_at(const struct loop *l)
{
	if (!list_is_empty(&l->posts) || !list_is_empty(&l->reaps))
		return loop_now(l);
	return l->armed ? l->heap[0]->at : -1;
}
