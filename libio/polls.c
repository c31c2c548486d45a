/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait for any of several descriptors. The wait of a read begins with the call before
 * it, if the thread has recorded nothing since.
 */
#include "libio/io.h"

#include "common/base/clock.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>

#define EXPORT __attribute__((visibility("default")))

static void after(uint64_t began, int n)
{
	if (n > 0)
		io_polled = began;
}

#define POLL(name, pars, args)                                   \
	static int(*real_##name) pars;                           \
	static __attribute__((noinline)) void look_##name(void)  \
	{                                                        \
		*(void **)(void *)&real_##name = io_real(#name); \
	}                                                        \
	int io_##name pars;                                      \
	EXPORT int io_##name pars                                \
	{                                                        \
		uint64_t began;                                  \
		int n;                                           \
                                                                 \
		if (!real_##name)                                \
			look_##name();                           \
		if (!io_board_now())                             \
			return real_##name args;                 \
		began = (uint64_t)clock_mono();                  \
		n = real_##name args;                            \
		after(began, n);                                 \
		return n;                                        \
	}
POLL(poll, (struct pollfd * fd, nfds_t n_, int ms), (fd, n_, ms))
POLL(__poll_chk, (struct pollfd * fd, nfds_t n_, int ms, size_t room), (fd, n_, ms, room))
POLL(ppoll, (struct pollfd * fd, nfds_t n_, const struct timespec *t, const sigset_t *set),
     (fd, n_, t, set))
POLL(select, (int n_, fd_set *in, fd_set *out, fd_set *other, struct timeval *t),
     (n_, in, out, other, t))
POLL(pselect,
     (int n_, fd_set *in, fd_set *out, fd_set *other, const struct timespec *t,
      const sigset_t *set),
     (n_, in, out, other, t, set))
POLL(epoll_wait, (int fd, struct epoll_event *ev, int max, int ms), (fd, ev, max, ms))
POLL(epoll_pwait, (int fd, struct epoll_event *ev, int max, int ms, const sigset_t *set),
     (fd, ev, max, ms, set))

void io_polls_look(void)
{
	look_poll();
	look___poll_chk();
	look_ppoll();
	look_select();
	look_pselect();
	look_epoll_wait();
	look_epoll_pwait();
}
