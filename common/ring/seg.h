/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared segment of one watched process: its layout, and nothing else.
 *
 *	segment:  header page | hook words | probe words | event words | times of hooks |
 *		  action heads | actions | lists | notes | probes | reads | their functions |
 *		  meters | edges | events | their text | modules | posted | mounts |
 *		  thread[0] .. thread[n-1]
 *	thread:   head | slots | cells | partners | metered | sites | sizes | extents |
 *		  event ring
 *
 * The process (libapp) makes it as a sealed memfd named "omig-<caid>"; the lm maps the same memory.
 * Each part has one writer:
 *
 * - The process writes header.w, probes, events, posted, mounts, and threads but for ring tails.
 *   One thread writes each thread block.
 * - The lm writes header.l, the hook, probe and event words, the times of hooks, actions and lists.
 *   It also writes notes, reads, meters, edges and the ring tails.
 *
 * Neither side ever waits for the other. Values of several words are guarded by a sequence word,
 * which is odd while its only writer changes them.
 *
 * All numbers are in host order: both sides are on one host. Changes of the layout raise
 * SEG_VERSION. Functions are appended to calls.def, which is not such a change. The lm trusts no
 * value in the segment: it reads through segview.h.
 */
#ifndef COMMON_RING_SEG_H
#define COMMON_RING_SEG_H

#include "common/ring/segmount.h"
#include "common/ring/segsize.h"

#include <assert.h>
#include <stdint.h>

#define SEG_MAGIC UINT64_C(0x4745532d47494d4f) /* "OMIG-SEG" */
#define SEG_VERSION 16

/* The largest page size of the architecture: the hook words have pages of their own. */
#if defined(__x86_64__)
#define SEG_PAGE_BYTES 4096
#else
#define SEG_PAGE_BYTES 65536
#endif

/* functions with hook words and action heads, with room for future ones */
#define SEG_HOOKS 1024
#define SEG_ACTIONS 512 /* actions in the rank, of all conditional requests together */
#define SEG_LIST_WORDS 8192 /* words of partner and thread lists of these actions */
#define SEG_CELLS 64 /* counters and integrators */
/*
 * (function, partner) pairs of a thread, a power of two: 128 partners of a send, a receive and
 * their wait, with room for short searches
 */
#define SEG_PARTNERS 512
/* modules with probes: the program, and libraries */
#define SEG_PROBE_MODULES 4
#define SEG_PROBES_EACH 64 /* probes of one module */
/* first probe of functions: segsize.h */
#define SEG_FUNCTION_FIRST (SEG_PROBE_MODULES * SEG_PROBES_EACH)
#define SEG_FUNCTION_BEGIN(slot) (SEG_FUNCTION_FIRST + 2 * (slot))
#define SEG_FUNCTION_END(slot) (SEG_FUNCTION_BEGIN(slot) + 1)
/* probes of collective calls, in a page of words of their own */
#define SEG_COLLECTIVE_FIRST (SEG_FUNCTION_FIRST + SEG_PROBES_EACH)
#define SEG_PROBES (SEG_COLLECTIVE_FIRST + COLLECTIVES)
#define SEG_PROBE_NAME_BYTES 64 /* Fortran's longest name, and the 0 */
/* with counters that are read, these fit into a record of the ring */
#define SEG_PROBE_PARAMS 14
#define SEG_READS 16 /* counters that a rank reads at one probe */
/* functions in lists of all counters together: 16 lists of all functions */
#define SEG_READ_FUNCS 4096
#define SEG_METERS 32 /* counters by region, which fit in the last page of a thread */
#define SEG_EVENTS 1024 /* types of <omig/event.h>, whose words take one page */
#define SEG_EVENT_TEXT_BYTES (128 * 1024) /* text of their definitions: 128 bytes each */
#define SEG_CHAINS (SEG_HOOKS + SEG_PROBES) /* chains of actions: of functions, then of probes */
/* tools that measure all calls, stored for the next lm; limited by the size of the header */
#define SEG_INTERESTS 6
/* Entries of the list of open operations: eight times as many as one wait can complete. */
#define SEG_POSTED 1024
/* call sites of a thread, a power of two: a rank uses some dozens */
#define SEG_SITES 128
#define SEG_SITE_DEPTH 4 /* callers by which sites are distinguished */
#define SEG_MODULES 128 /* files with code: a program with MPI has about fifty */
#define SEG_MODULE_PATH_BYTES 200 /* longer paths are not stored */
#define SEG_BUILD_ID_BYTES 20 /* size in which linkers make it; a longer one is cut */
#define SEG_THREADS_DEFAULT 16
#define SEG_THREADS_MAX 64
#define SEG_RING_MIN_BYTES 4096
#define SEG_RING_DEFAULT_BYTES 32768 /* 10 ms at about 30,000 events a second */
#define SEG_RING_MAX_BYTES (1024 * 1024)
#define SEG_BYTES_MAX (256u * 1024 * 1024)

/* prefix of the memfd's name, followed by the CA id, or by "local" without one */
#define SEG_MEMFD_PREFIX "omig-"
#define SEG_CAID_CHARS 8

/* Bits of a hook word. 0: the hook is off, and costs one load, one test, one branch. */
enum {
	HOOK_COUNT = 1 << 0, /* count calls */
	HOOK_TIME = 1 << 1, /* measure delay, and set `begin` during a call; see `times of hooks` */
	HOOK_VOLUME = 1 << 2, /* count bytes out and in */
	HOOK_PARTNER = 1 << 3, /* also by rank of the partner */
	HOOK_EVENT_START = 1 << 4, /* write a record to the ring */
	HOOK_EVENT_END = 1 << 5,
	HOOK_ACTION_START = 1 << 6, /* run the function's chain of actions */
	HOOK_ACTION_END = 1 << 7,
	HOOK_SAMPLE_SHIFT = 8, /* 5 bits k: HOOK_TIME measures 1 call in 2^k, and multiplies */
	HOOK_SAMPLE_MAX = 15,
	HOOK_SAMPLE_MASK = 31 << 8,
	HOOK_QUEUE = 1 << 13, /* list posted operations until they are complete */
	HOOK_SITE = 1 << 14, /* also by call site */
	HOOK_MESSAGE = 1 << 15, /* number messages; only from MPI_Init on */
	HOOK_KNOWN = 0xffff,
	/* hooks that OMIG_START may contain */
	HOOK_START_KNOWN =
		HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_PARTNER | HOOK_SITE | HOOK_MESSAGE,
};

/*
 * Times of hooks: for each function the ticks at which HOOK_TIME was switched on, or 0. A thread
 * that was in the function then has no `begin`, so its time counts from there. The reader adds this
 * time while the call lasts, and the process when it ends.
 */

/* Bits of a probe word. 0 = the probe is off. */
enum {
	PROBE_RECORD = 1 << 0, /* write a record to the ring, with counters that are read */
	PROBE_ACTION = 1 << 1, /* run the probe's chain of actions */
	PROBE_EDGE = 1 << 2, /* a region begins or ends here: update its meters */
	PROBE_KNOWN = 7,
};

/* Bits of an event's word. 0 = the event is off. */
enum {
	EVENT_RECORD = 1 << 0, /* write a record to the ring */
	/*
	 * if it is the only bit: count the event as lost, without a record. A library that does not
	 * know this bit writes records
	 */
	EVENT_REFUSE = 1 << 1,
	EVENT_KNOWN = 3,
};

/* Declared type of a parameter of a probe. */
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

/* A parameter of a probe, by its type, or a counter that was read. */
union seg_value {
	int64_t i; /* also for SEG_BOOL to SEG_U32 */
	uint64_t u;
	double f;
};

enum seg_state {
	SEG_SETTING_UP, /* MPI_Init has not returned: the identity may be incomplete */
	SEG_RUNNING,
	SEG_FINALIZED, /* MPI_Finalize was called; totals can still be read */
	SEG_WITHOUT_MPI, /* running with probes or events, without MPI so far */
};

enum seg_flavour { SEG_FLAVOUR_NONE, SEG_FLAVOUR_OPENMPI, SEG_FLAVOUR_MPICH };

/* The process's description of itself. Texts end with a 0, may be cut, and are not trustworthy. */
struct seg_own {
	int32_t pid; /* pid in the process's namespace; the lm uses the kernel's value */
	int32_t rank; /* rank in MPI_COMM_WORLD; -1 unknown */
	int32_t world_size; /* -1 unknown */
	uint32_t flavour; /* enum seg_flavour */
	uint32_t thread_level; /* MPI_THREAD_SINGLE 0 .. MULTIPLE 3 */
	uint32_t tick_source; /* enum ticks_source of common/base/clock.h */
	uint32_t state; /* enum seg_state */
	uint32_t appnum; /* number of the program in an MPMD or spawned world; otherwise 0 */
	/* time of the set-up in both clocks, which is a first calibration point */
	uint64_t start_ticks;
	int64_t start_ns; /* CLOCK_MONOTONIC */
	uint32_t threads_used; /* number of thread blocks that were ever claimed */
	/* level of the last MPI_Pcontrol; 1 at first; 0 switches all hooks off */
	uint32_t pcontrol;
	uint64_t threads_lost; /* threads for which no block was free */
	uint64_t calls_lost; /* calls of these threads while hooks were on */
	uint64_t actions_skipped; /* chains of actions that were cut short by a change of the lm */
	uint32_t start_word; /* hook word of every function before any request, from OMIG_START */
	uint32_t probe_modules_lost; /* modules with probes for which there was no room */
	char job[64]; /* OMIG_JOB, or the launcher's name of the job */
	char site[64]; /* OMIG_SITE, or "" */
	char program[128]; /* path of the executable */
	char library[64]; /* first line of the MPI library's version text */
	/* probes passed inside of a library call or in a signal handler; not reported */
	uint64_t probes_nested;
	/* operations for which the list of posted ones had no room, or which it could not follow */
	uint64_t posted_lost;
	uint32_t events_used; /* number of announced types */
	uint32_t event_types_lost; /* types for which there was no room */
	uint64_t requests_lost; /* starts of persistent requests whose bytes cannot be counted */
	uint64_t world; /* MPI_COMM_WORLD: its handle in C, */
	int32_t f_world; /* and its handle in Fortran; 0 in both: unknown */
	int32_t any_source, proc_null; /* constants in place of a peer */
	uint32_t counts_late; /* 1: the process supports `since` of actions */
	uint64_t speaks_since; /* ticks of the last MPI_Pcontrol(1), or 0 */
	/* entry and exit code of libomig, and areas for patched code; 0: there are none */
	uint64_t function_enter, function_exit, function_area[SEG_FUNCTION_AREAS];
	uint32_t was_entered; /* 1: the process ran unwatched before start_ns (common/gate) */
	/* seconds from start_ns to the last time it was attached, rounded up */
	uint32_t entered_s;
	uint32_t numbers_collectives; /* 1: since MPI_Init, so the lm names their probes */
	uint32_t spare_own;
};

/* The hook word that one tool requests for all calls, stored for the next lm. */
struct seg_interest {
	uint32_t tool;
	uint32_t word; /* a hook word; 0: no entry */
};

/* Written by the lm, read by the process. */
struct seg_lm {
	uint64_t lm_epoch; /* start time of the lm that has this segment; 0 = none yet */
	/* incremented at intervals, for the query in app.h whether an lm is attached */
	uint64_t lm_alive;
	uint32_t seq; /* guards the scale */
	uint32_t source;
	uint64_t base_ticks; /* struct ticks_scale of common/base/clock.h, by value */
	int64_t base_ns;
	uint64_t mult;
	uint32_t shift;
	/* entries of another epoch are invalid; 0: no list was started yet */
	uint32_t posted_epoch;
	uint32_t event_bell; /* a futex that changes when event words have changed */
	uint32_t interest_seq; /* guards `interest` and `interest_rest`; 0: nothing was stored */
	uint32_t interest_rest; /* hook word of all measuring that is not in `interest` */
	struct seg_interest interest[SEG_INTERESTS];
	/* number of callers to store: 1 to SEG_SITE_DEPTH; other values mean 1 */
	uint32_t site_depth;
	uint64_t actions_since; /* the latest `since` of an action */
	/* ticks since which HOOK_TIME is on for all calls, or 0; sum of earlier periods */
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
	uint32_t thread_count; /* number of thread blocks */
	uint32_t ring_bytes; /* a power of two */
	uint64_t hook_offset, head_offset, action_offset, list_offset, note_offset, thread_offset;
	uint64_t thread_bytes; /* size of one block */
	/* offsets inside of a thread block */
	uint64_t slot_offset, cell_offset, partner_offset, ring_offset;
	uint64_t probe_word_offset, probe_offset, read_offset, read_func_offset;
	uint64_t posted_offset;
	uint64_t event_word_offset, event_offset, event_text_offset;
	/* metered_offset is inside of a thread block */
	uint64_t meter_offset, edge_offset, metered_offset;
	uint64_t since_offset;
	uint64_t module_offset, site_offset; /* site_offset is inside of a thread block */
	uint64_t size_offset, extent_offset; /* inside of a thread block */
	uint64_t mount_offset;
	struct seg_own w;
	struct seg_lm l;
};

/*
 * The current call of a thread, watched or not, in a cache line that only this thread writes. The
 * thread is in the call while `frame` is not 0. The order of stores is: the arguments, `word`,
 * `frame`. So a reader that sees one `word`, with `frame` not 0 in between, has the arguments of
 * that call. Only the arguments that the function has (struct call_desc) are valid; the others are
 * from earlier calls.
 */
struct seg_current {
	/* SEG_CURRENT_ONE times the number of calls so far, marks, function + 1 or 0 */
	uint64_t word;
	uint64_t frame; /* for the process only: address of its stack frame, made odd */
	/* communicator, window or file in the program's form; an integer in Fortran */
	uint64_t comm;
	int32_t peer, tag; /* as in the call; for a Sendrecv those of its send */
	int32_t source, source_tag; /* for a Sendrecv */
	/* world rank of the partner of a wait for one partner, valid while `word` is wait_word */
	uint64_t wait_word;
	int64_t wait_partner;
	uint64_t spare;
};
#define SEG_CURRENT_FUNC 0xfff
/* HOOK_TIME was on when the call began, so `since` does not apply */
#define SEG_CURRENT_TIMED (1 << 13)
#define SEG_CURRENT_FORTRAN (1 << 14)
#define SEG_CURRENT_ONE (1 << 16)

/* Head of a thread block; its slots follow. */
struct seg_thread {
	uint32_t tid; /* kernel's id of the owner; 0 = never claimed */
	/* incremented when a new thread uses the block; values continue to add up */
	uint32_t generation;
	uint64_t partner_lost; /* calls for which the partner table had no room */
	/* ticks of calls that began before their hook was on, and whose partner is unknown */
	uint64_t partner_unknown;
	uint64_t site_lost; /* calls for which the table of sites had no room */
	uint64_t size_lost; /* calls for which the table of sizes had no room */
	uint64_t spare0[3];
	struct seg_current current;
	/*
	 * the event ring, see ring.h; positions never decrease; words of writer and reader are in
	 * separate cache lines
	 */
	uint64_t ring_head; /* bytes written so far; by the process */
	uint64_t ring_dropped; /* records without room */
	uint64_t spare1[6];
	uint64_t ring_tail; /* bytes taken so far; by the lm */
	uint64_t spare2[7];
};

/* One function in one thread. A reader at tick T adds T - begin to delay while begin is set. */
struct seg_slot {
	/* odd while begin, delay, bytes and sampled change; count does not depend on it */
	uint32_t seq;
	uint32_t spare0;
	uint64_t count; /* outermost calls that began with HOOK_COUNT */
	uint64_t delay; /* ticks, already multiplied by 2^k with sampling */
	/* tick of the call in progress, or 0; with sampling only of a measured call */
	uint64_t begin;
	uint64_t bytes_out, bytes_in; /* see calls.def for the bytes that count */
	uint64_t sampled; /* number of calls whose delay was measured */
	uint64_t dropped; /* records of its events without room in the ring */
};

/* A counter (n) or an integrator (integral, v, t) in one thread; the threads are added up. */
struct seg_cell {
	uint32_t seq; /* odd while it changes */
	uint32_t spare;
	union {
		int64_t n;
		double integral; /* integral of v over time: v * ticks */
	};
	double v;
	uint64_t t; /* ticks of the last change */
};

/*
 * The owner of a cell, and the cell's value when the owner got it. The lm stores it for the next
 * lm, so that the counter continues.
 */
struct seg_note {
	uint32_t seq; /* odd while it changes */
	uint32_t kind; /* enum token_kind of the last owner; 0: there was none yet */
	uint64_t number; /* number in the owner's token; 0: it has no owner now */
	uint32_t tool; /* tool of the owner */
	uint32_t spare;
	int64_t base_n, own_n; /* value of the cell; sum that was added from outside of the rank */
	double base_integral, base_v; /* v * ticks, v */
	uint64_t base_ticks;
	double own_integral, own_v, own_t; /* v * s, v, system seconds */
};

/* Number m * SEG_PROBES_EACH + i is probe i of module m. Written before the magic word. */
struct seg_probe {
	char name[SEG_PROBE_NAME_BYTES]; /* "": no probe */
	uint32_t nparam;
	uint8_t type[SEG_PROBE_PARAMS]; /* enum seg_type; the first parameter is the virtual time */
	uint8_t spare[6];
	uint64_t dropped; /* records without room; only this member changes */
};

/*
 * A type of events, in the order of announcement. Written before events_used counts it; later only
 * `lost` changes.
 */
struct seg_event {
	/* place in the text of its definition, which has the form of event logs */
	uint32_t offset, bytes;
	uint64_t lost; /* events that were on and had no room */
};

struct seg_read {
	uint8_t kind; /* enum seg_read_kind */
	uint8_t spare;
	union {
		uint16_t cell;
		/*
		 * for partners: number of world ranks behind the functions, ascending, two words
		 * each, the low one first
		 */
		uint16_t ranks;
	};
	uint16_t first, count; /* functions in the lists */
};

/*
 * The counters in records of one probe. The first 8 bytes change together. A slot in the mask does
 * not change its meaning.
 */
struct seg_reads {
	uint32_t seq; /* odd while it changes */
	uint32_t mask; /* slots that are read */
	struct seg_read slot[SEG_READS];
};

/*
 * A counter of calls in one region: the calls of a thread from its begin probe to its next end
 * probe. A meter has one meaning in an epoch; 0 = the meter is off.
 */
struct seg_meter {
	uint32_t epoch;
	uint32_t spare;
	struct seg_read read; /* counter of functions, or of functions with some partners */
};

/* Meters that begin and end at a probe, one bit each. In both masks: the end comes first. */
struct seg_edges {
	uint32_t end, begin;
};

enum seg_metered_state {
	SEG_METERED_UNKNOWN, /* the thread has passed neither probe */
	SEG_METERED_OUTSIDE,
	SEG_METERED_INSIDE,
};

/* One meter in one thread. Invalid if its epoch differs from that of the meter. */
struct seg_metered {
	uint32_t seq; /* odd while it changes */
	uint32_t epoch;
	uint32_t state; /* enum seg_metered_state */
	uint32_t has_first_end; /* the first probe that was passed was an end: */
	uint64_t first_end; /* value of the counter at that time */
	uint64_t sum; /* sum over passes that have ended */
	uint64_t begin; /* value of the counter when the thread entered the region */
};

/* Kinds of calls that a seg_partner counts, as bits. */
enum {
	SEG_FOR_RECEIVE = 1 << 0,
	SEG_FOR_SEND = 1 << 1,
	SEG_FOR_COLLECTIVE = 1 << 2,
	SEG_FOR_ONESIDED = 1 << 3,
	SEG_FOR_KNOWN = 15,
};
#define SEG_TAG_SEVERAL (-2)

/*
 * Calls of one function with one partner. key is written once; the sums only grow. Each sum is
 * consistent by itself. A wait for several requests ends with the last of them, which MPI does not
 * report. If the requests have several partners, its time is divided among these.
 */
struct seg_partner {
	/* (function + 1) << 32 | world rank, or CALL_PARTNER_X for waits; 0 = free */
	uint64_t key;
	uint64_t count, bytes_out, bytes_in;
	/* ticks of ended calls with this partner only; times 2^k with sampling */
	uint64_t delay;
	uint64_t shared; /* of ended calls with several partners: the share of this one */
	uint64_t possible; /* of the same calls: all of their ticks */
	/* private to the thread: its last call with many requests, index of this partner in it */
	uint32_t call, place;
	uint32_t kinds; /* SEG_FOR_X */
	int32_t tag; /* -1: any or none; SEG_TAG_SEVERAL */
};

/*
 * Calls of one function from one place in the program. All members except the sums are written
 * before `key`, and do not change. Each sum is consistent by itself.
 */
struct seg_site {
	uint64_t key; /* hash of the function and the addresses; 0 = free */
	uint32_t func, depth; /* func: the function; depth: number of addresses */
	/* the return address of the call, followed by those of its callers */
	uint64_t pc[SEG_SITE_DEPTH];
	uint64_t count, bytes_out, bytes_in;
	uint64_t delay; /* ticks of ended calls, multiplied by 2^k with sampling */
	uint64_t longest; /* ticks of the longest measured call */
	uint64_t spare;
};

/* A file with code in the process, at the time of MPI_Init. It does not change later. */
struct seg_module {
	uint64_t start, end; /* address range of its code; 0: no entry */
	uint64_t bias; /* added to the addresses of the file */
	uint32_t build_id_bytes; /* 0: there is none */
	uint8_t build_id[SEG_BUILD_ID_BYTES];
	char path[SEG_MODULE_PATH_BYTES];
};

/*
 * A send or receive that has begun and is not complete. A thread claims and releases the entry by
 * exchanging `state`. The upper half of `state` increases with each claim, so that a reader gets a
 * consistent entry or none.
 */
struct seg_posted {
	uint64_t state; /* lower half: posted_epoch, 0 = free, POSTED_CLAIMED */
	uint16_t func;
	/* 1: the receiving part of a Sendrecv; otherwise as for the function */
	uint16_t is_receive;
	int32_t tag; /* -1: any */
	int32_t partner; /* world rank; -1: any or unknown */
	uint32_t spare1;
	uint64_t ticks; /* time of its begin */
	int64_t bytes; /* bytes to send, or size of the buffer for receiving */
	uint64_t comm; /* handle in the program's form */
	uint64_t spare2[2];
};
#define POSTED_CLAIMED UINT32_MAX

static_assert(sizeof(struct seg_own) == 520, "layout");
static_assert(sizeof(struct seg_lm) == 144, "layout");
static_assert(sizeof(struct seg_header) == 944, "layout");
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
static_assert(SEG_PROBES_EACH * 4 <= SEG_PAGE_BYTES && 2 * SEG_FUNCTIONS <= SEG_PROBES_EACH &&
		      COLLECTIVES <= SEG_PROBES_EACH,
	      "probe words of a module are one page");
static_assert(SEG_HOOKS * 4 <= SEG_PAGE_BYTES, "hook words are one page");

/*
 * The message that carries the memfd (SCM_RIGHTS) to the lm's SOCK_SEQPACKET socket, sent once.
 * Without a memfd, bytes is 0: the sender is about to execute a program that is watched without a
 * segment (common/ring/chosen.h).
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
/* all ranks of a host start together, and none may wait */
#define SEG_REGISTER_BACKLOG 1024

/*
 * Fills the layout part of *h (from version to spare; not magic, w, l) for so many functions,
 * threads and ring bytes. Each number is limited to its maximum, and ring bytes are rounded up to a
 * power of two. The layout depends on these numbers only. Signal-safe.
 */
void seg_plan(struct seg_header *h, unsigned funcs, unsigned threads, uint64_t ring_bytes);

/* Returns "int32", "float64" and so on; "?" out of range. */
const char *seg_type_name(unsigned type);

/* The identity of an lm that uses a runtime directory. */
struct seg_lm_name {
	const char *runtime, *host, *caid;
};

/*
 * Writes "R/lm-<host>-<caid>" plus ext, which begins with a dot: the lm's socket and lock. Returns
 * -1 if it does not fit.
 */
int seg_lm_path(char *out, unsigned long size, const struct seg_lm_name *lm, const char *ext);

/*
 * Listens at that path, on a socket for its owner only, close-on-exec. The caller holds the lm's
 * lock, so an existing file is from a dead lm, and is replaced. Returns -1 with errno.
 */
int seg_listen(const char *path);

/*
 * Writes the CA id of a connection string "omig1:HOST..:PORT:PIN[:TOKEN]": the first SEG_CAID_CHARS
 * characters of PIN. out has SEG_CAID_CHARS + 1 bytes. The id is "local" if conn is NULL, empty or
 * malformed. Returns -1 if it is malformed. Signal-safe.
 */
int seg_caid(const char *conn, char *out);

#endif
