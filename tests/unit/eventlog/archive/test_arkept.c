/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/archive/arkept.h"
#include "tests/unit/eventlog/archive/stored.h"
#include "tests/unit/eventlog/made.h"

/*
 * Adds the new blocks of b; ends without a commit after `lives` of them. Returns true if all were
 * added.
 */
static bool keep(const struct buf *b, unsigned lives, unsigned commit_each)
{
	struct archive *a = stored_open(AR_WRITE);
	struct evbalance balance;
	struct evbalance_stream *s;
	struct evblock head;
	unsigned n = 0;
	bool is_all;
	size_t at;

	evbalance_init(&balance);
	ck_assert_int_eq(arkept_open(a, &balance, NULL), 0);
	for (at = 0; at < b->n && n < lives; at += head.bytes) {
		ck_assert_int_eq(evblock_look(b->p + at, b->n - at, &head), EVBLOCK_GOOD);
		if (evbalance_block(&balance, b->p + at, &head, &s, NULL) != 1)
			continue;
		ck_assert_int_eq(arkept_block(a, s, b->p + at, &head, NULL), 0);
		if (++n % commit_each == 0)
			ck_assert_int_eq(arkept_commit(a, &balance, NULL), 0);
	}
	is_all = at >= b->n && n < lives;
	if (is_all)
		ck_assert_int_eq(arkept_commit(a, &balance, NULL), 0);
	archive_close(a);
	evbalance_done(&balance);
	return is_all;
}

/* Makes n events of a stream; each block contains everything needed to read it. */
static void made_blocks(struct buf *out, uint64_t stream, unsigned n)
{
	struct evwrite w;

	evwrite_init(&w, stream, false, 0);
	for (unsigned i = 0; i < n; i++) {
		const struct evvalue v[] = { I32((int)i), { .kind = EV_FLOAT, .f32 = 0.5f } };

		if (!w.body.n)
			ck_assert_int_eq(evwrite_define(&w, 7, &made_table1, NULL), 0);
		ck_assert_int_eq(
			evwrite_event(
				&w, 7,
				&(struct event){ .type = &made_table1, .ticks = i, .value = v },
				NULL),
			0);
		if (i % 30 == 29 || i == n - 1)
			ck_assert_int_eq(evwrite_cut(&w, i == n - 1, NULL), 0);
	}
	ck_assert_int_eq(buf_put(out, w.out.p, w.out.n), 0);
	evwrite_done(&w);
}

TEST(blocks_sent_until_they_are_safe_are_stored_once)
{
	struct buf b = BUF_INIT(1 << 20);
	struct archive *a;
	unsigned lives = 0;

	stored_new();
	made_blocks(&b, 7, 3000);
	made_blocks(&b, UINT64_MAX, 500);
	while (!keep(&b, lives + 1, 3))
		lives = (lives + 7) % 41;
	a = stored_open(AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT sum(n) FROM type"), 3500);
	ck_assert_int_eq(stored_number(a, "SELECT sum(stored) FROM kept"), 3500);
	ck_assert_int_eq(stored_number(a, "SELECT sum(first) FROM kept"), 3500);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM kept"), 2);
	archive_close(a);
	buf_done(&b);
	stored_remove();
}

TEST(inconsistent_cursor_of_an_archive_is_refused)
{
	struct archive *a;
	struct evbalance balance;
	struct buf b = BUF_INIT(1 << 20);

	stored_new();
	made_blocks(&b, 7, 100);
	ck_assert(keep(&b, 1000, 1));
	a = stored_open(AR_WRITE);
	ck_assert_int_eq(arsql_do(archive_sql(a), "UPDATE kept SET stored = first + 1", NULL), 0);
	evbalance_init(&balance);
	ck_assert_int_eq(arkept_open(a, &balance, NULL), -ERR_INVALID);
	evbalance_done(&balance);
	archive_close(a);
	buf_done(&b);
	stored_remove();
}

SUITE("arkept")
