/* SPDX-License-Identifier: Apache-2.0 */
/* plant: work of a rank, outside of MPI. */
#include "plant.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

enum { THOUSAND = 1000, CALIBRATIONS = 5 };

static double clock_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double now(void)
{
	return clock_now(CLOCK_MONOTONIC);
}

/* Returns the seconds that this thread was ready to run without a processor; 0 where the kernel
 * does not count them. */
static double run_delay(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "r");
	unsigned long long ran, waited = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	fclose(f);
	return (double)waited / 1e9;
}

static void thousands(long n)
{
	volatile double x = 1;

	for (long i = 0; i < n; i++)
		for (int k = 0; k < THOUSAND; k++)
			x = x * 1.0000001 + 1e-9;
}

void work_calibrate(struct plant *p)
{
	const long n = 2000;
	double best = 1e9;

	prctl(PR_SET_TIMERSLACK, 1UL);
	if (!p->rank) {
		for (int i = 0; i < CALIBRATIONS; i++) {
			double t = clock_now(CLOCK_THREAD_CPUTIME_ID);

			thousands(n);
			t = clock_now(CLOCK_THREAD_CPUTIME_ID) - t;
			best = t < best ? t : best;
		}
		p->per_second = (long)((double)n / best);
	}
	/* Of one rank, so that all do the same. */
	MPI_Bcast(&p->per_second, 1, MPI_LONG, 0, MPI_COMM_WORLD);
}

static void sleep_for(double seconds)
{
	struct timespec t = { .tv_sec = (time_t)seconds };

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

static void spin_for(double seconds)
{
	double end = clock_now(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (clock_now(CLOCK_THREAD_CPUTIME_ID) < end)
		thousands(1);
}

void work_for(struct plant *p, double seconds, enum work_by by)
{
	double wall = now(), processor = clock_now(CLOCK_THREAD_CPUTIME_ID), delay = run_delay();

	if (seconds <= 0)
		return;
	if (by == WORK_SLEEP)
		sleep_for(seconds);
	else if (by == WORK_SPIN)
		spin_for(seconds);
	else
		thousands((long)(seconds * (double)p->per_second));
	p->useful.delay += run_delay() - delay;
	p->useful.processor += clock_now(CLOCK_THREAD_CPUTIME_ID) - processor;
	p->useful.wall += now() - wall;
}

void work_step(struct plant *p)
{
	double seconds = p->work, extra = planted_extra(p);

	if (p->jitter > 0)
		seconds *= 1 + p->jitter * (2.0 * rand_r(&p->seed) / RAND_MAX - 1);
	if (extra < 0)
		seconds += extra;
	work_for(p, seconds, p->by);
	work_for(p, extra, p->extra_by);
}
