/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops: passes of a loop with work that is uneven, messages round a ring, and a barrier; its regions are
 * marked by the probes of loops.probes, which the metrics in examples/metrics/ ask for. It keeps its
 * own log of them, for comparison.
 *
 *	omig probes -o loops_probes.c -H loops_probes.h loops.probes
 *	mpicc -o loops loops.c loops_probes.c
 *	mpirun -np 4 loops --passes 100
 *
 *	--passes N	so many passes (100)
 *	--until FILE	end earlier, when this file is there
 *	--work US	the first rank works so long in a pass, the k-th k times as long (200)
 *	--log FILE	rank k writes FILE.k: a line for each probe, "name vt time sent": seconds since
 *			1970 before the probe, bytes that it has sent so far
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
	int rank, ranks, passes, work_us;
	const char *until;
	FILE *log; /* NULL: none */
	long sent;
	char out[CHUNK * CHUNKS], in[CHUNK * CHUNKS];
};

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void note(const struct program *p, const char *probe, int vt)
{
	if (p->log)
		fprintf(p->log, "%s %d %.9f %ld\n", probe, vt, now(CLOCK_REALTIME), p->sent);
}

static double work(const struct program *p)
{
	double end = now(CLOCK_MONOTONIC) + p->work_us * (p->rank + 1) / 1e6, sum = 0;

	for (int i = 1; now(CLOCK_MONOTONIC) < end; i++)
		sum += 1.0 / i;
	return sum;
}

/* To the next rank, from the one before; with one rank to nobody. */
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

static void pass(struct program *p, int vt)
{
	note(p, "loop_start", vt);
	loop_start(vt);
	work(p);
	note(p, "begin_send", vt);
	begin_send(vt);
	send_round(p, vt);
	note(p, "end_send", vt);
	end_send(vt);
	MPI_Barrier(MPI_COMM_WORLD);
	note(p, "loop_stop", vt);
	loop_stop(vt);
	note(p, "iteration_end", vt);
	iteration_end(vt, 1.0 / vt);
}

/* The first rank decides for all. */
static int is_over(const struct program *p)
{
	int over = p->until && access(p->until, F_OK) == 0;

	MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return over;
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
						 { "until", required_argument, NULL, 'u' },
						 { "work", required_argument, NULL, 'w' },
						 { "log", required_argument, NULL, 'l' },
						 { NULL, 0, NULL, 0 } };
	static struct program p = { .passes = 100, .work_us = 200 };
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
		if (o == 'u')
			p.until = optarg;
		if (o == 'l')
			log = optarg;
	}
	if (log)
		open_log(&p, log);
	for (int i = 1; i <= p.passes && !is_over(&p); i++)
		pass(&p, i);
	if (p.log)
		fclose(p.log);
	return MPI_Finalize();
}
