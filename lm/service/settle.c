/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/service/settle.h"

#include "common/base/str.h"
#include "common/loop/loop.h"
#include "lm/hold/stand.h"
#include "lm/hold/holds.h"

#include <signal.h>
#include <stdlib.h>

#define SIGNAL_BIT(sig) (UINT64_C(1) << ((sig)-1))

/* Signals without a default effect. */
#define HARMLESS \
	(SIGNAL_BIT(SIGCHLD) | SIGNAL_BIT(SIGURG) | SIGNAL_BIT(SIGWINCH) | SIGNAL_BIT(SIGCONT))
#define STOPPING \
	(SIGNAL_BIT(SIGSTOP) | SIGNAL_BIT(SIGTSTP) | SIGNAL_BIT(SIGTTIN) | SIGNAL_BIT(SIGTTOU))

/* One object, from its signal to its entry. */
struct waiting {
	struct token token, proc;
	struct settle_goal interest;
	/* its member `state` is the last one of the thread for which the service waits */
	struct stand stand;
	bool is_pending, has_ended, is_over;
};

struct settling {
	struct task *task;
	struct settle_on on;
	struct procs *procs;
	struct loop *loop;
	struct loop_timer *timer;
	nsec_t until, step;
	unsigned looks; /* left in this turn */
	size_t n, left, at; /* at: the object to examine first */
	struct waiting one[];
};

static void settling_free(void *arg)
{
	struct settling *s = arg;

	loop_timer_free(s->timer);
	free(s);
}

/* --- looking */

static char state_of(const struct settling *s, const struct proc *p, int32_t tid)
{
	struct host_figures f;

	if (host_thread_figures(s->on.host, p->pid, tid, HOST_FIGURES_STAT, &f))
		return 'X';
	return f.state;
}

static bool runs(struct settling *s, struct waiting *w, const struct proc *p)
{
	w->stand.state = state_of(s, p, p->pid);
	return holds_has(s->on.holds, p) || w->stand.state != 't';
}

/* A stop may change from pending to stopped between two reads: it is examined twice. */
static bool is_taken(struct settling *s, struct waiting *w, const struct proc *p)
{
	uint64_t bit = SIGNAL_BIT(w->interest.sig);
	struct host_figures f;
	int rc;

	if (w->interest.tid)
		rc = host_thread_figures(s->on.host, p->pid, w->interest.tid,
					 HOST_FIGURES_STAT | HOST_FIGURES_SIGNALS, &f);
	else
		rc = host_figures(s->on.host, p->pid, HOST_FIGURES_STAT | HOST_FIGURES_SIGNALS, &f,
				  NULL);
	if (rc || !f.has_signals)
		return !rc;
	w->stand.state = f.state;
	w->is_pending = f.sig_pending & bit && !(f.sig_blocked & bit);
	if (w->is_pending)
		return false;
	if ((f.sig_blocked | f.sig_ignored | f.sig_caught | HARMLESS) & bit)
		return true;
	if (!(bit & STOPPING) || w->stand.is_second)
		return bit & STOPPING;
	w->stand.is_second = true;
	return f.state == 'T';
}

static bool is_over(struct settling *s, struct waiting *w)
{
	const struct proc *p = procs_find(s->procs, w->proc.s, strlen(w->proc.s));

	w->has_ended = !p || !p->held;
	if (w->has_ended)
		return true;
	if (!s->looks)
		return false;
	s->looks--;
	switch (w->interest.what) {
	case SETTLE_STOPPED: /* a process continued since then need not stop */
		return !holds_has(s->on.holds, p) ||
		       stand_poll(s->on.host, p->pid, &w->stand, &s->looks);
	case SETTLE_RUNNING:
		return runs(s, w, p);
	default:
		return is_taken(s, w, p);
	}
}

/* Objects not polled in this turn are first in the next. */
static void look(struct settling *s)
{
	size_t first = s->at;

	s->looks = STAND_POLLS_MAX;
	for (size_t i = 0; i < s->n && s->looks; i++) {
		struct waiting *w = &s->one[(first + i) % s->n];

		s->at = (first + i) % s->n;
		if (w->is_over || !is_over(s, w))
			continue;
		w->is_over = true;
		s->left--;
	}
}

static void on_timer(void *arg)
{
	struct settling *s = arg;

	look(s);
	if (!s->left || loop_now(s->loop) >= s->until) {
		task_go_on(s->task);
		return;
	}
	loop_timer_arm(s->timer, s->step);
	s->step = s->step * 2 < SETTLE_STEP_MAX_NS ? s->step * 2 : SETTLE_STEP_MAX_NS;
}

/* --- answering */

static const char *why_late(const struct waiting *w)
{
	if (w->stand.state == 'D')
		return "it sleeps in the kernel where no signal reaches it";
	if (w->stand.state == 't')
		return "another program traces it";
	return "it has not had a processor since";
}

/* Returns why an object is not yet as requested; "": it is. */
static const char *late_words(const struct waiting *w)
{
	if (w->is_over)
		return "";
	switch (w->interest.what) {
	case SETTLE_STOPPED:
		return "it has not stopped yet, and will: ";
	case SETTLE_RUNNING:
		return "it is continued, and does not run: ";
	default: /* the handler of a program may take long */
		return w->is_pending ? "the signal is sent, and not taken yet: " : "";
	}
}

/* Returns 1 if no entry is needed: it is as requested. */
static int add_entry(struct service_call *c, const struct waiting *w)
{
	const char *words = late_words(w);

	if (w->has_ended && w->interest.what == SETTLE_STOPPED)
		return reply_add_error(c->reply, c->action, w->token.s, STATUS_UNKNOWN_OBJECT,
				       "the process has ended");
	if (!*words)
		return 1;
	return reply_add_error(c->reply, c->action, w->token.s, STATUS_OS_ERROR | STATUS_FATAL,
			       "%s%s", words, why_late(w));
}

static int add_entries(struct service_call *c, struct settling *s)
{
	struct objects good = { .v = calloc(s->n + 1, sizeof(*good.v)) };
	int got = good.v ? 0 : -ERR_NOMEM;

	for (size_t i = 0; got >= 0 && i < s->n; i++) {
		got = add_entry(c, &s->one[i]);
		if (got > 0)
			good.v[good.n++].token = s->one[i].token.s;
	}
	if (got >= 0)
		got = call_add_ok(c, &good);
	objects_done(&good);
	return got;
}

/* --- acting */

static int act(struct service_call *c, struct settling *s, const struct object *o, settle_fn fn)
{
	struct waiting *w = &s->one[s->n];
	struct err e = { 0 };
	int got;

	*w = (struct waiting){ .proc = o->proc->token };
	str_copy(w->token.s, sizeof(w->token.s), o->token);
	got = fn(c, o, &w->interest, &e);
	if (got < 0)
		return call_add_failure(c, o->token, got, &e);
	s->n++;
	return 0;
}

static int settling_new(struct service_call *c, const struct settle_on *on, size_t n,
			struct settling **out)
{
	struct settling *s = calloc(1, sizeof(*s) + n * sizeof(s->one[0]));

	if (!s)
		return -ERR_NOMEM;
	s->task = c->task;
	s->on = *on;
	s->procs = c->procs;
	s->loop = c->loop;
	s->timer = loop_timer_new(c->loop, on_timer, s);
	if (!s->timer) {
		free(s);
		return -ERR_NOMEM;
	}
	*out = s;
	return 0;
}

static int begin(struct service_call *c, struct settling *s)
{
	s->left = s->n;
	s->step = STAND_FIRST_NS;
	s->until = loop_now(c->loop) + SETTLE_MAX_NS;
	look(s);
	if (!s->left)
		return add_entries(c, s);
	loop_timer_arm(s->timer, s->step);
	return SERVICE_WAITS;
}

int settle_each(struct service_call *c, const struct settle_on *on, char class, settle_fn fn)
{
	struct settling *s = NULL;
	struct objects o = { 0 };
	int rc;

	if (c->retry)
		return add_entries(c, task_kept(c->task));
	rc = call_resolve(c, class, &o);
	if (!rc)
		rc = settling_new(c, on, o.n, &s);
	if (s)
		task_keep(c->task, s, settling_free);
	for (size_t i = 0; !rc && i < o.n; i++)
		rc = act(c, s, &o.v[i], fn);
	objects_done(&o);
	return !rc ? begin(c, s) : rc;
}
