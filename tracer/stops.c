/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles stops and ends of traced threads: records them, executes requests, and resumes the
 * thread.
 */
#include "tracer/tracees_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define SYSCALL_STOP (SIGTRAP | 0x80)

/* How to resume a stopped thread. */
struct stop {
	int inject; /* signal that it was about to get */
	bool is_group; /* a group stop holds the process: it must remain stopped */
	/* no call and no signal is under way: the kernel will not change its registers */
	bool is_between;
	bool has_event;
	struct tracer_msg *event; /* noted before it continues, sent afterwards */
};

static bool stops_a_group(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

static void note_event(struct tracees *s, const struct tracee *t, uint32_t what, struct stop *stop)
{
	struct tracer_msg *m = stop->event;

	*m = (struct tracer_msg){ .type = TRACER_EVENT,
				  .id = t->watch->id,
				  .pid = t->who.pid,
				  .tid = t->who.tid,
				  .start = t->who.start,
				  .what = what,
				  .nvalue = 1,
				  .value = { (uint64_t)clock_mono() } };
	stop->has_event = true;
}

static void put(struct stop *stop, uint64_t v)
{
	stop->event->value[stop->event->nvalue++] = v;
}

/*
 * True if a call is unfinished by the kernel's internal return value: it is repeated, or a handler
 * ends it.
 */
static bool is_unfinished(int64_t rval)
{
	return rval <= -512 && rval >= -516 && rval != -515;
}

/* True: the kernel repeats the call; one with a time limit continues as another call. */
static bool is_repeated(struct tracee *t, const struct __ptrace_syscall_info *i)
{
	bool is = t->repeats >= 0 && t->repeats_at[0] == i->instruction_pointer &&
		  t->repeats_at[1] == i->stack_pointer;

	if (is)
		t->syscall = t->repeats;
	t->repeats = SYSCALL_UNKNOWN;
	return is;
}

static void on_entry(struct tracees *s, struct tracee *t, const struct __ptrace_syscall_info *i,
		     struct stop *stop)
{
	t->in_syscall = true;
	t->syscall = (int64_t)i->entry.nr;
	if (is_repeated(t, i) || !watch_wants_syscall(t->watch, TRACER_SYSCALL_START, t->syscall))
		return;
	note_event(s, t, TRACER_SYSCALL_START, stop);
	put(stop, i->entry.nr);
	for (size_t k = 0; k < 6; k++)
		put(stop, i->entry.args[k]);
}

/* The number of a call that began before the thread was seized is unknown. */
static void on_exit_of_call(struct tracees *s, struct tracee *t,
			    const struct __ptrace_syscall_info *i, struct stop *stop)
{
	int64_t number = t->in_syscall ? t->syscall : SYSCALL_UNKNOWN;

	t->in_syscall = false;
	t->syscall = SYSCALL_UNKNOWN;
	if (is_unfinished(i->exit.rval)) {
		t->repeats = number;
		t->repeats_at[0] = i->instruction_pointer;
		t->repeats_at[1] = i->stack_pointer;
		return;
	}
	if (number < 0 || !watch_wants_syscall(t->watch, TRACER_SYSCALL_END, number))
		return;
	note_event(s, t, TRACER_SYSCALL_END, stop);
	put(stop, (uint64_t)number);
	put(stop, (uint64_t)i->exit.rval);
}

static void on_syscall(struct tracees *s, struct tracee *t, struct stop *stop)
{
	struct __ptrace_syscall_info info;

	if (!t->watch || !watch_counts(s, t) ||
	    ptrace(PTRACE_GET_SYSCALL_INFO, t->who.tid, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		on_entry(s, t, &info, stop);
	else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
		on_exit_of_call(s, t, &info, stop);
}

/* The lm that started us stops and continues processes: these signals are not the program's. */
static bool is_of_monitor(const struct tracee *t, int sig)
{
	siginfo_t info = { 0 };

	return (sig == SIGSTOP || sig == SIGCONT) &&
	       ptrace(PTRACE_GETSIGINFO, t->who.tid, NULL, &info) == 0 && info.si_pid == getppid();
}

static void on_signal(struct tracees *s, struct tracee *t, int sig, struct stop *stop)
{
	stop->inject = sig;
	if (!t->watch || !watch_counts(s, t) || !watch_wants_signal(t->watch, sig) ||
	    is_of_monitor(t, sig))
		return;
	note_event(s, t, TRACER_SIGNAL, stop);
	put(stop, (uint64_t)sig);
}

/*
 * Forgets former threads: the thread that called exec has taken the leader's place, all others are
 * gone.
 */
static void forget_former(struct tracees *s, int32_t tid)
{
	unsigned long former = 0;
	struct tracee *gone;

	ptrace(PTRACE_GETEVENTMSG, tid, NULL, &former);
	gone = (pid_t)former != tid ? map_find(&s->by_tid, former) : NULL;
	if (gone)
		tracee_forget(s, gone, "the thread has called exec");
}

static void read_stop(struct tracees *s, struct tracee *t, int status, struct stop *stop)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_STOP) {
		stop->is_between = true;
		stop->is_group = stops_a_group(sig);
	} else if (event == PTRACE_EVENT_EXEC) {
		t->in_syscall = false;
		t->syscall = SYSCALL_UNKNOWN;
	} else if (!event && sig == SYSCALL_STOP) {
		on_syscall(s, t, stop);
	} else if (!event) {
		on_signal(s, t, sig, stop);
	}
}

/* The kernel keeps a group stop after a detach. */
static void let_go(struct tracees *s, struct tracee *t, const struct stop *stop)
{
	ptrace(PTRACE_DETACH, t->who.tid, NULL, (void *)(intptr_t)stop->inject);
	tracee_forget(s, t, "the thread has ended");
}

static void send_on(struct tracees *s, struct tracee *t, const struct stop *stop)
{
	if (!t->watch && list_is_empty(&t->works)) {
		let_go(s, t, stop);
		return;
	}
	if (!t->watch) {
		ptrace(PTRACE_CONT, t->who.tid, NULL, (void *)(intptr_t)stop->inject);
		return;
	}
	if (stop->is_group)
		ptrace(PTRACE_LISTEN, t->who.tid, NULL, NULL);
	else
		ptrace(t->watch->what & (TRACER_SYSCALL_START | TRACER_SYSCALL_END) ? PTRACE_SYSCALL
										    : PTRACE_CONT,
		       t->who.tid, NULL, (void *)(intptr_t)stop->inject);
}

/*
 * Takes works in order: no work overtakes a work that changes the thread.
 *
 * In a system call, or before a signal is delivered, the kernel would take written registers for
 * the call's. Such a thread is only read.
 */
static void take_works(struct tracee *t, const struct stop *stop, struct list *out)
{
	list_init(out);
	list_each_safe (i, &t->works) {
		struct work *w = list_entry(i, struct work, link);

		if (!stop->is_between && work_changes(w))
			break;
		list_del(i);
		list_push_back(out, i);
	}
	if (!list_is_empty(&t->works))
		tracee_ask(t); /* before it continues, so that it stops at the end of the call */
}

/* The lm must learn that an event is missing: the watch ends, and no others follow. */
static void send_event(struct tracees *s, const struct tracer_msg *m)
{
	struct watch *w = line_event(s->line, m) ? NULL : watch_find(s, m->pid);

	if (w)
		watch_end(s, w, 1, "the lm did not read its events in time");
}

static void on_stopped(struct tracees *s, struct tracee *t, int status)
{
	struct tracer_msg event;
	struct stop stop = { .event = &event };
	struct list done;
	struct list *i;

	t->is_asked = false; /* any stop satisfies the request */
	if (t->birth) {
		birth_on_stop(s, t, status);
		return;
	}
	read_stop(s, t, status, &stop);
	take_works(t, &stop, &done);
	list_each (k, &done)
		work_collect(list_entry(k, struct work, link));
	send_on(s, t, &stop);
	if (stop.has_event)
		send_event(s, &event);
	while ((i = list_pop_front(&done)))
		work_answer(list_entry(i, struct work, link), s->unwinder, s->line);
}

/* A new thread of a process that is watched: the kernel has seized it with its parent's options. */
static struct tracee *adopt(struct tracees *s, int32_t tid)
{
	int32_t pid = who_process_of(tid);
	struct watch *w = pid ? watch_find(s, pid) : NULL;
	struct tracee *t;

	if (!w)
		return NULL;
	t = tracee_add(s, &(struct who){ pid, tid, w->start }, NULL);
	if (!t)
		return NULL;
	t->watch = w;
	return t;
}

/*
 * Resumes a new thread without a watch, such as a child of a thread seized for one request. Its
 * signal must not get lost.
 */
static void let_unknown_go(int32_t tid, int status)
{
	int sig = status >> 16 || WSTOPSIG(status) == SYSCALL_STOP ? 0 : WSTOPSIG(status);

	ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)sig);
}

void tracees_on_status(struct tracees *s, int32_t tid, int status)
{
	struct tracee *t = map_find(&s->by_tid, (uint64_t)tid);

	if (!WIFSTOPPED(status)) {
		if (t && t->birth)
			birth_on_end(s, t);
		if (t)
			tracee_forget(s, t, "the thread has ended");
		return;
	}
	if (status >> 16 == PTRACE_EVENT_EXEC)
		forget_former(s, tid);
	if (!t)
		t = adopt(s, tid);
	if (t)
		on_stopped(s, t, status);
	else
		let_unknown_go(tid, status);
}
