/* SPDX-License-Identifier: Apache-2.0 */
#include "common/route/plan.h"

#include "common/base/err.h"
#include "common/omis/text/arena.h"
#include "common/omis/text/token.h"
#include "common/route/objects.h"
#include "common/route/rights.h"

#include <stdlib.h>
#include <string.h>

/* A part while it grows. */
struct part {
	struct plan_part p;
	struct buf text;
	uint32_t *action;
	size_t cap;
};

struct plan {
	const struct omis_request *r;
	struct plan_conf conf;
	struct route_objects objects;
	size_t next; /* index of the first action that is in no step yet */
	bool stale; /* the last step has changed the tool's scope */
	struct part **part; /* parts of the current step, in the order of their first objects */
	size_t npart, cap;
	struct part **by_branch; /* view->nbranch entries */
	struct plan_step step;
};

int plan_new(const struct omis_request *r, const struct route_view *view,
	     const struct plan_conf *conf, struct plan **out, struct err *e)
{
	struct plan *p;

	for (size_t i = 0; i < r->naction; i++)
		if (!r->action[i].service)
			return err_set(e, ERR_INVALID, "a request that was not checked");
	p = calloc(1, sizeof(*p));
	if (!p)
		return err_nomem(e);
	p->r = r;
	p->conf = *conf;
	if (!route_objects_init(&p->objects, view))
		p->by_branch = arena_array(p->objects.arena, view->nbranch, sizeof(*p->by_branch));
	if (!p->by_branch) {
		plan_free(p);
		return err_nomem(e);
	}
	p->objects.outcome = conf->outcome;
	*out = p;
	return 0;
}

/* Drops texts that have not become a part of a step. */
static void drop_parts(struct plan *p)
{
	for (size_t i = 0; i < p->npart; i++) {
		buf_done(&p->part[i]->text);
		p->by_branch[p->part[i]->p.branch] = NULL;
	}
	p->npart = 0;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	drop_parts(p);
	route_objects_done(&p->objects);
	free(p->part);
	free(p);
}

static uint32_t number_of(const struct plan *p, size_t i)
{
	return p->conf.numbers ? p->conf.numbers[i] : (uint32_t)i + 1;
}

static struct part *part_of(struct plan *p, uint32_t branch)
{
	struct part *part = p->by_branch[branch];
	struct part **grown;

	if (part)
		return part;
	if (p->npart == p->cap) {
		grown = reallocarray(p->part, p->cap ? 2 * p->cap : 8, sizeof(*grown));
		if (!grown)
			return NULL;
		p->part = grown;
		p->cap = p->cap ? 2 * p->cap : 8;
	}
	part = arena_alloc(p->objects.arena, sizeof(*part));
	if (!part)
		return NULL;
	part->p.branch = branch;
	buf_init(&part->text, ROUTE_TEXT_MAX_BYTES);
	buf_puts(&part->text, p->r->locked ? ":{" : ":");
	p->part[p->npart++] = part;
	p->by_branch[branch] = part;
	return part;
}

static int note_action(struct plan *p, struct part *part, uint32_t action)
{
	size_t cap = part->cap ? 2 * part->cap : 4;
	uint32_t *grown;

	if (part->p.naction == part->cap) {
		grown = arena_array(p->objects.arena, cap, sizeof(*grown));
		if (!grown)
			return -ERR_NOMEM;
		if (part->p.naction)
			memcpy(grown, part->action, part->p.naction * sizeof(*grown));
		part->action = grown;
		part->cap = cap;
	}
	part->action[part->p.naction++] = action;
	return 0;
}

/* tokens NULL: the call is unchanged, and has no particular objects. */
static int send_to(struct plan *p, uint32_t branch, const struct omis_call *call, uint32_t action,
		   const struct route_tokens *tokens)
{
	struct part *part = part_of(p, branch);
	int rc;

	if (!part)
		return -ERR_NOMEM;
	rc = note_action(p, part, action);
	if (rc)
		return rc;
	if (part->p.naction > 1)
		buf_putc(&part->text, ' ');
	objects_print_call(&part->text, call, tokens);
	part->p.nobject += tokens ? (uint32_t)tokens->n : 0;
	return 0;
}

static int send_all(struct plan *p, const struct omis_call *call, uint32_t action)
{
	int rc = 0;

	for (uint32_t branch = 0; !rc && branch < p->objects.view->nbranch; branch++)
		rc = send_to(p, branch, call, action, NULL);
	return rc;
}

static int send_objects(struct plan *p, const struct omis_call *call, uint32_t action,
			const struct route_tokens *of, struct reply *into)
{
	struct places places;
	int rc = route_objects_locate(&p->objects, action, of, into, &places);

	for (size_t i = 0; !rc && i < places.n; i++)
		rc = send_to(p, places.v[i]->branch, call, action, &places.v[i]->tokens);
	return rc;
}

/* Adds an action for branches. */
static int add_below(struct plan *p, const struct omis_call *call, uint32_t action,
		     struct reply *into)
{
	struct route_tokens tokens;
	int rc;

	if (call->service->object_param < 0)
		return reply_add_error(into, action, "", STATUS_PARAMETER_ERROR,
				       "%s names no object", call->name);
	rc = route_objects_of(&p->objects, call, action, into, &tokens);
	return rc ? rc : send_objects(p, call, action, &tokens, into);
}

/* Copies the call with `tokens` as its object parameter; a removed scalar leaves an empty list. */
static int replace_objects(struct plan *p, struct omis_call *call,
			   const struct route_tokens *tokens)
{
	struct arena *arena = p->objects.arena;
	struct omis_value *param = arena_array(arena, call->nparam, sizeof(*param));
	struct omis_value *list = arena_array(arena, tokens->n, sizeof(*list));
	struct omis_value *v;

	if (!param || !list)
		return -ERR_NOMEM;
	memcpy(param, call->param, call->nparam * sizeof(*param));
	v = &param[call->service->object_param];
	for (size_t i = 0; i < tokens->n; i++) {
		list[i] = (struct omis_value){ .kind = OMIS_TOKEN, .offset = v->offset };
		list[i].s.p = tokens->v[i];
		list[i].s.n = strlen(tokens->v[i]);
	}
	if (v->kind == OMIS_LIST) {
		v->list.v = list;
		v->list.n = tokens->n;
	} else if (tokens->n) {
		*v = list[0];
	}
	call->param = param;
	return 0;
}

static bool is_in_hierarchy(char class)
{
	bool related;

	token_compare_class(class, class, &related);
	return related;
}

static int here_objects(struct plan *p, struct plan_here *here, struct omis_call *call,
			struct reply *into)
{
	const struct omis_service *s = call->service;
	struct route_tokens tokens;
	int rc = route_objects_of(&p->objects, call, here->action, into, &tokens);

	if (!rc && s->where == OMIS_AT_EACH)
		rc = send_objects(p, call, here->action, &tokens, into);
	else if (!rc && is_in_hierarchy(s->object))
		rc = route_objects_existing(&p->objects, here->action, &tokens, into);
	if (!rc)
		rc = replace_objects(p, call, &tokens);
	here->nobject = tokens.n;
	return rc;
}

/* Adds an action for this daemon. */
static int add_here(struct plan *p, size_t i, struct reply *into)
{
	struct plan_here *here = arena_alloc(p->objects.arena, sizeof(*here));
	struct omis_call *call = arena_alloc(p->objects.arena, sizeof(*call));
	const struct omis_service *s = p->r->action[i].service;
	int rc = 0;

	if (!here || !call)
		return -ERR_NOMEM;
	*call = p->r->action[i];
	here->action = number_of(p, i);
	here->call = call;
	if (s->object_param >= 0 && !(s->flags & OMIS_RAW))
		rc = here_objects(p, here, call, into);
	else if (s->where == OMIS_AT_EACH)
		rc = send_all(p, call, here->action);
	if (rc)
		return rc;
	if (s->where == OMIS_AT_TOP) {
		into->coverage.asked += (uint32_t)here->nobject;
		into->coverage.answered += (uint32_t)here->nobject;
	}
	p->stale = s->flags & OMIS_SCOPE;
	p->step.here = here;
	return 0;
}

static int refuse(const struct plan *p, const struct omis_call *call, uint32_t action,
		  struct reply *into)
{
	const struct omis_service *s = call->service;

	struct err e = { 0 };

	if (!route_may_call(p->conf.right, call)) {
		route_denied(call, &e);
		return reply_add(into, action, "", STATUS_NO_PERMISSION, e.text);
	}
	return reply_add_error(into, action, "", STATUS_INTERNAL_ERROR, "%s is not for this daemon",
			       s->name);
}

static bool is_of_top(const struct omis_service *s)
{
	return s->where == OMIS_AT_TOP || s->where == OMIS_AT_EVENT;
}

static bool is_here(const struct omis_service *s)
{
	return is_of_top(s) || s->where == OMIS_AT_EACH;
}

/* Adds actions until the step is complete. */
static int build(struct plan *p, struct reply *into)
{
	int rc = 0;

	for (; !rc && p->next < p->r->naction && !p->step.here; p->next++) {
		const struct omis_call *call = &p->r->action[p->next];
		const struct omis_service *s = call->service;
		bool here = is_here(s);

		if (p->npart && (here || call->barrier))
			break;
		if (!route_may_call(p->conf.right, call) || (is_of_top(s) && !p->conf.top))
			rc = refuse(p, call, number_of(p, p->next), into);
		else if (here)
			rc = add_here(p, p->next, into);
		else
			rc = add_below(p, call, number_of(p, p->next), into);
	}
	return rc;
}

static int close_part(struct plan *p, struct part *part)
{
	struct buf *b = &part->text;

	if (p->r->locked)
		buf_putc(b, '}');
	if (b->failed)
		return route_objects_text_failure(&p->objects, b);
	part->p.text = arena_copy(p->objects.arena, b->p, b->n);
	part->p.ntext = b->n;
	part->p.action = part->action;
	return part->p.text ? 0 : -ERR_NOMEM;
}

static int close_parts(struct plan *p)
{
	struct plan_part *v = arena_array(p->objects.arena, p->npart, sizeof(*v));
	int rc = v ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < p->npart; i++) {
		rc = close_part(p, p->part[i]);
		v[i] = p->part[i]->p;
	}
	p->step.part = v;
	p->step.npart = p->npart;
	return rc;
}

static int make_step(struct plan *p, struct reply *into, const struct plan_step **step)
{
	struct plan_step *made;
	int rc = build(p, into);

	if (!rc)
		rc = close_parts(p);
	drop_parts(p);
	if (rc)
		return rc;
	made = arena_alloc(p->objects.arena, sizeof(*made));
	if (!made)
		return -ERR_NOMEM;
	*made = p->step;
	*step = made->here || made->npart ? made : NULL;
	return 0;
}

int plan_next(struct plan *p, struct reply *into, const struct plan_step **step, struct err *e)
{
	struct err why = { 0 };
	int rc;

	if (p->stale)
		route_objects_forget(&p->objects);
	p->stale = false;
	p->step = (struct plan_step){ 0 };
	p->objects.e = &why;
	rc = make_step(p, into, step);
	p->objects.e = NULL;
	if (rc && why.code != (enum err_code)(-rc))
		err_set(&why, (enum err_code)(-rc), "a request cannot be planned: %s",
			err_name(rc));
	if (rc && e)
		*e = why;
	return rc;
}

int plan_abandon(struct plan *p, const char *reason, struct reply *into)
{
	int rc = 0;

	for (; !rc && p->next < p->r->naction; p->next++)
		rc = reply_add_error(into, number_of(p, p->next), "", STATUS_UNSPECIFIED_ERROR,
				     "%s", reason);
	return rc;
}
