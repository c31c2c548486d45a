/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/nearest.h"
#include "common/base/array.h"
#include "tests/suite.h"

TEST(the_nearest_name_is_found)
{
	struct nearest n = nearest_to("Send_volum");

	nearest_try(&n, "Receive_volume");
	ck_assert_ptr_null(n.best);
	nearest_try(&n, "send_volume");
	nearest_try(&n, "Sand_volumes");
	ck_assert_str_eq(n.best, "send_volume");
}

TEST(neighbours_that_changed_places_are_one_slip)
{
	static const char *const pair[][2] = {
		{ "srot", "sort" }, { "rnu", "run" }, { "jion", "join" },
		{ "lnog", "long" }, { "ab", "ba" },
	};

	for (size_t i = 0; i < ARRAY_LEN(pair); i++) {
		struct nearest n = nearest_to(pair[i][0]);

		nearest_try(&n, pair[i][1]);
		ck_assert_str_eq(n.best, pair[i][1]);
	}
}

TEST(two_slips_in_a_short_name_are_too_many)
{
	struct nearest n = nearest_to("sotr");

	nearest_try(&n, "rosx");
	nearest_try(&n, "st");
	nearest_try(&n, "port");
	ck_assert_ptr_null(n.best);
}

SUITE("nearest")
