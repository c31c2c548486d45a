/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/err.h"
#include "common/base/array.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tools/libomis/ask.h"

#include <string.h>

struct seen {
	unsigned reported, last, nothing;
	unsigned status, kind;
	size_t entries;
	struct asks *again; /* asks again when set */
};

static void on_reply(void *arg, struct reply **r, bool is_last)
{
	struct seen *s = arg;
	uint64_t id;

	s->reported++;
	s->last += is_last;
	if (!*r) {
		s->nothing++;
		return;
	}
	s->status = reply_status(*r);
	s->kind = (*r)->kind;
	s->entries = (*r)->nentry;
	if (s->again)
		ck_assert_int_eq(asks_add(s->again, on_reply, s, &id, NULL), 0);
}

static struct msg_reply part(uint64_t id, uint32_t kind, bool more)
{
	static const struct msg_entry entry = { .action = 1,
						.objects = "n_1",
						.value = { (const uint8_t *)"1", 1 } };

	return (struct msg_reply){
		.id = id, .kind = kind, .entry = &entry, .nentry = 1, .csr = "", .more = more
	};
}

static struct asks asks;
static struct seen seen;
static uint64_t id;

static void set_up(void)
{
	memset(&seen, 0, sizeof(seen));
	asks_init(&asks);
	ck_assert_int_eq(asks_add(&asks, on_reply, &seen, &id, NULL), 0);
}

static int take(uint32_t kind, bool more)
{
	struct msg_reply m = part(id, kind, more);

	return asks_take(&asks, &m);
}

TEST(a_final_reply_ends_the_ask)
{
	ck_assert_int_eq(take(0, false), 0);
	ck_assert_uint_eq(seen.reported, 1);
	ck_assert_uint_eq(seen.last, 1);
	ck_assert_int_eq(take(0, false), -ERR_NOTFOUND);
	asks_done(&asks);
}

TEST(parts_are_reported_as_one_reply)
{
	ck_assert_int_eq(take(0, true), 0);
	ck_assert_int_eq(take(0, true), 0);
	ck_assert_uint_eq(seen.reported, 0);
	ck_assert_int_eq(take(0, false), 0);
	ck_assert_uint_eq(seen.entries, 3);
	asks_done(&asks);
}

TEST(a_conditional_request_is_reported_until_it_is_deleted)
{
	ck_assert_int_eq(take(STATUS_CSR_DEFINED, false), 0);
	ck_assert_int_eq(take(STATUS_CSR_TRIGGERED, false), 0);
	ck_assert_uint_eq(seen.last, 0);
	ck_assert_int_eq(take(STATUS_CSR_DELETED, false), 0);
	ck_assert_uint_eq(seen.reported, 3);
	ck_assert_uint_eq(seen.last, 1);
	asks_done(&asks);
}

TEST(a_lost_connection_fails_all_requests_but_no_new_ones)
{
	struct err why = { 0 };

	seen.again = &asks;
	err_set(&why, ERR_CLOSED, "gone");
	asks_fail(&asks, STATUS_OS_ERROR, &why);
	ck_assert_uint_eq(seen.reported, 1);
	ck_assert_uint_eq(seen.status, STATUS_OS_ERROR);
	ck_assert_uint_eq(asks.map.n, 1);
	asks_done(&asks);
}

TEST(no_callback_follows_a_drop)
{
	asks_drop(&asks, id);
	asks_drop(&asks, id);
	ck_assert_int_eq(take(0, false), -ERR_NOTFOUND);
	ck_assert_uint_eq(seen.reported, 0);
	asks_done(&asks);
}

TEST(there_is_a_limit_of_asks)
{
	struct err e = { 0 };

	for (unsigned i = 1; i < ASKS_MAX; i++)
		ck_assert_int_eq(asks_add(&asks, on_reply, &seen, &id, &e), 0);
	ck_assert_int_eq(asks_add(&asks, on_reply, &seen, &id, &e), -ERR_LIMIT);
	asks_done(&asks);
}

TEST(without_memory_the_caller_gets_an_error_or_nothing_is_sent)
{
	asks_done(&asks);
	ALLOC_SWEEP (k) {
		int rc;

		asks_init(&asks);
		memset(&seen, 0, sizeof(seen));
		rc = asks_add(&asks, on_reply, &seen, &id, NULL);
		if (!rc)
			take(0, false);
		alloc_sweep_pause();
		ck_assert(rc == -ERR_NOMEM || seen.last == 1);
		asks_done(&asks);
	}
}

SUITE_WITH("ask", set_up, NULL)
