/* SPDX-License-Identifier: Apache-2.0 */
/* Acting on one thread of a held process. */
#include "lm/host/host_linux_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPEN_THREAD O_EXCL /* PIDFD_THREAD: from Linux 6.9; missing in older headers */

static int has_ended(struct err *e)
{
	return err_set(e, ERR_NOTFOUND, "the thread has ended");
}

/*
 * Checks that /proc has it as a thread of that pid, and that the pid is still our process's
 * afterwards.
 */
static int check_thread(struct host_proc *p, int32_t tid, struct err *e)
{
	struct host_figures f;

	if (host_thread_figures(p->host, p->pid, tid, HOST_FIGURES_STAT, &f) ||
	    linux_proc_signal(p, 0, NULL))
		return has_ended(e);
	return 0;
}

/* For Linux before 6.9, without descriptors of threads: it may end between check and signal. */
static int signal_by_number(struct host_proc *p, int32_t tid, int sig, struct err *e)
{
	if (check_thread(p, tid, e))
		return -ERR_NOTFOUND;
	if (syscall(SYS_tgkill, p->pid, tid, sig) == 0)
		return 0;
	return errno == ESRCH ? has_ended(e) : linux_signal_failed(e);
}

/*
 * Signals by a descriptor of the thread, opened before the check: another thread that reuses the
 * tid after the check gets no signal.
 */
int linux_thread_signal(struct host_proc *p, int32_t tid, int sig, struct err *e)
{
	int fd, rc;

	if (sig < 0 || sig >= NSIG)
		return err_set(e, ERR_INVALID, "there is no signal %d", sig);
	fd = (int)syscall(SYS_pidfd_open, tid, OPEN_THREAD);
	if (fd < 0)
		return errno == ESRCH ? has_ended(e) : signal_by_number(p, tid, sig, e);
	rc = check_thread(p, tid, e);
	if (!rc && syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0) < 0)
		rc = errno == ESRCH ? has_ended(e) : linux_signal_failed(e);
	close(fd);
	return rc;
}

/*
 * The kernel accepts only a number. It is checked before and after: a thread that ended in between
 * is reported as such. At worst another process of this user got the priority.
 */
int linux_thread_priority(struct host_proc *p, int32_t tid, int nice, struct err *e)
{
	if (check_thread(p, tid, e))
		return -ERR_NOTFOUND;
	if (setpriority(PRIO_PROCESS, (id_t)tid, nice) == 0)
		return check_thread(p, tid, e);
	if (errno == ESRCH)
		return has_ended(e);
	if (errno == EACCES || errno == EPERM)
		return err_set(e, ERR_DENIED,
			       "the kernel refuses a lower nice value without CAP_SYS_NICE or "
			       "a limit for it: raise 'ulimit -e' where the lm is started");
	return err_sys(e, "setpriority");
}
