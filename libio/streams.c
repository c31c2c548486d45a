/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes of streams: pipes here, others in sockets.c. Both ends of a message know its
 * place in the stream: the bytes before it. All processes count them together on the board. After
 * each read the kernel says how many bytes are left. Another number than that of the board shows
 * that something else reads or writes. From there on the numbers are uncertain.
 */
#include "libio/io.h"

#include "common/base/clock.h"
#include "common/base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* of <fcntl.h>; without the second one a file server may delay the call */
#define EMPTY_PATH 0x1000
#define WITHOUT_SYNC 0x4000
#define TYPE_BITS 0170000
#define TYPE_PIPE 0010000
#define TYPE_SOCKET 0140000
#define TYPE_DEVICE 0020000
#define INODE_BITS 48

static bool status_of(int fd, struct statx *st)
{
	return !syscall(SYS_statx, fd, "", EMPTY_PATH | WITHOUT_SYNC, STATX_TYPE | STATX_INO, st);
}

/* Inodes of pipes ascend, those of FIFOs are of their device. */
static uint64_t key_of_pipe(const struct statx *st)
{
	return (hash_mix64((uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor) << INODE_BITS |
		(st->stx_ino & ((UINT64_C(1) << INODE_BITS) - 1))) +
	       1;
}

/* Returns 0 for what is not a stream. */
static uint64_t key_of(struct io_call *c, int fd)
{
	struct statx st = { 0 };

	if (!status_of(fd, &st))
		return 0;
	switch (st.stx_mode & TYPE_BITS) {
	case TYPE_PIPE:
		return key_of_pipe(&st);
	case TYPE_SOCKET:
		return io_socket_key(c, fd, st.stx_ino);
	case TYPE_DEVICE:
		return io_terminal_key(c, fd, st.stx_rdev_major, st.stx_rdev_minor);
	default:
		return 0;
	}
}

void io_pair(const int fd[2])
{
	struct board *b = io_board_now();
	struct statx one = { 0 }, other = { 0 };
	int saved = errno;

	if (b && status_of(fd[0], &one) && status_of(fd[1], &other))
		io_paired(b, one.stx_ino, other.stx_ino);
	errno = saved;
}

static uint32_t *under_way(const struct io_call *c)
{
	return c->way & IO_OUT ? &c->s->writers : &c->s->readers;
}

/* A reader may have the bytes before the call returns, so it is counted before. */
static void count_call(struct io_call *c)
{
	struct board_stream *s = c->echo ? board_stream(c->b, c->echo) : NULL;

	c->place = __atomic_add_fetch(&c->s->written, 1, __ATOMIC_ACQ_REL);
	if (s)
		c->echoed = __atomic_add_fetch(&s->written, 1, __ATOMIC_ACQ_REL);
}

void io_before(struct io_call *c, int fd, enum io_way way)
{
	int saved = errno;
	uint64_t key;

	*c = (struct io_call){ .b = way ? io_board_now() : NULL, .way = way };
	key = c->b ? key_of(c, fd) : 0;
	c->s = key ? board_stream(c->b, key) : NULL;
	if (c->s) {
		c->id = hash_mix64(key ^ c->b->salt);
		c->is_alone = !__atomic_fetch_add(under_way(c), 1, __ATOMIC_ACQ_REL);
		c->began = io_polled && !(way & IO_OUT) ? io_polled : (uint64_t)clock_mono();
		if (c->form == IO_CALLS && way & IO_OUT)
			count_call(c);
	}
	errno = saved;
}

static bool is_doubtful(const struct io_call *c)
{
	return __atomic_load_n(&c->s->doubt, __ATOMIC_RELAXED) || !c->is_alone ||
	       __atomic_load_n(under_way(c), __ATOMIC_RELAXED) > 1;
}

static void note_echo(const struct io_call *c)
{
	struct board_record r = { .kind = BOARD_WRITE, .ns = c->began, .end = c->echoed };

	r.id = hash_mix64(c->echo ^ c->b->salt);
	io_note(c->b, &r);
}

static void wrote(const struct io_call *c, int fd, uint64_t n)
{
	struct board_record r = {
		.kind = BOARD_WRITE, .id = c->id, .ns = c->began, .end = c->place
	};

	if (c->form == IO_TCP && !io_tcp_place(fd, true, &r.end))
		return;
	if (c->form == IO_BYTES)
		r.end = __atomic_add_fetch(&c->s->written, n, __ATOMIC_ACQ_REL);
	r.flags = is_doubtful(c) ? BOARD_UNCERTAIN : 0;
	io_note(c->b, &r);
	if (c->echoed)
		note_echo(c);
}

static bool is_quiet(const struct board_stream *s, uint64_t *written)
{
	bool is_written = __atomic_load_n(&s->writers, __ATOMIC_ACQUIRE);

	*written = __atomic_load_n(&s->written, __ATOMIC_ACQUIRE);
	return !is_written;
}

/* Compares the board with the kernel, if nothing else is under way. Returns flags of the record. */
static uint16_t compare(const struct io_call *c, int fd, uint64_t end)
{
	struct board_stream *s = c->s;
	uint64_t before, after;
	int left = 0;

	if (!is_quiet(s, &before) || ioctl(fd, FIONREAD, &left) || !is_quiet(s, &after) ||
	    before != after || !c->is_alone || __atomic_load_n(&s->readers, __ATOMIC_RELAXED) > 1)
		return 0;
	if (before - end != (uint64_t)left)
		__atomic_store_n(&s->doubt, 1, __ATOMIC_RELAXED);
	return end > before ? BOARD_UNSENT : 0;
}

/* A read of a terminal ends all writes so far. Without any, the bytes are from outside. */
static void end_calls(const struct io_call *c, struct board_record *r)
{
	bool is_written = __atomic_load_n(&c->s->writers, __ATOMIC_ACQUIRE);

	r->end = __atomic_load_n(&c->s->written, __ATOMIC_ACQUIRE);
	r->flags = (r->end ? 0 : BOARD_UNSENT) | (is_written ? BOARD_UNCERTAIN : 0);
}

static void has_read(const struct io_call *c, int fd, uint64_t n)
{
	struct board_record r = { .kind = BOARD_READ, .id = c->id, .began = c->began };

	r.ns = (uint64_t)clock_mono();
	if (c->form == IO_CALLS)
		end_calls(c, &r);
	else if (c->form == IO_BYTES)
		r.end = __atomic_add_fetch(&c->s->read, n, __ATOMIC_ACQ_REL);
	else if (!io_tcp_place(fd, false, &r.end))
		return;
	if (n && c->form == IO_BYTES)
		r.flags = compare(c, fd, r.end);
	r.flags |= is_doubtful(c) ? BOARD_UNCERTAIN : 0;
	io_note(c->b, &r);
}

void io_after(const struct io_call *c, int fd, ssize_t n)
{
	int saved = errno;

	if (!c->s)
		return;
	/* Off since the call began: the program may have restricted its system calls. */
	n = io_board_now() ? n : -1;
	if (n > 0 && c->way & IO_OUT)
		wrote(c, fd, (uint64_t)n);
	else if (n >= 0 && !(c->way & IO_OUT))
		has_read(c, fd, (uint64_t)n);
	__atomic_fetch_sub(under_way(c), 1, __ATOMIC_ACQ_REL);
	errno = saved;
}
