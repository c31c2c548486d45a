/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/instrument/calls.h"

#include "lm/proc/hooks.h"
#include "lm/proc/tickbase.h"
#include "lm/proc/totals.h"

#include <stdlib.h>

struct calls {
	struct procs *procs;
	struct tickbase *ticks;
	struct procs_listener listener;
	struct losses gone; /* of segments that are gone */
};

static void keep_last(struct calls *c, struct proc *p)
{
	if (!p->seg)
		return;
	totals_free(p->last);
	p->last = NULL;
	totals_take(p->seg, tickbase_now(c->ticks, p->own.tick_source), true, &p->last);
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
		hooks_apply(p, HOOKS_ALL);
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
	free(c);
}

void calls_tool_gone(struct calls *c, uint32_t tool)
{
	list_each (i, procs_all(c->procs)) {
		struct proc *p = list_entry(i, struct proc, link);

		if (hooks_drop_interests(p, HOOKS_TOOL(tool)))
			hooks_apply(p, HOOKS_ALL);
	}
}
