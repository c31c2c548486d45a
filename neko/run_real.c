/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The master of a real run: makes the processes, hears their events, and has the handler hear
 * them in the order of their times. All stand on one host and one clock.
 */
#include "common/base/array.h"
#include "neko/real.h"
#include "neko/realwire.h"
#include "neko/run_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_NS (30 * NSEC_PER_SEC) /* a loaded host takes its time to start processes */
#define END_NS (30 * NSEC_PER_SEC) /* that they have to tell their last events */
#define LEAD_NS (50 * NSEC_PER_MSEC) /* from the go to time 0, so that all hear it before */
#define TURN_MS 20
#define NAMES_MAX 256 /* different descriptions of events */
#define PENDING_MAX (4u << 20) /* events that wait for a process that is behind: 128 MiB */

struct slave {
	pid_t pid;
	int fd; /* -1: gone, or has told its last */
	struct buf in; /* of blocks */
	struct neko_event *event; /* owned; [at..n) were not handled yet */
	size_t at, n, cap;
	nsec_t until; /* what it has told is complete up to here */
	nsec_t crash_at; /* NEKO_NEVER: none */
	struct realwire_block last;
	bool is_whole; /* the last block came, or its crash was wished for */
	bool is_broken; /* what it told was no block */
};

struct master {
	struct run *run;
	struct slave *slave; /* owned, m */
	struct sockaddr_in *address; /* owned */
	int *sock; /* owned: [k * m + i - 1] */
	char *name[NAMES_MAX]; /* owned */
	unsigned nname;
	uint64_t key;
	nsec_t epoch;
	uint32_t current; /* whose events are read */
	uint64_t handled; /* events */
	bool has_stopped, failed;
};

static int open_socket(struct sockaddr_in *a, struct err *e)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t n = sizeof(*a);

	if (fd < 0)
		return err_sys(e, "a socket for a process");
	*a = (struct sockaddr_in){ .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (bind(fd, (const void *)a, sizeof(*a)) || getsockname(fd, (void *)a, &n)) {
		err_sys(e, "an address for a process");
		close(fd);
		return -ERR_SYS;
	}
	return fd;
}

static int open_sockets(struct master *s, struct err *e)
{
	size_t n = (size_t)s->run->m * s->run->nnet, i;

	s->address = calloc(n, sizeof(*s->address));
	s->sock = calloc(n, sizeof(*s->sock));
	if (!s->address || !s->sock)
		return err_nomem(e);
	for (i = 0; i < n; i++)
		s->sock[i] = -1;
	for (i = 0; i < n; i++) {
		s->sock[i] = open_socket(&s->address[i], e);
		if (s->sock[i] < 0)
			return -ERR_SYS;
	}
	return 0;
}

static int build_own(void *arg, struct neko_process *p, struct err *e)
{
	struct run *r = arg;

	return r->app[neko_id(p) - 1]->init(p, r->setup, e);
}

/* In the new process. Descriptors of the others are theirs: what it holds would keep their ends open. */
static void live(struct master *s, uint32_t id, int fd, int parent)
{
	struct real_conf c = { .m = s->run->m,
			       .id = id,
			       .seed = s->run->seed,
			       .key = s->key,
			       .nnet = s->run->nnet,
			       .address = s->address,
			       .master = fd,
			       .build = build_own,
			       .arg = s->run };
	uint32_t i;
	unsigned k;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (i = 0; i < c.m; i++)
		if (s->slave[i].fd >= 0)
			close(s->slave[i].fd);
	for (k = 0; k < c.nnet; k++)
		for (i = 0; i < c.m; i++)
			if (i == id - 1)
				c.sock[k] = s->sock[k * c.m + i];
			else
				close(s->sock[k * c.m + i]);
	_exit(real_live(&c));
}

static int start_slave(struct master *s, uint32_t id, struct err *e)
{
	struct slave *v = &s->slave[id - 1];
	int pair[2], self = getpid();

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_sys(e, "a line to process %u", id);
	v->pid = fork();
	if (v->pid == 0) {
		close(pair[0]);
		live(s, id, pair[1], self);
	}
	close(pair[1]);
	if (v->pid < 0) {
		close(pair[0]);
		return err_sys(e, "process %u", id);
	}
	v->fd = pair[0];
	return 0;
}

static int start_slaves(struct master *s, struct err *e)
{
	uint32_t i, m = s->run->m;
	int rc = 0;

	s->slave = calloc(m, sizeof(*s->slave));
	if (!s->slave)
		return err_nomem(e);
	for (i = 0; i < m; i++) {
		s->slave[i].fd = -1;
		s->slave[i].in = BUF_INIT(2 * REALWIRE_BLOCK_MAX_BYTES);
		s->slave[i].crash_at = s->run->crash_at[i];
	}
	for (i = 1; i <= m && rc == 0; i++)
		rc = start_slave(s, i, e);
	for (i = 0; i < m * s->run->nnet; i++) {
		close(s->sock[i]);
		s->sock[i] = -1;
	}
	return rc;
}

/* Each says that its layers are there; then all get the same beginning. */
static int await_ready(struct master *s, struct err *e)
{
	nsec_t end = clock_mono() + READY_NS;
	uint32_t i;

	for (i = 0; i < s->run->m; i++) {
		struct pollfd f = { s->slave[i].fd, POLLIN, 0 };
		nsec_t left = end - clock_mono();
		char ready;

		if (poll(&f, 1, left > 0 ? (int)(left / NSEC_PER_MSEC) : 0) != 1 ||
		    recv(f.fd, &ready, 1, 0) != 1)
			return err_set(e, ERR_TIMEOUT, "process %u did not start", i + 1);
	}
	return 0;
}

static void say_go(struct master *s)
{
	struct real_go go = { clock_mono() + LEAD_NS };
	uint32_t i;

	s->epoch = go.epoch;
	for (i = 0; i < s->run->m; i++)
		(void)!send(s->slave[i].fd, &go, sizeof(go), MSG_NOSIGNAL);
}

static void say_stop(struct master *s)
{
	static const char stop = REAL_STOP;
	uint32_t i;

	for (i = 0; i < s->run->m; i++)
		if (s->slave[i].fd >= 0)
			(void)!send(s->slave[i].fd, &stop, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The same words of all events are one string. NULL: too many of them. */
static const char *name_of(struct master *s, const char *what)
{
	unsigned i;

	for (i = 0; i < s->nname; i++)
		if (strcmp(s->name[i], what) == 0)
			return s->name[i];
	if (s->nname == NAMES_MAX)
		return NULL;
	s->name[s->nname] = strdup(what);
	return s->name[s->nname] ? s->name[s->nname++] : NULL;
}

static void keep_event(void *arg, const struct neko_event *e)
{
	struct master *s = arg;
	struct slave *v = &s->slave[s->current];
	struct neko_event mine = *e;

	mine.process = s->current + 1;
	mine.what = name_of(s, e->what);
	if (!mine.what || mine.at < v->until ||
	    array_grow(&v->event, &v->cap, v->n + 1, sizeof(mine), PENDING_MAX))
		s->failed = true;
	else
		v->event[v->n++] = mine;
}

/* From a process that is gone nothing comes any more: nobody waits for it. */
static void lose(struct slave *v)
{
	if (v->fd >= 0)
		close(v->fd);
	v->fd = -1;
	v->until = NEKO_NEVER;
}

static void read_blocks(struct master *s, struct slave *v)
{
	struct realwire_block b;
	size_t used, at = 0;

	for (;;) {
		if (realwire_read(v->in.p + at, v->in.n - at, &used, &b, keep_event, s)) {
			v->is_broken = true;
			lose(v);
			return;
		}
		if (!used)
			break;
		at += used;
		v->last = b;
		v->until = b.until;
		v->is_whole |= b.is_last;
		s->has_stopped |= b.wants_stop;
	}
	buf_drop_front(&v->in, at);
	if (v->is_whole && v->fd >= 0 && v->last.is_last)
		lose(v);
}

static void hear(struct master *s, uint32_t i)
{
	struct slave *v = &s->slave[i];
	ssize_t n;

	if (buf_reserve(&v->in, 65536)) {
		v->is_broken = true;
		lose(v);
		return;
	}
	n = recv(v->fd, v->in.p + v->in.n, 65536, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		lose(v);
		return;
	}
	v->in.n += (size_t)n;
	s->current = i;
	read_blocks(s, v);
}

static void handle(struct master *s, const struct neko_event *v)
{
	struct run *r = s->run;

	if (s->has_stopped)
		return;
	s->handled++;
	if (r->wish->on_event)
		r->wish->on_event(r->wish->arg, v);
	r->stat.handle(r->handler, v);
	s->has_stopped = r->stat.should_stop(r->handler);
}

static struct slave *earliest(struct master *s)
{
	struct slave *first = NULL;
	uint32_t i;

	for (i = 0; i < s->run->m; i++) {
		struct slave *v = &s->slave[i];

		if (v->at < v->n && (!first || v->event[v->at].at < first->event[first->at].at))
			first = v;
	}
	return first;
}

/* What all have told completely, by time; equal times by process. */
static void merge(struct master *s)
{
	nsec_t until = NEKO_NEVER;
	struct slave *v;
	uint32_t i;

	for (i = 0; i < s->run->m; i++)
		if (s->slave[i].until < until)
			until = s->slave[i].until;
	while ((v = earliest(s)) != NULL && v->event[v->at].at < until)
		handle(s, &v->event[v->at++]);
	for (i = 0; i < s->run->m; i++) {
		v = &s->slave[i];
		if (!v->at)
			continue;
		memmove(v->event, v->event + v->at, (v->n - v->at) * sizeof(*v->event));
		v->n -= v->at;
		v->at = 0;
	}
}

/* A crash is one: the process is killed, and its event is ours. */
static void crash_due(struct master *s, nsec_t now)
{
	uint32_t i;

	for (i = 0; i < s->run->m; i++) {
		struct slave *v = &s->slave[i];
		struct neko_event e = { i + 1, now, NEKO_CRASHED, 0 };

		if (v->fd < 0 || v->crash_at > now)
			continue;
		kill(v->pid, SIGKILL);
		v->crash_at = NEKO_NEVER;
		v->is_whole = true;
		lose(v);
		s->current = i;
		v->until = 0;
		keep_event(s, &e);
		v->until = NEKO_NEVER;
	}
}

static bool turn(struct master *s)
{
	struct pollfd f[REAL_PROCESSES_MAX];
	uint32_t i, alive = 0;

	for (i = 0; i < s->run->m; i++) {
		f[i] = (struct pollfd){ s->slave[i].fd, POLLIN, 0 };
		alive += s->slave[i].fd >= 0;
	}
	if (!alive)
		return false;
	poll(f, s->run->m, TURN_MS);
	for (i = 0; i < s->run->m; i++)
		if (s->slave[i].fd >= 0 && f[i].revents)
			hear(s, i);
	merge(s);
	return true;
}

static bool is_late(const struct run *r)
{
	return r->wish->deadline && clock_mono() >= r->wish->deadline;
}

static bool is_over(const struct master *s, nsec_t now)
{
	const struct run *r = s->run;

	return s->has_stopped || s->failed || now >= r->until || is_late(r);
}

/* Returns the time at which it was over. */
static nsec_t conduct(struct master *s)
{
	nsec_t now, end;

	do {
		now = clock_mono() - s->epoch;
		crash_due(s, now);
	} while (!is_over(s, now) && turn(s));
	say_stop(s);
	for (end = clock_mono() + END_NS; clock_mono() < end && turn(s);)
		;
	return now;
}

static void end_slaves(struct master *s)
{
	uint32_t i;

	for (i = 0; s->slave && i < s->run->m; i++) {
		struct slave *v = &s->slave[i];

		lose(v);
		if (v->pid > 0) {
			kill(v->pid, SIGKILL);
			while (waitpid(v->pid, NULL, 0) < 0 && errno == EINTR)
				;
		}
		buf_done(&v->in);
		free(v->event);
	}
	free(s->slave);
}

static void end_master(struct master *s)
{
	size_t i;

	end_slaves(s);
	for (i = 0; s->sock && i < (size_t)s->run->m * s->run->nnet; i++)
		if (s->sock[i] >= 0)
			close(s->sock[i]);
	for (i = 0; i < s->nname; i++)
		free(s->name[i]);
	free(s->sock);
	free(s->address);
}

static void count(const struct master *s, nsec_t now, struct run_figures *f)
{
	uint32_t i;

	f->runs = 1;
	f->is_real = true;
	f->seed = f->seed_of_last = s->run->seed;
	f->events = s->handled;
	f->seconds = (double)(now > 0 ? now : 0) / 1e9;
	f->is_stopped = s->has_stopped;
	f->is_cut = !s->has_stopped && is_late(s->run);
	for (i = 0; i < s->run->m; i++) {
		const struct slave *v = &s->slave[i];

		f->sent += v->last.sent;
		f->delivered += v->last.delivered;
		f->stuck += v->last.stuck;
		f->missing += !v->is_whole || v->is_broken || v->last.has_lost;
	}
}

static int run_master(struct master *s, struct run_figures *out, struct err *e)
{
	struct run_figures f = { 0 };
	nsec_t now;
	int rc = open_sockets(s, e);

	if (rc == 0)
		rc = start_slaves(s, e);
	if (rc == 0)
		rc = await_ready(s, e);
	if (rc)
		return rc;
	say_go(s);
	if (s->run->stat.begin(s->run->handler, s->run->m))
		return err_nomem(e);
	now = conduct(s);
	if (s->failed)
		return err_set(e, ERR_LIMIT,
			       "more events than there is room for, or out of their order");
	s->run->stat.end(s->run->handler, now);
	count(s, now, &f);
	f.broken = f.missing ? NULL : run_broken(s->run);
	*out = f;
	return 0;
}

int run_real(struct run *r, const struct run_wish *w, struct run_figures *out, struct err *e)
{
	struct master s = { .run = r };
	int rc;

	if (r->m > REAL_PROCESSES_MAX)
		return err_set(e, ERR_LIMIT, "a real run has at most %d processes on a host",
			       REAL_PROCESSES_MAX);
	r->wish = w;
	r->is_real = true;
	/* Who ignores it has children whose pids may be others' already. */
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	rc = run_check(r, e);
	run_draw_crashes(r, r->seed);
	if (rc == 0)
		rc = rng_fill_random(&s.key, sizeof(s.key), e);
	if (rc == 0)
		rc = run_master(&s, out, e);
	end_master(&s);
	r->wish = NULL;
	return rc;
}
