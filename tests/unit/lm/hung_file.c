/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/lm/hung_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_NODE 2
#define CLOSING_NODE 3
#define FOR_EVER_S 3600

static pid_t server;

static void answer(int fd, uint64_t unique, const void *p, size_t n, int error)
{
	struct {
		struct fuse_out_header h;
		uint8_t p[256];
	} out = { .h = { .len = (uint32_t)(sizeof(out.h) + n), .error = error, .unique = unique } };

	if (n)
		memcpy(out.p, p, n);
	if (write(fd, &out, out.h.len) < 0 && errno != ENOENT /* the reader was killed meanwhile */)
		_exit(1);
}

static struct fuse_attr attr_of(uint64_t node)
{
	bool is_file = node == FILE_NODE || node == CLOSING_NODE;

	return (struct fuse_attr){ .ino = node,
				   .mode = is_file ? S_IFREG | 0644 : S_IFDIR | 0755,
				   .nlink = 1,
				   .size = is_file ? 4096 : 0,
				   .uid = getuid(),
				   .gid = getgid() };
}

static void serve_one(int fd, const struct fuse_in_header *in)
{
	const struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
					    .minor = FUSE_KERNEL_MINOR_VERSION,
					    /* as NFS reads: a waiting reader can be killed */
					    .flags = FUSE_ASYNC_READ,
					    .max_readahead = 65536,
					    .max_write = 65536 };
	const struct fuse_attr_out attr = { .attr_valid = FOR_EVER_S, .attr = attr_of(in->nodeid) };
	bool is_closing =
		in->opcode == FUSE_LOOKUP && !strcmp((const char *)(in + 1), HUNG_CLOSING_FILE);
	uint64_t node = is_closing ? CLOSING_NODE : FILE_NODE;
	const struct fuse_entry_out entry = { .nodeid = node,
					      .entry_valid = FOR_EVER_S,
					      .attr_valid = FOR_EVER_S,
					      .attr = attr_of(node) };
	const struct fuse_open_out opened = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		answer(fd, in->unique, &init, sizeof(init), 0);
		break;
	case FUSE_GETATTR:
		answer(fd, in->unique, &attr, sizeof(attr), 0);
		break;
	case FUSE_LOOKUP:
		answer(fd, in->unique, &entry, sizeof(entry), 0);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(fd, in->unique, &opened, sizeof(opened), 0);
		break;
	case FUSE_FLUSH: /* of close() */
		if (in->nodeid != CLOSING_NODE)
			answer(fd, in->unique, NULL, 0, 0);
		break;
	case FUSE_READ: /* never answered */
	case FUSE_INTERRUPT:
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	default:
		answer(fd, in->unique, NULL, 0, -38 /* ENOSYS */);
	}
}

static void serve(int fd)
{
	static union {
		struct fuse_in_header in;
		uint8_t p[1 << 17];
	} request;

	while (read(fd, &request, sizeof(request)) > 0)
		serve_one(fd, &request.in);
	_exit(0);
}

bool hung_file_mount(const char *dir)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%d,group_id=%d", fd,
		 (int)getuid(), (int)getgid());
	if (fd < 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("omig-test", dir, "fuse", MS_NOSUID | MS_NODEV, options) < 0) {
		close(fd);
		return false;
	}
	server = fork();
	if (server == 0)
		serve(fd);
	close(fd);
	return server > 0;
}

/* With its last descriptor the kernel ends the connection. */
void hung_file_end(void)
{
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}
