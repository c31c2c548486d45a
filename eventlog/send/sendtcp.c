/* SPDX-License-Identifier: Apache-2.0 */
/* A TCP connection with acknowledgements, which is made again when it is lost. */
#include "common/base/limits.h"
#include "eventlog/evbytes.h"
#include "eventlog/send/evsend_internal.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define SEND_BLOCK_BYTES (64 * 1024) /* a block of hundreds of usual events */

static short wants(const struct evsend *s)
{
	bool has_more = s->is_connected
				? s->hello < sizeof(EVSEND_HELLO) - 1 ||
					  (s->is_greeted && s->sent != atomic_load(&s->ring.head))
				: true;

	return has_more ? POLLIN | POLLOUT : POLLIN;
}

static void dial(struct evsend *s)
{
	s->fd = s->to.kind == EVURL_TLS ? evsend_tunnel(s) : evsend_socket(s, SOCK_STREAM);
	if (s->fd < 0) {
		evsend_drop(s);
		return;
	}
	s->is_connected = s->is_greeted = false;
	s->hello = s->nack = 0;
	s->base = s->sent = atomic_load(&s->ring.tail);
	s->deadline =
		clock_mono() + (s->to.kind == EVURL_TLS ? EVSEND_TUNNEL_MAX_NS : HANDSHAKE_MAX_NS);
}

static bool has_connected(const struct evsend *s)
{
	socklen_t n = sizeof(int);
	int error = 0;

	return !getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &n) && !error;
}

/*
 * Frees acknowledged blocks. Only complete ones, so that the next connection begins with a block.
 */
static void acknowledged(struct evsend *s, uint64_t place)
{
	uint64_t tail = atomic_load_explicit(&s->ring.tail, memory_order_relaxed);
	uint32_t events, bytes;

	while (tail < place && (bytes = sendring_block(&s->ring, tail, &events)) <= place - tail)
		tail += bytes;
	atomic_store_explicit(&s->ring.tail, tail, memory_order_release);
}

/* Returns false if the peer is not a receiver. */
static bool take_ack(struct evsend *s)
{
	uint64_t bytes;

	memcpy(&bytes, s->ack, sizeof(bytes));
	bytes = le64toh(bytes);
	s->nack = 0;
	if (bytes > s->sent - s->base || (!s->is_greeted && bytes))
		return false;
	s->is_greeted = true;
	s->pause = 0;
	acknowledged(s, s->base + bytes);
	return true;
}

/* Returns false if the connection has ended. */
static bool read_acks(struct evsend *s)
{
	for (;;) {
		ssize_t n = recv(s->fd, s->ack + s->nack, EVSEND_ACK_BYTES - s->nack, MSG_DONTWAIT);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		if (!n)
			return false;
		s->nack += (size_t)n;
		if (s->nack == EVSEND_ACK_BYTES && !take_ack(s))
			return false;
	}
}

static ssize_t send_some(struct evsend *s, struct iovec *v, size_t n)
{
	struct msghdr m = { .msg_iov = v, .msg_iovlen = n };
	ssize_t got = sendmsg(s->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);

	return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : got;
}

/* Returns false if the connection has ended. */
static bool send_more(struct evsend *s)
{
	char hello[] = EVSEND_HELLO;
	uint64_t head = atomic_load_explicit(&s->ring.head, memory_order_acquire);
	struct iovec v[2] = { { hello + s->hello, sizeof(hello) - 1 - s->hello } };
	ssize_t got = 0;

	if (v[0].iov_len) {
		got = send_some(s, v, 1);
		s->hello += got > 0 ? (size_t)got : 0;
	} else if (s->is_greeted && s->sent != head) {
		got = send_some(s, v, (size_t)sendring_bytes(&s->ring, s->sent, head, v));
		s->sent += got > 0 ? (uint64_t)got : 0;
	}
	return got >= 0;
}

static void turn(struct evsend *s, short ready)
{
	bool is_good = true;

	if (s->fd < 0) {
		if (clock_mono() >= s->retry_at)
			dial(s);
		return;
	}
	if (!s->is_connected && ready) {
		is_good = has_connected(s);
		s->is_connected = is_good;
	}
	if (s->is_connected)
		is_good = read_acks(s) && send_more(s);
	if (!is_good || (!s->is_greeted && clock_mono() > s->deadline))
		evsend_drop(s);
}

const struct evsend_way evsend_tcp = { SEND_BLOCK_BYTES, wants, turn };
