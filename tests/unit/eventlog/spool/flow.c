/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/eventlog/spool/flow.h"

#include "common/base/hash.h"
#include "eventlog/evgap.h"
#include "tests/suite.h"

#include <stdio.h>
#include <string.h>

#define BODY_MAX_BYTES 8192
#define STREAM_BASE 100

void flow_init(struct flow *f, uint64_t seed)
{
	memset(f, 0, sizeof(*f));
	rng_init(&f->rng, seed);
}

/* The same bytes whenever it is made. */
static void make(const struct flow_block *k, uint8_t *p, struct evblock *b)
{
	*b = (struct evblock){ .version = EVBLOCK_VERSION,
			       .bytes = k->bytes,
			       .stream = STREAM_BASE + k->stream,
			       .seq = k->seq,
			       .first = k->first,
			       .events = k->events };
	memset(p + EVBLOCK_HEAD_BYTES, (int)(k->seq * 4 + k->stream),
	       k->bytes - EVBLOCK_HEAD_BYTES);
	b->crc = hash_crc32c(0, p + EVBLOCK_HEAD_BYTES, k->bytes - EVBLOCK_HEAD_BYTES);
	evblock_encode(b, p);
}

static int append(struct flow *f, struct spool *s, size_t i, nsec_t now)
{
	static uint8_t p[EVBLOCK_HEAD_BYTES + BODY_MAX_BYTES];
	uint64_t ticket = spool_appended(s);
	struct evblock b;
	int rc;

	make(&f->block[i], p, &b);
	rc = spool_append(s, p, &b, now);
	ck_assert(!rc || rc == -ERR_LIMIT || rc == -ERR_NOMEM);
	if (rc != -ERR_NOMEM) {
		ck_assert_uint_eq(spool_appended(s), ticket + 1);
		ck_assert_uint_lt(ticket, FLOW_BLOCKS_MAX);
		f->of[ticket] = i;
	}
	f->block[i].is_kept = !rc;
	return rc;
}

int flow_append(struct flow *f, struct spool *s, unsigned stream, size_t body, nsec_t now)
{
	struct flow_block *k = &f->block[f->n];

	ck_assert_uint_lt(f->n, FLOW_BLOCKS_MAX);
	ck_assert_uint_le(body, BODY_MAX_BYTES);
	*k = (struct flow_block){ .stream = stream,
				  .seq = f->seq[stream]++,
				  .first = f->first[stream],
				  .events = (uint32_t)rng_below(&f->rng, 20),
				  .bytes = (uint32_t)(EVBLOCK_HEAD_BYTES + body) };
	f->first[stream] += k->events;
	return append(f, s, f->n++, now);
}

void flow_note(struct flow *f, const struct spool *s)
{
	ck_assert_uint_le(spool_settled(s), spool_appended(s));
	for (uint64_t i = 0; i < spool_settled(s); i++)
		f->block[f->of[i]].is_settled = true;
}

void flow_again(struct flow *f, struct spool *s, unsigned percent, nsec_t now)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->block[i].is_settled || f->block[i].is_gone)
			continue;
		f->block[i].is_gone = rng_below(&f->rng, 100) >= percent;
		if (!f->block[i].is_gone)
			append(f, s, i, now);
	}
}

/* --- takers */

void taker_init(struct taker *t, const char *name)
{
	memset(t, 0, sizeof(*t));
	snprintf(t->name, sizeof(t->name), "%s", name);
}

static void come_to(struct taker *t, unsigned i, uint64_t seq, uint64_t first)
{
	ck_assert_uint_ge(first, t->first[i]);
	t->lost += first - t->first[i];
	t->due[i] = seq;
	t->first[i] = first;
}

/*
 * A block that was counted as lost may come all the same: its sender had no acknowledgement, and
 * sent it again.
 */
static void take_late(struct taker *t, unsigned i, bool is_gap, const struct evblock *b)
{
	if (is_gap || t->has[i][b->seq]) {
		t->repeated++;
		return;
	}
	t->has[i][b->seq] = true;
	t->late++;
	ck_assert_uint_ge(t->lost, b->events);
	t->lost -= b->events;
	t->got += b->events;
}

static void take_block(struct taker *t, const uint8_t *p, const struct evblock *b)
{
	unsigned i = (unsigned)(b->stream - STREAM_BASE);
	struct evgap g;
	bool is_gap = evgap_of(p, b, &g);

	ck_assert_uint_lt(i, FLOW_STREAMS);
	if (g.end_seq <= t->due[i]) {
		take_late(t, i, is_gap, b);
		return;
	}
	if (is_gap) {
		t->jumped += g.first > t->first[i] ? g.first - t->first[i] : 0;
		come_to(t, i, g.end_seq, g.end_first);
		return;
	}
	t->jumped += b->first - t->first[i];
	come_to(t, i, b->seq, b->first);
	ck_assert_uint_lt(b->seq, FLOW_BLOCKS_MAX);
	t->has[i][b->seq] = true;
	t->due[i]++;
	t->first[i] += b->events;
	t->got += b->events;
}

bool taker_read(struct taker *t, struct spool *s)
{
	struct consumer *c = spool_find(s, t->name);
	static struct buf out = BUF_INIT(2 * SPOOL_READ_BYTES); /* one for all reads */
	struct evblock b;
	bool is_some;
	int rc;

	ck_assert_ptr_nonnull(c);
	do {
		rc = spool_read(s, c, &out, &t->place);
		ck_assert(!rc || rc == -ERR_SYS);
	} while (rc);
	ck_assert_uint_le(out.n, SPOOL_READ_BYTES);
	is_some = out.n > 0;
	for (size_t at = 0; at < out.n; at += b.bytes) {
		ck_assert_int_eq(evblock_look(out.p + at, out.n - at, &b), EVBLOCK_GOOD);
		take_block(t, out.p + at, &b);
	}
	return is_some;
}

void taker_ack(struct taker *t, struct spool *s, nsec_t now)
{
	struct consumer *c = spool_find(s, t->name);

	ck_assert_int_eq(spool_ack(s, c, t->place, now), 0);
}

void taker_drain(struct taker *t, struct spool *s, nsec_t now)
{
	do
		taker_ack(t, s, now);
	while (taker_read(t, s));
	ck_assert(!spool_can_read(s, spool_find(s, t->name)));
}

void taker_check(const struct taker *t, const struct flow *f, bool may_expire)
{
	uint64_t first[FLOW_STREAMS] = { 0 }, sum = 0, unsettled = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct flow_block *k = &f->block[i];

		if (k->seq < t->due[k->stream] && k->first + k->events > first[k->stream])
			first[k->stream] = k->first + k->events;
		unsettled += k->is_settled ? 0 : k->events;
		if (!k->is_settled)
			continue;
		ck_assert_msg(k->seq < t->due[k->stream],
			      "%s: block %llu of stream %u is settled, and nothing is said of it",
			      t->name, (unsigned long long)k->seq, k->stream);
		if (k->is_kept && !may_expire)
			ck_assert_msg(t->has[k->stream][k->seq],
				      "%s: block %llu of stream %u was stored and did not come",
				      t->name, (unsigned long long)k->seq, k->stream);
	}
	for (unsigned i = 0; i < FLOW_STREAMS; i++)
		sum += first[i];
	ck_assert_uint_eq(sum, t->got + t->lost);
	ck_assert(t->late || t->jumped <= unsettled); /* all other losses were reported */
}
