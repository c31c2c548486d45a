/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a kept subscription from the children to the tool, and acknowledgements back. */
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/daemon/link.h"
#include "mainsm/directory/children.h"
#include "mainsm/subscription/subscription_internal.h"
#include "mainsm/directory/numbers.h"
#include "mainsm/tool/session.h"

#include <stdlib.h>
#include <string.h>

static void send(struct sub *s, const struct lane *l, const struct msg *m)
{
	children_send(s->owner->conf.children, l->child, m);
}

/* Many children share the window. */
static uint32_t room_of(const struct sub *s)
{
	uint32_t n = 0;

	list_each (i, &s->lanes)
		n += list_entry(i, struct lane, link)->is_up;
	return n <= 2 ? KEPT_ROOM_MAX : n <= KEPT_ROOM_MAX ? 2 * KEPT_ROOM_MAX / n : 1;
}

static void set_missing(struct lane *l, const char *names)
{
	free(l->missing);
	l->missing = *names ? str_dup(names) : NULL;
}

static void open_lane(struct sub *s, struct lane *l, bool anew)
{
	struct msg m = { .type = MSG_EVENTS_OPEN, .events_open = s->told };

	if (anew && s->receiver) {
		l->stream = ++s->owner->stream;
		l->is_shut = l->has_ended = false;
		set_missing(l, "");
	} else if (!s->receiver) {
		l->stream = 0;
	}
	if (anew || !s->receiver) {
		while (l->nway)
			s->unsafe -= l->way[--l->nway].bytes;
	}
	m.events_open.stream = l->stream;
	m.events_open.room = room_of(s);
	if (l->is_up)
		send(s, l, &m);
}

void sub_open_all(struct sub *s, bool anew)
{
	list_each (i, &s->lanes)
		open_lane(s, list_entry(i, struct lane, link), anew);
}

void sub_shut_all(struct sub *s)
{
	sub_open_all(s, false);
}

void sub_end_all(struct sub *s)
{
	const struct msg m = { .type = MSG_EVENTS_END,
			       .events_end = { s->name, s->told.identity } };

	list_each (i, &s->lanes)
		if (list_entry(i, struct lane, link)->is_up)
			send(s, list_entry(i, struct lane, link), &m);
}

void sub_free_lanes(struct sub *s)
{
	list_each_safe (i, &s->lanes) {
		list_del(i);
		free(list_entry(i, struct lane, link)->missing);
		free(list_entry(i, struct lane, link));
	}
}

/* The window has room again. */
static void open_shut(struct sub *s)
{
	if (s->unsafe > KEPT_WINDOW_BYTES / 2)
		return;
	list_each (i, &s->lanes) {
		struct lane *l = list_entry(i, struct lane, link);

		if (l->is_shut && l->is_up && !l->nway)
			open_lane(s, l, true);
	}
}

/* --- children that come and go */

static struct lane *find_lane(struct sub *s, const char *token)
{
	list_each (i, &s->lanes)
		if (str_eq(list_entry(i, struct lane, link)->token, token))
			return list_entry(i, struct lane, link);
	return NULL;
}

void sub_child_up(struct sub *s, const struct child *c)
{
	struct lane *l = find_lane(s, c->token);

	if (!l) {
		l = calloc(1, sizeof(*l));
		if (!l) {
			log_warn("kept",
				 "no memory: nothing comes from child=%s of subscription=%s",
				 c->token, s->name);
			return;
		}
		str_copy(l->token, sizeof(l->token), c->token);
		list_push_back(&s->lanes, &l->link);
	}
	l->child = c->index;
	l->is_up = true;
	open_lane(s, l, true);
}

/* One that is away may still have something. */
void sub_child_lost(struct sub *s, uint32_t child)
{
	list_each_safe (i, &s->lanes) {
		struct lane *l = list_entry(i, struct lane, link);

		if (!l->is_up || l->child != child)
			continue;
		l->is_up = false;
		l->stream = 0;
		while (l->nway)
			s->unsafe -= l->way[--l->nway].bytes;
	}
	s->has_waited = false;
	loop_timer_cancel(s->coming);
	open_shut(s);
	sub_check_end(s);
}

/* --- what comes */

static int pass_on(struct sub *s, const struct lane *l, const struct msg_events *m)
{
	const struct msg up = { .type = MSG_EVENTS,
				.events = { s->name, l->stream, m->place, m->blocks, false,
					    NULL } };

	return s->receiver && s->receiver->link ? link_send(s->receiver->link, &up) : -ERR_CLOSED;
}

/* Sites that are away, and what others have said of theirs. */
static void write_missing(const struct sub *s, struct buf *b)
{
	list_each (i, &s->lanes) {
		const struct lane *l = list_entry(i, struct lane, link);

		if (!l->has_ended)
			msg_events_add_missing(b, "", l->token);
		else if (l->missing)
			msg_events_add_missing(b, "", l->missing);
	}
}

struct counts {
	unsigned here, away; /* children that have not told their end */
	unsigned sites; /* that have come since it is here */
};

static void count(const struct sub *s, struct counts *n)
{
	*n = (struct counts){ 0 };
	list_each (i, &s->lanes) {
		const struct lane *l = list_entry(i, struct lane, link);

		n->here += !l->has_ended && l->is_up;
		n->away += !l->has_ended && !l->is_up;
		n->sites += l->token[0] == 's';
	}
}

/* So long those that are away may come back, or have come to a mainsm before us. 0: nobody is
 * waited for. */
static nsec_t time_to_come(const struct sub *s, const struct counts *n)
{
	nsec_t age = loop_now(s->owner->conf.loop) - s->owner->unsettled;

	if (s->has_waited)
		return 0;
	if (n->away)
		return KEPT_RETURN_NS;
	return age < KEPT_RETURN_NS && n->sites < numbers_sites(s->owner->conf.numbers)
		       ? KEPT_RETURN_NS - age
		       : 0;
}

void sub_check_end(struct sub *s)
{
	struct buf b = BUF_INIT(MSG_MISSING_MAX_BYTES + 1);
	struct counts n;

	count(s, &n);
	if (!s->told.ending || !s->receiver || n.here)
		return;
	if (time_to_come(s, &n)) {
		if (!loop_timer_is_armed(s->coming))
			loop_timer_arm(s->coming, time_to_come(s, &n));
		return;
	}
	write_missing(s, &b);
	sub_tell_end(s, buf_str(&b));
	buf_done(&b);
}

static void take(struct sub *s, struct lane *l, const struct msg_events *m)
{
	if (l->nway >= KEPT_ROOM_MAX || s->unsafe + m->blocks.n > KEPT_WINDOW_BYTES ||
	    pass_on(s, l, m)) {
		l->is_shut = true; /* it comes again when there is room */
		return;
	}
	l->way[l->nway].place = m->place;
	l->way[l->nway++].bytes = m->blocks.n;
	s->unsafe += m->blocks.n;
}

void sub_events(struct sub *s, uint32_t child, const struct msg_events *m)
{
	list_each_safe (i, &s->lanes) {
		struct lane *l = list_entry(i, struct lane, link);

		if (!l->is_up || l->child != child || !l->stream || l->stream != m->stream ||
		    l->is_shut)
			continue;
		if (m->blocks.n)
			take(s, l, m);
		if (m->end && !l->is_shut) {
			l->has_ended = true;
			set_missing(l, m->missing);
			sub_check_end(s);
		}
		return;
	}
}

bool sub_acked(struct sub *s, const struct msg_events_ack *m)
{
	list_each (i, &s->lanes) {
		struct lane *l = list_entry(i, struct lane, link);
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
