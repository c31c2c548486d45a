/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heartbeats. TCP accepts megabytes for a stopped peer and reports nothing. So only the peer's own
 * messages are a sign of life.
 *
 * Between daemons each side sends a heartbeat every period, which is not answered: a ping without a
 * number, the smallest frame. A heartbeat causes no wake-up (chan_set_rcvlowat): a timer polls the
 * channel when one is due. The timers of an sm's thousands of branches fire together, so that a
 * quiet branch costs no wake-up. Any input counts; HEARTBEAT_MISSED_MAX periods without input end
 * the link. The accepting side pings at long intervals for the round trip and the clock. The pinged
 * side pings too, in the same record.
 *
 * A tool need not send heartbeats: a program with one thread may compute between two requests and
 * keep its connection. A tool may ping, and gets answers. Long intervals between our pings suffice
 * for TCP to detect a lost host. A full queue ends the link of a tool that never reads.
 */
#include "common/base/limits.h"
#include "common/link/link_internal.h"
#include "common/net/chan.h"
#include "proto/frame.h"

/*
 * When a link is up, the clock of the daemon is requested at once. Repeated after this time, twice
 * this time, and so on.
 */
#define FIRST_MEASURE_NS (100 * NSEC_PER_MSEC)
/* A reported bound is improved only if it is above this: the drift over a few levels is smaller. */
#define ROUGH_ERROR_NS (50 * NSEC_PER_MSEC)
#define SILENCE_MAX_NS (HEARTBEAT_MISSED_MAX * HEARTBEAT_PERIOD_NS)

static bool may_be_silent(const struct link *l)
{
	return l->peer == LINK_PEER_TOOL;
}

static nsec_t min_nsec(nsec_t a, nsec_t b)
{
	return a < b ? a : b;
}

/* True if both sides are daemons, which send heartbeats to each other. */
static bool has_heartbeats(const struct link *l)
{
	return l->peer == LINK_PEER_PARENT || l->peer == LINK_PEER_BRANCH;
}

/*
 * Returns the time between pings. A dialling daemon pings only if it is not pinged, because a
 * pinged side pings, too. It also pings at first: its time is then from a single exchange at a busy
 * moment.
 */
static nsec_t ping_period(const struct link *l)
{
	nsec_t up = l->asked_at - l->up_at;

	if (!has_heartbeats(l))
		return l->dialer.dial ? HEARTBEAT_PERIOD_NS : PROBE_PERIOD_NS;
	if (!l->dialer.dial)
		return MEASURE_PERIOD_NS;
	return min_nsec(up > FIRST_MEASURE_NS ? up : FIRST_MEASURE_NS, 2 * MEASURE_PERIOD_NS);
}

static nsec_t ping_due(const struct link *l)
{
	return l->asked_at + ping_period(l);
}

static void send_ping(struct link *l, nsec_t now)
{
	const struct msg m = { .type = MSG_PING,
			       .ping = { .seq = l->ping_seq + 1, .sent_ns = now } };

	l->asked_at = now;
	/* A full queue shows nothing about the peer: the silence decides. */
	l->last_out = now;
	if (link_send_now(l, &m))
		return;
	l->ping_seq++;
	l->ping_sent = now;
}

static void send_heartbeat(struct link *l, nsec_t now)
{
	static const uint8_t heartbeat[FRAME_HEADER_BYTES] = { 0, 0, 0, 1, MSG_PING };

	link_send_frames(l, heartbeat, sizeof(heartbeat));
	l->last_out = now;
}

/*
 * Returns the time of the last sign of life. A part of a message counts, because a large message
 * may take long on a slow link.
 */
nsec_t link_last_sign(const struct link *l)
{
	nsec_t heard = l->chan ? chan_heard_at(l->chan) : 0;

	return heard > l->last_in ? heard : l->last_in;
}

/*
 * Returns the time at which the silence becomes too long; never for some peers, and while we do not
 * read.
 */
static nsec_t silence_ends(const struct link *l)
{
	return may_be_silent(l) || l->unread_since ? INT64_MAX : link_last_sign(l) + SILENCE_MAX_NS;
}

static nsec_t word_due(const struct link *l)
{
	return has_heartbeats(l) ? min_nsec(ping_due(l), l->last_out + HEARTBEAT_PERIOD_NS)
				 : ping_due(l);
}

/*
 * Arms the timer for a rounded time, so that one wake-up serves many of an sm's thousands of
 * branches.
 */
static void arm_next(struct link *l, nsec_t now)
{
	nsec_t at = min_nsec(word_due(l), silence_ends(l));

	if (has_heartbeats(l))
		at = min_nsec(at, now + HEARTBEAT_PERIOD_NS); /* time to poll the channel */

	if (l->peer == LINK_PEER_BRANCH)
		at += HEARTBEAT_SLOT_NS - 1 - (at - 1) % HEARTBEAT_SLOT_NS;
	link_arm(l, at > now ? at - now : 0);
}

void link_heartbeat_start(struct link *l)
{
	nsec_t now = loop_now(l->conf.loop);

	l->last_in = l->up_at = now;
	l->roots = l->conf.timebase ? l->conf.timebase->roots : 0;
	l->stated_error = 0;
	if (l->unread_since)
		l->unread_since = now;
	if (has_heartbeats(l))
		chan_set_rcvlowat(l->chan);
	send_ping(l, now);
	arm_next(l, now);
}

void link_heartbeat_unread(struct link *l, bool is_unread)
{
	nsec_t now = loop_now(l->conf.loop);

	if (is_unread == (l->unread_since > 0))
		return;
	if (!is_unread)
		l->last_in = min_nsec(link_last_sign(l) + now - l->unread_since, now);
	l->unread_since = is_unread ? now : 0;
}

/*
 * True if our clock has another root now, and the peer has our time because it dialled. A ping from
 * us makes it ping, too.
 */
static bool has_other_time(struct link *l)
{
	unsigned roots = l->conf.timebase ? l->conf.timebase->roots : 0;
	bool is_other = roots != l->roots;

	l->roots = roots;
	return is_other && !l->dialer.dial;
}

/*
 * True if a slow link to the parent gave a rough time, and a better one has arrived since.
 * Thousands of branches get a notification, once, and only if the difference is large.
 */
static bool has_better_time(struct link *l, nsec_t now)
{
	if (l->stated_error <= ROUGH_ERROR_NS || !has_heartbeats(l) || l->dialer.dial ||
	    timebase_error(l->conf.timebase, now) > l->stated_error / 2)
		return false;
	l->stated_error = 0;
	return true;
}

static void say_word(struct link *l, nsec_t now)
{
	bool asks = has_other_time(l);

	asks |= has_better_time(l, now);
	if (now < word_due(l) && !asks)
		return;
	if (asks || now >= ping_due(l) || !has_heartbeats(l))
		send_ping(l, now);
	else
		send_heartbeat(l, now);
}

void link_heartbeat(struct link *l)
{
	nsec_t now = loop_now(l->conf.loop);
	struct err e = { 0 };

	if (has_heartbeats(l))
		chan_poll(l->chan);
	if (l->state != LINK_UP)
		return; /* further input has no effect */
	/*
	 * This daemon itself was stopped, and may have missed input: it gets one period to read
	 * queued input.
	 */
	if (now - l->due > HEARTBEAT_PERIOD_NS && now - link_last_sign(l) >= SILENCE_MAX_NS)
		l->last_in = now - SILENCE_MAX_NS + HEARTBEAT_PERIOD_NS;
	if (now >= silence_ends(l)) {
		err_set(&e, ERR_TIMEOUT, "silent for %d s: %d heartbeats missed",
			(int)(SILENCE_MAX_NS / NSEC_PER_SEC), HEARTBEAT_MISSED_MAX);
		link_lose(l, &e);
		return;
	}
	say_word(l, now);
	arm_next(l, now);
}

void link_got_ping(struct link *l, const struct msg_ping *ping)
{
	nsec_t now = loop_now(l->conf.loop);
	struct msg m = { .type = MSG_PONG, .pong = { .seq = ping->seq, .sent_ns = ping->sent_ns } };

	m.pong.error_ns = TIMEBASE_UNKNOWN_NS;
	if (l->conf.timebase) {
		m.pong.system_time_ns = timebase_at(l->conf.timebase, now);
		m.pong.error_ns = timebase_error(l->conf.timebase, now);
		l->stated_error = m.pong.error_ns;
	}
	link_send_now(l, &m);
	/* The parent may have a new time. It does not ping in reply, because it has just pinged. */
	if (has_heartbeats(l) && (l->dialer.dial || now - l->asked_at > MEASURE_PERIOD_NS / 2))
		send_ping(l, now);
}

void link_got_pong(struct link *l, const struct msg_pong *pong)
{
	nsec_t now = loop_now(l->conf.loop);
	struct timebase_sample s = { l->ping_sent, now, pong->system_time_ns, pong->error_ns };
	struct timebase measured;

	/*
	 * Uses our own record of the time, not the echo: a peer cannot make a round trip look
	 * short.
	 */
	if (!l->ping_sent || pong->seq != l->ping_seq)
		return;
	l->ping_sent = 0;
	l->stats.rtt = s.received - s.sent;
	timebase_init(&measured, now, 0);
	if (timebase_update(&measured, &s))
		return;
	l->stats.offset = measured.offset;
	l->stats.offset_error = measured.error;
	if (l->conf.timebase && l->dialer.dial)
		timebase_update(l->conf.timebase, &s);
}
