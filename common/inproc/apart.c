/* SPDX-License-Identifier: Apache-2.0 */
#include "common/inproc/apart.h"

#include "common/base/array.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES 65536 /* for each of the two new processes */
#define PROCESSORS_MAX 8192 /* largest number that Linux can be built for */
#define ENV_MAX 4096 /* variables of the environment that are passed on */
/* descriptors that are closed one by one if the kernel lacks close_range() */
#define FDS_MAX 65536

extern char **environ;

/* Memory for one start, which the new process shares until its exec. */
struct start {
	const struct apart *apart;
	char *env[ENV_MAX];
	char stack[2][STACK_BYTES] __attribute__((aligned(16)));
};

/* --- the program */

static bool is_program(const char *path, int n, size_t size)
{
	return n > 0 && (size_t)n < size && access(path, X_OK) == 0;
}

/* Finds the path of the object that contains `here`; for the program itself its real path. */
static bool object_of(char *out, size_t size, const void *here)
{
	Dl_info me;
	ssize_t n;

	if (dladdr(here, &me) && me.dli_fname && strchr(me.dli_fname, '/'))
		return (size_t)snprintf(out, size, "%s", me.dli_fname) < size;
	n = readlink("/proc/self/exe", out, size - 1);
	out[n > 0 ? n : 0] = 0;
	return n > 0;
}

bool apart_find(char *out, size_t size, const struct apart_wanted *w)
{
	static const char *const place[] = { "../libexec/omig", "../../libexec/omig", "../bin",
					     "../../bin" };
	char object[4096], *slash;

	if (w->set)
		return is_program(out, snprintf(out, size, "%s", w->set), size);
	if (!object_of(object, sizeof(object), w->here) || !(slash = strrchr(object, '/')))
		return false;
	*slash = 0;
	for (size_t i = 0; i < ARRAY_LEN(place); i++)
		if (is_program(out, snprintf(out, size, "%s/%s/%s", object, place[i], w->name),
			       size))
			return true;
	return false;
}

int apart_dup(int low)
{
	return fcntl(low, F_DUPFD_CLOEXEC, APART_FDS_MAX);
}

/* --- the new process before its exec: only system calls */

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
 * Undoes the binding to processors, which children of ranks inherit. The program may run on all
 * processors of this job, with the normal policy.
 */
static void run_anywhere(void)
{
	struct sched_param normal = { 0 };
	unsigned char all[PROCESSORS_MAX / 8];

	memset(all, 0xff, sizeof(all));
	syscall(SYS_sched_setaffinity, 0, sizeof(all), all);
	sched_setscheduler(0, SCHED_OTHER, &normal);
}

static int become(void *arg)
{
	struct start *s = arg;
	const struct apart *a = s->apart;
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;
	int null;

	setsid();
	run_anywhere();
	/* avoids the numbers that are assigned next */
	null = fcntl(open("/dev/null", O_RDWR), F_DUPFD, APART_FDS_MAX);
	for (unsigned i = 0; i < a->nfd; i++)
		if (dup2(a->fd[i] < 0 ? null : a->fd[i], (int)i) < 0)
			_exit(127);
	close_from((int)a->nfd);
	for (int i = 1; i < NSIG; i++)
		sigaction(i, &dfl, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(a->path, (char *const *)(uintptr_t)a->argv, s->env);
	_exit(127);
}

static int between(void *arg)
{
	struct start *s = arg;

	_exit(clone(become, s->stack[1] + STACK_BYTES, CLONE_VM | CLONE_VFORK, s) < 0);
}

/* --- the process that starts the program */

static void copy_env(char **out)
{
	unsigned n = 0;

	for (char **e = environ; e && *e && n < ENV_MAX - 1; e++)
		if (strncmp(*e, "LD_PRELOAD=", 11) != 0)
			out[n++] = *e;
	out[n] = NULL;
}

static int start(struct start *s)
{
	sigset_t all, before;
	pid_t pid;
	int keep;

	sigfillset(&all);
	if (sigprocmask(SIG_BLOCK, &all, &before) != 0)
		return -errno;
	pid = clone(between, s->stack[0] + STACK_BYTES, CLONE_VM | CLONE_VFORK, s);
	keep = errno;
	if (pid > 0)
		while (waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
			continue;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid > 0 ? 0 : -keep;
}

int apart_start(const struct apart *a)
{
	struct start *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	int rc;

	if (s == MAP_FAILED)
		return -errno;
	s->apart = a;
	copy_env(s->env);
	rc = start(s);
	munmap(s, sizeof(*s));
	return rc;
}
