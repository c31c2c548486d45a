/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without MPI that a test manipulates: two threads that wait. It prints the addresses of
 * things,
 *
 *	threads PID TID
 *	written ADDR    "what may be written"
 *	constant ADDR   "what is only read"
 *	unset ADDR      a variable without a value
 *	code ADDR       a function
 *
 * and `signal NUMBER TID` for each SIGUSR1 that a thread gets. It ends when its input ends.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char written[64] = "what may be written";
static const char constant[] = "what is only read";
static char unset[4096];

static int own_tid(void)
{
	return (int)syscall(SYS_gettid);
}

static void on_signal(int sig)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "signal %d %d\n", sig, own_tid());

	if (write(STDOUT_FILENO, line, (size_t)n) < 0)
		_exit(1);
}

static void *wait_for_ever(void *arg)
{
	*(volatile int *)arg = own_tid();
	for (;;)
		pause();
	return NULL;
}

static void wait_for_end(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	char c;

	for (;;)
		if (poll(&p, 1, -1) == 1 && read(STDIN_FILENO, &c, 1) == 0)
			return;
}

int main(void)
{
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	volatile int tid = 0;
	pthread_t t;

	sigaction(SIGUSR1, &a, NULL);
	if (pthread_create(&t, NULL, wait_for_ever, (void *)&tid) != 0)
		return 1;
	while (!tid)
		usleep(1000);
	memset(unset, 1, 8);
	printf("threads %d %d\nwritten %p\nconstant %p\nunset %p\ncode %p\n", (int)getpid(), tid,
	       (void *)written, (const void *)constant, (void *)unset,
	       (void *)(uintptr_t)wait_for_end);
	fflush(stdout);
	wait_for_end();
	return 0;
}
