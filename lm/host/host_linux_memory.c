/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a held process, by /proc/PID/mem. An open file stays with the memory that it was
 * opened on. A process that still exists after the opening is the right one. Later reuse of the pid
 * has no effect. The file also writes where the program may only read, as a debugger does. But a
 * thread in it may wait for a page of a file system that does not answer. It cannot be killed, and
 * meanwhile blocks changes of the program's mappings. process_vm_readv() has neither fault, so it
 * is used to read, by pid. The file is used for memory that this function cannot read.
 */
#include "lm/host/host_linux_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

static int gone(struct err *e)
{
	return err_set(e, ERR_NOTFOUND, "the process has ended");
}

int linux_open_mem(struct host_proc *p, bool is_write, struct mem *out, struct err *e)
{
	struct host_linux *h = (struct host_linux *)p->host;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "proc/%d/mem", (int)p->pid);
	fd = openat(h->root, path, (is_write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return err_set(
			e, ERR_DENIED,
			"the kernel shows this memory to no process: kernel.yama.ptrace_scope is "
			"above 0, or the program requested it (PR_SET_DUMPABLE)");
	if (fd < 0)
		return errno == ENOENT || errno == ESRCH ? gone(e) : err_sys(e, "/%s", path);
	if (linux_proc_signal(p, 0, NULL)) {
		close(fd);
		return gone(e);
	}
	*out = (struct mem){ fd, p->pid };
	return 0;
}

ssize_t linux_read_mem(const struct mem *from, void *to, size_t n, uint64_t addr)
{
	struct iovec into = { to, n };
	/* NOLINTNEXTLINE: an address of another process */
	struct iovec at = { (void *)(uintptr_t)addr, n };
	ssize_t got = process_vm_readv(from->pid, &into, 1, &at, 1, 0);

	return got >= 0 ? got : pread(from->fd, to, n, (off_t)addr);
}

static ssize_t move(const struct mem *f, const struct host_memory *m, size_t n, uint64_t addr)
{
	uint8_t *at = m->bytes + m->done;
	ssize_t moved;

	do
		moved = m->is_write ? pwrite(f->fd, at, n, (off_t)addr)
				    : linux_read_mem(f, at, n, addr);
	while (moved < 0 && errno == EINTR);
	return moved;
}

static int move_block(const struct mem *f, struct host_memory *m, size_t block, struct err *e)
{
	uint64_t at = m->addr + (uint64_t)block * m->stride;
	size_t left = m->block;

	while (left) {
		ssize_t n = move(f, m, left, at);

		if (n == 0)
			/* the process has no memory: a zombie, or another program by exec */
			return gone(e);
		if (n < 0)
			return err_sys(e, "address 0x%llx", (unsigned long long)at);
		m->done += (size_t)n;
		at += (uint64_t)n;
		left -= (size_t)n;
	}
	return 0;
}

int linux_memory(struct host_proc *p, struct host_memory *m, struct err *e)
{
	struct mem f;
	int rc;

	m->done = 0;
	rc = linux_open_mem(p, m->is_write, &f, e);
	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < m->count; i++)
		rc = move_block(&f, m, i, e);
	close(f.fd);
	if (!rc && linux_proc_signal(p, 0, NULL))
		return gone(e);
	return rc;
}
