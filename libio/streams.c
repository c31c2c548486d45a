/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes of pipes and FIFOs. Both ends of a message know its place in the stream: the
 * bytes before it. All processes count them together on the board. After each read the kernel says
 * how many bytes are left. Another number than that of the board shows that something else reads or
 * writes. From there on the numbers are uncertain.
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

#define EMPTY_PATH 0x1000 /* of <fcntl.h> */
#define TYPE_BITS 0170000
#define TYPE_PIPE 0010000
#define INODE_BITS 48

/* Returns 0 for what is no pipe. Those of a kernel ascend, those of FIFOs are of its device. */
static uint64_t key_of(int fd)
{
	struct statx st = { 0 };

	if (syscall(SYS_statx, fd, "", EMPTY_PATH, STATX_TYPE | STATX_INO, &st) ||
	    (st.stx_mode & TYPE_BITS) != TYPE_PIPE)
		return 0;
	return (hash_mix64((uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor) << INODE_BITS |
		(st.stx_ino & ((UINT64_C(1) << INODE_BITS) - 1))) +
	       1;
}

static uint32_t *under_way(const struct io_call *c)
{
	return c->way & IO_OUT ? &c->s->writers : &c->s->readers;
}

void io_before(struct io_call *c, int fd, enum io_way way)
{
	int saved = errno;
	uint64_t key;

	*c = (struct io_call){ .b = io_board_now(), .way = way };
	key = c->b ? key_of(fd) : 0;
	c->s = key ? board_stream(c->b, key) : NULL;
	if (c->s) {
		c->id = hash_mix64(key ^ c->b->salt);
		c->is_alone = !__atomic_fetch_add(under_way(c), 1, __ATOMIC_ACQ_REL);
		c->began = (uint64_t)clock_mono();
	}
	errno = saved;
}

static bool is_doubtful(const struct io_call *c)
{
	return __atomic_load_n(&c->s->doubt, __ATOMIC_RELAXED) || !c->is_alone ||
	       __atomic_load_n(under_way(c), __ATOMIC_RELAXED) > 1;
}

static void wrote(const struct io_call *c, uint64_t n)
{
	struct board_record r = { .kind = BOARD_WRITE, .id = c->id, .ns = c->began };

	r.end = __atomic_add_fetch(&c->s->written, n, __ATOMIC_ACQ_REL);
	r.flags = is_doubtful(c) ? BOARD_UNCERTAIN : 0;
	io_note(c->b, &r);
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

static void has_read(const struct io_call *c, int fd, uint64_t n)
{
	struct board_record r = { .kind = BOARD_READ, .id = c->id, .began = c->began };

	r.ns = (uint64_t)clock_mono();
	r.end = __atomic_add_fetch(&c->s->read, n, __ATOMIC_ACQ_REL);
	if (n)
		r.flags = compare(c, fd, r.end);
	r.flags |= is_doubtful(c) ? BOARD_UNCERTAIN : 0;
	io_note(c->b, &r);
}

void io_after(const struct io_call *c, int fd, ssize_t n)
{
	int saved = errno;

	if (!c->s)
		return;
	if (n > 0 && c->way & IO_OUT)
		wrote(c, (uint64_t)n);
	else if (n >= 0 && !(c->way & IO_OUT))
		has_read(c, fd, (uint64_t)n);
	__atomic_fetch_sub(under_way(c), 1, __ATOMIC_ACQ_REL);
	errno = saved;
}
