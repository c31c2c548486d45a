/* SPDX-License-Identifier: Apache-2.0 */
#include "common/route/arm.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/omis/text/arena.h"
#include "common/route/predicate.h"
#include "common/route/objects.h"

#include <stdlib.h>
#include <string.h>

struct arm {
	struct route_objects objects;
	struct arm_part *part;
	size_t npart;
};

/* True for context parameters whose object is at the place of the event. */
static bool is_of_event(const char *ecp)
{
	static const char *const names[] = { "node", "proc", "thread", "new_proc", "new_thread" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(ecp, names[i]))
			return true;
	return false;
}

static int object_is_below(struct arm *a, const char *token, uint32_t branch, bool *below)
{
	const struct route_view *view = a->objects.view;
	struct route_places where = { .arena = a->objects.arena };
	const char *missing = NULL;
	int rc = view->locate(view->arg, token, view->arming, &where, &missing);

	*below = !rc && !missing && where.n == 1 && where.branch[0] == branch;
	return rc == -ERR_NOTFOUND ? 0 : rc;
}

static int value_is_local(struct arm *a, const struct omis_value *v, uint32_t branch, bool *local)
{
	*local = false;
	if (v->kind == OMIS_ECP)
		*local = is_of_event(v->s.p);
	else if (v->kind == OMIS_TOKEN)
		return object_is_below(a, v->s.p, branch, local);
	return 0;
}

/*
 * Sets *local if all objects are on this branch. An empty list means all attached objects on all
 * hosts.
 */
static int call_is_local(struct arm *a, const struct omis_call *call, uint32_t branch, bool *local)
{
	const struct omis_service *s = call->service;
	const struct omis_value *v;
	int rc = 0;

	*local = false;
	if ((s->where != OMIS_AT_NODE && s->where != OMIS_AT_RANK) || s->object_param < 0)
		return 0;
	/* A counter is incremented in the rank in which the event occurs. */
	*local = s->where == OMIS_AT_RANK;
	if (*local)
		return 0;
	v = &call->param[s->object_param];
	if (v->kind != OMIS_LIST)
		return value_is_local(a, v, branch, local);
	*local = v->list.n > 0;
	for (size_t i = 0; !rc && *local && i < v->list.n; i++)
		rc = value_is_local(a, &v->list.v[i], branch, local);
	return rc;
}

static int count_local(struct arm *a, const struct omis_request *r, uint32_t branch, uint32_t *out)
{
	bool local = true;
	uint32_t n = 0;
	int rc = 0;

	/* Skips leading predicates; a predicate behind another action is evaluated at mainsm. */
	while (n < r->naction && predicate_is(&r->action[n]))
		n++;
	while (!rc && n < r->naction) {
		/* mainsm executes a list in braces, except for counters in the rank. */
		if (r->locked && r->action[n].service->where != OMIS_AT_RANK)
			break;
		rc = call_is_local(a, &r->action[n], branch, &local);
		if (!local)
			break;
		n++;
	}
	*out = n;
	return rc;
}

static int print_text(struct arm *a, const struct omis_request *r,
		      const struct route_tokens *tokens, struct arm_part *part)
{
	struct omis_request actions = *r;
	struct buf b = BUF_INIT(ROUTE_TEXT_MAX_BYTES);
	int rc = 0;

	actions.event = NULL;
	objects_print_call(&b, r->event, tokens);
	omis_print_request(&b, &actions);
	if (b.failed)
		rc = route_objects_text_failure(&a->objects, &b);
	else
		part->text = arena_copy(a->objects.arena, b.p, b.n);
	part->ntext = b.n;
	buf_done(&b);
	return rc ? rc : part->text ? 0 : -ERR_NOMEM;
}

static int make_parts(struct arm *a, const struct omis_request *r, const struct places *places)
{
	int rc = 0;

	a->part = arena_array(a->objects.arena, places->n, sizeof(*a->part));
	if (!a->part)
		return -ERR_NOMEM;
	for (size_t i = 0; !rc && i < places->n; i++) {
		const struct branch_tokens *c = places->v[i];
		struct arm_part *part = &a->part[i];

		part->branch = c->branch;
		part->nobject = (uint32_t)c->tokens.n;
		rc = print_text(a, r, &c->tokens, part);
		if (!rc)
			rc = count_local(a, r, c->branch, &part->local_prefix);
	}
	a->npart = places->n;
	return rc;
}

static int split(struct arm *a, const struct omis_request *r, struct reply *into)
{
	struct route_tokens tokens;
	struct places places;
	int rc;

	if (r->event->service->where == OMIS_AT_TOP)
		return 0;
	rc = route_objects_of(&a->objects, r->event, 0, into, &tokens);
	if (!rc)
		rc = route_objects_locate(&a->objects, 0, &tokens, into, &places);
	return rc ? rc : make_parts(a, r, &places);
}

int arm_new(const struct omis_request *r, const struct route_view *view, struct reply *into,
	    struct arm **out, struct err *e)
{
	struct err why = { 0 };
	struct arm *a;
	int rc;

	if (!r->event || !r->event->service)
		return err_set(e, ERR_INVALID, "no event in a request to be armed");
	a = calloc(1, sizeof(*a));
	if (!a)
		return err_nomem(e);
	rc = route_objects_init(&a->objects, view);
	a->objects.e = &why;
	if (!rc)
		rc = split(a, r, into);
	a->objects.e = NULL;
	if (rc) {
		arm_free(a);
		if (why.code != (enum err_code)(-rc))
			err_set(&why, (enum err_code)(-rc), "a request cannot be armed: %s",
				err_name(rc));
		if (e)
			*e = why;
		return rc;
	}
	*out = a;
	return 0;
}

void arm_free(struct arm *a)
{
	if (!a)
		return;
	route_objects_done(&a->objects);
	free(a);
}

const struct arm_part *arm_part_at(const struct arm *a, size_t i)
{
	return i < a->npart ? &a->part[i] : NULL;
}
