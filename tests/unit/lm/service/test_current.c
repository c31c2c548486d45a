/* SPDX-License-Identifier: Apache-2.0 */
/* The current call of a rank, as a tool gets it, without anything switched on. */
#include "common/omis/text/status.h"
#include "common/ring/calls.h"
#include "lm/proc/current.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <stdio.h>

struct answer {
	char name[32], class[32];
	int state, exact, partner, tag;
	double seconds;
};

static struct answer ask(void)
{
	const struct msg_reply *r = world_ask(&w, OBSERVER, with(":omig_calls_now([@])", rank0));
	struct answer a = { .state = -1 };

	ck_assert_uint_eq(r->nentry, 1);
	ck_assert_uint_eq(r->entry[0].status, STATUS_OK);
	if (strchr(entry_text(&r->entry[0]), '['))
		ck_assert_int_eq(
			sscanf(entry_text(&r->entry[0]),
			       "%*[^,],\"job-1\",%*d,4,[%*d,\"%31[^\"]\",\"%31[^\"]\",%d,%lf,%d,%d,%d,",
			       a.name, a.class, &a.state, &a.seconds, &a.exact, &a.partner, &a.tag),
			7);
	return a;
}

TEST(the_call_is_reported_and_for_how_long_at_least)
{
	struct answer a;

	ck_assert_int_eq(ask().state, -1);
	fake_segment_be_in(&seg, "MPI_Recv", 1);
	world_run(&w, 10 * SEC);
	a = ask();
	ck_assert_str_eq(a.name, "MPI_Recv");
	ck_assert_str_eq(a.class, "receive");
	ck_assert_int_eq(a.state, CURRENT_IN);
	ck_assert(a.seconds >= 6 && a.seconds <= 10.1); /* looks are some seconds apart */
	ck_assert_int_eq(a.exact, 0);
	ck_assert_int_eq(a.partner, 1);
	ck_assert_int_eq(a.tag, 5);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Recv"), 0);
	fake_segment_be_in(&seg, "MPI_Recv", -2); /* another one: from any source */
	a = ask();
	ck_assert_double_lt(a.seconds, 0.1);
	ck_assert_int_eq(a.partner, -1);
	fake_segment_be_in(&seg, NULL, 0);
	world_run(&w, SEC);
	a = ask();
	ck_assert_int_eq(a.state, CURRENT_OUT);
	ck_assert_str_eq(a.name, "MPI_Recv");
}

TEST(a_call_that_is_timed_is_reported_exactly)
{
	struct answer a;

	world_ask(&w, OBSERVER, with(":omig_calls_enable([@],\"time\")", rank0));
	fake_segment_be_in(&seg, "MPI_Recv", 1);
	fake_segment_enter(&seg, "MPI_Recv");
	a = ask();
	ck_assert_int_eq(a.state, CURRENT_IN);
	ck_assert_int_eq(a.exact, 1);
}

TEST(a_rank_that_asks_again_and_again_waits)
{
	struct answer a;

	for (int i = 0; i < 20; i++) {
		fake_segment_be_in(&seg, "MPI_Test", 0);
		fake_segment_be_in(&seg, NULL, 0);
		world_run(&w, SEC);
	}
	a = ask();
	ck_assert_int_eq(a.state, CURRENT_ASKS);
	ck_assert_str_eq(a.name, "MPI_Test");
	ck_assert(a.seconds >= 16 && a.seconds <= 20.1);
	world_run(&w, 2 * CURRENT_ASKS_NS);
	/* the call was current at the last poll, and has ended since */
	ck_assert_int_eq(ask().state, CURRENT_OUT);
}

TEST(only_ranks_of_the_world_are_partners)
{
	struct seg_own own = seg.h->w;
	struct segview_current c = { .func = (unsigned)call_find("MPI_Recv"),
				     .comm = own.world,
				     .peer = 3 };

	ck_assert_int_eq(current_partner(&own, &c), 3);
	c.peer = own.world_size;
	ck_assert_int_eq(current_partner(&own, &c), CALL_PARTNER_UNKNOWN);
	c.peer = own.proc_null;
	ck_assert_int_eq(current_partner(&own, &c), CALL_PARTNER_NONE);
	c.peer = 3;
	c.comm |= UINT64_C(1) << 40; /* the upper half of an int */
	ck_assert_int_eq(current_partner(&own, &c), 3);
	own.flavour = SEG_FLAVOUR_OPENMPI;
	ck_assert_int_eq(current_partner(&own, &c), CALL_PARTNER_UNKNOWN);
	own.f_world = 0;
	c.comm = 0;
	c.is_fortran = true;
	ck_assert_int_eq(current_partner(&own, &c), 3);
	ck_assert(current_is_of_world(&own, &c));
	ck_assert_int_eq(current_source(&own, &c), CALL_PARTNER_UNKNOWN); /* it has one partner */
	c.func = (unsigned)call_find("MPI_Sendrecv");
	c.source = 1;
	c.source_tag = 9;
	ck_assert_int_eq(current_source(&own, &c), 1);
	ck_assert_int_eq(current_source_tag(&c), 9);
	c.source = own.proc_null;
	ck_assert_int_eq(current_source(&own, &c), CALL_PARTNER_NONE);
	c.func = (unsigned)call_find("MPI_Barrier");
	ck_assert_int_eq(current_source_tag(&c), -1);
	ck_assert(current_is_of_world(&own, &c));
	c.comm = 5;
	ck_assert(!current_is_of_world(&own, &c));
	ck_assert_int_eq(current_partner(&own, &c), CALL_PARTNER_UNKNOWN);
}

TEST(the_communicator_of_a_collective_is_its_handle_alone)
{
	const char *text;

	fake_segment_be_in(&seg, "MPI_Barrier", 0);
	fake_segment_thread(&seg, 0)->current.comm |= UINT64_C(1) << 40;
	text = entry_text(&world_ask(&w, OBSERVER, with(":omig_calls_now([@])", rank0))->entry[0]);
	ck_assert_ptr_nonnull(strstr(text, "\"MPI_Barrier\",\"barrier\",0,"));
	ck_assert_ptr_nonnull(strstr(text, ",-1,-1,1140850688,")); /* 0x44000000 */
}

SUITE_WITH("current", open_ranks, close_ranks)
