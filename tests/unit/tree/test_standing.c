/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/loop/loop.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tree/standing.h"

#include <string.h>

#define WAIT_NS (2 * NSEC_PER_SEC)

struct world {
	struct loop *loop;
	struct standing *standing;
	struct buf said; /* sent and ended parts, in order */
	uint32_t version;
	size_t bytes;
	int rc; /* of the next messages */
	unsigned settled;
};

static int on_send(void *arg, const struct standing_part *p)
{
	struct world *w = arg;

	buf_printf(&w->said, "+%u:%s%u ", p->branch, p->text ? p->text : "", (unsigned)p->mark);
	return w->rc;
}

static void on_end(void *arg, const struct standing_part *p)
{
	struct world *w = arg;

	buf_printf(&w->said, "-%u ", p->branch);
}

static void on_settled(void *arg)
{
	struct world *w = arg;

	w->settled++;
}

static void world_open(struct world *w)
{
	*w = (struct world){ .said = BUF_INIT(10000) };
	w->loop = loop_new_virtual();
	if (w->loop)
		w->standing = standing_new(&(struct standing_conf){ .loop = w->loop,
								    .wait_max = WAIT_NS,
								    .version = &w->version,
								    .bytes = &w->bytes,
								    .bytes_max = 10,
								    .send = on_send,
								    .end = on_end,
								    .settled = on_settled,
								    .arg = w });
}

static void world_close(struct world *w)
{
	standing_free(w->standing);
	ck_assert_uint_eq(w->bytes, 0);
	loop_free(w->loop);
	buf_done(&w->said);
}

static int set(struct world *w, uint32_t branch, const char *text, uint64_t mark)
{
	return standing_set(w->standing, &(struct standing_part){ .branch = branch,
								  .text = text,
								  .ntext = text ? strlen(text) : 0,
								  .mark = mark });
}

static void said(struct world *w, const char *what)
{
	ck_assert_str_eq(buf_str(&w->said), what);
	buf_clear(&w->said);
}

static enum standing_state state(const struct world *w, uint32_t branch)
{
	return standing_find(w->standing, branch)->state;
}

/* Branches 2 and 5 have "a" and "b". */
static void two(struct world *w)
{
	standing_begin(w->standing, false);
	ck_assert_int_eq(set(w, 5, "b", 1), 0);
	ck_assert_int_eq(set(w, 2, "a", 1), 0);
	ck_assert_int_eq(standing_commit(w->standing), 0);
}

static void confirm(struct world *w, uint32_t branch)
{
	const struct standing_part *p = standing_find(w->standing, branch);

	ck_assert(standing_has(w->standing, branch, p->version));
	standing_confirm(w->standing, branch);
}

TEST(only_what_has_changed_is_sent_again)
{
	struct world w;

	world_open(&w);
	two(&w);
	said(&w, "+2:a1 +5:b1 ");
	two(&w);
	said(&w, "");
	standing_begin(w.standing, false);
	set(&w, 5, "b", 2);
	set(&w, 7, "c", 1);
	standing_commit(w.standing);
	said(&w, "+5:b2 +7:c1 -2 ");
	ck_assert_ptr_null(standing_find(w.standing, 2));
	standing_begin(w.standing, true);
	set(&w, 5, "b", 2);
	standing_commit(w.standing);
	said(&w, "+5:b2 -7 ");
	standing_end(w.standing);
	said(&w, "-5 ");
	world_close(&w);
}

TEST(a_standing_is_settled_when_all_branches_have_confirmed)
{
	struct world w;

	world_open(&w);
	two(&w);
	standing_check(w.standing, false);
	confirm(&w, 2);
	standing_check(w.standing, false);
	ck_assert(standing_is_pending(w.standing) && !w.settled);
	ck_assert(!standing_has(w.standing, 5, standing_find(w.standing, 2)->version));
	confirm(&w, 5);
	standing_check(w.standing, false);
	ck_assert(!standing_is_pending(w.standing));
	ck_assert_uint_eq(w.settled, 1);
	world_close(&w);
}

TEST(a_standing_is_settled_after_its_time)
{
	struct world w;
	nsec_t from;

	world_open(&w);
	two(&w);
	from = loop_now(w.loop);
	standing_check(w.standing, false);
	while (!w.settled)
		ck_assert_int_eq(loop_wait(w.loop, 2 * WAIT_NS), 0);
	ck_assert_int_eq(loop_now(w.loop) - from, WAIT_NS);
	ck_assert_int_eq(state(&w, 2), STANDING_WAITING);
	world_close(&w);
}

TEST(an_absent_branch_delays_nothing_and_gets_its_part_later)
{
	struct world w;

	world_open(&w);
	two(&w);
	confirm(&w, 5);
	ck_assert(standing_down(w.standing, 2) && !standing_down(w.standing, 3));
	standing_check(w.standing, false);
	ck_assert_uint_eq(w.settled, 1);
	said(&w, "+2:a1 +5:b1 ");
	two(&w);
	said(&w, "");
	ck_assert(standing_up(w.standing, 2) && !standing_up(w.standing, 3));
	said(&w, "+2:a1 ");
	ck_assert_int_eq(state(&w, 2), STANDING_WAITING);
	ck_assert(standing_drop(w.standing, 2) && !standing_drop(w.standing, 2));
	standing_check(w.standing, false);
	ck_assert_uint_eq(w.settled, 2);
	world_close(&w);
}

TEST(a_branch_that_takes_no_message_is_away)
{
	struct world w;

	world_open(&w);
	w.rc = -ERR_CLOSED;
	two(&w);
	ck_assert_int_eq(state(&w, 2), STANDING_AWAY);
	standing_check(w.standing, false);
	ck_assert_uint_eq(w.settled, 1);
	world_close(&w);
}

TEST(commit_without_memory_is_resent_with_the_next_change)
{
	struct world w;

	world_open(&w);
	w.rc = -ERR_NOMEM;
	standing_begin(w.standing, false);
	set(&w, 2, NULL, 7);
	ck_assert_int_eq(standing_commit(w.standing), -ERR_NOMEM);
	ck_assert_int_eq(state(&w, 2), STANDING_NEW);
	said(&w, "+2:7 ");
	w.rc = 0;
	standing_begin(w.standing, false);
	set(&w, 2, NULL, 7);
	ck_assert_int_eq(standing_commit(w.standing), 0);
	said(&w, "+2:7 ");
	world_close(&w);
}

TEST(a_part_without_text_changes_with_the_sum_of_its_numbers)
{
	struct world w;

	world_open(&w);
	for (int i = 0; i < 2; i++) {
		standing_begin(w.standing, false);
		ck_assert_int_eq(standing_add(w.standing, 2, i ? 30 : 4), 0);
		ck_assert_int_eq(standing_add(w.standing, 2, i ? 4 : 30), 0);
		ck_assert_int_eq(standing_commit(w.standing), 0);
	}
	said(&w, "+2:34 ");
	standing_begin(w.standing, false);
	standing_add(w.standing, 2, 30);
	standing_commit(w.standing);
	said(&w, "+2:30 ");
	world_close(&w);
}

TEST(texts_are_counted_and_bounded)
{
	struct world w;

	world_open(&w);
	two(&w);
	ck_assert_uint_eq(w.bytes, 2);
	ck_assert_int_eq(set(&w, 5, "0123456789", 1), -ERR_LIMIT);
	ck_assert_int_eq(set(&w, 5, "012345678", 1), 0);
	ck_assert_uint_eq(w.bytes, 10);
	world_close(&w);
}

TEST(without_memory_a_part_stays_as_it_was)
{
	struct world w;

	ALLOC_SWEEP (k) {
		int rc = -ERR_NOMEM;

		world_open(&w);
		if (w.standing)
			rc = set(&w, 2, "a", 1);
		if (w.standing && !rc)
			rc = set(&w, 2, "b", 1);
		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		ck_assert(!rc || alloc_sweep_has_failed());
		world_close(&w);
	}
}

SUITE("standing")
