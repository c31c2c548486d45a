/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/helper/helper_process.h"

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

struct helper_process {
	struct list link; /* among those that end */
	pid_t pid;
	int fd, pidfd; /* -1: closed */
	struct loop_fd *watch;
};

/* The socket becomes the helper's standard input; exec closes all other descriptors. */
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
	       posix_spawnattr_setflags(a, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						   POSIX_SPAWN_SETSID);
}

static int spawn(const char *const *argv, int line, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	rc = set_actions(&actions, line) || set_attributes(&attr) ? ENOMEM : 0;
	if (!rc)
		rc = posix_spawn(pid, argv[0], &actions, &attr, (char *const *)(uintptr_t)argv,
				 environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

static void helper_process_free(struct helper_process *c)
{
	list_del(&c->link);
	loop_fd_free(c->watch);
	if (c->pidfd >= 0)
		close(c->pidfd);
	if (c->fd >= 0)
		close(c->fd);
	free(c);
}

/* The process has ended. It is freed when its socket is closed: its last output is read first. */
static void on_ended(void *arg, unsigned what)
{
	struct helper_process *c = arg;

	if (c->pid && waitpid(c->pid, NULL, WNOHANG) == 0)
		return;
	c->pid = 0;
	loop_fd_set(c->watch, 0);
	if (c->fd < 0)
		helper_process_free(c);
}

static int start(struct helper_process *c, struct loop *l, const char *const *argv, struct err *e)
{
	int fd[2], rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd) < 0)
		return err_sys(e, "a line to %s", argv[0]);
	c->fd = fd[0];
	rc = spawn(argv, fd[1], &c->pid);
	close(fd[1]);
	if (rc) {
		c->pid = 0;
		errno = rc;
		return err_sys(e, "cannot run %s", argv[0]);
	}
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pidfd >= 0)
		c->watch = loop_fd_new(
			l,
			&(struct loop_watch){
				.fd = c->pidfd, .what = LOOP_READ, .fn = on_ended, .arg = c },
			e);
	return c->watch ? 0 : err_sys(e, "%s cannot be watched", argv[0]);
}

struct helper_process *helper_process_start(struct loop *l, const char *const *argv, struct err *e)
{
	struct helper_process *c = calloc(1, sizeof(*c));

	if (!c) {
		err_nomem(e);
		return NULL;
	}
	list_init(&c->link);
	c->fd = c->pidfd = -1;
	if (!start(c, l, argv, e))
		return c;
	helper_process_free(c);
	return NULL;
}

/* No other process can have the pid before this one is reaped. */
void helper_process_kill(struct helper_process *c)
{
	if (c && c->pid)
		kill(c->pid, SIGKILL);
}

void helper_process_end(struct helper_process *c, struct list *ending)
{
	if (!c)
		return;
	close(c->fd);
	c->fd = -1;
	if (c->pid)
		list_push_back(ending, &c->link);
	else
		helper_process_free(c);
}

void helper_processes_drop(struct list *ending)
{
	list_each_safe (i, ending)
		helper_process_free(list_entry(i, struct helper_process, link));
}

int helper_process_fd(const struct helper_process *c)
{
	return c->fd;
}

int32_t helper_process_pid(const struct helper_process *c)
{
	return c->pid;
}
