/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of the watched processes: the interests in each, and the counters that the rank samples on
 * a hit. A probe is off while there is none. The table of a process's probes is complete when its
 * segment comes to us (PROC_BORN, PROC_RENEWED) and never changes.
 */
#ifndef LM_INSTRUMENT_PROBE_H
#define LM_INSTRUMENT_PROBE_H

#include "lm/proc/proc.h"

struct probes;
struct probe_interest;
struct tickbase;
struct timebase;

/*
 * A counter that the rank takes at the probe's own clock read, of all threads of the process. It is
 * a cell that pa_cell() gave, or the sum over library calls of what their hooks count. The caller
 * adds the interest in hooks (HOOK_COUNT, HOOK_TIME, HOOK_VOLUME).
 *
 * A call that another thread is in counts up to the probe until its end is noted. That may be later
 * than its end, so a delay of several threads may go back by that. Counters are cumulative, as
 * segview_call() and segview_integrator() give them: differences are the caller's.
 */
struct probe_read {
	enum seg_read_kind kind;
	unsigned cell; /* of the two kinds of cells */
	const uint16_t *func; /* ids of calls.h, of the other kinds; ascending */
	size_t nfunc;
	/* of the kinds of partners (HOOK_PARTNER): ascending; calls that have ended */
	const int32_t *rank;
	size_t nrank;
};

/* One coming by, in the order of the thread's ring. Valid until the callback returns. */
struct probe_hit {
	struct proc *proc;
	const struct proc_thread *thread; /* NULL: not known yet, or forgotten */
	const char *probe;
	uint64_t ticks; /* on the process's clock */
	nsec_t local; /* monotonic, of this host */
	nsec_t time; /* system time */
	int64_t vt;
	const union seg_value *par; /* the virtual time first, then the others as declared */
	const uint8_t *type; /* enum seg_type of each */
	unsigned npar;
	/*
	 * One for each read of the interest: calls and bytes as they are, delays and integrals in
	 * seconds. NAN: the rank could not take it, as the interest was being changed or another
	 * thread was writing.
	 */
	const double *read;
	unsigned nread;
};

struct probe_ask {
	const char *probe; /* copied */
	const struct probe_read *read; /* copied */
	size_t nread;
	bool no_records; /* it is there for its chain of actions only */
	bool actions; /* the chain is to be run */
	void (*on_hit)(void *arg,
		       const struct probe_hit *h); /* must not end processes or drop interests */
	void *arg;
};

struct probes_conf {
	struct procs *procs;
	struct tickbase *ticks;
	struct timebase *timebase; /* all borrowed */
};

struct probes *probes_new(const struct probes_conf *c); /* NULL: no memory */
void probes_free(struct probes *s); /* all interests must have been dropped */

/*
 * From now on: what lies in the rings already is not reported.
 *
 * -ERR_NOTFOUND: the process has no such probe (or no segment). -ERR_LIMIT: the interests in that
 * probe have SEG_READS different reads, or their lists no room. -ERR_INVALID: a read makes no
 * sense. -ERR_NOMEM.
 *
 * *out must stay where it is. It is set to NULL when the interest goes with the process's segment:
 * PROC_ENDING, PROC_DETACHING, after the rings have been read to the end.
 */
int probes_add_interest(struct probes *s, struct proc *p, const struct probe_ask *ask,
			struct probe_interest **out);

/* Sets *take to NULL. NULL in it is fine. */
void probes_drop_interest(struct probe_interest **take);

/*
 * Takes and reports all that is in the rings of processes with interests. What happened before this
 * call and is in a ring has been reported when it returns. Not from on_hit.
 */
void probes_drain(struct probes *s);

/* --- for csr_ring.c, which reads the rings */

struct probes_ring {
	void (*drain)(void *arg,
		      struct proc *p); /* all that is there of p; p->seg may be NULL afterwards */
	void (*changed)(void *arg); /* the first interest came, or the last one went */
	void *arg;
};
void probes_set_ring(struct probes *s, const struct probes_ring *r);

/* There is an interest in records of p, or of any. */
bool probes_wants(const struct proc *p);
bool probes_wants_any(const struct probes *s);

void probes_on_hit(struct probes *s, struct proc *p, const struct segview_hit *h);

/* The segment is about to go. */
void probes_leave(struct probes *s, struct proc *p);

#endif
