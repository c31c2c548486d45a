/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as text, as JSON and as commands. */
#include "common/json/json.h"
#include "common/ring/calls_id.h"
#include "tests/suite.h"
#include "tools/why/report.h"

#include <math.h>
#include <string.h>

static struct hosts_host names[] = { { .token = "n_1", .name = "node1" },
				     { .token = "n_2", .name = "node2" } };
static struct hosts hosts = { .host = names, .n = 2 };
static struct kept kept;
static struct term plain;

static struct why_rank ranks[3];
static struct why_host host_figures_of[2];

/* Rank 1 on node2 is late: it is 0.9 s a second outside of MPI, the others 0.5 s. */
static void plant_block(void)
{
	struct blocks_block *b = &kept.block[0];

	for (int i = 0; i < 3; i++) {
		why_rank_clear(&ranks[i], i, i == 1);
		ranks[i].seconds = 1;
		for (size_t k = 0; k < WHY_CLASSES; k++)
			ranks[i].delay[k] = 0;
		ranks[i].delay[WHY_NXN] = i == 1 ? 0.1 : 0.5;
	}
	ranks[1].figure[WHY_RUN_DELAY] = 0.4;
	ranks[1].figure[WHY_COMPUTE] = 0.55;
	why_host_clear(&host_figures_of[0]);
	why_host_clear(&host_figures_of[1]);
	host_figures_of[1].figure[WHY_FOREIGN] = 1.5;
	*b = (struct blocks_block){ .block = { .begin = 1,
					       .end = 1 + NSEC_PER_SEC,
					       .rank = ranks,
					       .nrank = 3,
					       .host = host_figures_of,
					       .nhost = 2,
					       .world_size = 3 } };
	for (size_t i = 0; i < WHY_CLASSES; i++)
		b->call[i] = -1;
	b->call[WHY_NXN] = CALL_ID_Allreduce;
	kept.n = 1;
}

static const struct why_finding late = {
	.number = 1,
	.id = WHY_W2,
	.severity = { 0.183, 0.16, 0.2 },
	.is_lower_bound = true,
	.log_e = 15.2,
	.is_sure = true,
	.rank = { 1 },
	.nrank = 1,
	.host = { 1 },
	.nhost = 1,
	.ratio = { 1.42, 1.38, 1.47 },
	.cause = { { .id = WHY_C2, .share = { 0.88, 0.8, 0.95 }, .is_sure = true } },
	.ncause = 1,
	.since = NSEC_PER_SEC,
	.found = 3 * NSEC_PER_SEC,
	.ranks_covered = 3,
	.ranks_of = 4,
};

static struct why *search;

static struct report report(void)
{
	if (!search)
		search = why_new(NULL, NULL);
	plant_block();
	return (struct report){ .why = search,
				.kept = &kept,
				.hosts = &hosts,
				.job = "heat.7",
				.program = "heat2d",
				.threshold = 0.02 };
}

static void is_in(const struct buf *text, const char *words)
{
	ck_assert_msg(strstr((const char *)text->p, words), "no '%s' in %s", words, text->p);
}

TEST(a_finding_has_number_interval_place_cause_and_commands)
{
	const struct report r = report();
	struct buf out = BUF_INIT(65536);

	report_finding(&r, &plain, &late, &out);
	buf_str(&out);
	is_in(&out, "1   at least 18 % [16, 20]  ranks wait at MPI_Allreduce for rank 1 on node2  "
		    "sure (1 in ");
	is_in(&out,
	      "the rank is outside of MPI 1.42 times [1.38, 1.47] as long as the median rank");
	is_in(&out, "on a processor for 55 % of the time, ready without one for 40 %\n");
	is_in(&out, "88 % [80, 95] of the excess: the rank is ready without a processor\n");
	is_in(&out, "node2 has 1.5 processors busy with other programs");
	is_in(&out, "3 of 4 ranks replied");
	is_in(&out, "see: omig measure Run_delay --by process --since-last --rate --count 3 --job "
		    "heat.7\n");
	is_in(&out, "try: pin each rank to a processor of its own");
	buf_done(&out);
	why_free(search);
	search = NULL;
}

/* Unknown is said, and no advice follows from what is only likely. */
TEST(an_unsure_finding_has_no_advice)
{
	struct why_finding f = late;
	const struct report r = report();
	struct buf out = BUF_INIT(65536);

	f.is_sure = f.cause[0].is_sure = false;
	f.ratio = (struct why_range){ NAN, NAN, NAN };
	report_finding(&r, &plain, &f, &out);
	buf_str(&out);
	is_in(&out, "the loss is sure, its place is likely");
	is_in(&out, "(likely)");
	ck_assert_ptr_null(strstr((const char *)out.p, "try:"));
	ck_assert_ptr_null(strstr((const char *)out.p, "nan"));
	buf_done(&out);
	why_free(search);
	search = NULL;
}

TEST(a_job_that_a_shell_would_change_is_in_no_command)
{
	struct report r = report();
	struct commands c;

	r.job = "a; b";
	commands_of(&r, &late, &c);
	ck_assert_uint_ge(c.n, 2);
	for (size_t i = 0; i < c.n; i++)
		ck_assert_ptr_null(strstr(c.line[i], "--job"));
	why_free(search);
	search = NULL;
}

TEST(json_has_null_for_what_is_unknown)
{
	struct why_finding f = late;
	const struct report r = report();
	struct buf out = BUF_INIT(65536);
	struct json j;

	f.ratio = (struct why_range){ NAN, NAN, NAN };
	f.log_e = 5000;
	json_init(&j, &out);
	json_object(&j);
	report_finding_json(&r, &f, &j);
	json_object_end(&j);
	ck_assert_int_eq(json_end(&j), 0);
	buf_str(&out);
	is_in(&out, "\"v\":1,\"kind\":\"finding\",\"id\":1,\"hypothesis\":\"W2\"");
	is_in(&out, "\"severity\":0.183,\"low\":0.16,\"high\":0.2,\"is_lower_bound\":true,\"e\":");
	ck_assert_ptr_null(strstr((const char *)out.p, "\"e\":null"));
	is_in(&out, "\"until\":null,\"ranks\":[1],\"hosts\":[\"node2\"]");
	is_in(&out, "\"ratio\":null");
	is_in(&out, "\"coverage\":{\"ranks\":3,\"of\":4}");
	buf_done(&out);
	why_free(search);
	search = NULL;
}

TEST(an_explanation_compares_the_culprit_with_the_median)
{
	const struct report r = report();
	struct buf out = BUF_INIT(65536);

	ck_assert_int_eq(report_explain(&r, &plain, &late, &out), 0);
	buf_str(&out);
	is_in(&out, "1     1.00      3     63.3     50.0      90.0  55.0    40.0      -\n");
	buf_done(&out);
	why_free(search);
	search = NULL;
}

SUITE("report of a search")
