/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/omis/omis.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

static struct omis_request *checked(const char *text)
{
	struct omis_request *r = NULL;
	struct omis_diag d = { 0 };

	ck_assert_int_eq(omis_parse_inner(text, strlen(text), &r, NULL), 0);
	ck_assert_msg(!omis_check(r, &d), "%s", d.err.text);
	return r;
}

/* "1 n_1,n_2 OK 5; 1 n_3 OS_ERROR no" */
static char *shown(const struct reply *r)
{
	struct buf b = BUF_INIT(1000000);

	for (size_t i = 0; i < r->nentry; i++) {
		const struct reply_entry *e = &r->entry[i];

		buf_printf(&b, "%s%u '%s' %s '%s'", i ? "; " : "", e->action, e->objects,
			   status_name(e->status), e->value);
	}
	return (char *)buf_take(&b, NULL);
}

static void shows(const struct reply *r, const char *want)
{
	char *s = shown(r);

	ck_assert_str_eq(s, want);
	free(s);
}

static void merges(struct reply *r, const char *request, const char *want)
{
	struct omis_request *q = checked(request);

	ck_assert_int_eq(reply_merge(r, q, NULL), 0);
	shows(r, want);
	ck_assert_int_eq(reply_merge(r, q, NULL), 0);
	shows(r, want);
	omis_request_free(q);
}

TEST(reply_add_error_formats_its_text)
{
	struct reply *r = reply_new();

	ck_assert_int_eq(
		reply_add_error(r, 3, "t_1_000000", STATUS_OS_ERROR, "%s: %d of %d", "disk", 7, 9),
		0);
	ck_assert_uint_eq(r->nentry, 1);
	ck_assert_uint_eq(r->entry[0].action, 3);
	ck_assert_uint_eq(r->entry[0].status, STATUS_OS_ERROR);
	ck_assert_str_eq(r->entry[0].objects, "t_1_000000");
	ck_assert_str_eq(r->entry[0].value, "disk: 7 of 9");
	reply_free(r);
}

TEST(void_results_become_all_others_fine_behind_the_errors)
{
	struct reply *r = reply_new();

	reply_add(r, 1, "t_1_000001", STATUS_OK, NULL);
	reply_add(r, 1, "t_1_000002", STATUS_OS_ERROR, "no");
	reply_add(r, 1, "", STATUS_OK, "");
	reply_add(r, 1, "t_1_000003", STATUS_UNKNOWN_OBJECT, "gone");
	merges(r, ":thread_stop([])",
	       "1 't_1_000002' OS_ERROR 'no'; 1 't_1_000003' UNKNOWN_OBJECT 'gone'; 1 '' OK ''");
	reply_free(r);
}

TEST(errors_alone_do_not_claim_that_others_are_fine)
{
	struct reply *r = reply_new();

	reply_add(r, 1, "t_1_000002", STATUS_OS_ERROR, "no");
	merges(r, ":thread_stop([])", "1 't_1_000002' OS_ERROR 'no'");
	reply_free(r);
}

TEST(equal_results_join_their_objects_in_order)
{
	struct reply *r = reply_new();

	reply_add(r, 1, "n_3", STATUS_OK, "\"b\"");
	reply_add(r, 1, "n_1", STATUS_OK, "\"a\"");
	reply_add(r, 1, "n_4,n_5", STATUS_OK, "\"b\"");
	reply_add(r, 1, "n_6", STATUS_OS_ERROR, "\"b\"");
	reply_add(r, 1, "n_7", STATUS_OS_ERROR, "\"b\"");
	merges(r, ":node_get_info([],1)",
	       "1 'n_3,n_4,n_5' OK '\"b\"'; 1 'n_1' OK '\"a\"'; 1 'n_6,n_7' OS_ERROR '\"b\"'");
	reply_free(r);
}

TEST(values_with_zero_bytes_are_compared_whole)
{
	struct omis_request *q = checked(":print([1])");
	struct reply *r = reply_new();

	reply_add_n(r, 1, "n_1", STATUS_OK, bytes_at("3#a\0b", 5));
	reply_add_n(r, 1, "n_2", STATUS_OK, bytes_at("3#a\0c", 5));
	reply_add_n(r, 1, "n_3", STATUS_OK, bytes_at("3#a\0b", 5));
	ck_assert_int_eq(reply_merge(r, q, NULL), 0);
	ck_assert_uint_eq(r->nentry, 2);
	ck_assert_str_eq(r->entry[0].objects, "n_1,n_3");
	ck_assert_uint_eq(r->entry[0].nvalue, 5);
	ck_assert_mem_eq(r->entry[0].value, "3#a\0b", 6);
	omis_request_free(q);
	reply_free(r);
}

TEST(entries_come_in_the_order_of_the_actions)
{
	struct reply *r = reply_new();

	reply_add(r, 3, "", STATUS_OK, "1");
	reply_add(r, 1, "n_2", STATUS_OK, "\"b\"");
	reply_add(r, 2, "", STATUS_OK, NULL);
	reply_add(r, 0, "p_1_000000", STATUS_CSR_TRIGGERED, NULL);
	reply_add(r, 1, "n_1", STATUS_OK, "\"a\"");
	merges(r, ":node_get_info([],1) thread_stop([]) print([1])",
	       "0 'p_1_000000' CSR_TRIGGERED ''; 1 'n_2' OK '\"b\"'; 1 'n_1' OK '\"a\"'; 2 '' OK "
	       "''; 3 '' OK '1'");
	reply_free(r);
}

TEST(an_action_about_no_object_succeeds)
{
	struct reply *r = reply_new();

	merges(r, ":node_get_info([],1) thread_stop([])", "1 '' OK ''; 2 '' OK ''");
	reply_free(r);
}

TEST(an_action_that_nothing_answered_claims_nothing)
{
	struct reply *r = reply_new();

	reply_add_missing(r, "n_1", "silent");
	merges(r, ":thread_stop([])", "");
	reply_free(r);
}

TEST(parts_of_a_global_counter_are_added_up)
{
	struct reply *r = reply_new();

	reply_add(r, 1, "pa_c_1", STATUS_OK, "5");
	reply_add(r, 1, "pa_c_2", STATUS_OK, "1");
	reply_add(r, 1, "pa_c_1", STATUS_OK, "7");
	reply_add(r, 1, "pa_c_1", STATUS_OS_ERROR, "no");
	reply_add(r, 1, "pa_c_1", STATUS_OK, "-20");
	reply_add(r, 1, "p_1_000000", STATUS_OK, "pa_cl_3,2");
	reply_add(r, 1, "p_1_000000", STATUS_OK, "pa_cl_4,2");
	merges(r, ":pa_counter_read([])",
	       "1 'pa_c_1' OK '-8'; 1 'pa_c_2' OK '1'; 1 'pa_c_1' OS_ERROR 'no'; 1 'p_1_000000' OK "
	       "'pa_cl_3,2'; "
	       "1 'p_1_000000' OK 'pa_cl_4,2'");
	reply_free(r);
}

TEST(a_sum_beyond_64_bits_becomes_a_float)
{
	struct reply *r = reply_new();

	reply_add(r, 1, "pa_c_1", STATUS_OK, "9223372036854775807");
	reply_add(r, 1, "pa_c_1", STATUS_OK, "9223372036854775807");
	merges(r, ":pa_counter_read([])", "1 'pa_c_1' OK '1.8446744073709552e+19'");
	reply_free(r);
}

TEST(integrators_are_added_at_the_latest_time)
{
	struct reply *r = reply_new();

	/* At time 5: 10 + 2 * (5 - 3), and 1, and 0. */
	reply_add(r, 1, "pa_i_1", STATUS_OK, "10.0,2.0,3.0");
	reply_add(r, 1, "pa_i_1", STATUS_OK, "1.0,3.0,5.0");
	reply_add(r, 1, "pa_i_1", STATUS_OK, "0,0,4");
	merges(r, ":pa_integrator_read([])", "1 'pa_i_1' OK '15.0,5.0,5.0'");
	reply_free(r);
}

TEST(measures_are_added_over_the_widest_time)
{
	struct reply *r = reply_new();

	reply_add(r, 1, "pa_c_1", STATUS_OK, "10,2.0,3.0");
	reply_add(r, 1, "pa_c_1", STATUS_OK, "5,1.5,2.5");
	reply_add(r, 2, "pa_i_1", STATUS_OK, "0.5,1.0,3.0");
	reply_add(r, 2, "pa_i_1", STATUS_OK, "0.25,1.5,2.5");
	merges(r, ":patop_measurement_counter_read([],0) patop_measurement_integrator_read([],3)",
	       "1 'pa_c_1' OK '15,1.5,3.0'; 2 'pa_i_1' OK '0.75,1.0,3.0'");
	reply_free(r);
}

TEST(parts_that_are_no_sums_stay_apart)
{
	struct reply *r = reply_new();

	reply_add(r, 1, "pa_i_1", STATUS_OK, "1.0,2.0");
	reply_add(r, 1, "pa_i_1", STATUS_OK, "1.0,2.0,3.0");
	reply_add(r, 1, "pa_i_1", STATUS_OK, "\"x\",2.0,3.0");
	reply_add(r, 1, "pa_i_1", STATUS_OK, "][");
	merges(r, ":pa_integrator_read([])",
	       "1 'pa_i_1' OK '1.0,2.0'; 1 'pa_i_1' OK '1.0,2.0,3.0'; 1 'pa_i_1' OK "
	       "'\"x\",2.0,3.0'; 1 'pa_i_1' OK ']['");
	reply_free(r);
}

TEST(action_numbers_may_be_those_of_a_larger_request)
{
	static const uint32_t numbers[] = { 3, 9 };
	struct omis_request *q = checked(":thread_stop([]) node_get_info([],1)");
	struct reply *r = reply_new();

	reply_add(r, 9, "n_1", STATUS_OK, "1");
	reply_add(r, 3, "t_1_000000", STATUS_OK, "");
	reply_add(r, 4294967295u, "n_1", STATUS_OK, "2");
	ck_assert_int_eq(reply_merge(r, q, numbers), 0);
	shows(r, "3 '' OK ''; 9 'n_1' OK '1'; 4294967295 'n_1' OK '2'");
	omis_request_free(q);
	reply_free(r);
}

TEST(appending_adds_entries_and_coverage)
{
	struct reply *a = reply_new(), *b = reply_new();

	reply_add(a, 1, "n_1", STATUS_OK, "1");
	reply_add(b, 1, "n_2", STATUS_OK, "2");
	a->coverage = (struct reply_coverage){ .asked = 3, .answered = 2 };
	reply_add_missing(a, "n_9", "lost");
	reply_add_time(a, 100, 200);
	b->coverage.asked = UINT32_MAX - 1;
	b->coverage.answered = 1;
	reply_add_missing(b, "n_9", "lost");
	reply_add_missing(b, "n_9", "silent");
	reply_add_time(b, 50, 150);
	reply_add_time(b, 0, 0);
	ck_assert_int_eq(reply_append(a, b), 0);
	shows(a, "1 'n_1' OK '1'; 1 'n_2' OK '2'");
	ck_assert_uint_eq(a->coverage.asked, UINT32_MAX);
	ck_assert_uint_eq(a->coverage.answered, 3);
	ck_assert_uint_eq(a->coverage.nmissing, 2);
	ck_assert_int_eq(a->coverage.oldest_ns, 50);
	ck_assert_int_eq(a->coverage.newest_ns, 200);
	ck_assert(reply_is_partial(a));
	reply_free(a);
	reply_free(b);
}

TEST(names_of_what_is_missing_are_bounded_but_counted)
{
	struct reply *r = reply_new();
	char name[32];

	for (int i = 0; i < REPLY_MISSING_MAX + 5; i++) {
		snprintf(name, sizeof(name), "n_%d", i);
		ck_assert_int_eq(reply_add_missing(r, name, "lost"), 0);
	}
	ck_assert_uint_eq(r->coverage.nmissing, REPLY_MISSING_MAX);
	ck_assert_uint_eq(r->coverage.more_missing, 5);
	reply_free(r);
}

TEST(entries_are_bounded)
{
	struct reply *r = reply_new();

	for (int i = 0; i < REPLY_ENTRIES_MAX; i++)
		ck_assert_int_eq(reply_add(r, 1, "", STATUS_OK, NULL), 0);
	ck_assert_int_eq(reply_add(r, 1, "", STATUS_OK, NULL), -ERR_LIMIT);
	ck_assert_uint_eq(r->nentry, REPLY_ENTRIES_MAX);
	reply_free(r);
}

TEST(the_first_error_in_the_order_of_actions_is_the_status)
{
	struct reply *r = reply_new();

	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	ck_assert(!reply_is_partial(r));
	reply_add(r, 0, "", STATUS_CSR_DEFINED, "c_1");
	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	reply_add(r, 2, "", STATUS_OS_ERROR, NULL);
	reply_add(r, 1, "", STATUS_NO_PERMISSION, NULL);
	ck_assert_uint_eq(reply_status(r), STATUS_NO_PERMISSION);
	reply_free(r);
}

TEST(a_wrong_request_is_answered_by_entry_0_alone)
{
	struct reply *r = reply_new();
	struct omis_request *q = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(omis_parse(":version(", 9, &q, &e), -ERR_PARSE);
	ck_assert_int_eq(reply_from_diag(r, STATUS_SYNTAX_ERROR, &e), 0);
	shows(r, "0 '' SYNTAX_ERROR 'expected a value, found the end at offset 9'");
	reply_free(r);
}

TEST(every_failed_allocation_of_a_reply_is_survived)
{
	struct omis_request *q =
		checked(":pa_counter_read([]) node_get_info([],1) thread_stop([])");

	ALLOC_SWEEP (k) {
		struct reply *r = reply_new(), *s = reply_new();
		bool whole = r && s;
		int rc = -ERR_NOMEM;

		if (whole) {
			for (int i = 0; i < 20; i++) {
				whole &= !reply_add(r, 2, "n_1", STATUS_OK,
						    "\"a long value that fills the block\"");
				whole &= !reply_add(s, 1, "pa_c_1", STATUS_OK, "1");
			}
			whole &= !reply_add_missing(s, "n_2", "lost") && !reply_set_csr(r, "c_1");
			whole &= !reply_add_error(s, 3, "t_1_000000", STATUS_OS_ERROR, "%s", "no");
			rc = reply_append(r, s);
			if (!rc)
				rc = reply_merge(r, q, NULL);
		}
		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		if (whole && !rc) {
			ck_assert_uint_eq(r->nentry, 3);
			ck_assert_str_eq(r->entry[0].value, "20");
		}
		reply_free(r);
		reply_free(s);
	}
	omis_request_free(q);
}

SUITE("omis reply")
