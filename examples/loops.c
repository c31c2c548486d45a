/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops: passes of a loop with work that is uneven, messages round a ring, and a barrier; its
 * regions are marked by the probes of loops.probes, which the metrics in examples/metrics/ ask for.
 * It keeps its own log of them, for comparison.
 *
 *	omig probes -o loops_probes.c -H loops_probes.h loops.probes
 *	mpicc -o loops loops.c loops_probes.c
 *	mpirun -np 4 loops --passes 100
 *
 *   --passes N      number of passes (100)
 *   --from FILE     begin when this file exists
 *   --until FILE    end earlier, when this file exists
 *   --work US       work of the first rank in a pass; that of the k-th is k times as long (200)
 *   --slow RANK     instead, all ranks but this one do the first rank's work, and it 4 times that
 *   --log FILE      rank k writes FILE.k: a line for each probe, with its name, vt, seconds
 *                   since 1970 before and after it; bytes sent, seconds in messages and in
 *                   barriers so far
 */
#include "loops_probes.h"

#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CHUNK 1024
#define CHUNKS 7 /* pass i sends i modulo CHUNKS, plus one, of them */

struct program {
	int rank, ranks, passes, work_us, slow; /* slow: -1 = none */
	const char *from, *until; /* files; NULL = none */
	FILE *log; /* NULL: none */
	long sent;
	double in_messages, in_barriers; /* seconds */
	char out[CHUNK * CHUNKS], in[CHUNK * CHUNKS];
};

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Logs a call of the probe, which began at `before` or later and has returned. */
static void note(const struct program *p, const char *probe, int vt, double before)
{
	if (p->log)
		fprintf(p->log, "%s %d %.9f %.9f %ld %.9f %.9f\n", probe, vt, before,
			now(CLOCK_REALTIME), p->sent, p->in_messages, p->in_barriers);
}

static double work(const struct program *p)
{
	int times = p->slow < 0 ? p->rank + 1 : p->rank == p->slow ? 4 : 1;
	double end = now(CLOCK_MONOTONIC) + p->work_us * times / 1e6, sum = 0;

	for (int i = 1; now(CLOCK_MONOTONIC) < end; i++)
		sum += 1.0 / i;
	return sum;
}

/* Sends to the next rank and receives from the one before, if there are several ranks. */
static void send_round(struct program *p, int vt)
{
	int n = (vt % CHUNKS + 1) * CHUNK, to = (p->rank + 1) % p->ranks;
	int from = (p->rank + p->ranks - 1) % p->ranks;

	if (p->ranks == 1)
		return;
	if (p->rank % 2 == 0) {
		MPI_Send(p->out, n, MPI_CHAR, to, 0, MPI_COMM_WORLD);
		p->sent += n;
		MPI_Recv(p->in, n, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(p->in, n, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(p->out, n, MPI_CHAR, to, 0, MPI_COMM_WORLD);
		p->sent += n;
	}
}

static void exchange(struct program *p, int vt)
{
	double start = now(CLOCK_REALTIME);

	begin_send(vt);
	note(p, "begin_send", vt, start);
	start = now(CLOCK_MONOTONIC);
	send_round(p, vt);
	p->in_messages += now(CLOCK_MONOTONIC) - start;
	start = now(CLOCK_REALTIME);
	end_send(vt);
	note(p, "end_send", vt, start);
}

static void pass(struct program *p, int vt)
{
	double start = now(CLOCK_REALTIME);

	loop_start(vt);
	note(p, "loop_start", vt, start);
	compute_begin(vt);
	work(p);
	compute_end(vt);
	exchange(p, vt);
	start = now(CLOCK_MONOTONIC);
	MPI_Barrier(MPI_COMM_WORLD);
	p->in_barriers += now(CLOCK_MONOTONIC) - start;
	start = now(CLOCK_REALTIME);
	loop_stop(vt);
	note(p, "loop_stop", vt, start);
	start = now(CLOCK_REALTIME);
	iteration_end(vt, 1.0 / vt);
	note(p, "iteration_end", vt, start);
}

/* The first rank tests for all. */
static int is_there(const char *file)
{
	int there = file && access(file, F_OK) == 0;

	MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return there;
}

static void wait_for(const char *file)
{
	while (file && !is_there(file))
		usleep(10000);
}

static void open_log(struct program *p, const char *file)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s.%d", file, p->rank);
	p->log = fopen(name, "w");
	if (!p->log) {
		perror(name);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "passes", required_argument, NULL, 'p' },
						 { "from", required_argument, NULL, 'f' },
						 { "until", required_argument, NULL, 'u' },
						 { "work", required_argument, NULL, 'w' },
						 { "slow", required_argument, NULL, 's' },
						 { "log", required_argument, NULL, 'l' },
						 { NULL, 0, NULL, 0 } };
	static struct program p = { .passes = 100, .work_us = 200, .slow = -1 };
	const char *log = NULL;
	int o;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (o == '?')
			MPI_Abort(MPI_COMM_WORLD, 2);
		if (o == 'p')
			p.passes = atoi(optarg);
		if (o == 'w')
			p.work_us = atoi(optarg);
		if (o == 's')
			p.slow = atoi(optarg);
		if (o == 'f')
			p.from = optarg;
		if (o == 'u')
			p.until = optarg;
		if (o == 'l')
			log = optarg;
	}
	if (log)
		open_log(&p, log);
	wait_for(p.from);
	for (int i = 1; i <= p.passes && !is_there(p.until); i++)
		pass(&p, i);
	if (p.log)
		fclose(p.log);
	return MPI_Finalize();
}
