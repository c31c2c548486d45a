/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/simulated/medium.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "neko/core/limits.h"
#include "neko/simulated/medium_internal.h"

#include <stdlib.h>

bool medium_usual(const char *name, struct medium_conf *out)
{
	static const struct medium_conf usual[] = {
		{ .kind = MEDIUM_ETHERNET,
		  .bits_per_s = 1e7,
		  .header_bytes = 26,
		  .slot = 51200,
		  .gap = 9600 },
		{ .kind = MEDIUM_CSMA_DCR,
		  .bits_per_s = 1e7,
		  .header_bytes = 26,
		  .slot = 51200,
		  .gap = 9600 },
		{ .kind = MEDIUM_FDDI,
		  .bits_per_s = 1e8,
		  .header_bytes = 28,
		  .ttrt = 8 * NSEC_PER_MSEC,
		  .hop = 1000 },
	};
	static const char *const names[] = { "ethernet", "csma_dcr", "fddi" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(name, names[i])) {
			*out = usual[i];
			return true;
		}
	return false;
}

static int check(const struct medium_conf *c, uint32_t n, struct err *e)
{
	if (n > MEDIUM_STATIONS_MAX)
		return err_set(e, ERR_LIMIT, "a shared line has at most %d stations",
			       MEDIUM_STATIONS_MAX);
	if (c->bits_per_s < 1)
		return err_set(e, ERR_INVALID, "a shared line needs a rate in bits/s");
	if (c->kind == MEDIUM_FDDI && (c->hop < 1 || c->hop > c->ttrt / n))
		return err_set(e, ERR_INVALID,
			       "one rotation of the token takes longer than ttrt; raise ttrt");
	if (c->kind == MEDIUM_FDDI && c->sync > (c->ttrt - c->hop * n) / n)
		return err_set(
			e, ERR_INVALID,
			"sync of all stations and one rotation of the token take more than ttrt");
	if (c->kind != MEDIUM_FDDI && (c->slot < 2 || c->slot > MEDIUM_SLOT_MAX))
		return err_set(
			e, ERR_INVALID,
			"a shared line needs a slot of 2 ns to %.3g s, and a station waits for up to %d slots",
			(double)MEDIUM_SLOT_MAX / 1e9, 1 << MEDIUM_BACKOFF_MAX);
	return 0;
}

int medium_new(const struct medium_conf *c, uint32_t nstation, uint64_t seed, struct medium **out,
	       struct err *e)
{
	struct medium *m;

	if (check(c, nstation, e))
		return -(int)(nstation > MEDIUM_STATIONS_MAX ? ERR_LIMIT : ERR_INVALID);
	m = calloc(1, sizeof(*m));
	if (m)
		m->station = calloc(nstation, sizeof(*m->station));
	if (!m || !m->station) {
		free(m);
		return err_nomem(e);
	}
	m->conf = *c;
	m->n = nstation;
	m->next = INT64_MAX;
	rng_init(&m->rng, seed);
	for (uint32_t i = 0; i < nstation; i++)
		list_init(&m->station[i].queue);
	if (c->kind == MEDIUM_FDDI)
		fddi_start(m);
	*out = m;
	return 0;
}

static void forget_all(struct list *frames, void (*forget)(void *arg, void *what), void *arg)
{
	list_each_safe (i, frames) {
		struct frame *f = list_entry(i, struct frame, link);

		forget(arg, f->what);
		free(f);
	}
}

void medium_free(struct medium *m, void (*forget)(void *arg, void *what), void *arg)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->n; i++)
		forget_all(&m->station[i].queue, forget, arg);
	free(m->station);
	free(m);
}

static nsec_t time_of(const struct medium *m, size_t bytes)
{
	double bits = 8.0 * ((double)bytes + m->conf.header_bytes);

	if (m->conf.kind != MEDIUM_FDDI && bits < MEDIUM_FRAME_LEAST_BITS)
		bits = MEDIUM_FRAME_LEAST_BITS;
	bits = bits / m->conf.bits_per_s * 1e9;
	return bits < (double)NEKO_TIME_MAX / 2 ? (nsec_t)bits : NEKO_TIME_MAX / 2;
}

int medium_put(struct medium *m, nsec_t now, uint32_t station, size_t bytes, void *what)
{
	struct station *s = &m->station[station - 1];
	bool was_empty = list_is_empty(&s->queue);
	struct frame *f;

	if (m->conf.queue_bytes && s->queued_bytes + bytes > m->conf.queue_bytes)
		return -ERR_LIMIT;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ERR_NOMEM;
	f->took = time_of(m, bytes);
	f->bytes = bytes;
	f->what = what;
	list_push_back(&s->queue, &f->link);
	s->queued_bytes += bytes;
	m->nqueued++;
	if (!was_empty)
		return 0;
	if (m->conf.kind == MEDIUM_FDDI)
		fddi_wake(m, now, station - 1);
	else
		csma_wake(m, now, station - 1);
	return 0;
}

nsec_t medium_next(const struct medium *m)
{
	return m->next;
}

bool medium_step(struct medium *m, struct medium_frame *out)
{
	return m->conf.kind == MEDIUM_FDDI ? fddi_step(m, out) : csma_step(m, out);
}

nsec_t medium_way(const struct medium *m, uint32_t from, uint32_t to)
{
	if (m->conf.kind != MEDIUM_FDDI)
		return m->conf.slot / 2;
	return m->conf.hop * (to > from ? to - from : to + m->n - from);
}

const struct medium_counts *medium_counts(const struct medium *m)
{
	return &m->counts;
}
