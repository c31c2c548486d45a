/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each rank writes numbered events while a tool wants them, in bursts that exceed its ring. It
 * prints their number at the end.
 *
 *	numbered [--events N] [--burst N] [--pause US] [--until FILE]
 *
 * A rank waits until the events are on, and writes N of them. Each hundredth burst is a hundred
 * times as large. It stays until FILE exists. Numbers of rank r begin at r * 2^40.
 */
#include <omig/event.h>

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANK_SHIFT 40
#define OFF_PAUSE_US 1000 /* interval between two tests of the switch */

OMIG_EVENT(tick, "tick", OMIG_INFO, (int64, number))

struct run {
	long long events, burst, pause_us;
	const char *until;
	long long first, written; /* numbers */
	long long bursts;
	/*
	 * Numbers that may have been reported or not: events were on before the burst and off after
	 * it.
	 */
	long long unsure;
};

static void write_burst(struct run *r)
{
	long long n = ++r->bursts % 100 ? r->burst : 100 * r->burst;

	for (long long i = 0; i < n && r->written < r->events; i++) {
		if (!omig_event_is_on(tick))
			return;
		omig_event(tick, r->first + r->written++); /* evaluated when it is on */
		if (!omig_event_is_on(tick))
			r->unsure++;
	}
}

static void read_words(struct run *r, int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--events"))
			r->events = strtoll(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--burst"))
			r->burst = strtoll(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--pause"))
			r->pause_us = strtoll(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--until"))
			r->until = argv[i + 1];
	}
}

int main(int argc, char **argv)
{
	struct run r = { .events = 1000, .burst = 100, .pause_us = 1000 };
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	read_words(&r, argc, argv);
	r.first = (long long)rank << RANK_SHIFT;
	while (r.written < r.events && !(r.until && !access(r.until, F_OK))) {
		bool was_on = omig_event_is_on(tick);

		write_burst(&r);
		if (!was_on || r.pause_us)
			usleep((unsigned)(was_on ? r.pause_us : OFF_PAUSE_US));
	}
	printf("rank %d generated %lld unsure %lld\n", rank, r.written, r.unsure);
	fflush(stdout);
	while (r.until && access(r.until, F_OK))
		usleep(OFF_PAUSE_US);
	MPI_Finalize();
	return 0;
}
