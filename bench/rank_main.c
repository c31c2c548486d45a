/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-rank CALLS RATE: a rank over an MPI that does nothing. When its input ends, it makes CALLS
 * calls at RATE calls a second, evenly, and ends.
 */
#include "bench/bench.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Iprobe(int source, int tag, void *comm, int *flag, void *status);

static void wait_until(int64_t ns)
{
	const struct timespec t = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		continue;
}

int main(int argc, char **argv)
{
	long calls = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	long rate = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	int64_t begin;
	int flag;
	char c;

	if (calls <= 0 || rate <= 0)
		bench_fail("bench-rank CALLS RATE");
	MPI_Init(&argc, &argv);
	while (read(STDIN_FILENO, &c, 1) > 0)
		continue;
	begin = bench_now();
	for (long i = 0; i < calls; i++) {
		wait_until(begin + i * (1000000000 / rate));
		MPI_Iprobe(0, 0, NULL, &flag, NULL);
	}
	return MPI_Finalize();
}
