/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/libapp/rank.h"

#include "libapp/hot/app_state.h"
#include "tests/unit/libapp/fake_mpi.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

struct segview *rank_view;

void rank_up(void)
{
	struct err e = { 0 };

	ck_assert_int_eq(MPI_Init(NULL, NULL), 0);
	ck_assert_int_ge(app_state.fd, 0);
	ck_assert_msg(segview_open(app_state.fd, getuid(), &rank_view, &e) == 0, "%s", e.text);
}

void rank_down(void)
{
	segview_free(rank_view);
}

void rank_hooks(uint32_t word)
{
	for (unsigned f = 0; f < segview_funcs(rank_view); f++)
		ck_assert_int_eq(segview_hook_set(rank_view, f, word, 0), 0);
}

struct segview_call rank_call(unsigned func)
{
	struct segview_call c;

	ck_assert_int_eq(segview_call(rank_view, SEGVIEW_ALL, func, 0, &c), 0);
	return c;
}

void rank_action(struct seg_action a, int32_t partner)
{
	unsigned index;

	a.flags = ACTION_PATOP;
	a.partner_count = partner >= 0;
	if (a.op == ACTION_COUNTER_ADD && a.value == 0)
		a.operand = ACTION_VOLUME;
	ck_assert_int_eq(segview_action_add(rank_view, &a, &partner, NULL, &index), 0);
}

struct search {
	struct segview_partner found;
};

static void on_partner(void *arg, const struct segview_partner *p)
{
	struct segview_partner *sum = &((struct search *)arg)->found;

	if (p->func != sum->func || p->rank != sum->rank)
		return;
	sum->count += p->count;
	sum->bytes_out += p->bytes_out;
	sum->bytes_in += p->bytes_in;
	sum->delay += p->delay;
	sum->shared += p->shared;
	sum->possible += p->possible;
	sum->kinds |= p->kinds;
	sum->tag = p->tag;
}

struct segview_partner rank_partner(unsigned func, int32_t partner)
{
	struct search s = { .found = { .func = func, .rank = partner } };

	for (unsigned i = 0; i < segview_threads(rank_view); i++)
		ck_assert_int_ge(segview_partners(rank_view, i, on_partner, &s), 0);
	return s.found;
}
