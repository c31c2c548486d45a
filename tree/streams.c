/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/streams.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "proto/msg.h"
#include "tree/branches.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES_MAX ((size_t)BRANCHES_MAX * STREAM_ROOM_MAX)

static const char *const state_names[STREAM_STATES] = { "away", "open", "shut", "ended" };
static const char *const event_names[STREAM_EVENTS] = { "opened", "full", "last", "lost" };

static const uint8_t next[STREAM_STATES][STREAM_EVENTS] = {
	[STREAM_AWAY] = { STREAM_OPEN, STREAM_AWAY, STREAM_AWAY, STREAM_AWAY },
	[STREAM_OPEN] = { STREAM_OPEN, STREAM_SHUT, STREAM_ENDED, STREAM_AWAY },
	[STREAM_SHUT] = { STREAM_OPEN, STREAM_SHUT, STREAM_SHUT, STREAM_AWAY },
	[STREAM_ENDED] = { STREAM_OPEN, STREAM_ENDED, STREAM_ENDED, STREAM_ENDED },
};

const struct states stream_states = { .name = "stream",
				      .state = state_names,
				      .event = event_names,
				      .nstate = STREAM_STATES,
				      .nevent = STREAM_EVENTS,
				      .next = next[0] };

void streams_init(struct streams *xs, const struct streams_conf *conf)
{
	*xs = (struct streams){ .conf = *conf };
	list_init(&xs->all);
	map_init(&xs->by_branch);
}

void streams_done(struct streams *xs)
{
	list_each_safe (i, &xs->all)
		stream_free(xs, list_entry(i, struct stream, in_all));
	map_done(&xs->by_branch);
	free(xs->message);
}

struct stream *streams_add(struct streams *xs, const char *name, enum stream_state state)
{
	struct stream *x = calloc(1, xs->conf.bytes);

	if (!x)
		return NULL;
	str_copy(x->name, sizeof(x->name), name);
	x->state = state;
	xs->n[state]++;
	list_push_back(&xs->all, &x->in_all);
	return x;
}

void stream_free(struct streams *xs, struct stream *x)
{
	if (xs->conf.on_free)
		xs->conf.on_free(xs->conf.arg, x);
	if (x->has_branch)
		map_del(&xs->by_branch, x->branch);
	xs->n[x->state]--;
	list_del(&x->in_all);
	free(x->missing);
	free(x);
}

struct stream *streams_at(const struct streams *xs, uint32_t branch)
{
	return map_find(&xs->by_branch, branch);
}

static struct stream *find_away(const struct streams *xs, const char *name)
{
	list_each (i, &xs->all) {
		struct stream *x = list_entry(i, struct stream, in_all);

		if (!x->has_branch && str_eq(x->name, name))
			return x;
	}
	return NULL;
}

struct stream *streams_come(struct streams *xs, uint32_t branch, const char *name, bool *is_new)
{
	struct stream *x = streams_at(xs, branch);

	*is_new = false;
	if (x)
		return x;
	x = find_away(xs, name);
	if (!x) {
		x = streams_add(xs, name, STREAM_AWAY);
		*is_new = true;
	}
	if (!x || map_put(&xs->by_branch, branch, x, NULL)) {
		if (x && *is_new)
			stream_free(xs, x);
		return NULL;
	}
	x->has_branch = true;
	x->branch = branch;
	return x;
}

void stream_leave(struct streams *xs, struct stream *x)
{
	map_del(&xs->by_branch, x->branch);
	x->has_branch = false;
	stream_close(x);
	stream_step(xs, x, STREAM_LOST);
}

void stream_step(struct streams *xs, struct stream *x, enum stream_event ev)
{
	enum stream_state was = x->state;

	x->state = states_step(&stream_states, was, ev, x->name);
	xs->n[was]--;
	xs->n[x->state]++;
	if (xs->conf.on_step)
		xs->conf.on_step(xs->conf.arg, x, was);
}

static void set_missing(struct stream *x, const char *names)
{
	free(x->missing);
	x->missing = *names ? str_dup(names) : NULL;
}

void stream_open(struct streams *xs, struct stream *x)
{
	x->number = ++*xs->conf.number;
	set_missing(x, "");
	stream_step(xs, x, STREAM_OPENED);
}

void stream_send_open(const struct branches *to, const struct stream *x,
		      const struct msg_events_open *wanted, uint32_t room)
{
	struct msg m = { .type = MSG_EVENTS_OPEN, .events_open = *wanted };

	m.events_open.stream = x->number;
	m.events_open.room = room;
	branches_send(to, x->branch, &m);
}

void stream_close(struct stream *x)
{
	x->number = 0;
}

void stream_end(struct streams *xs, struct stream *x, const char *missing)
{
	set_missing(x, missing);
	stream_step(xs, x, STREAM_LAST);
}

void streams_write_missing(const struct streams *xs, struct buf *b)
{
	list_each (i, &xs->all) {
		const struct stream *x = list_entry(i, struct stream, in_all);

		if (x->state == STREAM_AWAY)
			msg_events_add_missing(b, "", x->name);
		else if (x->missing)
			msg_events_add_missing(b, "", x->missing);
	}
}

/* --- the window */

int streams_reserve(struct streams *xs, size_t n)
{
	return array_grow(&xs->message, &xs->capmessage, n, sizeof(*xs->message), MESSAGES_MAX);
}

void streams_hold(struct streams *xs, const struct stream_message *m)
{
	assert(xs->nmessage < xs->capmessage);
	xs->message[xs->nmessage++] = *m;
	xs->unsafe += m->bytes;
}

unsigned streams_held(const struct streams *xs, const struct stream *x)
{
	unsigned n = 0;

	for (size_t i = 0; i < xs->nmessage; i++)
		n += xs->message[i].number == x->number;
	return n;
}

void streams_release(struct streams *xs, const struct stream *x, uint64_t mark,
		     void (*safe)(void *arg, const struct stream_message *m), void *arg)
{
	size_t left = 0;

	for (size_t i = 0; i < xs->nmessage; i++) {
		const struct stream_message m = xs->message[i];

		if ((x && m.number != x->number) || m.mark > mark) {
			xs->message[left++] = m;
			continue;
		}
		xs->unsafe -= m.bytes;
		if (safe)
			safe(arg, &m);
	}
	xs->nmessage = left;
}
