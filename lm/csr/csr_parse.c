/* SPDX-License-Identifier: Apache-2.0 */
/* What a conditional request waits for. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/route/event.h"
#include "lm/csr/csr_events.h"
#include "lm/csr/csr_internal.h"
#include "lm/csr/csr_source.h"

#include <stdlib.h>
#include <string.h>

static const struct event_kind {
	const char *service;
	enum csr_kind kind;
	enum call_phase phase;
	bool is_patop;
} kinds[] = {
	{ "patop_lib_call_ended", CSR_CALL, CALL_END, true },
	{ "patop_lib_call_started", CSR_CALL, CALL_START, true },
	{ "proc_has_been_continued", CSR_PROC_CONTINUED, CALL_START, false },
	{ "proc_has_been_descheduled", CSR_DESCHEDULED, CALL_START, false },
	{ "proc_has_been_scheduled", CSR_SCHEDULED, CALL_START, false },
	{ "proc_has_been_stopped", CSR_PROC_STOPPED, CALL_START, false },
	{ "proc_has_terminated", CSR_PROC_END, CALL_START, false },
	{ "thread_creates_proc", CSR_NEW_PROC, CALL_START, false },
	{ "thread_creates_thread", CSR_NEW_THREAD, CALL_START, false },
	{ "thread_has_been_continued", CSR_THREAD_CONTINUED, CALL_START, false },
	{ "thread_has_been_stopped", CSR_THREAD_STOPPED, CALL_START, false },
	{ "thread_executes_probe", CSR_PROBE, CALL_START, false },
	{ "thread_has_ended_lib_call", CSR_CALL, CALL_END, false },
	{ "thread_has_started_lib_call", CSR_CALL, CALL_START, false },
	{ "thread_has_been_descheduled", CSR_DESCHEDULED, CALL_START, false },
	{ "thread_has_been_scheduled", CSR_SCHEDULED, CALL_START, false },
	{ "thread_has_been_unblocked", CSR_UNBLOCKED, CALL_START, false },
	{ "thread_has_blocked", CSR_BLOCKED, CALL_START, false },
	{ "thread_has_ended_sys_call", CSR_SYSCALL_END, CALL_END, false },
	{ "thread_has_started_sys_call", CSR_SYSCALL_START, CALL_START, false },
	{ "thread_reached_addr", CSR_ADDR, CALL_START, false },
	{ "thread_writes_events", CSR_EVENTS, CALL_START, false },
	{ "thread_received_signal", CSR_SIGNAL, CALL_START, false },
	{ "thread_has_terminated", CSR_THREAD_END, CALL_START, false },
};

static const struct event_kind *find_kind(const char *service)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(kinds[i].service, service))
			return &kinds[i];
	return NULL;
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

/* Its end was an event when it happened; there will be no other. */
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
	for (size_t i = 0; rc >= 0 && i < list->list.n; i++) {
		size_t n = 0;
		const char *token = omis_value_text(&list->list.v[i], &n);

		if (!token || token_parse(token, n, &parts) < 0 ||
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
	if (rc >= 0 && names.n)
		rc = reply_add(r, 0, buf_str(&names), STATUS_OK, NULL);
	buf_done(&names);
	return rc;
}

/* A partner is a rank of the world, or a process of this host. */
static int read_partner(const struct csr *c, const struct omis_value *v, int32_t *out)
{
	const struct proc *p;
	const char *token;
	int64_t rank;
	size_t n;

	if (omis_value_i64(v, &rank)) {
		*out = (int32_t)rank;
		return rank >= 0 && rank <= INT32_MAX ? 0 : -ERR_INVALID;
	}
	token = omis_value_text(v, &n);
	p = token ? procs_find(c->owner->conf.procs, token, n) : NULL;
	if (!p || p->own.rank < 0)
		return -ERR_INVALID;
	*out = p->own.rank;
	return 0;
}

static int compare_ranks(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static int read_partners(struct csr *c, const struct omis_value *list, struct reply *r)
{
	c->partner = calloc(list->list.n + 1, sizeof(*c->partner));
	if (!c->partner)
		return -ERR_NOMEM;
	for (size_t i = 0; i < list->list.n; i++) {
		if (read_partner(c, &list->list.v[i], &c->partner[c->npartner]) < 0) {
			reply_add_error(
				r, 0, "", STATUS_PARAMETER_ERROR,
				"partner %zu is neither a rank nor an MPI process of this host",
				i + 1);
			return -ERR_INVALID;
		}
		c->npartner++;
	}
	if (c->npartner)
		qsort(c->partner, c->npartner, sizeof(*c->partner), compare_ranks);
	return 0;
}

static int read_filters(struct csr *c, const struct omis_call *event, struct reply *r)
{
	c->func = call_find(omis_value_text(&event->param[1], NULL));
	return c->is_patop ? read_partners(c, &event->param[2], r) : 0;
}

struct wanting {
	const struct csr *c;
	const char *unknown; /* a parameter that the event never has */
};

static void want_par(void *arg, const char *name)
{
	struct wanting *w = arg;
	int k = omis_par_number(name, strlen(name));
	unsigned most = csr_pars(w->c);

	if (k < 0 || w->c->kind != CSR_CALL)
		return;
	if (w->c->is_patop)
		most = w->c->phase == CALL_START ? 2 : 1;
	else if (k == 0 && w->c->phase == CALL_END)
		return;
	if (k < 1 || (unsigned)k > most)
		w->unknown = name;
}

/* A filter that could never pass is a mistake, and one that nobody would notice. */
static int read_tests(struct csr *c, struct reply *r)
{
	struct wanting w = { .c = c };
	struct err e = { 0 };
	int rc = filters_new(c->request, &c->filters, &e);

	if (rc == -ERR_INVALID)
		reply_from_diag(r, STATUS_PARAMETER_ERROR, &e);
	for (size_t i = 0; rc == 0 && i < filters_leading(c->filters); i++)
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
	const struct event_kind *k = find_kind(event->name);
	struct err e = { 0 };
	int rc = 0;

	if (!k) {
		reply_add_error(r, 0, "", STATUS_UNSUPPORTED_SERVICE,
				"a host cannot watch for %.80s", event->name);
		return -ERR_UNSUPPORTED;
	}
	if (event_check(event, &e) < 0) {
		reply_add_error(r, 0, "", STATUS_PARAMETER_ERROR, "%s", e.text);
		return -ERR_INVALID;
	}
	c->kind = k->kind;
	c->phase = k->phase;
	c->is_patop = k->is_patop;
	if (c->kind == CSR_CALL)
		rc = read_filters(c, event, r);
	else if (c->kind == CSR_PROBE)
		rc = csr_read_probe(c, &event->param[1]);
	else if (c->kind == CSR_EVENTS)
		rc = csr_events_read(c, event, r);
	else
		rc = csr_source_read(c, event);
	if (rc == 0)
		rc = read_tests(c, r);
	return rc < 0 ? rc : read_objects(c, &event->param[0], r);
}

/* "a,b,c": those of this host. */
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

	for (size_t i = 0; rc == 0 && names.n && i < n; i++)
		if (!r->entry[i].objects[0])
			rc = reply_add_n(r, 0, buf_str(&names), r->entry[i].status,
					 r->entry[i].value, r->entry[i].nvalue);
	if (rc == 0 && names.n) {
		size_t left = 0;

		for (size_t i = 0; i < r->nentry; i++)
			if (r->entry[i].objects[0])
				r->entry[left++] = r->entry[i];
		r->nentry = left;
	}
	buf_done(&names);
	return rc;
}
