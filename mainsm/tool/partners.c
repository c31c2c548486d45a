/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/tool/partners.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/services/catalogue.h"
#include "common/omis/text/arena.h"

#include <stdlib.h>
#include <string.h>

/* OMIS_OBJECTS_MAX values and as many more */
#define PARTNERS_HEAP_MAX_BYTES (16 * 1024 * 1024)

/* The ranks of the objects that were named so far. */
struct ranks {
	const struct tool_view *view;
	const char *job; /* NULL = of any */
	int32_t *v;
	size_t n, cap;
};

static const struct object *find(const struct tool_view *v, const struct omis_value *token)
{
	const struct object *o =
		token->kind == OMIS_TOKEN ? directory_find(v->directory, token->s.p) : NULL;

	return o && scope_has(v->scope, o) ? o : NULL;
}

/*
 * "pid-N" means that a process found no launcher: other processes of its world have different
 * names.
 */
static bool says_job(const struct object *proc)
{
	return proc->job[0] && strncmp(proc->job, "pid-", 4) != 0;
}

/* The job of all objects in the list; NULL: unknown, or more than one. */
static const char *job_of(const struct tool_view *v, const struct omis_value *list)
{
	const char *job = NULL;

	for (size_t i = 0; list->kind == OMIS_LIST && i < list->list.n; i++) {
		const struct object *o = find(v, &list->list.v[i]);

		o = o ? object_container(o, OBJECT_PROC) : NULL;
		if (!o || !says_job(o) || (job && !str_eq(job, o->job)))
			return NULL;
		job = o->job;
	}
	return job;
}

static int add_proc(struct ranks *r, const struct object *proc)
{
	int rc;

	if (proc->rank < 0 || (r->job && says_job(proc) && !str_eq(r->job, proc->job)))
		return 0;
	rc = array_grow(&r->v, &r->cap, r->n + 1, sizeof(*r->v), OMIS_OBJECTS_MAX);
	if (!rc)
		r->v[r->n++] = proc->rank;
	return rc;
}

/* Recursion: sites, nodes, processes. */
static int add_inside(struct ranks *r, const struct object *o)
{
	int rc = 0;

	if (!scope_has(r->view->scope, o))
		return 0;
	if (o->kind == OBJECT_PROC)
		return o->state == MSG_STATE_ENDED ? 0 : add_proc(r, o);
	list_each (i, &o->children) {
		rc = add_inside(r, list_entry(i, struct object, sibling));
		if (rc)
			break;
	}
	return rc;
}

static int add_token(struct ranks *r, const struct omis_value *token, struct reply *faults)
{
	const struct object *o = find(r->view, token);
	const struct object *proc = o ? object_container(o, OBJECT_PROC) : NULL;
	size_t before = r->n;
	int rc = 0;

	if (proc)
		rc = add_proc(r, proc);
	else if (o)
		rc = add_inside(r, o);
	if (rc || r->n > before)
		return rc;
	return reply_add_error(faults, 0, token->s.p, STATUS_UNKNOWN_OBJECT,
			       o ? "no partner of the event: no MPI process of its job"
				 : "there is no such partner");
}

static void sort(struct ranks *r)
{
	size_t kept = 0;

	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), array_order_int32);
	for (size_t i = 0; i < r->n; i++)
		if (!kept || r->v[kept - 1] != r->v[i])
			r->v[kept++] = r->v[i];
	r->n = kept;
}

/* Writes the new list: the values that were not tokens, then the ranks. */
static int write_list(struct partners *p, const struct ranks *r, struct omis_value *list)
{
	struct omis_value *v = arena_array(p->arena, list->list.n + r->n, sizeof(*v));
	size_t n = 0;

	if (!v)
		return -ERR_NOMEM;
	for (size_t i = 0; i < list->list.n; i++)
		if (list->list.v[i].kind != OMIS_TOKEN)
			v[n++] = list->list.v[i];
	for (size_t i = 0; i < r->n; i++)
		v[n++] = (struct omis_value){ .kind = OMIS_INT, .i = r->v[i] };
	p->none = list->list.n && !n;
	list->list.v = v;
	list->list.n = n;
	return 0;
}

static int replace(struct partners *p, const struct tool_view *v, struct omis_value *list,
		   struct reply *faults)
{
	struct ranks r = { .view = v,
			   .job = job_of(v, &p->event.param[p->event.service->object_param]) };
	int rc = 0;

	for (size_t i = 0; !rc && i < list->list.n; i++)
		if (list->list.v[i].kind == OMIS_TOKEN)
			rc = add_token(&r, &list->list.v[i], faults);
	sort(&r);
	if (!rc)
		rc = write_list(p, &r, list);
	free(r.v);
	return rc;
}

static int copy_params(struct partners *p)
{
	struct omis_value *param = arena_array(p->arena, p->event.nparam, sizeof(*param));

	if (!param)
		return -ERR_NOMEM;
	memcpy(param, p->event.param, p->event.nparam * sizeof(*param));
	p->event.param = param;
	return 0;
}

int partners_open(struct partners *p, const struct tool_view *v, const struct omis_call *event,
		  struct reply *faults)
{
	size_t at = 0;
	int rc;

	*p = (struct partners){ .event = *event };
	while (at < event->nparam && !event->service->param[at].is_ranks)
		at++;
	if (at == event->nparam || event->param[at].kind != OMIS_LIST)
		return 0;
	p->arena = arena_new(PARTNERS_HEAP_MAX_BYTES);
	rc = p->arena ? copy_params(p) : -ERR_NOMEM;
	return rc ? rc : replace(p, v, &p->event.param[at], faults);
}

void partners_close(struct partners *p)
{
	arena_free(p->arena);
	p->arena = NULL;
}
