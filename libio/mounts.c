/* SPDX-License-Identifier: Apache-2.0 */
#include "libio/io.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Bits of <linux/stat.h> and <fcntl.h> that older headers lack. */
#define WITH_MOUNT_ID 0x1000
#define WITHOUT_SYNC 0x4000
#define EMPTY_PATH 0x1000

#define TYPE_BITS 0170000
#define TYPE_PIPE 0010000
#define TYPE_SOCKET 0140000

struct seg_mount *io_table;

/* No tables. In a child process the first call that moves something joins again. */
static const struct seg_mount again, never;
#define IO_AGAIN ((struct seg_mount *)(uintptr_t)&again)
#define IO_NEVER ((struct seg_mount *)(uintptr_t)&never)

/* Missing in a program that does not run with libomig. */
extern __typeof__(omig_app_mounts_join) omig_app_mounts_join __attribute__((weak));

static bool change(struct seg_mount *from, struct seg_mount *to)
{
	return __atomic_compare_exchange_n(&io_table, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* Nothing changes if the program has restricted its calls before. */
static void on_ready(struct seg_mount *table)
{
	change(NULL, table);
}

static void join(void)
{
	static const struct mount_side side = { MOUNT_LINK_VERSION, on_ready };

	omig_app_mounts_join(&side);
}

/* The table is replaced by zeros in a child, and sums of it go nowhere. */
static void on_fork_child(void)
{
	if (io_table && io_table != IO_NEVER)
		__atomic_store_n(&io_table, IO_AGAIN, __ATOMIC_RELEASE);
}

void io_count_nothing(void)
{
	__atomic_store_n(&io_table, IO_NEVER, __ATOMIC_RELEASE);
}

void io_restricted(void)
{
	io_count_nothing();
	__atomic_store_n(&io_board, NULL, __ATOMIC_RELEASE);
}

/*
 * Returns the key of the mount of fd. Never waits for a file server, since it does not synchronise.
 * A kernel before 4.11 has no such call.
 */
static uint64_t key_of(int fd)
{
	struct statx st = { 0 };

	if (syscall(SYS_statx, fd, "", EMPTY_PATH | WITHOUT_SYNC, STATX_TYPE | WITH_MOUNT_ID, &st))
		return SEG_MOUNT_OTHER;
	switch (st.stx_mode & TYPE_BITS) {
	case TYPE_PIPE:
		return SEG_MOUNT_PIPE;
	case TYPE_SOCKET:
		return SEG_MOUNT_SOCKET;
	default:
		return SEG_MOUNT_KEY(st.stx_mask & WITH_MOUNT_ID ? st.stx_mnt_id : 0,
				     st.stx_dev_major, st.stx_dev_minor);
	}
}

/* Returns NULL if nothing is counted. */
static struct seg_mount *table_now(void)
{
	struct seg_mount *t = __atomic_load_n(&io_table, __ATOMIC_ACQUIRE);

	if (t == IO_AGAIN) {
		if (change(IO_AGAIN, NULL))
			join();
		t = __atomic_load_n(&io_table, __ATOMIC_ACQUIRE);
	}
	return t == IO_NEVER ? NULL : t;
}

void io_moved(int fd, enum io_way way, ssize_t n)
{
	int saved = errno;
	uint64_t bytes = n > 0 ? (uint64_t)n : 0;
	struct seg_mount *t = n < 0 && saved == EBADF ? NULL : table_now(), *m;

	if (t) {
		m = seg_mount_find(t, key_of(fd));
		seg_moved_add(way & IO_OUT ? &m->out : &m->in, bytes);
		if (way & IO_SILENT)
			seg_moved_add(way & IO_OUT ? &m->silent_out : &m->silent_in, bytes);
	}
	errno = saved;
}

void io_begin(void)
{
	int saved = errno;

	if (omig_app_mounts_join && pthread_atfork(NULL, NULL, on_fork_child) == 0)
		join();
	errno = saved;
}
