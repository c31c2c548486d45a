/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a kept subscription from the branches to the tool, and acknowledgements back. */
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/link/link.h"
#include "mainsm/directory/numbers.h"
#include "mainsm/subscription/subscription_internal.h"
#include "mainsm/tool/session.h"
#include "tree/branches.h"

#include <stdlib.h>
#include <string.h>

static void send(struct subscription *s, const struct subscription_part *l, const struct msg *m)
{
	branches_send(s->owner->conf.branches, l->branch, m);
}

/* Many branches share the window. */
static uint32_t room_of(const struct subscription *s)
{
	uint32_t n = 0;

	list_each (i, &s->parts)
		n += list_entry(i, struct subscription_part, link)->is_up;
	return n <= 2			    ? SUBSCRIPTION_ROOM_MAX
	       : n <= SUBSCRIPTION_ROOM_MAX ? 2 * SUBSCRIPTION_ROOM_MAX / n
					    : 1;
}

static void step(struct subscription_part *l, enum stream_event ev)
{
	l->state = states_step(&stream_states, l->state, ev, l->token);
}

static void set_missing(struct subscription_part *l, const char *names)
{
	free(l->missing);
	l->missing = *names ? str_dup(names) : NULL;
}

static void open_part(struct subscription *s, struct subscription_part *l, bool again)
{
	struct msg m = { .type = MSG_EVENTS_OPEN, .events_open = s->opening };

	if (again && s->receiver) {
		l->stream = ++s->owner->stream;
		step(l, STREAM_OPENED);
		set_missing(l, "");
	} else if (!s->receiver) {
		l->stream = 0;
	}
	if (again || !s->receiver) {
		while (l->nway)
			s->unsafe -= l->way[--l->nway].bytes;
	}
	m.events_open.stream = l->stream;
	m.events_open.room = room_of(s);
	if (l->is_up)
		send(s, l, &m);
}

void subscription_open_all(struct subscription *s, bool again)
{
	list_each (i, &s->parts)
		open_part(s, list_entry(i, struct subscription_part, link), again);
}

void subscription_shut_all(struct subscription *s)
{
	subscription_open_all(s, false);
}

void subscription_end_all(struct subscription *s)
{
	const struct msg m = { .type = MSG_EVENTS_END,
			       .events_end = { s->name, s->opening.identity } };

	list_each (i, &s->parts)
		if (list_entry(i, struct subscription_part, link)->is_up)
			send(s, list_entry(i, struct subscription_part, link), &m);
}

void subscription_free_parts(struct subscription *s)
{
	list_each_safe (i, &s->parts) {
		list_del(i);
		free(list_entry(i, struct subscription_part, link)->missing);
		free(list_entry(i, struct subscription_part, link));
	}
}

/* The window has room again. */
static void open_shut(struct subscription *s)
{
	if (s->unsafe > SUBSCRIPTION_WINDOW_BYTES / 2)
		return;
	list_each (i, &s->parts) {
		struct subscription_part *l = list_entry(i, struct subscription_part, link);

		if (l->state == STREAM_SHUT && l->is_up && !l->nway)
			open_part(s, l, true);
	}
}

/* --- branches that come and go */

static struct subscription_part *find_part(struct subscription *s, const char *token)
{
	list_each (i, &s->parts)
		if (str_eq(list_entry(i, struct subscription_part, link)->token, token))
			return list_entry(i, struct subscription_part, link);
	return NULL;
}

void subscription_branch_up(struct subscription *s, const struct branch *c)
{
	struct subscription_part *l = find_part(s, c->name);

	if (!l) {
		l = calloc(1, sizeof(*l));
		if (!l) {
			log_warn("kept",
				 "no memory: nothing comes from branch=%s of subscription=%s",
				 c->name, s->name);
			return;
		}
		str_copy(l->token, sizeof(l->token), c->name);
		list_push_back(&s->parts, &l->link);
	}
	l->branch = c->index;
	l->is_up = true;
	open_part(s, l, true);
}

/* One that is away may still have something. */
void subscription_branch_lost(struct subscription *s, uint32_t branch)
{
	list_each_safe (i, &s->parts) {
		struct subscription_part *l = list_entry(i, struct subscription_part, link);

		if (!l->is_up || l->branch != branch)
			continue;
		l->is_up = false;
		step(l, STREAM_LOST);
		l->stream = 0;
		while (l->nway)
			s->unsafe -= l->way[--l->nway].bytes;
	}
	s->has_waited = false;
	loop_timer_cancel(s->coming);
	open_shut(s);
	subscription_check_end(s);
}

/* --- what comes */

static int pass_on(struct subscription *s, const struct subscription_part *l,
		   const struct msg_events *m)
{
	const struct msg up = { .type = MSG_EVENTS,
				.events = { s->name, l->stream, m->place, m->blocks, false,
					    NULL } };

	return s->receiver && s->receiver->link ? link_send(s->receiver->link, &up) : -ERR_CLOSED;
}

/* Sites that are away, and what others have said of theirs. */
static void write_missing(const struct subscription *s, struct buf *b)
{
	list_each (i, &s->parts) {
		const struct subscription_part *l = list_entry(i, struct subscription_part, link);

		if (l->state != STREAM_ENDED)
			msg_events_add_missing(b, "", l->token);
		else if (l->missing)
			msg_events_add_missing(b, "", l->missing);
	}
}

struct counts {
	unsigned here, away; /* branches that have not reported their end */
	unsigned sites; /* that have come since it is here */
};

static void count(const struct subscription *s, struct counts *n)
{
	*n = (struct counts){ 0 };
	list_each (i, &s->parts) {
		const struct subscription_part *l = list_entry(i, struct subscription_part, link);

		n->here += l->state != STREAM_ENDED && l->is_up;
		n->away += l->state != STREAM_ENDED && !l->is_up;
		n->sites += l->token[0] == 's';
	}
}

/* How long to wait for branches that are away, or have not come to this mainsm yet. 0: none is
 * waited for. */
static nsec_t time_to_come(const struct subscription *s, const struct counts *n)
{
	nsec_t age = loop_now(s->owner->conf.loop) - s->owner->unsettled;

	if (s->has_waited)
		return 0;
	if (n->away)
		return SUBSCRIPTION_RETURN_NS;
	return age < SUBSCRIPTION_RETURN_NS && n->sites < numbers_sites(s->owner->conf.numbers)
		       ? SUBSCRIPTION_RETURN_NS - age
		       : 0;
}

void subscription_check_end(struct subscription *s)
{
	struct buf b = BUF_INIT(MSG_MISSING_MAX_BYTES + 1);
	struct counts n;

	count(s, &n);
	if (!s->opening.ending || !s->receiver || n.here)
		return;
	if (time_to_come(s, &n)) {
		if (!loop_timer_is_armed(s->coming))
			loop_timer_arm(s->coming, time_to_come(s, &n));
		return;
	}
	write_missing(s, &b);
	subscription_report_end(s, buf_str(&b));
	buf_done(&b);
}

static void take(struct subscription *s, struct subscription_part *l, const struct msg_events *m)
{
	if (l->nway >= SUBSCRIPTION_ROOM_MAX ||
	    s->unsafe + m->blocks.n > SUBSCRIPTION_WINDOW_BYTES || pass_on(s, l, m)) {
		step(l, STREAM_FULL); /* it comes again when there is room */
		return;
	}
	l->way[l->nway].place = m->place;
	l->way[l->nway++].bytes = m->blocks.n;
	s->unsafe += m->blocks.n;
}

void subscription_events(struct subscription *s, uint32_t branch, const struct msg_events *m)
{
	list_each_safe (i, &s->parts) {
		struct subscription_part *l = list_entry(i, struct subscription_part, link);

		if (!l->is_up || l->branch != branch || !l->stream || l->stream != m->stream ||
		    l->state == STREAM_SHUT)
			continue;
		if (m->blocks.n)
			take(s, l, m);
		if (m->end && l->state != STREAM_SHUT) {
			step(l, STREAM_LAST);
			set_missing(l, m->missing);
			subscription_check_end(s);
		}
		return;
	}
}

bool subscription_acked(struct subscription *s, const struct msg_events_ack *m)
{
	list_each (i, &s->parts) {
		struct subscription_part *l = list_entry(i, struct subscription_part, link);
		unsigned n = 0;

		if (!l->stream || l->stream != m->stream)
			continue;
		for (; n < l->nway && l->way[n].place <= m->place; n++)
			s->unsafe -= l->way[n].bytes;
		if (!n)
			return true;
		send(s, l,
		     &(struct msg){ .type = MSG_EVENTS_ACK,
				    .events_ack = { s->name, l->stream, l->way[n - 1].place } });
		l->nway -= n;
		memmove(l->way, l->way + n, l->nway * sizeof(l->way[0]));
		open_shut(s);
		return true;
	}
	return false;
}
