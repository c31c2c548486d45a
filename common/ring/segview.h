/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lm's view of a segment that belongs to a watched program. The memory may change at any time.
 * Each word is read once into a copy, and each index and size is checked. Offsets are taken from
 * the header once, at opening. No content of the segment can make these calls read or write outside
 * of it.
 */
#ifndef COMMON_RING_SEGVIEW_H
#define COMMON_RING_SEGVIEW_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/ring/action.h"
#include "common/ring/ring.h"
#include "common/ring/seg.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct segview;

/*
 * Checks and maps the segment behind fd, which stays the caller's. The checks:
 *
 * - a regular memfd of uid `owner`, of plain pages
 * - sealed against shrinking and growing (SHRINK, GROW, SEAL)
 * - of a sensible size, with a header that agrees with itself
 *
 * Errors:
 *
 * - ERR_DENIED: owner, pages or seals
 * - ERR_UNSUPPORTED: another layout version (the text says which)
 * - ERR_PROTO: nonsense
 * - ERR_AGAIN: not set up yet (magic is still 0)
 * - ERR_SYS, ERR_NOMEM
 */
int segview_open(int fd, uid_t owner, struct segview **out, struct err *e);

/*
 * Makes a view of memory of the caller (8-aligned), which must outlive the view: for tests, fuzzing
 * and libapp.
 */
int segview_over(void *p, size_t n, struct segview **out, struct err *e);

/* Unmaps. NULL is fine. */
void segview_free(struct segview *v);

unsigned segview_threads(const struct segview *v); /* returns the number of blocks, used or not */
/* returns the number of functions that both sides know */
unsigned segview_funcs(const struct segview *v);

/*
 * Copies the process's description. Texts are valid for str_is_name(), or ""; numbers are as the
 * process wrote them.
 */
void segview_own(const struct segview *v, struct seg_own *out);

struct segview_thread {
	uint32_t tid, generation; /* tid 0: the block was never used */
	uint64_t ring_dropped, ring_used; /* dropped records; bytes that wait in the ring */
	uint64_t partner_lost;
	uint64_t partner_unknown; /* ticks, see struct seg_thread */
	uint64_t site_lost, size_lost;
};

/* Returns -ERR_INVALID if there is no such block. */
int segview_thread(const struct segview *v, unsigned thread, struct segview_thread *out);

/* One function in one thread, or summed over all threads. */
struct segview_call {
	uint64_t count;
	uint64_t delay; /* ticks of ended calls; the caller adds open_delay for calls in progress */
	/*
	 * ticks up to `now` of calls in progress, multiplied by the sampling of the hook word; at
	 * most since HOOK_TIME is on
	 */
	uint64_t open_delay;
	unsigned in_call; /* number of threads in the call */
	uint64_t bytes_out, bytes_in, sampled;
	/* ticks of one call, among ended calls that were measured; 0: none */
	uint64_t shortest, longest;
	/* the writer was killed during an update: values are a best guess */
	bool torn;
};

#define SEGVIEW_ALL UINT32_MAX /* value of `thread` for the sum of all threads */

/* The current or last call of a thread, whether its hook is on or not. */
struct segview_current {
	uint64_t number; /* differs for each call of the thread */
	unsigned func; /* below segview_funcs() */
	bool is_inside;
	bool is_timed; /* HOOK_TIME was on when the call began */
	/* ticks, if the thread is in the call and the call is measured; otherwise 0 */
	uint64_t begin;
	/* only arguments of the function (struct call_desc), as the program passed them */
	uint64_t comm; /* a handle in C, or an integer of Fortran */
	bool is_fortran;
	int32_t peer, tag; /* for a Sendrecv those of its send */
	int32_t source, source_tag; /* for a Sendrecv */
	/* world rank of the partner of a wait for one partner; otherwise -1 */
	int32_t wait_partner;
};

/* Returns false if no call of that thread is known, or if the calls change too fast to be read. */
bool segview_current(const struct segview *v, unsigned thread, struct segview_current *out);

/* now: ticks for open_delay. Fails with ERR_INVALID if there is no such function or thread. */
int segview_call(const struct segview *v, unsigned thread, unsigned func, uint64_t now,
		 struct segview_call *out);

/* Returns the number of records of this function without room so far, over all threads. */
uint64_t segview_call_dropped(const struct segview *v, unsigned func);

/* The value of a counter or integrator. `integral` extends to `now`, with a call in progress. */
struct segview_cell {
	int64_t n; /* for a counter */
	double integral, v; /* for an integrator: v * ticks, v */
	uint64_t t; /* ticks of the latest change */
	bool torn;
};
int segview_counter(const struct segview *v, unsigned thread, unsigned cell,
		    struct segview_cell *out);
int segview_integrator(const struct segview *v, unsigned thread, unsigned cell, uint64_t now,
		       struct segview_cell *out);

/*
 * Calls fn for each partner of all functions of one thread, with plain values. Several threads may
 * have the same pair. Returns the number of calls of fn. Fails with ERR_INVALID.
 */
struct segview_partner {
	unsigned func;
	int32_t rank; /* for waits also CALL_PARTNER_UNKNOWN, CALL_PARTNER_ALL */
	uint64_t count, bytes_out, bytes_in;
	uint64_t delay; /* ticks of ended calls */
	uint64_t shared, possible; /* ticks; see struct seg_partner */
	uint32_t kinds; /* SEG_FOR_X */
	int32_t tag; /* -1: any or none; SEG_TAG_SEVERAL */
};
int segview_partners(const struct segview *v, unsigned thread,
		     void (*fn)(void *arg, const struct segview_partner *p), void *arg);

/*
 * Calls fn for the call sites of one thread, like segview_each_partner(). `depth` is 1 to
 * SEG_SITE_DEPTH.
 */
struct segview_site {
	unsigned func, depth;
	uint64_t pc[SEG_SITE_DEPTH]; /* as the process wrote them */
	uint64_t count, bytes_out, bytes_in;
	uint64_t delay, longest; /* ticks */
};
int segview_sites(const struct segview *v, unsigned thread,
		  void (*fn)(void *arg, const struct segview_site *s), void *arg);

/*
 * Copies a row of the process's table of mounts, to which calls of all threads add. Returns false
 * if it is free; number is below SEG_MOUNTS. The key is not checked.
 */
bool segview_mount(const struct segview *v, unsigned number, struct seg_mount *out);

/*
 * Calls fn for the sizes of one thread, like segview_each_partner(). `class` is below
 * SEG_SIZE_CLASSES.
 */
struct segview_size {
	unsigned func, class;
	uint64_t count, bytes;
	uint64_t delay; /* ticks */
};
int segview_sizes(const struct segview *v, unsigned thread,
		  void (*fn)(void *arg, const struct segview_size *s), void *arg);

/*
 * Copies module `number` < SEG_MODULES. Returns false if there is none. The path is absolute and
 * printable.
 */
bool segview_module(const struct segview *v, unsigned number, struct seg_module *out);

/* Sets the number of callers that the process stores with HOOK_SITE. Values out of range mean 1. */
void segview_site_depth_set(struct segview *v, unsigned depth);

/*
 * An open operation. The list has those that began since segview_posted_start() while HOOK_QUEUE
 * was on, and are not complete.
 */
struct segview_posted {
	unsigned func; /* below segview_funcs() */
	bool is_receive; /* the receiving part of a Sendrecv; otherwise see func */
	int32_t tag, partner; /* partner: world rank; < 0: any, or unknown */
	uint64_t ticks, comm;
	int64_t bytes; /* not negative */
};

/* Starts a new, empty list. */
void segview_posted_start(struct segview *v);
bool segview_posted_is_on(const struct segview *v); /* true if that call was made */

/* Copies the entry with an index below SEG_POSTED. Returns false if there is none now. */
bool segview_posted(const struct segview *v, unsigned place, struct segview_posted *out);

/* Returns how many operations had no room in the list, as the process counts them. */
uint64_t segview_posted_lost(const struct segview *v);

/* --- probes: the table is copied at opening, when it is complete; invalid entries are left out */

unsigned segview_probes(const struct segview *v);

/*
 * Returns probe `number` < SEG_PROBES; NULL if there is none. Names are C identifiers, types are
 * known, and there is at least one parameter.
 */
const struct seg_probe *segview_probe(const struct segview *v, unsigned number);

/* Finds the first probe of that name. Returns -1 if there is none. */
int segview_probe_find(const struct segview *v, const char *name);

/*
 * Takes two probes for a function: SEG_FUNCTION_BEGIN and SEG_FUNCTION_END of the slot. They are
 * probes like others until they are dropped; their names have no meaning. Fails with ERR_LIMIT if
 * all are in use, and with ERR_UNSUPPORTED if the process cannot have any.
 */
int segview_function_take(struct segview *v, unsigned *slot);
void segview_function_drop(struct segview *v, unsigned slot);

/* --- events: types are added while the process runs, and never removed */

unsigned segview_event_count(const struct segview *v); /* numbers below this one are announced */

/*
 * Copies the definition to out, and returns its size; 0 if there is none, or if it is too large.
 * The definition is not checked further.
 */
size_t segview_event_definition(const struct segview *v, unsigned number, uint8_t *out,
				size_t size);

/* Returns how many such events were on and had no room so far, as the process counts them. */
uint64_t segview_event_lost(const struct segview *v, unsigned number);

/* Returns how many records of a probe had no room so far. */
uint64_t segview_probe_dropped(const struct segview *v, unsigned number);

/* A thread has passed a probe. */
struct segview_hit {
	unsigned probe; /* segview_probe() of this number is not NULL */
	uint32_t tid;
	uint64_t ticks;
	const union seg_value *par; /* values of the parameters of segview_probe() */
	uint32_t mask; /* slots of `read` that are filled, among those in use now */
	union seg_value read[SEG_READS];
};

/* An event was written. Its type is announced. */
struct segview_event {
	unsigned number;
	uint64_t ticks;
	const uint8_t *value; /* bytes in the form in which the process wrote them */
	size_t n;
};

struct segview_taker { /* Handlers; NULL: records of that kind are skipped */
	void (*on_call)(void *arg, const struct ring_call *c);
	void (*on_hit)(void *arg, const struct segview_hit *h);
	void (*on_event)(void *arg, const struct segview_event *e);
	void (*on_taken)(void *arg); /* as in ring_taker */
	uint64_t *place;
	void *arg;
};

/*
 * Takes records of one thread, oldest first: see ring_take(). Checks func, npar, and the numbers of
 * probes.
 */
int segview_take(struct segview *v, unsigned thread, unsigned max, const struct segview_taker *t);

/*
 * Skips the records before that place. Invalid places, and places behind the reader, have no
 * effect.
 */
void segview_skip(struct segview *v, unsigned thread, uint64_t place);

/* Like segview_take(), for calls only. */
int segview_events(struct segview *v, unsigned thread, unsigned max,
		   void (*fn)(void *arg, const struct ring_call *c), void *arg);

/* --- writes of the lm */

/*
 * now: ticks from which calls in progress count, or since which HOOK_TIME is on; 0: they do not
 * count. Fails with ERR_INVALID for bits beyond HOOK_KNOWN, or sample shifts above HOOK_SAMPLE_MAX.
 */
int segview_hook_set(struct segview *v, unsigned func, uint32_t word, uint64_t now);
/* returns 0 if there is no such function */
uint32_t segview_hook_get(const struct segview *v, unsigned func);

/*
 * Stores that the time of all calls is measured from `now` on, or no longer. The first period
 * begins when the process began to measure. `now`: ticks.
 */
void segview_timed_set(struct segview *v, bool is_on, uint64_t now);

/*
 * Returns the ticks up to `now` in which all calls were measured, at most since the process was set
 * up.
 */
uint64_t segview_timed(const struct segview *v, uint64_t now);

/* Fails with ERR_INVALID for bits beyond PROBE_KNOWN, or if there is no such probe. */
int segview_probe_set(struct segview *v, unsigned number, uint32_t word);

/*
 * Fails with ERR_INVALID for bits beyond EVENT_KNOWN, or an impossible number. The process notices
 * the change when the bell rings.
 */
int segview_event_set(struct segview *v, unsigned number, uint32_t word);
uint32_t segview_event_get(const struct segview *v, unsigned number);
uint32_t *segview_event_bell(struct segview *v); /* returns a futex in the segment */

/*
 * Makes the rank read a counter at the probe. A counter that is read there already is shared, and
 * *slot is the same. `func`: n ascending ids that both sides know, for kinds of functions. Earlier
 * records have no value in a new slot. Fails with ERR_INVALID, ERR_NOMEM, and with ERR_LIMIT if
 * SEG_READS others are read, or the lists are full.
 */
struct segview_read {
	enum seg_read_kind kind;
	unsigned cell;
	const uint16_t *func;
	unsigned nfunc;
	const int32_t *rank; /* for kinds with partners: ascending world ranks */
	unsigned nrank;
};
int segview_read_add(struct segview *v, unsigned number, const struct segview_read *r,
		     unsigned *slot);

/* Undoes one segview_read_add(). */
void segview_read_del(struct segview *v, unsigned number, unsigned slot);

/*
 * Adds a counter of calls in one region: from the probe `begin` of a thread to its next `end`,
 * which may be the same probe. An existing meter is shared, and keeps its start. `read` is a kind
 * of functions. `now`: ticks. Fails with ERR_INVALID, ERR_NOMEM, and with ERR_LIMIT if there are
 * SEG_METERS others, or the lists are full.
 */
struct segview_meter {
	unsigned begin, end;
	struct segview_read read;
};
int segview_meter_add(struct segview *v, const struct segview_meter *want, uint64_t now,
		      unsigned *number);

/* Undoes one segview_meter_add(). */
void segview_meter_del(struct segview *v, unsigned number);

/*
 * Values since the meter was added: calls and bytes, delays in ticks. Fails with ERR_INVALID if
 * there is no such meter.
 */
struct segview_metered {
	uint64_t value; /* a thread whose first probe is an end was inside at the beginning */
	uint64_t doubt; /* largest value to add for threads that have reached neither probe */
	bool torn;
};
int segview_meter_read(const struct segview *v, unsigned number, uint64_t now,
		       struct segview_metered *out);

/*
 * Installs a copy of *a. Checks func, phase, op, cell and operand, sets seq and next, and copies
 * the ascending lists of partners and threads. *index is the entry. Fails with ERR_LIMIT if the
 * table or the lists are full. Does not change the hook word: set HOOK_ACTION_START or _END.
 */
int segview_action_add(struct segview *v, const struct seg_action *a, const int32_t *partners,
		       const int32_t *threads, unsigned *index);
/*
 * Notes that the thread was in call `number` (segview_current()) when the action, a start, was
 * installed. Readings of its cell then include the call from `since` on, until the rank counts it.
 * Without memory they do not.
 */
void segview_action_late(struct segview *v, unsigned index, unsigned thread, uint64_t number);
int segview_action_del(struct segview *v, unsigned index);

/*
 * Clears hook words, actions, lists, probe words, reads and meters. For an lm without requests that
 * has just taken over the segment.
 */
void segview_reset(struct segview *v);

/*
 * Clears the same, but not the words of events: the lm continues some of them, and switches off the
 * others.
 */
void segview_reset_but_events(struct segview *v);

/* A cell cannot be cleared here, because the process writes it: readers subtract a baseline. */

/*
 * Stores the note of a cell for the next lm. n->seq is ignored. Fails with ERR_INVALID if there is
 * no such cell.
 */
int segview_note_set(struct segview *v, unsigned cell, const struct seg_note *n);

/*
 * Returns false if there is no such cell, or if an lm died while it wrote the note. The contents
 * are not checked.
 */
bool segview_note_get(const struct segview *v, unsigned cell, struct seg_note *out);

/* Notes for the next lm about the tools that measure all calls. */
struct segview_interests {
	struct seg_interest tool[SEG_INTERESTS];
	uint32_t rest; /* union of the words of all other tools */
};
void segview_interests_set(struct segview *v, const struct segview_interests *w);

/*
 * Returns false if no earlier lm has stored any, or if one died while writing. Words and tools are
 * not checked.
 */
bool segview_interests_get(const struct segview *v, struct segview_interests *out);

void segview_scale_set(struct segview *v, const struct ticks_scale *s);
void segview_lm_alive(struct segview *v, uint64_t lm_epoch);

#endif
