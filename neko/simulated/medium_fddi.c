/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timed token protocol. A station's rotation timer expires `ttrt` after it was set. If the
 * token arrives before that, the timer is set again. The station may begin frames for the remaining
 * time. If the token arrives later, the timer was set at its expiry. The station may send
 * synchronous frames only. So no rotation takes longer than 2 ttrt, and the mean is at most ttrt
 * (Johnson 1987; Sevcik and Johnson 1987).
 */
#include "neko/simulated/medium_internal.h"

void fddi_start(struct medium *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		m->station[i].expiry = m->conf.ttrt;
	m->is_parked = true;
}

static void note_rotation(struct medium *m, nsec_t now)
{
	nsec_t took = now - m->seen_at;

	if (m->holder)
		return;
	m->seen_at = now;
	m->counts.rotations++;
	m->counts.rotation_sum += took;
	if (took > m->counts.rotation_most)
		m->counts.rotation_most = took;
}

/* Returns the time for which the station may begin asynchronous frames. */
static nsec_t take_token(struct medium *m, nsec_t now)
{
	struct station *s = &m->station[m->holder];
	nsec_t early = s->expiry - now;

	note_rotation(m, now);
	if (early > 0) {
		s->expiry = now + m->conf.ttrt;
		return early;
	}
	s->expiry += m->conf.ttrt;
	return 0;
}

static void pass_token(struct medium *m, nsec_t now)
{
	m->is_holding = false;
	m->holder = (m->holder + 1) % m->n;
	m->token_at = m->next = now + m->conf.hop;
}

/* Sends the next frame of the token's holder, if there is time left to begin one. */
static void go_on(struct medium *m, nsec_t now)
{
	const struct frame *f = medium_first(&m->station[m->holder]);

	if (f && f->took <= m->sync_left) {
		m->sync_left -= f->took;
		m->hold_until += f->took; /* synchronous frames take no time from the others */
		m->next = now + f->took;
	} else if (f && now < m->hold_until) {
		m->next = now + f->took;
	} else {
		pass_token(m, now);
	}
}

/*
 * Computes the token's place when a station gets a frame. Before that no station had a frame, and
 * the token rotated without events.
 */
static void unpark(struct medium *m, nsec_t now)
{
	nsec_t round = m->conf.hop * m->n, whole;

	m->is_parked = false;
	/* All rounds after the second one are alike: skip them. */
	if (now - m->token_at > 3 * round) {
		whole = ((now - m->token_at) / round - 2) * round;
		m->token_at += whole;
		m->seen_at += whole;
		for (uint32_t i = 0; i < m->n; i++)
			m->station[i].expiry += whole;
	}
	while (m->token_at < now) {
		take_token(m, m->token_at);
		pass_token(m, m->token_at);
	}
	m->next = m->token_at;
}

void fddi_wake(struct medium *m, nsec_t now, uint32_t index)
{
	if (m->is_parked)
		unpark(m, now);
}

static void get_token(struct medium *m)
{
	nsec_t now = m->next;

	if (!m->nqueued) {
		m->is_parked = true;
		m->token_at = now;
		m->next = INT64_MAX;
		return;
	}
	m->hold_until = now + take_token(m, now);
	m->sync_left = m->conf.sync;
	m->is_holding = true;
	go_on(m, now);
}

bool fddi_step(struct medium *m, struct medium_frame *out)
{
	nsec_t now = m->next;

	if (!m->is_holding) {
		get_token(m);
		return false;
	}
	medium_take(m, m->holder, false, out);
	go_on(m, now);
	return true;
}
