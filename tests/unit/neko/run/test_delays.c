/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a real run, from the reports of both ends. */
#include "common/base/array.h"
#include "neko/run/run_delays.h"
#include "tests/suite.h"

static void write_down(void *arg, const struct neko_delay *d)
{
	struct buf *b = arg;

	buf_printf(b, "%u>%u %u at %ld %ld; ", d->from, d->to, d->number, (long)d->sent_at,
		   (long)d->delay);
}

#define REPORT(sent, took, source, dest, n)                                                       \
	{                                                                                         \
		.sent_at = (sent), .delay = (took), .from = (source), .to = (dest), .number = (n) \
	}

TEST(messages_whose_numbers_are_missing_were_lost)
{
	static const struct neko_delay in[] = {
		REPORT(40, 3, 1, 2, 4),
		REPORT(10, 5, 1, 2, 1),
		REPORT(40, 9, 1, 2, 4),
		REPORT(11, 1, 2, 1, 0),
	};
	struct run_delays d = { 0 };
	struct buf b = BUF_INIT(1000);

	for (size_t i = 0; i < ARRAY_LEN(in); i++)
		ck_assert(run_delays_add(&d, &in[i]));
	ck_assert_int_eq(run_delays_report(&d, write_down, &b, NULL), 0);
	ck_assert_str_eq(buf_str(&b),
			 "1>2 0 at 5 -1; 1>2 1 at 10 5; 2>1 0 at 11 1; 1>2 2 at 20 -1; "
			 "1>2 3 at 30 -1; 1>2 4 at 40 3; ");
	run_delays_done(&d);
	buf_done(&b);
}

TEST(reports_split_lost_messages_from_those_still_under_way)
{
	static const struct neko_delay in[] = {
		REPORT(10, -1, 1, 2, 0), REPORT(20, -1, 1, 2, 1), REPORT(30, -1, 1, 2, 2),
		REPORT(35, -1, 1, 3, 0), REPORT(20, 4, 1, 2, 1),  REPORT(40, -1, 2, 1, 0),
		REPORT(40, 9, 2, 1, 0),
	};
	struct run_delays d = { 0 };
	struct buf b = BUF_INIT(1000);

	for (size_t i = 0; i < ARRAY_LEN(in); i++)
		ck_assert(run_delays_add(&d, &in[i]));
	ck_assert_int_eq(run_delays_report(&d, write_down, &b, NULL), 0);
	ck_assert_str_eq(buf_str(&b), "1>2 0 at 10 -1; 1>2 1 at 20 4; 1>2 2 at 30 -2; "
				      "1>3 0 at 35 -2; 2>1 0 at 40 9; ");
	run_delays_done(&d);
	buf_done(&b);
}

SUITE("delays")
