/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets and terminals as streams. A connection of TCP is known by both addresses. The kernel
 * itself counts its bytes, from the first one on. So both ends have the same numbers on any hosts,
 * also when others have used the socket. A pair of sockets is known by its call. A terminal has
 * messages but no bytes: its line discipline adds and removes some. A read there ends all writes so
 * far, as a line ends many keys.
 */
#include "libio/io.h"

#include "common/base/hash.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>

#define TRIES 4 /* data may arrive between two calls */
#define MASTER_MAJOR 5 /* of /dev/ptmx */
#define MASTER_MINOR 2
#define SLAVE_MAJOR 136 /* of /dev/pts, and the next seven */
#define SLAVE_MAJORS 8

/* An address of TCP in the form of IPv6, and the port. */
struct end {
	uint8_t address[16];
	uint64_t port;
};

static bool end_from(const struct sockaddr_storage *from, struct end *to)
{
	const struct sockaddr_in *v4 = (const void *)from;
	const struct sockaddr_in6 *v6 = (const void *)from;

	memset(to, 0, sizeof(*to));
	if (from->ss_family == AF_INET) {
		to->address[10] = to->address[11] = 0xff;
		memcpy(to->address + 12, &v4->sin_addr, 4);
		to->port = v4->sin_port;
	} else if (from->ss_family == AF_INET6) {
		memcpy(to->address, &v6->sin6_addr, 16);
		to->port = v6->sin6_port;
	}
	return to->port;
}

static uint64_t key_of_way(const struct end *from, const struct end *to)
{
	uint64_t word[6], key = 0;

	memcpy(word, from, sizeof(*from));
	memcpy(word + 3, to, sizeof(*to));
	for (unsigned i = 0; i < 6; i++)
		key = hash_mix64(key + word[i]);
	return key | 1;
}

/*
 * By inode: the other one of a pair; or the key of what is read, since a closed connection has no
 * addresses. 0: not known.
 */
static uint64_t peer_of(struct board *b, uint64_t inode)
{
	const struct board_stream *s = board_stream(b, hash_mix64(inode) | 1);

	return s ? __atomic_load_n(&s->peer, __ATOMIC_RELAXED) : 0;
}

static void note_peer(struct board *b, uint64_t inode, uint64_t peer)
{
	struct board_stream *s = board_stream(b, hash_mix64(inode) | 1);

	if (s)
		__atomic_store_n(&s->peer, peer, __ATOMIC_RELAXED);
}

static uint64_t key_of_pair(struct board *b, uint64_t inode, bool is_out)
{
	uint64_t peer = peer_of(b, inode);

	return peer ? hash_mix64(is_out ? inode : peer) | 1 : 0;
}

uint64_t io_socket_key(struct io_call *c, int fd, uint64_t inode)
{
	struct sockaddr_storage here = { 0 }, there = { 0 };
	socklen_t n = sizeof(here), m = sizeof(there), k = sizeof(int);
	struct end from, to;
	int type = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &k) || type != SOCK_STREAM ||
	    getsockname(fd, (struct sockaddr *)&here, &n))
		return 0;
	if (here.ss_family == AF_UNIX)
		return key_of_pair(c->b, inode, c->way & IO_OUT);
	c->form = IO_TCP;
	if (getpeername(fd, (struct sockaddr *)&there, &m) || !end_from(&here, &from) ||
	    !end_from(&there, &to))
		return c->way & IO_OUT ? 0 : peer_of(c->b, inode);
	note_peer(c->b, inode, key_of_way(&to, &from));
	return c->way & IO_OUT ? key_of_way(&from, &to) : key_of_way(&to, &from);
}

void io_paired(struct board *b, uint64_t one, uint64_t other)
{
	note_peer(b, one, other);
	note_peer(b, other, one);
}

/* Returns false on a kernel before 4.19, which does not count them. */
static bool info_of(int fd, struct tcp_info *to)
{
	socklen_t n = sizeof(*to);

	memset(to, 0, sizeof(*to));
	return !getsockopt(fd, IPPROTO_TCP, TCP_INFO, to, &n) &&
	       n >= offsetof(struct tcp_info, tcpi_bytes_retrans) + sizeof(to->tcpi_bytes_retrans);
}

/*
 * The end of the stream counts as a byte there. A connection that was reset has none, but its state
 * can be the same: then the place is one byte less, after its last message.
 */
static bool has_ended(unsigned state)
{
	enum { TIME_WAIT = 6, CLOSE, CLOSE_WAIT, LAST_ACK, CLOSING = 11 };

	return (state >= TIME_WAIT && state <= LAST_ACK) || state == CLOSING;
}

bool io_tcp_place(int fd, bool is_out, uint64_t *end)
{
	struct tcp_info before, after;
	uint64_t beyond;
	int left;

	if (!info_of(fd, &before))
		return false;
	if (is_out) {
		*end = before.tcpi_bytes_sent - before.tcpi_bytes_retrans +
		       before.tcpi_notsent_bytes;
		return true;
	}
	for (unsigned i = 0; i < TRIES; i++) {
		if (ioctl(fd, FIONREAD, &left) || !info_of(fd, &after))
			return false;
		beyond = (uint64_t)has_ended(after.tcpi_state) + (unsigned)left;
		*end = after.tcpi_bytes_received > beyond ? after.tcpi_bytes_received - beyond : 0;
		if (after.tcpi_bytes_received == before.tcpi_bytes_received)
			return true;
		before = after;
	}
	return false;
}

/* --- terminals */

static uint64_t key_of_terminal(unsigned number, bool is_to_master)
{
	return hash_mix64(UINT64_C(0x747479) << 32 | (uint64_t)number << 1 | is_to_master) | 1;
}

uint64_t io_terminal_key(struct io_call *c, int fd, unsigned major, unsigned minor)
{
	bool is_out = c->way & IO_OUT;
	struct termios t;
	unsigned number;

	if (major >= SLAVE_MAJOR && major < SLAVE_MAJOR + SLAVE_MAJORS) {
		c->form = IO_CALLS;
		return key_of_terminal((major - SLAVE_MAJOR) << 8 | minor, is_out);
	}
	if (major != MASTER_MAJOR || minor != MASTER_MINOR || ioctl(fd, TIOCGPTN, &number))
		return 0;
	c->form = IO_CALLS;
	if (is_out && !tcgetattr(fd, &t) && t.c_lflag & ECHO)
		c->echo = key_of_terminal(number, true);
	return key_of_terminal(number, !is_out);
}
