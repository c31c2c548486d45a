/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of collective calls: they count from MPI_Init on, and their probes report them. */
#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/ring/calls_id.h"
#include "libapp/hot/app_state.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/rank.h"

#include <string.h>

#define SEEN_MAX 64

static struct seen {
	unsigned probe;
	int64_t number;
	double seconds;
} seen[SEEN_MAX];
static unsigned nseen;

static void on_hit(void *arg, const struct segview_hit *h)
{
	(void)arg;
	if (nseen < SEEN_MAX)
		seen[nseen++] = (struct seen){ h->probe, h->par[0].i, h->par[1].f };
}

static void look(void)
{
	nseen = 0;
	for (unsigned i = 0; i < segview_threads(rank_view); i++)
		ck_assert_int_ge(segview_take(rank_view, i, UINT32_MAX,
					      &(struct segview_taker){ .on_hit = on_hit }),
				 0);
}

static unsigned probe_of(const char *name)
{
	int number = segview_probe_find(rank_view, name);

	ck_assert_msg(number >= 0, "no probe %s", name);
	return (unsigned)number;
}

static void on(const char *name, uint32_t word)
{
	ck_assert_int_eq(segview_probe_set(rank_view, probe_of(name), word), 0);
}

static int64_t next_barrier(void)
{
	on("MPI_Barrier", PROBE_RECORD);
	MPI_Barrier(FAKE_WORLD);
	on("MPI_Barrier", 0);
	look();
	ck_assert_uint_eq(nseen, 1);
	return seen[0].number;
}

static void set_up(void)
{
	static const uint64_t ticks[2] = { 1000, 2000 };
	static const nsec_t ns[2] = { 5000, 7000 };
	struct ticks_scale scale;

	rank_up();
	ck_assert_int_eq(ticks_scale_from_points(&scale, ticks, ns), 0);
	segview_scale_set(rank_view, &scale); /* a tick is 2 ns */
}

TEST(each_numbered_call_has_a_probe_of_its_name)
{
	for (unsigned k = 0; k < COLLECTIVES; k++) {
		const struct seg_probe *p =
			segview_probe(rank_view, probe_of(seg_collective_name(k)));

		ck_assert_uint_eq(p->nparam, 2);
		ck_assert(p->type[0] == SEG_I64 && p->type[1] == SEG_F64);
	}
	ck_assert_ptr_null(seg_collective_name(COLLECTIVES));
	ck_assert_int_eq(segview_probe_find(rank_view, "MPI_Ibarrier"), -1);
	ck_assert_int_eq(segview_probe_find(rank_view, "MPI_Neighbor_allgather"), -1);
	/* they are not probes of the program */
	ck_assert_uint_eq(segview_probes(rank_view), 0);
}

TEST(calls_count_while_their_probe_is_off)
{
	int64_t first = next_barrier();

	for (int i = 0; i < 5; i++)
		MPI_Barrier(FAKE_WORLD);
	ck_assert_int_eq(next_barrier(), first + 6);
}

TEST(any_hook_word_leaves_the_numbers_right)
{
	static const uint32_t words[] = { HOOK_COUNT, HOOK_COUNT | HOOK_TIME,
					  HOOK_COUNT | HOOK_TIME | 3 << HOOK_SAMPLE_SHIFT,
					  HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_SITE };
	int64_t last = next_barrier();

	for (size_t w = 0; w < ARRAY_LEN(words); w++) {
		rank_hooks(words[w]);
		for (int i = 0; i < 20; i++)
			MPI_Barrier(FAKE_WORLD);
		ck_assert_int_eq(next_barrier(), last + 21);
		last += 21;
		rank_hooks(0);
	}
}

TEST(other_communicators_and_failed_calls_do_not_count)
{
	int64_t first = next_barrier();

	MPI_Barrier(FAKE_OTHER);
	fake_end.result = 5;
	ck_assert_int_eq(MPI_Barrier(FAKE_WORLD), 5);
	fake_end.result = 0;
	on("MPI_Barrier", PROBE_RECORD);
	MPI_Barrier(FAKE_OTHER);
	fake_end.result = 5;
	MPI_Barrier(FAKE_WORLD);
	fake_end.result = 0;
	look();
	ck_assert_uint_eq(nseen, 0);
	on("MPI_Barrier", 0);
	ck_assert_int_eq(next_barrier(), first + 1);
}

TEST(a_function_has_numbers_of_its_own)
{
	int in = 1, out;
	int64_t barrier = next_barrier();

	on("MPI_Allreduce", PROBE_RECORD);
	for (int i = 0; i < 3; i++)
		MPI_Allreduce(&in, &out, 1, FAKE_INT, FAKE_SUM, FAKE_WORLD);
	on("MPI_Allreduce", 0);
	look();
	ck_assert_uint_eq(nseen, 3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(seen[i].probe, probe_of("MPI_Allreduce"));
		ck_assert_int_eq(seen[i].number, seen[0].number + i);
		ck_assert(seen[i].seconds >= 0 && seen[i].seconds < 60);
	}
	ck_assert_int_eq(next_barrier(), barrier + 1);
}

TEST(fortran_calls_have_the_same_numbers)
{
	int32_t world = (int32_t)FAKE_WORLD, other = (int32_t)FAKE_OTHER, ierr = 0;
	int64_t first = next_barrier();

	mpi_barrier_(&world, &ierr);
	mpi_barrier_(&other, &ierr);
	ck_assert_int_eq(next_barrier(), first + 2);
	on("MPI_Barrier", PROBE_RECORD);
	mpi_barrier_(&world, &ierr);
	look();
	ck_assert_uint_eq(nseen, 1);
	ck_assert_int_eq(seen[0].number, first + 3);
}

TEST(without_the_scale_of_a_host_nothing_is_reported)
{
	struct ticks_scale none = { 0 };
	int64_t first = next_barrier();

	app_header()->l.seq = 0;
	on("MPI_Barrier", PROBE_RECORD);
	MPI_Barrier(FAKE_WORLD);
	look();
	ck_assert_uint_eq(nseen, 0);
	none.mult = 1;
	segview_scale_set(rank_view, &none);
	on("MPI_Barrier", 0);
	ck_assert_int_eq(next_barrier(), first + 2);
}

TEST(silence_does_not_stop_the_count)
{
	int64_t first = next_barrier();

	on("MPI_Barrier", PROBE_RECORD);
	MPI_Pcontrol(0, NULL);
	MPI_Barrier(FAKE_WORLD);
	MPI_Pcontrol(1, NULL);
	look();
	ck_assert_uint_eq(nseen, 0);
	on("MPI_Barrier", 0);
	ck_assert_int_eq(next_barrier(), first + 2);
}

SUITE_WITH("collectives", set_up, rank_down)
