/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of recorded messages of a real MPI library: MPI_Send and MPI_Recv of 8 bytes, with their
 * events in the rings, beside the PMPI calls. Both alternate in short batches of one process; the
 * rings are emptied between them. Alone, a rank sends to itself: the work that is added to the two
 * calls. Two ranks are a ping-pong, where some of that work is done while the message is under way.
 * The floor is two reads of the clock a call, as begins and ends need times.
 */
#include "bench/bench.h"
#include "bench/self.h"
#include "common/base/clock.h"
#include "common/ring/calls_id.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define BATCHES 1001
#define ROUNDS 100 /* a batch: its events are below 32 KiB */

struct pair {
	int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
	int (*recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
	bool has_stamps; /* reads of the clock around each call */
};

static const struct pair watched = { MPI_Send, MPI_Recv, false },
			 real = { PMPI_Send, PMPI_Recv, false },
			 stamped = { PMPI_Send, PMPI_Recv, true };
static enum ticks_source source;
static volatile uint64_t stamp;
static struct bench_series added, stamps, bare;
static struct segview *v;
static int rank;

static char byte[8];

static void note(const struct pair *p)
{
	if (p->has_stamps)
		stamp = ticks_now(source);
}

static void send(const struct pair *p, int to)
{
	note(p);
	p->send(byte, 8, MPI_CHAR, to, 1, MPI_COMM_WORLD);
	note(p);
}

static void receive(const struct pair *p, int from)
{
	note(p);
	p->recv(byte, 8, MPI_CHAR, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	note(p);
}

/* Returns the ns of a message. */
static double send_to_self(const struct pair *p)
{
	int64_t t = bench_now();

	for (int i = 0; i < ROUNDS; i++) {
		send(p, rank);
		receive(p, rank);
	}
	return (double)(bench_now() - t) / ROUNDS;
}

static double pingpong(const struct pair *p)
{
	int64_t t;

	PMPI_Barrier(MPI_COMM_WORLD);
	t = bench_now();
	for (int i = 0; i < ROUNDS; i++) {
		if (rank == 0)
			send(p, 1);
		receive(p, !rank);
		if (rank == 1)
			send(p, 0);
	}
	return (double)(bench_now() - t) / (2.0 * ROUNDS);
}

static unsigned events;

static void on_event(void *arg, const struct segview_event *e)
{
	(void)arg;
	(void)e;
	events++;
}

static void take_all(void)
{
	while (segview_take(v, 0, 10000, &(struct segview_taker){ .on_event = on_event }) > 0)
		;
}

static void record_all(void)
{
	segview_hook_set(v, CALL_ID_Send, HOOK_MESSAGE, 0);
	segview_hook_set(v, CALL_ID_Recv, HOOK_MESSAGE, 0);
	for (unsigned i = 0; i < segview_event_count(v); i++)
		segview_event_set(v, i, EVENT_RECORD);
}

static void measure(double (*one)(const struct pair *))
{
	bench_clear(&added);
	bench_clear(&stamps);
	bench_clear(&bare);
	one(&watched);
	take_all();
	events = 0;
	for (int i = 0; i < BATCHES; i++) {
		double without = one(&real);

		bench_add(&added, one(&watched) - without);
		bench_add(&stamps, one(&stamped) - without);
		bench_add(&bare, without);
		take_all();
	}
	if (events < BATCHES * ROUNDS * 3)
		bench_fail("%u events in place of %d", events, BATCHES * ROUNDS * 3);
}

static void name_figure(char name[64], const char *what, const char *more)
{
	snprintf(name, 64, "recorded.%s%s." OMIG_BENCH_FLAVOUR ".ns", what, more);
}

static void print(const char *what)
{
	char name[64], floor[64];

	name_figure(floor, what, "_bare");
	bench_print(floor, "ns", &bare, NULL);
	name_figure(name, what, "_part");
	bench_print(name, "ns", &added, floor);
	name_figure(floor, what, "_stamps");
	bench_print(floor, "ns", &stamps, NULL);
	name_figure(name, what, "");
	bench_print(name, "ns", &added, floor);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	v = self_open();
	if (!v || segview_event_count(v) == 0)
		bench_fail("this process records no messages");
	record_all();
	source = ticks_source_best();
	if (rank == 0) {
		measure(send_to_self);
		print("self");
	}
	measure(pingpong);
	if (rank == 0)
		print("pingpong");
	bench_done(&added);
	bench_done(&stamps);
	bench_done(&bare);
	segview_free(v);
	return MPI_Finalize();
}
