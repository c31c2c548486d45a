/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests that are armed on this host. The event is watched for, and the leading
 * actions run here or inside the rank. TRIGGERED says what remains to be done above.
 */
#ifndef LM_CSR_CSR_H
#define LM_CSR_CSR_H

#include "common/omis/omis.h"
#include "common/ring/calls.h"
#include "lm/task/task.h"
#include "proto/msg.h"

#define CSRS_MAX 4096 /* armed at once: TOOLS_MAX tools with 64 each on one host */
/* rings are read this often while a request waits for their events */
#define CSRS_POLL_NS (10 * NSEC_PER_MSEC)
/* the end of a flood is reported soon, and a flood is not reported twice */
#define CSRS_LOSSES_NS (500 * NSEC_PER_MSEC)
/* for a parent that comes back: as long as an sm keeps what tools wanted */
#define CSRS_RESTATE_NS (120 * NSEC_PER_SEC)
#define CSRS_RECORDS_MAX 1024 /* taken from one ring in one poll: the loop must continue */

/* an answer waits this long for lm-trace to hold the threads: less than an sm waits for it
 * (sm/arms.h) */
#define CSRS_ARMED_MAX_NS (800 * NSEC_PER_MSEC)

#define CSR_SOURCES_MAX 8 /* of events: some more than there are */

#define HOLDS_MAX 1024 /* firings whose process waits: a second's worth of one request */
/* a daemon above is late or gone; a program that stands still longer looks hung */
#define HOLD_MAX_NS NSEC_PER_SEC

struct audit;
struct csr;
struct csrs;
struct event_source_ops;
struct loop;
struct pa;
struct probes;
struct holds;
struct tickbase;
struct timebase;

/* A source of events: csr_internal.h. */
struct event_source {
	const struct event_source_ops *ops;
	void *of; /* what it sees events by */
	void *state; /* its own, from open() on */
};

/* A service that is an event. */
struct event_kind {
	const char *service;
	int what; /* of the source */
	enum call_phase phase;
	bool is_patop;
	bool watches_threads; /* processes are asked for their threads while one is armed */
};

/* Calls, probes, and what becomes of processes; of: NULL. Events of lm-trace; of: struct helper.
 * Events of the kernel; of: NULL. */
extern const struct event_source_ops call_source, probe_source, proc_source, tracer_source,
	perf_source;

/* Pointers are borrowed. */
struct csrs_conf {
	const struct event_source *source; /* what can be waited for; copied */
	size_t nsource;

	struct loop *loop;
	struct timebase *timebase;
	struct tickbase *ticks;
	struct procs *procs;
	struct holds *holds;
	struct pa *pa;
	struct probes *probes;
	struct audit *audit; /* NULL = none */
	struct tasks *tasks;
	bool may_manipulate;
	/*
	 * Up; 0, or negative: it could not be sent. TRIGGERED of each firing: what is not sent
	 * counts as dropped. LOSSES of each csrs_disarm() once, of what is armed within
	 * CSRS_LOSSES_NS of a loss that no event reports. ARM_ACK once for each csrs_arm() that is
	 * not overtaken: action 0 says what is watched from now on, or cannot be.
	 */
	int (*send)(void *arg, const struct msg *m);
	/* The segment of that process broke the rules and was detached. */
	void (*corrupt)(void *arg, const struct proc *p, const char *why);
	void *arg;
};

struct csrs *csrs_new(const struct csrs_conf *c);
void csrs_free(struct csrs *s);

/*
 * Arms, or replaces what was armed under this token; numbers of firings continue. ARM_ACK says how
 * it went: action 0 with the objects that are watched, or what is wrong. For events that lm-trace
 * sees it is sent when that holds the threads, or after CSRS_ARMED_MAX_NS: what happens after the
 * answer is seen. -ERR_NOMEM: nothing is sent.
 */
int csrs_arm(struct csrs *s, const struct msg_arm *m);

/* All actions of that firing have ended: its process runs again, if it was held. */
void csrs_release(struct csrs *s, const char *csr, uint64_t seq);

/*
 * What happened before and is not reported yet is counted as lost. Harmless when it is not armed.
 */
void csrs_disarm(struct csrs *s, const char *token);
void csrs_tool_gone(struct csrs *s, uint32_t tool);

/*
 * The parent came or went. One that comes arms everything that is wanted, so what it has not
 * armed again CSRS_RESTATE_NS later is given up: it may be a new one that never heard of it.
 */
void csrs_link(struct csrs *s, bool is_up);

/* Counters were deleted: what runs in the ranks is examined again. */
void csrs_refresh(void *csrs);

/* The monitor has stopped or continued a process; at: the loop's time. */
void csrs_stopped(void *csrs, struct proc *p, bool is_stopped, nsec_t at, unsigned depth);

size_t csrs_count(const struct csrs *s);

struct csrs_stats {
	uint64_t fired, dropped; /* dropped: events that were lost in a ring, too many a second, or
				    not sent */
	bool is_polling;
};
void csrs_stats(const struct csrs *s, struct csrs_stats *out);

#endif
