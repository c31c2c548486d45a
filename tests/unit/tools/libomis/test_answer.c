/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/err.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tools/libomis/answer.h"

#include <string.h>

static struct reply *sample(void)
{
	struct reply *r = reply_new();

	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(reply_add(r, 0, "", STATUS_OK, NULL), 0);
	ck_assert_int_eq(reply_add(r, 2, "n_2", STATUS_OS_ERROR, "no such file"), 0);
	ck_assert_int_eq(reply_add(r, 1, "n_1", STATUS_OK, "\"one\",1"), 0);
	ck_assert_int_eq(reply_add(r, 1, "n_2", STATUS_OK, "\"two\",2"), 0);
	r->coverage.asked = 4;
	r->coverage.answered = 3;
	ck_assert_int_eq(reply_add_missing(r, "n_3", "silent"), 0);
	reply_add_time(r, 100, 200);
	return r;
}

TEST(a_reply_becomes_arrays_by_action)
{
	struct reply *r = sample();
	Omis_reply a = answer_from_reply(r, 0);

	reply_free(r); /* the answer is independent */
	ck_assert_ptr_nonnull(a);
	ck_assert_str_eq(a[0][0].obj_list, "");
	ck_assert_ptr_null(a[0][0].result);
	ck_assert_ptr_null(a[0][1].obj_list);
	ck_assert_str_eq(a[1][0].obj_list, "n_1");
	ck_assert_str_eq(a[1][0].result, "\"one\",1");
	ck_assert_str_eq(a[1][1].obj_list, "n_2");
	ck_assert_ptr_null(a[1][2].obj_list);
	ck_assert_int_eq(a[2][0].status, OMIS_OS_ERROR);
	ck_assert_str_eq(a[2][0].result, "no such file");
	ck_assert_ptr_null(a[3]);
	omis_reply_free(a);
}

TEST(the_coverage_travels_with_the_reply)
{
	struct reply *r = sample();
	Omis_reply a = answer_from_reply(r, 0);
	Omis_coverage c;

	reply_free(r);
	omis_reply_coverage(a, &c);
	ck_assert_uint_eq(c.asked, 4);
	ck_assert_uint_eq(c.answered, 3);
	ck_assert_uint_eq(c.n_missing, 1);
	ck_assert_str_eq(c.missing[0].object, "n_3");
	ck_assert_str_eq(c.missing[0].reason, "silent");
	ck_assert_int_eq(c.oldest_ns, 100);
	ck_assert_int_eq(c.newest_ns, 200);
	omis_reply_free(a);
}

TEST(binary_values_keep_their_length)
{
	struct reply *r = reply_new();
	Omis_reply a;

	ck_assert_int_eq(reply_add_n(r, 1, "p_1", STATUS_OK, bytes_at("3#\0\1\0", 5)), 0);
	a = answer_from_reply(r, 0);
	reply_free(r);
	ck_assert_uint_eq(a[1][0].result_len, 5);
	ck_assert_mem_eq(a[1][0].result, "3#\0\1\0", 6);
	omis_reply_free(a);
}

TEST(entries_that_only_say_ok_can_be_left_out)
{
	struct reply *r = reply_new();
	Omis_reply a;

	ck_assert_int_eq(reply_add(r, 1, "", STATUS_OK, NULL), 0);
	a = answer_from_reply(r, OMIS_DONT_RETURN_OK);
	ck_assert(answer_is_empty(a));
	omis_reply_free(a);
	ck_assert_int_eq(reply_add(r, 1, "n_1", STATUS_OK, "1"), 0);
	a = answer_from_reply(r, OMIS_DONT_RETURN_OK);
	ck_assert(!answer_is_empty(a));
	ck_assert_str_eq(a[1][0].obj_list, "n_1");
	omis_reply_free(a);
	reply_free(r);
}

TEST(the_status_of_a_reply_is_its_first_error)
{
	struct reply *r = sample();
	Omis_reply a = answer_from_reply(r, 0),
		   b = answer_from_status(OMIS_SYNTAX_ERROR, "at offset 3");

	reply_free(r);
	ck_assert_int_eq(omis_reply_status(a), OMIS_OS_ERROR);
	ck_assert_int_eq(omis_reply_status(b), OMIS_SYNTAX_ERROR);
	ck_assert_str_eq(b[0][0].result, "at offset 3");
	ck_assert_ptr_null(b[1]);
	omis_reply_free(a);
	omis_reply_free(b);
	omis_reply_free(NULL);
	ck_assert_int_eq(omis_reply_status(NULL), OMIS_NO_MEMORY);
}

TEST(an_impossible_action_number_takes_no_memory)
{
	struct reply *r = reply_new();
	Omis_reply a;

	ck_assert_int_eq(reply_add(r, 0xfffffff0u, "", STATUS_OK, NULL), 0);
	a = answer_from_reply(r, 0);
	reply_free(r);
	ck_assert_int_eq(omis_reply_status(a), OMIS_INTERNAL_ERROR);
	omis_reply_free(a);
}

/* As many as there may be of each: a search of each action's entries would take the test's time. */
TEST(entries_of_many_actions_take_one_look)
{
	struct reply *r = reply_new();
	char value[16];
	Omis_reply a;

	for (uint32_t i = REPLY_ENTRIES_MAX; i > 0; i--) {
		snprintf(value, sizeof(value), "%u", i);
		ck_assert_int_eq(reply_add(r, i, "n_1", STATUS_OK, value), 0);
	}
	a = answer_from_reply(r, 0);
	reply_free(r);
	ck_assert_ptr_null(a[0][0].obj_list);
	ck_assert_str_eq(a[1][0].result, "1");
	ck_assert_ptr_null(a[1][1].obj_list);
	ck_assert_str_eq(a[REPLY_ENTRIES_MAX][0].result, "65536");
	ck_assert_ptr_null(a[REPLY_ENTRIES_MAX + 1]);
	omis_reply_free(a);
}

TEST(without_memory_there_is_no_answer)
{
	struct reply *r = sample();

	ALLOC_SWEEP (k) {
		Omis_reply a = answer_from_reply(r, 0);

		alloc_sweep_pause();
		ck_assert(a != NULL || alloc_sweep_has_failed());
		omis_reply_free(a);
	}
	reply_free(r);
}

SUITE("answer")
