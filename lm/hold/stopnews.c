/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/hold/stopnews.h"

/* Stops and continues alternate, so their number describes all changes in a turn of the loop. */
void stopnews_notify(struct stopnews *n, struct proc *p)
{
	struct proc_changes c = p->changes;

	p->changes.n = 0;
	for (uint32_t i = 0; i < c.n; i++)
		n->fn(n->arg, p, c.first_is_stop != (i % 2 == 1), c.at, c.depth);
}

static void on_job(void *arg)
{
	struct stopnews *n = arg;

	list_each_safe (i, procs_all(n->procs)) {
		struct proc *p = list_entry(i, struct proc, link);

		if (p->changes.n)
			stopnews_notify(n, p);
	}
}

void stopnews_note(struct stopnews *n, struct proc *p, bool is_stopped, unsigned depth)
{
	struct proc_changes *c = &p->changes;

	if (!n->fn)
		return;
	if (!c->n)
		*c = (struct proc_changes){ .first_is_stop = is_stopped };
	if (c->n % 2 == (c->first_is_stop == is_stopped))
		return; /* two changes: no effect */
	c->n++;
	c->depth = depth > c->depth ? depth : c->depth;
	c->at = loop_now(n->loop);
	loop_job_post(n->loop, &n->job, on_job, n);
}
