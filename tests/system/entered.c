/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that omig attach enters, or has a reason not to. It calls MPI and checks each result
 * until the file named by its second argument exists; then it prints how many were wrong. Before
 * the first call it prints "ready". Its first argument is one of
 *
 *	plain        nothing special
 *	computes     for a millisecond between two calls
 *	waits        without a call of MPI until then
 *	forbids      with a seccomp filter that refuses new files and memory
 *	forks        prints "child PID" of a child that calls MPI as well
 *	forks-later  forks such a child at SIGUSR1
 *	starts       starts itself once more at SIGUSR1, in the same process
 *	zombie       prints "child PID" of a child that has ended and is not waited for
 *	traced       prints "child PID" of a child that calls MPI and that it traces
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Allreduce(const void *in, void *out, int n, void *type, void *op, void *comm);
int MPI_Barrier(void *comm);

static long wrong;
/* A slot of data, beside those of calls. */
static int (*volatile barrier)(void *comm) = MPI_Barrier;

static void step(long i)
{
	long in[2] = { i, -i }, out[2] = { 0 };

	wrong += MPI_Allreduce(in, out, 2, NULL, NULL, NULL) != 0;
	wrong += out[0] != i + 1 || out[1] != 1 - i;
	wrong += barrier(NULL) != 0;
}

static int must_end(const char *file)
{
	return access(file, F_OK) == 0 || getppid() == 1;
}

static void forbid(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog p = { sizeof(f) / sizeof(f[0]), f };

	wrong += prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0;
	wrong += prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) != 0;
}

static void compute(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 1000;

	while (clock() < end)
		;
}

static pid_t have_child(const char *file, int ends, int is_traced)
{
	pid_t child = fork();

	if (!child && ends)
		_exit(0);
	for (long i = 0; !child && !must_end(file); i++) {
		step(i);
		usleep(1000);
	}
	if (!child)
		_exit(wrong != 0);
	if (is_traced)
		wrong += ptrace(PTRACE_SEIZE, child, NULL, NULL) != 0;
	printf("child %d\n", (int)child);
	return child;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "", *file = argc > 2 ? argv[2] : "";
	const struct timespec ms = { 0, 1000000 };
	sigset_t asked;
	pid_t child = 0;
	int status = 0;

	if (!how[0])
		return 2;
	sigemptyset(&asked);
	sigaddset(&asked, SIGUSR1);
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	MPI_Init(&argc, &argv);
	if (!strcmp(how, "forbids"))
		forbid();
	if (!strcmp(how, "forks") || !strcmp(how, "zombie") || !strcmp(how, "traced"))
		child = have_child(file, how[0] == 'z', how[0] == 't');
	sigprocmask(SIG_BLOCK, &asked, NULL); /* also after exec */
	for (long i = 0; !must_end(file); i++) {
		if (strcmp(how, "waits") != 0)
			step(i);
		if (!strcmp(how, "computes")) {
			compute();
			continue;
		}
		if (sigtimedwait(&asked, NULL, &ms) != SIGUSR1)
			continue;
		if (how[0] == 's' && !wrong)
			execv("/proc/self/exe", argv);
		if (!child)
			child = have_child(file, 0, 0);
	}
	if (child)
		wrong += waitpid(child, &status, 0) != child || status;
	printf("%ld wrong\n", wrong);
	MPI_Finalize();
	return wrong != 0;
}
