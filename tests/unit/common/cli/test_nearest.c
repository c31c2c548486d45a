/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/nearest.h"
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

SUITE("nearest")
