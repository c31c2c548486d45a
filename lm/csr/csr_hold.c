/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds a process while the remote actions of its event run. It is held only if they change
 * something, and if the tool has that right. All holds have the same length, so the oldest expires
 * first.
 */
#include "common/base/log.h"
#include "lm/csr/csr_internal.h"
#include "lm/hold/holds.h"

#include <stdlib.h>
#include <string.h>

/* A separate suspend, besides those of tools. */
#define HOLD_TOOL 0
#define HOLD_THREAD 0

struct hold {
	struct list link;
	struct proc *proc;
	uint32_t csr;
	uint64_t seq;
	nsec_t until;
};

static void drop(struct csrs *s, struct hold *h)
{
	list_del(&h->link);
	s->nhold--;
	free(h);
}

static void arm_timer(struct csrs *s)
{
	if (list_is_empty(&s->holds))
		loop_timer_cancel(s->hold_timer);
	else if (!loop_timer_is_armed(s->hold_timer))
		loop_timer_arm_at(s->hold_timer,
				  list_entry(list_first(&s->holds), struct hold, link)->until);
}

static void end(struct csrs *s, struct hold *h)
{
	holds_resume(s->conf.holds, h->proc, HOLD_THREAD, HOLD_TOOL, NULL);
	drop(s, h);
}

bool csr_hold(struct csr *c, struct proc *p, uint64_t seq)
{
	struct csrs *s = c->owner;
	struct hold *h;

	if (!c->holds || !p || !p->held || s->nhold >= HOLDS_MAX)
		return false;
	h = calloc(1, sizeof(*h));
	if (!h)
		return false;
	if (holds_suspend(s->conf.holds, p, HOLD_THREAD, HOLD_TOOL, NULL)) {
		free(h);
		return false;
	}
	h->proc = p;
	h->csr = c->number;
	h->seq = seq;
	h->until = loop_now(s->conf.loop) + HOLD_MAX_NS;
	list_push_back(&s->holds, &h->link);
	s->nhold++;
	arm_timer(s);
	return true;
}

void csr_release(struct csrs *s, uint32_t csr, uint64_t seq)
{
	list_each_safe (i, &s->holds) {
		struct hold *h = list_entry(i, struct hold, link);

		if (h->csr == csr && h->seq == seq) {
			end(s, h);
			break;
		}
	}
	arm_timer(s);
}

void csrs_release(struct csrs *s, const char *csr, uint64_t seq)
{
	struct token_parts parts;

	if (!token_parse(csr, strlen(csr), &parts) && parts.kind == TOKEN_CSR)
		csr_release(s, (uint32_t)parts.number, seq);
}

void csrs_release_all(struct csrs *s)
{
	list_each_safe (i, &s->holds)
		end(s, list_entry(i, struct hold, link));
	arm_timer(s);
}

/* The process has ended: its holds need no release. */
void csrs_forget_holds(struct csrs *s, const struct proc *p)
{
	list_each_safe (i, &s->holds) {
		struct hold *h = list_entry(i, struct hold, link);

		if (h->proc == p)
			drop(s, h);
	}
	arm_timer(s);
}

void csrs_on_hold_timer(void *arg)
{
	struct csrs *s = arg;
	nsec_t now = loop_now(s->conf.loop);

	list_each_safe (i, &s->holds) {
		struct hold *h = list_entry(i, struct hold, link);

		if (h->until > now)
			break;
		log_info("lm", "a held process was not released in time, it runs csr=c_%u pid=%d",
			 h->csr, (int)h->proc->pid);
		end(s, h);
	}
	arm_timer(s);
}
