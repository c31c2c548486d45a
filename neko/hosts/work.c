/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of a run in its factory: a child with a stream, and the connection to the master. This
 * file passes frames in both directions, samples the master's time and sends it to the child. If
 * either end closes or is silent, the factory removes both.
 */
#include "neko/hosts/factory_internal.h"

#include "common/base/array.h"
#include "common/base/log.h"
#include "neko/run/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define SILENCE_NS (10 * NSEC_PER_SEC) /* longest silence before the master sends its request */
#define QUICK_PINGS 10 /* first samples of the time, of which the best one is used */
#define QUICK_NS (10 * NSEC_PER_MSEC)
/* time between samples: clocks that drift by 100 ppm differ by 25 us then */
#define TICK_NS (250 * NSEC_PER_MSEC)
/* queue to the master; above it the child's events wait */
#define QUEUE_MAX_BYTES (8u << 20)

struct work {
	struct factory *factory;
	struct list in_works;
	struct chan *chan; /* owned */
	struct loop_timer *tick; /* owned; for the next sample */
	pid_t pid; /* 0: no process */
	int fd; /* -1: no stream */
	struct loop_fd *watch; /* owned */
	struct frame_in in; /* owned: frames of the child */
	struct timebase clock; /* estimates the master's time */
	nsec_t ping_at; /* time of the request for a sample that has no answer yet; 0: none */
	nsec_t heard; /* time of the last message of the master */
	nsec_t silence; /* longest permitted silence of the master */
	unsigned pings;
	bool is_started;
};

static void end_child(struct work *w, char *why)
{
	loop_fd_free(w->watch);
	w->watch = NULL;
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	if (w->pid)
		crew_reap(w->pid, why);
	w->pid = 0;
}

static void work_end(struct work *w, const char *reason)
{
	char why[REALWIRE_WORDS_BYTES];

	if (w->pid)
		kill(w->pid, SIGKILL);
	end_child(w, why);
	chan_close(w->chan, reason);
	loop_timer_free(w->tick);
	frame_in_done(&w->in);
	list_del(&w->in_works);
	w->factory->nwork--;
	free(w);
}

void work_end_all(struct factory *f)
{
	list_each_safe (i, &f->works)
		work_end(list_entry(i, struct work, in_works), "the factory ends");
}

/* Sends a frame to the master. Returns false if w has been freed. */
static bool say(struct work *w, struct buf *b)
{
	bool is_sent = !b->failed && chan_send(w->chan, b->p, b->n) == 0;

	buf_done(b);
	if (!is_sent)
		work_end(w, "the master does not read");
	return is_sent;
}

/* Reports the end of the child, whose last frames may still be in transit. */
static void send_gone(struct work *w)
{
	nsec_t now = clock_mono();
	struct realwire_gone g = { .at = timebase_at(&w->clock, now),
				   .error = timebase_error(&w->clock, now) };
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);

	if (g.error == TIMEBASE_UNKNOWN_NS)
		g.at = -1;
	end_child(w, g.why);
	realwire_put_gone(&b, &g);
	say(w, &b);
}

/* --- the child */

static int build(struct work *w, const struct realwire_start *s, struct real_conf *c, struct err *e)
{
	struct setup *setup = NULL;
	struct run *r = NULL;
	int rc = setup_parse(s->text, s->ntext, &setup, e);

	if (!rc && setup_get(setup, "application") && !w->factory->takes_objects)
		rc = err_set(e, ERR_DENIED,
			     "this factory accepts no shared objects; start it with --objects");
	if (!rc)
		rc = run_new_part(setup, &r, e);
	if (rc)
		return rc;
	crew_fill_conf(r, s->id, c);
	if (c->m != s->m)
		return err_set(e, ERR_PROTO, "the configuration has %u processes, not %u", c->m,
			       s->m);
	c->seed = s->seed;
	c->address = s->address;
	c->is_remote = true;
	c->wants_delays = s->wants_delays;
	return 0;
}

/*
 * Runs the process in the child, with a single stream left of the factory's descriptors. Never
 * returns.
 */
static void live(struct work *w, const struct realwire_start *s, int fd, int parent)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGPIPE, SIGCHLD };
	struct sigaction usual = { .sa_handler = SIG_DFL };
	struct real_conf c;
	struct err e = { 0 };
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		sigaction(signals[i], &usual, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (fd != 3 && dup2(fd, 3) != 3)
		_exit(1);
	close_range(4, ~0u, 0);
	fcntl(3, F_SETFD, FD_CLOEXEC);
	if (build(w, s, &c, &e)) {
		real_refuse(3, &e);
		_exit(1);
	}
	c.master = 3;
	_exit(real_live(&c));
}

static bool is_from_child(uint8_t type)
{
	return type == REALWIRE_READY || type == REALWIRE_FAILED || type == REALWIRE_BLOCK;
}

static bool pass_up(struct work *w, const struct frame *f)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES + FRAME_HEADER_BYTES);
	size_t mark = frame_begin(&b, f->type);

	buf_put(&b, f->p, f->n);
	frame_end(&b, mark);
	return say(w, &b);
}

static void on_readable(void *arg, unsigned what)
{
	struct work *w = arg;
	struct frame f;
	int rc = realwire_recv(w->fd, &w->in, MSG_DONTWAIT);

	if (rc == -ERR_AGAIN)
		return;
	if (rc) {
		send_gone(w);
		return;
	}
	while ((rc = frame_in_next(&w->in, &f, NULL)) == 1) {
		if (!is_from_child(f.type))
			break;
		if (!pass_up(w, &f))
			return;
	}
	if (rc)
		send_gone(w);
	else if (chan_queued(w->chan) > QUEUE_MAX_BYTES)
		loop_fd_set(w->watch, 0);
}

static int start(struct work *w, const struct realwire_start *s, struct err *e)
{
	int pair[2], self = getpid();

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_sys(e, "a stream to process %u", s->id);
	w->pid = fork();
	if (w->pid == 0)
		live(w, s, pair[1], self);
	close(pair[1]);
	w->fd = pair[0];
	if (w->pid < 0) {
		w->pid = 0;
		return err_sys(e, "process %u", s->id);
	}
	w->watch = loop_fd_new(
		w->factory->loop,
		&(struct loop_watch){ .fd = w->fd, .what = LOOP_READ, .fn = on_readable, .arg = w },
		e);
	return w->watch ? 0 : -ERR_SYS;
}

/* Sends a small frame to the process, whose stream has room for it because the process reads. */
static void pass_down(struct work *w, uint8_t type, const uint8_t *p, size_t n)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES + FRAME_HEADER_BYTES);
	size_t mark = frame_begin(&b, type);
	int rc;

	buf_put(&b, p, n);
	rc = frame_end(&b, mark);
	if (!rc && w->fd >= 0)
		rc = realwire_send(w->fd, &b);
	if (rc && w->fd >= 0 &&
	    rc != -ERR_CLOSED) /* frames that an ended process has sent are read first */
		send_gone(w);
	buf_done(&b);
}

/* --- the master */

static void take_start(struct work *w, const uint8_t *p, size_t n)
{
	struct realwire_start s;
	struct err e = { 0 };
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);

	if (w->is_started || realwire_get_start(p, n, &s)) {
		work_end(w, "the first message does not start a process");
		return;
	}
	w->is_started = true;
	w->silence = s.silence;
	log_info("factory", "process %u of %u for %s", s.id, s.m, chan_remote(w->chan));
	if (!start(w, &s, &e)) {
		loop_timer_arm(w->tick, 0);
		return;
	}
	realwire_put_words(&b, REALWIRE_FAILED, e.text);
	say(w, &b);
}

static void take_pong(struct work *w, const uint8_t *p, size_t n)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	nsec_t v[2], now = clock_mono();

	if (realwire_get_times(p, n, v, 2) || v[0] != w->ping_at)
		return;
	w->ping_at = 0;
	if (!timebase_update(&w->clock, &(struct timebase_sample){ v[0], now, v[1], 0 }) &&
	    !realwire_put_times(&b, REALWIRE_SAMPLE, (nsec_t[]){ v[0], now, v[1], 0 }, 4))
		pass_down(w, REALWIRE_SAMPLE, b.p + FRAME_HEADER_BYTES, b.n - FRAME_HEADER_BYTES);
	buf_done(&b);
}

static void on_frame(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t n)
{
	struct work *w = arg;

	w->heard = loop_now(w->factory->loop);
	switch (type) {
	case REALWIRE_START:
		take_start(w, p, n);
		break;
	case REALWIRE_PONG:
		take_pong(w, p, n);
		break;
	case REALWIRE_KILL:
		if (w->pid) {
			kill(w->pid, SIGKILL);
			send_gone(w);
		}
		break;
	case REALWIRE_PEERS:
	case REALWIRE_GO:
	case REALWIRE_STOP:
	case REALWIRE_CRASH:
		pass_down(w, type, p, n);
		break;
	default:
		work_end(w, "no message of a master");
	}
}

static void on_event(void *arg, struct chan *c, enum chan_event ev, const struct err *why)
{
	if (ev == CHAN_CLOSED || ev == CHAN_BROKEN)
		work_end(arg, "the connection to the master is lost");
}

static bool ping(struct work *w)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);

	w->ping_at = clock_mono();
	w->pings++;
	realwire_put_times(&b, REALWIRE_PING, &w->ping_at, 1);
	return say(w, &b);
}

static void on_tick(void *arg)
{
	struct work *w = arg;

	if (loop_now(w->factory->loop) - w->heard > w->silence) {
		work_end(w, "the master is silent");
		return;
	}
	if (w->watch && chan_queued(w->chan) < QUEUE_MAX_BYTES / 2)
		loop_fd_set(w->watch, LOOP_READ);
	if (w->fd >= 0 && !w->ping_at && !ping(w))
		return;
	loop_timer_arm(w->tick, w->pings < QUICK_PINGS ? QUICK_NS : TICK_NS);
}

void work_take(struct factory *f, struct chan *c)
{
	struct chan_handler h = { .on_frame = on_frame, .on_event = on_event };
	struct work *w = calloc(1, sizeof(*w));

	if (w)
		w->tick = loop_timer_new(f->loop, on_tick, w);
	if (!w || !w->tick) {
		free(w);
		chan_close(c, "no memory");
		return;
	}
	w->factory = f;
	w->chan = c;
	w->fd = -1;
	w->silence = SILENCE_NS;
	w->heard = loop_now(f->loop);
	frame_in_init(&w->in, FRAME_MAX_BYTES);
	timebase_init(&w->clock, clock_mono(), 0);
	list_push_back(&f->works, &w->in_works);
	f->nwork++;
	h.arg = w;
	chan_set_handler(c, &h);
	chan_role_known(c);
	loop_timer_arm(w->tick, SILENCE_NS + NSEC_PER_MSEC);
}
