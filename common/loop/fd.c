/* SPDX-License-Identifier: Apache-2.0 */
#include "common/loop/internal.h"

#include <event2/event.h>
#include <poll.h>
#include <stdlib.h>

static void on_ready(struct loop_fd *f, unsigned what)
{
	f->loop->called++;
	f->fn(f->arg, what); /* f may be freed now */
}

static void on_read(evutil_socket_t fd, short what, void *arg)
{
	on_ready(arg, LOOP_READ);
}

static void on_write(evutil_socket_t fd, short what, void *arg)
{
	on_ready(arg, LOOP_WRITE);
}

/* Two events, instead of one that is changed: a change costs one epoll_ctl() instead of two. */
static int watch(struct loop_fd *f, struct event **ev, short what, event_callback_fn fn, bool on)
{
	if (!on)
		return *ev && event_del(*ev) ? -ERR_SYS : 0;
	if (!*ev)
		*ev = event_new(f->loop->base, f->fd, what | EV_PERSIST, fn, f);
	return !*ev || event_add(*ev, NULL) ? -ERR_SYS : 0;
}

static int watch_both(struct loop_fd *f, unsigned what)
{
	unsigned changed = f->what ^ what;

	if ((changed & LOOP_READ) && watch(f, &f->read, EV_READ, on_read, what & LOOP_READ))
		return -ERR_SYS;
	if ((changed & LOOP_WRITE) && watch(f, &f->write, EV_WRITE, on_write, what & LOOP_WRITE)) {
		if (changed & LOOP_READ)
			watch(f, &f->read, EV_READ, on_read, f->what & LOOP_READ);
		return -ERR_SYS;
	}
	return 0;
}

int loop_fd_set(struct loop_fd *f, unsigned what)
{
	unsigned before = f->what;

	if (what == before)
		return 0;
	if (pollfd_change(f, before, what))
		return -ERR_SYS;
	if (f->loop->base && watch_both(f, what)) {
		pollfd_change(f, what, before);
		return -ERR_SYS;
	}
	f->what = what;
	f->ready &= what;
	return 0;
}

struct loop_fd *loop_fd_new(struct loop *l, const struct loop_watch *w, struct err *e)
{
	struct loop_fd *f = calloc(1, sizeof(*f));

	l = l->whole;
	if (!f) {
		err_nomem(e);
		return NULL;
	}
	*f = (struct loop_fd){ .loop = l, .fd = w->fd, .fn = w->fn, .arg = w->arg };
	list_push_back(&l->fds, &f->at);
	l->nfds++;
	if (loop_fd_set(f, w->what)) {
		err_sys(e, "cannot watch descriptor %d", w->fd);
		loop_fd_free(f);
		return NULL;
	}
	return f;
}

void loop_fd_free(struct loop_fd *f)
{
	if (!f)
		return;
	pollfd_change(f, f->what, 0);
	if (f->read)
		event_free(f->read);
	if (f->write)
		event_free(f->write);
	list_del(&f->at);
	f->loop->nfds--;
	free(f);
}

static void poll_one(struct loop_fd *f)
{
	struct pollfd p = { .fd = f->fd };

	f->ready = 0;
	if (f->what & LOOP_READ)
		p.events |= POLLIN;
	if (f->what & LOOP_WRITE)
		p.events |= POLLOUT;
	if (!p.events || poll(&p, 1, 0) < 1)
		return;
	if (p.revents & (POLLIN | POLLHUP | POLLERR))
		f->ready |= f->what & LOOP_READ;
	if (p.revents & (POLLOUT | POLLHUP | POLLERR))
		f->ready |= f->what & LOOP_WRITE;
}

static struct loop_fd *first_ready(struct loop *l)
{
	list_each (item, &l->fds) {
		struct loop_fd *f = list_entry(item, struct loop_fd, at);

		if (f->ready)
			return f;
	}
	return NULL;
}

void fds_poll_virtual(struct loop *l)
{
	struct loop_fd *f;

	list_each (item, &l->fds)
		poll_one(list_entry(item, struct loop_fd, at));
	/* begins again each time, because a callback may have freed any of them */
	while ((f = first_ready(l))) {
		unsigned ready = f->ready;

		f->ready = 0;
		on_ready(f, ready);
	}
}
