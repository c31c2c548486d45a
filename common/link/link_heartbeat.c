/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heartbeats. TCP accepts megabytes for a stopped peer and reports nothing. So only the peer's own
 * messages are a sign of life.
 *
 * Between daemons each side sends a heartbeat every period, which is not answered: a ping without a
 * number, the smallest frame. It causes no wake-up (chan_set_rcvlowat): a timer polls for it when
 * one is due. The timers of an sm's thousands of branches fire together, so that a quiet branch
 * costs no wake-up. Any input counts; HEARTBEAT_MISSED_MAX periods without input end the link. The
 * accepting side pings at long intervals for the round trip and the clock. The pinged side pings
 * too, in the same record.
 *
 * A tool need not send heartbeats: a program with one thread computes between two requests, and
 * must not lose its scope by that. It pings while it runs, and is answered. It is probed at long
 * intervals, so that TCP detects a lost host; a full queue ends one that never reads.
 */
#include "common/base/limits.h"
#include "common/link/link_internal.h"
#include "common/net/chan.h"
#include "proto/frame.h"

/* After it is up a daemon's clock is requested at once, after this, twice this and so on. */
#define FIRST_MEASURE_NS (100 * NSEC_PER_MSEC)
/* A bound that was stated is made better only above this: the drift of a few levels is below. */
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

/* True if both are daemons, which send heartbeats to each other. */
static bool has_heartbeats(const struct link *l)
{
	return l->peer == LINK_PEER_PARENT || l->peer == LINK_PEER_BRANCH;
}

/*
 * The pinged side pings too. So a dialling daemon pings only if it is not pinged. It also pings at
 * first: then its time is from a single exchange at a busy moment.
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
	/* A full queue needs no further proof that the peer does not read: the silence decides. */
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

/* Part of a message counts, too: a slow line may take longer for a large message. */
nsec_t link_last_sign(const struct link *l)
{
	nsec_t heard = l->chan ? chan_heard_at(l->chan) : 0;

	return heard > l->last_in ? heard : l->last_in;
}

/*
 * Returns the time at which the silence becomes too long; never for some peers, nor while we do not
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

/* Times are rounded up, so that one wake-up serves many of an sm's thousands of branches. */
static void arm_next(struct link *l, nsec_t now)
{
	nsec_t at = min_nsec(word_due(l), silence_ends(l));

	if (has_heartbeats(l))
		at = min_nsec(at, now + HEARTBEAT_PERIOD_NS); /* to poll the channel */

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

/* True if our clock has another root now, and the peer takes its time from us, since it dialled. A
 * ping from us makes it ping, too. */
static bool has_other_time(struct link *l)
{
	unsigned roots = l->conf.timebase ? l->conf.timebase->roots : 0;
	bool is_other = roots != l->roots;

	l->roots = roots;
	return is_other && !l->dialer.dial;
}

/*
 * A slow link to the parent gave a rough time, and a better one has arrived since. Thousands of
 * branches are notified once, and only if it matters.
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
		return; /* further input does not count */
	/*
	 * This daemon itself was stopped, and so may have missed input. It gets one period to read
	 * the queued input.
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
	/* The parent may have a new time. It does not ping back: it has just pinged. */
	if (has_heartbeats(l) && (l->dialer.dial || now - l->asked_at > MEASURE_PERIOD_NS / 2))
		send_ping(l, now);
}

void link_got_pong(struct link *l, const struct msg_pong *pong)
{
	nsec_t now = loop_now(l->conf.loop);
	struct timebase_sample s = { l->ping_sent, now, pong->system_time_ns, pong->error_ns };
	struct timebase measured;

	/*
	 * Our own note of the time counts, not the echo: a peer cannot make a round trip look
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
