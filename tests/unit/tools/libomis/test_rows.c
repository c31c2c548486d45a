/* SPDX-License-Identifier: Apache-2.0 */
/* Members of lists, and measurements that a monitor refuses. */
#include "tests/suite.h"
#include "tests/unit/tools/libomis/fake_mainsm.h"
#include "tools/libomis/omis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct fake_mainsm fake;

static void set_up(void)
{
	fake_mainsm_start(&fake, FAKE_KIND);
	ck_assert_int_eq(setenv("OMIG_STATE_DIR", fake.dir, 1), 0);
	ck_assert_int_eq(setenv("OMIG_MAINSM", fake.conn, 1), 0);
	ck_assert_int_eq(omis_init(NULL, NULL, NULL, NULL), OMIS_OK);
}

static void tear_down(void)
{
	omis_finalize();
	fake_mainsm_stop(&fake);
}

static int no_row(const Omis_row *row, void *param)
{
	ck_abort_msg("there is no row");
	return 1;
}

static int no_call(const Omis_call *call, void *param)
{
	ck_abort_msg("there is no call");
	return 1;
}

TEST(members_of_another_kind_have_no_value)
{
	const char text[] = "1,2.5,\"x\",n_1,[7]";
	Omis_value *v = omis_value_parse(text, sizeof(text) - 1);

	ck_assert_int_eq(omis_list_int(v, 0), 1);
	ck_assert_double_eq(omis_list_float(v, 0), 1);
	ck_assert_int_eq(omis_list_int(v, 1), 0);
	ck_assert_double_eq(omis_list_float(v, 1), 2.5);
	ck_assert_str_eq(omis_list_text(v, 2), "x");
	ck_assert_str_eq(omis_list_text(v, 3), "n_1");
	ck_assert_str_eq(omis_list_text(v, 0), "");
	ck_assert_int_eq(omis_list_int(omis_list_at(v, 4), 0), 7);
	ck_assert_ptr_null(omis_list_at(v, 5));
	ck_assert(isnan(omis_list_float(v, 5)));
	ck_assert(isnan(omis_list_float(v, 2)));
	ck_assert_ptr_null(omis_list_at(NULL, 0));
	ck_assert_ptr_null(omis_list_at(omis_list_at(v, 0), 0));
	omis_value_free(v);
}

TEST(a_measurement_needs_a_connection)
{
	const Omis_measurement what = { .metric = "Send_volume" };

	ck_assert_int_eq(omis_measure(&what, no_row, NULL), OMIS_PARAMETER_ERROR);
	ck_assert_ptr_nonnull(strstr(omis_last_error(), "omis_init"));
	ck_assert_int_eq(omis_calls(NULL, no_call, NULL, NULL), OMIS_PARAMETER_ERROR);
}

TEST(a_measurement_needs_a_metric_and_a_function)
{
	const Omis_measurement what = { .metric = "Send_volume" }, none = { 0 };

	set_up();
	ck_assert_int_eq(omis_measure(NULL, no_row, NULL), OMIS_PARAMETER_ERROR);
	ck_assert_int_eq(omis_measure(&none, no_row, NULL), OMIS_PARAMETER_ERROR);
	ck_assert_int_eq(omis_measure(&what, NULL, NULL), OMIS_PARAMETER_ERROR);
	ck_assert_int_eq(omis_calls(NULL, NULL, NULL, NULL), OMIS_PARAMETER_ERROR);
	tear_down();
}

TEST(refusal_of_the_monitor_is_the_return_status)
{
	const Omis_measurement what = { .metric = "Send_volume", .job = "a\"b\\" };

	set_up();
	ck_assert_int_eq(omis_measure(&what, no_row, NULL), OMIS_SYNTAX_ERROR);
	ck_assert_str_ne(omis_last_error(), "");
	ck_assert_int_eq(omis_calls("x", no_call, NULL, NULL), OMIS_SYNTAX_ERROR);
	tear_down();
}

SUITE("rows")
