/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a kept subscription from the branches to the tool, and acknowledgements back. */
#include "common/base/log.h"
#include "common/link/link.h"
#include "mainsm/directory/numbers.h"
#include "mainsm/subscription/subscription_internal.h"
#include "mainsm/tool/session.h"
#include "tree/branches.h"

/* Many branches share the window. */
static uint32_t room_of(const struct subscription *s)
{
	uint32_t n = (uint32_t)s->streams.by_branch.n;

	return n <= 2 ? STREAM_ROOM_MAX : n <= STREAM_ROOM_MAX ? 2 * STREAM_ROOM_MAX / n : 1;
}

static void forget_messages(struct subscription *s, const struct stream *x)
{
	streams_release(&s->streams, x, UINT64_MAX, NULL, NULL);
}

static void open_stream(struct subscription *s, struct stream *x, bool again)
{
	if (!x->has_branch)
		return;
	if (again || !s->receiver)
		forget_messages(s, x);
	if (!s->receiver)
		stream_close(x);
	else if (again)
		stream_open(&s->streams, x);
	stream_send_open(s->owner->conf.branches, x, &s->opening, room_of(s));
}

void subscription_open_all(struct subscription *s, bool again)
{
	list_each (i, &s->streams.all)
		open_stream(s, list_entry(i, struct stream, in_all), again);
}

/* The window has room again. */
static void open_shut(struct subscription *s)
{
	if (s->streams.unsafe > STREAM_WINDOW_BYTES / 2)
		return;
	list_each (i, &s->streams.all) {
		struct stream *x = list_entry(i, struct stream, in_all);

		if (x->state == STREAM_SHUT && !streams_held(&s->streams, x))
			open_stream(s, x, true);
	}
}

/* --- branches that connect and disconnect */

void subscription_branch_up(struct subscription *s, const struct branch *c)
{
	struct streams *xs = &s->streams;
	bool is_new;
	struct stream *x = streams_come(xs, c->index, c->name, &is_new);

	if (x && !streams_reserve(xs, xs->by_branch.n * STREAM_ROOM_MAX))
		open_stream(s, x, true);
	else
		log_warn("kept", "no memory: no events of branch=%s for subscription=%s", c->name,
			 s->name);
}

/* An absent branch may still have blocks. */
void subscription_branch_lost(struct subscription *s, uint32_t branch)
{
	struct stream *x = streams_at(&s->streams, branch);

	if (x) {
		forget_messages(s, x);
		stream_leave(&s->streams, x);
	}
	s->has_waited = false;
	loop_timer_cancel(s->coming);
	open_shut(s);
	subscription_check_end(s);
}

/* --- blocks */

static int pass_on(struct subscription *s, const struct msg_events *m)
{
	const struct msg up = { .type = MSG_EVENTS,
				.events = { s->name, m->stream, m->place, m->blocks, false,
					    NULL } };

	return s->receiver && s->receiver->link ? link_send(s->receiver->link, &up) : -ERR_CLOSED;
}

/* Returns the number of sites that have connected during the subscription. */
static unsigned count_sites(const struct subscription *s)
{
	unsigned n = 0;

	list_each (i, &s->streams.all)
		n += list_entry(i, struct stream, in_all)->name[0] == 's';
	return n;
}

/*
 * Returns how long to wait for branches that are absent, or have not connected to this mainsm yet.
 * 0: none is awaited.
 */
static nsec_t time_to_come(const struct subscription *s)
{
	nsec_t age = loop_now(s->owner->conf.loop) - s->owner->unsettled;

	if (s->has_waited)
		return 0;
	if (s->streams.n[STREAM_AWAY])
		return STREAM_RETURN_NS;
	return age < STREAM_RETURN_NS && count_sites(s) < numbers_sites(s->owner->conf.numbers)
		       ? STREAM_RETURN_NS - age
		       : 0;
}

void subscription_check_end(struct subscription *s)
{
	struct buf b = BUF_INIT(MSG_MISSING_MAX_BYTES + 1);

	if (!s->opening.ending || !s->receiver || s->streams.n[STREAM_OPEN] ||
	    s->streams.n[STREAM_SHUT])
		return;
	if (time_to_come(s)) {
		if (!loop_timer_is_armed(s->coming))
			loop_timer_arm(s->coming, time_to_come(s));
		return;
	}
	streams_write_missing(&s->streams, &b);
	subscription_report_end(s, buf_str(&b));
	buf_done(&b);
}

static void forward(struct subscription *s, struct stream *x, const struct msg_events *m)
{
	struct streams *xs = &s->streams;

	if (streams_held(xs, x) >= STREAM_ROOM_MAX ||
	    xs->unsafe + m->blocks.n > STREAM_WINDOW_BYTES || pass_on(s, m))
		stream_step(xs, x, STREAM_FULL); /* sent again when there is room */
	else
		streams_hold(xs, &(struct stream_message){ .number = m->stream,
							   .place = m->place,
							   .mark = m->place,
							   .branch = x->branch,
							   .bytes = (uint32_t)m->blocks.n });
}

void subscription_events(struct subscription *s, uint32_t branch, const struct msg_events *m)
{
	struct stream *x = streams_at(&s->streams, branch);

	if (!x || !x->number || x->number != m->stream || x->state == STREAM_SHUT)
		return;
	if (m->blocks.n)
		forward(s, x, m);
	if (m->end && x->state != STREAM_SHUT) {
		stream_end(&s->streams, x, m->missing);
		subscription_check_end(s);
	}
}

static void note_last(void *arg, const struct stream_message *m)
{
	struct stream_message *last = arg;

	*last = *m;
}

static void acked(struct subscription *s, const struct stream *x, uint64_t place)
{
	struct stream_message last = { 0 };

	streams_release(&s->streams, x, place, note_last, &last);
	if (!last.number)
		return;
	branches_send(s->owner->conf.branches, last.branch,
		      &(struct msg){ .type = MSG_EVENTS_ACK,
				     .events_ack = { s->name, last.number, last.place } });
	open_shut(s);
}

void subscription_acked(struct subscription *s, const struct msg_events_ack *m)
{
	list_each (i, &s->streams.all) {
		const struct stream *x = list_entry(i, struct stream, in_all);

		if (x->number && x->number == m->stream) {
			acked(s, x, m->place);
			return;
		}
	}
}
