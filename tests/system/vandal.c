/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of the user that sends invalid data to the lm of this host.
 *
 *	vandal SOCKET CAID KIND [MS [N]]
 *
 * The segment is:
 *
 * good                                   as libapp makes it, without any call
 * unsealed size truncated grown hole     its file is not as promised
 * magic version beyond blocks overlap header  its header contradicts itself
 * pid                                    it claims to be process N's
 * late unready                           set up after a while, or never
 * odd                                    all sequence words are odd, as if being written for ever
 * cycle                                  its action lists have no end
 *
 * What it does when the lm polls its ring, or after 10 s:
 *
 * full back wild crossing nothing giant  positions and records of the ring that cannot be
 * flip                                   all words change at random, all the time
 * punched                                the memory is given back
 *
 * Its registration:
 *
 * message half other                     the message is not as promised
 * nofd twofds manyfds                    more or fewer descriptors
 * file fifo device directory sparse huge the descriptor is something else
 * stolen                                 the segment of process N
 * silent                                 connects and is silent, N times
 * storm storm_unready storm_bad          N registrations, one after the other
 *
 * Then it waits until MS are over (default 1000) with all its descriptors open, and ends. It prints
 * its pid after its first action.
 */
#include "common/ring/action.h"
#include "common/ring/calls.h"
#include "common/ring/ring.h"
#include "common/ring/seg.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define MANY_FDS 200
#define THREADS 4
#define LATE_MS 1500
#define UNPOLLED_MS 10000

struct vandal {
	const char *socket, *caid, *kind;
	int64_t until, half;
	int n;
	struct seg_header plan;
	struct seg_register reg;
	uint8_t *base;
	int fd[MANY_FDS], nfd;
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

static void wait_until(int64_t ms)
{
	while (now_ms() < ms)
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
}

/* --- the segment */

static struct seg_header *header(const struct vandal *v)
{
	return (void *)v->base;
}

static struct seg_thread *thread(const struct vandal *v, unsigned i)
{
	return (void *)(v->base + v->plan.thread_offset + i * v->plan.thread_bytes);
}

static uint64_t *ring_word(const struct vandal *v, uint64_t at)
{
	return (void *)((uint8_t *)thread(v, 0) + v->plan.ring_offset + at % v->plan.ring_bytes);
}

static void fill_header(struct vandal *v)
{
	struct seg_header *h = header(v);

	*h = v->plan;
	h->w.pid = getpid();
	h->w.rank = 0;
	h->w.world_size = 1;
	h->w.state = SEG_RUNNING;
	snprintf(h->w.program, sizeof(h->w.program), "/vandal");
	memset(h->w.job, 0xff, sizeof(h->w.job)); /* a text that never ends */
	h->magic = SEG_MAGIC;
}

static void make_segment(struct vandal *v)
{
	char name[64];
	int fd;

	seg_plan(&v->plan, call_count, THREADS, SEG_RING_MIN_BYTES);
	snprintf(name, sizeof(name), SEG_MEMFD_PREFIX "%s", v->caid);
	fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, (off_t)v->plan.segment_bytes))
		die("memfd");
	v->base = mmap(NULL, v->plan.segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (v->base == MAP_FAILED)
		die("mmap");
	fill_header(v);
	for (unsigned i = 0; i < THREADS; i++)
		thread(v, i)->tid = (uint32_t)getpid() + i;
	v->reg = (struct seg_register){ SEG_REGISTER_MAGIC, SEG_VERSION, getpid(), 0,
					v->plan.segment_bytes };
	v->fd[0] = fd;
	v->nfd = 1;
}

static void punch(const struct vandal *v)
{
	if (fallocate(v->fd[0], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
		      (off_t)v->plan.segment_bytes))
		die("hole");
}

static void spoil_header(const struct vandal *v)
{
	struct seg_header *h = header(v);

	if (is(v, "magic"))
		h->magic ^= 1;
	if (is(v, "version"))
		h->version = SEG_VERSION + 1;
	if (is(v, "beyond"))
		h->thread_offset = UINT64_MAX - 7;
	if (is(v, "blocks"))
		h->thread_count = 1u << 30;
	if (is(v, "overlap"))
		h->slot_offset = h->cell_offset = h->partner_offset = 0;
	if (is(v, "pid"))
		h->w.pid = v->n;
	if (is(v, "late") || is(v, "unready") || is(v, "storm_unready"))
		h->magic = 0;
	if (is(v, "header"))
		for (size_t i = 8; i < offsetof(struct seg_header, w); i += 8) {
			uint64_t word = dice();

			memcpy(v->base + i, &word, 8);
		}
}

static void make_odd(const struct vandal *v)
{
	for (unsigned t = 0; t < THREADS; t++) {
		uint8_t *block = (uint8_t *)thread(v, t);
		struct seg_slot *slot = (void *)(block + v->plan.slot_offset);
		struct seg_cell *cell = (void *)(block + v->plan.cell_offset);

		for (unsigned i = 0; i < v->plan.func_count; i++)
			slot[i] = (struct seg_slot){ .seq = UINT32_MAX, .count = 7, .begin = 1 };
		for (unsigned i = 0; i < SEG_CELLS; i++)
			cell[i].seq = UINT32_MAX;
	}
	header(v)->l.seq = UINT32_MAX;
}

/* Each entry links to itself, and the lists cross each other. */
static void make_cycles(const struct vandal *v)
{
	struct seg_action *a = (void *)(v->base + v->plan.action_offset);
	uint16_t *head = (void *)(v->base + v->plan.head_offset);

	for (unsigned i = 0; i < SEG_ACTIONS; i++)
		a[i] = (struct seg_action){ .seq = 2,
					    .op = ACTION_COUNTER_ADD,
					    .next = (uint16_t)(i + 1),
					    .cell = UINT16_MAX,
					    .partner_first = UINT32_MAX - 1,
					    .partner_count = UINT32_MAX };
	for (unsigned i = 0; i < SEG_HOOKS * 2; i++)
		head[i] = (uint16_t)dice();
}

static void spoil_file(struct vandal *v)
{
	if (is(v, "size"))
		v->reg.bytes += 4096;
	if (is(v, "hole"))
		punch(v);
	if (is(v, "grown") && ftruncate(v->fd[0], (off_t)v->plan.segment_bytes + 8192))
		die("grow");
	if (is(v, "unsealed") || is(v, "truncated"))
		return;
	if (fcntl(v->fd[0], F_ADD_SEALS, SEALS))
		die("seals");
}

static int other_file(const struct vandal *v)
{
	char path[] = "vandal.XXXXXX";
	int fd = -1;

	if (is(v, "device"))
		return open("/dev/zero", O_RDWR);
	if (is(v, "huge")) {
		fd = memfd_create("omig-huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
		return ftruncate(fd, 16 << 20) || fcntl(fd, F_ADD_SEALS, SEALS) ? -1 : fd;
	}
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
	if (fd >= 0 &&
	    ftruncate(fd, is(v, "sparse") ? (off_t)1 << 40 : (off_t)v->plan.segment_bytes))
		die("file");
	return fd;
}

/* The memfd of another process, found as an lm finds it. */
static int stolen_file(const struct vandal *v)
{
	char path[300], link[300];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", v->n);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%d/fd/%s", v->n, d->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = 0;
		if (!strncmp(link, "/memfd:" SEG_MEMFD_PREFIX, 12))
			return open(path, O_RDWR | O_CLOEXEC);
	}
	errno = ENOENT;
	return -1;
}

static void swap_file(struct vandal *v)
{
	static const char *const others[] = { "file",	"fifo", "device", "directory",
					      "sparse", "huge", NULL };
	struct stat st;

	for (size_t i = 0; others[i]; i++)
		if (is(v, others[i])) {
			close(v->fd[0]);
			v->fd[0] = other_file(v);
		}
	if (is(v, "stolen"))
		v->fd[0] = stolen_file(v);
	if (v->fd[0] < 0 || fstat(v->fd[0], &st))
		die("another file");
	if (!is(v, "size") && !is(v, "truncated"))
		v->reg.bytes = (uint64_t)st.st_size;
}

static void spoil_message(struct vandal *v)
{
	int more = is(v, "twofds") ? 2 : is(v, "manyfds") ? MANY_FDS : 1;

	if (is(v, "nofd"))
		v->nfd = 0;
	while (v->nfd && v->nfd < more) {
		v->fd[v->nfd] = dup(v->fd[0]);
		v->nfd++;
	}
	if (is(v, "message") || is(v, "storm_bad"))
		v->reg.magic ^= 1;
	if (is(v, "other"))
		v->reg.version++;
}

static void prepare(struct vandal *v)
{
	make_segment(v);
	spoil_header(v);
	if (is(v, "odd"))
		make_odd(v);
	if (is(v, "cycle"))
		make_cycles(v);
	spoil_file(v);
	swap_file(v);
	spoil_message(v);
}

/* --- the socket */

static int meet(const struct vandal *v)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (strlen(v->socket) >= sizeof(a.sun_path))
		die("path");
	memcpy(a.sun_path, v->socket, strlen(v->socket));
	if (fd < 0 || connect(fd, (const struct sockaddr *)&a, sizeof(a)))
		die(v->socket);
	return fd;
}

/* False: see errno. */
static bool hand_over(const struct vandal *v, int sock)
{
	struct iovec iov = { (void *)(uintptr_t)&v->reg, is(v, "half") ? 12 : sizeof(v->reg) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(MANY_FDS * sizeof(int))];
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
	return sendmsg(sock, &msg, MSG_NOSIGNAL) >= 0;
}

static void register_once(const struct vandal *v)
{
	int sock = meet(v);

	/* A refused connection may end before our first message is sent. */
	if (!hand_over(v, sock) && errno != EPIPE && errno != ECONNRESET)
		die("sendmsg");
	if (!is(v, "half"))
		close(sock);
}

static void storm(struct vandal *v)
{
	for (int i = 0; i < v->n; i++) {
		register_once(v);
		munmap(v->base, v->plan.segment_bytes);
		close(v->fd[0]);
		prepare(v);
	}
}

static void say_nothing(const struct vandal *v)
{
	for (int i = 0; i < v->n; i++)
		meet(v);
}

/* --- actions while it is watched */

static bool is_polled(const struct vandal *v)
{
	const uint32_t *hook = (void *)(v->base + v->plan.hook_offset);

	for (unsigned i = 0; i < v->plan.func_count; i++)
		if (__atomic_load_n(&hook[i], __ATOMIC_RELAXED) &
		    (HOOK_EVENT_START | HOOK_EVENT_END))
			return true;
	return false;
}

static void spoil_ring(const struct vandal *v)
{
	struct seg_thread *t = thread(v, 0);
	uint64_t at = t->ring_tail;

	if (is(v, "full"))
		t->ring_head = at + v->plan.ring_bytes + 8;
	if (is(v, "back"))
		t->ring_head = at - 8;
	if (is(v, "wild"))
		t->ring_head = UINT64_MAX / 2 + 4;
	if (is(v, "nothing"))
		*ring_word(v, at) = RING_WORD(0, RING_CALL);
	if (is(v, "giant"))
		*ring_word(v, at) = RING_WORD(0xffffffff, RING_CALL);
	if (is(v, "nothing") || is(v, "giant"))
		t->ring_head = at + 64;
	if (is(v, "crossing")) {
		t->ring_tail = at = v->plan.ring_bytes - 32;
		*ring_word(v, at) = RING_WORD(96, RING_CALL);
		t->ring_head = at + 96;
	}
}

/* Every word of the segment, magic and sizes too, again and again. */
static void flip(const struct vandal *v)
{
	volatile uint64_t *word = (void *)v->base;
	size_t n = v->plan.segment_bytes / 8;

	while (now_ms() < v->until)
		for (int i = 0; i < 100000; i++)
			word[dice() % n] = dice();
}

static void do_harm(struct vandal *v)
{
	while (!is_polled(v) && now_ms() < v->half)
		wait_until(now_ms() + 10);
	spoil_ring(v);
	if (is(v, "punched"))
		punch(v);
	if (is(v, "late"))
		header(v)->magic = SEG_MAGIC;
	if (is(v, "flip"))
		flip(v);
}

int main(int argc, char **argv)
{
	struct vandal v = { .kind = argc > 3 ? argv[3] : "" };
	struct rlimit many = { 4096, 4096 };

	if (argc < 4) {
		fputs("vandal SOCKET CAID KIND [MS [N]]\n", stderr);
		return 2;
	}
	v.socket = argv[1];
	v.caid = argv[2];
	v.until = now_ms() + (argc > 4 ? strtol(argv[4], NULL, 10) : 1000);
	v.half = now_ms() + (is(&v, "late") ? LATE_MS : UNPOLLED_MS);
	v.n = argc > 5 ? (int)strtol(argv[5], NULL, 10) : 0;
	setrlimit(RLIMIT_NOFILE, &many);
	prepare(&v);
	if (is(&v, "silent"))
		say_nothing(&v);
	else if (!strncmp(v.kind, "storm", 5))
		storm(&v);
	else
		register_once(&v);
	if (is(&v, "truncated") && ftruncate(v.fd[0], 0))
		die("truncate");
	printf("%d\n", (int)getpid());
	fflush(stdout);
	do_harm(&v);
	wait_until(v.until);
	return 0;
}
