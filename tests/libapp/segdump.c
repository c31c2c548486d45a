/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the contents of segments, for tests that need no lm:
 *
 *	segdump PID               of a live process, found through /proc/PID/fd
 *	segdump --listen SOCKET   takes registrations like an lm; prints all when stdin ends
 *
 * A line is one of these:
 *
 *	own ...
 *	call RANK NAME count N   out B in B sampled N open N
 *	partner RANK NAME PEER   count N out B in B
 *	lost ...
 */
#include "common/base/str.h"
#include "common/ring/calls.h"
#include "common/ring/segview.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <fcntl.h>

#define SEGMENTS_MAX 256

static struct segview *held[SEGMENTS_MAX];
static unsigned nheld;

struct where {
	int rank;
};

static void on_partner(void *arg, const struct segview_partner *p)
{
	const struct where *w = arg;

	printf("partner %d %s %d count %llu out %llu in %llu delay %s\n", w->rank,
	       call_get(p->func)->name, p->rank, (unsigned long long)p->count,
	       (unsigned long long)p->bytes_out, (unsigned long long)p->bytes_in,
	       p->delay ? "yes" : "no");
}

static void on_event(void *arg, const struct ring_call *c)
{
	const struct where *w = arg;

	printf("event %d %s %s", w->rank, call_get(c->func)->name, c->phase ? "end" : "start");
	for (unsigned i = 0; i < c->npar; i++)
		printf(" %lld", (long long)c->par[i]);
	printf("\n");
}

static void print_calls(const struct segview *v, int rank)
{
	struct segview_call c;

	for (unsigned f = 0; f < segview_funcs(v); f++) {
		segview_call(v, SEGVIEW_ALL, f, 0, &c);
		if (!c.count && !c.sampled && !c.bytes_in && !c.bytes_out)
			continue;
		printf("call %d %s count %llu out %llu in %llu sampled %llu open %u delay %s\n",
		       rank, call_get(f)->name, (unsigned long long)c.count,
		       (unsigned long long)c.bytes_out, (unsigned long long)c.bytes_in,
		       (unsigned long long)c.sampled, c.in_call, c.delay ? "yes" : "no");
	}
}

static void print_segment(struct segview *v)
{
	struct segview_thread t;
	struct seg_own own;
	struct where w;

	segview_own(v, &own);
	w.rank = own.rank;
	printf("own %d size %d flavour %u level %u state %u job %s program %s library %s\n",
	       own.rank, own.world_size, own.flavour, own.thread_level, own.state, own.job,
	       own.program, own.library);
	print_calls(v, own.rank);
	for (unsigned i = 0; i < segview_threads(v); i++) {
		segview_thread(v, i, &t);
		segview_partners(v, i, on_partner, &w);
		segview_events(v, i, UINT32_MAX, on_event, &w);
		if (t.tid)
			printf("thread %d %u dropped %llu partners_lost %llu\n", own.rank, i,
			       (unsigned long long)t.ring_dropped,
			       (unsigned long long)t.partner_lost);
	}
	printf("lost %d threads %llu calls %llu skipped %llu\n", own.rank,
	       (unsigned long long)own.threads_lost, (unsigned long long)own.calls_lost,
	       (unsigned long long)own.actions_skipped);
}

/* Bits for all hooks from OMIG_TEST_HOOKS (hexadecimal), as an lm would set them. */
static void switch_hooks(struct segview *v)
{
	const char *s = getenv("OMIG_TEST_HOOKS");
	uint64_t word;

	if (!s || str_to_hex64(s, &word))
		return;
	for (unsigned f = 0; f < segview_funcs(v); f++)
		segview_hook_set(v, f, (uint32_t)word, 0);
}

static int open_fd(int fd)
{
	struct err e = { 0 };
	int rc = segview_open(fd, getuid(), &held[nheld], &e);

	if (rc)
		fprintf(stderr, "segdump: %s\n", e.text);
	else
		switch_hooks(held[nheld++]);
	close(fd);
	return rc;
}

static int dump_pid(const char *pid)
{
	char dir[64], path[400], link[400];
	struct dirent *d;
	ssize_t n;
	DIR *fds;

	snprintf(dir, sizeof(dir), "/proc/%s/fd", pid);
	fds = opendir(dir);
	while (fds && (d = readdir(fds))) {
		snprintf(path, sizeof(path), "%s/%s", dir, d->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = 0;
		if (str_has_prefix(link, "/memfd:" SEG_MEMFD_PREFIX))
			open_fd(open(path, O_RDWR | O_CLOEXEC));
	}
	if (fds)
		closedir(fds);
	for (unsigned i = 0; i < nheld; i++)
		print_segment(held[i]);
	return nheld ? 0 : 1;
}

static int take_fd(int conn)
{
	struct seg_register reg = { 0 };
	struct iovec iov = { &reg, sizeof(reg) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c;
	int fd = -1;

	if (recvmsg(conn, &msg, MSG_CMSG_CLOEXEC) == sizeof(reg) &&
	    reg.magic == SEG_REGISTER_MAGIC && (c = CMSG_FIRSTHDR(&msg)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	close(conn);
	return fd;
}

static int listen_at(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	unlink(path);
	if (!str_copy(to.sun_path, sizeof(to.sun_path), path) ||
	    bind(fd, (const struct sockaddr *)&to, sizeof(to)) < 0 || listen(fd, 64) < 0) {
		perror("segdump: listen");
		exit(1);
	}
	return fd;
}

static int serve(const char *path)
{
	struct pollfd p[2] = { { .fd = 0, .events = POLLIN },
			       { .fd = listen_at(path), .events = POLLIN } };
	char byte;
	int fd;

	printf("ready\n");
	fflush(stdout);
	while (poll(p, 2, -1) >= 0 || errno == EINTR) {
		if (p[1].revents & POLLIN) {
			fd = take_fd(accept4(p[1].fd, NULL, NULL, SOCK_CLOEXEC));
			if (fd >= 0 && nheld < SEGMENTS_MAX)
				open_fd(fd);
		} else if (p[0].revents && read(0, &byte, 1) <= 0)
			break;
	}
	for (unsigned i = 0; i < nheld; i++)
		print_segment(held[i]);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && str_eq(argv[1], "--listen"))
		return serve(argv[2]);
	if (argc == 2)
		return dump_pid(argv[1]);
	fprintf(stderr, "usage: segdump PID | --listen SOCKET\n");
	return 2;
}
