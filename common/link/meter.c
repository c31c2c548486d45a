/* SPDX-License-Identifier: Apache-2.0 */
#include "common/link/meter.h"

#include "common/link/link_internal.h"
#include "common/link/meter_internal.h"

#include <stdlib.h>

struct meter {
	struct loop *loop;
	struct loop_timer *timer;
	struct list links; /* entries: struct link.in_meter */
	int64_t rate; /* frames per second; 0 = no limit */
	nsec_t paid_until; /* time up to which the read bytes are paid for */
	nsec_t paused_since; /* start of the pause; 0 = none */
	struct meter_stats stats;
};

static void pause_all(struct meter *m, bool pause)
{
	list_each (i, &m->links)
		link_pause_reading(list_entry(i, struct link, in_meter), pause);
}

/* True for a link to the parent, whose messages never wait: they may end a flood. */
static bool is_from_above(const struct list *at)
{
	return list_entry(at, struct link, in_meter)->dialer.dial;
}

/* Rotates the order, so that a link that sends without end does not starve the others. */
static void take_turns(struct meter *m)
{
	list_each (i, &m->links)
		if (!is_from_above(i)) {
			list_del(i);
			list_push_back(&m->links, i);
			return;
		}
}

static void resume(void *arg)
{
	struct meter *m = arg;

	m->stats.paused += loop_now(m->loop) - m->paused_since;
	m->paused_since = 0;
	take_turns(m);
	pause_all(m, false);
}

struct meter *meter_new(struct loop *loop)
{
	struct meter *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->loop = loop;
	list_init(&m->links);
	m->timer = loop_timer_new(loop, resume, m);
	if (m->timer)
		return m;
	free(m);
	return NULL;
}

void meter_free(struct meter *m)
{
	if (!m)
		return;
	loop_timer_free(m->timer);
	free(m);
}

void meter_set_rate(struct meter *m, int64_t per_second)
{
	int64_t rate = per_second > 0 && per_second < METER_RATE_MIN ? METER_RATE_MIN : per_second;

	/* a repeated setting keeps the debt */
	if (rate == m->rate)
		return;
	m->rate = rate;
	m->paid_until = 0;
	if (m->paused_since)
		loop_timer_arm(m->timer, 0);
}

void meter_join(struct meter *m, struct list *at)
{
	if (is_from_above(at))
		list_push_front(&m->links, at);
	else
		list_push_back(&m->links, at);
	if (m->paused_since)
		link_pause_reading(list_entry(at, struct link, in_meter), true);
}

void meter_count(struct meter *m, size_t bytes)
{
	nsec_t now = loop_now(m->loop);
	int64_t frames = 1 + (int64_t)(bytes / METER_FRAME_BYTES);

	m->stats.frames++;
	m->stats.bytes += bytes;
	if (m->rate <= 0)
		return;
	if (m->paid_until < now)
		m->paid_until = now;
	m->paid_until += frames * NSEC_PER_SEC / m->rate;
	if (m->paid_until - now <= METER_BURST_NS || m->paused_since)
		return;
	m->paused_since = now;
	m->stats.pauses++;
	pause_all(m, true);
	/* Continues when half of the burst is free again: fewer and longer turns cost less. */
	loop_timer_arm(m->timer, m->paid_until - now - METER_BURST_NS / 2);
}

void meter_get_stats(const struct meter *m, struct meter_stats *out)
{
	*out = m->stats;
	out->is_paused = m->paused_since;
	if (m->paused_since)
		out->paused += loop_now(m->loop) - m->paused_since;
}
