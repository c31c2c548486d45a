/* SPDX-License-Identifier: Apache-2.0 */
/* Processes on this host, which share its clock. Each is forked, and has a stream to the master. */
#include "neko/run/crew.h"
#include "neko/run/run_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAD_NS (50 * NSEC_PER_MSEC)
#define REAP_MS 50 /* time between the closing of a stream and the end of its process */

struct child {
	pid_t pid; /* 0: no process, or reaped */
	int fd; /* -1: closed */
	struct frame_in in; /* owned */
};

struct crew_local {
	struct crew crew; /* must be the first member */
	struct run *run; /* borrowed */
	struct child *child; /* owned, by process */
	uint32_t m;
};

static struct crew_local *local_of(const struct crew *c)
{
	return (struct crew_local *)(void *)(uintptr_t)c;
}

static int build_own(void *arg, struct neko_process *p, struct err *e)
{
	struct run *r = arg;

	return r->app[neko_id(p) - 1]->init(p, r->setup, e);
}

void crew_fill_conf(struct run *r, uint32_t id, struct real_conf *c)
{
	*c = (struct real_conf){ .m = r->m,
				 .id = id,
				 .seed = r->seed,
				 .nnet = r->nnet,
				 .wants_delays = r->options && r->options->on_delay,
				 .setup = r->setup,
				 .clock = r->clock_model,
				 .build = build_own,
				 .arg = r };
	for (unsigned k = 0; k < r->nnet; k++)
		c->net[k] = r->real_net[k];
}

uint32_t crew_size(const struct run *r)
{
	return r->m;
}

nsec_t crew_silence(const struct run *r)
{
	return r->silence;
}

int crew_print_setup(const struct run *r, struct buf *out)
{
	return setup_print(r->setup, out);
}

/*
 * Runs in the new process. Closes inherited descriptors, which would keep the ends of others open.
 */
static void live(struct crew_local *l, uint32_t id, int fd, int parent)
{
	struct real_conf c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (uint32_t i = 0; i < l->m; i++)
		if (l->child[i].fd >= 0)
			close(l->child[i].fd);
	crew_fill_conf(l->run, id, &c);
	c.address = INADDR_LOOPBACK;
	c.master = fd;
	_exit(real_live(&c));
}

static int start(struct crew *c, uint32_t id, struct err *e)
{
	struct crew_local *l = local_of(c);
	struct child *v = &l->child[id - 1];
	int pair[2], self = getpid();

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_sys(e, "a stream to process %u", id);
	v->pid = fork();
	if (v->pid == 0) {
		close(pair[0]);
		live(l, id, pair[1], self);
	}
	close(pair[1]);
	if (v->pid < 0) {
		v->pid = 0;
		close(pair[0]);
		return err_sys(e, "process %u", id);
	}
	v->fd = pair[0];
	return 0;
}

static uint32_t address(const struct crew *c, uint32_t id)
{
	return INADDR_LOOPBACK;
}

/*
 * Waits for the end of a process, at most for this time. If the kernel has no pidfd, it waits the
 * whole time, because poll() ignores negative descriptors.
 */
static void await_end(int pid)
{
	struct pollfd f = { (int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0 };

	while (poll(&f, 1, REAP_MS) < 0 && errno == EINTR)
		;
	if (f.fd >= 0)
		close(f.fd);
}

void crew_reap(int pid, char *out)
{
	int status = 0, done;

	await_end(pid);
	done = waitpid(pid, &status, WNOHANG);
	if (done == 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (done > 0 && WIFSIGNALED(status))
		snprintf(out, REALWIRE_WORDS_BYTES, "it was ended by signal %d", WTERMSIG(status));
	else
		snprintf(out, REALWIRE_WORDS_BYTES, "it ended without a report");
}

static void reap(struct child *v, char *why)
{
	if (v->pid)
		crew_reap(v->pid, why);
	v->pid = 0;
}

static void lose(struct crew_local *l, uint32_t id)
{
	struct child *v = &l->child[id - 1];
	struct realwire_gone g = { .at = clock_mono() };

	if (v->fd < 0)
		return;
	close(v->fd);
	v->fd = -1;
	reap(v, g.why);
	l->crew.hearer.on_gone(l->crew.hearer.arg, id, &g);
}

/*
 * Sends a small frame. The stream has room for it, because the process reads twenty times a second.
 */
static void send_frame(struct crew *c, uint32_t id, const struct buf *frame)
{
	struct crew_local *l = local_of(c);
	const struct child *v = &l->child[id - 1];
	int rc = v->fd < 0 ? 0 : realwire_send(v->fd, frame);

	if (rc && rc != -ERR_CLOSED) /* frames that an ended process has sent are read first */
		lose(l, id);
}

static void hear(struct crew_local *l, uint32_t id)
{
	struct child *v = &l->child[id - 1];
	struct frame f;
	int got = realwire_recv(v->fd, &v->in, MSG_DONTWAIT);

	if (got == -ERR_AGAIN)
		return;
	if (got) {
		lose(l, id);
		return;
	}
	while (v->fd >= 0 && (got = frame_in_next(&v->in, &f, NULL)) != 0) {
		if (got < 0)
			lose(l, id);
		else
			l->crew.hearer.on_frame(l->crew.hearer.arg, id, &f);
	}
}

static void turn(struct crew *c, int ms)
{
	struct crew_local *l = local_of(c);
	struct pollfd f[REAL_PROCESSES_MAX];

	for (uint32_t i = 0; i < l->m; i++)
		f[i] = (struct pollfd){ l->child[i].fd, POLLIN, 0 };
	if (poll(f, l->m, ms) < 1)
		return;
	for (uint32_t i = 0; i < l->m; i++)
		if (l->child[i].fd >= 0 && f[i].revents)
			hear(l, i + 1);
}

static void kill_child(struct crew *c, uint32_t id)
{
	struct crew_local *l = local_of(c);

	if (l->child[id - 1].pid)
		kill(l->child[id - 1].pid, SIGKILL);
	lose(l, id);
}

static const char *place(const struct crew *c, uint32_t id)
{
	return "this host";
}

static void end(struct crew *c)
{
	struct crew_local *l = local_of(c);
	char why[REALWIRE_WORDS_BYTES];

	for (uint32_t i = 0; i < l->m; i++) {
		if (l->child[i].fd >= 0) {
			close(l->child[i].fd);
			kill(l->child[i].pid, SIGKILL);
		}
		reap(&l->child[i], why);
		frame_in_done(&l->child[i].in);
	}
	free(l->child);
	free(l);
}

static const struct crew_ops local_ops = { .start = start,
					   .address = address,
					   .send = send_frame,
					   .turn = turn,
					   .kill = kill_child,
					   .place = place,
					   .end = end };

struct crew *crew_local_new(struct run *r)
{
	struct crew_local *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->crew = (struct crew){ .ops = &local_ops, .lead = LEAD_NS };
	l->run = r;
	l->m = r->m;
	l->child = calloc(r->m, sizeof(*l->child));
	if (!l->child) {
		free(l);
		return NULL;
	}
	for (uint32_t i = 0; i < r->m; i++) {
		l->child[i].fd = -1;
		frame_in_init(&l->child[i].in, FRAME_MAX_BYTES);
	}
	return &l->crew;
}
