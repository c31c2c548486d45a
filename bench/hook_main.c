/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a watched call beyond the call itself, over an MPI that does nothing. */
#include "bench/bench.h"
#include "bench/bench_probes.h"
#include "bench/self.h"
#include "common/base/clock.h"
#include "common/ring/action.h"
#include "common/ring/calls_id.h"
#include "common/ring/ring.h"
#include "tracer/function/plan.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CALLS 20000 /* a batch */
#define BATCHES 301

int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Iprobe(int source, int tag, void *comm, int *flag, void *status);
int PMPI_Iprobe(int source, int tag, void *comm, int *flag, void *status);

static struct bench_series added;
static enum ticks_source source;
static volatile uint64_t sink;
static uint64_t shared_word;

/* Keeps the compiler from leaving out what p points to. */
static void keep(const void *p)
{
	__asm__ volatile("" : : "g"(p) : "memory");
}

static double batch_watched(void)
{
	int64_t t = bench_now();
	int flag;

	for (int i = 0; i < CALLS; i++)
		MPI_Iprobe(0, 0, NULL, &flag, NULL);
	return (double)(bench_now() - t) / CALLS;
}

static double batch_bare(void)
{
	int64_t t = bench_now();
	int flag;

	for (int i = 0; i < CALLS; i++)
		PMPI_Iprobe(0, 0, NULL, &flag, NULL);
	return (double)(bench_now() - t) / CALLS;
}

/* Alternating batches; the median of the differences. */
static void measure(struct segview *v, const char *name, uint32_t word, const char *floor)
{
	bench_clear(&added);
	segview_hook_set(v, CALL_ID_Iprobe, word, 0);
	batch_watched();
	for (int i = 0; i < BATCHES; i++) {
		double without = batch_bare();

		bench_add(&added, batch_watched() - without);
	}
	bench_print(name, "ns", &added, floor);
	segview_hook_set(v, CALL_ID_Iprobe, 0, 0);
}

/* --- call sites: batches under three callers with frames */

#define FRAMED __attribute__((noinline, optimize("no-omit-frame-pointer")))
#define PEER_DEPTH_MAX 8
#define PEER_TABLE 256

typedef double batch_fn(void);

/* The statement after the call prevents a tail call, which would hide the caller. */
FRAMED static double under_one(batch_fn *fn)
{
	double v = fn();

	keep(&v);
	return v;
}

FRAMED static double under_two(batch_fn *fn)
{
	double v = under_one(fn);

	keep(&v);
	return v;
}

FRAMED static double under_three(batch_fn *fn)
{
	double v = under_two(fn);

	keep(&v);
	return v;
}

FRAMED static double batch_framed(void)
{
	int64_t t = bench_now();
	int flag;

	for (int i = 0; i < CALLS; i++)
		MPI_Iprobe(0, 0, NULL, &flag, NULL);
	return (double)(bench_now() - t) / CALLS;
}

static struct {
	void *pc[PEER_DEPTH_MAX];
	uint64_t count, delay;
} peer_table[PEER_TABLE];
static int peer_depth;

/*
 * As profilers on PMPI: takes two time stamps around the call. Reads its callers by the unwinder of
 * the C library, which needs no frame pointers.
 */
static int peer_iprobe(int *flag)
{
	uint64_t begin = ticks_now(source), hash = 0;
	void *pc[PEER_DEPTH_MAX];
	int n = backtrace(pc, peer_depth + 1), rc = PMPI_Iprobe(0, 0, NULL, flag, NULL);
	size_t at;

	for (int i = 1; i < n; i++)
		hash = (hash ^ (uint64_t)(uintptr_t)pc[i]) * UINT64_C(0x9e3779b97f4a7c15);
	at = hash >> 56;
	memcpy(peer_table[at].pc, pc, sizeof(*pc) * (size_t)n);
	peer_table[at].count++;
	peer_table[at].delay += ticks_now(source) - begin;
	return rc;
}

FRAMED static double batch_peer(void)
{
	int64_t t = bench_now();
	int flag;

	for (int i = 0; i < CALLS; i++)
		peer_iprobe(&flag);
	return (double)(bench_now() - t) / CALLS;
}

/* Alternating batches of no counting, ours and the peer's. */
static void sites(struct segview *v, unsigned depth, const char *ours, const char *peer)
{
	static struct bench_series theirs;

	peer_depth = (int)depth;
	segview_site_depth_set(v, depth);
	segview_hook_set(v, CALL_ID_Iprobe, HOOK_COUNT | HOOK_TIME | HOOK_SITE, 0);
	under_three(batch_framed);
	bench_clear(&added);
	bench_clear(&theirs);
	for (int i = 0; i < BATCHES / 3; i++) {
		double without = under_three(batch_bare);

		bench_add(&added, under_three(batch_framed) - without);
		bench_add(&theirs, under_three(batch_peer) - without);
	}
	bench_print(ours, "ns", &added, "floor.two_timestamps.ns");
	bench_print(peer, "ns", &theirs, "floor.two_timestamps.ns");
	segview_hook_set(v, CALL_ID_Iprobe, 0, 0);
	bench_done(&theirs);
}

/* Checks that the callers were found: otherwise the values would be those of one frame. */
static void on_site(void *arg, const struct segview_site *s)
{
	unsigned *deepest = arg;

	if (s->depth > *deepest)
		*deepest = s->depth;
}

static void check_depth(struct segview *v)
{
	unsigned deepest = 0;

	segview_sites(v, 0, on_site, &deepest);
	if (deepest != SEG_SITE_DEPTH)
		bench_fail("the callers of a call were not found");
}

#define LOOP(name, floor, body)                                                \
	do {                                                                   \
		bench_clear(&added);                                           \
		for (int b_ = 0; b_ < BATCHES; b_++) {                         \
			int64_t t_ = bench_now();                              \
			for (int i = 0; i < CALLS; i++) {                      \
				body;                                          \
			}                                                      \
			bench_add(&added, (double)(bench_now() - t_) / CALLS); \
		}                                                              \
		bench_print(name, "ns", &added, floor);                        \
	} while (0)

static void two_timestamps(void)
{
	uint64_t a = ticks_now(source);

	keep(&a);
	sink = ticks_now(source) - a;
}

static void floors(void)
{
	struct timespec ts;

	LOOP("floor.rdtsc.ns", NULL, sink = ticks_now(source));
	LOOP("floor.clock_gettime.ns", NULL, clock_gettime(CLOCK_MONOTONIC, &ts));
	LOOP("floor.add.ns", NULL, __atomic_fetch_add(&shared_word, 1, __ATOMIC_SEQ_CST));
	LOOP("floor.two_timestamps.ns", NULL, two_timestamps());
}

static void cells(void)
{
	static struct seg_cell counter, integrator;

	LOOP("counter.ns", "floor.add.ns", cell_count_add(&counter, 1); keep(&counter));
	LOOP("integrator.ns", "floor.rdtsc.ns",
	     cell_integrator_add(&integrator, i & 1 ? -1 : 1, ticks_now(source)));
}

/* --- the event ring, sustained: a reader drains it meanwhile */

static struct {
	uint8_t bytes[SEG_RING_MAX_BYTES] __attribute__((aligned(64)));
	uint64_t head __attribute__((aligned(64)));
	uint64_t dropped;
	uint64_t tail __attribute__((aligned(64)));
	uint64_t taken;
	int stop;
} memory;

static const struct ring events = { memory.bytes, sizeof(memory.bytes), &memory.head, &memory.tail,
				    &memory.dropped };

static void on_call(void *arg, const struct ring_call *c)
{
	memory.taken++;
}

static void *drain(void *arg)
{
	while (!__atomic_load_n(&memory.stop, __ATOMIC_RELAXED))
		ring_take(&events, 512, &(struct ring_taker){ .on_call = on_call });
	ring_take(&events, 1u << 20, &(struct ring_taker){ .on_call = on_call });
	return NULL;
}

static void ring(void)
{
	const uint32_t n = sizeof(struct ring_call) + 6 * 8;
	union ring_record r = { .call = { .word = RING_WORD(n, RING_CALL), .npar = 6 } };
	pthread_t reader;
	double lost;

	if (pthread_create(&reader, NULL, drain, NULL) != 0)
		return;
	LOOP("ring.event.ns", "floor.rdtsc.ns", r.call.ticks = ticks_now(source);
	     ring_put(&events, &r, n));
	__atomic_store_n(&memory.stop, 1, __ATOMIC_RELAXED);
	pthread_join(reader, NULL);
	lost = (double)memory.dropped / ((double)memory.dropped + (double)memory.taken);
	bench_print_value("ring.event.lost", "%", 100 * lost, NULL);
}

/* --- probes */

#define MET 256 /* a batch whose records fit into the ring */

static __attribute__((noinline)) void nothing(int vt)
{
	__asm__ volatile("" : : "r"(vt));
}

static double batch_probe(struct segview *v)
{
	int64_t t = bench_now();

	for (int i = 0; i < MET; i++)
		bench_probe(i);
	t = bench_now() - t;
	segview_take(v, 0, UINT32_MAX, &(struct segview_taker){ 0 });
	return (double)t / MET;
}

static double batch_nothing(void)
{
	int64_t t = bench_now();

	for (int i = 0; i < MET; i++)
		nothing(i);
	return (double)(bench_now() - t) / MET;
}

/* The cost of a probe beyond the call of an empty function. */
static void probe(struct segview *v, const char *name, uint32_t word, const char *floor)
{
	struct segview_thread t;

	bench_clear(&added);
	segview_probe_set(v, 0, word);
	for (int i = 0; i < BATCHES * 8; i++) {
		double without = batch_nothing();

		bench_add(&added, batch_probe(v) - without);
	}
	bench_print(name, "ns", &added, floor);
	segview_probe_set(v, 0, 0);
	if (!segview_thread(v, 0, &t) && t.ring_dropped)
		bench_fail("the ring of the probes was full");
}

static void probes(struct segview *v)
{
	struct segview_read cell = { .kind = SEG_READ_INTEGRATOR };
	unsigned slot;

	if (segview_probe_find(v, "bench_probe") != 0)
		bench_fail("this program has no probe");
	probe(v, "probe.inactive.ns", 0, NULL);
	probe(v, "probe.active.ns", PROBE_RECORD, "floor.rdtsc.ns");
	for (cell.cell = 1; cell.cell <= 2; cell.cell++)
		if (segview_read_add(v, 0, &cell, &slot))
			bench_fail("the probe reads nothing");
	probe(v, "probe.two_integrators.ns", PROBE_RECORD, "floor.rdtsc.ns");
}

/* --- functions whose entry and exit are switched on: the plan and the code of real ones */

#if defined(__x86_64__)

#define FUNCTION_BYTES 16
#define FUNCTION(name)                     \
	__asm__(".text\n"                  \
		".p2align 6\n" #name ":\n" \
		"push %rbp\n"              \
		"mov %rsp, %rbp\n"         \
		"lea 7(%rdi), %eax\n"      \
		"pop %rbp\n"               \
		"ret\n"                    \
		".fill 7, 1, 0x90\n"       \
		".p2align 6, 0x90\n");     \
	int name(int n)

FUNCTION(function_bare);
FUNCTION(function_changed);

static void permit(uint8_t *p, size_t n)
{
	uintptr_t page = (uintptr_t)p & ~(uintptr_t)(SEG_PAGE_BYTES - 1);

	/* NOLINTNEXTLINE: the beginning of its page */
	if (mprotect((void *)page, (uintptr_t)p + n - page, PROT_READ | PROT_WRITE | PROT_EXEC))
		bench_fail("code cannot be changed");
}

static void write_site(uint64_t at, const uint8_t *bytes, size_t n)
{
	/* NOLINTNEXTLINE: an address of this process */
	uint8_t *p = (uint8_t *)(uintptr_t)at;

	permit(p, n);
	memcpy(p, bytes, n);
}

/* Returns false if this build has no decoder of instructions. */
static bool change(struct segview *v, unsigned slot)
{
	static struct function_code code;
	static struct plan plan;
	union {
		int (*call)(int n);
		const uint8_t *bytes;
	} u = { function_changed };
	struct seg_own own;
	struct err e = { 0 };

	segview_own(v, &own);
	code.part[0].at = (uintptr_t)u.bytes;
	code.part[0].n = 9;
	code.part[0].padding = FUNCTION_BYTES - 9;
	memcpy(code.part[0].bytes, u.bytes, FUNCTION_BYTES);
	if (plan_make(&code,
		      &(struct plan_target){ own.function_enter, own.function_exit,
					     own.function_area[0], SEG_FUNCTION_ID(slot, 0) },
		      &plan, &e)) {
		fprintf(stderr, "bench-hook: no entries of functions: %s\n", e.text);
		return false;
	}
	write_site(plan.at, plan.code, plan.n);
	for (size_t i = 0; i < plan.nsite; i++)
		write_site(plan.site[i].at, plan.site[i].bytes, plan.site[i].n);
	return true;
}

static double batch_function(int (*fn)(int n))
{
	int64_t t = bench_now();

	for (int i = 0; i < CALLS; i++)
		fn(i);
	return (double)(bench_now() - t) / CALLS;
}

/* The cost of a call's entry and exit together, beyond the call of the same function. */
static void function(const char *name)
{
	bench_clear(&added);
	batch_function(function_changed);
	for (int i = 0; i < BATCHES; i++) {
		double without = batch_function(function_bare);

		bench_add(&added, batch_function(function_changed) - without);
	}
	bench_print(name, "ns", &added, "floor.two_timestamps.ns");
}

static unsigned meter(struct segview *v, unsigned slot, enum seg_read_kind kind)
{
	const struct segview_meter m = { SEG_FUNCTION_BEGIN(slot),
					 SEG_FUNCTION_END(slot),
					 { .kind = kind } };
	unsigned number;

	if (segview_meter_add(v, &m, ticks_now(source), &number))
		bench_fail("the function is not measured");
	return number;
}

static void functions(struct segview *v)
{
	struct segview_metered met;
	unsigned slot, count;

	if (segview_function_take(v, &slot) || !change(v, slot))
		return;
	function("function.idle.ns");
	meter(v, slot, SEG_READ_TICKS);
	function("function.delay.ns");
	count = meter(v, slot, SEG_READ_PASSES);
	function("function.count_delay.ns");
	if (segview_meter_read(v, count, ticks_now(source), &met) ||
	    met.value != (BATCHES + 1) * CALLS)
		bench_fail("the entries of a function were not counted");
}

#else

static void functions(struct segview *v)
{
}

#endif

int main(int argc, char **argv)
{
	static const uint32_t both = HOOK_COUNT | HOOK_TIME;
	struct segview *v;

	source = ticks_source_best();
	MPI_Init(&argc, &argv);
	v = self_open();
	if (!v)
		bench_fail("this process has no segment");
	floors();
	measure(v, "hook.inactive.ns", 0, "floor.add.ns");
	measure(v, "hook.count.ns", HOOK_COUNT, "floor.add.ns");
	measure(v, "hook.sampled_16.ns", both | 4 << HOOK_SAMPLE_SHIFT, "floor.two_timestamps.ns");
	measure(v, "hook.sampled.ns", both | 6 << HOOK_SAMPLE_SHIFT, "floor.two_timestamps.ns");
	measure(v, "hook.count_delay.ns", both, "floor.two_timestamps.ns");
	bench_print_value("hook.count_delay.ratio", "ratio",
			  bench_printed("hook.count_delay.ns") /
				  bench_printed("floor.two_timestamps.ns"),
			  NULL);
	sites(v, 1, "site.depth_1.ns", "site.depth_1.backtrace.ns");
	sites(v, SEG_SITE_DEPTH, "site.depth_4.ns", "site.depth_4.backtrace.ns");
	check_depth(v);
	probes(v);
	functions(v);
	cells();
	ring();
	segview_free(v);
	bench_done(&added);
	return MPI_Finalize();
}
