/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/omis/services/checking.h"
#include "common/omis/text/lex.h"

#include <string.h>

struct binding {
	struct arena *arena; /* arena of the new request */
	const struct omis_ecps *ecps;
	const char *unknown; /* name of a context parameter without a value */
	uint32_t offset; /* its offset in the text */
};

static const struct omis_value *find_ecp(struct binding *b, const struct omis_value *v)
{
	for (size_t i = 0; i < b->ecps->n; i++)
		if (str_eq(b->ecps->v[i].name, v->s.p))
			return &b->ecps->v[i].value;
	b->unknown = v->s.p;
	b->offset = v->offset;
	return NULL;
}

/*
 * Returns the number of values that a list has after splicing; 0 also if a context parameter is
 * unknown.
 */
static size_t spliced_length(struct binding *b, const struct omis_value *list)
{
	const struct omis_value *v;
	size_t n = 0;

	for (size_t i = 0; i < list->list.n; i++) {
		v = &list->list.v[i];
		if (v->kind == OMIS_ECP)
			v = find_ecp(b, v);
		if (!v)
			return 0;
		n += list->list.v[i].kind == OMIS_ECP && v->kind == OMIS_LIST ? v->list.n : 1;
	}
	return n;
}

static int copy_value(struct binding *b, const struct omis_value *from, struct omis_value *to);

static int copy_list(struct binding *b, const struct omis_value *from, struct omis_value *to)
{
	size_t n = spliced_length(b, from), at = 0;
	int rc = b->unknown ? -ERR_INVALID : 0;

	to->list.v = arena_array(b->arena, n, sizeof(*to->list.v));
	to->list.n = n;
	if (!to->list.v)
		return -ERR_NOMEM;
	for (size_t i = 0; !rc && i < from->list.n; i++) {
		const struct omis_value *v = &from->list.v[i];
		const struct omis_value *ecp = v->kind == OMIS_ECP ? find_ecp(b, v) : NULL;

		if (ecp && ecp->kind == OMIS_LIST)
			for (size_t k = 0; !rc && k < ecp->list.n; k++)
				rc = copy_value(b, &ecp->list.v[k], &to->list.v[at++]);
		else
			rc = copy_value(b, v, &to->list.v[at++]);
	}
	return rc;
}

/*
 * The recursion is as deep as the parser, or the maker of the context parameters, permitted, and
 * one level more.
 */
static int copy_value(struct binding *b, const struct omis_value *from, struct omis_value *to)
{
	uint32_t offset = from->offset;

	if (from->kind == OMIS_ECP)
		from = find_ecp(b, from);
	if (!from)
		return -ERR_INVALID;
	*to = *from;
	to->offset = offset;
	if (from->kind == OMIS_INT || from->kind == OMIS_FLOAT)
		return 0;
	if (from->kind == OMIS_LIST)
		return copy_list(b, from, to);
	to->s.p = arena_copy(b->arena, from->s.p, from->s.n);
	return to->s.p ? 0 : -ERR_NOMEM;
}

static int copy_call(struct binding *b, const struct omis_call *from, struct omis_call *to)
{
	int rc = 0;

	*to = *from;
	to->service = NULL;
	to->name = arena_copy(b->arena, from->name, strlen(from->name));
	to->param = arena_array(b->arena, from->nparam, sizeof(*to->param));
	if (!to->name || !to->param)
		return -ERR_NOMEM;
	for (size_t i = 0; !rc && i < from->nparam; i++)
		rc = copy_value(b, &from->param[i], &to->param[i]);
	return rc;
}

static int refuse(const struct binding *b, const struct omis_call *call, unsigned action, int rc,
		  struct omis_diag *d)
{
	if (!d)
		return rc;
	d->action = action;
	d->status = rc == -ERR_NOMEM ? STATUS_NO_MEMORY : STATUS_UNKNOWN_ECP;
	d->offset = b->unknown ? b->offset : call->offset;
	if (rc == -ERR_NOMEM)
		return err_nomem(&d->err);
	return err_set(&d->err, ERR_INVALID, "$%.40s has no value in this event, at offset %u",
		       b->unknown ? b->unknown : "?", d->offset);
}

static int bind_action(struct binding *b, const struct omis_request *from, size_t i,
		       struct omis_call *to, struct omis_diag *d)
{
	struct checking c = { .arena = b->arena, .d = d, .inner = true, .action = (unsigned)i + 1 };
	int rc = copy_call(b, &from->action[i], to);

	return rc ? refuse(b, &from->action[i], c.action, rc, d) : check_call(&c, to, false);
}

static int bind_all(struct binding *b, const struct omis_request *from, size_t first,
		    struct omis_request *to, struct omis_diag *d)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < to->naction; i++)
		rc = bind_action(b, from, first + i, &to->action[i], d);
	if (!rc && to->naction)
		to->action[0].barrier = false;
	return rc;
}

int omis_bind(const struct omis_part *part, const struct omis_ecps *ecps, struct omis_request **out,
	      struct omis_diag *d)
{
	const struct omis_request *r = part->of;
	size_t first = part->first < r->naction ? part->first : r->naction;
	size_t rest = r->naction - first, count = part->count < rest ? part->count : rest;
	struct binding b = { .ecps = ecps, .arena = arena_new(LEX_HEAP_MAX_BYTES) };
	struct omis_request *bound;
	int rc;

	if (!b.arena)
		return refuse(&b, r->action, 0, -ERR_NOMEM, d);
	bound = arena_alloc(b.arena, sizeof(*bound));
	rc = -ERR_NOMEM;
	if (bound) {
		*bound = (struct omis_request){
			.naction = count, .locked = r->locked, .inner = true, .arena = b.arena
		};
		bound->action = arena_array(b.arena, count, sizeof(*bound->action));
	}
	if (!bound || !bound->action)
		refuse(&b, r->action, 0, rc, d);
	else
		rc = bind_all(&b, r, first, bound, d);
	if (rc)
		arena_free(b.arena);
	else
		*out = bound;
	return rc;
}

static void each_ecp(const struct omis_value *v, void (*fn)(void *arg, const char *name), void *arg)
{
	if (v->kind == OMIS_ECP)
		fn(arg, v->s.p);
	for (size_t i = 0; v->kind == OMIS_LIST && i < v->list.n; i++)
		each_ecp(&v->list.v[i], fn, arg);
}

void omis_call_ecps(const struct omis_call *c, void (*fn)(void *arg, const char *name), void *arg)
{
	for (size_t i = 0; i < c->nparam; i++)
		each_ecp(&c->param[i], fn, arg);
}
