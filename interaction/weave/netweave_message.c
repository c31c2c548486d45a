/* SPDX-License-Identifier: Apache-2.0 */
/* Messages by their ids, from the end that comes first in the log on. */
#include "interaction/weave/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct weave_message *find_message(struct netweave *w, uint64_t id, enum weave_state state)
{
	struct weave_message *m = map_find(&w->messages, id);

	if (m)
		return m;
	if (w->messages.n == NETWEAVE_MESSAGES_MAX) {
		weave_fail(w, err_set(w->e, ERR_LIMIT,
				      "more than %u messages were sent and not received",
				      NETWEAVE_MESSAGES_MAX));
		return NULL;
	}
	m = weave_make(w, &w->messages, id, sizeof(*m));
	if (!m)
		return NULL;
	m->id = id;
	m->state = state;
	m->returned = INT64_MIN;
	return m;
}

static void forget(struct netweave *w, struct weave_message *m)
{
	map_del(&w->messages, m->id);
	free(m);
}

/* Only a send of a message can return late. */
void weave_send_read(struct netweave *w, struct weave_thread *t, uint64_t id, int64_t at,
		     struct weave_event *to)
{
	struct weave_message *m = find_message(w, id, WEAVE_READ);

	if (!m)
		return;
	to->is_double = m->sender != NULL;
	if (to->is_double)
		return;
	m->t = at;
	m->sender = t; /* a writer may be freed before the message */
	m->place = to->kind == NETWEAVE_SEND ? t->read : UINT64_MAX;
	t->is_kept |= to->kind == NETWEAVE_SEND;
	if (m->state == WEAVE_EXPECTED)
		m->state = WEAVE_READ;
}

void weave_sent_read(struct netweave *w, struct weave_thread *t, const struct netweave_event *ev)
{
	struct weave_message *m = map_find(&w->messages, ev->id);

	if (!m || m->sender != t || m->place + 1 != t->read)
		return;
	m->returned = ev->t;
	t->returned = ev->id;
	t->returned_at = ev->t;
}

/* At the time of the return, its place among other events of the thread is not known. */
void weave_check_returned(struct netweave *w, struct weave_thread *t, int64_t at)
{
	struct weave_message *m = t->returned ? map_find(&w->messages, t->returned) : NULL;

	if (m && m->sender == t && at <= t->returned_at)
		m->returned = INT64_MIN;
	t->returned = at <= t->returned_at ? t->returned : 0;
}

void weave_send(struct netweave *w, struct weave_thread *t, const struct weave_event *ev)
{
	struct weave_message *m = map_find(&w->messages, ev->id);

	w->report.sends++;
	if (ev->is_double || !m) {
		w->report.unreceived++;
		return;
	}
	m->t = ev->t;
	m->inter = t->task ? t->inter : 0;
	m->task = t->task;
	m->horizon = t->horizon;
	m->node = t->node;
	m->is_uncertain = ev->is_uncertain;
	if (m->inter)
		weave_fork(w, t, m, false);
	m->state = WEAVE_SENT;
	if (m->waiter)
		weave_wake(w, m->waiter);
}

void weave_unsent(struct netweave *w, struct weave_thread *t, int64_t at)
{
	char name[NETWEAVE_LABEL_BYTES + 40];

	weave_group_end(w, t);
	if (w->mode != NETWEAVE_REQUEST || t->task || t->is_own)
		return;
	snprintf(name, sizeof(name), "message %" PRIu64 " to %s", ++w->made, t->label);
	weave_source(w, t, at, name);
}

/* False on one clock: another message has this id. */
static bool can_be(const struct weave_message *m, const struct weave_thread *t, int64_t at)
{
	int64_t ahead;

	return m->t <= at || (m->node != t->node && !__builtin_sub_overflow(m->t, at, &ahead) &&
			      ahead < NETWEAVE_GRACE_NS);
}

bool weave_receive(struct netweave *w, struct weave_thread *t, const struct weave_event *ev)
{
	struct weave_message *m = find_message(w, ev->id, WEAVE_EXPECTED);
	struct weave_message got;

	if (!m)
		return false;
	if (m->state != WEAVE_SENT && !t->is_forced && (!m->waiter || m->waiter == t)) {
		m->waiter = t;
		return false;
	}
	if (!t->is_forced && weave_may_release(t, m)) {
		m->sender->watcher = t;
		t->is_kept = true;
		return false;
	}
	w->report.receives++;
	w->report.uncertain += ev->is_uncertain || m->is_uncertain;
	got = *m;
	got.is_uncertain |= ev->is_uncertain;
	if (m->state == WEAVE_SENT || m->state == WEAVE_EXPECTED)
		forget(w, m);
	else
		m->waiter = NULL;
	if (got.state == WEAVE_SENT)
		weave_see(t, got.horizon + (got.horizon < INT64_MAX));
	if (got.state == WEAVE_SENT && can_be(&got, t, ev->t)) {
		weave_group_add(w, t, &got, ev->t);
		return true;
	}
	if (got.state == WEAVE_SENT)
		weave_drop(w, &got);
	w->report.unsent++;
	weave_unsent(w, t, ev->t);
	return true;
}
