/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of tracees. */
#ifndef TRACER_TRACEES_INTERNAL_H
#define TRACER_TRACEES_INTERNAL_H

#include "common/container/map.h"
#include "tracer/tracees.h"

#include <sys/ptrace.h>

#define SYSCALL_UNKNOWN (-1)

/*
 * Options of ptrace, set by the seizure itself: later ones would miss a clone or an exec before the
 * first stop. New threads are traced from their start, child processes are not.
 */
#define TRACEE_OPTIONS \
	((intptr_t)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC))

/* A process whose threads are held for events. */
struct watch {
	struct list link;
	uint32_t id;
	int32_t pid;
	uint64_t start;
	uint32_t what;
	uint64_t signals; /* bit n - 1: signal n; 0 = all */
	uint64_t syscalls[TRACER_SYSCALL_WORDS]; /* all 0 = all of them */
};

struct tracee {
	struct who who;
	struct list works; /* struct work, for the next stop */
	struct watch *watch; /* NULL: released when no work is left */
	struct birth *birth; /* owned; NULL: it is not a program that we start */
	bool is_asked; /* a stop was requested and has not happened yet */
	bool in_syscall;
	int64_t syscall; /* current system call, or SYSCALL_UNKNOWN */
	int64_t repeats; /* to repeat, from this program counter and stack pointer */
	uint64_t repeats_at[2];
};

/* A program that is being started, until tracees_let_go(). */
struct birth {
	uint32_t id;
	int why; /* end of a pipe: the error before the program began */
	/* The result was reported: it is held before its first instruction, or was given up. */
	bool is_reported;
	nsec_t until; /* time at which it is given up if it is not held yet */
};

struct tracees {
	struct loop *loop;
	struct line *line;
	struct loop_signal *child;
	struct loop_timer *patience;
	nsec_t wakes; /* when that is armed */
	struct unwinder *unwinder;
	struct map by_tid; /* struct tracee */
	struct list watches;
	nsec_t window; /* second in which `events` counts */
	unsigned events;
};

/* --- tracees.c */
/* Seizes the thread, or finds it; it continues to run. */
int tracee_get(struct tracees *s, const struct who *w, struct tracee **out, struct err *e);
struct tracee *tracee_add(struct tracees *s, const struct who *w, struct err *e);
/* Removes a tracee; its works have already failed with `why`. */
void tracee_forget(struct tracees *s, struct tracee *t, const char *why);
void tracee_ask(struct tracee *t);
/* Arms the timer that gives overdue stops up. */
void tracees_wake_at(struct tracees *s, nsec_t at);

/* --- stops.c: statuses of waitpid() */
void tracees_on_status(struct tracees *s, int32_t tid, int status);

/* --- create.c */
/* Continues the new process until it is before its first instruction. */
void birth_on_stop(struct tracees *s, struct tracee *t, int status);
void birth_give_up(struct tracees *s, struct tracee *t, nsec_t now);
void birth_on_end(struct tracees *s, struct tracee *t);
void birth_free(struct birth *b);

/* --- watches.c */
struct watch *watch_find(const struct tracees *s, int32_t pid);
/*
 * Counts a stop for an event; the thread has not continued. False: too many, the watch has ended.
 */
bool watch_counts(struct tracees *s, struct tracee *t);
void watch_end(struct tracees *s, struct watch *w, uint64_t dropped, const char *why);
bool watch_wants_syscall(const struct watch *w, uint32_t what, int64_t number);
bool watch_wants_signal(const struct watch *w, int sig);

#endif
