/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a watched call beyond the call itself, over an MPI that does nothing. */
#include "bench/bench.h"
#include "bench/bench_probes.h"
#include "bench/self.h"
#include "common/base/clock.h"
#include "common/ring/action.h"
#include "common/ring/calls_id.h"
#include "common/ring/ring.h"

#include <pthread.h>
#include <stdio.h>

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
	probes(v);
	cells();
	ring();
	segview_free(v);
	bench_done(&added);
	return MPI_Finalize();
}
