/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libevent does not expose its epoll descriptor. So a loop for a caller with its own poll() has a
 * second epoll set with the same members.
 */
#include "common/loop/internal.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

static uint32_t epoll_bits(unsigned what)
{
	return (what & LOOP_READ ? EPOLLIN : 0u) | (what & LOOP_WRITE ? EPOLLOUT : 0u);
}

static int control(int set, int fd, unsigned before, unsigned what)
{
	struct epoll_event ev = { .events = epoll_bits(what), .data.fd = fd };
	int op = !before ? EPOLL_CTL_ADD : !what ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;

	return epoll_ctl(set, op, fd, &ev) ? -ERR_SYS : 0;
}

int pollfd_change(struct loop_fd *f, unsigned before, unsigned what)
{
	if (f->loop->pollfd < 0 || before == what)
		return 0;
	return control(f->loop->pollfd, f->fd, before, what);
}

static int fill(struct loop *l, int set)
{
	if (control(set, l->timerfd, 0, LOOP_READ))
		return -ERR_SYS;
	list_each (item, &l->fds) {
		struct loop_fd *f = list_entry(item, struct loop_fd, at);

		if (f->what && control(set, f->fd, 0, f->what))
			return -ERR_SYS;
	}
	return 0;
}

int loop_pollfd(struct loop *l, struct err *e)
{
	int set;

	if (!l->base) {
		err_set(e, ERR_UNSUPPORTED, "a virtual loop has no descriptor to poll");
		return -1;
	}
	if (l->pollfd >= 0)
		return l->pollfd;
	set = epoll_create1(EPOLL_CLOEXEC);
	if (set < 0 || fill(l, set)) {
		err_sys(e, "cannot make a descriptor to poll");
		if (set >= 0)
			close(set);
		return -1;
	}
	l->pollfd = set;
	loop_rouse(l);
	return set;
}
