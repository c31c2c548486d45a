/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that vanish in a request for all cause no error. */
#include "tests/suite.h"
#include "common/base/array.h"
#include "tests/unit/common/route/world.h"

#include <check.h>
#include <stdlib.h>

static const char request[] = ":proc_send_signal([],15) proc_send_signal([n_1,p_1_000002],15) "
			      "thread_stop([t_1_000001]) node_get_info([n_2],1)";

/* Each unknown object is reported for each action. */
static struct reply *reply_of(const uint32_t action[4])
{
	static const char *const object[] = { "p_1_000001", "p_1_000002",
					      "t_1_000001", "p_1_000001,p_1_000002",
					      "n_2",	    "" };
	struct reply *r = reply_new();

	for (int a = 0; a < 4; a++)
		for (size_t i = 0; i < ARRAY_LEN(object); i++)
			ck_assert_int_eq(
				reply_add(r, action[a], object[i], STATUS_UNKNOWN_OBJECT, "gone"),
				0);
	ck_assert_int_eq(reply_add(r, action[0], "p_1_000001", STATUS_NO_PERMISSION, "no"), 0);
	ck_assert_int_eq(reply_add(r, action[0], "p_1_000002", STATUS_OK, ""), 0);
	return r;
}

static void drops(const uint32_t *numbers, size_t want, const char *left)
{
	static const uint32_t plain[4] = { 1, 2, 3, 4 };
	struct omis_request *q = world_request(request);
	struct reply *r = reply_of(numbers ? numbers : plain);
	char *known;

	ck_assert_uint_eq(route_drop_implied(r, q->action, q->naction, numbers), want);
	known = world_show(r);
	ck_assert_ptr_nonnull(strstr(known, left));
	ck_assert_uint_eq(route_drop_implied(r, q->action, q->naction, numbers), 0);
	free(known);
	reply_free(r);
	omis_request_free(q);
}

TEST(only_what_was_named_is_unknown)
{
	const uint32_t numbers[4] = { 3, 5, 8, 9 };

	drops(NULL, 4 + 2 + 3 + 4,
	      "1 'n_2' UNKNOWN_OBJECT; 1 '' UNKNOWN_OBJECT; "
	      "2 'p_1_000002' UNKNOWN_OBJECT; 2 'p_1_000001,p_1_000002' UNKNOWN_OBJECT; "
	      "2 'n_2' UNKNOWN_OBJECT; 2 '' UNKNOWN_OBJECT; "
	      "3 't_1_000001' UNKNOWN_OBJECT; 3 'n_2' UNKNOWN_OBJECT; 3 '' UNKNOWN_OBJECT; "
	      "4 'n_2' UNKNOWN_OBJECT; 4 '' UNKNOWN_OBJECT; "
	      "1 'p_1_000001' NO_PERMISSION; 1 'p_1_000002' OK ''");
	drops(numbers, 4 + 2 + 3 + 4, "8 't_1_000001' UNKNOWN_OBJECT");
}

SUITE("route implied")
