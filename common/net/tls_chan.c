/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A channel over TLS. OpenSSL uses our own descriptor, not a bufferevent. So all input is read
 * before an end is reported, and no callback is late. A flood after the handshake is detected
 * record by record. Frames of one turn share one record.
 */
#include "common/net/internal.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_STEP 4096 /* a buffer on the stack: most records are far smaller than their limit */
#define READ_TURN_MAX (256 * 1024) /* bytes after which other channels have their turn */
#define FLUSH_TURN_MAX (1024 * 1024)
#define RECORD_MAX 16384
/*
 * a record with a frame without payload: its header, the type of its content, and the tag of any of
 * our ciphers
 */
#define HEARTBEAT_RECORD_BYTES (5 + FRAME_HEADER_BYTES + 1 + 16)

static struct tls_chan *of(const struct chan *c)
{
	return (struct tls_chan *)(uintptr_t)c;
}

static bool is_open(const struct tls_chan *t)
{
	return t->c.state == CHAN_UP;
}

/* --- deadlines */

static nsec_t earlier(nsec_t a, nsec_t b)
{
	return !a ? b : !b ? a : a < b ? a : b;
}

static nsec_t frame_due(const struct tls_chan *t)
{
	return t->c.frame_since ? t->c.frame_since + FRAME_COMPLETE_MAX_NS : 0;
}

static nsec_t stall_due(const struct tls_chan *t)
{
	return t->stalled_since && t->c.stall_max ? t->stalled_since + t->c.stall_max : 0;
}

void tls_deadline(struct tls_chan *t)
{
	nsec_t at = earlier(earlier(t->give_up_at, frame_due(t)), stall_due(t));

	/* a timer that fires early is checked again: moving it for each frame would cost more */
	if (!at || (t->timer_at && t->timer_at <= at))
		return;
	t->timer_at = at;
	loop_timer_arm_at(t->timer, at);
}

static const char *missed(const struct tls_chan *t, nsec_t now)
{
	if (t->give_up_at && now >= t->give_up_at)
		return t->c.state == CHAN_UP ? "enrolling took too long"
		       : t->ssl ? "the peer did not finish the TLS handshake in time: it is "
				  "stopped or overloaded"
				: "no answer from there: the host is down, or a firewall drops "
				  "what we send";
	if (frame_due(t) && now >= frame_due(t))
		return "a message of the peer did not get complete in time";
	if (stall_due(t) && now >= stall_due(t))
		return "the peer does not read what it is sent";
	return NULL;
}

void tls_fail(struct tls_chan *t, const struct err *why)
{
	if (t->listener && t->hs) {
		tls_listener_refused(t, why);
		return;
	}
	chan_fail(&t->c, why);
}

/* True if another address can be tried: each address gets a share of the time. */
static bool may_try_another(const struct tls_chan *t)
{
	return t->hs && !t->server && !t->ssl && t->sock.fd >= 0 &&
	       t->hs->addrs.next < t->hs->addrs.count;
}

static void on_timer(void *arg)
{
	struct tls_chan *t = arg;
	struct err why = { 0 };
	const char *what;

	t->timer_at = 0;
	if (may_try_another(t)) {
		tls_dial_ready(t);
		return;
	}
	what = missed(t, loop_now(t->c.loop));
	if (!what) {
		tls_deadline(t);
		return;
	}
	err_set(&why, t->stalled_since ? ERR_LIMIT : ERR_TIMEOUT, "%s", what);
	tls_fail(t, &why);
}

/* --- input */

void tls_watch(struct tls_chan *t)
{
	unsigned what = t->c.paused ? 0 : LOOP_READ;
	struct err why = { 0 };

	if (t->write_blocked || t->read_wants_write)
		what |= LOOP_WRITE;
	if (!loop_fd_set(t->watch, what))
		return;
	err_sys(&why, "cannot watch a connection");
	chan_fail_later(&t->c, &why);
}

static int post_handshake_budget(const struct tls_chan *t, struct err *e)
{
	if (t->post_count <= KEY_UPDATES_PER_MIN_MAX)
		return 0;
	return err_set(e, ERR_LIMIT, "the peer renews its keys more than %d times a minute",
		       KEY_UPDATES_PER_MIN_MAX);
}

/* Returns 1 if there is no further input now, 0 if there may be more, < 0 at the end. */
static int read_step(struct tls_chan *t, size_t *got, struct err *e)
{
	uint8_t step[READ_STEP];
	int n, kind, rc;

	t->sock.blocked = false;
	t->read_wants_write = false;
	tls_forget_errors();
	n = SSL_read(t->ssl, step, sizeof(step));
	rc = post_handshake_budget(t, e);
	if (rc)
		return rc;
	if (n > 0) {
		*got += (size_t)n;
		rc = chan_feed(&t->c, step, (size_t)n, e);
		return rc ? rc : t->sock.drained && is_open(t) && !SSL_has_pending(t->ssl);
	}
	kind = SSL_get_error(t->ssl, n);
	/* a handshake message was processed, or the kernel has no more input */
	if (kind == SSL_ERROR_WANT_READ)
		return t->sock.blocked;
	if (kind == SSL_ERROR_WANT_WRITE) {
		t->read_wants_write = true;
		return 1;
	}
	return tls_end(t, n, "the connection broke", e);
}

static int read_turn(struct tls_chan *t, struct err *e)
{
	size_t got = 0;
	int result = 0;

	t->more_to_read = false;
	while (is_open(t) && !t->c.paused && !result) {
		if (got >= READ_TURN_MAX) {
			t->more_to_read = true;
			tls_resume(t);
			break;
		}
		result = read_step(t, &got, e);
	}
	return result < 0 ? result : 0;
}

/*
 * Sets whether the next bytes may wait: only at the start of a record, and outside of frames. The
 * end of a large message can be smaller than a heartbeat.
 */
static void update_rcvlowat(struct tls_chan *t)
{
	bool yes = t->has_rcvlowat && !t->more_to_read && sock_bio_is_between(&t->sock) &&
		   !frame_in_pending(&t->c.in);

	if (yes == t->is_rcvlowat_raised)
		return;
	t->is_rcvlowat_raised = yes;
	sock_wake_at(t->sock.fd, yes ? HEARTBEAT_RECORD_BYTES + 1 : 1);
}

static void read_and_report(struct tls_chan *t)
{
	struct err why = { 0 };
	int rc = read_turn(t, &why);

	if (!is_open(t))
		return;
	if (rc) {
		chan_fail(&t->c, &why);
		return;
	}
	if (!t->more_to_read)
		chan_give_back_input(&t->c);
	update_rcvlowat(t);
	tls_watch(t);
	tls_deadline(t);
}

/* --- output */

static void give_back_output(struct tls_chan *t)
{
	if (t->out_at == t->out.n) {
		t->out_at = 0;
		if (t->out.cap > IDLE_KEEP_BYTES)
			buf_done(&t->out);
		else
			buf_clear(&t->out);
	} else if (t->out_at > t->out.n / 2) {
		buf_drop_front(&t->out, t->out_at);
		t->out_at = 0;
	}
}

/* Returns 0 if everything was written, 1 if the socket is full, < 0 if it is broken. */
static int write_out(struct tls_chan *t, struct err *e)
{
	size_t done = 0;

	while (t->out_at < t->out.n) {
		size_t left = t->out.n - t->out_at;
		int n, kind;

		if (done >= FLUSH_TURN_MAX)
			return 1;
		tls_forget_errors();
		n = SSL_write(t->ssl, t->out.p + t->out_at,
			      (int)(left < RECORD_MAX ? left : RECORD_MAX));
		if (n <= 0) {
			kind = SSL_get_error(t->ssl, n);
			if (kind == SSL_ERROR_WANT_WRITE || kind == SSL_ERROR_WANT_READ)
				return 1;
			return tls_end(t, n, "the connection broke", e);
		}
		t->c.stats.writes++;
		t->out_at += (size_t)n;
		done += (size_t)n;
		t->stalled_since = 0;
	}
	return 0;
}

/* Delivers the input that the peer has sent before its end, then reports the end. */
static void write_failed(struct tls_chan *t, const struct err *why)
{
	struct err unused = { 0 };

	do
		t->more_to_read = false;
	while (!read_turn(t, &unused) && t->more_to_read && is_open(t));
	chan_fail(&t->c, why);
}

static void flush(struct tls_chan *t)
{
	struct err why = { 0 };
	int got = write_out(t, &why);

	if (got < 0) {
		write_failed(t, &why);
		return;
	}
	t->write_blocked = got;
	if (!got)
		t->stalled_since = 0;
	else if (!t->stalled_since)
		t->stalled_since = loop_now(t->c.loop);
	give_back_output(t);
	tls_watch(t);
	tls_deadline(t);
	chan_drained(&t->c);
}

static void on_pump(void *arg)
{
	struct tls_chan *t = arg;
	struct err why = { 0 };

	if (is_open(t) && chan_deliver(&t->c, &why)) {
		chan_fail(&t->c, &why);
		return;
	}
	if (is_open(t) && t->more_to_read)
		read_and_report(t);
	if (is_open(t) && !t->write_blocked)
		flush(t);
}

void tls_resume(struct tls_chan *t)
{
	loop_job_post(t->c.loop, &t->pump, on_pump, t);
}

void tls_on_ready(void *arg, unsigned what)
{
	struct tls_chan *t = arg;

	if (t->c.state == CHAN_MAKING) {
		if (t->ssl)
			tls_shake(t);
		else
			tls_dial_ready(t);
		return;
	}
	if ((what & LOOP_WRITE) && t->write_blocked)
		flush(t);
	if (is_open(t) && ((what & LOOP_READ) || t->read_wants_write))
		read_and_report(t);
}

/* --- the operations of a channel */

static int op_send(struct chan *c, const uint8_t *frame, size_t n)
{
	struct tls_chan *t = of(c);

	if (buf_put(&t->out, frame, n)) {
		t->out.failed = false;
		return -ERR_NOMEM;
	}
	if (!t->write_blocked)
		tls_resume(t);
	return 0;
}

static size_t op_queued(const struct chan *c)
{
	const struct tls_chan *t = of(c);

	return t->out.n - t->out_at;
}

static void op_pause(struct chan *c)
{
	struct tls_chan *t = of(c);

	/*
	 * Frames, and records inside of TLS, may have been read already: no descriptor reports
	 * them.
	 */
	t->more_to_read = !c->paused;
	if (!c->paused)
		tls_resume(t);
	tls_watch(t);
}

static void op_role_known(struct chan *c)
{
	tls_listener_release(of(c));
}

static void op_set_rcvlowat(struct chan *c)
{
	struct tls_chan *t = of(c);

	t->has_rcvlowat = true;
	update_rcvlowat(t);
}

/* Input between two polls is older than the poll that finds it: the kernel reports its age. */
static void op_poll(struct chan *c)
{
	struct tls_chan *t = of(c);
	uint64_t before = c->stats.bytes_in;
	nsec_t age, at;

	read_and_report(t);
	if (!is_open(t) || c->stats.bytes_in != before)
		return;
	age = sock_data_age(t->sock.fd);
	at = loop_now(c->loop) - age;
	if (age >= 0 && at < c->stats.last_in_at)
		c->stats.last_in_at = at;
}

static void say_goodbye(struct tls_chan *t)
{
	struct err unused = { 0 };

	if (t->broken || t->sock.fd < 0 || !t->ssl || !SSL_is_init_finished(t->ssl))
		return;
	if (write_out(t, &unused) >= 0 && !t->broken)
		SSL_shutdown(t->ssl);
	ERR_clear_error();
}

static void handshake_free(struct handshake *hs)
{
	if (!hs)
		return;
	resolve_cancel(hs->resolve);
	admit_done(&hs->admit);
	free(hs);
}

void tls_handshake_done(struct tls_chan *t)
{
	handshake_free(t->hs);
	t->hs = NULL;
}

static void op_stop(struct chan *c)
{
	struct tls_chan *t = of(c);

	say_goodbye(t);
	tls_listener_release(t);
	tls_handshake_done(t);
	loop_job_cancel(&t->pump);
	loop_timer_cancel(t->timer);
	loop_fd_free(t->watch);
	t->watch = NULL;
	if (t->sock.fd >= 0)
		close(t->sock.fd);
	t->sock.fd = -1;
}

static void op_free(struct chan *c)
{
	struct tls_chan *t = of(c);

	SSL_free(t->ssl);
	loop_timer_free(t->timer);
	buf_done(&t->out);
}

static const struct chan_ops tls_chan_ops = {
	.send = op_send,
	.queued = op_queued,
	.pause = op_pause,
	.stop = op_stop,
	.role_known = op_role_known,
	.set_rcvlowat = op_set_rcvlowat,
	.poll = op_poll,
	.free = op_free,
};

struct tls_chan *tls_chan_new(struct net_ctx *ctx, bool server, struct err *e)
{
	struct tls_chan *t = calloc(1, sizeof(*t));

	if (t) {
		t->hs = calloc(1, sizeof(*t->hs));
		t->timer = loop_timer_new(ctx->loop, on_timer, t);
	}
	if (!t || !t->hs || !t->timer) {
		if (t) {
			loop_timer_free(t->timer);
			free(t->hs);
		}
		free(t);
		err_nomem(e);
		return NULL;
	}
	chan_init(&t->c, &tls_chan_ops, ctx->loop, ctx);
	t->server = server;
	t->sock.fd = -1;
	list_init(&t->half_open);
	buf_init(&t->out, SIZE_MAX / 2);
	t->give_up_at = loop_now(ctx->loop) + HANDSHAKE_MAX_NS;
	return t;
}
