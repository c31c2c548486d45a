/* SPDX-License-Identifier: Apache-2.0 */
/* Growth on paper: the output follows from the shape of the tree, and nothing counted is lost. */
#include "common/base/log.h"
#include "common/base/array.h"
#include "sim/studies/growth_run.h"
#include "tests/suite.h"

#define HOSTS 27

static void run(const struct growth_conf *c, struct growth_point *p, struct growth_front *f)
{
	struct err e = { 0 };
	int rc;

	log_set_level(LOG_LEVEL_ERROR);
	rc = p ? growth_measure(c, p, &e) : growth_measure_front(c, f, &e);
	ck_assert_msg(!rc, "%s", e.text);
}

static struct growth_point measure(unsigned levels)
{
	struct growth_conf c = { .seed = 1, .hosts = HOSTS, .levels = levels };
	struct growth_point p = { 0 };

	run(&c, &p, NULL);
	return p;
}

TEST(a_request_costs_mainsm_a_frame_each_way_for_each_branch)
{
	struct growth_point flat = measure(1), deep = measure(2);

	ck_assert_uint_eq(flat.sites, 5);
	ck_assert_uint_eq(deep.sites, 3);
	ck_assert_uint_eq(deep.sms, 3 + 3 * 3);
	ck_assert_double_eq(flat.v[GROWTH_REQUEST_FRAMES], 2 * 5 + 2); /* the tool's too */
	ck_assert_double_eq(deep.v[GROWTH_REQUEST_FRAMES], 2 * 3 + 2);
	/* Each host answers; each line and each frame takes its time. */
	ck_assert_double_gt(flat.v[GROWTH_REQUEST_BYTES], HOSTS * 10);
	ck_assert_double_gt(flat.v[GROWTH_REQUEST_MS], 6 * 0.1);
	ck_assert_double_gt(deep.v[GROWTH_REQUEST_MS], 8 * 0.1);
	ck_assert_double_gt(flat.v[GROWTH_IDLE_FRAMES], deep.v[GROWTH_IDLE_FRAMES]);
}

TEST(events_cost_the_top_nothing_unless_evaluated_there)
{
	struct growth_conf c = { .seed = 1, .hosts = 9, .levels = 1 };
	struct growth_front born = { .rate = 100 }, top = { .rate = 100, .is_central = true };

	run(&c, NULL, &born);
	run(&c, NULL, &top);
	ck_assert_double_eq_tol(born.events, 900, 20);
	ck_assert_double_eq_tol(top.events, 900, 20);
	ck_assert_double_gt(top.bytes, 2 * born.bytes);
	ck_assert_double_gt(top.busy, born.busy);
}

TEST(lists_have_numbers_with_commas)
{
	unsigned v[3], n = 0;
	struct err e = { 0 };

	ck_assert_int_eq(growth_parse_list("1,20,300", &(struct growth_list){ v, 3, 300 }, &n, &e),
			 0);
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(v[2], 300);
	ck_assert_int_eq(growth_parse_list("7", &(struct growth_list){ v, 3, 300 }, &n, &e), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(growth_parse_list("1,2,3,4", &(struct growth_list){ v, 3, 300 }, &n, &e),
			 -ERR_INVALID);
	ck_assert_int_eq(growth_parse_list("1,", &(struct growth_list){ v, 3, 300 }, &n, &e),
			 -ERR_INVALID);
	ck_assert_int_eq(growth_parse_list("", &(struct growth_list){ v, 3, 300 }, &n, &e),
			 -ERR_INVALID);
	ck_assert_int_eq(growth_parse_list("0", &(struct growth_list){ v, 3, 300 }, &n, &e),
			 -ERR_INVALID);
	ck_assert_int_eq(growth_parse_list("301", &(struct growth_list){ v, 3, 300 }, &n, &e),
			 -ERR_INVALID);
	ck_assert_int_eq(growth_parse_list("99999999999999999999999999",
					   &(struct growth_list){ v, 3, 300 }, &n, &e),
			 -ERR_INVALID);
}

TEST(hosts_beyond_the_free_memory_are_refused_with_a_remedy)
{
	const uint64_t enough = UINT64_C(100000) * GROWTH_HOST_BYTES;
	struct err e = { 0 };

	ck_assert_int_eq(growth_fits(100000, enough, &e), 0);
	ck_assert_int_eq(growth_fits(100000, enough - 1, &e), -ERR_LIMIT);
	ck_assert_int_eq(growth_fits(100000, enough / 2, &e), -ERR_LIMIT);
	ck_assert_str_eq(
		e.text,
		"100000 hosts need about 9.2 GiB of memory, but 4.6 GiB are free: simulate fewer hosts, or use a larger machine");
}

int main(void)
{
	setenv("CK_DEFAULT_TIMEOUT", "120", 0);
	return suite_run("growth", NULL, NULL);
}
