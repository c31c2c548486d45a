/* SPDX-License-Identifier: Apache-2.0 */
#include "common/loop/internal.h"

#include <assert.h>
#include <stdlib.h>

#define PPB INT64_C(1000000000)
#define NEVER_NS (INT64_MAX / 4) /* a later time means never, by any clock */
#define STEPS 4 /* each step reduces the error by a factor of ten thousand or more */

/* Returns by how much a clock that is faster by ppb advances in that time. */
static nsec_t gained(nsec_t time, int64_t ppb)
{
	return time / PPB * ppb + time % PPB * ppb / PPB;
}

nsec_t part_from_whole(const struct loop *l, nsec_t at)
{
	nsec_t time = at - l->part.whole_ns;

	return l->part.here_ns + time + gained(time, l->part.ppb);
}

nsec_t part_to_whole(const struct loop *l, nsec_t at)
{
	nsec_t whole;

	if (at > NEVER_NS)
		return INT64_MAX;
	whole = l->part.whole_ns + at - l->part.here_ns;
	for (int i = 0; i < STEPS; i++)
		whole += at - part_from_whole(l, whole);
	while (part_from_whole(l, whole) < at)
		whole++;
	return whole;
}

void loop_part_release(struct loop *l)
{
	loop_timer_cancel(l->part.resume);
	l->part.held_until = 0;
	timers_put_back(l);
	list_splice_back(&l->whole->posts, &l->part.posts);
}

static void on_resume(void *arg)
{
	loop_part_release(arg);
}

struct loop *loop_new_part(struct loop *whole)
{
	struct loop *l = calloc(1, sizeof(*l));

	assert(loop_is_virtual(whole) && whole->whole == whole);
	if (!l)
		return NULL;
	l->whole = whole;
	l->part.here_ns = l->part.whole_ns = whole->virtual_now;
	list_init(&l->part.posts);
	list_init(&l->part.timers);
	l->part.resume = loop_timer_new(whole, on_resume, l);
	if (!l->part.resume) {
		free(l);
		return NULL;
	}
	list_push_back(&whole->parts, &l->part.at);
	return l;
}

void parts_free(struct loop *whole)
{
	struct list *item;

	while ((item = list_pop_front(&whole->parts))) {
		struct loop *l = list_entry(item, struct loop, part.at);

		posts_drop(&l->part.posts);
		loop_timer_free(l->part.resume);
		free(l);
	}
}

void loop_part_set_rate(struct loop *part, int64_t ppb)
{
	nsec_t now = part->whole->virtual_now;

	part->part.here_ns = part_from_whole(part, now);
	part->part.whole_ns = now;
	part->part.ppb = ppb;
}

void loop_part_hold(struct loop *part, nsec_t time)
{
	nsec_t until = part->whole->virtual_now + time;

	if (until <= part->part.held_until)
		return;
	part->part.held_until = until;
	loop_timer_arm_at(part->part.resume, until);
}

nsec_t loop_held_until(const struct loop *l)
{
	return l->part.held_until;
}

nsec_t loop_whole_now(const struct loop *l)
{
	return loop_now(l->whole);
}

struct loop *loop_running(const struct loop *l)
{
	return l->whole->running;
}

struct loop *loop_enter(struct loop *l)
{
	struct loop *was = l->whole->running;

	l->whole->running = l;
	return was;
}

void loop_part_set_maker(struct loop *part, void *maker)
{
	part->part.maker = maker;
}

void *loop_part_maker(const struct loop *part)
{
	return part->part.maker;
}
