/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the disk a day of a large job takes. */
#include "common/base/rng.h"
#include "mainsm/history/history.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/history/history_samples.h"

#define DAY_RANKS 1024

static struct history_writer w;

static struct history_call calls[12];

static struct history_job make_job(struct rng *rng, unsigned i)
{
	static const char *const functions[] = { "MPI_Isend",	  "MPI_Irecv",	  "MPI_Waitall",
						 "MPI_Wait",	  "MPI_Send",	  "MPI_Recv",
						 "MPI_Allreduce", "MPI_Reduce",	  "MPI_Bcast",
						 "MPI_Barrier",	  "MPI_Alltoall", "MPI_Test" };

	for (unsigned k = 0; k < 12; k++)
		calls[k] = (struct history_call){ functions[k],
						  "collective",
						  (int64_t)rng_below(rng, 10000000),
						  (int64_t)rng_below(rng, 5000000000000),
						  (int64_t)rng_below(rng, 50000000000),
						  (int64_t)rng_below(rng, 50000000000) };
	return (struct history_job){ .wall = SAMPLES_START + i * SAMPLES_EACH,
				     .job = "slurm-4711.0",
				     .program = "heat2d",
				     .span_ms = 10000,
				     .began_ms = INT64_C(1700000000000),
				     .world_size = DAY_RANKS,
				     .processes = DAY_RANKS,
				     .alive = DAY_RANKS,
				     .ranks = DAY_RANKS,
				     .nodes = 16,
				     .counted = DAY_RANKS,
				     .volumes = DAY_RANKS,
				     .answered = DAY_RANKS,
				     .in_mpi = (int64_t)rng_below(rng, DAY_RANKS),
				     .cpu_ms = 10000 * DAY_RANKS,
				     .rss = INT64_C(1) << 40,
				     .rss_max = INT64_C(1) << 31,
				     .call = calls,
				     .ncall = 12 };
}

/* Five classes of calls, processor time, memory, calls and bytes differ from rank to rank. */
static void make_ranks(struct rng *rng, struct history_rank *rank)
{
	for (unsigned i = 0; i < DAY_RANKS; i++) {
		rank[i] = (struct history_rank){ .rank = i };
		for (unsigned c = HISTORY_CPU; c < HISTORY_SHARES + 5; c++)
			rank[i].value[c] = (float)rng_double(rng);
	}
}

static void write_ranks(struct rng *rng, nsec_t wall)
{
	static struct history_rank rank[DAY_RANKS];

	make_ranks(rng, rank);
	for (unsigned i = 0; i < DAY_RANKS; i += HISTORY_RANKS_EACH_MAX) {
		const struct history_ranks r = { wall,
						 "slurm-4711.0",
						 "node001:0-63 node002:64-127 node003:128-191 "
						 "node004:192-255 node005:256-319 node006:320-383 "
						 "node007:384-447 node008:448-511",
						 10000,
						 &rank[i],
						 HISTORY_RANKS_EACH_MAX };

		ck_assert_int_eq(history_write_ranks(&w, &r, NULL), 0);
	}
}

TEST(a_day_of_a_thousand_ranks_has_less_than_four_mib)
{
	const unsigned each = (DAY_RANKS + HISTORY_RANKS_EACH - 1) / HISTORY_RANKS_EACH;
	const unsigned job_each = (DAY_RANKS + HISTORY_JOB_EACH - 1) / HISTORY_JOB_EACH;
	struct rng rng;
	size_t bytes = 0;

	rng_init(&rng, 3);
	for (unsigned i = 0; i < 86400 / 10; i++) {
		const struct history_job j = make_job(&rng, i);

		if (i % job_each == 0)
			ck_assert_int_eq(history_write_job(&w, &j, NULL), 0);
		if (i % each == 0)
			write_ranks(&rng, j.wall);
		if (i % (HISTORY_BLOCK_NS / HISTORY_SAMPLE_NS) == 0)
			ck_assert_int_eq(history_writer_cut(&w, NULL), 0);
		bytes += w.out.out.n;
		buf_clear(&w.out.out);
	}
	printf("a day: %zu bytes\n", bytes);
	ck_assert_uint_le(bytes, 4u << 20);
}

static void set_up(void)
{
	history_writer_init(&w, 77);
}

static void clean_up(void)
{
	history_writer_done(&w);
}

SUITE_WITH("history/day", set_up, clean_up)
