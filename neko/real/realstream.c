/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/real/realstream.h"

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/cur.h"
#include "common/base/limits.h"
#include "neko/real/realwire.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* queue to one process; when it is full frames are lost, as with UDP */
#define QUEUE_BYTES (1024 * 1024)
#define ACCEPTS_MAX 64 /* connections per turn, for fairness */
/* a type; the key of the run, the dialling process, the receiving process */
#define HELLO_BYTES (1 + 16)

enum { FRAME_DATAGRAM = 1, FRAME_HELLO = 2 };

struct outward {
	int fd; /* -1: no connection */
	struct buf out; /* owned */
};

struct inward {
	int fd; /* -1: no connection */
	struct in_addr host; /* host of the dialling process */
	struct frame_in in; /* owned */
	nsec_t until; /* for a stranger: time at which it is closed */
};

struct realstream {
	struct realstream_conf conf;
	uint64_t key;
	const struct sockaddr_in *address; /* borrowed, by process; NULL: not known yet */
	int fd; /* the listening socket */
	struct outward *to; /* owned, by process */
	struct inward *from; /* owned, by process; the strangers follow */
	uint32_t nstranger;
};

static struct inward *strangers(const struct realstream *s)
{
	return s->from + s->conf.m;
}

/* --- opening */

static int listen_on(const struct realstream_conf *c, uint16_t *port, struct err *e)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(c->address) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t n = sizeof(a);

	if (fd < 0)
		return err_sys(e, "a socket for a process");
	if (bind(fd, (const void *)&a, sizeof(a)) || listen(fd, (int)c->m + REALSTREAM_STRANGERS) ||
	    getsockname(fd, (void *)&a, &n)) {
		err_sys(e, "an address for a process");
		close(fd);
		return -ERR_SYS;
	}
	*port = ntohs(a.sin_port);
	return fd;
}

static bool make_ways(struct realstream *s)
{
	s->nstranger = s->conf.m + REALSTREAM_STRANGERS;
	s->to = calloc(s->conf.m, sizeof(*s->to));
	s->from = calloc(s->conf.m + (size_t)s->nstranger, sizeof(*s->from));
	for (uint32_t i = 0; s->to && i < s->conf.m; i++)
		s->to[i] = (struct outward){ -1, BUF_INIT(QUEUE_BYTES) };
	for (uint32_t i = 0; s->from && i < s->conf.m + s->nstranger; i++)
		s->from[i].fd = -1;
	return s->to && s->from;
}

int realstream_open(const struct realstream_conf *c, struct realstream **out, uint16_t *port,
		    struct err *e)
{
	struct realstream *s = calloc(1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	s->conf = *c;
	s->fd = make_ways(s) ? listen_on(c, port, e) : err_nomem(e);
	if (s->fd < 0) {
		int rc = s->fd;

		realstream_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

static void end_outward(struct outward *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	buf_clear(&w->out);
}

static void end_inward(struct inward *w)
{
	if (w->fd < 0)
		return;
	close(w->fd);
	w->fd = -1;
	frame_in_done(&w->in);
}

void realstream_close(struct realstream *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; s->to && i < s->conf.m; i++) {
		end_outward(&s->to[i]);
		buf_done(&s->to[i].out);
	}
	for (uint32_t i = 0; s->from && i < s->conf.m + s->nstranger; i++)
		end_inward(&s->from[i]);
	if (s->fd >= 0)
		close(s->fd);
	free(s->to);
	free(s->from);
	free(s);
}

/* --- sending, with the lock */

static void flush(struct outward *w)
{
	while (w->fd >= 0 && w->out.n) {
		ssize_t k = send(w->fd, w->out.p, w->out.n, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (k > 0)
			buf_drop_front(&w->out, (size_t)k);
		else if (k < 0 && (errno == EAGAIN || errno == ENOTCONN))
			return;
		else if (k == 0 || errno != EINTR)
			end_outward(w);
	}
}

/* Queues the first frame, which identifies this process. It is sent when the connection is open. */
static void say_hello(const struct realstream *s, struct outward *w, uint32_t to)
{
	size_t mark = frame_begin(&w->out, FRAME_HELLO);

	buf_put_u64le(&w->out, s->key);
	buf_put_u32le(&w->out, s->conf.id);
	buf_put_u32le(&w->out, to);
	if (frame_end(&w->out, mark))
		end_outward(w);
}

static void dial(struct realstream *s, uint32_t to)
{
	struct sockaddr_in own = { .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(s->conf.address) };
	const struct sockaddr_in *a = &s->address[to - 1];
	struct outward *w = &s->to[to - 1];

	w->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (w->fd < 0)
		return;
	setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	if (bind(w->fd, (const void *)&own, sizeof(own)) ||
	    (connect(w->fd, (const void *)a, sizeof(*a)) && errno != EINPROGRESS))
		end_outward(w);
	else
		say_hello(s, w, to);
}

void realstream_meet(struct realstream *s, uint64_t key, const struct sockaddr_in *address)
{
	s->key = key;
	s->address = address;
	for (uint32_t i = 1; i <= s->conf.m; i++)
		dial(s, i);
}

bool realstream_send(struct realstream *s, uint32_t to, const uint8_t *p, size_t n)
{
	struct outward *w = &s->to[to - 1];
	size_t mark;

	if (w->fd < 0 || w->out.n + n + FRAME_HEADER_BYTES > QUEUE_BYTES)
		return false;
	mark = frame_begin(&w->out, FRAME_DATAGRAM);
	buf_put(&w->out, p, n);
	if (frame_end(&w->out, mark))
		end_outward(w); /* a frame that was sent in part would end the connection anyway */
	flush(w);
	return w->out.n > 0;
}

/* --- receiving */

/* Returns the place of a process of this run that is not connected yet; otherwise NULL. */
static struct inward *place_of(struct realstream *s, const struct inward *w, const struct frame *f)
{
	uint32_t from, to;
	uint64_t key;
	struct cur c;

	cur_init(&c, f->p, f->n);
	key = cur_u64le(&c);
	from = cur_u32le(&c);
	to = cur_u32le(&c);
	if (f->type != FRAME_HELLO || !cur_is_done(&c) || !s->address || key != s->key ||
	    to != s->conf.id || from - 1 >= s->conf.m)
		return NULL;
	if (s->from[from - 1].fd >= 0 || s->address[from - 1].sin_addr.s_addr != w->host.s_addr)
		return NULL;
	return &s->from[from - 1];
}

/* Moves a stranger that has identified itself to its place. Returns the place, or NULL. */
static struct inward *sit_down(struct realstream *s, struct inward *w, const struct frame *f)
{
	struct inward *place = place_of(s, w, f);

	if (!place)
		return NULL;
	*place = *w;
	w->fd = -1;
	frame_in_set_max(&place->in, FRAME_MAX_BYTES);
	return place;
}

static int take_frame(struct realstream *s, struct inward **w, const struct frame *f)
{
	struct inward *place;

	if (*w < strangers(s)) {
		if (f->type != FRAME_DATAGRAM)
			return -ERR_PROTO;
		s->conf.on_datagram(s->conf.arg, (uint32_t)(*w - s->from) + 1, f->p, f->n);
		return 0;
	}
	place = sit_down(s, *w, f);
	if (!place)
		return -ERR_DENIED;
	*w = place;
	return 0;
}

/* Handles frames. The first frame of a stranger identifies the sender. */
static int take_frames(struct realstream *s, struct inward **w)
{
	struct frame f;
	int rc;

	while ((rc = frame_in_next(&(*w)->in, &f, NULL)) == 1) {
		rc = take_frame(s, w, &f);
		if (rc)
			break;
	}
	return rc;
}

static void read_some(struct realstream *s, struct inward *w)
{
	int rc = realwire_recv(w->fd, &w->in, MSG_DONTWAIT);

	if (!rc)
		rc = take_frames(s, &w);
	if (rc && rc != -ERR_AGAIN)
		end_inward(w);
}

/* Returns a free place among strangers; there is always one. */
static struct inward *room(struct realstream *s)
{
	struct inward *all = strangers(s), *w = all;

	for (unsigned i = 0; i < s->nstranger; i++) {
		if (all[i].fd < 0)
			return &all[i];
		if (all[i].until < w->until)
			w = &all[i];
	}
	end_inward(w);
	return w;
}

/*
 * Accepts a connection. Reads its first data at once, before many other connections can evict it.
 */
static bool answer(struct realstream *s)
{
	struct sockaddr_in a;
	socklen_t n = sizeof(a);
	int fd = accept4(s->fd, (void *)&a, &n, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct inward *w;

	if (fd < 0)
		return false;
	w = room(s);
	*w = (struct inward){ .fd = fd,
			      .host = a.sin_addr,
			      .until = clock_mono() + s->conf.patience };
	frame_in_init(&w->in, HELLO_BYTES);
	read_some(s, w);
	return true;
}

static void drop_late(struct realstream *s)
{
	struct inward *w = strangers(s);
	nsec_t now = clock_mono();

	for (unsigned i = 0; i < s->nstranger; i++)
		if (w[i].fd >= 0 && w[i].until <= now)
			end_inward(&w[i]);
}

/* --- polling */

void realstream_polls(const struct realstream *s, struct pollfd *f)
{
	*f++ = (struct pollfd){ s->fd, POLLIN, 0 };
	for (uint32_t i = 0; i < s->conf.m + s->nstranger; i++)
		*f++ = (struct pollfd){ s->from[i].fd, POLLIN, 0 };
	for (uint32_t i = 0; i < s->conf.m; i++)
		*f++ = (struct pollfd){ s->to[i].out.n ? s->to[i].fd : -1, POLLOUT, 0 };
}

static void flush_ready(struct realstream *s, const struct pollfd *f)
{
	pthread_mutex_lock(s->conf.lock);
	for (uint32_t i = 0; i < s->conf.m; i++)
		if (f[i].revents)
			flush(&s->to[i]);
	pthread_mutex_unlock(s->conf.lock);
}

void realstream_turn(struct realstream *s, const struct pollfd *f)
{
	const struct pollfd *in = f + 1, *out = in + s->conf.m + s->nstranger;

	for (uint32_t i = 0; i < s->conf.m + s->nstranger; i++)
		if (in[i].revents && s->from[i].fd == in[i].fd)
			read_some(s, &s->from[i]);
	flush_ready(s, out);
	for (uint32_t i = 0; f->revents && i < ACCEPTS_MAX && answer(s); i++)
		;
	drop_late(s);
}
