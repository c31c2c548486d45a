/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of pipes and sockets: writes are messages, and reads end those whose last byte they get. */
#include "common/base/array.h"
#include "interaction/weave/internal.h"

#include <stdlib.h>
#include <string.h>

static struct weave_stream *find_stream(struct netweave *w, uint64_t id)
{
	struct weave_stream *s = map_find(&w->streams, id);

	if (s)
		return s;
	if (w->streams.n == NETWEAVE_STREAMS_MAX) {
		weave_fail(w,
			   err_set(w->e, ERR_LIMIT, "more than %u streams", NETWEAVE_STREAMS_MAX));
		return NULL;
	}
	return weave_make(w, &w->streams, id, sizeof(*s));
}

void weave_streams_free(struct netweave *w)
{
	for (struct map_iter i = { 0 }; map_next(&w->streams, &i);) {
		free(((struct weave_stream *)i.value)->piece);
		free(i.value);
	}
	map_done(&w->streams);
}

static void swap(struct weave_piece *a, struct weave_piece *b)
{
	struct weave_piece was = *a;

	*a = *b;
	*b = was;
}

/* Writers of one stream may overtake each other in the log: by any order of ends, in any log. */
static void put_piece(struct netweave *w, struct weave_stream *s, struct weave_piece piece)
{
	size_t at = s->n;

	if (array_grow(&s->piece, &s->cap, s->n + 1, sizeof(*s->piece), NETWEAVE_MESSAGES_MAX)) {
		weave_fail(w, err_set(w->e, ERR_LIMIT, "a stream has more than %u messages",
				      NETWEAVE_MESSAGES_MAX));
		return;
	}
	s->piece[s->n++] = piece;
	for (; at && s->piece[(at - 1) / 2].end > s->piece[at].end; at = (at - 1) / 2)
		swap(&s->piece[(at - 1) / 2], &s->piece[at]);
}

static void drop_first(struct weave_stream *s)
{
	size_t at = 0, child;

	s->piece[0] = s->piece[--s->n];
	while ((child = 2 * at + 1) < s->n) {
		if (child + 1 < s->n && s->piece[child + 1].end < s->piece[child].end)
			child++;
		if (s->piece[at].end <= s->piece[child].end)
			return;
		swap(&s->piece[at], &s->piece[child]);
		at = child;
	}
}

uint64_t weave_stream_wrote(struct netweave *w, uint64_t stream, uint64_t end)
{
	struct weave_stream *s = find_stream(w, stream);
	uint64_t id = (hash_mix64(stream + hash_mix64(end)) & INT64_MAX) | 1;

	if (!s)
		return id;
	put_piece(w, s, (struct weave_piece){ end, id });
	if (end > s->known)
		s->known = end;
	if (s->waiter)
		weave_wake(w, s->waiter);
	return id;
}

bool weave_stream_is_short(const struct netweave *w, const struct weave_event *ev)
{
	const struct weave_stream *s = map_find(&w->streams, ev->id);

	return !s || s->known < ev->other;
}

/*
 * Nothing in the log has written the bytes. If the recorder knows that too, they are the action of
 * a user: a request begins, and the thread's earlier one ends where the wait began.
 */
static void take_outside(struct netweave *w, struct weave_thread *t, const struct weave_event *ev)
{
	w->report.outside += ev->is_unsent;
	w->report.unsent += !ev->is_unsent;
	if (w->mode != NETWEAVE_REQUEST)
		weave_wait_end(w, t, ev->t);
	else if (ev->is_unsent && !t->is_own)
		weave_leave(w, t, t->wait != INT64_MIN ? t->wait : ev->t);
	weave_unsent(w, t, ev->t);
}

bool weave_stream_read(struct netweave *w, struct weave_thread *t, const struct weave_event *ev)
{
	struct weave_stream *s = find_stream(w, ev->id);
	bool is_short = s && s->known < ev->other, is_any = false;

	if (!s)
		return false;
	if (is_short && !ev->is_unsent && !t->is_forced && (!s->waiter || s->waiter == t)) {
		s->waiter = t;
		return false;
	}
	if (s->waiter == t)
		s->waiter = NULL;
	while (s->n && s->piece[0].end <= ev->other) {
		const struct weave_event one = { .kind = NETWEAVE_RECEIVE,
						 .t = ev->t,
						 .id = s->piece[0].id,
						 .is_uncertain = ev->is_uncertain };

		if (!weave_receive(w, t, &one))
			return false;
		drop_first(s);
		is_any = true;
	}
	if (!is_any && (is_short || ev->is_unsent))
		take_outside(w, t, ev);
	else if (!is_any) /* a part of a message, or the end of the stream */
		weave_wait_end(w, t, ev->t);
	if (is_short)
		s->known = ev->other; /* later reads do not wait for these bytes, too */
	return true;
}
