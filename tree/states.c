/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/states.h"

#include "common/base/buf.h"
#include "common/base/log.h"

unsigned states_step(const struct states *t, unsigned from, unsigned event, const char *which)
{
	unsigned to = t->next[from * t->nevent + event];

	if (to != from)
		log_debug("states", "%s=%s %s -> %s event=%s", t->name, which, t->state[from],
			  t->state[to], t->event[event]);
	return to;
}

void states_print_dot(const struct states *t, struct buf *b)
{
	buf_printf(b, "digraph %s {\n", t->name);
	for (unsigned s = 0; s < t->nstate; s++)
		for (unsigned ev = 0; ev < t->nevent; ev++)
			if (t->next[s * t->nevent + ev] != s)
				buf_printf(b, "\t%s -> %s [label=\"%s\"];\n", t->state[s],
					   t->state[t->next[s * t->nevent + ev]], t->event[ev]);
	buf_puts(b, "}\n");
}

/* --- streams */

static const char *const stream_names[STREAM_STATES] = { "away", "open", "shut", "ended" };
static const char *const stream_event_names[STREAM_EVENTS] = { "opened", "full", "last", "lost" };

static const uint8_t stream_next[STREAM_STATES][STREAM_EVENTS] = {
	[STREAM_AWAY] = { STREAM_OPEN, STREAM_AWAY, STREAM_AWAY, STREAM_AWAY },
	[STREAM_OPEN] = { STREAM_OPEN, STREAM_SHUT, STREAM_ENDED, STREAM_AWAY },
	[STREAM_SHUT] = { STREAM_OPEN, STREAM_SHUT, STREAM_SHUT, STREAM_AWAY },
	[STREAM_ENDED] = { STREAM_OPEN, STREAM_ENDED, STREAM_ENDED, STREAM_ENDED },
};

const struct states stream_states = { .name = "stream",
				      .state = stream_names,
				      .event = stream_event_names,
				      .nstate = STREAM_STATES,
				      .nevent = STREAM_EVENTS,
				      .next = stream_next[0] };
