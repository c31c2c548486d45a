/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional requests whose events the kernel notes, a ring for each thread. */
#include "common/base/log.h"
#include "common/base/timebase.h"
#include "lm/csr/csr_source.h"
#include "lm/host/perf.h"

#include <stdlib.h>

struct perf_site {
	struct list link;
	struct csr *csr;
	struct proc *proc;
	int32_t tid;
	bool was_blocked;
	struct perf *perf; /* owned */
};

static bool is_addr(const struct csr *c)
{
	return c->kind == CSR_ADDR;
}

bool csr_is_perf(const struct csr *c)
{
	return c->kind >= CSR_ADDR && c->kind <= CSR_UNBLOCKED;
}

static bool is_meant(const struct csr *c, struct perf_site *s, const struct perf_record *r)
{
	bool was_blocked = s->was_blocked;

	s->was_blocked = r->is_out && !r->is_preempted;
	switch (c->kind) {
	case CSR_ADDR:
		return true;
	case CSR_SCHEDULED:
		return !r->is_out;
	case CSR_DESCHEDULED:
		return r->is_out;
	case CSR_BLOCKED:
		return s->was_blocked;
	default:
		return !r->is_out && was_blocked;
	}
}

static void on_record(void *arg, const struct perf_record *r)
{
	struct perf_site *s = arg;
	struct csr *c = s->csr;
	const struct csrs_conf *conf = &c->owner->conf;
	nsec_t now = loop_now(conf->loop);

	if (r->lost) {
		csr_lose(c, r->lost);
		return;
	}
	if (is_meant(c, s, r))
		csr_fire(c,
			 &(struct happening){ .proc = s->proc,
					      .thread = proc_find_tid(s->proc, s->tid),
					      .never_holds = true, /* it has gone on since, too */
					      .time = timebase_at(conf->timebase,
								  r->time < now ? r->time : now) });
}

/* An event may end its own condition: each site is looked for again. */
void csr_perf_poll(struct csr *c)
{
	list_each_safe (i, &c->perf) {
		struct perf_site *s = list_entry(i, struct perf_site, link);

		perf_read(s->perf, on_record, s);
	}
}

static bool has_site(const struct csr *c, int32_t tid)
{
	list_each (i, &c->perf)
		if (list_entry(i, struct perf_site, link)->tid == tid)
			return true;
	return false;
}

static int add_site(struct csr *c, struct proc *p, int32_t tid, struct err *e)
{
	struct perf_site *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_nomem(e);
	rc = perf_open(tid, is_addr(c) ? PERF_ADDR : PERF_SWITCH, (uint64_t)c->number_wanted,
		       &s->perf, e);
	if (rc < 0) {
		free(s);
		return rc;
	}
	s->csr = c;
	s->proc = p;
	s->tid = tid;
	list_push_back(&c->perf, &s->link);
	return 0;
}

void csr_perf_arm_thread(struct csr *c, struct proc *p, const struct proc_thread *t,
			 struct reply *r)
{
	struct err e = { 0 };
	int rc;

	if (!p->held || has_site(c, t->tid) || !csr_is_for_thread(c, p, t))
		return;
	rc = add_site(c, p, t->tid, &e);
	if (rc == 0 || rc == -ERR_NOTFOUND)
		return;
	if (r)
		reply_add_error(r, 0, t->token.s, status_from_err(rc), "%s", e.text);
	else
		log_warn("lm", "a thread is not watched csr=%s tid=%d reason=\"%s\"", c->token,
			 (int)t->tid, e.text);
}

void csr_perf_arm(struct csr *c, struct reply *r)
{
	list_each (i, procs_all(c->owner->conf.procs)) {
		struct proc *p = list_entry(i, struct proc, link);

		if (p->held && csr_is_for_any_thread(c, p))
			for (size_t k = 0; k < p->nthread; k++)
				csr_perf_arm_thread(c, p, &p->thread[k], r);
	}
}

void csr_perf_disarm(struct csr *c, const struct proc *p, int32_t tid)
{
	list_each_safe (i, &c->perf) {
		struct perf_site *s = list_entry(i, struct perf_site, link);

		if ((p && s->proc != p) || (tid && s->tid != tid))
			continue;
		list_del(&s->link);
		perf_close(s->perf);
		free(s);
	}
}
