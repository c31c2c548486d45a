/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/limits.h"
#include "common/inproc/inproc.h"
#include "eventlog/send/evsend_internal.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUND_MS 500 /* interval for checking whether the program has other threads */
/* time without an answer after which the connection counts as lost */
#define SILENCE_MS 15000

/* --- connections */

static int try_connect(const struct addrinfo *a, int type)
{
	const int on = 1, silence = SILENCE_MS;
	int fd = socket(a->ai_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), keep;

	if (fd < 0)
		return -1;
	if (type == SOCK_STREAM) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence, sizeof(silence));
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	}
	if (!connect(fd, a->ai_addr, a->ai_addrlen) || errno == EINPROGRESS)
		return fd;
	keep = errno;
	close(fd);
	errno = keep;
	return -1;
}

int evsend_socket(struct evsend *s, int type)
{
	struct addrinfo hints = { .ai_socktype = type, .ai_flags = AI_NUMERICSERV }, *all, *a;
	unsigned n = 0, nth;
	char port[8];
	int fd;

	snprintf(port, sizeof(port), "%u", (unsigned)s->to.port);
	if (getaddrinfo(s->to.host[0] ? s->to.host : NULL, port, &hints, &all)) {
		errno = EHOSTUNREACH;
		return -1;
	}
	for (a = all; a; a = a->ai_next)
		n++;
	nth = s->tries++ % n;
	for (a = all; nth; a = a->ai_next)
		nth--;
	fd = try_connect(a, type);
	freeaddrinfo(all);
	return fd;
}

void evsend_drop(struct evsend *s)
{
	if (s->fd >= 0)
		close(s->fd);
	evsend_tunnel_ended(s);
	s->fd = -1;
	s->is_connected = s->is_greeted = false;
	s->pause = s->pause ? 2 * s->pause : RECONNECT_MIN_NS;
	s->pause = s->pause < RECONNECT_MAX_NS ? s->pause : RECONNECT_MAX_NS;
	s->retry_at = clock_mono() + s->pause;
}

/* --- the thread */

static bool is_empty(const struct evsend *s)
{
	return atomic_load(&s->ring.tail) == atomic_load(&s->ring.head);
}

static bool is_over(const struct evsend *s)
{
	int end = atomic_load(&s->end);

	if (end == END_NONE)
		/*
		 * This is the last thread: the program ends with it, and evsend_close() continues
		 * the work.
		 */
		return inproc_is_alone();
	return end == END_LEFT || is_empty(s) || clock_mono() >= s->until;
}

static int wait_ms(const struct evsend *s)
{
	nsec_t now = clock_mono(), until = now + ROUND_MS * NSEC_PER_MSEC;

	if (s->fd < 0 && s->retry_at < until)
		until = s->retry_at;
	if (atomic_load(&s->end) != END_NONE && s->until < until)
		until = s->until;
	return until > now ? (int)((until - now) / NSEC_PER_MSEC) + 1 : 0;
}

static void turn(struct evsend *s)
{
	struct pollfd p[2] = { { .fd = s->bell, .events = POLLIN }, { .fd = s->fd } };
	uint64_t rung;

	if (s->fd >= 0)
		p[1].events = s->way->wants(s);
	poll(p, 2, wait_ms(s));
	if (p[0].revents && read(s->bell, &rung, sizeof(rung)) < 0)
		rung = 0; /* another turn has read the bell */
	s->way->turn(s, s->fd >= 0 ? p[1].revents : 0);
}

static void free_all(struct evsend *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->bell >= 0)
		close(s->bell);
	if (s->words >= 0)
		close(s->words);
	pthread_mutex_destroy(&s->lock.mutex);
	sendring_done(&s->ring);
	buf_done(&s->texts);
	free(s);
}

static void *run(void *arg)
{
	struct evsend *s = arg;

	inproc_thread_begins();
	while (!is_over(s))
		turn(s);
	inproc_thread_ends();
	if (atomic_exchange(&s->end, END_OVER) == END_LEFT)
		free_all(s);
	return NULL;
}

static int start_thread(struct evsend *s)
{
	return inproc_thread_start(run, s, "omig-netlog");
}

/* --- calls of the owner */

static int begin(struct evsend *s, struct err *e)
{
	s->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->bell < 0)
		return err_sys(e, "eventfd");
	if (sendring_init(&s->ring))
		return err_nomem(e);
	return start_thread(s) ? err_set(e, ERR_SYS, "no thread can be started") : 0;
}

int evsend_open(const struct evurl *to, struct evsend **out, struct err *e)
{
	struct evsend *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_nomem(e);
	s->to = *to;
	s->way = to->kind == EVURL_UDP	    ? &evsend_udp
		 : to->kind == EVURL_SYSLOG ? &evsend_syslog
					    : &evsend_tcp;
	s->fd = s->bell = s->words = -1;
	s->lock = (struct inproc_lock)INPROC_LOCK_INIT;
	rc = begin(s, e);
	if (rc)
		free_all(s);
	else
		*out = s;
	return rc;
}

size_t evsend_block_bytes(const struct evsend *s)
{
	return s->way->block_bytes;
}

static void ring_bell(struct evsend *s)
{
	const uint64_t one = 1;
	int keep = errno;

	if (write(s->bell, &one, sizeof(one)) < 0)
		errno = keep; /* the bell has been rung often enough */
	errno = keep;
}

bool evsend_put(struct evsend *s, const struct iovec *v, int n)
{
	if (!sendring_put(&s->ring, v, n))
		return false;
	ring_bell(s);
	return true;
}

static void rest(void)
{
	const struct timespec ms = { .tv_nsec = NSEC_PER_MSEC };

	nanosleep(&ms, NULL);
}

bool evsend_flush(struct evsend *s, nsec_t max)
{
	nsec_t until = clock_mono() + max;

	while (!is_empty(s) && clock_mono() < until)
		rest();
	return is_empty(s);
}

static uint64_t unacknowledged(const struct evsend *s)
{
	uint64_t at = atomic_load(&s->ring.tail), head = atomic_load(&s->ring.head), n = 0;

	while (at < head) {
		uint32_t events;

		at += sendring_block(&s->ring, at, &events);
		n += events;
	}
	return n;
}

/* The thread may end before its owner, if the main thread has ended by pthread_exit(). */
static void finish_here(struct evsend *s)
{
	atomic_store(&s->end, END_ASKED);
	while (!is_over(s))
		turn(s);
	atomic_store(&s->end, END_OVER);
}

const char *evsend_why(struct evsend *s, char out[EVSEND_WHY_BYTES])
{
	inproc_lock(&s->lock);
	memcpy(out, s->why, EVSEND_WHY_BYTES);
	inproc_unlock(&s->lock);
	return out;
}

uint64_t evsend_close(struct evsend *s, nsec_t max, char why[EVSEND_WHY_BYTES])
{
	int none = END_NONE;
	uint64_t n;

	if (why)
		why[0] = 0;
	if (!s)
		return 0;
	atomic_store(&s->until, clock_mono() + max);
	if (!atomic_compare_exchange_strong(&s->end, &none, END_ASKED))
		finish_here(s);
	ring_bell(s);
	while (atomic_load(&s->end) != END_OVER && clock_mono() < s->until)
		rest();
	n = unacknowledged(s);
	if (why)
		evsend_why(s, why);
	/* A thread that looks up a name may be late: then it frees the rest. */
	if (atomic_exchange(&s->end, END_LEFT) == END_OVER)
		free_all(s);
	return n;
}

void evsend_in_child(struct evsend *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->words >= 0)
		close(s->words);
	s->words = -1;
	s->lock = (struct inproc_lock)INPROC_LOCK_INIT;
	close(s->bell);
	s->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->fd = -1;
	s->sent = s->base = 0;
	s->pause = s->retry_at = 0;
	buf_clear(&s->texts);
	s->texts_at = 0;
	s->is_connected = s->is_greeted = false;
	sendring_clear(&s->ring);
	atomic_store(&s->end, start_thread(s) ? END_OVER : END_NONE);
}
