/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the event of a conditional request. */
#include "common/base/limits.h"
#include "common/route/event.h"
#include "lm/csr/csr_internal.h"

#include <stdlib.h>
#include <string.h>

static bool find_kind(struct csr *c, const char *service)
{
	const struct csrs *s = c->owner;

	for (size_t i = 0; i < s->conf.nsource; i++)
		for (const struct event_kind *k = s->source[i].ops->kind; k->service; k++)
			if (!strcmp(k->service, service)) {
				c->source = &s->source[i];
				c->kind = k;
				return true;
			}
	return false;
}

static bool is_here(const struct procs *s, const struct token_parts *parts, const char *token,
		    size_t n)
{
	const struct proc_thread *t;

	if (parts->number != procs_node(s))
		return false;
	switch (parts->kind) {
	case TOKEN_NODE:
		return true;
	case TOKEN_PROCESS:
		return procs_find(s, token, n) != NULL;
	case TOKEN_THREAD:
		return procs_find_thread(s, token, n, &t) != NULL;
	default:
		return false;
	}
}

/* True if the object has ended. Its end cannot be an event again. */
static bool has_ended(const struct procs *s, const struct token_parts *parts, const char *token,
		      size_t n)
{
	const struct proc *p = parts->kind == TOKEN_PROCESS ? procs_find(s, token, n) : NULL;

	return p && !p->held;
}

static bool is_ours(const struct csr *c, const char *token, size_t n)
{
	uint32_t node;

	return token && token_node(token, n, &node) && node == procs_node(c->owner->conf.procs);
}

static int refuse_object(struct csr *c, const char *token, size_t n, const char *why,
			 struct reply *r)
{
	return reply_add_error(r, 0, is_ours(c, token, n) ? token : "", STATUS_UNKNOWN_OBJECT, "%s",
			       why);
}

static int read_objects(struct csr *c, const struct omis_value *list, struct reply *r)
{
	struct buf names = BUF_INIT(FRAME_MAX_BYTES);
	const struct procs *s = c->owner->conf.procs;
	struct token_parts parts;
	int rc = 0;

	c->object = calloc(list->list.n + 1, sizeof(*c->object));
	if (!c->object)
		return -ERR_NOMEM;
	for (size_t i = 0; !rc && i < list->list.n; i++) {
		size_t n = 0;
		const char *token = omis_value_text(&list->list.v[i], &n);

		if (!token || token_parse(token, n, &parts) ||
		    (!c->owner->is_restoring && !is_here(s, &parts, token, n))) {
			rc = refuse_object(c, token, n, "there is no such object", r);
			continue;
		}
		if (has_ended(s, &parts, token, n)) {
			rc = refuse_object(c, token, n, "the process has ended", r);
			continue;
		}
		c->object[c->nobject++] = (struct csr_object){ parts.kind, parts.id };
		buf_printf(&names, "%s%s", names.n ? "," : "", token);
	}
	if (!rc && names.n)
		rc = reply_add(r, 0, buf_str(&names), STATUS_OK, NULL);
	buf_done(&names);
	return rc;
}

struct wanting {
	const struct csr *c;
	const char *unknown; /* a parameter that the event never has */
};

static void want_par(void *arg, const char *name)
{
	struct wanting *w = arg;
	int k = omis_par_number(name, strlen(name));
	bool (*has_par)(const struct csr *, int) = csr_ops(w->c)->has_par;

	if (k >= 0 && has_par && !has_par(w->c, k))
		w->unknown = name;
}

/*
 * Reads the predicates. One that could never pass is an error, because nothing else would show the
 * mistake.
 */
static int read_tests(struct csr *c, struct reply *r)
{
	struct wanting w = { .c = c };
	struct err e = { 0 };
	int rc = predicates_new(c->request, &c->predicates, &e);

	if (rc == -ERR_INVALID)
		reply_from_diag(r, STATUS_PARAMETER_ERROR, &e);
	for (size_t i = 0; !rc && i < predicates_leading(c->predicates); i++)
		omis_call_ecps(&c->request->action[i], want_par, &w);
	if (!w.unknown)
		return rc;
	reply_add_error(r, 0, "", STATUS_UNKNOWN_ECP, "%s never has a $%.40s",
			c->request->event->name, w.unknown);
	return -ERR_INVALID;
}

int csr_read_event(struct csr *c, struct reply *r)
{
	const struct omis_call *event = c->request->event;
	struct err e = { 0 };
	int rc = 0;

	if (!find_kind(c, event->name)) {
		reply_add_error(r, 0, "", STATUS_UNSUPPORTED_SERVICE,
				"a host cannot watch for %.80s", event->name);
		return -ERR_UNSUPPORTED;
	}
	if (event_check(event, &e) < 0) {
		reply_add_error(r, 0, "", STATUS_PARAMETER_ERROR, "%s", e.text);
		return -ERR_INVALID;
	}
	c->phase = c->kind->phase;
	c->is_patop = c->kind->is_patop;
	if (csr_ops(c)->read)
		rc = csr_ops(c)->read(c, event, r);
	if (!rc)
		rc = read_tests(c, r);
	return rc ? rc : read_objects(c, &event->param[0], r);
}

/* Writes "a,b,c": the objects of this host. */
static int print_objects(const struct csr *c, struct buf *out)
{
	const struct omis_value *list =
		c->request && c->request->event ? &c->request->event->param[0] : NULL;

	for (size_t i = 0; list && list->kind == OMIS_LIST && i < list->list.n; i++) {
		size_t n = 0;
		const char *token = omis_value_text(&list->list.v[i], &n);

		if (is_ours(c, token, n))
			buf_printf(out, "%s%s", out->n ? "," : "", token);
	}
	return out->failed ? -ERR_NOMEM : 0;
}

int csr_name_refused(const struct csr *c, struct reply *r)
{
	struct buf names = BUF_INIT(FRAME_MAX_BYTES);
	size_t n = r->nentry;
	int rc = print_objects(c, &names);

	for (size_t i = 0; !rc && names.n && i < n; i++)
		if (!r->entry[i].objects[0])
			rc = reply_add_n(r, 0, buf_str(&names), r->entry[i].status,
					 bytes_at(r->entry[i].value, r->entry[i].nvalue));
	if (!rc && names.n) {
		size_t left = 0;

		for (size_t i = 0; i < r->nentry; i++)
			if (r->entry[i].objects[0])
				r->entry[left++] = r->entry[i];
		r->nentry = left;
	}
	buf_done(&names);
	return rc;
}
