/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/mainsm/history/history_samples.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = { "MPI_Send", "MPI_Waitall", "MPI_Allreduce" };
static const char *const classes[] = { "send", "wait", "collective" };

const struct history_job *samples_job(unsigned i)
{
	static struct history_call call[3];
	static struct history_job j;
	static char name[32];

	snprintf(name, sizeof(name), "job-%u", i % 3);
	for (unsigned k = 0; k < 3; k++)
		call[k] = (struct history_call){ names[(i + k) % 3],	classes[(i + k) % 3], i + k,
						 1000 * (int64_t)i + k, 7 * (int64_t)i,	      k };
	j = (struct history_job){ .wall = SAMPLES_START + i * SAMPLES_EACH,
				  .job = name,
				  .program = "heat2d",
				  .span_ms = 10000 + i,
				  .began_ms = i,
				  .world_size = 8,
				  .processes = 9,
				  .alive = 8,
				  .ranks = 8,
				  .nodes = 2,
				  .missing = i % 2,
				  .counted = 7,
				  .volumes = 6,
				  .answered = 8,
				  .in_mpi = 3,
				  .exit_status = i % 2 ? -1 : 9,
				  .flags = i % 4,
				  .cpu_ms = 12345 + i,
				  .rss = INT64_C(1) << 40,
				  .rss_max = i,
				  .call = call,
				  .ncall = 1 + i % 3 };
	return &j;
}

static float value_of(unsigned i, unsigned rank, unsigned column)
{
	if (column == HISTORY_CALLS_S)
		return NAN;
	return column == HISTORY_STATE ? 0 : (float)(i + 1) * (float)(rank + 1) / (float)column;
}

const struct history_ranks *samples_ranks(unsigned i)
{
	static struct history_rank rank[SAMPLES_RANKS];
	static struct history_ranks r;

	for (unsigned k = 0; k < SAMPLES_RANKS; k++) {
		rank[k].rank = k < 3 ? k : 10 * k;
		for (unsigned c = 0; c < HISTORY_COLUMNS; c++)
			rank[k].value[c] = value_of(i, k, c);
	}
	r = (struct history_ranks){ .wall = SAMPLES_START + i * SAMPLES_EACH,
				    .job = "job-r",
				    .nodes = "n1:0-2 n2:30 n2:40",
				    .span_ms = i,
				    .rank = rank,
				    .n = SAMPLES_RANKS };
	return &r;
}

static unsigned number_of(nsec_t wall)
{
	ck_assert_int_eq((wall - SAMPLES_START) % SAMPLES_EACH, 0);
	return (unsigned)((wall - SAMPLES_START) / SAMPLES_EACH);
}

unsigned samples_check_job(const struct history_job *j)
{
	unsigned i = number_of(j->wall);
	struct history_job want = *samples_job(i), got = *j;

	ck_assert_str_eq(got.job, want.job);
	ck_assert_str_eq(got.program, want.program);
	ck_assert_uint_eq(got.ncall, want.ncall);
	for (size_t k = 0; k < got.ncall; k++) {
		ck_assert_str_eq(got.call[k].name, want.call[k].name);
		ck_assert_str_eq(got.call[k].class, want.call[k].class);
		ck_assert_int_eq(got.call[k].count, want.call[k].count);
		ck_assert_int_eq(got.call[k].delay_ns, want.call[k].delay_ns);
		ck_assert_int_eq(got.call[k].bytes_out, want.call[k].bytes_out);
		ck_assert_int_eq(got.call[k].bytes_in, want.call[k].bytes_in);
	}
	got.job = want.job;
	got.program = want.program;
	got.call = want.call;
	ck_assert(!memcmp(&got, &want, sizeof(got)));
	return i;
}

unsigned samples_check_ranks(const struct history_ranks *r)
{
	unsigned i = number_of(r->wall);
	const struct history_ranks *want = samples_ranks(i);

	ck_assert_str_eq(r->job, want->job);
	ck_assert_str_eq(r->nodes, want->nodes);
	ck_assert_int_eq(r->span_ms, want->span_ms);
	ck_assert_uint_eq(r->n, want->n);
	for (size_t k = 0; k < r->n; k++) {
		ck_assert_int_eq(r->rank[k].rank, want->rank[k].rank);
		for (unsigned c = 0; c < HISTORY_COLUMNS; c++) {
			double v = (double)want->rank[k].value[c],
			       got = (double)r->rank[k].value[c];

			ck_assert(isnan(v) == isnan(got));
			ck_assert(isnan(v) || fabs(got - v) <= HISTORY_RANK_ERROR * fabs(v));
		}
	}
	return i;
}
