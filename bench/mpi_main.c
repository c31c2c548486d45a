/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost that Omig adds to a call of a real MPI library. Compares MPI_x with PMPI_x in
 * alternating batches inside one process, with counts and times on. Two ranks.
 */
#include "bench/bench.h"
#include "bench/self.h"
#include "common/base/clock.h"
#include "common/ring/calls_id.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>

#define BATCHES 301
#define PROBES 5000 /* a batch */
#define ROUNDS 500

static struct bench_series added, bare;

static double probe(int (*fn)(int, int, MPI_Comm, int *, MPI_Status *))
{
	int64_t t = bench_now();
	int flag;

	for (int i = 0; i < PROBES; i++)
		fn(MPI_ANY_SOURCE, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	return (double)(bench_now() - t) / PROBES;
}

/* The least cost of timing a call: two time stamps around it. */
static double probe_stamped(void)
{
	static volatile uint64_t sink;
	enum ticks_source source = ticks_source_best();
	int64_t t = bench_now();
	int flag;

	for (int i = 0; i < PROBES; i++) {
		uint64_t begin = ticks_now(source);

		PMPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
		sink = ticks_now(source) - begin;
	}
	return (double)(bench_now() - t) / PROBES;
}

struct pair {
	int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
	int (*recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
};

static double pingpong(const struct pair *p, int rank)
{
	int64_t t = bench_now();
	char byte[8] = { 0 };

	for (int i = 0; i < ROUNDS; i++) {
		if (rank == 0)
			p->send(byte, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
		p->recv(byte, 8, MPI_CHAR, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1)
			p->send(byte, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
	}
	/* One round has four calls in sequence. */
	return (double)(bench_now() - t) / (4.0 * ROUNDS);
}

static void hooks(struct segview *v, uint32_t word)
{
	segview_hook_set(v, CALL_ID_Iprobe, word, 0);
	segview_hook_set(v, CALL_ID_Send, word, 0);
	segview_hook_set(v, CALL_ID_Recv, word, 0);
}

static void name_figure(char name[64], const char *what, const char *more)
{
	snprintf(name, 64, "mpi.%s%s." OMIG_BENCH_FLAVOUR ".ns", what, more);
}

/* The added cost is compared with two time stamps where those were measured, else with the bare
 * call. */
static void print(const char *what)
{
	char name[64], floor[64], bare_name[64];

	name_figure(bare_name, what, "_bare");
	name_figure(floor, what, "_stamps");
	name_figure(name, what, "");
	bench_print(bare_name, "ns", &bare, NULL);
	bench_print(name, "ns", &added, isnan(bench_printed(floor)) ? bare_name : floor);
}

static void run_stamps(void)
{
	char name[64];

	bench_clear(&added);
	for (int i = 0; i < BATCHES; i++) {
		double without = probe(PMPI_Iprobe);

		bench_add(&added, probe_stamped() - without);
	}
	name_figure(name, "iprobe", "_stamps");
	bench_print(name, "ns", &added, NULL);
}

static void run(const char *what, double (*watched)(void), double (*real)(void))
{
	bench_clear(&added);
	bench_clear(&bare);
	watched();
	for (int i = 0; i < BATCHES; i++) {
		double without = real();

		bench_add(&added, watched() - without);
		bench_add(&bare, without);
	}
	print(what);
}

static double probe_watched(void)
{
	return probe(MPI_Iprobe);
}

static double probe_real(void)
{
	return probe(PMPI_Iprobe);
}

static void run_probe(struct segview *v, const char *what, uint32_t word)
{
	hooks(v, word);
	run(what, probe_watched, probe_real);
}

/* Makes and frees a persistent request. libomig notes it even when nothing is counted yet. */
static double persistent_watched(void)
{
	int64_t t = bench_now();
	char byte[8] = { 0 };
	MPI_Request r;

	for (int i = 0; i < PROBES; i++) {
		MPI_Send_init(byte, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &r);
		MPI_Request_free(&r);
	}
	return (double)(bench_now() - t) / PROBES;
}

static double persistent_real(void)
{
	int64_t t = bench_now();
	char byte[8] = { 0 };
	MPI_Request r;

	for (int i = 0; i < PROBES; i++) {
		PMPI_Send_init(byte, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &r);
		PMPI_Request_free(&r);
	}
	return (double)(bench_now() - t) / PROBES;
}

static void run_pingpong(struct segview *v, int rank, const char *what, uint32_t word)
{
	const struct pair watched = { MPI_Send, MPI_Recv }, real = { PMPI_Send, PMPI_Recv };

	bench_clear(&added);
	bench_clear(&bare);
	hooks(v, word);
	PMPI_Barrier(MPI_COMM_WORLD);
	pingpong(&watched, rank);
	for (int i = 0; i < BATCHES; i++) {
		double without = pingpong(&real, rank);

		bench_add(&added, pingpong(&watched, rank) - without);
		bench_add(&bare, without);
	}
	if (rank == 0)
		print(what);
}

int main(int argc, char **argv)
{
	struct segview *v;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	v = self_open();
	if (!v) {
		fprintf(stderr, "bench-mpi: this process has no segment\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	if (rank == 0) {
		run_stamps();
		run_probe(v, "iprobe", HOOK_COUNT | HOOK_TIME);
		run_probe(v, "iprobe_inactive", 0);
		run_probe(v, "iprobe_count", HOOK_COUNT);
		run_probe(v, "iprobe_sampled", HOOK_COUNT | HOOK_TIME | 4 << HOOK_SAMPLE_SHIFT);
		run("persistent_inactive", persistent_watched, persistent_real);
	}
	PMPI_Barrier(MPI_COMM_WORLD);
	run_pingpong(v, rank, "pingpong", HOOK_COUNT | HOOK_TIME);
	/* with bytes, as totals and by the class of each call's size */
	run_pingpong(v, rank, "pingpong_volume", HOOK_COUNT | HOOK_TIME | HOOK_VOLUME);
	segview_free(v);
	return MPI_Finalize();
}
