/* SPDX-License-Identifier: Apache-2.0 */
/* Handles an event: runs the local actions, then reports to the parent. */
#include "common/base/limits.h"
#include "common/time/timebase.h"
#include "lm/csr/csr_internal.h"
#include "tree/wire.h"

#include <stdlib.h>
#include <string.h>

#define ECPS_MAX (6 + OMIS_PAR_ECPS)
#define TOKEN_UNKNOWN "u_0"

/*
 * A firing whose actions are not finished. The event's data are stored as text, because the event
 * itself is over.
 */
struct firing {
	struct list link;
	struct csr *csr;
	struct task *task; /* NULL before it waits */
	struct omis_request *bound; /* owned; NULL without local actions */
	uint64_t seq;
	nsec_t time;
	struct token proc, thread;
	/* owned: values of parameters for the actions of the daemons above */
	struct buf text[OMIS_PAR_ECPS];
	uint32_t index[OMIS_PAR_ECPS];
	size_t npar;
	unsigned depth; /* depth of the cause of the event */
	bool is_held; /* the process, until a daemon above is responsible for its release */
	bool is_over; /* the reply arrived before task_start() returned */
};

static void firing_free(struct firing *f)
{
	list_del(&f->link);
	if (f->is_held)
		csr_release(f->csr->owner, f->csr->number, f->seq);
	task_cancel(f->task);
	omis_request_free(f->bound);
	for (size_t i = 0; i < f->npar; i++)
		buf_done(&f->text[i]);
	free(f);
}

void csrs_cancel_firings(struct csrs *s, const struct csr *c)
{
	list_each_safe (i, &s->firings) {
		struct firing *f = list_entry(i, struct firing, link);

		if (f->csr == c)
			firing_free(f);
	}
}

static void drop(struct csr *c)
{
	csr_lose(c, 1);
}

/* True if a firing is reported: not if all actions are executed in the rank. */
static bool is_reported(const struct csr *c)
{
	return c->reply || c->prefix < c->request->naction;
}

void csr_drop_firings(struct csr *c, const struct csr *old)
{
	list_each (i, &c->owner->firings)
		if (list_entry(i, struct firing, link)->csr == old)
			drop(c);
}

static bool has_errors(const struct reply *r)
{
	return r && reply_status(r) != STATUS_OK;
}

/* True for a loop of events: no action is executed here, and mainsm disables the csr. */
static bool is_too_deep(const struct firing *f)
{
	return f->depth >= CAUSAL_DEPTH_MAX;
}

/* See csrs_conf.send. */
static int csr_send_triggered(const struct csrs *s, const struct msg_triggered *m)
{
	return s->conf.send(s->conf.arg, &(struct msg){ .type = MSG_TRIGGERED, .triggered = *m });
}

static void report(struct firing *f, const struct reply *r)
{
	struct csr *c = f->csr;
	struct msg_entry *entry = NULL;
	struct msg_par par[OMIS_PAR_ECPS];
	size_t nentry = 0;

	if (!is_reported(c) && !has_errors(r) && !is_too_deep(f))
		return;
	if (r && r->nentry) {
		entry = calloc(r->nentry, sizeof(*entry));
		if (!entry) {
			drop(c);
			return;
		}
		nentry = wire_entries(r, 0, entry, r->nentry);
	}
	for (size_t i = 0; i < f->npar; i++)
		par[i] = (struct msg_par){ f->index[i], { f->text[i].p, f->text[i].n } };
	if (csr_send_triggered(c->owner, &(struct msg_triggered){
						 .csr = c->token,
						 .tool = c->tool,
						 .seq = f->seq,
						 .time_ns = f->time,
						 .node = procs_node_token(c->owner->conf.procs),
						 .proc = f->proc.s,
						 .thread = f->thread.s,
						 .par = par,
						 .npar = f->npar,
						 .entry = entry,
						 .nentry = nentry,
						 .dropped = c->dropped,
						 .held = f->is_held,
						 .depth = f->depth }) < 0) {
		drop(c);
	} else {
		c->dropped = 0;
		f->is_held = false;
	}
	free(entry);
}

void csr_report_suspended(struct csr *c, const struct proc *p, const char *why)
{
	struct csrs_conf *conf = &c->owner->conf;
	uint32_t last = (uint32_t)c->request->naction;
	struct reply *r = reply_new();
	struct msg_entry entry[1];

	if (!r)
		return;
	/* Sent as the result of the last action: no action is left for the daemons above. */
	reply_add_error(r, last, p->token.s, STATUS_OS_ERROR, "suspended in this process: %s", why);
	if (csr_send_triggered(c->owner,
			       &(struct msg_triggered){
				       .csr = c->token,
				       .tool = c->tool,
				       .seq = ++c->seq,
				       .time_ns = timebase_at(conf->timebase, loop_now(conf->loop)),
				       .node = procs_node_token(conf->procs),
				       .proc = p->token.s,
				       .thread = "",
				       .entry = entry,
				       .nentry = wire_entries(r, 0, entry, 1),
				       .dropped = c->dropped }) == 0)
		c->dropped = 0;
	reply_free(r);
}

static void on_done(void *arg, struct reply *r)
{
	struct firing *f = arg;

	f->task = NULL;
	report(f, r);
	reply_free(r);
	f->is_over = true;
	/* If called within start(), the firing is not in a list yet, and start() frees it. */
	if (!list_is_empty(&f->link))
		firing_free(f);
}

static void set_token(struct omis_value *v, const char *s)
{
	v->kind = OMIS_TOKEN;
	v->s.p = *s ? s : TOKEN_UNKNOWN;
	v->s.n = strlen(v->s.p);
}

static const char *const par_name[OMIS_PAR_ECPS] = { "par0",  "par1",  "par2",	"par3",
						     "par4",  "par5",  "par6",	"par7",
						     "par8",  "par9",  "par10", "par11",
						     "par12", "par13", "par14", "par15" };

static struct omis_value value_of(const struct happening *h, unsigned k)
{
	struct omis_value v = { .kind = OMIS_INT, .i = h->par[k] };

	if (h->floats >> k & 1) {
		v.kind = OMIS_FLOAT;
		memcpy(&v.f, &h->par[k], sizeof(v.f));
	} else if (h->unsigneds >> k & 1 && h->par[k] < 0) {
		v.kind = OMIS_FLOAT; /* beyond the whole numbers of the language */
		v.f = (double)(uint64_t)h->par[k];
	}
	return v;
}

static size_t set_ecps(const struct csr *c, const struct happening *h, struct omis_ecp e[ECPS_MAX])
{
	size_t n = 0;

	memset(e, 0, ECPS_MAX * sizeof(*e));
	e[n].name = "node";
	set_token(&e[n++].value, procs_node_token(c->owner->conf.procs));
	e[n].name = "proc";
	set_token(&e[n++].value, h->proc ? h->proc->token.s : "");
	e[n].name = "thread";
	set_token(&e[n++].value, h->thread ? h->thread->token.s : "");
	e[n].name = "csr";
	set_token(&e[n++].value, c->token);
	e[n].name = "time";
	e[n].value.kind = OMIS_FLOAT;
	e[n++].value.f = (double)h->time / 1e9;
	if (h->own_name) {
		e[n].name = h->own_name;
		if (h->own_bytes) {
			e[n].value.kind = OMIS_BINARY;
			e[n].value.s.p = h->own_bytes;
			e[n].value.s.n = h->own_nbytes;
		} else if (h->own_token)
			set_token(&e[n].value, h->own_token);
		else
			e[n].value = (struct omis_value){ .kind = OMIS_INT, .i = h->own_number };
		n++;
	}
	if (h->has_result)
		e[n++] = (struct omis_ecp){ par_name[0], { .kind = OMIS_INT, .i = h->par[1] } };
	for (unsigned k = 1; k <= h->npar && k < OMIS_PAR_ECPS; k++)
		e[n++] = (struct omis_ecp){ par_name[k], value_of(h, k - 1) };
	return n;
}

/*
 * Parameters that the rest of the actions may use; an event's own token has number 1. A probe's $vt
 * is $par1, and the parent has it.
 */
static void keep_pars(struct firing *f, const struct omis_ecp *e, size_t n)
{
	for (size_t i = 5; i < n && f->npar < OMIS_PAR_ECPS; i++) {
		int k = omis_par_number(e[i].name, strlen(e[i].name));

		if (k < 0 && csr_ops(f->csr)->own_is_par1)
			continue;
		buf_init(&f->text[f->npar], NAME_MAX_BYTES);
		omis_print_value(&f->text[f->npar], &e[i].value);
		f->index[f->npar++] = k < 0 ? 1 : (uint32_t)k;
	}
}

/* All local actions were executed in the rank; the parent continues after them. */
static void report_done(struct firing *f)
{
	size_t first = predicates_leading(f->csr->predicates), end = f->csr->prefix;
	struct reply *r = first < end ? reply_new() : NULL;

	for (size_t i = first; r && i < end; i++)
		reply_add(r, (uint32_t)i + 1, NULL, STATUS_OK, NULL);
	if (first < end && !r)
		drop(f->csr);
	else
		report(f, r);
	reply_free(r);
}

static bool runs_here(const struct csr *c, const struct happening *h)
{
	for (size_t i = predicates_leading(c->predicates); i < c->prefix; i++)
		if (!h->skip || !h->skip[i])
			return true;
	return false;
}

static void start(struct csr *c, struct firing *f, const struct happening *h,
		  const struct omis_ecps *ecps)
{
	size_t first = predicates_leading(c->predicates);
	uint32_t number[CSR_ACTIONS_MAX];
	struct omis_diag d = { 0 };
	struct reply *r;
	int rc;

	for (size_t i = first; i < c->prefix; i++)
		number[i - first] = (uint32_t)i + 1;
	rc = omis_bind(&(struct omis_part){ c->request, first, c->prefix - first }, ecps, &f->bound,
		       &d);
	if (rc) {
		r = reply_new();
		if (r)
			reply_add_error(r, d.action, "",
					d.status ? d.status : STATUS_INTERNAL_ERROR, "%s",
					d.err.text);
		report(f, r);
		reply_free(r);
		firing_free(f);
		return;
	}
	rc = task_start(c->owner->conf.tasks,
			&(struct task_spec){ .request = f->bound,
					     .number = number,
					     .skip = h->skip ? h->skip + first : NULL,
					     .tool = c->tool,
					     .identity = c->identity,
					     .csr = c->token,
					     .depth = f->depth + 1,
					     .right = c->right,
					     .proc = h->proc,
					     .on_done = on_done,
					     .arg = f },
			&f->task);
	if (rc)
		drop(c);
	if (rc || f->is_over)
		firing_free(f);
	else
		list_push_back(&c->owner->firings, &f->link);
}

/*
 * Detects loops of events whose actions cause events here. Counting has no effect on the program.
 */
static bool is_too_often(struct csr *c)
{
	nsec_t second = loop_now(c->owner->conf.loop) / NSEC_PER_SEC;

	if (!is_reported(c))
		return false;
	if (second != c->window) {
		c->window = second;
		c->in_window = 0;
	}
	return ++c->in_window > TOOL_FIRINGS_PER_SEC_MAX;
}

static struct firing *firing_new(struct csr *c, const struct happening *h)
{
	struct firing *f;

	c->seq++;
	c->owner->fired++;
	f = is_too_often(c) ? NULL : calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	list_init(&f->link);
	f->csr = c;
	f->seq = c->seq;
	f->time = h->time;
	f->depth = h->depth;
	if (h->proc)
		f->proc = h->proc->token;
	if (h->thread)
		f->thread = h->thread->token;
	return f;
}

void csr_fire(struct csr *c, const struct happening *h)
{
	struct omis_ecp e[ECPS_MAX];
	struct firing *f;
	size_t n;

	n = set_ecps(c, h, e);
	if (!predicates_pass(c->predicates, &(struct omis_ecps){ e, n },
			     loop_now(c->owner->conf.loop)))
		return;
	f = c->is_parting && is_reported(c) ? NULL : firing_new(c, h);
	if (!f) {
		drop(c);
		return;
	}
	if (c->rest_uses_pars)
		keep_pars(f, e, n);
	if (is_too_deep(f)) {
		report(f, NULL);
		firing_free(f);
		return;
	}
	f->is_held = !h->never_holds && csr_hold(c, h->proc, f->seq);
	if (runs_here(c, h)) {
		start(c, f, h, &(struct omis_ecps){ e, n });
		return;
	}
	report_done(f);
	firing_free(f);
}
