/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/instrument/calls.h"

#include "lm/proc/hooks.h"
#include "lm/proc/tickbase.h"
#include "lm/proc/totals.h"

#include <stdlib.h>

struct call_mark {
	struct call_mark *next;
	uint32_t tool;
	struct totals *at; /* owned */
};

struct calls {
	struct procs *procs;
	struct tickbase *ticks;
	struct procs_listener listener;
	struct losses gone; /* of unmapped segments */
};

static void keep_last(struct calls *c, struct proc *p)
{
	if (!p->seg)
		return;
	totals_free(p->last);
	p->last = NULL;
	totals_take(p->seg, tickbase_now(c->ticks, p->own.tick_source), TOTALS_ALL, &p->last);
	losses_add(&c->gone, p->seg);
}

void calls_losses(const struct calls *c, struct losses *out)
{
	*out = c->gone;
	list_each (i, procs_all(c->procs)) {
		const struct proc *p = list_entry(i, struct proc, link);

		if (p->seg)
			losses_add(out, p->seg);
	}
}

/* --- marks of tools */

static struct call_mark **find_mark(struct proc *p, uint32_t tool)
{
	struct call_mark **m = &p->marks;

	while (*m && (*m)->tool != tool)
		m = &(*m)->next;
	return m;
}

static void drop_mark(struct call_mark **at)
{
	struct call_mark *m = *at;

	if (!m)
		return;
	*at = m->next;
	totals_free(m->at);
	free(m);
}

static void drop_marks(struct proc *p)
{
	while (p->marks)
		drop_mark(&p->marks);
}

const struct totals *calls_mark(const struct proc *p, uint32_t tool)
{
	const struct call_mark *m = p->marks;

	while (m && m->tool != tool)
		m = m->next;
	return m ? m->at : NULL;
}

int calls_set_mark(struct proc *p, uint32_t tool, struct totals **take)
{
	struct call_mark **at = find_mark(p, tool);

	if (!*at)
		*at = calloc(1, sizeof(**at));
	if (!*at)
		return -ERR_NOMEM;
	(*at)->tool = tool;
	totals_free((*at)->at);
	(*at)->at = *take;
	*take = NULL;
	return 0;
}

int calls_take(const struct calls *c, const struct proc *p, unsigned with, struct totals **out)
{
	if (p->seg)
		return totals_take(p->seg, tickbase_now(c->ticks, p->own.tick_source), with, out);
	*out = NULL;
	return p->last ? totals_copy(p->last, out) : 0;
}

const struct ticks_scale *calls_scale(const struct calls *c, const struct proc *p)
{
	return tickbase_scale(c->ticks, p->own.tick_source);
}

static void on_proc(void *arg, struct proc *p, enum proc_event what)
{
	switch (what) {
	case PROC_ENDING:
	case PROC_DETACHING:
		keep_last(arg, p);
		break;
	case PROC_BORN:
	case PROC_RENEWED:
		totals_free(p->last);
		p->last = NULL;
		drop_marks(p);
		hooks_apply(p, HOOKS_ALL);
		break;
	case PROC_FORGOTTEN:
		drop_marks(p);
		break;
	default:
		break;
	}
}

struct calls *calls_new(struct procs *p, struct tickbase *t)
{
	struct calls *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->procs = p;
	c->ticks = t;
	c->listener = (struct procs_listener){ .on_proc = on_proc, .arg = c };
	procs_listen(p, &c->listener);
	return c;
}

void calls_free(struct calls *c)
{
	if (!c)
		return;
	procs_unlisten(&c->listener);
	list_each (i, procs_all(c->procs))
		drop_marks(list_entry(i, struct proc, link));
	free(c);
}

void calls_tool_gone(struct calls *c, uint32_t tool)
{
	list_each (i, procs_all(c->procs)) {
		struct proc *p = list_entry(i, struct proc, link);

		drop_mark(find_mark(p, tool));
		if (hooks_drop_interests(p, HOOKS_TOOL(tool)))
			hooks_apply(p, HOOKS_ALL);
	}
}
