/* SPDX-License-Identifier: Apache-2.0 */
/* Controls processes and threads: signals, stops, suspends, priorities. */
#include "lm/service/families.h"

#include "common/base/limits.h"
#include "lm/service/settle.h"
#include "lm/hold/holds.h"

#include <signal.h>

#define SIGNAL_MAX 64
#define NICE_MIN (-20)
#define NICE_MAX 19

static struct holds *holds_of(const struct service_call *c)
{
	const struct control *of = c->of;

	return of->holds;
}

static int must_be_alive(const struct proc *p, struct err *e)
{
	return p->held ? 0 : err_set(e, ERR_NOTFOUND, "the process has ended");
}

static int read_signal(const struct service_call *c, int *sig, struct err *e)
{
	int64_t v = call_int(c, 1);

	if (v <= 0 || v > SIGNAL_MAX)
		return err_set(e, ERR_INVALID, "there is no signal %lld", (long long)v);
	*sig = (int)v;
	return 0;
}

static int settle_control(struct service_call *c, char class, settle_fn fn)
{
	const struct control *of = c->of;

	return settle_each(c, &(struct settle_on){ of->host, of->holds }, class, fn);
}

static bool may_stop(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* Sends any signal. A process that it stops is held as by proc_stop. */
static int send_to(struct service_call *c, const struct object *o, struct settle_goal *w,
		   struct err *e)
{
	struct proc *p = o->proc;
	int sig = 0, rc = must_be_alive(p, e);

	if (!rc)
		rc = read_signal(c, &sig, e);
	if (rc)
		return rc;
	*w = (struct settle_goal){ .what = SETTLE_TAKEN, .sig = sig };
	if (sig == SIGSTOP)
		w->what = SETTLE_STOPPED;
	if (may_stop(sig)) /* these stop the whole process, also if sent to one thread */
		return holds_signal(holds_of(c), p, c->tool, sig, e);
	if (sig == SIGCONT) {
		w->what = SETTLE_RUNNING;
		return holds_continue(holds_of(c), p, e);
	}
	if (!o->thread)
		return host_proc_signal(p->held, sig, e);
	w->tid = o->thread->tid;
	return host_thread_signal(p->held, o->thread->tid, sig, e);
}

static int serve_send_signal(struct service_call *c)
{
	return settle_control(c, 'p', send_to);
}

static int serve_thread_send_signal(struct service_call *c)
{
	return settle_control(c, 't', send_to);
}

static int stop_one(struct service_call *c, const struct object *o, struct settle_goal *w,
		    struct err *e)
{
	w->what = SETTLE_STOPPED;
	if (must_be_alive(o->proc, e))
		return -ERR_NOTFOUND;
	return holds_stop(holds_of(c), o->proc, c->tool, e);
}

static int serve_stop(struct service_call *c)
{
	return settle_control(c, 'p', stop_one);
}

static int continue_one(struct service_call *c, const struct object *o, struct settle_goal *w,
			struct err *e)
{
	w->what = SETTLE_RUNNING;
	if (must_be_alive(o->proc, e))
		return -ERR_NOTFOUND;
	return holds_continue(holds_of(c), o->proc, e);
}

static int serve_continue(struct service_call *c)
{
	return settle_control(c, 'p', continue_one);
}

static int suspend_one(struct service_call *c, const struct object *o, struct settle_goal *w,
		       struct err *e)
{
	w->what = SETTLE_STOPPED;
	return holds_suspend(holds_of(c), o->proc, o->thread->id, c->tool, e);
}

static int serve_suspend(struct service_call *c)
{
	return settle_control(c, 't', suspend_one);
}

static int resume_one(struct service_call *c, const struct object *o, struct settle_goal *w,
		      struct err *e)
{
	w->what = SETTLE_RUNNING;
	return holds_resume(holds_of(c), o->proc, o->thread->id, c->tool, e);
}

static int serve_resume(struct service_call *c)
{
	return settle_control(c, 't', resume_one);
}

static int refuse_priority(struct service_call *c)
{
	return reply_add_error(c->reply, c->action, "", STATUS_PARAMETER_ERROR,
			       "priority is a nice value, %d to %d", NICE_MIN, NICE_MAX);
}

static bool is_nice(const struct service_call *c)
{
	return call_int(c, 1) >= NICE_MIN && call_int(c, 1) <= NICE_MAX;
}

static int renice_thread(struct service_call *c, const struct object *o, struct err *e)
{
	if (must_be_alive(o->proc, e))
		return -ERR_NOTFOUND;
	return host_thread_priority(o->proc->held, o->thread->tid, (int)call_int(c, 1), e);
}

static int serve_thread_set_priority(struct service_call *c)
{
	return is_nice(c) ? call_each_thread(c, renice_thread) : refuse_priority(c);
}

/* Applies to all present threads. *changed: number of changed threads. */
static int renice_all(struct service_call *c, struct proc *p, size_t *changed, struct err *e)
{
	const struct control *of = c->of;
	int32_t tid[HOST_THREADS_MAX];
	size_t n = HOST_THREADS_MAX;
	int rc = host_threads(of->host, p->pid, tid, &n);

	for (size_t i = 0; !rc && i < n; i++) {
		rc = host_thread_priority(p->held, tid[i], (int)call_int(c, 1), e);
		*changed += !rc;
		if (rc == -ERR_NOTFOUND)
			rc = 0; /* the process has ended in between */
	}
	return rc;
}

/* Linux has a priority for each thread. The second pass reaches threads created in the first. */
static int renice_proc(struct service_call *c, struct proc *p, struct err *e)
{
	size_t changed = 0;
	int rc = must_be_alive(p, e);

	for (int i = 0; !rc && i < 2; i++)
		rc = renice_all(c, p, &changed, e);
	c->is_half_done = rc && changed > 0;
	if (!rc && !changed)
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	return rc;
}

static int serve_proc_set_priority(struct service_call *c)
{
	return is_nice(c) ? call_each_proc(c, renice_proc) : refuse_priority(c);
}

const struct service control_services[] = {
	{ "proc_send_signal", serve_send_signal },
	{ "proc_set_priority", serve_proc_set_priority },
	{ "thread_continue", serve_continue },
	{ "thread_resume", serve_resume },
	{ "thread_send_signal", serve_thread_send_signal },
	{ "thread_set_priority", serve_thread_set_priority },
	{ "thread_stop", serve_stop },
	{ "thread_suspend", serve_suspend },
	{ NULL, NULL },
};
