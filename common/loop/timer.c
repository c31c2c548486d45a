/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/loop/internal.h"

#include <stdint.h>
#include <stdlib.h>

#define NOT_ARMED SIZE_MAX
#define PUT_OFF (SIZE_MAX - 1) /* due, but its part is held, and has it in a list */

/* children of a heap's node: half as many levels as with two, and adjacent in memory */
#define CHILDREN 4

struct loop_timer {
	struct loop *loop;
	nsec_t at;
	uint64_t seq; /* number of the arming: equal times keep their order */
	size_t place; /* in the heap, or one of the above */
	struct list put_off; /* in the part's timers */
	void (*fn)(void *);
	void *arg;
};

/* Compares the copies in the slots, so that the timers themselves need not be read. */
static bool is_before(const struct timer_slot *a, const struct timer_slot *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void put_at(struct loop *l, size_t i, const struct timer_slot *s)
{
	l->heap[i] = *s;
	s->timer->place = i;
}

static size_t sift_up(struct loop *l, size_t i, const struct timer_slot *s)
{
	for (; i && is_before(s, &l->heap[(i - 1) / CHILDREN]); i = (i - 1) / CHILDREN)
		put_at(l, i, &l->heap[(i - 1) / CHILDREN]);
	return i;
}

static size_t first_child(const struct loop *l, size_t i)
{
	size_t first = CHILDREN * i + 1,
	       end = first + CHILDREN < l->armed ? first + CHILDREN : l->armed;

	for (size_t k = first + 1; k < end; k++)
		if (is_before(&l->heap[k], &l->heap[first]))
			first = k;
	return first;
}

static size_t sift_down(struct loop *l, size_t i, const struct timer_slot *s)
{
	for (size_t child; (child = first_child(l, i)) < l->armed && is_before(&l->heap[child], s);
	     i = child)
		put_at(l, i, &l->heap[child]);
	return i;
}

/* The heap belongs to the whole, whichever part runs. */
static int make_room(struct loop *whole)
{
	struct loop *was = loop_enter(whole);
	int rc = array_grow(&whole->heap, &whole->cap, whole->timers + 1, sizeof(*whole->heap),
			    SIZE_MAX / sizeof(*whole->heap));

	loop_enter(was);
	return rc;
}

struct loop_timer *loop_timer_new(struct loop *l, void (*fn)(void *), void *arg)
{
	struct loop *whole = l->whole;
	struct loop_timer *t;

	if (make_room(whole))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	*t = (struct loop_timer){ .loop = l, .place = NOT_ARMED, .fn = fn, .arg = arg };
	whole->timers++;
	return t;
}

void loop_timer_cancel(struct loop_timer *t)
{
	struct loop *l = t->loop->whole;
	struct timer_slot last;
	size_t i = t->place, up;

	if (i == NOT_ARMED)
		return;
	t->place = NOT_ARMED;
	if (i == PUT_OFF) {
		list_del(&t->put_off);
		return;
	}
	last = l->heap[--l->armed];
	if (last.timer == t)
		return;
	up = sift_up(l, i, &last);
	put_at(l, up < i ? up : sift_down(l, i, &last), &last);
}

void loop_timer_arm_at(struct loop_timer *t, nsec_t at)
{
	loop_timer_arm_at_whole(t, t->loop->whole == t->loop ? at : part_to_whole(t->loop, at));
}

static void put_in(struct loop *l, struct loop_timer *t)
{
	const struct timer_slot s = { t->at, t->seq, t };

	l->armed++;
	put_at(l, sift_up(l, l->armed - 1, &s), &s);
}

void loop_timer_arm_at_whole(struct loop_timer *t, nsec_t at)
{
	struct loop *l = t->loop->whole;

	loop_timer_cancel(t);
	t->at = at;
	t->seq = ++l->seq;
	put_in(l, t);
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
	t->loop->whole->timers--;
	free(t);
}

static void put_off(struct loop_timer *t)
{
	loop_timer_cancel(t);
	t->place = PUT_OFF;
	list_push_back(&t->loop->part.timers, &t->put_off);
}

void timers_put_back(struct loop *part)
{
	struct list *item;

	while ((item = list_pop_front(&part->part.timers)))
		put_in(part->whole, list_entry(item, struct loop_timer, put_off));
}

static struct loop_timer *first_that_runs(struct loop *l, nsec_t until)
{
	while (l->armed && l->heap[0].at <= until) {
		if (!l->heap[0].timer->loop->part.held_until)
			return l->heap[0].timer;
		put_off(l->heap[0].timer);
	}
	return NULL;
}

bool timers_run_first(struct loop *l, nsec_t until, uint64_t last)
{
	struct loop_timer *t = first_that_runs(l, until);
	struct loop *was = l->running;

	if (!t || t->seq > last)
		return false;
	loop_timer_cancel(t);
	l->called++;
	l->running = t->loop;
	t->fn(t->arg); /* t may be freed now */
	l->running = was;
	return true;
}

nsec_t loop_next_at(const struct loop *l)
{
	if (!list_is_empty(&l->posts) || !list_is_empty(&l->reaps))
		return loop_now(l);
	return l->armed ? l->heap[0].at : -1;
}
