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

struct linux_proc {
	struct host_proc proc;
	int fd;
	struct loop_fd *watch;
	host_on_exit_fn on_exit;
	void *arg;
};

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

static bool is_ours(const struct host_linux *h, const struct host_figures *f)
{
	return f->uid == (int64_t)h->uid && f->one_uid && f->state != 'Z' && f->state != 'X';
}

/*
 * Opens the pidfd first. /proc then describes the same process if the pidfd is still alive
 * afterwards: a pid is free only after its process was reaped.
 */
static int check(struct host_linux *h, int fd, int32_t pid, uint64_t *start)
{
	struct host_figures f;

	if (linux_figures(&h->host, pid, HOST_FIGURES_STAT | HOST_FIGURES_STATUS, &f, NULL))
		return -ERR_NOTFOUND;
	if (!is_ours(h, &f) || !is_alive(fd))
		return -ERR_NOTFOUND;
	*start = f.start;
	return 0;
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
	*out = &p->proc;
	return 0;
}

int linux_proc_open(struct host *host, int32_t pid, struct host_proc **out, struct err *e)
{
	struct host_linux *h = (struct host_linux *)host;
	uint64_t start = 0;
	int fd = -1;

	errno = ESRCH;
	if (pid > 1 && pid != h->own_pid)
		fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0 && errno != ESRCH && errno != EINVAL)
		return err_sys(e, "process %d cannot be held with pidfd_open", (int)pid);
	if (fd < 0 || check(h, fd, pid, &start)) {
		if (fd >= 0)
			close(fd);
		return err_set(e, ERR_NOTFOUND, "there is no process %d of this user", (int)pid);
	}
	return make(&(struct host_proc){ host, pid, start }, fd, out, e);
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
	close(p->fd);
	free(p);
}
