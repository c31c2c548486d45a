/* SPDX-License-Identifier: Apache-2.0 */
/* Actions installed by the lm's side and run by the rank's side, in one memory. */
#include "common/base/rng.h"
#include "common/base/array.h"
#include "common/ring/calls_id.h"
#include "common/ring/calls.h"
#include "tests/suite.h"
#include "tests/unit/common/ring/made.h"

#include <pthread.h>
#include <string.h>

static struct made m;
static struct segview *v;
static struct cell_potential potential[SEG_CELLS];
static int64_t par[] = { 3, 0, 10, 0, 5, 7, 0, 40, 5 };

static void set_up(void)
{
	made_init(&m, 2, 0);
	ck_assert_int_eq(segview_over(m.p, m.n, &v, NULL), 0);
	memset(potential, 0, sizeof(potential));
}

static void clean_up(void)
{
	segview_free(v);
	made_done(&m);
}

static const struct seg_action *count(struct seg_action *a, unsigned cell, double value)
{
	*a = (struct seg_action){ .op = ACTION_COUNTER_ADD,
				  .func = CALL_ID_Send,
				  .cell = (uint16_t)cell,
				  .value = value };
	return a;
}

static unsigned add(const struct seg_action *a, const int32_t *partners, const int32_t *threads)
{
	unsigned index = SEG_ACTIONS;

	ck_assert_int_eq(segview_action_add(v, a, partners, threads, &index), 0);
	return index;
}

static unsigned fire(uint16_t func, uint8_t phase, int64_t partner, uint32_t tid)
{
	struct action_tables t = made_tables(&m, 0, potential);
	struct action_event e = { .par = par,
				  .npar = 9,
				  .func = func,
				  .phase = phase,
				  .tid = tid,
				  .now = 1000,
				  .partner = partner,
				  .bytes = 40 };

	return action_run(&t, &e);
}

static int64_t cell(unsigned i)
{
	return made_cells(&m, 0)[i].n;
}

/* $par8 is 40; $par10 is not there. */
TEST(an_action_with_a_test_runs_when_it_holds)
{
	static const struct {
		uint16_t test, par;
		double value;
		bool runs;
	} cell[] = {
		{ ACTION_IF_GT, 8, 39, true },	   { ACTION_IF_GT, 8, 40, false },
		{ ACTION_IF_GE, 8, 40, true },	   { ACTION_IF_GE, 8, 40.5, false },
		{ ACTION_IF_LT, 8, 40, false },	   { ACTION_IF_LT, 8, 41, true },
		{ ACTION_IF_LE, 8, 40, true },	   { ACTION_IF_LE, 8, 39, false },
		{ ACTION_IF_EQ, 8, 40, true },	   { ACTION_IF_EQ, 8, 4, false },
		{ ACTION_IF_NE, 8, 4, true },	   { ACTION_IF_NE, 8, 40, false },
		{ ACTION_IF_NE, 10, 4, false },	   { ACTION_IF_NE, 0, 4, false },
		{ ACTION_IF_GE + 1, 8, 4, false }, { ACTION_ALWAYS, 0, 4, true },
	};
	struct seg_action a;
	int64_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(cell); i++) {
		unsigned index;

		count(&a, 0, 1);
		a.test = cell[i].test;
		a.test_par = cell[i].par;
		a.test_value = cell[i].value;
		index = add(&a, NULL, NULL);
		fire(CALL_ID_Send, 0, 1, 10);
		n += cell[i].runs;
		ck_assert_msg(made_cells(&m, 0)[0].n == n, "cell %zu", i);
		ck_assert_int_eq(segview_action_del(v, index), 0);
	}
}

TEST(a_chain_runs_all_of_its_entries_and_no_other)
{
	struct seg_action a;

	add(count(&a, 0, 1), NULL, NULL);
	add(count(&a, 1, 10), NULL, NULL);
	count(&a, 2, 1);
	a.func = CALL_ID_Recv;
	add(&a, NULL, NULL);
	count(&a, 3, 1);
	a.phase = CALL_END;
	add(&a, NULL, NULL);
	ck_assert_uint_eq(fire(CALL_ID_Send, CALL_START, 5, 1), 0);
	ck_assert_int_eq(cell(0), 1);
	ck_assert_int_eq(cell(1), 10);
	ck_assert_int_eq(cell(2), 0);
	ck_assert_int_eq(cell(3), 0);
}

TEST(removing_one_leaves_the_others_in_their_chain)
{
	struct seg_action a;
	unsigned index[5];

	for (unsigned i = 0; i < 5; i++)
		index[i] = add(count(&a, i, 1), NULL, NULL);
	for (unsigned gone = 0; gone < 5; gone += 2) {
		ck_assert_int_eq(segview_action_del(v, index[gone]), 0);
		fire(CALL_ID_Send, CALL_START, 5, 1);
	}
	ck_assert_int_eq(segview_action_del(v, index[0]), -ERR_NOTFOUND);
	ck_assert_int_eq(cell(0), 0);
	ck_assert_int_eq(cell(1), 3);
	ck_assert_int_eq(cell(2), 1);
	ck_assert_int_eq(cell(3), 3);
	ck_assert_int_eq(cell(4), 2);
}

TEST(partners_and_threads_are_filters)
{
	const int32_t partners[] = { 2, 5, 9 }, threads[] = { 100, 200 };
	struct seg_action a;

	count(&a, 0, 1);
	a.partner_count = 3;
	add(&a, partners, NULL);
	count(&a, 1, 1);
	a.thread_count = 2;
	add(&a, NULL, threads);
	count(&a, 2, 1);
	a.partner_count = 3;
	a.thread_count = 2;
	add(&a, partners, threads);
	for (int64_t partner = -1; partner < 12; partner++)
		for (uint32_t tid = 100; tid < 102; tid++)
			fire(CALL_ID_Send, CALL_START, partner, tid);
	ck_assert_int_eq(cell(0), 6);
	ck_assert_int_eq(cell(1), 13);
	ck_assert_int_eq(cell(2), 3);
}

TEST(operands_are_constants_parameters_or_the_volume)
{
	struct seg_action a;

	count(&a, 0, 0);
	a.operand = ACTION_PAR;
	a.par = 3;
	add(&a, NULL, NULL);
	count(&a, 1, 0);
	a.operand = ACTION_VOLUME;
	add(&a, NULL, NULL);
	count(&a, 2, 1e300); /* does not fit a counter: adds nothing */
	add(&a, NULL, NULL);
	par[2] = INT64_C(9007199254740993); /* not a double */
	fire(CALL_ID_Send, CALL_START, 5, 1);
	ck_assert_int_eq(cell(0), INT64_C(9007199254740993));
	ck_assert_int_eq(cell(1), 40);
	ck_assert_int_eq(cell(2), 0);
}

TEST(any_source_is_only_a_potential_match)
{
	const int32_t partners[] = { 4 };
	struct action_tables t = made_tables(&m, 0, potential);
	struct seg_action a = { .op = ACTION_PATOP_INTEGRATOR_ADD,
				.flags = ACTION_PATOP,
				.func = CALL_ID_Recv,
				.phase = CALL_START,
				.partner_count = 1,
				.value = 1 };
	struct action_event e = { .par = par,
				  .npar = 2,
				  .func = CALL_ID_Recv,
				  .now = 100,
				  .partner = -1,
				  .any_source = true };

	add(&a, partners, NULL);
	a.phase = CALL_END;
	a.value = -1;
	add(&a, partners, NULL);
	/* Comes from 4: counts from its start. */
	action_run(&t, &e);
	e = (struct action_event){ .par = par,
				   .npar = 2,
				   .func = CALL_ID_Recv,
				   .phase = CALL_END,
				   .now = 130,
				   .partner = 4 };
	action_run(&t, &e);
	ck_assert_double_eq(made_cells(&m, 0)[0].integral, 30);
	/* Comes from 3: nothing. */
	e = (struct action_event){ .par = par,
				   .npar = 2,
				   .func = CALL_ID_Recv,
				   .now = 200,
				   .partner = -1,
				   .any_source = true };
	action_run(&t, &e);
	e.phase = CALL_END;
	e.any_source = false;
	e.now = 300;
	e.partner = 3;
	action_run(&t, &e);
	ck_assert_double_eq(made_cells(&m, 0)[0].integral, 30);
	ck_assert_double_eq(made_cells(&m, 0)[0].v, 0);
	/* Starts at 4, which is reported at once: earlier events are dropped. */
	e.phase = CALL_START;
	e.now = 400;
	e.partner = 4;
	action_run(&t, &e);
	e.phase = CALL_END;
	e.now = 450;
	action_run(&t, &e);
	ck_assert_double_eq(made_cells(&m, 0)[0].integral, 80);
	ck_assert_double_eq(made_cells(&m, 0)[0].v, 0);
}

TEST(action_that_does_not_fit_its_call_is_refused)
{
	struct seg_action a;
	unsigned index;
	const int32_t wrong[] = { 2, 2 };

	count(&a, SEG_CELLS, 1);
	ck_assert_int_eq(segview_action_add(v, &a, NULL, NULL, &index), -ERR_INVALID);
	count(&a, 0, 1);
	a.func = CALL_COUNT;
	ck_assert_int_eq(segview_action_add(v, &a, NULL, NULL, &index), -ERR_INVALID);
	count(&a, 0, 1);
	a.operand = ACTION_PAR;
	a.par = call_get(CALL_ID_Send)->start_npar + 1u;
	ck_assert_int_eq(segview_action_add(v, &a, NULL, NULL, &index), -ERR_INVALID);
	count(&a, 0, 1);
	a.partner_count = 2;
	ck_assert_int_eq(segview_action_add(v, &a, wrong, NULL, &index), -ERR_INVALID);
	ck_assert_int_eq(segview_action_add(v, &a, NULL, NULL, &index), -ERR_INVALID);
}

TEST(a_full_table_reports_that_and_recovers)
{
	static int32_t list[SEG_LIST_WORDS + 1];
	struct seg_action a;
	unsigned index, last = 0;

	for (int i = 0; i <= SEG_LIST_WORDS; i++)
		list[i] = i;
	count(&a, 0, 1);
	a.partner_count = SEG_LIST_WORDS + 1;
	ck_assert_int_eq(segview_action_add(v, &a, list, NULL, &index), -ERR_LIMIT);
	a.partner_count = SEG_LIST_WORDS;
	index = add(&a, list, NULL);
	a.partner_count = 1;
	ck_assert_int_eq(segview_action_add(v, &a, list, NULL, &last), -ERR_LIMIT);
	ck_assert_int_eq(segview_action_del(v, index), 0);
	for (unsigned i = 0; i < SEG_ACTIONS; i++)
		last = add(&a, list, NULL);
	ck_assert_int_eq(segview_action_add(v, &a, list, NULL, &index), -ERR_LIMIT);
	ck_assert_int_eq(segview_action_del(v, last), 0);
	add(&a, list, NULL);
	fire(CALL_ID_Send, CALL_START, 0, 1);
	ck_assert_int_eq(cell(0), SEG_ACTIONS);
}

/* --- one thread runs a chain while another changes it repeatedly */

static int stop;

static void *change(void *arg)
{
	const int32_t partners[] = { 1, 5, 9 };
	struct seg_action a;
	unsigned index;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		count(&a, 1, 1000);
		a.partner_count = 3;
		if (segview_action_add(v, &a, partners, NULL, &index) == 0)
			segview_action_del(v, index);
	}
	return NULL;
}

TEST(a_rank_sees_an_action_whole_or_not_at_all)
{
	struct seg_action a;
	pthread_t lm;
	int64_t before;

	add(count(&a, 0, 1), NULL, NULL);
	ck_assert_int_eq(pthread_create(&lm, NULL, change, NULL), 0);
	for (int i = 0; i < 100000; i++) {
		before = cell(0) + cell(1);
		fire(CALL_ID_Send, CALL_START, 5, 1);
		before = cell(0) + cell(1) - before;
		/* The first is never missed, with any entries after it. */
		ck_assert(before == 1 || before == 1001);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(lm, NULL);
	ck_assert_int_eq(cell(1) % 1000, 0);
	ck_assert_int_eq(cell(0), 100000);
}

static uint16_t *head_of(unsigned func, unsigned phase)
{
	return (uint16_t *)(void *)(m.p + m.plan.head_offset) + func * 2 + phase;
}

TEST(a_thread_on_a_removed_entry_finds_the_later_ones)
{
	struct seg_action a;
	unsigned index;

	add(count(&a, 0, 1), NULL, NULL);
	index = add(count(&a, 1, 1), NULL, NULL);
	add(count(&a, 2, 1), NULL, NULL);
	ck_assert_int_eq(segview_action_del(v, index), 0);
	*head_of(CALL_ID_Send, CALL_START) =
		(uint16_t)(index + 1); /* as if it had come there before */
	ck_assert_uint_eq(fire(CALL_ID_Send, CALL_START, 5, 1), 0);
	ck_assert_int_eq(cell(1), 0);
	ck_assert_int_eq(cell(2), 1);
}

TEST(a_chain_that_was_cut_is_counted)
{
	struct seg_action a;
	unsigned index = add(count(&a, 0, 1), NULL, NULL);

	*head_of(CALL_ID_Recv, CALL_END) = (uint16_t)(index + 1); /* it hangs elsewhere by now */
	ck_assert_uint_eq(fire(CALL_ID_Recv, CALL_END, 5, 1), 1);
	ck_assert_int_eq(cell(0), 0);
}

TEST(tables_full_of_anything_do_no_harm)
{
	struct rng rng;

	rng_init(&rng, suite_seed(11));
	for (int round = 0; round < 300; round++) {
		uint64_t *from = (void *)(m.p + m.plan.head_offset);
		uint64_t *to = (void *)(m.p + m.plan.thread_offset);

		for (; from < to; from++)
			*from = rng_next(&rng) &
				(rng_below(&rng, 4) ? UINT64_C(0x000f01ff000f01fe) : ~0ull);
		for (unsigned f = 0; f < SEG_HOOKS; f++)
			fire((uint16_t)f, (uint8_t)(f % 3), 5, 100);
	}
}

SUITE_WITH("action", set_up, clean_up)
