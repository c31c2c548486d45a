/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/parting.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/loop/loop.h"
#include "tree/branches.h"

#include <stdlib.h>

void partings_init(struct partings *ps, struct loop *loop, nsec_t wait_max)
{
	*ps = (struct partings){ .loop = loop, .wait_max = wait_max };
	list_init(&ps->all);
}

static void end(struct parting *p)
{
	p->n = 0;
	loop_timer_cancel(p->timer);
	list_del(&p->in_all);
}

static void on_timer(void *arg)
{
	struct parting *p = arg;

	end(p);
	p->on_over(p->arg);
}

int parting_init(struct parting *p, struct partings *in, void (*on_over)(void *arg), void *arg)
{
	*p = (struct parting){ .in = in, .on_over = on_over, .arg = arg };
	list_init(&p->in_all);
	p->timer = loop_timer_new(in->loop, on_timer, p);
	return p->timer ? 0 : -ERR_NOMEM;
}

void parting_done(struct parting *p)
{
	list_del(&p->in_all);
	loop_timer_free(p->timer);
	free(p->branch);
}

/* Returns the index of the branch; p->n if it is not there. */
static size_t find(const struct parting *p, uint32_t branch)
{
	size_t i = 0;

	while (i < p->n && p->branch[i] != branch)
		i++;
	return i;
}

bool parting_awaits(const struct parting *p, uint32_t branch)
{
	return find(p, branch) < p->n;
}

bool parting_is_open(const struct parting *p)
{
	return p->n > 0;
}

void parting_await(struct parting *p, uint32_t branch)
{
	if (parting_awaits(p, branch) ||
	    array_grow(&p->branch, &p->cap, p->n + 1, sizeof(*p->branch), BRANCHES_MAX))
		return;
	p->branch[p->n++] = branch;
	if (list_is_empty(&p->in_all))
		list_push_back(&p->in->all, &p->in_all);
	if (!loop_timer_is_armed(p->timer))
		loop_timer_arm(p->timer, p->in->wait_max);
}

bool parting_answered(struct parting *p, uint32_t branch)
{
	size_t i = find(p, branch);

	if (i == p->n)
		return false;
	p->branch[i] = p->branch[--p->n];
	if (p->n)
		return true;
	end(p);
	p->on_over(p->arg);
	return true;
}

void partings_forget(struct partings *ps, uint32_t branch)
{
	list_each_safe (i, &ps->all)
		parting_answered(list_entry(i, struct parting, in_all), branch);
}

uint64_t parting_bounded(uint64_t lost)
{
	return lost < PARTING_LOST_MAX ? lost : PARTING_LOST_MAX;
}
