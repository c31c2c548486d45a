/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of event types in the parts of the program, and whether they are switched on. */
#include "eventlog/app/log.h"

#include <stdlib.h>

bool log_type_is_asked(const struct evtrigger *t, const struct omig_event *ev, nsec_t wall,
		       struct log_type *type)
{
	const struct evtrigger_entry *entry = evtrigger_find(t, ev->name, wall);

	return entry && ev->level <= entry->level &&
	       evwhere_bind(&entry->where, &type->form, &type->tests);
}

static void switch_one(struct log_state *s, struct log_type *type, nsec_t wall)
{
	struct omig_event *ev = type->event;
	bool is_on = s->is_open && type->definition, is_linked;

	if (!ev)
		return;
	is_linked = s->link && type->number >= 0 &&
		    __atomic_load_n(&s->link->word[type->number], __ATOMIC_ACQUIRE);
	type->tests.n = 0;
	if (is_on)
		is_on = s->trigger ? log_type_is_asked(s->trigger, ev, wall, type)
				   : ev->level <= s->level;
	__atomic_store_n(&ev->on,
			 (is_on ? OMIG_EVENT_LOGGED : 0) | (is_linked ? OMIG_EVENT_REPORTED : 0),
			 __ATOMIC_RELAXED);
}

void log_types_switch(struct log_state *s)
{
	nsec_t wall = clock_wall();

	for (unsigned i = 1; i < s->ntype; i++)
		switch_one(s, &s->type[i], wall);
}

/* Encodes the description. A type that breaks the rules has none, and is never on. */
static void describe(struct log_type *type, const struct omig_event *ev)
{
	struct evfield *field = calloc((size_t)ev->nfield + 1, sizeof(*field));
	struct buf b = BUF_INIT(EV_RECORD_MAX_BYTES);
	size_t n;

	for (unsigned i = 0; field && i < ev->nfield; i++)
		field[i] = (struct evfield){ ev->field[i].name, (enum evkind)ev->field[i].kind };
	type->form = (struct evtype){
		.name = ev->name, .level = ev->level, .nfield = ev->nfield, .field = field
	};
	if (field && !evtype_encode(&b, ev->number, &type->form, false, NULL))
		type->definition = buf_take(&b, &n);
	if (type->definition)
		type->definition_bytes = n;
	buf_done(&b);
}

void log_type_announce(struct log_state *s, struct log_type *type)
{
	if (s->link && type->number < 0 && type->definition)
		type->number = s->link->announce(type->definition, type->definition_bytes);
}

void omig_event_register(struct omig_event *ev)
{
	struct log_state *s = log_the();

	log_lock(s);
	if (!ev->number && s->ntype < LOG_TYPES_MAX) {
		struct log_type *type = &s->type[s->ntype];

		ev->number = (uint16_t)s->ntype++;
		type->event = ev;
		type->number = -1;
		describe(type, ev);
		log_type_announce(s, type);
		switch_one(s, type, clock_wall());
	}
	log_unlock(s);
}

void omig_event_unregister(struct omig_event *ev)
{
	struct log_state *s = log_the();

	log_lock(s);
	if (ev->number)
		s->type[ev->number].event = NULL;
	log_unlock(s);
}
