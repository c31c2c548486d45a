/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of the user that hands rubbish to the lm of this host.
 *
 *	vandal SOCKET CAID KIND [MS]
 *
 * unsealed size hole truncated grown	the memfd's file is not as promised
 * header				random words in the header
 * flip					good, then all words change at random for MS
 * message nofd twofds silent		the registration is not as promised
 * file fifo device directory sparse	the descriptor is something else
 * good					a segment as libapp makes it, without any call
 *
 * Then it waits MS (default 1000) with all it has still open, and ends.
 */
#include "common/ring/calls.h"
#include "common/ring/seg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

struct vandal {
	const char *kind;
	struct seg_header plan;
	struct seg_register reg;
	uint8_t *base;
	int fd[2], nfd;
};

static bool is(const struct vandal *v, const char *kind)
{
	return !strcmp(v->kind, kind);
}

static void die(const char *what)
{
	fprintf(stderr, "vandal: %s: %s\n", what, strerror(errno));
	exit(2);
}

static uint64_t dice(void)
{
	static uint64_t x = UINT64_C(0x9e3779b97f4a7c15);

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void fill_header(struct vandal *v)
{
	struct seg_header *h = (void *)v->base;

	*h = v->plan;
	h->w.pid = 1; /* a lie: the kernel knows better */
	h->w.rank = 0;
	h->w.world_size = 1;
	h->w.state = SEG_RUNNING;
	snprintf(h->w.program, sizeof(h->w.program), "/vandal");
	memset(h->w.job, 0xff, sizeof(h->w.job)); /* a text that never ends */
	h->magic = SEG_MAGIC;
}

static void make_segment(struct vandal *v, const char *caid)
{
	char name[64];
	int fd;

	seg_plan(&v->plan, call_count, 4, SEG_RING_MIN_BYTES);
	snprintf(name, sizeof(name), SEG_MEMFD_PREFIX "%s", caid);
	fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, (off_t)v->plan.segment_bytes))
		die("memfd");
	v->base = mmap(NULL, v->plan.segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (v->base == MAP_FAILED)
		die("mmap");
	fill_header(v);
	v->reg = (struct seg_register){ SEG_REGISTER_MAGIC, SEG_VERSION, getpid(), 0, v->plan.segment_bytes };
	v->fd[v->nfd++] = fd;
}

static void seal(int fd)
{
	if (fcntl(fd, F_ADD_SEALS, SEALS))
		die("seals");
}

static void spoil_memory(struct vandal *v)
{
	int fd = v->fd[0];

	if (is(v, "size"))
		v->reg.bytes += 4096;
	if (is(v, "header"))
		for (size_t i = 8; i < offsetof(struct seg_header, w); i += 8) {
			uint64_t word = dice();

			memcpy(v->base + i, &word, 8);
		}
	if (is(v, "hole") && fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
				       (off_t)v->plan.segment_bytes))
		die("hole");
	if (is(v, "grown") && ftruncate(fd, (off_t)v->plan.segment_bytes + 8192))
		die("grow");
	if (!is(v, "unsealed") && !is(v, "truncated"))
		seal(fd);
}

static int other_file(const struct vandal *v)
{
	char path[] = "vandal.XXXXXX";
	int fd = -1;

	if (is(v, "device"))
		return open("/dev/zero", O_RDWR);
	if (is(v, "directory"))
		return open(".", O_RDONLY | O_DIRECTORY);
	if (is(v, "fifo")) {
		if (mkfifo("vandal.fifo", 0600))
			die("mkfifo");
		fd = open("vandal.fifo", O_RDWR);
		unlink("vandal.fifo");
		return fd;
	}
	fd = mkstemp(path);
	unlink(path);
	if (fd >= 0 && ftruncate(fd, is(v, "sparse") ? (off_t)1 << 40 : (off_t)v->plan.segment_bytes))
		die("file");
	return fd;
}

static bool wants_other_file(const struct vandal *v)
{
	return is(v, "file") || is(v, "fifo") || is(v, "device") || is(v, "directory") || is(v, "sparse");
}

static void spoil(struct vandal *v)
{
	struct stat st;

	if (wants_other_file(v)) {
		close(v->fd[0]);
		v->fd[0] = other_file(v);
		if (v->fd[0] < 0 || fstat(v->fd[0], &st))
			die("another file");
		v->reg.bytes = (uint64_t)st.st_size;
		return;
	}
	spoil_memory(v);
	if (is(v, "nofd"))
		v->nfd = 0;
	if (is(v, "twofds"))
		v->fd[v->nfd++] = dup(v->fd[0]);
	if (is(v, "message"))
		v->reg.magic ^= 1;
}

static int meet(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(a.sun_path))
		die("path");
	memcpy(a.sun_path, path, strlen(path));
	if (fd < 0 || connect(fd, (const struct sockaddr *)&a, sizeof(a)))
		die(path);
	return fd;
}

static void hand_over(const struct vandal *v, int sock)
{
	struct iovec iov = { (void *)(uintptr_t)&v->reg, is(v, "message") ? 7 : sizeof(v->reg) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	size_t n = (size_t)v->nfd * sizeof(int);

	if (n) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(n);
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(n);
		memcpy(CMSG_DATA(&control.align), v->fd, n);
	}
	if (sendmsg(sock, &msg, 0) < 0)
		die("sendmsg");
}

/* Every word of the segment, magic and sizes too, again and again. */
static void flip(const struct vandal *v, int64_t until)
{
	volatile uint64_t *word = (void *)v->base;
	size_t n = v->plan.segment_bytes / 8;

	while (now_ms() < until)
		for (int i = 0; i < 100000; i++)
			word[dice() % n] = dice();
}

int main(int argc, char **argv)
{
	struct vandal v = { .kind = argc > 3 ? argv[3] : "" };
	int64_t ms = argc > 4 ? strtol(argv[4], NULL, 10) : 1000, until;
	int sock;

	if (argc < 4) {
		fputs("vandal SOCKET CAID KIND [MS]\n", stderr);
		return 2;
	}
	make_segment(&v, argv[2]);
	spoil(&v);
	sock = meet(argv[1]);
	if (!is(&v, "silent"))
		hand_over(&v, sock);
	if (is(&v, "truncated") && ftruncate(v.fd[0], 0))
		die("truncate");
	printf("%d\n", (int)getpid());
	fflush(stdout);
	until = now_ms() + ms;
	if (is(&v, "flip"))
		flip(&v, until);
	while (now_ms() < until)
		nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
	return 0;
}
