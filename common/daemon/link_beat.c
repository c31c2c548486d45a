/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heartbeats. TCP takes megabytes for a peer that is stopped and says
 * nothing, so life is what the peer itself sends. Who dialled asks every period, and the
 * other answers: that is a sign of life for both, and an sm with thousands of quiet hosts has
 * no more to do than that. Whatever arrives counts; HEARTBEAT_MISSED_MAX periods of nothing end the
 * link. Who accepted asks now and then for the round trip, and when it has said nothing for long:
 * it may be that it does not read.
 *
 * A tool is not asked to be alive: a program with one thread computes between two
 * requests, and must not lose its scope by that. It is probed now and then, so that TCP
 * finds a host that is gone; a full queue ends one that never reads.
 */
#include "common/base/limits.h"
#include "common/daemon/link_internal.h"

#define SILENCE_MAX_NS (HEARTBEAT_MISSED_MAX * HEARTBEAT_PERIOD_NS)
/* without a word of ours: the peer's heartbeat has not come, or we do not read it now */
#define MUTE_MAX_NS (4 * NSEC_PER_SEC)

static bool may_be_silent(const struct link *l)
{
	return l->peer == LINK_PEER_TOOL;
}

static nsec_t min_nsec(nsec_t a, nsec_t b)
{
	return a < b ? a : b;
}

static void send_ping(struct link *l, nsec_t now)
{
	const struct msg m = { .type = MSG_PING,
			       .ping = { .seq = l->ping_seq + 1, .sent_ns = now } };

	l->next_ping = now + (l->dialer.dial ? HEARTBEAT_PERIOD_NS : PROBE_PERIOD_NS);
	/* A full queue needs no further proof that nobody reads: the silence decides. */
	l->last_out = now;
	if (link_send_now(l, &m))
		return;
	l->ping_seq++;
	l->ping_sent = now;
}

/* Also a part of a message: a slow line may take longer for a large one. */
static nsec_t last_sign(const struct link *l)
{
	struct chan_stats s;

	chan_get_stats(l->chan, &s);
	return s.last_in_at > l->last_in ? s.last_in_at : l->last_in;
}

/* When the silence becomes too long; never for some, nor for one that we do not listen to. */
static nsec_t silence_ends(const struct link *l)
{
	return may_be_silent(l) || l->unread_since ? INT64_MAX : last_sign(l) + SILENCE_MAX_NS;
}

/* Who dialled beats; who accepted only when it has had nothing to answer for a while. */
static nsec_t ping_due(const struct link *l)
{
	if (l->dialer.dial || may_be_silent(l))
		return l->next_ping;
	return min_nsec(l->next_ping, l->last_out + MUTE_MAX_NS);
}

static void arm_next(struct link *l, nsec_t now)
{
	nsec_t at = min_nsec(ping_due(l), silence_ends(l));

	link_arm(l, at > now ? at - now : 0);
}

void link_beat_start(struct link *l)
{
	nsec_t now = loop_now(l->conf.loop);

	l->last_in = now;
	if (l->unread_since)
		l->unread_since = now;
	send_ping(l, now);
	arm_next(l, now);
}

void link_beat_unread(struct link *l, bool is_unread)
{
	nsec_t now = loop_now(l->conf.loop);

	if (is_unread == (l->unread_since > 0))
		return;
	if (!is_unread)
		l->last_in = min_nsec(last_sign(l) + now - l->unread_since, now);
	l->unread_since = is_unread ? now : 0;
}

void link_beat(struct link *l)
{
	nsec_t now = loop_now(l->conf.loop);
	struct err e = { 0 };

	/*
	 * We were stopped ourselves: the silence may be ours. One period to hear what has queued
	 * up.
	 */
	if (now - l->due > HEARTBEAT_PERIOD_NS && now - last_sign(l) >= SILENCE_MAX_NS)
		l->last_in = now - SILENCE_MAX_NS + HEARTBEAT_PERIOD_NS;
	if (now >= silence_ends(l)) {
		err_set(&e, ERR_TIMEOUT, "silent for %d s: %d heartbeats missed",
			(int)(SILENCE_MAX_NS / NSEC_PER_SEC), HEARTBEAT_MISSED_MAX);
		link_lose(l, &e);
		return;
	}
	if (now >= ping_due(l))
		send_ping(l, now);
	arm_next(l, now);
}

void link_got_ping(struct link *l, const struct msg_ping *ping)
{
	nsec_t now = loop_now(l->conf.loop);
	struct msg m = { .type = MSG_PONG, .pong = { .seq = ping->seq, .sent_ns = ping->sent_ns } };

	m.pong.error_ns = TIMEBASE_UNKNOWN_NS;
	if (l->conf.timebase) {
		m.pong.system_time_ns = timebase_now(l->conf.timebase, now);
		m.pong.error_ns = timebase_error(l->conf.timebase, now);
	}
	link_send_now(l, &m);
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
