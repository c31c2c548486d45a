/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared segment of one watched process: its layout, and nothing else.
 *
 *	segment:  header page | hook words | probe words | event words | times of hooks |
 *		  action heads | actions | lists | notes | probes | reads | their functions |
 *		  meters | edges | events | their text | modules | posted |
 *		  thread[0] .. thread[n-1]
 *	thread:   head | slots | cells | partners | metered | sites | sizes | extents |
 *		  event ring
 *
 * The process (libapp) makes it as a sealed memfd named "omig-<caid>"; the lm
 * maps the same memory. Each part has one writer:
 *
 * - The process writes header.w, probes, events, posted, and threads but for the ring tails.
 *   One thread writes each thread block.
 * - The lm writes header.l, the hook, probe and event words, the times of hooks, actions and
 *   lists. It also writes notes, reads, meters, edges and the ring tails.
 *
 * Neither side ever waits for the other. What several words say together is guarded by a
 * sequence word: odd while its one writer is at work.
 *
 * All numbers are in host order: both sides are on one host. Layout changes
 * raise SEG_VERSION; functions are only ever appended to calls.def, which
 * does not. The lm believes nothing in here: it reads through segview.h.
 */
#ifndef COMMON_RING_SEG_H
#define COMMON_RING_SEG_H

#include "common/ring/segsize.h"

#include <assert.h>
#include <stdint.h>

#define SEG_MAGIC UINT64_C(0x4745532d47494d4f) /* "OMIG-SEG" */
#define SEG_VERSION 12

/*
 * A page of the largest size that the architecture may run with: the hook words are mapped on their
 * own.
 */
#if defined(__x86_64__)
#define SEG_PAGE_BYTES 4096
#else
#define SEG_PAGE_BYTES 65536
#endif

#define SEG_HOOKS 1024 /* hook words, action heads: room for functions to come */
#define SEG_ACTIONS 512 /* in-rank actions of all conditional requests together */
#define SEG_LIST_WORDS 8192 /* partner and thread lists of these actions */
#define SEG_CELLS 64 /* counters and integrators */
/* (function, partner) pairs per thread, a power of two: 128 partners of a send, a receive and their
 * wait, with room for short searches */
#define SEG_PARTNERS 512
/* the program, and libraries of its that have probes of their own */
#define SEG_PROBE_MODULES 4
#define SEG_PROBES_EACH 64 /* probes of one of them */
#define SEG_PROBES (SEG_PROBE_MODULES * SEG_PROBES_EACH)
#define SEG_PROBE_NAME_BYTES 64 /* Fortran's longest name and the 0 */
#define SEG_PROBE_PARAMS 14 /* with the reads they fit into a record of the ring */
#define SEG_READS 16 /* figures that a rank reads at one probe */
/* lists of functions of these figures, together: 16 of all there are */
#define SEG_READ_FUNCS 4096
/* counters by region: what fits into the last page of a thread */
#define SEG_METERS 32
#define SEG_EVENTS 1024 /* types of <omig/event.h>: their words are one page */
#define SEG_EVENT_TEXT_BYTES (128 * 1024) /* their definitions: 128 bytes each */
#define SEG_CHAINS (SEG_HOOKS + SEG_PROBES) /* of actions: of functions, then of probes */
/* Tools that count all calls, which the next lm distinguishes: the header has room for them. */
#define SEG_INTERESTS 6
/* Open operations that are listed: eight times what a wait can complete. */
#define SEG_POSTED 1024
/* call sites per thread, a power of two: a rank uses some dozens of its program's */
#define SEG_SITES 128
#define SEG_SITE_DEPTH 4 /* callers that distinguish sites */
#define SEG_MODULES 128 /* files with code: a program with MPI has some fifty */
#define SEG_MODULE_PATH_BYTES 200 /* a longer path is not noted */
#define SEG_BUILD_ID_BYTES 20 /* as linkers make it; a longer one is cut */
#define SEG_THREADS_DEFAULT 16
#define SEG_THREADS_MAX 64
#define SEG_RING_MIN_BYTES 4096
#define SEG_RING_DEFAULT_BYTES 32768 /* 10 ms of some 30,000 events a second */
#define SEG_RING_MAX_BYTES (1024 * 1024)
#define SEG_BYTES_MAX (256u * 1024 * 1024)

#define SEG_MEMFD_PREFIX "omig-" /* then the CA id, or "local" without one */
#define SEG_CAID_CHARS 8

/* Bits of a hook word. 0 = the hook is off: one load, one test, one branch. */
enum {
	HOOK_COUNT = 1 << 0, /* calls */
	HOOK_TIME = 1 << 1, /* delay, and `begin` while inside; see `times of hooks` */
	HOOK_VOLUME = 1 << 2, /* bytes out and in */
	HOOK_PARTNER = 1 << 3, /* the same per partner rank */
	HOOK_EVENT_START = 1 << 4, /* a record in the ring */
	HOOK_EVENT_END = 1 << 5,
	HOOK_ACTION_START = 1 << 6, /* run the function's chain of actions */
	HOOK_ACTION_END = 1 << 7,
	HOOK_SAMPLE_SHIFT = 8, /* 5 bits k: HOOK_TIME measures 1 call in 2^k and scales */
	HOOK_SAMPLE_MAX = 15,
	HOOK_SAMPLE_MASK = 31 << 8,
	HOOK_QUEUE = 1 << 13, /* what is posted is listed until it is complete */
	HOOK_SITE = 1 << 14, /* the same per call site */
	HOOK_KNOWN = 0x7fff,
	/* what OMIG_START can ask for */
	HOOK_START_KNOWN = HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_PARTNER | HOOK_SITE,
};

/*
 * Times of hooks: for each function the ticks at which HOOK_TIME was switched on, or 0. A thread
 * that was in the function then has no `begin`: its time counts from here, by the reader while the
 * call lasts, and by the process when it ends.
 */

/* Bits of a probe word. 0 = the probe is off. */
enum {
	PROBE_RECORD = 1 << 0, /* a record in the ring, with the reads */
	PROBE_ACTION = 1 << 1, /* run the probe's chain of actions */
	PROBE_EDGE = 1 << 2, /* a region begins or ends here: its meters are updated */
	PROBE_KNOWN = 7,
};

/* Bits of an event's word. 0 = the event is off. */
enum {
	EVENT_RECORD = 1 << 0, /* a record in the ring */
	/* alone: no record, the event is counted as lost. A library without this bit makes
	 * records */
	EVENT_REFUSE = 1 << 1,
	EVENT_KNOWN = 3,
};

/* What a parameter of a probe was declared as. */
enum seg_type {
	SEG_BOOL,
	SEG_I8,
	SEG_I16,
	SEG_I32,
	SEG_I64,
	SEG_U8,
	SEG_U16,
	SEG_U32,
	SEG_U64,
	SEG_F32,
	SEG_F64,
	SEG_TYPES
};
#define SEG_IS_FLOAT(type) ((type) >= SEG_F32)

/* A parameter, by its type, or a figure that was read. */
union seg_value {
	int64_t i; /* SEG_BOOL to SEG_U32 too */
	uint64_t u;
	double f;
};

/* What a rank can read at a probe: of all its threads, at the moment of the probe. */
enum seg_read_kind {
	SEG_READ_NONE,
	SEG_READ_COUNTER, /* a cell: i */
	SEG_READ_INTEGRATOR, /* a cell: f, v * ticks */
	SEG_READ_CALLS, /* sums over functions: u */
	SEG_READ_DELAY, /* ticks */
	SEG_READ_OUT, /* bytes */
	SEG_READ_IN,
	SEG_READ_PARTNER_CALLS, /* the same of calls with some partners; delays of ended ones */
	SEG_READ_PARTNER_DELAY,
	SEG_READ_PARTNER_OUT,
	SEG_READ_PARTNER_IN,
	SEG_READ_KINDS
};
#define SEG_IS_OF_PARTNERS(kind) ((kind) >= SEG_READ_PARTNER_CALLS)

enum seg_state {
	SEG_SETTING_UP, /* MPI_Init has not returned: identity may be incomplete */
	SEG_RUNNING,
	SEG_FINALIZED, /* MPI_Finalize was entered; totals stay readable */
	SEG_WITHOUT_MPI, /* runs, with probes or events of its own; MPI_Init may still come */
};

enum seg_flavour { SEG_FLAVOUR_NONE, SEG_FLAVOUR_OPENMPI, SEG_FLAVOUR_MPICH };

/*
 * What the process says about itself. Text is NUL-terminated, cut to what fits, and not to be
 * trusted.
 */
struct seg_own {
	int32_t pid; /* as the process sees it; the lm has the kernel's word */
	int32_t rank; /* in MPI_COMM_WORLD; -1 unknown */
	int32_t world_size; /* -1 unknown */
	uint32_t flavour; /* enum seg_flavour */
	uint32_t thread_level; /* MPI_THREAD_SINGLE 0 .. MULTIPLE 3 */
	uint32_t tick_source; /* enum ticks_source of common/base/clock.h */
	uint32_t state; /* enum seg_state */
	uint32_t appnum; /* of an MPMD or spawned world; 0 */
	uint64_t start_ticks; /* set-up, in both clocks: a first calibration point */
	int64_t start_ns; /* CLOCK_MONOTONIC */
	uint32_t threads_used; /* thread blocks that have ever been claimed */
	/* level of the last MPI_Pcontrol; 1 at the start; 0 = all hooks silent */
	uint32_t pcontrol;
	uint64_t threads_lost; /* threads that found no block free */
	uint64_t calls_lost; /* calls that these made with their hooks on */
	uint64_t actions_skipped; /* chains of actions that a change of the lm cut short */
	uint32_t start_word; /* hook word of every function before any request: OMIG_START */
	uint32_t probe_modules_lost; /* modules with probes that found no place */
	char job[64]; /* OMIG_JOB, else what the launcher gives */
	char site[64]; /* OMIG_SITE, or "" */
	char program[128]; /* the executable's path */
	char library[64]; /* of the MPI library's version text, first line */
	uint64_t probes_nested; /* met inside of a library call, or by a handler of signals: not
				   reported */
	uint64_t posted_lost; /* operations that the list of posted ones had no room for, or lost
				 sight of */
	uint32_t events_used; /* numbers 0 to this, less 1, are announced */
	uint32_t event_types_lost; /* that found no place */
	uint64_t requests_lost; /* how often a persistent request was met whose bytes cannot be
				   counted */
	uint64_t world; /* MPI_COMM_WORLD: its handle in C, */
	int32_t f_world; /* and in Fortran; 0 in both: not known */
	int32_t any_source, proc_null; /* in the place of a peer */
	uint32_t counts_late; /* 1: the process knows `since` of actions */
	uint64_t speaks_since; /* ticks of the last MPI_Pcontrol(1), or 0 */
	uint8_t spare[40];
};

/* What a tool measures of all calls: noted for the lm after this one. */
struct seg_interest {
	uint32_t tool;
	uint32_t word; /* of a hook; 0: there is none */
};

/* What the lm writes for the process. */
struct seg_lm {
	uint64_t lm_epoch; /* start time of the lm that holds this segment; 0 = none yet */
	uint64_t lm_alive; /* raised now and then, for app.h's attach query */
	uint32_t seq; /* guards the scale */
	uint32_t source;
	uint64_t base_ticks; /* struct ticks_scale, by value: see common/base/clock.h */
	int64_t base_ns;
	uint64_t mult;
	uint32_t shift;
	uint32_t posted_epoch; /* entries of another one are over; 0: nothing was ever listed */
	uint32_t event_bell; /* a futex: event words have changed */
	uint32_t interest_seq; /* guards `interest` and `interest_rest`; 0: none were noted */
	uint32_t interest_rest; /* a hook word: what is measured and is no tool's in `interest` */
	struct seg_interest interest[SEG_INTERESTS];
	uint32_t site_depth; /* callers that are noted: 1 to SEG_SITE_DEPTH; else 1 */
	uint64_t actions_since; /* the latest `since` of an action */
	/* HOOK_TIME is on for all calls since then, or 0; ticks of earlier times */
	uint64_t timed_since, timed_before;
};

struct seg_header {
	uint64_t magic; /* written last */
	uint32_t version;
	uint32_t header_bytes; /* sizeof(struct seg_header) */
	uint64_t segment_bytes;
	uint32_t func_count; /* entries of calls.def that the process knows */
	uint32_t hook_count; /* SEG_HOOKS */
	uint32_t action_count, list_words;
	uint32_t cell_count, partner_count;
	uint32_t thread_count; /* blocks */
	uint32_t ring_bytes; /* a power of two */
	uint64_t hook_offset, head_offset, action_offset, list_offset, note_offset, thread_offset;
	uint64_t thread_bytes; /* of one block */
	/* inside a thread block */
	uint64_t slot_offset, cell_offset, partner_offset, ring_offset;
	uint64_t probe_word_offset, probe_offset, read_offset, read_func_offset;
	uint64_t posted_offset;
	uint64_t event_word_offset, event_offset, event_text_offset;
	uint64_t meter_offset, edge_offset, metered_offset; /* the last one inside a thread block */
	uint64_t since_offset;
	uint64_t module_offset, site_offset; /* the latter inside a thread block */
	uint64_t size_offset, extent_offset; /* inside a thread block */
	struct seg_own w;
	struct seg_lm l;
};

/*
 * The call that a thread is in, watched or not: a line of the cache that only this thread writes.
 * It is in that call while `frame` is not 0. Stored in this order: the arguments, `word`, `frame`;
 * so a reader that finds one call in `word`, and `frame` not 0 between, has that call's arguments.
 * Arguments are those that the function has (struct call_desc): the others are left over from
 * earlier calls.
 */
struct seg_current {
	uint64_t word; /* SEG_CURRENT_ONE x the calls that were begun, marks, function + 1; function
			  0: no call */
	uint64_t frame; /* the process's own: where its stack was, made odd */
	uint64_t comm; /* communicator, window or file as the program has it; of Fortran an integer
			*/
	int32_t peer, tag; /* as in the call; of a Sendrecv those of its send */
	int32_t source, source_tag; /* of a Sendrecv */
	/* of a wait for one partner only, while `word` is wait_word: its rank in the world */
	uint64_t wait_word;
	int64_t wait_partner;
	uint64_t spare;
};
#define SEG_CURRENT_FUNC 0xfff
/* HOOK_TIME was on when it began: its time is no matter of `since` */
#define SEG_CURRENT_TIMED (1 << 13)
#define SEG_CURRENT_FORTRAN (1 << 14)
#define SEG_CURRENT_ONE (1 << 16)

/* Head of a thread block; its slots follow. */
struct seg_thread {
	uint32_t tid; /* kernel's id of the owner; 0 = never claimed */
	/* raised when a new thread takes over a dead one's block; values continue to add up */
	uint32_t generation;
	uint64_t partner_lost; /* calls that the partner table had no room for */
	/* ticks of calls that had begun before their hook was on, and whose partner is not known */
	uint64_t partner_unknown;
	uint64_t site_lost; /* calls that the table of sites had no room for */
	uint64_t size_lost; /* calls that the table of sizes had no room for */
	uint64_t spare0[3];
	struct seg_current current;
	/*
	 * the event ring, see ring.h: its positions only ever grow; writer's and reader's word on
	 * lines of their own
	 */
	uint64_t ring_head; /* bytes ever written; by the process */
	uint64_t ring_dropped; /* records that did not fit */
	uint64_t spare1[6];
	uint64_t ring_tail; /* bytes ever taken; by the lm */
	uint64_t spare2[7];
};

/*
 * One function in one thread. Delay is I of an integrator: a reader at tick T adds T - begin while
 * begin is set.
 */
struct seg_slot {
	uint32_t seq; /* odd while begin, delay, bytes and sampled change; count stands alone */
	uint32_t spare0;
	uint64_t count; /* outermost calls begun with HOOK_COUNT */
	uint64_t delay; /* ticks, already multiplied by 2^k when sampled */
	/* tick of the call that has not ended, or 0; with sampling only of a measured one */
	uint64_t begin;
	uint64_t bytes_out, bytes_in; /* see calls.def for what counts */
	uint64_t sampled; /* calls whose delay was measured */
	uint64_t dropped; /* records of its events that found no room in the ring */
};

/*
 * A counter (n) or an integrator (integral, v, t) in one thread: the value of the object is the sum
 * over threads.
 */
struct seg_cell {
	uint32_t seq; /* odd while it changes */
	uint32_t spare;
	union {
		int64_t n;
		double integral; /* of v over time: v * ticks */
	};
	double v;
	uint64_t t; /* ticks of the last change */
};

/*
 * Whose a cell is and where it stood when it was given away: written by the
 * lm for the lm that comes after it, so that a counter continues where it was.
 */
struct seg_note {
	uint32_t seq; /* odd while it changes */
	uint32_t kind; /* enum token_kind of the last owner, 0: there was none yet */
	uint64_t number; /* of the owner's token; 0: it has no owner now */
	uint32_t tool; /* whose owner it is */
	uint32_t spare;
	int64_t base_n, own_n; /* what the cell had; what was added from outside of the rank */
	double base_integral, base_v; /* v * ticks, v */
	uint64_t base_ticks;
	double own_integral, own_v, own_t; /* v * s, v, system seconds */
};

/* Number m * SEG_PROBES_EACH + i is the i-th of module m. Written before the segment's magic
 * word. */
struct seg_probe {
	char name[SEG_PROBE_NAME_BYTES]; /* "": there is none */
	uint32_t nparam;
	uint8_t type[SEG_PROBE_PARAMS]; /* enum seg_type; the first is the virtual time */
	uint8_t spare[6];
	uint64_t dropped; /* records that found no room; this alone changes */
};

/* A type of events, by the order of announcing. Written before events_used counts it; lost
 * grows. */
struct seg_event {
	uint32_t offset,
		bytes; /* in the text: its definition as event logs have it (docs/eventlog.md) */
	uint64_t lost; /* events that were on and found no room */
};

struct seg_read {
	uint8_t kind; /* enum seg_read_kind */
	uint8_t spare;
	union {
		uint16_t cell;
		uint16_t ranks; /* of partners: world ranks behind the functions, ascending, two
				   words each, the low one first */
	};
	uint16_t first, count; /* functions in the lists */
};

/* What a record of one probe carries. The first 8 bytes change together; a slot in the mask keeps
 * its meaning. */
struct seg_reads {
	uint32_t seq; /* odd while it changes */
	uint32_t mask; /* of slots that are read */
	struct seg_read slot[SEG_READS];
};

/*
 * A counter of calls in one region: what the calls of a thread add to it from the thread's begin
 * probe on to its next end probe. An epoch stands for one meaning; 0 = the meter is
 * off.
 */
struct seg_meter {
	uint32_t epoch;
	uint32_t spare;
	struct seg_read read; /* of functions, not of partners */
};

/* What begins and ends at a probe: a bit for each meter. What does both ends first. */
struct seg_edges {
	uint32_t end, begin;
};

enum seg_metered_state {
	SEG_METERED_UNKNOWN, /* the thread has met neither probe */
	SEG_METERED_OUTSIDE,
	SEG_METERED_INSIDE,
};

/* One meter in one thread. Of another epoch than its meter's it is about something else. */
struct seg_metered {
	uint32_t seq; /* odd while it changes */
	uint32_t epoch;
	uint32_t state; /* enum seg_metered_state */
	uint32_t has_first_end; /* the first probe that was met was an end: */
	uint64_t first_end; /* what the figure was then */
	uint64_t sum; /* of what has ended */
	uint64_t begin; /* what the figure was when the thread went in */
};

/* What a call of seg_partner was for: bits. */
enum {
	SEG_FOR_RECEIVE = 1 << 0,
	SEG_FOR_SEND = 1 << 1,
	SEG_FOR_COLLECTIVE = 1 << 2,
	SEG_FOR_ONESIDED = 1 << 3,
	SEG_FOR_KNOWN = 15,
};
#define SEG_TAG_SEVERAL (-2)

/*
 * Calls of one function with one partner. key is written once, after which the sums grow; each
 * alone is whole. A wait for several requests ends with the last of them, and no call says which
 * one that was. Where they have several partners, the time is shared out among these.
 */
struct seg_partner {
	/* (function + 1) << 32 | world rank, or of waits CALL_PARTNER_X; 0 = free */
	uint64_t key;
	uint64_t count, bytes_out, bytes_in;
	/* ticks of calls that have ended, multiplied by 2^k when sampled, and had this partner
	 * only */
	uint64_t delay;
	uint64_t shared; /* of calls with several: the part of this one */
	uint64_t possible; /* the same calls: all of their ticks */
	/* the thread's own: the call of many requests that it was in last, and its place among the
	 * partners of a call */
	uint32_t call, place;
	uint32_t kinds; /* SEG_FOR_X */
	int32_t tag; /* -1 any or none; SEG_TAG_SEVERAL */
};

/*
 * Calls of one function from one place of the program. All but the sums is written before `key`,
 * which stays. Each sum alone is whole.
 */
struct seg_site {
	uint64_t key; /* of the function and the addresses; 0 = free */
	uint32_t func, depth; /* addresses that are filled */
	uint64_t pc[SEG_SITE_DEPTH]; /* where the call returns to, and its callers behind that */
	uint64_t count, bytes_out, bytes_in;
	uint64_t delay; /* ticks of calls that have ended, multiplied by 2^k when sampled */
	uint64_t longest; /* ticks of one call, of those that were measured */
	uint64_t spare;
};

/* A file with code in the process, as of MPI_Init. Never changes afterwards. */
struct seg_module {
	uint64_t start, end; /* of its code; 0: there is none */
	uint64_t bias; /* what is added to the addresses of the file */
	uint32_t build_id_bytes; /* 0: it has none */
	uint8_t build_id[SEG_BUILD_ID_BYTES];
	char path[SEG_MODULE_PATH_BYTES];
};

/*
 * A send or receive that has begun and is not complete. A thread claims it and gives it back by
 * exchanging `state`. The upper half of `state` grows with each claim: a reader sees a whole entry
 * or none.
 */
struct seg_posted {
	uint64_t state; /* lower half: posted_epoch, 0 = free, POSTED_CLAIMED */
	uint16_t func;
	uint16_t is_receive; /* 1: what a Sendrecv receives; else as its function is */
	int32_t tag; /* -1 any */
	int32_t partner; /* world rank, -1 any or unknown */
	uint32_t spare1;
	uint64_t ticks; /* when it began */
	int64_t bytes; /* to be sent, or room for them */
	uint64_t comm; /* the handle, as the program has it */
	uint64_t spare2[2];
};
#define POSTED_CLAIMED UINT32_MAX

static_assert(sizeof(struct seg_own) == 512, "layout");
static_assert(sizeof(struct seg_lm) == 144, "layout");
static_assert(sizeof(struct seg_header) == 928, "layout");
static_assert(sizeof(struct seg_header) <= 4096, "the header is one page");
static_assert(sizeof(struct seg_current) == 64, "one cache line");
static_assert(sizeof(struct seg_thread) == 256, "layout");
static_assert(SEG_HOOKS < SEG_CURRENT_FUNC, "functions fit");
static_assert(sizeof(struct seg_slot) == 64, "one cache line");
static_assert(sizeof(struct seg_cell) == 32, "layout");
static_assert(sizeof(struct seg_note) == 88, "layout");
static_assert(sizeof(struct seg_partner) == 72, "layout");
static_assert(sizeof(struct seg_read) == 8, "one word, of meters too");
static_assert(sizeof(struct seg_meter) == 16, "layout");
static_assert(sizeof(struct seg_metered) == 40, "layout");
static_assert(sizeof(struct seg_edges) == 8 && SEG_METERS == 32, "their masks are one word");
static_assert(sizeof(struct seg_site) == 96, "layout");
static_assert(sizeof(struct seg_module) == 248, "layout");
static_assert(sizeof(struct seg_posted) == 64, "one cache line");
static_assert(sizeof(struct seg_probe) == 96, "layout");
static_assert(sizeof(struct seg_reads) == 136, "layout");
static_assert(sizeof(struct seg_event) == 16, "layout");
static_assert(SEG_EVENTS * 4 <= SEG_PAGE_BYTES, "event words are one page");
static_assert(SEG_PROBES_EACH * 4 <= SEG_PAGE_BYTES, "probe words of a module are one page");
static_assert(SEG_HOOKS * 4 <= SEG_PAGE_BYTES, "hook words are one page");

/*
 * The message that goes with the memfd (SCM_RIGHTS) over the lm's SOCK_SEQPACKET socket, once.
 * Without one, bytes 0: the sender is about to become a program that is chosen
 * (common/ring/chosen.h).
 */
#define SEG_REGISTER_MAGIC 0x52474d4f /* "OMGR" */
struct seg_register {
	uint32_t magic;
	uint32_t version; /* SEG_VERSION */
	int32_t pid;
	uint32_t spare;
	uint64_t bytes; /* size of the memfd */
};
static_assert(sizeof(struct seg_register) == 24, "layout");
/* all ranks of a host start together, and none of them waits */
#define SEG_REGISTER_BACKLOG 1024

/*
 * Fills the layout part of *h (from version to spare; not magic, w, l) for these numbers of
 * functions, threads and ring bytes. Each is cut to its limits, and ring bytes are rounded up to a
 * power of two.
 * The layout follows from these three numbers alone. Signal-safe.
 */
void seg_plan(struct seg_header *h, unsigned funcs, unsigned threads, uint64_t ring_bytes);

/* "int32", "float64", ...; "?" out of range. */
const char *seg_type_name(unsigned type);

/* The lm of a host, for those that use its runtime directory. */
struct seg_lm_name {
	const char *runtime, *host, *caid;
};

/*
 * "R/lm-<host>-<caid>.sock" and ".lock": where the lm of this host listens. ext begins with the
 * point. -1: does not fit.
 */
int seg_lm_path(char *out, unsigned long size, const struct seg_lm_name *lm, const char *ext);

/*
 * The lm's socket at that path, listening, for its owner alone; close-on-exec. The caller holds the
 * lm's lock: a file at that path was left by a dead lm, and is replaced. -1 with errno.
 */
int seg_listen(const char *path);

/*
 * The CA id of a connection string: of "omig1:HOST..:PORT:PIN[:TOKEN]" the first SEG_CAID_CHARS
 * characters of PIN. out has SEG_CAID_CHARS + 1 bytes. It is "local" when conn is NULL, empty or
 * malformed. Returns 0, or -1 in the latter case. Signal-safe.
 */
int seg_caid(const char *conn, char *out);

#endif
