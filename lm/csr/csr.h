/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests that are enabled on this host. Their events are watched, and the leading
 * actions run here or inside the rank. TRIGGERED carries the actions that remain for the daemons
 * above.
 */
#ifndef LM_CSR_CSR_H
#define LM_CSR_CSR_H

#include "common/omis/omis.h"
#include "common/ring/calls.h"
#include "lm/task/task.h"
#include "proto/msg.h"

#define CSRS_MAX 4096 /* enabled at a time: TOOLS_MAX tools with 64 each on one host */
/* interval at which rings are read while a request waits for their events */
#define CSRS_POLL_NS (10 * NSEC_PER_MSEC)
/* the end of a burst of losses is reported soon, and one burst only once */
#define CSRS_LOSSES_NS (500 * NSEC_PER_MSEC)
/* time for a parent to return: as long as an sm keeps a tool's requests */
#define CSRS_RESTATE_NS (120 * NSEC_PER_SEC)
/* records taken from one ring in one poll, so that the loop continues */
#define CSRS_RECORDS_MAX 1024

/*
 * time for lm-trace to hold the threads before the answer: less than SITE_CSRS_ACK_MAX_NS
 */
#define CSRS_ARMED_MAX_NS (800 * NSEC_PER_MSEC)

#define CSR_SOURCES_MAX 8 /* sources of events: some more than exist */

#define HOLDS_MAX 1024 /* firings whose process is held: a second of one request */
/* longest hold if a daemon above is late or gone; after more a program seems to hang */
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
	void *of; /* object from which it receives events */
	void *state; /* private, from open() on */
};

/* A service that names an event. */
struct event_kind {
	const char *service;
	int what; /* of the source */
	enum call_phase phase;
	bool is_patop;
	/* threads of processes are polled while a csr of this kind is enabled */
	bool watches_threads;
};

/*
 * Sources of calls, probes and changes of processes; of: NULL. Events of lm-trace; of: struct
 * helper. Events of the kernel; of: NULL.
 */
extern const struct event_source_ops call_source, probe_source, proc_source, tracer_source,
	perf_source;

/* Pointers are borrowed. */
struct csrs_conf {
	const struct event_source *source; /* events that can be awaited; copied */
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
	 * Sends to the parent. Returns 0, or negative if the message could not be sent. TRIGGERED:
	 * one per firing; unsent ones count as dropped. LOSSES: once per csrs_disarm(), for csrs
	 * armed within CSRS_LOSSES_NS of a loss that no event reports. ARM_ACK: once per csrs_arm()
	 * that is not superseded; action 0 lists the watched objects or the errors.
	 */
	int (*send)(void *arg, const struct msg *m);
	/* The segment of that process broke the rules and was detached. */
	void (*corrupt)(void *arg, const struct proc *p, const char *why);
	void *arg;
};

struct csrs *csrs_new(const struct csrs_conf *c);
void csrs_free(struct csrs *s);

/*
 * Arms a csr, or replaces the one with this token; numbers of firings continue. ARM_ACK reports the
 * result: action 0 with the watched objects, or the errors. For events of lm-trace it is sent when
 * lm-trace holds the threads, or after CSRS_ARMED_MAX_NS. Events after the answer are not missed.
 * -ERR_NOMEM: nothing is sent.
 */
int csrs_arm(struct csrs *s, const struct msg_arm *m);

/* All actions of that firing have ended. Continues the process if it was held. */
void csrs_release(struct csrs *s, const char *csr, uint64_t seq);

/*
 * Disables the csr. Earlier events that are not reported yet count as lost. No effect if it is not
 * enabled.
 */
void csrs_disarm(struct csrs *s, const char *token);
void csrs_tool_gone(struct csrs *s, uint32_t tool);

/*
 * The parent connected or disconnected. A parent that connects enables all its csrs again. A csr
 * that it has not enabled after CSRS_RESTATE_NS is dropped: the parent may be a new one.
 */
void csrs_link(struct csrs *s, bool is_up);

/* Counters were deleted: the actions in the ranks are examined again. */
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
