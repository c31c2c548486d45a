/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/trace_run.h"

#include "common/loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct trace_run {
	struct list link; /* among those that end */
	pid_t pid;
	int fd, pidfd; /* -1: closed */
	struct loop_fd *watch;
};

/* Its line becomes its standard input, all else of ours is closed by exec. */
static int set_actions(posix_spawn_file_actions_t *a, int line)
{
	return posix_spawn_file_actions_adddup2(a, line, STDIN_FILENO) ||
	       posix_spawn_file_actions_addopen(a, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
}

static int set_attributes(posix_spawnattr_t *a)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	return posix_spawnattr_setsigmask(a, &none) || posix_spawnattr_setsigdefault(a, &all) ||
	       posix_spawnattr_setflags(a, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(const char *program, int line, pid_t *pid)
{
	char *const argv[] = { (char *)program, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	rc = set_actions(&actions, line) || set_attributes(&attr) ? ENOMEM : 0;
	if (!rc)
		rc = posix_spawn(pid, program, &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

static void run_free(struct trace_run *r)
{
	list_del(&r->link);
	loop_fd_free(r->watch);
	if (r->pidfd >= 0)
		close(r->pidfd);
	if (r->fd >= 0)
		close(r->fd);
	free(r);
}

/* Before it is told to end its last words are still to be read; after that nobody needs it. */
static void on_ended(void *arg, unsigned what)
{
	struct trace_run *r = arg;

	if (r->pid && waitpid(r->pid, NULL, WNOHANG) == 0)
		return;
	r->pid = 0;
	loop_fd_set(r->watch, 0);
	if (r->fd < 0)
		run_free(r);
}

static int start(struct trace_run *r, struct loop *l, const char *program, struct err *e)
{
	int fd[2], rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd) < 0)
		return err_sys(e, "a line to lm-trace");
	r->fd = fd[0];
	rc = spawn(program, fd[1], &r->pid);
	close(fd[1]);
	if (rc) {
		r->pid = 0;
		errno = rc;
		return err_sys(e, "cannot run %s", program);
	}
	r->pidfd = (int)syscall(SYS_pidfd_open, r->pid, 0);
	if (r->pidfd >= 0)
		r->watch = loop_fd_new(l, r->pidfd, LOOP_READ, on_ended, r, e);
	return r->watch ? 0 : err_sys(e, "lm-trace cannot be watched");
}

struct trace_run *trace_run_start(struct loop *l, const char *program, struct err *e)
{
	struct trace_run *r = calloc(1, sizeof(*r));

	if (!r) {
		err_nomem(e);
		return NULL;
	}
	list_init(&r->link);
	r->fd = r->pidfd = -1;
	if (start(r, l, program, e) == 0)
		return r;
	run_free(r);
	return NULL;
}

/* Until it is reaped its pid means nobody else. */
void trace_run_kill(struct trace_run *r)
{
	if (r && r->pid)
		kill(r->pid, SIGKILL);
}

void trace_run_end(struct trace_run *r, struct list *ending)
{
	if (!r)
		return;
	close(r->fd);
	r->fd = -1;
	if (r->pid)
		list_push_back(ending, &r->link);
	else
		run_free(r);
}

void trace_runs_drop(struct list *ending)
{
	list_each_safe (i, ending)
		run_free(list_entry(i, struct trace_run, link));
}

int trace_run_fd(const struct trace_run *r)
{
	return r->fd;
}

int32_t trace_run_pid(const struct trace_run *r)
{
	return r->pid;
}
