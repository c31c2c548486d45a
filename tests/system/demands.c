/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server without MPI whose services have known demands of CPU time. Its services are regions of
 * examples/loops.probes: loop, compute and send. Requests of random services come one by one, until
 * a file is there. The server rests between them.
 *
 *	demands FILE [THREADS]
 *
 * Then it prints for each service its number of requests. Behind it is the mean CPU time of one,
 * by the clock of threads.
 */
#include "loops_probes.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SERVICES 3
#define THREADS_MAX 16

static const double demand_s[SERVICES] = { 0.002, 0.006, 0.001 };
static const char *const names[SERVICES] = { "loop", "compute", "send" };
static const char *until;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long requests[SERVICES];
static double used_s[SERVICES];

static double thread_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void begin(int service, int n)
{
	if (service == 0)
		loop_start(n);
	else if (service == 1)
		compute_begin(n);
	else
		begin_send(n);
}

static void end(int service, int n)
{
	if (service == 0)
		loop_stop(n);
	else if (service == 1)
		compute_end(n);
	else
		end_send(n);
}

/* Between half and one and a half of the demand. */
static void serve(int service, int n, unsigned *seed)
{
	double from = thread_time(), now;
	double until_s = from + demand_s[service] * (0.5 + rand_r(seed) / (double)RAND_MAX);

	begin(service, n);
	while ((now = thread_time()) < until_s)
		continue;
	end(service, n);
	pthread_mutex_lock(&lock);
	requests[service]++;
	used_s[service] += now - from;
	pthread_mutex_unlock(&lock);
}

/* Bursts prefer one service, so that the counts of services do not rise and fall together. */
static void *work(void *arg)
{
	unsigned seed = *(const unsigned *)arg;
	int preferred = 0;

	for (int i = 0; access(until, F_OK); i++) {
		if (i % 50 == 0)
			preferred = rand_r(&seed) % SERVICES;
		serve(rand_r(&seed) % 3 ? preferred : rand_r(&seed) % SERVICES, i, &seed);
		usleep(rand_r(&seed) % 4000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1, seed[THREADS_MAX];
	pthread_t t[THREADS_MAX];

	if (argc < 2 || threads < 1 || threads > THREADS_MAX)
		return 2;
	until = argv[1];
	for (unsigned i = 0; i < threads; i++) {
		seed[i] = i + 1;
		if (pthread_create(&t[i], NULL, work, &seed[i]))
			return 3;
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < SERVICES; i++)
		printf("%s %ld %.9f\n", names[i], requests[i],
		       requests[i] ? used_s[i] / (double)requests[i] : 0);
	return 0;
}
