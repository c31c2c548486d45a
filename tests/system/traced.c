/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose stack, registers, system calls and signals are known:
 *   traced wait       waits at the end of known frames, with 0x5151 in r15
 *   traced run N      says where traced_step and a function are, reads a line, makes N steps; then
 *                     says what it has done. A step is a call of traced_step, one of getppid and
 *                     a millisecond's sleep.
 *   traced run N M    the same, and reads another line before step M
 *   traced fast N     the same with nothing but N times getppid
 *   traced trace PID  traces PID, says so, and waits
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void traced_library_outer(void (*back)(int), int depth);
void traced_step(int i);
void traced_wait_here(int depth);

static volatile sig_atomic_t signals;
static volatile int sum;

static void on_signal(int sig)
{
	signals++;
}

__attribute__((noinline)) void traced_step(int i)
{
	sum += i & 1;
}

__attribute__((noinline)) void traced_wait_here(int depth)
{
	volatile char room[400];

	memset((char *)room, depth, sizeof(room));
#if defined(__x86_64__)
	for (;;) {
		long rc = SYS_pause;

		__asm__ volatile("mov $0x5151, %%r15\n\tsyscall"
				 : "+a"(rc)
				 :
				 : "r15", "rcx", "r11", "memory");
	}
#else
	for (;;)
		pause();
#endif
}

static int run(int n, int is_fast, int halt)
{
	char line[16];

	/* No printf before the line is read: no other system calls may follow it. */
	printf("step %p\ncalled %p\n", (void *)traced_step, (void *)on_signal);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 0; i < n; i++) {
		if (i == halt && !fgets(line, sizeof(line), stdin))
			return 1;
		syscall(SYS_getppid);
		if (is_fast)
			continue;
		traced_step(i);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	printf("steps %d sum %d signals %d\n", n, sum, (int)signals);
	return 0;
}

static int trace(int pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		return 1;
	puts("tracing");
	fflush(stdout);
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc >= 3 ? (int)strtol(argv[2], NULL, 10) : 0;
	int halt = argc == 4 ? (int)strtol(argv[3], NULL, 10) : -1;

	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_signal, .sa_flags = SA_RESTART },
		  NULL);
	if (argc == 3 && !strcmp(argv[1], "trace"))
		return trace(n);
	if (argc >= 3)
		return run(n, !strcmp(argv[1], "fast"), halt);
	traced_library_outer(traced_wait_here, 3);
	return 0;
}
