/* SPDX-License-Identifier: Apache-2.0 */
/* Lost events are reported even without another event. */
#include "common/base/limits.h"
#include "common/omis/text/status.h"
#include "common/ring/calls.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <signal.h>

static const struct msg_losses *next_losses(void)
{
	const struct msg *m = above_next(&w.mainsm, MSG_LOSSES);

	return m ? &m->losses : NULL;
}

TEST(too_many_events_a_second_are_dropped_and_counted)
{
	const struct msg_losses *m;
	uint64_t reported = 0, lost = 0;

	open_ranks();
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", rank0, 0, true);
	world_run(&w, SEC - loop_now(w.loop) % SEC); /* until a new second begins */
	for (int i = 0; i < 60; i++) {
		for (int k = 0; k < 20; k++)
			fake_segment_call(&seg,
					  &(struct fake_call){ .name = "MPI_Send", .partner = 1 });
		world_run(&w, 15 * MS);
	}
	while (next_triggered())
		reported++;
	ck_assert_uint_eq(reported, TOOL_FIRINGS_PER_SEC_MAX);
	lost = w.mainsm.got.seen = 0;
	while ((m = next_losses())) {
		ck_assert(!m->is_last);
		lost += m->dropped;
	}
	world_run(&w, SEC);
	m = next_losses();
	ck_assert_uint_eq(lost + (m ? m->dropped : 0), 1200 - TOOL_FIRINGS_PER_SEC_MAX);
	call(&seg, "MPI_Send", 1, 1);
	ck_assert_uint_eq(next_triggered()->dropped, 0);
	close_ranks();
}

TEST(an_ended_job_reports_its_losses)
{
	const struct msg_losses *m;

	open_ranks();
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", rank0, 0, true);
	world_run(&w, SEC - loop_now(w.loop) % SEC);
	for (int i = 0; i < TOOL_FIRINGS_PER_SEC_MAX + 50; i++) {
		fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Send", .partner = 1 });
		if (i % 20 == 0)
			world_run(&w, 10 * MS);
	}
	fake_proc_end(fake_proc_find(&w.host, 100), 0);
	world_run(&w, SEC);
	m = next_losses();
	ck_assert_ptr_nonnull(m);
	ck_assert_uint_eq(m->dropped, 50);
	ck_assert_ptr_null(next_losses());
	close_ranks();
}

TEST(disarm_counts_unreported_events_as_dropped)
{
	const struct msg_losses *m;

	open_ranks();
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", rank0, 0, true);
	world_run(&w, 5 * MS); /* the next 5 ms have no poll of the rings */
	above_skip_all(&w.mainsm);
	for (int i = 0; i < 3; i++)
		fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Send", .partner = 1 });
	above_send(&w.mainsm, &(struct msg){ .type = MSG_DISARM, .disarm = { "c_5" } });
	loop_advance(w.loop, 2 * MS);
	m = next_losses();
	ck_assert_ptr_nonnull(m);
	ck_assert(m->is_last);
	ck_assert_uint_eq(m->dropped, 3);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_DISARM, .disarm = { "c_99" } });
	world_run(&w, 10 * MS);
	m = next_losses();
	ck_assert(m->is_last && !m->dropped);
	close_ranks();
}

SUITE("lm losses")
