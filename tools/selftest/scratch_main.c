/* SPDX-License-Identifier: Apache-2.0 */
/*
 * omig-scratch: the process that `omig selftest` examines. It is a rank without an MPI: the calls
 * that libomig watches end here. It writes `NAME VALUE` lines about itself. It executes the
 * commands on its input, one a line, and writes `done` after each. It ends at the end of its input.
 *
 * 	calls N		N calls of MPI_Barrier
 * 	steps N		N calls of scratch_step, each with a probe, a getppid and a sleep of 1 ms
 * 	thread, unthread	begins and ends a thread
 * 	child, unchild	begins and ends a further rank, as a child
 */
#include "common/base/str.h"
#include "tools/selftest/scratch_probes.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__ /* knows no noipa */
#define OPAQUE noinline, optnone
#else
#define OPAQUE noipa
#endif
#define EXPORT __attribute__((visibility("default"), OPAQUE))
#define KNOWN_REGISTER "0x5151" /* value of r15 in the waiting thread */

extern char **environ;

static char word[] = "scratch word";
static volatile int steps, is_ending;
static pthread_t more;
static pid_t child;
static int child_in = -1;

/* The minimum of an MPI library that libomig needs to count. */
int PMPI_Init(int *argc, char ***argv);
EXPORT int PMPI_Init(int *argc, char ***argv)
{
	return 0;
}

int PMPI_Barrier(void *comm);
EXPORT int PMPI_Barrier(void *comm)
{
	return 0;
}

static int own_tid(void)
{
	return (int)syscall(SYS_gettid);
}

static void on_signal(int sig)
{
	dprintf(STDOUT_FILENO, "signal %d %d\n", sig, own_tid());
}

void scratch_step(int i);
EXPORT void scratch_step(int i)
{
	steps += i & 1;
}

/*
 * Writes the address to which it returns, then waits without end. Only write() and pause(): it may
 * be jumped into.
 */
void scratch_wait(const char *report);
EXPORT void scratch_wait(const char *report)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%s %llu\n", report,
			 (unsigned long long)(uintptr_t)__builtin_return_address(0));

	if (n < 0 || write(STDOUT_FILENO, line, (size_t)n) < 0)
		_exit(1);
#if defined(__x86_64__)
	for (;;) {
		long rc = SYS_pause;

		__asm__ volatile("mov $" KNOWN_REGISTER ", %%r15\n\tsyscall"
				 : "+a"(rc)
				 :
				 : "r15", "rcx", "r11", "memory");
	}
#else
	for (;;)
		pause();
#endif
}

/* Target of thread_goto for the waiting thread; the alignment of its stack is unknown. */
void scratch_landed(void);
#if defined(__x86_64__)
__attribute__((force_align_arg_pointer))
#endif
EXPORT void
scratch_landed(void)
{
	scratch_wait("landed");
	steps++; /* a statement behind the call, so that the call is not a jump */
}

/* Target of thread_call for the waiting thread. */
void scratch_called(void);
EXPORT void scratch_called(void)
{
	dprintf(STDOUT_FILENO, "called by %d\n", own_tid());
}

void *scratch_thread(void *arg);
EXPORT void *scratch_thread(void *arg)
{
	*(volatile int *)arg = own_tid();
	scratch_wait("back");
	return arg;
}

static void *short_thread(void *arg)
{
	while (!is_ending)
		usleep(1000);
	return NULL;
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static int call(const char *name, void *first, void *second)
{
	int (*fn)(void *, void *);
	void *p = dlsym(RTLD_DEFAULT, name);

	memcpy(&fn, &p, sizeof(fn));
	return p ? fn(first, second) : -1;
}

static void do_calls(long n)
{
	for (long i = 0; i < n; i++)
		call("MPI_Barrier", NULL, NULL);
}

static void do_steps(long n)
{
	for (long i = 0; i < n; i++) {
		scratch_step((int)i);
		scratch_probe((int)i, (double)i / 2);
		syscall(SYS_getppid);
		nap();
	}
}

static void begin_thread(void)
{
	is_ending = 0;
	if (pthread_create(&more, NULL, short_thread, NULL) != 0)
		_exit(1);
}

static void end_thread(void)
{
	is_ending = 1;
	pthread_join(more, NULL);
}

static void begin_child(void)
{
	char path[] = "/proc/self/exe", name[] = "omig-scratch", mode[] = "child";
	char *argv[] = { name, mode, NULL };
	posix_spawn_file_actions_t a;
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		_exit(1);
	posix_spawn_file_actions_init(&a);
	posix_spawn_file_actions_adddup2(&a, fd[0], STDIN_FILENO);
	if (posix_spawn(&child, path, &a, NULL, argv, environ) != 0)
		_exit(1);
	posix_spawn_file_actions_destroy(&a);
	close(fd[0]);
	child_in = fd[1];
	dprintf(STDOUT_FILENO, "child %d\n", (int)child);
}

static void end_child(void)
{
	close(child_in);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
}

static void obey(char *line)
{
	char *n = strchr(line, ' ');
	long count = n ? strtol(n + 1, NULL, 10) : 0;

	if (str_has_prefix(line, "calls "))
		do_calls(count);
	else if (str_has_prefix(line, "steps "))
		do_steps(count);
	else if (str_eq(line, "thread"))
		begin_thread();
	else if (str_eq(line, "unthread"))
		end_thread();
	else if (str_eq(line, "child"))
		begin_child();
	else if (str_eq(line, "unchild"))
		end_child();
	dprintf(STDOUT_FILENO, "done\n");
}

static void report(const char *name, const void *p)
{
	dprintf(STDOUT_FILENO, "%s %llu\n", name, (unsigned long long)(uintptr_t)p);
}

static int serve(void)
{
	char line[128];
	volatile int tid = 0;
	pthread_t t;

	if (pthread_create(&t, NULL, scratch_thread, (void *)&tid) != 0)
		return 1;
	while (!tid)
		usleep(1000);
	dprintf(STDOUT_FILENO, "pid %d\ntid %d\n", (int)getpid(), tid);
	report("word", word);
	report("step", (const void *)(uintptr_t)scratch_step);
	report("called", (const void *)(uintptr_t)scratch_called);
	report("landing", (const void *)(uintptr_t)scratch_landed);
	dprintf(STDOUT_FILENO, "done\n");
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	const char *mode = argc > 1 ? argv[1] : "";

	if (str_eq(mode, "created"))
		return dprintf(STDOUT_FILENO, "created %s\n", argc > 2 ? argv[2] : "") < 0;
	sigaction(SIGUSR1, &a, NULL);
	if (call("MPI_Init", &argc, &argv) != 0)
		return 1;
	if (!str_eq(mode, "child"))
		return serve();
	while (getchar() != EOF)
		continue;
	return 0;
}
