/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of conditional requests. */
#ifndef LM_CSR_INTERNAL_H
#define LM_CSR_INTERNAL_H

#include "common/base/list.h"
#include "common/loop/loop.h"
#include "common/ring/calls.h"
#include "common/route/filter.h"
#include "lm/csr/csr.h"

enum csr_kind {
	CSR_CALL,
	CSR_PROBE, /* csr_probe.c */
	CSR_EVENTS, /* csr_events.c */
	CSR_PROC_END,
	CSR_THREAD_END,
	CSR_NEW_PROC,
	CSR_NEW_THREAD,
	CSR_PROC_STOPPED,
	CSR_PROC_CONTINUED,
	CSR_THREAD_STOPPED,
	CSR_THREAD_CONTINUED,
	/* csr_source.c: from lm-trace */
	CSR_SYSCALL_START,
	CSR_SYSCALL_END,
	CSR_SIGNAL,
	/* csr_perf.c: from the kernel */
	CSR_ADDR,
	CSR_SCHEDULED,
	CSR_DESCHEDULED,
	CSR_BLOCKED,
	CSR_UNBLOCKED,
};

struct csrs {
	struct csrs_conf conf;
	struct list all; /* struct csr, in the order of arming */
	struct list firings; /* struct firing: tasks of events that are not finished */
	size_t n;
	struct procs_listener listener;
	struct event_sources *sources; /* csr_source.c */
	struct loop_timer *poll;
	unsigned ring_thread; /* block and thread of the ring that is being read */
	uint32_t ring_tid;
	uint64_t ring_place; /* bytes ever taken from it, with the record that is handed over; 0 =
				none is */
	struct loop_timer *losses; /* csr_losses.c */
	struct loop_timer *restate; /* runs out when the parent has armed all that it wants */
	struct loop_job refresh;
	struct list holds; /* csr_hold.c: the oldest first */
	size_t nhold;
	struct loop_timer *hold_timer;
	uint64_t fired, dropped;
	bool is_ending; /* what is kept is armed again by the next lm */
	bool is_restoring; /* what an lm before us had armed: nothing is taken in yet */
};

/* What a CSR is armed on. */
struct csr_object {
	enum token_kind kind;
	uint32_t id;
};

/* A CSR of a call or probe in one process. */
struct csr_site {
	struct list link;
	struct csr *csr;
	struct proc *proc;
	unsigned chain; /* of actions: the function, or SEG_HOOKS + the probe's number */
	unsigned npar; /* of its events */
	struct probe_wish *wish; /* of a probe */
	struct events_site *events; /* csr_events.c */
	struct list following; /* of proc->followers; while there are `events` */
	/* of each action of the local prefix: its entry in the segment's table, -1 = runs here */
	int *entry;
	bool records; /* events come by the ring */
	uint64_t ring_dropped; /* of all its threads, as seen last */
};

struct csr {
	struct list link;
	struct csrs *owner;
	char *token, *identity; /* owned */
	uint32_t number, tool, version;
	enum omis_right right;
	struct omis_request *request; /* owned */
	struct filters *filters; /* owned; of the request; NULL = none */
	size_t prefix; /* leading actions that run here */
	bool reply, rest_uses_pars;
	bool holds; /* the process waits for the actions that do not run here */
	bool is_parting; /* it is disarmed: what comes is counted */
	bool is_stale; /* the parent that is there now has not armed it */
	enum csr_kind kind;
	bool is_patop;
	int func;
	enum call_phase phase;
	struct csr_object *object; /* owned */
	size_t nobject;
	int32_t *partner; /* owned, ascending world ranks; none = any */
	size_t npartner;
	char *probe; /* owned; its name */
	struct csr_events *events; /* owned; csr_events.c */
	int64_t number_wanted; /* of a source: system call (-1 = all), or address */
	uint64_t signals_wanted; /* bit n - 1: signal n; 0 = all */
	struct list sites;
	struct list perf; /* csr_perf.c: struct perf_site */
	struct reply *answer; /* owned; NULL: it was told that it is armed */
	nsec_t answer_until;
	uint64_t seq;
	uint64_t dropped; /* events since the last one that was told */
	nsec_t window; /* second in which `in_window` counts */
	unsigned in_window;
};

/* Something happened that a CSR waits for. */
struct happening {
	struct proc *proc; /* NULL: no watched process is concerned */
	const struct proc_thread *thread; /* NULL: unknown */
	nsec_t time; /* system */
	unsigned depth; /* of the list whose action caused it; 0 = none did */
	const int64_t *par; /* $par1.. */
	unsigned npar;
	uint32_t floats,
		unsigneds; /* bit k: par[k] holds a double; the bits of an unsigned number */
	bool has_result; /* $par0 = $par2 */
	const char *own_name, *own_token; /* $new_proc, $new_thread; NULL = none */
	int64_t own_number; /* $sig: a name without a token */
	const void *own_bytes; /* $block; NULL = it is no such */
	size_t own_nbytes;
	const bool *skip; /* actions that have run in the rank */
	bool never_holds; /* stopping the process for it would be, or cause, such an event */
};

/* --- csr.c */
/* Tells that it is armed. Harmless when that was told. */
void csr_tell_armed(struct csr *c);
/* Of one that is about some partners. */
bool csr_has_partner(const struct csr *c, int64_t rank);

bool csr_is_for_proc(const struct csr *c, const struct proc *p);
bool csr_is_for_thread(const struct csr *c, const struct proc *p, const struct proc_thread *t);
/* Some thread of the process is named, or all of it. */
bool csr_is_for_any_thread(const struct csr *c, const struct proc *p);
void csr_free(struct csr *c);

/* --- csr_parse.c: a checked request -> kind, partners, filters, objects. Faults become entries of
 * action 0. */
int csr_read_event(struct csr *c, struct reply *r);
/* What is wrong with all of it concerns each object that it names. -ERR_NOMEM. */
int csr_name_refused(const struct csr *c, struct reply *r);

/* --- csr_rank.c */
/* The highest number of a $par that the library call has. */
unsigned csr_pars(const struct csr *c);
/* -ERR_NOMEM: it is not watched for in that process. */
int csr_install(struct csr *c, struct proc *p);
void csr_uninstall(struct csr *c, struct proc *p);
int csr_install_all(struct csr *c); /* -ERR_NOMEM: not in all of them */
void csr_uninstall_all(struct csr *c);
struct csr_site *csr_find_site(const struct csr *c, const struct proc *p);

/* Its events are told by the ranks. */
static inline bool csr_is_in_rank(const struct csr *c)
{
	return c->kind == CSR_CALL || c->kind == CSR_PROBE || c->kind == CSR_EVENTS;
}

/* --- csr_probe.c */
int csr_read_probe(struct csr *c, const struct omis_value *name);
/* Chain and parameters of a site. False: the process has no such probe. */
bool csr_probe_find(struct csr_site *s);
/* Switches it as records and entries ask for. -ERR_NOMEM. */
int csr_probe_wish(struct csr_site *s, bool actions);

/* --- csr_unwatched.c: processes where nothing can be watched for become entries of action 0 */
void csr_tell_unwatched(const struct csr *c, struct reply *r);

/* --- csr_ring.c: at most max records of each ring; CSRS_ALL: as many as there are, its size is the
 * bound. True: one had so many, and may have more */
#define CSRS_ALL UINT32_MAX
bool csrs_drain(struct csrs *s, struct proc *p, unsigned max);
/* All rings of all processes that it watches. */
void csr_drain(struct csr *c);
void csrs_on_poll(void *arg);
void csrs_arm_poll(struct csrs *s);

/* --- csr_losses.c: events that nobody has been told of */
void csr_lose(struct csr *c, uint64_t n);
int csr_send_losses(const struct csrs *s, const struct msg_losses *m);
void csrs_on_losses(void *arg);
/* Before it goes: what is left in the rings is counted, and all that was lost is told. */
void csr_part(struct csr *c);

/* --- csr_hold.c */
/* False: it runs on, since nothing is worth the wait, or because it cannot be held. */
bool csr_hold(struct csr *c, struct proc *p, uint64_t seq);
void csr_release(struct csrs *s, uint32_t csr, uint64_t seq);
void csrs_release_all(struct csrs *s);
void csrs_forget_holds(struct csrs *s, const struct proc *p);
void csrs_on_hold_timer(void *arg);

/* --- csr_fire.c */
void csr_fire(struct csr *c, const struct happening *h);
/* As csrs_conf.send. */
int csr_send_triggered(const struct csrs *s, const struct msg_triggered *m);
void csrs_cancel_firings(struct csrs *s, const struct csr *c);
/* Those under way are not reported: c, which replaces it or ends itself, has them as dropped. */
void csr_drop_firings(struct csr *c, const struct csr *old);

#endif
