/* SPDX-License-Identifier: Apache-2.0 */
/* The event ring compared with a queue, between two threads, and with an invalid writer. */
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/ring/ring.h"
#include "tests/suite.h"

#include <pthread.h>
#include <string.h>

#define SIZE 4096

static struct {
	uint64_t bytes[SIZE / 8];
	uint64_t head, tail, dropped;
} memory;

static const struct ring r = { (uint8_t *)memory.bytes, SIZE, &memory.head, &memory.tail,
			       &memory.dropped };

static uint32_t make(union ring_record *rec, uint64_t number, unsigned npar)
{
	uint32_t n = (uint32_t)(sizeof(rec->call) + npar * 8);

	memset(rec, 0, sizeof(*rec));
	rec->call.word = RING_WORD(n, RING_CALL);
	rec->call.ticks = number;
	rec->call.npar = (uint8_t)npar;
	for (unsigned i = 0; i < npar; i++)
		RING_PAR(rec)[i] = (int64_t)(number * 100 + i);
	return n;
}

/* The next value: strictly ascending numbers, each whole. */
struct seen {
	uint64_t last, count;
	bool gaps; /* allowed */
};

static void on_call(void *arg, const struct ring_call *c)
{
	struct seen *s = arg;

	if (s->gaps)
		ck_assert_uint_gt(c->ticks, s->last);
	else
		ck_assert_uint_eq(c->ticks, s->last + 1);
	for (unsigned i = 0; i < c->npar; i++)
		ck_assert_int_eq(c->par[i], (int64_t)(c->ticks * 100 + i));
	s->last = c->ticks;
	s->count++;
}

static int take(unsigned max, struct seen *s)
{
	return ring_take(&r, max, &(struct ring_taker){ .on_call = on_call, .arg = s });
}

static void clear(void)
{
	memset(&memory, 0, sizeof(memory));
}

TEST(ring_returns_records_of_all_sizes_in_order)
{
	struct rng rng;
	struct seen s = { .gaps = false };
	uint64_t number = 0, in_ring = 0;
	union ring_record rec;

	clear();
	rng_init(&rng, suite_seed(7));
	for (int i = 0; i < 200000; i++) {
		unsigned npar = (unsigned)rng_below(&rng, RING_PAR_MAX + 1);

		if (rng_below(&rng, 3)) {
			uint32_t n = make(&rec, number + 1, npar);
			uint64_t used = memory.head - memory.tail;
			bool fits = ring_put(&r, &rec, n);

			/* Refuses only for lack of room, including the piece at the end. */
			ck_assert(fits || used + 2 * n > SIZE);
			number += fits;
			in_ring += fits;
		} else {
			int taken = take((unsigned)rng_below(&rng, 5), &s);

			ck_assert_int_ge(taken, 0);
			ck_assert_uint_le((unsigned)taken, in_ring);
			in_ring -= (unsigned)taken;
		}
		ck_assert_uint_le(memory.head - memory.tail, SIZE);
	}
	while (take(100, &s) > 0)
		continue;
	ck_assert_uint_eq(s.count, number);
	ck_assert_uint_gt(number, 50000);
}

TEST(a_full_ring_drops_and_counts)
{
	union ring_record rec;
	struct seen s = { .gaps = false };
	unsigned put = 0;

	clear();
	for (unsigned i = 1; i <= 1000; i++)
		put += ring_put(&r, &rec, make(&rec, i, 5));
	ck_assert_uint_eq(put, SIZE / 64);
	ck_assert_uint_eq(memory.dropped, 1000 - put);
	ck_assert_int_eq(take(1000, &s), (int)put);
}

TEST(positions_may_run_over_the_end_of_their_numbers)
{
	struct seen s = { .gaps = false };
	union ring_record rec;

	clear();
	memory.head = memory.tail = UINT64_MAX - 63;
	for (unsigned i = 1; i <= 100; i++) {
		ck_assert(ring_put(&r, &rec, make(&rec, i, 5)));
		ck_assert_int_eq(take(1, &s), 1);
	}
	ck_assert_uint_eq(s.count, 100);
}

TEST(a_tail_that_makes_no_sense_counts_as_full)
{
	union ring_record rec;

	clear();
	memory.tail = 64;
	ck_assert(!ring_put(&r, &rec, make(&rec, 1, 5)));
	memory.tail = UINT64_MAX / 2;
	ck_assert(!ring_put(&r, &rec, make(&rec, 1, 5)));
	ck_assert_uint_eq(memory.dropped, 2);
}

/* Each invalid state is refused, once, and the ring continues afterwards. */
static void lie(uint64_t head, uint64_t tail, uint64_t first_word)
{
	struct seen s = { .gaps = true };
	union ring_record rec;

	clear();
	memory.bytes[0] = first_word;
	memory.head = head;
	memory.tail = tail;
	ck_assert_int_eq(take(100, &s), -ERR_PROTO);
	ck_assert_uint_eq(memory.tail, memory.head);
	ck_assert_uint_eq(s.count, 0);
	memory.head = memory.tail = 0;
	ck_assert(ring_put(&r, &rec, make(&rec, 1, 2)));
	ck_assert_int_eq(take(100, &s), 1);
}

TEST(an_invalid_ring_is_detected)
{
	lie(SIZE + 8, 0, 0); /* more than the ring holds */
	lie(8, 16, 0); /* head after tail */
	lie(9, 0, 0); /* odd */
	lie(64, 0, RING_WORD(0, RING_CALL));
	lie(64, 0, RING_WORD(UINT32_MAX, RING_CALL));
	lie(64, 0, RING_WORD(UINT32_MAX, RING_PAD));
	lie(64, 0, RING_WORD(72, RING_CALL)); /* beyond head */
	lie(64, 0, RING_WORD(12, RING_CALL)); /* odd */
	lie(64, 0, RING_WORD(16, RING_CALL)); /* shorter than a record */
	lie(SIZE, 0, RING_WORD(SIZE, RING_CALL)); /* longer than any */
	lie(64, 0, RING_WORD(64, RING_CALL)); /* npar 0, but 64 bytes */
}

TEST(a_type_of_the_future_is_passed_over)
{
	struct seen s = { .gaps = true };
	union ring_record rec;

	clear();
	make(&rec, 1, 2);
	rec.call.word = RING_WORD(40, 77);
	ck_assert(ring_put(&r, &rec, 40));
	ck_assert(ring_put(&r, &rec, make(&rec, 2, 2)));
	ck_assert_int_eq(take(10, &s), 1);
	ck_assert_uint_eq(s.last, 2);
}

#define MANY 300000

static void *write_many(void *arg)
{
	uint64_t *lost = arg;
	union ring_record rec;

	for (uint64_t i = 1; i <= MANY; i++)
		*lost += !ring_put(&r, &rec, make(&rec, i, i % 9));
	return NULL;
}

TEST(threads_tear_no_record_and_count_lost_ones)
{
	struct seen s = { .gaps = true };
	uint64_t lost = 0;
	pthread_t writer;
	int rc;

	clear();
	ck_assert_int_eq(pthread_create(&writer, NULL, write_many, &lost), 0);
	while (s.last < MANY - 1000 && s.count + 1 < MANY) {
		rc = take(64, &s);
		ck_assert_int_ge(rc, 0);
		if (!rc && pthread_tryjoin_np(writer, NULL) == 0)
			goto joined;
	}
	pthread_join(writer, NULL);
joined:
	while (take(64, &s) > 0)
		continue;
	ck_assert_uint_eq(s.count + lost, MANY);
	ck_assert_uint_eq(memory.dropped, lost);
}

SUITE("ring")
