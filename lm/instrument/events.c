/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/instrument/events.h"

#include "common/base/array.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEFINITION_MAX_BYTES 16384 /* of 255 fields with names of 64 characters */

struct event_type {
	struct evtype *type; /* owned; NULL: it is invalid */
	unsigned interests, refusals;
	uint64_t taken;
};

struct proc_events {
	struct event_type *v; /* owned, by number */
	size_t n, cap;
};

static struct evtype *read_type(const struct segview *seg, unsigned number)
{
	uint8_t text[DEFINITION_MAX_BYTES];
	size_t n = segview_event_definition(seg, number, text, sizeof(text));
	struct evtype *t = NULL;
	unsigned own;

	if (n && evtype_decode(bytes_at(text, n), false, &own, &t, NULL))
		return NULL;
	return t;
}

unsigned events_poll(struct proc *p)
{
	unsigned n = p->seg ? segview_event_count(p->seg) : 0;

	if (n && !p->events)
		p->events = calloc(1, sizeof(*p->events));
	if (!p->events)
		return 0;
	if (n > p->events->n &&
	    array_grow(&p->events->v, &p->events->cap, n, sizeof(*p->events->v), SEG_EVENTS))
		n = (unsigned)p->events->n;
	for (; p->events->n < n; p->events->n++)
		p->events->v[p->events->n] =
			(struct event_type){ .type = read_type(p->seg, (unsigned)p->events->n) };
	return (unsigned)p->events->n;
}

static struct event_type *find(const struct proc *p, unsigned number)
{
	return p->events && number < p->events->n ? &p->events->v[number] : NULL;
}

const struct evtype *events_type(const struct proc *p, unsigned number)
{
	const struct event_type *t = find(p, number);

	return t ? t->type : NULL;
}

static uint32_t word_of(const struct event_type *t)
{
	if (t && t->interests)
		return EVENT_RECORD;
	return t && t->refusals ? EVENT_REFUSE : 0;
}

void events_add_interest(struct proc *p, unsigned number, int change)
{
	struct event_type *t = find(p, number);

	if (!t)
		return;
	t->interests += (unsigned)change;
	if (p->seg)
		segview_event_set(p->seg, number, word_of(t));
}

void events_refuse(struct proc *p, unsigned number, int change)
{
	struct event_type *t = find(p, number);

	if (!t)
		return;
	t->refusals += (unsigned)change;
	if (p->seg)
		segview_event_set(p->seg, number, word_of(t));
}

/* Wakes the process by a word in the segment, which never blocks. */
void events_notify(struct proc *p)
{
	uint32_t *bell;

	if (!p->seg)
		return;
	bell = segview_event_bell(p->seg);
	__atomic_fetch_add(bell, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void events_settle(struct proc *p)
{
	if (!p->seg)
		return;
	events_poll(p);
	for (unsigned i = 0; i < SEG_EVENTS; i++)
		if (segview_event_get(p->seg, i) != word_of(find(p, i)))
			segview_event_set(p->seg, i, word_of(find(p, i)));
	events_notify(p);
}

void events_count(struct proc *p, unsigned number)
{
	struct event_type *t = find(p, number);

	if (t)
		t->taken++;
}

void events_figures(const struct proc *p, unsigned number, struct events_figures *out)
{
	const struct event_type *t = find(p, number);

	*out = (struct events_figures){ 0 };
	if (!t)
		return;
	out->interests = t->interests;
	out->taken = t->taken;
	out->lost = p->seg ? segview_event_lost(p->seg, number) : 0;
}

void events_leave(struct proc *p)
{
	if (!p->events)
		return;
	for (size_t i = 0; i < p->events->n; i++)
		free(p->events->v[i].type);
	free(p->events->v);
	free(p->events);
	p->events = NULL;
}
