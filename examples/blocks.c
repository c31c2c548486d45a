/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks travel around the ranks and into an imaginary file, with an event at each step. At the end
 * the program prints how many events there were while they were switched on.
 *
 *	blocks [--passes N] [--until FILE] [--pause US] [--burst N]
 *
 * It ends after N passes, or when FILE exists. In a pass, a rank sends one block, receives one,
 * and "writes" that one in N pieces.
 */
#include <omig/event.h>

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_MAX (128 * 1024)

OMIG_EVENT(block_sent, "block.sent", OMIG_INFO, (int64, pass), (int32, nbytes), (int32, to))
OMIG_EVENT(block_received, "block.received", OMIG_INFO, (int64, pass), (int32, nbytes),
	   (int32, from))
OMIG_EVENT(io_write, "io.write", OMIG_DEBUG, (int64, number), (int32, nbytes), (double, ms),
	   (string, file))

struct run {
	int rank, size;
	long passes, burst, pause_us;
	const char *until;
	long long written; /* events of io.write that were on */
};

static void write_pieces(struct run *r, int nbytes)
{
	for (long i = 0; i < r->burst; i++) {
		if (!omig_event_is_on(io_write))
			continue;
		omig_event(io_write, r->written, nbytes, 0.25 * (double)i, "/dev/null");
		r->written++;
	}
}

static void one_pass(struct run *r, long pass, char *block)
{
	int to = (r->rank + 1) % r->size, from = (r->rank + r->size - 1) % r->size;
	int nbytes = 1024 << (pass % 8);

	MPI_Sendrecv_replace(block, nbytes, MPI_CHAR, to, 1, from, 1, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
	omig_event(block_sent, pass, nbytes, to);
	omig_event(block_received, pass, nbytes, from);
	write_pieces(r, nbytes);
	if (r->pause_us)
		usleep((unsigned)r->pause_us);
}

/* All ranks end after the same pass. */
static int is_over(const struct run *r, long pass)
{
	int over = r->passes ? pass >= r->passes : 0;

	if (r->until && !r->rank && !access(r->until, F_OK))
		over = 1;
	MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return over;
}

int main(int argc, char **argv)
{
	static char block[BLOCK_MAX];
	struct run r = { .burst = 1, .pause_us = 1000 };
	long pass = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &r.size);
	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--passes"))
			r.passes = strtol(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--burst"))
			r.burst = strtol(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--pause"))
			r.pause_us = strtol(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--until"))
			r.until = argv[i + 1];
	}
	while (!is_over(&r, pass))
		one_pass(&r, pass++, block);
	printf("rank %d: passes %ld, written %lld\n", r.rank, pass, r.written);
	MPI_Finalize();
	return 0;
}
