/* SPDX-License-Identifier: Apache-2.0 */
/* The receives of one call, and the side of a join that waited. */
#include "common/base/array.h"
#include "interaction/weave/internal.h"

/* The call began to wait. A wait that no message of the interaction explains is ordinary time. */
static void put_wait(struct netweave *w, const struct weave_join *j, bool blocks)
{
	struct weave_uses uses = { .n = 0 };
	struct weave_vertex v = weave_vertex(j->thread, NETWORK_SIMPLE, j->wait);

	if (!blocks)
		weave_use(&uses, w->waiting, false, false);
	v.blocks = blocks;
	v.uses = &uses;
	weave_put(w, &v);
}

static void put_join(struct netweave *w, const struct weave_join *j, size_t i, bool ends_wait)
{
	struct weave_uses uses = { .n = 0 };

	if (ends_wait)
		weave_use(&uses, w->waiting, true, false);
	weave_join_put(w, j->thread, j->at, j->m[i].id, &uses);
}

/* Returns the message that was sent last. */
static size_t find_last(const struct weave_join *j)
{
	size_t last = 0;

	for (size_t i = 1; i < j->n; i++)
		if (j->m[i].t > j->m[last].t)
			last = i;
	return last;
}

/*
 * With a wait for the last message, that one joins first: behind it the path goes along the thread,
 * and all other messages wait for it.
 */
void weave_join(struct netweave *w, const struct weave_join *j)
{
	bool has_wait = j->wait != INT64_MIN && j->wait <= j->at, waits = false, is_first = true;
	size_t last = j->n ? find_last(j) : 0;

	if (j->n && has_wait)
		waits = j->m[last].t >= j->wait && j->m[last].t >= j->foreign;
	if (has_wait)
		put_wait(w, j, waits);
	if (waits && j->m[last].is_process)
		weave_ended(w, &j->m[last]);
	if (waits)
		put_join(w, j, last, false);
	for (size_t i = 0; i < j->n; i++) {
		if (waits && i == last)
			continue;
		weave_queue(w, &j->m[i]);
		put_join(w, j, i, has_wait && !waits && is_first);
		is_first = false;
	}
	if (has_wait && !j->n) {
		struct weave_uses uses = { .n = 0 };

		weave_use(&uses, w->waiting, true, false);
		weave_own_put(w, j->thread, NETWORK_SIMPLE, j->at, &uses);
	}
}

void weave_wait_end(struct netweave *w, struct weave_thread *t, int64_t at)
{
	if (t->task && !t->is_own)
		weave_join(w,
			   &(struct weave_join){
				   .thread = t, .wait = t->wait, .at = at, .foreign = INT64_MIN });
	t->wait = INT64_MIN;
}

/* --- sends that wait for their receiver */

static bool is_late(const struct weave_thread *t, const struct weave_message *m)
{
	return m->task && t->task && m->inter == t->inter && t->wait > m->t;
}

bool weave_may_release(const struct weave_thread *t, const struct weave_message *m)
{
	return m->state == WEAVE_SENT && m->place != UINT64_MAX && is_late(t, m) &&
	       m->sender->read == m->place;
}

/*
 * The sender may be far behind or ahead: its queue is never held, since receivers wait for senders.
 * So these vertices may come late. All later ones of its sub-task have times behind the return.
 */
static void release(struct netweave *w, struct weave_thread *t, const struct weave_message *m)
{
	const struct weave_message go = { .id = weave_id(w),
					  .t = t->wait,
					  .inter = m->inter,
					  .node = t->node,
					  .is_uncertain = m->is_uncertain };
	struct weave_vertex v = { .thread = m->sender,
				  .kind = NETWORK_SIMPLE,
				  .blocks = true,
				  .t = m->t,
				  .node = m->node,
				  .task = m->task };

	weave_fork(w, t, &go, false);
	weave_put(w, &v);
	v.kind = NETWORK_JOIN;
	v.blocks = false;
	v.t = m->returned;
	v.other = go.id;
	weave_put(w, &v);
	if (m->sender->task == m->task && m->sender->last < m->returned)
		m->sender->last = m->returned;
}

/*
 * In front of the thread's own wait, which begins at the same time. Clocks may be wrong: what has
 * the return as a cause has a horizon behind it, and releases no sender.
 */
static void release_senders(struct netweave *w, const struct weave_join *j)
{
	struct weave_thread *t = j->thread;

	for (size_t i = 0; i < j->n; i++)
		if (is_late(t, &j->m[i]) && j->m[i].returned != INT64_MIN &&
		    t->wait_horizon <= j->m[i].returned && j->wait <= j->at)
			release(w, t, &j->m[i]);
}

/* --- groups */

void weave_group_add(struct netweave *w, struct weave_thread *t, const struct weave_message *m,
		     int64_t at)
{
	if (array_grow(&t->group, &t->group_cap, t->ngroup + 1, sizeof(*t->group), SIZE_MAX / 64)) {
		weave_fail(w, -ERR_NOMEM);
		return;
	}
	t->group[t->ngroup++] = *m;
	t->got = at;
}

/* A request's message takes the thread with it, unless the program itself says what it works for.
 */
static void adopt_first(struct netweave *w, struct weave_thread *t)
{
	for (size_t i = 0; i < t->ngroup && w->mode == NETWEAVE_REQUEST && !t->is_own; i++) {
		const struct weave_message m = t->group[i];

		if (!m.inter || m.inter == t->inter)
			continue;
		weave_adopt(w, t, &m, t->got);
		t->group[i] = t->group[--t->ngroup];
		return;
	}
}

void weave_group_end(struct netweave *w, struct weave_thread *t)
{
	struct weave_join j = { .thread = t, .foreign = INT64_MIN };

	if (!t->ngroup)
		return;
	adopt_first(w, t);
	for (size_t i = 0; i < t->ngroup; i++) {
		const struct weave_message m = t->group[i];

		if (t->task && m.inter == t->inter) {
			t->group[j.n++] = m;
			continue;
		}
		weave_drop(w, &m);
		if (m.t > j.foreign)
			j.foreign = m.t;
	}
	j.wait = t->wait;
	j.at = t->got;
	j.m = t->group;
	if (t->task) {
		release_senders(w, &j);
		weave_join(w, &j);
	}
	t->ngroup = 0;
	t->wait = INT64_MIN;
}
