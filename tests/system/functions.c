/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functions GO END: an MPI program whose functions are measured. It waits for the file GO and calls
 * its functions. It prints how often it has called each, and the seconds in one of them. Then it
 * waits for the file END.
 */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STAY __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))
#define MANY 20000

double compute_flux(int n);
long climb(volatile long n);
void leave(int how);
double threaded(int n);
double passes_on(int n);
double waits(int n);
void handled(int sig);
double in_switch(int n);
void too_short(void);

static volatile double sink;
static volatile long counted;
static double inside;
static jmp_buf back;
static int rank, in_child;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

STAY double compute_flux(int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += i * 0.5 / (i + 1);
	if (n > 1000)
		sum += sink;
	return sum;
}

STAY long climb(volatile long n)
{
	if (n <= 0)
		return 0;
	return climb(n - 1) + 1;
}

STAY void leave(int how)
{
	counted = counted + 1;
	if (how)
		longjmp(back, 1);
	counted = counted + 0;
}

STAY double threaded(int n)
{
	return compute_flux(n) + 1;
}

/* A tail call is a way out, too. */
__attribute__((noinline, noclone)) double passes_on(int n)
{
	counted = counted + 1;
	sink = sink + n;
	return compute_flux(n + 1);
}

STAY double waits(int n)
{
	MPI_Barrier(MPI_COMM_WORLD);
	return sink + n;
}

STAY void handled(int sig)
{
	sink = sink + 1;
	counted = counted + 1;
}

STAY double in_switch(int n)
{
	switch (n % 8) {
	case 0:
		sink = sink + 3;
		break;
	case 1:
		sink = sink * 2;
		break;
	case 2:
		sink = sink - 7;
		break;
	case 3:
		sink = sink / 3;
		break;
	case 4:
		sink = sink + n;
		break;
	case 5:
		sink = sink - n;
		break;
	case 6:
		sink = 1 / (sink + 9);
		break;
	default:
		break;
	}
	return sink;
}

__attribute__((naked)) void too_short(void)
{
	__asm__("ret");
}

static void *work(void *arg)
{
	for (int i = 0; i < 1000; i++)
		sink = threaded(10);
	return NULL;
}

static void run_threads(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void run_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		sink = compute_flux(10);
		_exit(climb(3) == 3 ? 0 : 1);
	}
	waitpid(pid, &in_child, 0);
}

static void wait_for(const char *file)
{
	while (access(file, F_OK))
		usleep(10000);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = handled }, NULL);
	wait_for(argv[1]);
	for (int i = 0; i < MANY; i++) {
		double begin = now();

		sink = compute_flux(100 + i % 50 * 100);
		inside += now() - begin;
	}
	printf("rank %d compute_flux %d %.9f\n", rank, MANY, inside);
	printf("rank %d climb %ld\n", rank, climb(99) + 1);
	for (int i = 0; i < 300; i++)
		if (!setjmp(back))
			leave(i % 2);
	printf("rank %d leave 300\n", rank);
	run_threads();
	for (int i = 0; i < 500; i++)
		sink = passes_on(i);
	for (int i = 0; i < 40; i++)
		sink = waits(i);
	for (int i = 0; i < 200; i++)
		raise(SIGUSR1);
	run_child();
	too_short();
	printf("rank %d sum %ld child %d switch %g\n", rank, (long)counted, in_child, in_switch(8));
	fflush(stdout);
	wait_for(argv[2]);
	MPI_Finalize();
	return 0;
}
