/* SPDX-License-Identifier: Apache-2.0 */
/* A batch carries the times that there are: of mainsm, in nanoseconds since 1970. */
#include "common/flow/batch/batch.h"
#include "common/base/array.h"
#include "common/flow/batch/batch_format.h"
#include "tests/suite.h"

/* Sends a time and reads it again. Returns 0 with the time in *t, else the error. */
static int through(nsec_t *t)
{
	const struct flow_token token = flow_token_make(3, 1, 0, *t);
	const struct flow_batch in = {
		.measurement = 7, .link = "up", .read = 3, .domain = FLOW_READ, .n = 1, .t = &token
	};
	struct flow_batch_room room = { 0 };
	struct buf b = BUF_INIT(1000);
	struct flow_batch out;
	struct err e = { 0 };
	int rc;

	flow_batch_encode(&b, &in);
	ck_assert(!b.failed);
	rc = flow_batch_decode(&room, b.p, b.n, &out, &e);
	if (!rc)
		*t = out.t[0].time;
	flow_batch_room_done(&room);
	buf_done(&b);
	return rc;
}

TEST(times_of_this_century_pass)
{
	static const nsec_t times[] = { 0, INT64_C(1795000000) * NSEC_PER_SEC,
					INT64_C(2200000000) * NSEC_PER_SEC, BATCH_TIME_MAX };

	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		nsec_t t = times[i];

		ck_assert_int_eq(through(&t), 0);
		ck_assert_int_eq(t, times[i]);
	}
}

TEST(times_that_would_overflow_do_not)
{
	nsec_t t = BATCH_TIME_MAX + 1;

	ck_assert_int_eq(through(&t), -ERR_PROTO);
	t = INT64_MAX;
	ck_assert_int_eq(through(&t), -ERR_PROTO);
}

SUITE("batch")
