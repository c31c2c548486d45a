/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes held by pidfd. A pid may be reused at any time; a pidfd never is. So all operations on
 * a process use the pidfd that was checked at its registration.
 */
#include "lm/host/host_linux_internal.h"

#include "common/loop/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From Linux 6.15 a pidfd shows how its process ended; older headers lack the request. */
struct exit_query {
	uint64_t mask, cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
#define EXIT_QUERY_MASK UINT64_C(8)
#define EXIT_QUERY_IOCTL _IOWR(0xff, 11, struct exit_query)

static bool is_alive(int fd)
{
	return syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0;
}

static int check_owner(const struct host_linux *h, int32_t pid, const struct host_figures *f,
		       struct err *e)
{
	if (f->uid != (int64_t)h->uid)
		return err_set(
			e, ERR_NOTFOUND,
			"process %d is of another user: only a monitor of that user reaches it",
			(int)pid);
	if (f->state == 'Z' || f->state == 'X')
		return err_set(e, ERR_NOTFOUND,
			       "process %d has ended, and its parent has not collected its status",
			       (int)pid);
	if (!f->one_uid)
		return err_set(e, ERR_NOTFOUND,
			       "process %d runs with the rights of another user: run a copy of the "
			       "program without them",
			       (int)pid);
	return 0;
}

/*
 * Opens the pidfd first. /proc then describes the same process if the pidfd is still alive
 * afterwards: a pid is free only after its process was reaped.
 */
static int check(struct host_linux *h, int fd, struct host_proc *p, struct err *e)
{
	struct host_figures f;
	int rc;

	if (fd < 0 ||
	    linux_figures(&h->host, p->pid, HOST_FIGURES_STAT | HOST_FIGURES_STATUS, &f, NULL))
		return err_set(e, ERR_NOTFOUND, "there is no process %d of this user", (int)p->pid);
	rc = check_owner(h, p->pid, &f, e);
	if (!rc && !is_alive(fd))
		rc = err_set(e, ERR_NOTFOUND, "process %d has ended", (int)p->pid);
	p->start = f.start;
	return rc;
}

static int make(const struct host_proc *proc, int fd, struct host_proc **out, struct err *e)
{
	struct linux_proc *p = calloc(1, sizeof(*p));

	if (!p) {
		close(fd);
		return err_nomem(e);
	}
	p->proc = *proc;
	p->fd = fd;
	mount_table_init(&p->mounts);
	*out = &p->proc;
	return 0;
}

int linux_proc_open(struct host *host, int32_t pid, struct host_proc **out, struct err *e)
{
	struct host_linux *h = (struct host_linux *)host;
	struct host_proc p = { host, pid, 0 };
	int fd = -1, rc;

	errno = ESRCH;
	if (pid > 1 && pid != h->own_pid)
		fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0 && errno != ESRCH && errno != EINVAL)
		return err_sys(e, "process %d cannot be held with pidfd_open", (int)pid);
	rc = check(h, fd, &p, e);
	if (!rc)
		return make(&p, fd, out, e);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Replaces a pidfd by a descriptor that is readable at once and takes no signal. */
int linux_proc_open_ended(struct host *host, int32_t pid, uint64_t start, struct host_proc **out,
			  struct err *e)
{
	struct host_figures f;
	int fd;

	if (!linux_figures(host, pid, HOST_FIGURES_STAT, &f, NULL)) {
		if (f.state != 'Z' && f.state != 'X')
			return err_set(e, ERR_NOTFOUND, "there is no process %d of this user",
				       (int)pid);
		start = f.start;
	}
	fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0)
		return err_sys(e, "eventfd");
	return make(&(struct host_proc){ host, pid, start }, fd, out, e);
}

/* A zombie still shows its status; after reaping, the pidfd has it on new kernels. */
static int exit_status(struct linux_proc *p)
{
	struct exit_query q = { .mask = EXIT_QUERY_MASK };
	struct host_figures f;

	if (!linux_figures(p->proc.host, p->proc.pid, HOST_FIGURES_STAT, &f, NULL) &&
	    f.start == p->proc.start && f.state == 'Z')
		return (int)f.exit_code;
	if (ioctl(p->fd, EXIT_QUERY_IOCTL, &q) == 0 && q.mask & EXIT_QUERY_MASK)
		return q.exit_code;
	return -1;
}

static void on_readable(void *arg, unsigned what)
{
	struct linux_proc *p = arg;
	int status = exit_status(p);

	loop_fd_free(p->watch);
	p->watch = NULL;
	p->on_exit(p->arg, status);
}

int linux_proc_watch(struct host_proc *proc, host_on_exit_fn fn, void *arg, struct err *e)
{
	struct linux_proc *p = (struct linux_proc *)proc;
	struct host_linux *h = (struct host_linux *)proc->host;

	p->on_exit = fn;
	p->arg = arg;
	p->watch = loop_fd_new(
		h->loop,
		&(struct loop_watch){ .fd = p->fd, .what = LOOP_READ, .fn = on_readable, .arg = p },
		e);
	return p->watch ? 0 : -ERR_SYS;
}

int linux_signal_failed(struct err *e)
{
	if (errno == ESRCH || errno == EBADF) /* EBADF: it had ended when it was opened */
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	if (errno == EPERM)
		return err_set(e, ERR_DENIED, "the kernel does not allow this signal");
	return err_sys(e, "pidfd_send_signal");
}

int linux_proc_signal(struct host_proc *proc, int sig, struct err *e)
{
	struct linux_proc *p = (struct linux_proc *)proc;

	if (sig < 0 || sig >= NSIG)
		return err_set(e, ERR_INVALID, "there is no signal %d", sig);
	if (syscall(SYS_pidfd_send_signal, p->fd, sig, NULL, 0) == 0)
		return 0;
	return linux_signal_failed(e);
}

void linux_proc_close(struct host_proc *proc)
{
	struct linux_proc *p = (struct linux_proc *)proc;

	loop_fd_free(p->watch);
	mount_table_done(&p->mounts);
	close(p->fd);
	free(p);
}
