/* SPDX-License-Identifier: Apache-2.0 */
/* The state machine of a link: a table of steps, executed by take_step(). */
#include "common/link/link.h"

#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/link/link_internal.h"
#include "common/link/meter_internal.h"
#include "common/net/net.h"
#include "proto/frame.h"

#include <stdlib.h>
#include <string.h>

/* HELLO_ACK may wait for a directory of this daemon; HELLO may not. */
#define HELLO_ACK_MAX_NS HANDSHAKE_MAX_NS
/* buffer of an idle link: an sm has thousands, and each has sent a large frame at some time */
#define OUT_KEEP_BYTES 4096

static void on_event(void *arg, struct chan *c, enum chan_event ev, const struct err *why);

/* --- actions: they may post events, but never take a step themselves */

static void post(struct link *l, enum link_event ev)
{
	if (l->nevent < LINK_EVENTS_MAX)
		l->event[l->nevent++] = ev;
	else
		l->stats.invalid++;
}

static void start_dial(struct link *l)
{
	const struct chan_handler h = { link_on_frame, on_event, l };
	struct err e = { 0 };

	l->is_failing = false;
	l->is_slow = false;
	if (!l->dialer.dial(l->dialer.arg, l->attempt, &h, &l->chan, &e))
		return;
	l->chan = NULL;
	l->why = e;
	post(l, LINK_EV_LOST);
}

static void name_peer(struct link *l)
{
	const struct identity *id = chan_peer(l->chan);
	const char *remote = chan_remote(l->chan);
	char who[96];

	if (id)
		identity_describe(who, sizeof(who), id);
	snprintf(l->stats.peer, sizeof(l->stats.peer), "%s%s%s", id ? who : "", id ? " at " : "",
		 remote ? remote : "?");
}

static size_t queue_cap(const struct link *l)
{
	if (l->peer == LINK_PEER_TOOL)
		return l->conf.tool_queue_cap ? l->conf.tool_queue_cap : TOOL_QUEUE_MAX_BYTES;
	return l->conf.queue_cap ? l->conf.queue_cap : PEER_QUEUE_MAX_BYTES;
}

static void send_hello(struct link *l)
{
	name_peer(l);
	chan_set_cap(l->chan, queue_cap(l));
	link_arm(l, HELLO_ACK_MAX_NS);
	l->last_in = loop_now(l->conf.loop);
	if (!chan_send(l->chan, l->hello.p, l->hello.n))
		return;
	err_set(&l->why, ERR_CLOSED, "HELLO could not be sent");
	post(l, LINK_EV_LOST);
}

static void go_up(struct link *l)
{
	l->stats.connects++;
	chan_role_known(l->chan);
	if (l->conf.meter)
		meter_join(l->conf.meter, &l->in_meter);
	if (l->peer == LINK_PEER_TOOL)
		chan_set_stall_max(l->chan, TOOL_STALL_MAX_NS);
	if (!l->dialer.dial)
		chan_set_cap(l->chan, queue_cap(l));
	link_heartbeat_start(l);
	if (!l->is_closed && l->conf.handler.on_up)
		l->conf.handler.on_up(l->conf.handler.arg, l, l->ack);
}

static void drop_chan(struct link *l)
{
	list_del(&l->in_meter);
	loop_job_cancel(&l->job); /* link_fail() may have posted a LOST, which is handled now */
	chan_close(l->chan, l->why.text);
	l->chan = NULL;
	l->unread_since = 0;
	l->stats.queued = 0;
}

/*
 * Full jitter: returns a time, uniformly between the least delay and a bound that doubles with each
 * attempt.
 */
static nsec_t retry_delay(struct link *l)
{
	unsigned shift = l->attempt < 16 ? l->attempt : 16;
	nsec_t bound = RECONNECT_MIN_NS << (shift + 1);

	if (bound > RECONNECT_MAX_NS || l->is_slow)
		bound = RECONNECT_MAX_NS;
	return RECONNECT_MIN_NS +
	       (nsec_t)rng_below(l->conf.rng, (uint64_t)(bound - RECONNECT_MIN_NS + 1));
}

static void arm_retry(struct link *l)
{
	nsec_t delay = retry_delay(l);

	l->attempt++;
	link_arm(l, delay);
	if (!l->is_closed && l->conf.handler.on_retry)
		l->conf.handler.on_retry(l->conf.handler.arg, l, &l->why, delay);
}

/* Gives up a channel that was never up. */
static void give_up(struct link *l)
{
	drop_chan(l);
	if (l->dialer.dial) {
		arm_retry(l);
		return;
	}
	post(l, LINK_EV_CLOSE);
	if (!l->is_closed && l->conf.handler.on_gone)
		l->conf.handler.on_gone(l->conf.handler.arg, l);
}

/*
 * Handles the loss of a channel that was up. Only a link that was up for some time resets its
 * back-off.
 */
static void go_down(struct link *l)
{
	nsec_t now = loop_now(l->conf.loop);

	drop_chan(l);
	if (now - l->stats.since >= RECONNECT_MAX_NS)
		l->attempt = 0;
	if (l->dialer.dial) {
		nsec_t delay = retry_delay(l);

		l->attempt++;
		link_arm(l, delay);
	} else {
		post(l, LINK_EV_CLOSE);
	}
	if (!l->is_closed && l->conf.handler.on_down)
		l->conf.handler.on_down(l->conf.handler.arg, l, &l->why);
}

static void link_free(void *arg)
{
	struct link *l = arg;

	buf_done(&l->hello);
	buf_done(&l->out);
	free(l);
}

static void bury(struct link *l)
{
	l->is_closed = true;
	drop_chan(l);
	loop_timer_free(l->timer);
	l->timer = NULL;
	loop_reap(l->conf.loop, &l->reap, link_free, l);
}

static void say_bye(struct link *l)
{
	const struct msg bye = { .type = MSG_BYE, .bye = { .reason = l->why.text } };

	if (!l->is_failing)
		link_send_now(l, &bye);
	bury(l);
}

/* --- the table */

struct step {
	enum link_state next;
	void (*enter)(struct link *);
	const char *action;
	bool is_valid;
};

#define ON(state, event, to, act) [LINK_##state][LINK_EV_##event] = { LINK_##to, act, #act, true }
static const struct step steps[LINK_NSTATES][LINK_NEVENTS] = {
	ON(DOWN, DIAL, DIALING, start_dial),
	ON(DOWN, CLOSE, GONE, bury),
	ON(DIALING, OPEN, GREETING, send_hello),
	ON(DIALING, LOST, DOWN, give_up),
	ON(DIALING, CLOSE, GONE, bury),
	ON(GREETING, WELCOME, UP, go_up),
	ON(GREETING, LOST, DOWN, give_up),
	ON(GREETING, CLOSE, GONE, say_bye),
	ON(UP, LOST, DOWN, go_down),
	ON(UP, CLOSE, GONE, say_bye),
};
#undef ON

static const char *const event_names[LINK_NEVENTS] = { "DIAL", "OPEN", "WELCOME", "LOST", "CLOSE" };

const char *link_state_name(enum link_state s)
{
	static const char *const names[LINK_NSTATES] = { "down", "dialing", "greeting", "up",
							 "gone" };

	return s < LINK_NSTATES ? names[s] : "?";
}

/* Stores the time after the action, because go_down() needs the start of the previous state. */
static void take_step(struct link *l, enum link_event ev)
{
	const struct step *s = &steps[l->state][ev];
	nsec_t now = loop_now(l->conf.loop);

	if (!s->is_valid) {
		l->stats.invalid++;
		log_debug("link", "no step state=%s event=%s", link_state_name(l->state),
			  event_names[ev]);
		return;
	}
	log_debug("link", "%s -> %s event=%s after_ms=%lld peer=%s", link_state_name(l->state),
		  link_state_name(s->next), event_names[ev],
		  (long long)((now - l->stats.since) / NSEC_PER_MSEC), l->stats.peer);
	if (ev == LINK_EV_LOST)
		str_copy(l->stats.last_error, sizeof(l->stats.last_error), l->why.text);
	loop_timer_cancel(l->timer);
	l->state = s->next;
	s->enter(l);
	l->stats.since = now;
}

static void drain(struct link *l)
{
	/*
	 * Events that an action posts are appended. A closed link, which is freed after the turn,
	 * handles no further event.
	 */
	for (unsigned i = 0; i < l->nevent && l->state != LINK_GONE; i++)
		take_step(l, l->event[i]);
	l->nevent = 0;
}

void link_apply(struct link *l, enum link_event ev)
{
	bool is_nested = l->nevent > 0;

	post(l, ev);
	if (!is_nested)
		drain(l);
}

void link_lose(struct link *l, const struct err *why)
{
	if (!l->is_failing)
		l->why = *why;
	l->is_failing = true;
	link_apply(l, LINK_EV_LOST);
}

void link_refuse(struct link *l, enum msg_error_code code, const struct err *why)
{
	const struct msg m = { .type = MSG_ERROR, .error = { .code = code, .text = why->text } };

	if (!l->is_failing)
		link_send_now(l, &m);
	link_lose(l, why);
}

void link_arm(struct link *l, nsec_t after)
{
	l->due = loop_now(l->conf.loop) + after;
	loop_timer_arm(l->timer, after);
}

/* --- callbacks of the loop */

static void on_event(void *arg, struct chan *c, enum chan_event ev, const struct err *why)
{
	struct link *l = arg;

	switch (ev) {
	case CHAN_OPEN:
		link_apply(l, LINK_EV_OPEN);
		break;
	case CHAN_CLOSED:
		link_lose(l, why ? why
				 : &(struct err){ .code = ERR_CLOSED, .text = "connection lost" });
		break;
	case CHAN_BROKEN:
		link_violated(l, MSG_ERR_PROTOCOL, why);
		break;
	case CHAN_WRITABLE:
		if (l->state == LINK_UP && !l->is_closed && l->conf.handler.on_writable)
			l->conf.handler.on_writable(l->conf.handler.arg, l);
		break;
	}
}

static void on_timer(void *arg)
{
	struct link *l = arg;
	struct err e = { 0 };

	switch (l->state) {
	case LINK_DOWN:
		link_apply(l, LINK_EV_DIAL);
		break;
	case LINK_GREETING:
		err_set(&e, ERR_TIMEOUT,
			l->dialer.dial ? "no HELLO_ACK in time" : "no HELLO in time");
		link_lose(l, &e);
		break;
	case LINK_UP:
		link_heartbeat(l);
		break;
	default:
		break;
	}
}

static void on_failed(void *arg)
{
	link_apply(arg, LINK_EV_LOST);
}

/* --- begin and end of links */

static struct link *link_new(const struct link_conf *conf)
{
	struct link *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->conf = *conf;
	list_init(&l->in_meter);
	if (!l->conf.version_min)
		l->conf.version_min = MSG_VERSION_MIN;
	if (!l->conf.version_max)
		l->conf.version_max = MSG_VERSION_MAX;
	buf_init(&l->hello, FRAME_PREAUTH_MAX_BYTES);
	buf_init(&l->out, FRAME_MAX_BYTES + FRAME_HEADER_BYTES);
	l->stats.rtt = -1;
	l->stats.since = loop_now(conf->loop);
	l->timer = loop_timer_new(conf->loop, on_timer, l);
	if (!l->timer) {
		free(l);
		return NULL;
	}
	return l;
}

int link_set_hello(struct link *l, const struct msg_hello *hello)
{
	struct buf b = BUF_INIT(FRAME_PREAUTH_MAX_BYTES);
	struct msg_hello h = *hello;
	int rc;

	h.version_min = l->conf.version_min;
	h.version_max = l->conf.version_max;
	rc = msg_hello_put(&b, &h);
	if (rc) {
		buf_done(&b);
		return rc;
	}
	buf_done(&l->hello);
	l->hello = b;
	l->peer = str_eq(hello->role, "tool") ? LINK_PEER_SERVER : LINK_PEER_PARENT;
	return 0;
}

struct link *link_dial(const struct link_conf *conf, const struct link_dialer *dialer,
		       const struct msg_hello *hello)
{
	struct link *l = link_new(conf);

	if (!l)
		return NULL;
	l->dialer = *dialer;
	if (link_set_hello(l, hello)) {
		loop_timer_free(l->timer);
		link_free(l);
		return NULL;
	}
	link_arm(l, 0);
	return l;
}

struct link *link_accept(const struct link_conf *conf, struct chan **take)
{
	struct link *l = link_new(conf);

	if (!l)
		return NULL;
	l->state = LINK_GREETING;
	l->chan = *take;
	*take = NULL;
	name_peer(l);
	chan_set_handler(l->chan, &(struct chan_handler){ link_on_frame, on_event, l });
	l->last_in = loop_now(conf->loop);
	link_arm(l, HELLO_MAX_NS);
	return l;
}

void link_close(struct link *l, const char *reason)
{
	if (!l || l->is_closed)
		return;
	l->is_closed = true;
	err_set(&l->why, ERR_CLOSED, "%s", reason ? reason : "closed");
	if (!l->nevent) {
		link_apply(l, LINK_EV_CLOSE);
		return;
	}
	/* within a callback: later steps are dropped */
	l->nevent = 0;
	take_step(l, LINK_EV_CLOSE);
}

void link_fail(struct link *l, enum msg_error_code code, const char *text)
{
	const struct msg m = { .type = MSG_ERROR, .error = { .code = code, .text = text } };

	if (l->is_closed || l->is_failing || l->state != LINK_UP)
		return;
	link_send_now(l, &m);
	err_set(&l->why, ERR_CLOSED, "%s", text);
	l->is_failing = true;
	loop_job_post(l->conf.loop, &l->job, on_failed, l);
}

/* --- sending */

static int count_sent(struct link *l, size_t n, int rc)
{
	if (rc == -ERR_LIMIT) {
		l->stats.dropped++;
		return -ERR_AGAIN;
	}
	if (!rc) {
		l->stats.frames_out++;
		l->last_out = loop_now(l->conf.loop);
		l->stats.bytes_out += n;
	}
	return rc;
}

int link_send_now(struct link *l, const struct msg *m)
{
	int rc;

	if (!l->chan)
		return -ERR_CLOSED;
	buf_clear(&l->out);
	rc = msg_put(&l->out, m);
	if (!rc)
		rc = count_sent(l, l->out.n, chan_send(l->chan, l->out.p, l->out.n));
	if (l->out.cap > OUT_KEEP_BYTES)
		buf_done(&l->out);
	return rc;
}

static bool can_send(const struct link *l)
{
	return l->state == LINK_UP && !l->is_failing && !l->is_closed;
}

int link_send(struct link *l, const struct msg *m)
{
	return can_send(l) ? link_send_now(l, m) : -ERR_CLOSED;
}

int link_send_frames(struct link *l, const uint8_t *p, size_t n)
{
	size_t bytes;
	int rc = 0;

	while (n && !rc) {
		bytes = frame_bytes(p, n);
		if (!bytes)
			return -ERR_INVALID;
		if (!can_send(l))
			return -ERR_CLOSED;
		rc = count_sent(l, bytes, chan_send(l->chan, p, bytes));
		p += bytes;
		n -= bytes;
	}
	return rc;
}

bool link_is_congested(const struct link *l, size_t reserve)
{
	return l->chan && chan_queued(l->chan) + reserve > queue_cap(l);
}

void link_pause_reading(struct link *l, bool pause)
{
	if (!l->chan)
		return;
	chan_pause_reading(l->chan, pause);
	link_heartbeat_unread(l, pause);
}

/* --- queries */

enum link_state link_state(const struct link *l)
{
	return l->state;
}

enum link_peer link_peer(const struct link *l)
{
	return l->peer;
}

const struct identity *link_identity(const struct link *l)
{
	return l->chan ? chan_peer(l->chan) : NULL;
}

const char *link_fault(const struct link *l)
{
	switch (l->why.code) {
	case ERR_PROTO:
	case ERR_LIMIT:
	case ERR_DENIED:
	case ERR_UNSUPPORTED:
		return l->why.text;
	case ERR_TIMEOUT:
		return l->stats.connects ? NULL : l->why.text;
	default:
		return NULL;
	}
}

void link_log_fault(const struct link *l)
{
	if (link_fault(l))
		log_warn("net", "cut %s: %s", l->stats.peer, link_fault(l));
}

void link_set_user(struct link *l, void *user)
{
	l->user = user;
}

void *link_user(const struct link *l)
{
	return l->user;
}

void link_stats(const struct link *l, struct link_stats *out)
{
	*out = l->stats;
	out->queued = link_queued(l);
	out->silence = l->state == LINK_UP ? loop_now(l->conf.loop) - link_last_sign(l) : 0;
}

nsec_t link_rtt(const struct link *l)
{
	return l->stats.rtt;
}

size_t link_queued(const struct link *l)
{
	return l->chan ? chan_queued(l->chan) : 0;
}

uint64_t link_dropped(const struct link *l)
{
	return l->stats.dropped;
}

void link_print_dot(struct buf *b)
{
	buf_puts(b, "digraph link {\n");
	for (int s = 0; s < LINK_NSTATES; s++)
		for (int ev = 0; ev < LINK_NEVENTS; ev++)
			if (steps[s][ev].is_valid)
				buf_printf(b, "\t%s -> %s [label=\"%s / %s\"];\n",
					   link_state_name(s), link_state_name(steps[s][ev].next),
					   event_names[ev], steps[s][ev].action);
	buf_puts(b, "}\n");
}
