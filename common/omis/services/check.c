/* SPDX-License-Identifier: Apache-2.0 */
#include "common/omis/services/check.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "common/omis/services/checking.h"
#include "common/omis/text/token.h"

#include <stdio.h>
#include <string.h>

static int fault(struct checking *c, enum status status, uint32_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int fault(struct checking *c, enum status status, uint32_t offset, const char *fmt, ...)
{
	char words[ERR_TEXT_BYTES - 24];
	va_list ap;

	if (!c->d)
		return -ERR_INVALID;
	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	c->d->action = c->action;
	c->d->status = status;
	c->d->offset = offset;
	err_set(&c->d->err, ERR_INVALID, "%s at offset %u", words, offset);
	err_at(&c->d->err, 0, offset + 1);
	return -ERR_INVALID;
}

static int no_memory(struct checking *c)
{
	if (c->d) {
		c->d->action = c->action;
		c->d->status = STATUS_NO_MEMORY;
		err_nomem(&c->d->err);
	}
	return -ERR_NOMEM;
}

static const char *kind_name(enum omis_kind kind)
{
	static const char *const names[] = { "an integer",
					     "a number",
					     "a string",
					     "a token",
					     "a binary value",
					     "a list",
					     "an event context parameter" };

	return names[kind];
}

static const char *type_name(enum omis_type type)
{
	static const char *const names[] = { "an integer", "a number",	     "a string",
					     "a token",	   "a binary value", "a value" };

	return names[type];
}

static int mismatch(struct checking *c, const struct omis_param *p, const struct omis_value *v)
{
	return fault(c, STATUS_TYPE_MISMATCH, v->offset, "parameter %s of %s takes %s%s, not %s",
		     p->name, c->call->name, p->list ? "a list; in it " : "", type_name(p->type),
		     kind_name(v->kind));
}

/* Sites, nodes, processes and threads are converted to each other; u_ is an unknown object. */
static bool class_fits(const struct omis_param *p, const struct omis_value *v)
{
	char class = token_class(v->s.p, v->s.n);
	bool related;

	if (!p->class || class == p->class || class == 'u')
		return true;
	if (class == 'a')
		return token_measure(v->s.p, v->s.n) == p->class;
	token_compare_class(class, p->class, &related);
	return related;
}

/* Checks the type of the five context parameters of every event. Others may have any type. */
static bool ecp_fits(const struct omis_param *p, const struct omis_value *v)
{
	static const struct {
		const char *name;
		enum omis_type type;
	} known[] = {
		{ "node", OMIS_T_TOKEN }, { "proc", OMIS_T_TOKEN }, { "thread", OMIS_T_TOKEN },
		{ "csr", OMIS_T_TOKEN },  { "time", OMIS_T_FLOAT },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(v->s.p, known[i].name))
			return p->type == known[i].type || p->type == OMIS_T_ANY;
	return true;
}

static int check_ecp(struct checking *c, const struct omis_param *p, const struct omis_value *v)
{
	if (!c->event)
		return fault(c, STATUS_UNKNOWN_ECP, v->offset,
			     "$%.40s outside the actions of an event", v->s.p);
	if (!omis_service_has_ecp(c->event, v->s.p, v->s.n))
		return fault(c, STATUS_UNKNOWN_ECP, v->offset, "%s has no $%.40s", c->event->name,
			     v->s.p);
	return p && !ecp_fits(p, v) ? mismatch(c, p, v) : 0;
}

/* A parameter of type ANY can only be wrong by its context parameters, at any depth. */
static int check_any(struct checking *c, const struct omis_value *v)
{
	int rc = 0;

	if (v->kind == OMIS_ECP)
		return check_ecp(c, NULL, v);
	for (size_t i = 0; v->kind == OMIS_LIST && !rc && i < v->list.n; i++)
		rc = check_any(c, &v->list.v[i]);
	return rc;
}

static int check_scalar(struct checking *c, const struct omis_param *p, struct omis_value *v)
{
	static const enum omis_kind kinds[] = { OMIS_INT, OMIS_FLOAT, OMIS_STRING, OMIS_TOKEN,
						OMIS_BINARY };

	if (p->type == OMIS_T_ANY)
		return check_any(c, v);
	if (v->kind == OMIS_ECP)
		return check_ecp(c, p, v);
	if (p->type == OMIS_T_FLOAT && v->kind == OMIS_INT) {
		v->f = (double)v->i;
		v->kind = OMIS_FLOAT;
	}
	if (p->type == OMIS_T_BINARY && v->kind == OMIS_STRING)
		v->kind = OMIS_BINARY;
	if (v->kind != kinds[p->type])
		return mismatch(c, p, v);
	if (p->is_flags && v->i < -1)
		return fault(c, STATUS_PARAMETER_ERROR, v->offset,
			     "%s of %s is a sum of bits, or -1 for all, not negative", p->name,
			     c->call->name);
	if (v->kind == OMIS_TOKEN && !class_fits(p, v))
		return fault(c, STATUS_TYPE_MISMATCH, v->offset,
			     "parameter %s of %s takes no object like %.40s", p->name,
			     c->call->name, v->s.p);
	return 0;
}

static int check_list(struct checking *c, const struct omis_param *p, struct omis_value *v)
{
	struct omis_value *one;
	int rc = 0;

	if (v->kind != OMIS_LIST) {
		one = arena_array(c->arena, 1, sizeof(*one));
		if (!one)
			return no_memory(c);
		*one = *v;
		v->kind = OMIS_LIST;
		v->list.v = one;
		v->list.n = 1;
	}
	for (size_t i = 0; !rc && i < v->list.n; i++)
		rc = check_scalar(c, p, &v->list.v[i]);
	return rc;
}

static int check_param(struct checking *c, const struct omis_param *p, struct omis_value *v)
{
	if (p->list)
		return check_list(c, p, v);
	if (v->kind == OMIS_LIST && v->list.n == 1 && p->type != OMIS_T_ANY)
		*v = v->list.v[0];
	return check_scalar(c, p, v);
}

/* Sets a default, which is a small integer or the empty list. */
static void set_default(const struct omis_param *p, uint32_t offset, struct omis_value *v)
{
	int64_t i;

	*v = (struct omis_value){ .kind = OMIS_LIST, .offset = offset };
	if (p->type == OMIS_T_STRING && !p->list) {
		*v = (struct omis_value){ .kind = OMIS_STRING, .offset = offset };
		v->s.p = ""; /* the only string default */
	} else if (!str_to_i64(p->def, INT32_MIN, INT32_MAX, &i)) {
		v->kind = OMIS_INT;
		v->i = i;
	}
}

static int fill_in(struct checking *c, struct omis_call *call, size_t nparam)
{
	struct omis_value *all = arena_array(c->arena, nparam, sizeof(*all));

	if (!all)
		return no_memory(c);
	memcpy(all, call->param, call->nparam * sizeof(*all));
	for (size_t i = call->nparam; i < nparam; i++)
		set_default(&call->service->param[i], call->offset, &all[i]);
	call->param = all;
	call->nparam = nparam;
	return 0;
}

static int check_params(struct checking *c, struct omis_call *call)
{
	size_t n = omis_service_nparam(call->service);
	int rc = 0;

	if (call->nparam > n || (call->nparam < n && !call->service->param[call->nparam].def))
		return fault(c, STATUS_PARAMETER_ERROR, call->offset,
			     "%s takes %zu parameter%s, not %zu,", call->name, n, n == 1 ? "" : "s",
			     call->nparam);
	if (call->nparam < n)
		rc = fill_in(c, call, n);
	for (size_t i = 0; !rc && i < n; i++)
		rc = check_param(c, &call->service->param[i], &call->param[i]);
	return rc;
}

static int unknown_service(struct checking *c, const struct omis_call *call)
{
	struct nearest near = nearest_to(call->name);

	for (size_t i = 0; i < omis_service_count(); i++)
		if (!(omis_service_at(i)->flags & OMIS_INTERNAL))
			nearest_try(&near, omis_service_at(i)->name);
	for (size_t i = 0; added_services_at(c->added, i); i++)
		nearest_try(&near, added_services_at(c->added, i)->s.name);
	return fault(c, STATUS_UNKNOWN_SERVICE, call->offset, "there is no service '%.40s'%s%s%s",
		     call->name, near.best ? "; did you mean " : "", near.best ? near.best : "",
		     near.best ? "?" : "");
}

/* Converts a checked call of a plug-in's service to a call of the service that carries it. */
static int carry(struct checking *c, struct omis_call *call, const struct added_service *a)
{
	struct omis_value *all = arena_array(c->arena, ADDED_PARAMS, sizeof(*all));

	if (!all)
		return no_memory(c);
	all[ADDED_OBJECTS] = call->param[0];
	all[ADDED_NAME] = (struct omis_value){ .kind = OMIS_STRING, .offset = call->offset };
	all[ADDED_NAME].s.p = call->name;
	all[ADDED_NAME].s.n = strlen(call->name);
	all[ADDED_VALUES] = (struct omis_value){ .kind = OMIS_LIST, .offset = call->offset };
	all[ADDED_VALUES].list.v = &call->param[1];
	all[ADDED_VALUES].list.n = call->nparam - 1;
	call->service = added_service_carrier(a);
	call->name = call->service->name;
	call->param = all;
	call->nparam = ADDED_PARAMS;
	return 0;
}

static int check_added(struct checking *c, struct omis_call *call, const struct added_service *a,
		       bool as_event)
{
	int rc;

	if (as_event)
		return fault(c, STATUS_TYPE_MISMATCH, call->offset,
			     "%s is not an event service and cannot stand before the ':'",
			     call->name);
	call->service = &a->s;
	rc = check_params(c, call);
	return rc ? rc : carry(c, call, a);
}

/*
 * True if the service is known. Internal services are known to daemons only, and in calls that this
 * check has converted.
 */
static bool is_known(const struct checking *c, const struct omis_call *call,
		     const struct omis_service *s)
{
	return s && (!(s->flags & OMIS_INTERNAL) || c->inner || call->service == s);
}

int check_call(struct checking *c, struct omis_call *call, bool as_event)
{
	const struct omis_service *s = omis_service_find(call->name, strlen(call->name));
	const struct added_service *a = s ? NULL : added_services_find(c->added, call->name);

	c->call = call;
	if (a)
		return check_added(c, call, a, as_event);
	if (!is_known(c, call, s))
		return unknown_service(c, call);
	if ((s->class == OMIS_EVENT) != as_event)
		return fault(c, STATUS_TYPE_MISMATCH, call->offset,
			     as_event ? "%s is not an event service and cannot stand before the ':'"
				      : "%s is an event service, not an action,",
			     call->name);
	if (s->where == OMIS_AT_EVENT && !c->event && !c->inner)
		return fault(c, STATUS_TYPE_MISMATCH, call->offset,
			     "%s is a predicate of events and needs one in front of the ':'",
			     call->name);
	if (s->state == OMIS_UNSUPPORTED)
		return fault(c, STATUS_UNSUPPORTED_SERVICE, call->offset,
			     "%s is not supported here", call->name);
	call->service = s;
	return check_params(c, call);
}

int omis_check(struct omis_request *r, struct omis_diag *d)
{
	return omis_check_added(r, NULL, d);
}

int omis_check_added(struct omis_request *r, const struct added_services *added,
		     struct omis_diag *d)
{
	struct checking c = { .arena = r->arena, .d = d, .inner = r->inner, .added = added };
	int rc = 0;

	if (r->event) {
		rc = check_call(&c, r->event, true);
		c.event = r->event->service;
	}
	for (size_t i = 0; !rc && i < r->naction; i++) {
		c.action = (unsigned)i + 1;
		rc = check_call(&c, &r->action[i], false);
	}
	return rc;
}

int omis_read_inner(const char *p, size_t n, struct omis_request **out, struct omis_diag *d)
{
	struct omis_request *r = NULL;
	struct omis_diag own;
	int rc;

	if (!d)
		d = &own;
	*d = (struct omis_diag){ 0 };
	rc = omis_parse_inner(p, n, &r, &d->err);
	if (rc)
		d->status = rc == -ERR_PARSE ? STATUS_SYNTAX_ERROR : status_from_err(rc);
	else
		rc = omis_check(r, d);
	if (rc)
		omis_request_free(r);
	else
		*out = r;
	return rc;
}
