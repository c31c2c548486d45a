/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes in a segment as the lm reads them: their table, their words, reads, and invalid contents.
 */
#include "common/base/err.h"
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/ring/calls_id.h"
#include "tests/suite.h"
#include "tests/unit/common/ring/made.h"

#include <string.h>

static struct made m;

static struct seg_probe *table(unsigned number)
{
	return (struct seg_probe *)(void *)(m.p + m.plan.probe_offset) + number;
}

static struct seg_reads *reads(unsigned number)
{
	return (struct seg_reads *)(void *)(m.p + m.plan.read_offset) + number;
}

static uint32_t word(unsigned number)
{
	const uint32_t *page = (const void *)(m.p + m.plan.probe_word_offset +
					      number / SEG_PROBES_EACH * SEG_PAGE_BYTES);

	return page[number % SEG_PROBES_EACH];
}

static void set(unsigned number, const char *name, uint32_t nparam, uint8_t first)
{
	struct seg_probe *p = table(number);

	memset(p, 0, sizeof(*p));
	memcpy(p->name, name, strnlen(name, sizeof(p->name)));
	p->nparam = nparam;
	p->type[0] = first;
}

static struct segview *view(void)
{
	struct segview *v = NULL;

	ck_assert_int_eq(segview_over(m.p, m.n, &v, NULL), 0);
	return v;
}

static void set_up(void)
{
	made_init(&m, 1, SEG_RING_MIN_BYTES);
}

static void clean_up(void)
{
	made_done(&m);
}

TEST(segview_accepts_only_valid_probe_declarations)
{
	char longest[SEG_PROBE_NAME_BYTES + 1] = { 0 };
	struct segview *v;

	memset(longest, 'x', SEG_PROBE_NAME_BYTES);
	set(0, "step", 1, SEG_I32);
	set(1, "3step", 1, SEG_I32);
	set(2, "a b", 1, SEG_I32);
	set(3, "no_params", 0, SEG_I32);
	set(4, "many", SEG_PROBE_PARAMS + 1, SEG_I32);
	set(5, "of_no_type", 1, SEG_TYPES);
	set(6, "float_first", 1, SEG_F64);
	set(7, longest, 1, SEG_I32); /* without an end */
	longest[SEG_PROBE_NAME_BYTES - 1] = 0;
	set(8, longest, SEG_PROBE_PARAMS, SEG_U64);
	set(SEG_FUNCTION_FIRST - 1, "_last9", 1, SEG_BOOL);
	v = view();
	ck_assert_uint_eq(segview_probes(v), 3);
	ck_assert_int_eq(segview_probe_find(v, "step"), 0);
	ck_assert_int_eq(segview_probe_find(v, longest), 8);
	ck_assert_int_eq(segview_probe_find(v, "_last9"), SEG_FUNCTION_FIRST - 1);
	ck_assert_int_eq(segview_probe_find(v, ""), -1);
	for (unsigned i = 1; i < 8; i++)
		ck_assert_ptr_null(segview_probe(v, i));
	ck_assert_ptr_null(segview_probe(v, SEG_PROBES));
	/* Later writes of the process do not matter. */
	memset(table(0), 0xff, sizeof(struct seg_probe));
	ck_assert_str_eq(segview_probe(v, 0)->name, "step");
	segview_free(v);
}

TEST(a_function_takes_two_probes_until_it_is_dropped)
{
	struct seg_header *h = (void *)m.p;
	struct segview *v;
	unsigned slot, other;

	v = view();
	ck_assert_int_eq(segview_function_take(v, &slot), -ERR_UNSUPPORTED);
	segview_free(v);
	h->w.function_enter = 1;
	v = view();
	for (unsigned i = 0; i < SEG_FUNCTIONS; i++) {
		ck_assert_int_eq(segview_function_take(v, &slot), 0);
		ck_assert_uint_eq(slot, i);
		ck_assert_ptr_nonnull(segview_probe(v, SEG_FUNCTION_BEGIN(slot)));
		ck_assert_ptr_nonnull(segview_probe(v, SEG_FUNCTION_END(slot)));
	}
	ck_assert_int_eq(segview_function_take(v, &other), -ERR_LIMIT);
	segview_function_drop(v, 3);
	ck_assert_ptr_null(segview_probe(v, SEG_FUNCTION_BEGIN(3)));
	ck_assert_int_eq(segview_function_take(v, &other), 0);
	ck_assert_uint_eq(other, 3);
	h->w.function_enter = 0;
	segview_free(v);
}

TEST(a_slot_that_a_meter_uses_is_not_taken_again)
{
	struct seg_header *h = (void *)m.p;
	struct segview_meter want = { .read = { .kind = SEG_READ_PASSES } };
	struct segview *v;
	unsigned slot, other, meter;

	h->w.function_enter = 1;
	v = view();
	ck_assert_int_eq(segview_function_take(v, &slot), 0);
	want.begin = SEG_FUNCTION_BEGIN(slot);
	want.end = SEG_FUNCTION_END(slot);
	ck_assert_int_eq(segview_meter_add(v, &want, 1, &meter), 0);
	ck_assert_uint_eq(word(want.begin), PROBE_EDGE);
	segview_function_drop(v, slot);
	ck_assert_int_eq(segview_function_take(v, &other), 0);
	ck_assert_uint_ne(other, slot);
	segview_meter_del(v, meter);
	segview_function_drop(v, other);
	ck_assert_int_eq(segview_function_take(v, &other), 0);
	ck_assert_uint_eq(other, slot);
	h->w.function_enter = 0;
	segview_free(v);
}

TEST(switches_are_set_for_declared_probes_only)
{
	struct segview *v;

	set(1, "a", 1, SEG_I32);
	set(SEG_PROBES_EACH + 2, "b", 1, SEG_I32);
	v = view();
	ck_assert_int_eq(segview_probe_set(v, 1, PROBE_RECORD), 0);
	ck_assert_int_eq(segview_probe_set(v, SEG_PROBES_EACH + 2, PROBE_ACTION), 0);
	ck_assert_int_eq(segview_probe_set(v, 0, PROBE_RECORD), -ERR_INVALID);
	ck_assert_int_eq(segview_probe_set(v, 1, PROBE_KNOWN + 1), -ERR_INVALID);
	ck_assert_uint_eq(word(1), PROBE_RECORD);
	ck_assert_uint_eq(word(SEG_PROBES_EACH + 2), PROBE_ACTION);
	segview_reset(v);
	ck_assert_uint_eq(word(1) | word(SEG_PROBES_EACH + 2), 0);
	segview_free(v);
}

static int add_funcs(struct segview *v, unsigned number, unsigned first, unsigned n, unsigned *slot)
{
	uint16_t func[CALL_COUNT];

	for (unsigned i = 0; i < n; i++)
		func[i] = (uint16_t)(first + i);
	return segview_read_add(
		v, number,
		&(struct segview_read){ .kind = SEG_READ_DELAY, .func = func, .nfunc = n }, slot);
}

TEST(equal_reads_share_a_slot_and_equal_lists_their_place)
{
	unsigned a, b, c, other;
	struct segview *v;

	set(0, "a", 1, SEG_I32);
	set(1, "b", 1, SEG_I32);
	v = view();
	ck_assert_int_eq(add_funcs(v, 0, 3, 10, &a), 0);
	ck_assert_int_eq(add_funcs(v, 0, 3, 10, &b), 0);
	ck_assert_int_eq(add_funcs(v, 0, 3, 9, &c), 0);
	ck_assert_int_eq(add_funcs(v, 1, 3, 10, &other), 0);
	ck_assert_uint_eq(a, b);
	ck_assert_uint_ne(a, c);
	ck_assert_uint_eq(reads(1)->slot[other].first, reads(0)->slot[a].first);
	ck_assert_uint_ne(reads(0)->slot[c].first, reads(0)->slot[a].first);
	ck_assert_uint_eq(reads(0)->mask, 1u << a | 1u << c);
	segview_read_del(v, 0, a);
	ck_assert_uint_eq(reads(0)->mask, 1u << a | 1u << c);
	segview_read_del(v, 0, a);
	segview_read_del(v, 0, a);
	ck_assert_uint_eq(reads(0)->mask, 1u << c);
	ck_assert_uint_eq(reads(0)->seq % 2, 0);
	segview_free(v);
}

TEST(lists_that_find_no_room_are_refused_until_there_is_some)
{
	unsigned slot[SEG_PROBES * 2], n = 0, extra;
	struct segview *v;
	int rc = 0;

	for (unsigned i = 0; i < SEG_PROBES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%u", i);
		set(i, name, 1, SEG_I32);
	}
	v = view();
	/* Each has another length, so that none is shared. */
	for (unsigned number = 0; !rc && number < 100; number++) {
		rc = add_funcs(v, number, 0, 100 - number, &slot[n]);
		n += !rc;
	}
	ck_assert_int_eq(rc, -ERR_LIMIT);
	ck_assert_uint_gt(n, SEG_READ_FUNCS / 100);
	segview_read_del(v, 0, slot[0]);
	ck_assert_int_eq(add_funcs(v, 200, 1, 100, &extra), 0); /* where the first was */
	ck_assert_uint_eq(reads(200)->slot[extra].first, 0);
	ck_assert_int_eq(add_funcs(v, 201, 2, 100, &extra), -ERR_LIMIT);
	segview_free(v);
}

TEST(reads_that_make_no_sense_are_refused)
{
	static const uint16_t down[] = { 5, 4 }, twice[] = { 5, 5 }, beyond[] = { 5, SEG_HOOKS };
	const struct segview_read bad[] = {
		{ .kind = SEG_READ_NONE, .func = NULL, .nfunc = 0 },
		{ .kind = SEG_READ_KINDS, .func = down, .nfunc = 1 },
		{ .kind = SEG_READ_COUNTER, .cell = SEG_CELLS },
		{ .kind = SEG_READ_CALLS, .func = NULL, .nfunc = 1 },
		{ .kind = SEG_READ_CALLS, .func = down, .nfunc = 0 },
		{ .kind = SEG_READ_CALLS, .func = down, .nfunc = 2 },
		{ .kind = SEG_READ_IN, .func = twice, .nfunc = 2 },
		{ .kind = SEG_READ_OUT, .func = beyond, .nfunc = 2 },
	};
	struct segview *v;
	unsigned slot;

	set(0, "a", 1, SEG_I32);
	v = view();
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ck_assert_int_eq(segview_read_add(v, 0, &bad[i], &slot), -ERR_INVALID);
	ck_assert_int_eq(segview_read_add(v, 1,
					  &(struct segview_read){ .kind = SEG_READ_COUNTER,
								  .func = NULL,
								  .nfunc = 0 },
					  &slot),
			 -ERR_INVALID);
	segview_read_del(v, 0, 0);
	segview_read_del(v, 77, 99);
	segview_free(v);
}

static void put(uint64_t third, uint64_t fourth, unsigned nvalue)
{
	const struct ring r = made_ring(&m, 0);
	union ring_record rec = { .word = { (int64_t)RING_WORD(32 + nvalue * 8, RING_PROBE), 7,
					    (int64_t)third, (int64_t)fourth } };

	for (unsigned i = 0; i < nvalue; i++)
		RING_VALUE(&rec)[i].u = 100 + i;
	ck_assert(ring_put(&r, &rec, 32 + nvalue * 8));
}

static void on_hit(void *arg, const struct segview_hit *h)
{
	*(struct segview_hit *)arg = *h;
}

static int take(struct segview *v, struct segview_hit *h)
{
	memset(h, 0, sizeof(*h));
	return segview_take(v, 0, 100, &(struct segview_taker){ .on_hit = on_hit, .arg = h });
}

TEST(a_record_has_the_contents_that_its_probe_declares)
{
	struct segview_hit h;
	struct segview *v;
	unsigned slot;

	made_thread(&m, 0)->tid = 1;
	set(0, "a", 2, SEG_I32);
	v = view();
	ck_assert_int_eq(
		segview_read_add(
			v, 0, &(struct segview_read){ .kind = SEG_READ_COUNTER, .cell = 3 }, &slot),
		0);
	put(RING_PROBE_WORD(0, 2, 1, 9), reads(0)->seq | UINT64_C(1) << (32 + slot), 3);
	ck_assert_int_eq(take(v, &h), 1);
	ck_assert_uint_eq(h.mask, 1u << slot);
	ck_assert_uint_eq(h.read[slot].u, 102);
	ck_assert_uint_eq(h.tid, 9);
	/* From before the read was requested. */
	put(RING_PROBE_WORD(0, 2, 1, 9), (reads(0)->seq - 2) | UINT64_C(1) << (32 + slot), 3);
	ck_assert_int_eq(take(v, &h), 1);
	ck_assert_uint_eq(h.mask, 0);
	/* Of a slot without a request. */
	put(RING_PROBE_WORD(0, 2, 1, 9),
	    reads(0)->seq | UINT64_C(1) << (32 + (slot + 1) % SEG_READS), 3);
	ck_assert_int_eq(take(v, &h), 1);
	ck_assert_uint_eq(h.mask, 0);
	put(RING_PROBE_WORD(1, 2, 0, 9), 0, 2); /* no such probe */
	ck_assert_int_eq(take(v, &h), -ERR_PROTO);
	put(RING_PROBE_WORD(0, 3, 0, 9), 0, 3); /* not its parameters */
	ck_assert_int_eq(take(v, &h), -ERR_PROTO);
	put(RING_PROBE_WORD(0, 2, 1, 9), UINT64_C(3) << 32, 3); /* two announced, one present */
	ck_assert_int_eq(take(v, &h), -ERR_PROTO);
	put(RING_PROBE_WORD(0, 2, 1, 9), UINT64_C(1) << (32 + SEG_READS), 3); /* no such slot */
	ck_assert_int_eq(take(v, &h), -ERR_PROTO);
	put(RING_PROBE_WORD(0, 2, 9, 9), 0, 3); /* longer than it is */
	ck_assert_int_eq(take(v, &h), -ERR_PROTO);
	segview_free(v);
}

static void on_any(void *arg, const struct segview_hit *h)
{
	const struct segview *v = arg;
	const struct seg_probe *p = segview_probe(v, h->probe);

	ck_assert_ptr_nonnull(p);
	ck_assert_uint_le(p->nparam, SEG_PROBE_PARAMS);
	ck_assert_uint_eq(h->mask >> SEG_READS, 0);
}

/* Random words over the table, the reads, their lists and the ring: no access outside. */
TEST(any_contents_of_the_table_are_handled)
{
	struct segview *v;
	struct rng rng;
	unsigned slot;

	rng_init(&rng, suite_seed(5));
	for (int i = 0; i < 300; i++) {
		made_thread(&m, 0)->tid = 1;
		for (unsigned k = 0; k < 20; k++)
			set((unsigned)rng_below(&rng, SEG_PROBES),
			    rng_below(&rng, 4) ? "p" : "\xff", (uint32_t)rng_below(&rng, 20),
			    (uint8_t)rng_below(&rng, SEG_TYPES + 2));
		v = view();
		for (unsigned k = 0; k < 40; k++) {
			unsigned number = (unsigned)rng_below(&rng, SEG_PROBES);
			uint64_t *at = (void *)reads(number);

			at[rng_below(&rng, sizeof(struct seg_reads) / 8)] = rng_next(&rng);
			add_funcs(v, number, (unsigned)rng_below(&rng, 50),
				  1 + (unsigned)rng_below(&rng, 100), &slot);
			segview_probe_set(v, number, (uint32_t)rng_below(&rng, 6));
			put(rng_next(&rng) & 0xffffffff0f0f00ff,
			    rng_next(&rng) & 0x0000000f0000ffff, (unsigned)rng_below(&rng, 20));
			segview_take(v, 0, 5,
				     &(struct segview_taker){ .on_hit = on_any, .arg = v });
			segview_read_del(v, number, (unsigned)rng_below(&rng, SEG_READS + 1));
		}
		segview_take(v, 0, UINT32_MAX,
			     &(struct segview_taker){ .on_hit = on_any, .arg = v });
		segview_reset(v);
		segview_free(v);
	}
}

SUITE_WITH("probes of a segment", set_up, clean_up)
