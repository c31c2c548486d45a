/* SPDX-License-Identifier: Apache-2.0 */
/* CSMA/CD: a station waits until the line is free; two that begin within half a slot collide. */
#include "neko/simulated/medium_internal.h"

static nsec_t later(nsec_t a, nsec_t b)
{
	return a > b ? a : b;
}

/* Returns the time at which the station tries to send; INT64_MAX if it has no frame. */
static nsec_t try_at(const struct medium *m, uint32_t i)
{
	const struct station *s = &m->station[i];

	return list_is_empty(&s->queue) ? INT64_MAX : later(s->ready_at, m->free_at);
}

static void await_first(struct medium *m)
{
	m->state = CSMA_FREE;
	m->next = INT64_MAX;
	for (uint32_t i = 0; i < m->n; i++)
		if (try_at(m, i) < m->next)
			m->next = try_at(m, i);
}

void csma_wake(struct medium *m, nsec_t now, uint32_t index)
{
	m->station[index].ready_at = now;
	if (m->state == CSMA_FREE && try_at(m, index) < m->next)
		m->next = try_at(m, index);
}

static void send_of(struct medium *m, uint32_t i, nsec_t from)
{
	m->state = CSMA_SENDS;
	m->sender = i;
	m->next = from + medium_first(&m->station[i])->took;
}

/* --- CSMA-DCR: the search */

static uint32_t leaves(uint32_t n)
{
	uint32_t q = 1;

	while (q < n)
		q *= 2;
	return q;
}

static void search_halves(struct medium *m, struct range r)
{
	m->range[m->nrange++] = (struct range){ r.first + r.n / 2, r.n / 2 };
	m->range[m->nrange++] = (struct range){ r.first, r.n / 2 };
}

static void end_search(struct medium *m)
{
	m->is_search = false;
	if (m->epoch_slots > m->counts.epoch_slots_most)
		m->counts.epoch_slots_most = m->epoch_slots;
	await_first(m);
}

static uint32_t count_in(const struct medium *m, struct range r, uint32_t *last)
{
	uint32_t n = 0;

	for (uint32_t i = r.first; i < r.first + r.n && i < m->n; i++)
		if (m->station[i].is_resolving) {
			n++;
			*last = i;
		}
	return n;
}

/* Simulates the slot of the next range: it is empty, has one station, or a collision. */
static void search(struct medium *m, nsec_t now)
{
	uint32_t n, last = 0;
	struct range r;

	if (!m->nrange) {
		end_search(m);
		return;
	}
	r = m->range[--m->nrange];
	n = count_in(m, r, &last);
	if (n == 1) {
		m->station[last].is_resolving = false;
		send_of(m, last, now);
		return;
	}
	m->epoch_slots++;
	m->state = CSMA_SEARCHES;
	m->next = now + m->conf.slot;
	if (!n) {
		m->counts.empty++;
		return;
	}
	m->counts.collisions++;
	search_halves(m, r);
}

static void begin_search(struct medium *m, nsec_t now)
{
	m->is_search = true;
	m->counts.epochs++;
	m->epoch_slots = 1; /* the first collision */
	m->nrange = 0;
	search_halves(m, (struct range){ 0, leaves(m->n) });
	search(m, now);
}

/* --- Ethernet */

static void back_off(struct medium *m, struct station *s, nsec_t end)
{
	unsigned doublings = s->attempts < MEDIUM_BACKOFF_MAX ? s->attempts : MEDIUM_BACKOFF_MAX;

	s->ready_at = end + m->conf.slot * (nsec_t)rng_below(&m->rng, UINT64_C(1) << doublings);
}

/* Returns how many stations began before they could detect the first one. */
static uint32_t starters(const struct medium *m, uint32_t *one)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n; i++)
		if (try_at(m, i) < m->started_at + m->conf.slot / 2) {
			n++;
			*one = i;
		}
	return n;
}

static void collide(struct medium *m)
{
	nsec_t end = m->started_at + m->conf.slot;

	m->counts.collisions++;
	for (uint32_t i = 0; i < m->n; i++) {
		struct station *s = &m->station[i];

		if (try_at(m, i) >= m->started_at + m->conf.slot / 2)
			continue;
		s->is_resolving = m->conf.kind == MEDIUM_CSMA_DCR;
		if (s->is_resolving)
			continue;
		s->attempts++;
		back_off(m, s, end);
	}
	m->state = CSMA_COLLIDES;
	m->next = end;
}

static void decide(struct medium *m)
{
	uint32_t one = 0;

	if (starters(m, &one) > 1)
		collide(m);
	else
		send_of(m, one, m->started_at);
}

/* Ethernet: drops the frame of a station with too many collisions, one station per step. */
static bool give_up(struct medium *m, struct medium_frame *out)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->station[i].attempts >= MEDIUM_ATTEMPTS_MAX) {
			m->station[i].attempts = 0;
			medium_take(m, i, true, out);
			return true;
		}
	return false;
}

static bool end_collision(struct medium *m, struct medium_frame *out)
{
	m->free_at = m->next;
	if (m->conf.kind == MEDIUM_CSMA_DCR) {
		begin_search(m, m->next);
		return false;
	}
	if (give_up(m, out))
		return true;
	await_first(m);
	return false;
}

static void end_frame(struct medium *m, struct medium_frame *out)
{
	struct station *s = &m->station[m->sender];

	s->attempts = 0;
	medium_take(m, m->sender, false, out);
	m->free_at = m->next + m->conf.gap;
	s->ready_at = m->free_at;
	if (m->is_search)
		search(m, m->free_at);
	else
		await_first(m);
}

bool csma_step(struct medium *m, struct medium_frame *out)
{
	switch (m->state) {
	case CSMA_FREE:
		m->started_at = m->next;
		m->state = CSMA_STARTS;
		m->next += m->conf.slot / 2;
		return false;
	case CSMA_STARTS:
		decide(m);
		return false;
	case CSMA_COLLIDES:
		return end_collision(m, out);
	case CSMA_SEARCHES:
		m->free_at = m->next;
		search(m, m->next);
		return false;
	case CSMA_SENDS:
		end_frame(m, out);
		return true;
	}
	return false;
}
