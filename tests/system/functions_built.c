/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functions_built GO END: as functions.c. It is built in several ways: with room at the entries of
 * functions, with calls there, without symbols.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STAY __attribute__((noinline))
#define CALLS 20000
#define THREADS 50

double compute_flux(int n);
void quits(int n);
int jumped_near(void), jumper_near(void), jumped_far(void), jumper_far(void);

static volatile double sink;
static long hooks;

/* For -finstrument-functions. */
__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *fn, void *from)
{
	__atomic_fetch_add(&hooks, 1, __ATOMIC_RELAXED);
}

__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *fn, void *from)
{
	__atomic_fetch_add(&hooks, 1, __ATOMIC_RELAXED);
}

STAY double compute_flux(int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += i * 0.5 / (i + 1);
	return sum + sink;
}

STAY void quits(int n)
{
	sink = sink + 1;
	if (n >= 0)
		pthread_exit(NULL);
	sink = sink + n;
}

/* Other functions jump behind their first instruction: with a short and with a far distance. */
#define JUMPED(name, jump)                                     \
	__asm__(".text\n"                                      \
		".globl jumped_" #name "\n"                    \
		".type jumped_" #name ", @function\n"          \
		"jumped_" #name ":\n"                          \
		"xor %eax, %eax\n"                             \
		"1: add $1, %eax\n"                            \
		"lea (%rax, %rax), %eax\n"                     \
		"nop\n nop\n nop\n nop\n nop\n"                \
		"ret\n"                                        \
		".size jumped_" #name ", .-jumped_" #name "\n" \
		".globl jumper_" #name "\n"                    \
		".type jumper_" #name ", @function\n"          \
		"jumper_" #name ":\n"                          \
		"mov $5, %eax\n" jump ".size jumper_" #name ", .-jumper_" #name "\n")
JUMPED(near, "jmp 1b\n");
JUMPED(far, ".byte 0xe9\n .long 1b - . - 4\n");

static void *work(void *arg)
{
	quits(1);
	return NULL;
}

static void wait_for(const char *file)
{
	while (access(file, F_OK))
		usleep(10000);
}

int main(int argc, char **argv)
{
	pthread_t t;

	MPI_Init(&argc, &argv);
	wait_for(argv[1]);
	for (int i = 0; i < CALLS; i++)
		sink = compute_flux(i % 50) / 1000;
	sink = 0;
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&t, NULL, work, NULL))
			return 1;
		pthread_join(t, NULL);
	}
	printf("compute_flux %d quits %d sum %g hooks %ld\n", CALLS, THREADS, sink, hooks);
	printf("jumps %d %d %d %d\n", jumped_near(), jumper_near(), jumped_far(), jumper_far());
	fflush(stdout);
	wait_for(argv[2]);
	MPI_Finalize();
	return 0;
}
