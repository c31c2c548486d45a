/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watched processes of this host and their threads. Their last state is kept for a while after
 * their end. The host holds each process by a pidfd, so that operations never reach another
 * process.
 */
#ifndef LM_PROC_PROC_H
#define LM_PROC_PROC_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/container/list.h"
#include "common/omis/text/token.h"
#include "common/ring/segview.h"
#include "lm/host/host.h"
#include "proto/msg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCS_MAX 1024 /* alive at once; a host has fewer cores */
#define PROCS_ENDED_MAX 256 /* last values kept: some 4 KiB each */
#define PROCS_ENDED_KEEP_NS (600 * NSEC_PER_SEC) /* for people that examine a crash */
/* interval at which outside stops and new threads are noticed */
#define PROCS_LOOK_MIN_NS (2 * NSEC_PER_SEC)
/* one poll costs 15 us: half a thousandth of a core for all processes */
#define PROCS_LOOK_EACH_NS (30 * NSEC_PER_MSEC)
/* interval while a request waits for threads to start or end */
#define PROCS_LOOK_FAST_NS (100 * NSEC_PER_MSEC)

struct loop;
struct procs;
struct tickbase;
struct totals;

struct proc_thread {
	int32_t tid;
	uint32_t id; /* number in its token */
	struct token token;
	bool seen; /* seen in the current poll */
	uint64_t mark; /* resolve.c: of the expansion that has it already */
};

/* The measuring of this process and its owners: see hooks.h. */
struct proc_hooks {
	struct list interests;
	uint32_t start; /* hook word that the process gave itself (OMIG_START) */
	uint32_t kept; /* hook word that an earlier lm left and that is not a tool's: as long as the
			  segment is here */
};

/* Stops and continues by the monitor that are not reported yet, in order. */
struct proc_changes {
	uint32_t n;
	bool first_is_stop;
	unsigned depth; /* the greatest of theirs */
	nsec_t at; /* of the last one */
};

/* Fields are read-only unless a comment permits writing. */
struct proc {
	struct list link;
	struct procs *owner;
	uint32_t id; /* number in its token */
	struct token token; /* "" until the node's number is known */
	int32_t pid, parent_pid;
	uint64_t start;
	char name[16]; /* name of the executable, from the kernel */
	struct host_proc *held; /* NULL: it has ended */
	struct segview *seg; /* NULL: none, ended, or detached as corrupt */
	uint64_t seg_inode;
	/* identifies the segment for ever: inode numbers are reused, at least after a boot */
	uint64_t seg_key;
	struct seg_own own; /* copied from the segment; its texts are valid */
	uint32_t state; /* enum msg_state */
	int exit_status; /* as of wait(); -1 unknown */
	nsec_t ended_at;
	struct proc_thread *thread; /* by tid */
	size_t nthread, thread_cap;
	struct host_figures figures; /* as sampled last */
	nsec_t figures_at; /* when that was */
	struct totals *last; /* calls.c: values at the end */
	struct call_mark *marks; /* calls.c: owned: values that tools count from */
	struct proc_hooks hooks; /* hooks.c */
	struct proc_current *current; /* current.c: calls seen in polls; NULL: none yet */
	nsec_t queue_since; /* services_queue.c: when the list of what is posted began, */
	/* owned: calls of threads at that time, their number + 1; 0: in none */
	uint64_t *queue_before;
	bool queue_is_late; /* calls had been made before */
	uint8_t cell[SEG_CELLS]; /* pa.c: enum cell_use */
	struct proc_probes *probes; /* probe.c: interests; NULL: none */
	struct proc_functions *functions; /* functions.c: those that are on; NULL: none */
	struct proc_events *events; /* events.c: types and interests; NULL: not examined */
	struct list followers; /* record.c: sites that store its events in blocks */
	uint64_t mark; /* resolve.c */
	bool is_suspended; /* holds.c: held, although `state` does not show it */
	struct proc_changes changes; /* stopnews.c */
	bool is_news; /* announce.c: to be sent upwards */
};

enum proc_event {
	PROC_BORN, /* new here; its segment, when it has one, is mapped */
	PROC_CHANGED, /* rank, job, state: something that is announced */
	/* another segment replaced the old one: the program called exec */
	PROC_RENEWED,
	PROC_DETACHING, /* the segment broke the rules and is unmapped after this call */
	PROC_ENDING, /* the process is dead; its segment is unmapped after this call */
	PROC_ENDED,
	PROC_FORGOTTEN, /* the pointer is invalid after this call */
};

/* Callbacks must not add or remove processes. */
struct procs_listener {
	struct list link; /* of proc.c */
	void (*on_proc)(void *arg, struct proc *p, enum proc_event what);
	void (*on_thread)(void *arg, struct proc *p, const struct proc_thread *t,
			  bool is_born); /* may be NULL */
	void *arg;
};

struct procs_conf {
	struct loop *loop;
	struct host *host;
	struct tickbase *ticks; /* all borrowed */
	uint64_t epoch; /* epoch of this lm, which is written into segments */
};

/* -ERR_SYS: the host has no boot id. */
int procs_open(const struct procs_conf *c, struct procs **out, struct err *e);
void procs_free(struct procs *s);

/* Listeners are called in the order of adding. */
void procs_listen(struct procs *s, struct procs_listener *l);
void procs_unlisten(struct procs_listener *l);

/* Sets the node's number, a part of all tokens. */
void procs_set_node(struct procs *s, uint32_t node);
uint32_t procs_node(const struct procs *s);
const char *procs_node_token(const struct procs *s); /* "" while unknown */
const char *procs_boot_id(const struct procs *s);

/*
 * Adds a process. seg: taken on success if not NULL, with its inode. A known process gets the
 * segment in place of its old one; without a segment nothing changes. may_have_ended: it registered
 * itself, so the counts of its segment are kept even if it has ended. -ERR_NOTFOUND as
 * host_proc_open(), -ERR_LIMIT; -ERR_AGAIN while the end of an earlier process with the pid is not
 * reported.
 */
struct proc_registration {
	int32_t pid;
	const char *job, *program; /* if no segment has it; NULL: not known */
	struct segview *seg;
	uint64_t inode;
	struct segview_interests left; /* interests that an earlier lm had switched on */
	bool may_have_ended;
};
int procs_take(struct procs *s, struct proc_registration *in, struct proc **out, struct err *e);

/* Renames a process without a segment, which may have called exec. Any bytes but 0. */
void procs_set_program(struct proc *p, const char *job, const char *program);

/* Seconds since the program was attached while it ran; -1: it was not. */
double procs_attached_age(const struct proc *p);

/* Detaches a segment that broke the rules; it is never read again. */
void procs_detach(struct proc *p, const char *why);

/* Returns NULL if there is none. */
struct proc *procs_find(const struct procs *s, const char *token, size_t n);
struct proc *procs_find_pid(const struct procs *s, int32_t pid); /* alive */
/* Finds the living process with that segment, or that pid. */
struct proc *procs_find_segment(const struct procs *s, uint64_t inode, int32_t pid);
struct proc *procs_find_key(const struct procs *s, uint64_t seg_key);
struct proc *procs_find_thread(const struct procs *s, const char *token, size_t n,
			       const struct proc_thread **thread);
const struct proc_thread *proc_find_tid(const struct proc *p, int32_t tid);

/* List of struct proc by `link`, with ended ones, in the order of registration. */
const struct list *procs_all(const struct procs *s);
size_t procs_alive(const struct procs *s);
uint64_t procs_detached(const struct procs *s); /* segments that broke the rules */

/* Returns a new number each time, never 0. */
uint64_t procs_next_mark(struct procs *s);

/*
 * True if it makes no MPI calls: it never had a segment, or has one without MPI so far. Its counts
 * of calls are then unknown, not 0.
 */
bool proc_is_alone(const struct proc *p);
#define PROC_ALONE "the process makes no MPI calls"
#define PROC_WITHOUT_SEGMENT "the process does not run under libomig"

/*
 * Returns 0 if its calls are read now. ERR_NOTFOUND: it has ended, or is alone. ERR_UNSUPPORTED:
 * its segment is not read.
 */
int proc_check_calls(const struct proc *p, struct err *e);

/* Polls the threads of p now. */
void procs_poll_one(struct proc *p);

/* Changes the number of interests in threads; above 0, threads are polled often. */
void procs_watch_threads(struct procs *s, int change);

/* The monitor itself stopped or continued it. */
void procs_set_stopped(struct proc *p, bool stopped);

#endif
