/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the host's lm from inside a program that is not aware of it. The program gets no SIGCHLD
 * and no child for its wait(). The lm has no copy of its memory and none of its open files. The
 * program waits no longer than an exec. A child without an exit signal, which shares the memory,
 * makes the lm's process and ends; init adopts the lm. The lm inherits its lock and the socket for
 * registrations. So a process that starts from now on can register, and may end before the lm is
 * ready.
 */
#include "common/base/file.h"
#include "common/base/array.h"
#include "libapp/hot/app_state.h"
#include "libapp/hot/hook.h"
#include "libapp/setup/setup.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES 65536 /* for each of the two */
#define LOCK_FD 3
#define LISTEN_FD 4
#define PROCESSORS_MAX 8192 /* as many as Linux can be built for */
#define ENV_MAX 4096 /* variables passed on */
#define FDS_MAX 65536 /* closed one by one where close_range is not known */

extern char **environ;

struct launch {
	const char *path;
	char *stack;
	char **env;
};

static bool is_program(const char *path, int n, size_t size)
{
	return n > 0 && (size_t)n < size && access(path, X_OK) == 0;
}

/* OMIG_LM, else bin/lm beside the lib/ or lib/ARCHITECTURE/ that this library is in. */
static bool lm_program(char *out, size_t size)
{
	static const char *const up[] = { "..", "../.." };
	const char *set = setup_env("OMIG_LM"), *slash;
	Dl_info me;

	if (set)
		return is_program(out, snprintf(out, size, "%s", set), size);
	if (!dladdr(hook_word, &me) || !me.dli_fname || !(slash = strrchr(me.dli_fname, '/')))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(up); i++)
		if (is_program(out,
			       snprintf(out, size, "%.*s/%s/bin/lm", (int)(slash - me.dli_fname),
					me.dli_fname, up[i]),
			       size))
			return true;
	return false;
}

/* Copies the program's environment without its preloaded libraries. */
static void copy_env(char **out)
{
	unsigned n = 0;

	for (char **e = environ; e && *e && n < ENV_MAX - 1; e++)
		if (strncmp(*e, "LD_PRELOAD=", 11) != 0)
			out[n++] = *e;
	out[n] = NULL;
}

static void close_from(int first)
{
	struct rlimit l;
	int end = FDS_MAX;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0U, 0) == 0)
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < FDS_MAX)
		end = (int)l.rlim_cur;
	for (; first < end; first++)
		close(first);
}

/*
 * Ranks are bound to processors, and their children inherit that. The lm may run on all processors
 * of this job, with the normal policy.
 */
static void run_anywhere(void)
{
	struct sched_param normal = { 0 };
	unsigned char all[PROCESSORS_MAX / 8];

	memset(all, 0xff, sizeof(all));
	syscall(SYS_sched_setaffinity, 0, sizeof(all), all);
	sched_setscheduler(0, SCHED_OTHER, &normal);
}

/* In the lm's process, before exec: system calls only. */
static int become_lm(void *arg)
{
	struct launch *l = arg;
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	int listener = app_state.lm_listener; /* -1: it makes its own */
	const char *argv[] = { l->path, "--lock-fd", "3", "--daemon", NULL, "4", NULL };
	sigset_t none;
	int null;

	setsid();
	run_anywhere();
	if (listener >= 0)
		argv[4] = "--listen-fd";
	/* Avoids the numbers that are assigned next. */
	null = fcntl(open("/dev/null", O_RDWR), F_DUPFD, LISTEN_FD + 1);
	if (dup2(app_state.lm_lock, LOCK_FD) < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    dup2(null, 2) < 0)
		_exit(127);
	if (listener >= 0 && dup2(listener, LISTEN_FD) < 0)
		_exit(127);
	close_from(listener < 0 ? LISTEN_FD : LISTEN_FD + 1);
	for (int s = 1; s < NSIG; s++)
		sigaction(s, &dfl, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(l->path, (char *const *)(uintptr_t)argv, l->env);
	_exit(127);
}

static int between(void *arg)
{
	struct launch *l = arg;

	_exit(clone(become_lm, l->stack + 2 * STACK_BYTES, CLONE_VM | CLONE_VFORK, l) < 0);
}

static void start(struct launch *l)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	if (sigprocmask(SIG_BLOCK, &all, &before) != 0)
		return;
	pid = clone(between, l->stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, l);
	if (pid > 0)
		while (waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
			continue;
	sigprocmask(SIG_SETMASK, &before, NULL);
	setup_say(pid > 0 ? "started an lm" : "cannot start an lm", pid > 0 ? 0 : errno);
}

/*
 * Runs fn in a thread unknown to pthreads. It shares the caller's thread-local storage, so the
 * caller waits.
 */
void launch_apart(int (*fn)(void *arg))
{
	const int flags =
		CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_VFORK;
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	sigset_t all, before;

	if (stack == MAP_FAILED)
		return;
	sigfillset(&all);
	if (sigprocmask(SIG_BLOCK, &all, &before) == 0) {
		if (clone(fn, stack + STACK_BYTES, flags, NULL) < 0)
			setup_say("a child process cannot be watched", errno);
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	munmap(stack, STACK_BYTES);
}

/* Duplicates above the descriptors that the lm expects; consumes low. */
static int out_of_the_way(int low)
{
	int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, LISTEN_FD + 1);

	if (low >= 0)
		close(low);
	return fd;
}

/* Returns false if there is none; held: another process has it. */
static bool take_lock(const char *path, bool *held)
{
	struct err e = { 0 };
	int low = -1, rc = file_lock(path, false, &low, &e);

	*held = rc == -ERR_AGAIN;
	if (rc)
		setup_say(*held ? "an lm is there, or starting" : e.text, 0);
	app_state.lm_lock = out_of_the_way(low);
	return app_state.lm_lock >= 0;
}

void launch_detach(void)
{
	if (app_state.lm_lock >= 0)
		close(app_state.lm_lock);
	if (app_state.lm_listener >= 0)
		close(app_state.lm_listener);
	app_state.lm_lock = app_state.lm_listener = -1;
}

static void launch_with(struct launch *l)
{
	static char *env[ENV_MAX];

	l->stack = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (l->stack == MAP_FAILED)
		return;
	l->env = env;
	copy_env(env);
	start(l);
	munmap(l->stack, 2 * STACK_BYTES);
}

enum launched launch_lm(const char *runtime, const char *host, const char *caid)
{
	char program[4096], path[4096];
	struct launch l = { .path = program };
	bool held;

	if (!lm_program(program, sizeof(program))) {
		setup_say("no lm program: set OMIG_LM", 0);
		return LAUNCH_NONE;
	}
	if (seg_lm_path(path, sizeof(path), &(struct seg_lm_name){ runtime, host, caid }, ".lock"))
		return LAUNCH_NONE;
	if (!take_lock(path, &held))
		return held ? LAUNCH_HELD : LAUNCH_NONE;
	app_state.lm_listener = out_of_the_way(register_listen(runtime, host, caid));
	launch_with(&l);
	launch_detach();
	return LAUNCH_STARTED;
}
