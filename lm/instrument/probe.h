/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of the watched processes: the interests in each, and the counters that the rank samples on
 * a hit. A probe without an interest is off. The table of a process's probes is complete when the
 * segment is registered (PROC_BORN, PROC_RENEWED), and never changes.
 */
#ifndef LM_INSTRUMENT_PROBE_H
#define LM_INSTRUMENT_PROBE_H

#include "lm/proc/proc.h"

struct probes;
struct probe_interest;
struct tickbase;
struct timebase;

/*
 * A counter that the rank samples at the clock read of the probe, over all threads of the process.
 * It is a cell of pa_cell(), or the sum of the hooks of library calls. The caller adds the interest
 * in hooks (HOOK_COUNT, HOOK_TIME, HOOK_VOLUME). A call in progress in another thread counts up to
 * the probe until its end is noted. The note may follow the end, so a delay over several threads
 * may decrease by that. Counters are cumulative, as from segview_call() and segview_integrator();
 * the caller computes differences.
 */
struct probe_read {
	enum seg_read_kind kind;
	unsigned cell; /* of the two kinds of cells */
	const uint16_t *func; /* ids of calls.h, for the other kinds; ascending */
	size_t nfunc;
	/* for the kinds of partners (HOOK_PARTNER): ascending; ended calls only */
	const int32_t *rank;
	size_t nrank;
};

/* One hit, in the order of the thread's ring. Valid until the callback returns. */
struct probe_hit {
	struct proc *proc;
	const struct proc_thread *thread; /* NULL: not known yet, or already removed */
	const char *probe;
	uint64_t ticks; /* on the process's clock */
	nsec_t local; /* monotonic, of this host */
	nsec_t time; /* system time */
	int64_t vt;
	const union seg_value *par; /* the virtual time first, then the others as declared */
	const uint8_t *type; /* enum seg_type of each */
	unsigned npar;
	/*
	 * One value for each read of the interest: calls and bytes as counted, delays and integrals
	 * in seconds. NAN: not sampled, because the interest was changing or another thread was
	 * writing.
	 */
	const double *read;
	unsigned nread;
};

struct probe_ask {
	const char *probe; /* copied */
	const struct probe_read *read; /* copied */
	size_t nread;
	bool no_records; /* only for a chain of actions */
	bool actions; /* the chain runs at the probe */
	void (*on_hit)(void *arg,
		       /* the callback must not end processes or drop interests */
		       const struct probe_hit *h);
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
 * Reports hits from now on; records already in the rings are not reported. -ERR_NOTFOUND: the
 * process has no such probe (or no segment). -ERR_LIMIT: the probe already has SEG_READS different
 * reads, or the lists are full. -ERR_INVALID: a read is invalid. -ERR_NOMEM. *out must not move. It
 * is set to NULL when the segment goes: PROC_ENDING, PROC_DETACHING, after the rings have been read
 * to the end.
 */
int probes_add_interest(struct probes *s, struct proc *p, const struct probe_ask *ask,
			struct probe_interest **out);

/* Sets *take to NULL. It may be NULL already. */
void probes_drop_interest(struct probe_interest **take);

/*
 * Takes and reports all records in the rings of processes with interests. When it returns, all
 * earlier records have been reported. Must not be called from on_hit.
 */
void probes_drain(struct probes *s);

/* --- for csr_ring.c, which reads the rings */

struct probes_ring {
	void (*drain)(void *arg,
		      struct proc *p); /* takes all records of p; p->seg may be NULL afterwards */
	void (*changed)(void *arg); /* the first interest was added, or the last one removed */
	void *arg;
};
void probes_set_ring(struct probes *s, const struct probes_ring *r);

/* True if there is an interest in records of p, or of any process. */
bool probes_wants(const struct proc *p);
bool probes_wants_any(const struct probes *s);

void probes_on_hit(struct probes *s, struct proc *p, const struct segview_hit *h);

/* Called before the segment is unmapped. */
void probes_leave(struct probes *s, struct proc *p);

#endif
