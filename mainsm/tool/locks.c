/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/tool/locks.h"

#include "common/container/map.h"
#include "common/loop/loop.h"
#include "common/omis/services/catalogue.h"
#include "common/omis/text/token.h"
#include "mainsm/tool/view.h"

#include <stdlib.h>
#include <string.h>

struct locks {
	struct loop *loop;
	struct executor *executor;
	struct list row; /* struct member, in order of arrival */
	size_t nlocked, nwaiting;
	struct loop_job next;
};

/* A list that waits or runs. */
struct member {
	struct locks *l;
	struct list in_row;
	struct omis_request *request; /* owned while it waits, then the run's */
	struct run_spec spec; /* as requested */
	bool is_locked, waits;
	nsec_t deadline;
	struct loop_timer *timer; /* of a waiting one; owned */
};

struct locks *locks_new(struct loop *loop, struct executor *x)
{
	struct locks *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->loop = loop;
	l->executor = x;
	list_init(&l->row);
	return l;
}

void locks_free(struct locks *l)
{
	if (l)
		loop_job_cancel(&l->next);
	free(l);
}

size_t locks_waiting(const struct locks *l)
{
	return l->nwaiting;
}

/* --- objects of lists */

/* Nodes of earlier lists in the queue. */
struct marks {
	struct map nodes; /* number -> a list that uses it, a locked one if there is one */
	bool any, any_locked; /* some node */
	bool all, all_locked; /* every node, also later ones */
	bool no_memory;
};

/* Returns false for every node: the objects are known only when it runs. */
static bool node_of(const struct omis_value *v, uint32_t *node)
{
	return v->kind == OMIS_TOKEN && token_node(v->s.p, v->s.n, node);
}

/* Calls fn for each node, with 0 for all of them. */
static void each_node(const struct omis_request *r, void (*fn)(void *arg, uint32_t node), void *arg)
{
	for (size_t i = 0; i < r->naction; i++) {
		const struct omis_service *s = r->action[i].service;
		const struct omis_value *v;
		uint32_t node;

		if (s->object_param < 0 || s->where == OMIS_AT_TOP || s->where == OMIS_AT_EVENT)
			continue;
		v = &r->action[i].param[s->object_param];
		if (v->kind != OMIS_LIST)
			fn(arg, node_of(v, &node) ? node : 0);
		else if (!v->list.n)
			fn(arg, 0);
		for (size_t k = 0; v->kind == OMIS_LIST && k < v->list.n; k++)
			fn(arg, node_of(&v->list.v[k], &node) ? node : 0);
	}
}

struct check {
	struct marks *marks;
	struct member *member;
	bool is_free;
};

static void check_node(void *arg, uint32_t node)
{
	struct check *w = arg;
	const struct marks *m = w->marks;
	const struct member *other = node ? map_find(&m->nodes, node) : NULL;
	bool locked = m->all_locked || (other && other->is_locked) || (!node && m->any_locked);
	bool used = locked || m->all || other || (!node && m->any);

	if (w->member->is_locked ? used : locked)
		w->is_free = false;
}

static void mark(void *arg, uint32_t node)
{
	struct check *w = arg;
	struct marks *m = w->marks;
	const struct member *other = node ? map_find(&m->nodes, node) : NULL;

	if (!node) {
		m->all = true;
		m->all_locked |= w->member->is_locked;
		return;
	}
	m->any = true;
	m->any_locked |= w->member->is_locked;
	if (!(other && other->is_locked) && map_put(&m->nodes, node, w->member, NULL))
		m->no_memory = true;
}

/* Without memory the answer is unknown, and the list waits. */
static bool is_free(struct marks *m, struct member *e)
{
	struct check w = { m, e, true };

	each_node(e->request, check_node, &w);
	return w.is_free && !m->no_memory;
}

static void add(struct marks *m, struct member *e)
{
	struct check w = { m, e, true };

	each_node(e->request, mark, &w);
}

static struct member *first_that_may_begin(struct locks *l)
{
	struct marks m = { .any = false };
	struct member *found = NULL;

	map_init(&m.nodes);
	list_each (i, &l->row) {
		struct member *e = list_entry(i, struct member, in_row);

		if (e->waits && is_free(&m, e)) {
			found = e;
			break;
		}
		add(&m, e);
	}
	map_done(&m.nodes);
	return found;
}

/* --- coming and going */

static void begin_those_that_may(void *arg);

static void leave(struct member *e)
{
	struct locks *l = e->l;

	list_del(&e->in_row);
	l->nlocked -= e->is_locked;
	l->nwaiting -= e->waits;
	if (e->waits)
		omis_request_free(e->request);
	loop_timer_free(e->timer);
	free(e);
	if (l->nwaiting)
		loop_job_post(l->loop, &l->next, begin_those_that_may, l);
}

static void on_done(void *arg, struct reply *r)
{
	struct member *e = arg;
	struct run_spec spec = e->spec;

	leave(e);
	spec.on_done(spec.arg, r);
}

/* Ends a request that has not begun. */
static void give_up(struct member *e, const char *why)
{
	struct reply *r = reply_new();

	if (r)
		reply_add(r, 0, NULL, STATUS_UNSPECIFIED_ERROR, why);
	on_done(e, r);
}

static void on_deadline(void *arg)
{
	give_up(arg, "not done: until its deadline other lists were active on its nodes");
}

static int begin(struct member *e, struct err *err)
{
	struct omis_request *request = e->request;
	struct run_spec spec = e->spec;

	spec.on_done = on_done;
	spec.arg = e;
	if (e->waits) {
		/* the view with the hosts that have connected since */
		spec.view = tool_view_now(spec.view.arg);
		spec.deadline = e->deadline - loop_now(e->l->loop);
		loop_timer_cancel(e->timer);
		e->waits = false;
		e->l->nwaiting--;
	}
	/* The run takes the request; e may be freed when this returns. */
	return executor_run(e->l->executor, &request, &spec, err);
}

static void begin_those_that_may(void *arg)
{
	struct locks *l = arg;
	struct member *e;

	while (l->nwaiting && (e = first_that_may_begin(l))) {
		struct omis_request *request = e->request;

		if (begin(e, NULL)) {
			omis_request_free(request);
			give_up(e, "no memory to begin");
		}
	}
}

static struct member *member_new(struct locks *l, struct omis_request *request,
				 const struct run_spec *spec)
{
	struct member *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->l = l;
	e->request = request;
	e->spec = *spec;
	e->is_locked = request->locked;
	e->deadline = loop_now(l->loop) + executor_bounded(spec->deadline);
	list_push_back(&l->row, &e->in_row);
	l->nlocked += e->is_locked;
	return e;
}

/* The request is not consumed: the caller owns it. */
static void forget(struct member *e)
{
	e->request = NULL;
	leave(e);
}

static int wait_for_it(struct member *e, struct err *err)
{
	struct locks *l = e->l;

	if (l->nwaiting >= LOCKS_WAITING_MAX)
		return err_set(err, ERR_AGAIN, "%d lists wait for those in braces already",
			       LOCKS_WAITING_MAX);
	e->timer = loop_timer_new(l->loop, on_deadline, e);
	if (!e->timer)
		return err_nomem(err);
	loop_timer_arm_at(e->timer, e->deadline);
	e->waits = true;
	l->nwaiting++;
	return 0;
}

/* Returns true if no earlier list conflicts with the newest. */
static bool may_begin(struct locks *l, struct member *e)
{
	struct marks m = { .any = false };
	bool yes;

	if (!l->nlocked)
		return true;
	map_init(&m.nodes);
	list_each (i, &l->row)
		if (i != &e->in_row)
			add(&m, list_entry(i, struct member, in_row));
	yes = is_free(&m, e);
	map_done(&m.nodes);
	return yes;
}

int locks_run(struct locks *l, struct omis_request **request, const struct run_spec *spec,
	      struct err *e)
{
	struct member *m;
	int rc;

	if (spec->flags & MSG_REQUEST_OUTCOME)
		/* The request has no effect on any host. */
		return executor_run(l->executor, request, spec, e);
	m = member_new(l, *request, spec);
	if (!m)
		return err_nomem(e);
	rc = may_begin(l, m) ? begin(m, e) : wait_for_it(m, e);
	if (rc)
		forget(m);
	else
		*request = NULL;
	return rc;
}

/* on_done may free the owner: it is not used after that. */
void locks_cancel(struct locks *l, struct list *owner)
{
	struct member *e;

	executor_cancel(l->executor, owner);
	do {
		e = NULL;
		list_each (i, &l->row) {
			struct member *k = list_entry(i, struct member, in_row);

			if (k->waits && k->spec.owner == owner)
				e = k;
		}
		if (e)
			on_done(e, NULL);
	} while (e);
}
