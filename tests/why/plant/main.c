/* SPDX-License-Identifier: Apache-2.0 */
/* plant: `plant --help` prints its words, kernels and plants. */
#include "plant.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifdef PLANT_PROBES
#include "plant_probes.h"
#else
static void step_begin(int vt)
{
	(void)vt;
}
static void step_end(int vt)
{
	(void)vt;
}
#endif

/* Written whole, since its reader waits for it. */
static void write_pids(const struct plant *p)
{
	int own = (int)getpid(), all[RANKS_MAX];
	char path[NAME_MAX_BYTES];
	FILE *f;

	MPI_Gather(&own, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (p->rank || !p->pids)
		return;
	snprintf(path, sizeof(path), "%s.part", p->pids);
	f = fopen(path, "w");
	if (!f)
		fail("cannot be written", path);
	for (int r = 0; r < p->ranks; r++)
		fprintf(f, "%d %d\n", r, all[r]);
	if (fclose(f) || rename(path, p->pids))
		fail("cannot be written", p->pids);
}

static void begin(struct plant *p)
{
	struct timespec t;

	p->in = calloc(1, (size_t)p->bytes);
	p->out = calloc(1, (size_t)p->bytes);
	if (!p->in || !p->out)
		fail("no memory for messages", p->kernel->name);
	p->seed += (unsigned)p->rank;
	work_calibrate(p);
	write_pids(p);
	clock_gettime(CLOCK_REALTIME, &t);
	p->wall_begin = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
	p->begin = now();
	MPI_Bcast(&p->begin, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	struct plant p = {
		.size = 0.1, .until = 1e9, .seconds = 30, .work = 0.04, .bytes = 1 << 18, .seed = 1
	};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
	if (p.ranks > RANKS_MAX || p.ranks < 2)
		fail("from 2 to 256 ranks", "plant");
	options_parse(&p, argc, argv);
	begin(&p);
	while (!kernel_is_over(&p)) {
		step_begin(p.step);
		p.kernel->step(&p);
		step_end(p.step);
		p.step++;
	}
	kernel_done();
	truth_write(&p);
	free(p.op);
	free(p.in);
	free(p.out);
	MPI_Finalize();
	return 0;
}
