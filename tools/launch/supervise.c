/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/launch/supervise.h"

#include "common/base/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GROUP_NAP_NS 10000000 /* time in which a signal to a group reaches all members */

void supervise_begin(struct supervised *s)
{
	const struct sigaction as_usual = { .sa_handler = SIG_DFL };
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &s->before);
	sigaction(SIGCHLD, &as_usual, &s->child);
}

static void restore(const struct supervised *s)
{
	sigaction(SIGCHLD, &s->child, NULL);
	sigprocmask(SIG_SETMASK, &s->before, NULL);
}

/* --- the witness: signals to the process group reach the program directly */

static void be_witness(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifdef SYS_close_range
	syscall(SYS_close_range, 0, INT_MAX, 0);
#endif
	while (getppid() == parent)
		pause();
	_exit(0);
}

static pid_t start_witness(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0)
		be_witness(parent);
	return pid;
}

static void end_witness(struct supervised *s)
{
	if (s->witness <= 0)
		return;
	kill(s->witness, SIGKILL);
	waitpid(s->witness, NULL, 0);
	s->witness = -1;
}

/* Returns the signals pending for the whole process. */
static unsigned long long pending_of(pid_t pid)
{
	static const char key[] = "ShdPnd:";
	unsigned long long pending = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, sizeof(key) - 1))
			pending = strtoull(line + sizeof(key) - 1, NULL, 16);
	if (f)
		fclose(f);
	return pending;
}

/*
 * The kernel sends signals of the keyboard to the group; kill() sends one to a process or to the
 * group.
 */
static bool is_of_group(struct supervised *s, const siginfo_t *i)
{
	const struct timespec nap = { .tv_nsec = GROUP_NAP_NS };

	if (i->si_code == SI_KERNEL)
		return true;
	if (s->witness <= 0)
		return false;
	nanosleep(&nap, NULL);
	if (!(pending_of(s->witness) >> (i->si_signo - 1) & 1))
		return false;
	end_witness(s); /* another signal, or none is pending */
	s->witness = start_witness();
	return true;
}

/* --- the program */

int supervise_start(struct supervised *s, int (*become)(void *arg), void *arg)
{
	pid_t parent = getpid();

	s->witness = start_witness();
	s->program = fork();
	if (s->program == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		restore(s);
		if (getppid() != parent)
			_exit(EXIT_FAILURE);
		_exit(become(arg));
	}
	if (s->program > 0)
		return 0;
	end_witness(s);
	restore(s);
	return -1;
}

static bool is_stop(int signo)
{
	return signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU;
}

/*
 * Returns true and *status if the program has ended. *stops: a signal has arrived that stops the
 * program, too.
 */
static bool look(struct supervised *s, bool *stops, int *status)
{
	siginfo_t i = { 0 };

	while (!waitid(P_PID, (id_t)s->program, &i, WEXITED | WSTOPPED | WNOHANG) &&
	       i.si_pid == s->program) {
		if (i.si_code == CLD_EXITED || i.si_code == CLD_KILLED || i.si_code == CLD_DUMPED) {
			*status = i.si_code == CLD_EXITED ? W_EXITCODE(i.si_status, 0)
							  : W_EXITCODE(0, i.si_status);
			return true;
		}
		/* The shell sees us stop, and continues the group. */
		if (*stops && is_stop(i.si_status))
			raise(SIGSTOP);
		*stops = false;
		i = (siginfo_t){ 0 };
	}
	return false;
}

int supervise_wait(struct supervised *s)
{
	bool stops = false;
	int status = 0;
	siginfo_t i;
	sigset_t all;

	sigfillset(&all);
	while (!look(s, &stops, &status)) {
		if (sigwaitinfo(&all, &i) < 0 || i.si_signo == SIGCHLD)
			continue;
		stops |= is_stop(i.si_signo);
		if (!is_of_group(s, &i))
			kill(s->program, i.si_signo);
	}
	end_witness(s);
	return status;
}

int supervise_end_child(pid_t pid, int64_t most_ns)
{
	nsec_t now = clock_mono(), end = now + most_ns;
	sigset_t child, before;
	pid_t gone;
	int status = 0;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	while (!(gone = waitpid(pid, &status, WNOHANG)) && now < end) {
		const struct timespec left = { .tv_sec = (end - now) / NSEC_PER_SEC,
					       .tv_nsec = (end - now) % NSEC_PER_SEC };

		sigtimedwait(&child, NULL, &left);
		now = clock_mono();
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (gone)
		return gone > 0 ? status : -1;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return -1;
}

void supervise_end(int status)
{
	const struct sigaction as_usual = { .sa_handler = SIG_DFL };
	const struct rlimit none = { 0, 0 };
	sigset_t one;

	if (!WIFSIGNALED(status))
		exit(WEXITSTATUS(status));
	setrlimit(RLIMIT_CORE, &none);
	sigaction(WTERMSIG(status), &as_usual, NULL);
	sigemptyset(&one);
	sigaddset(&one, WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(WTERMSIG(status));
	_exit(128 + WTERMSIG(status));
}
