/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of conditional requests. */
#ifndef LM_CSR_CSR_INTERNAL_H
#define LM_CSR_CSR_INTERNAL_H

#include "common/container/list.h"
#include "common/loop/loop.h"
#include "common/ring/calls.h"
#include "common/route/predicate.h"
#include "lm/csr/csr.h"

/* Changes of processes and threads, and the csrs for which one is an event: csr_proc.c. */
enum csr_change {
	CSR_PROC_NEW,
	CSR_PROC_ENDED,
	CSR_THREAD_NEW,
	CSR_THREAD_ENDED,
	CSR_STOPPED, /* by the monitor */
	CSR_CONTINUED, /* by the monitor */
	CSR_OF_THREADS = 16, /* with one of the last two: an event of each thread */
};

struct csrs {
	struct csrs_conf conf;
	struct list all; /* struct csr, in the order of arming */
	struct list firings; /* struct firing: tasks of events that are not finished */
	size_t n;
	struct procs_listener listener;
	struct event_source source[CSR_SOURCES_MAX]; /* as conf lists them, opened */
	struct loop_timer *poll;
	unsigned ring_thread; /* block and thread of the ring that is being read */
	uint32_t ring_tid;
	uint64_t ring_place; /* bytes taken so far, with the current record; 0 = none */
	struct loop_timer *losses; /* csr_losses.c */
	/* expires when the parent has had time to enable all its csrs */
	struct loop_timer *restate;
	struct loop_job refresh;
	struct list holds; /* csr_hold.c: the oldest first */
	size_t nhold;
	struct loop_timer *hold_timer;
	uint64_t fired, dropped;
	bool is_ending; /* the lm ends: subscriptions are left for the next lm */
	bool is_restoring; /* restores the csrs of an earlier lm: no events are taken yet */
};

/* An object on which a csr is armed. */
struct csr_object {
	enum token_kind kind;
	uint32_t id;
};

/* A csr on a call or probe in one process. */
struct csr_site {
	struct list link;
	struct csr *csr;
	struct proc *proc;
	unsigned chain; /* chain of actions: the function, or SEG_HOOKS + the probe's number */
	unsigned npar; /* number of event parameters */
	struct probe_interest *interest; /* of a probe */
	void *own; /* of the source */
	struct list following; /* in proc->followers: a source that takes all records */
	/* for each action of the local prefix: its entry in the segment's table, -1 = runs here */
	int *entry;
	bool records; /* its events are in the rings of ranks */
	uint64_t ring_dropped; /* over all its threads, as read last */
};

struct csr {
	struct list link;
	struct csrs *owner;
	char *token, *identity; /* owned */
	uint32_t number, tool, version;
	enum omis_right right;
	struct omis_request *request; /* owned */
	struct predicates *predicates; /* owned; of the request; NULL = none */
	size_t prefix; /* leading actions that run here */
	bool reply, rest_uses_pars;
	bool holds; /* the process waits for the actions that do not run here */
	bool is_parting; /* being disabled: further events are only counted */
	bool is_stale; /* the current parent has not enabled it again */
	bool is_over; /* ended by itself: no process is watched for it */
	const struct event_source *source;
	const struct event_kind *kind; /* an event of the source */
	bool is_patop;
	int func; /* function of a library call; -1: none */
	enum call_phase phase;
	struct csr_object *object; /* owned */
	size_t nobject;
	int32_t *partner; /* owned, ascending world ranks; none = any */
	size_t npartner;
	char *probe; /* owned; its name */
	void *own; /* of the source */
	int64_t number_wanted; /* system call (-1 = all), or address */
	uint64_t signals_wanted; /* bit n - 1: signal n; 0 = all */
	struct list sites;
	struct list own_sites; /* of the source */
	struct reply *answer; /* owned; NULL: ARM_ACK was sent */
	nsec_t answer_until;
	uint64_t seq;
	uint64_t dropped; /* events since the last reported one */
	nsec_t window; /* second in which `in_window` counts */
	unsigned in_window;
};

/* An event that a csr waits for has occurred. */
struct happening {
	struct proc *proc; /* NULL: no watched process is concerned */
	const struct proc_thread *thread; /* NULL: unknown */
	nsec_t time; /* system */
	unsigned depth; /* depth of the list whose action caused it; 0 = none */
	const int64_t *par; /* $par1.. */
	unsigned npar;
	uint32_t floats,
		unsigneds; /* bit k: par[k] holds a double; the bits of an unsigned number */
	bool has_result; /* $par0 = $par2 */
	const char *own_name, *own_token; /* $new_proc, $new_thread; NULL = none */
	int64_t own_number; /* $sig, a number without a token */
	const void *own_bytes; /* $block; NULL = the event has none */
	size_t own_nbytes;
	const bool *skip; /* actions that have run in the rank */
	bool never_holds; /* a stop of the process would be such an event, or cause one */
};

/*
 * Operations of a source of events; each may be NULL. The source is above this room or in it, and
 * is called by this table only.
 */
struct event_source_ops {
	const struct event_kind *kind; /* ends with a service of NULL */
	/*
	 * Creates the source's state from csrs and source.of; false: no memory. Before the first
	 * csr.
	 */
	bool (*open)(struct event_source *o, struct csrs *s);
	void (*close)(struct event_source *o);

	/* Reads the parameters behind the objects. Negative: an entry has the reason. */
	int (*read)(struct csr *c, const struct omis_call *event, struct reply *r);
	/* Frees the result of read(). */
	void (*free)(struct csr *c);
	/* True if its events have this $par. NULL: any. */
	bool (*has_par)(const struct csr *c, int k);

	/* Returns another request, which c replaces in each process in one step. */
	struct csr *(*before)(const struct csr *c);
	/*
	 * Called when the csr is in the list of all. An object that cannot be watched becomes an
	 * entry of action 0. Returns true if the source calls csr_report_armed() later.
	 */
	bool (*arm)(struct csr *c, const struct msg_arm *m, struct reply *r);
	/* Called before the csr is freed, while it is in the list of all and in all its sites. */
	void (*leave)(struct csr *c);
	/* Called when the csr has left the list of all. */
	void (*disarm)(struct csr *c);

	const struct site_ops *site; /* NULL: its events are not those of ranks */
	bool has_blocks; /* an event is a block, in which loss is counted */
	bool own_is_par1; /* the event's own parameter is $par1 */
};

/* Operations of a csr in one process, for events that the rank writes. */
struct site_ops {
	/* Finds chain and parameters. False: the process has nothing to watch. */
	bool (*find)(struct csr_site *s);
	/* Switches it on, with the hook bits of its records and actions. -ERR_NOMEM. */
	int (*watch)(struct csr_site *s, uint32_t bits);
	void (*unwatch)(struct csr_site *s);
	/* True if it continues in the ring behind the records that it has taken. */
	bool (*goes_on)(const struct csr *c, struct proc *p);

	/*
	 * --- for a site in proc->followers: the record that is read now (csrs.ring_thread,
	 * ring_tid)
	 */
	void (*on_call)(struct csr_site *s, const struct ring_call *r);
	void (*on_event)(struct csr_site *s, const struct segview_event *e);
	/* All records of the ring were passed on; the process may overwrite them soon. */
	void (*on_taken)(struct csr_site *s, unsigned thread);
	void (*on_poll)(struct csr_site *s, nsec_t now);
};

static inline const struct event_source_ops *csr_ops(const struct csr *c)
{
	return c->source->ops;
}

/* True if the ranks write its events. */
static inline bool csr_is_in_rank(const struct csr *c)
{
	return csr_ops(c)->site;
}

/* --- csr.c */
/* Sends ARM_ACK once. No effect if it was sent. */
void csr_report_armed(struct csr *c);
void csr_free(struct csr *c);

/* --- csr_match.c */
/* True if the rank is in the csr's list of partners. */
bool csr_has_partner(const struct csr *c, int64_t rank);
bool csr_is_for_proc(const struct csr *c, const struct proc *p);
bool csr_is_for_thread(const struct csr *c, const struct proc *p, const struct proc_thread *t);
/* True if the csr names some thread of the process, or the process. */
bool csr_is_for_any_thread(const struct csr *c, const struct proc *p);
struct csr_site *csr_find_site(const struct csr *c, const struct proc *p);
/* See event_source_ops.before. */
struct csr *csr_before(const struct csr *c);

/*
 * --- csr_parse.c: converts a checked request to kind, predicates and objects. Errors become
 * entries of action 0.
 */
int csr_read_event(struct csr *c, struct reply *r);
/* Copies errors of the whole request to each object that it names. -ERR_NOMEM. */
int csr_name_refused(const struct csr *c, struct reply *r);

/* --- csr_rank.c */
/* -ERR_NOMEM: not watched in that process. */
int csr_install(struct csr *c, struct proc *p);
void csr_uninstall(struct csr *c, struct proc *p);
int csr_install_all(struct csr *c); /* -ERR_NOMEM: not in all of them */
void csr_uninstall_all(struct csr *c);

/* --- csr_proc.c */
struct csr_changed {
	enum csr_change what;
	struct proc *proc;
	struct proc *parent; /* of a new process: which watched one has started it; or NULL */
	const struct proc_thread *thread; /* NULL: of all threads */
	nsec_t time;
	unsigned depth; /* as in struct happening */
};
/* Fires the csrs that wait for the change. */
void csr_change(struct csr *c, const struct csr_changed *x);

/* --- csr_unwatched.c: processes where nothing can be watched for become entries of action 0 */
void csr_report_unwatched(const struct csr *c, struct reply *r);

/*
 * --- csr_ring.c: reads at most max records of each ring; CSRS_ALL: all, bounded by its size.
 * Returns true if a ring may have more.
 */
#define CSRS_ALL UINT32_MAX
bool csrs_drain(struct csrs *s, struct proc *p, unsigned max);
/* Reads all rings of all processes that the csr watches. */
void csr_drain(struct csr *c);
void csrs_on_poll(void *arg);
void csrs_arm_poll(struct csrs *s);

/* --- csr_losses.c: lost events that no message has reported */
void csr_lose(struct csr *c, uint64_t n);
int csr_send_losses(const struct csrs *s, const struct msg_losses *m);
void csrs_on_losses(void *arg);

/* --- csr_hold.c */
/*
 * Holds the process. False: it runs on, because no remaining action needs the hold, or the hold
 * failed.
 */
bool csr_hold(struct csr *c, struct proc *p, uint64_t seq);
void csr_release(struct csrs *s, uint32_t csr, uint64_t seq);
void csrs_release_all(struct csrs *s);
void csrs_forget_holds(struct csrs *s, const struct proc *p);
void csrs_on_hold_timer(void *arg);

/* --- csr_fire.c */
void csr_fire(struct csr *c, const struct happening *h);
/* Reports to the tool that the process is not watched from here on, and why. */
void csr_report_suspended(struct csr *c, const struct proc *p, const char *why);
void csrs_cancel_firings(struct csrs *s, const struct csr *c);
/* Drops the firings of `old` that have not ended; c, its replacement or itself, counts them. */
void csr_drop_firings(struct csr *c, const struct csr *old);

#endif
