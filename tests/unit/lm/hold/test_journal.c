/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of holds: it contains the written processes, or none. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "lm/hold/journal.h"
#include "tests/suite.h"
#include "tests/unit/common/store/each_fault.h"

#define EPOCH 7

struct seen {
	int n, sum;
};

static void count(void *arg, const struct journal_line *l)
{
	struct seen *s = arg;

	s->n++;
	s->sum += l->pid;
	ck_assert_uint_eq(l->start, 5);
	ck_assert_str_eq(l->boot, "this boot");
}

static int write_pids(const struct disk *d, int first, int last)
{
	struct store s = STORE_INIT(&journal_kind, d, "stops");
	struct buf b = BUF_INIT(JOURNAL_MAX_BYTES);
	int rc;

	journal_begin(&b, EPOCH);
	for (int pid = first; pid <= last; pid++)
		journal_add(&b, &(struct journal_line){ pid, 5, "this boot" });
	rc = journal_write(&s, &b, (size_t)(last - first + 1), NULL);
	buf_done(&b);
	return rc;
}

static void put_old(const struct disk *d)
{
	ck_assert_int_eq(write_pids(d, 10, 12), 0);
}

static int hold_more(const struct disk *d)
{
	return write_pids(d, 10, 40);
}

static int hold_none(const struct disk *d)
{
	return write_pids(d, 10, 9);
}

/* Without removing the file, as the disk may be read again. */
static struct seen seen_in(const struct disk *d)
{
	struct store s = STORE_INIT(&journal_kind, d, "stops");
	struct disk still = *d;
	struct seen got = { 0 };
	struct buf b = { 0 };

	s.disk = &still;
	if (!store_read(&s, &b, NULL)) {
		buf_done(&b);
		ck_assert_int_eq(journal_replay(&s, EPOCH, count, &got, NULL), 0);
		ck_assert_int_eq(got.n == 3 ? write_pids(d, 10, 12) : write_pids(d, 10, 40), 0);
	}
	return got;
}

static enum kept_state more_there(const struct disk *d)
{
	struct seen got = seen_in(d);

	return got.n == 3 ? KEPT_OLD : got.n == 31 ? KEPT_NEW : KEPT_OTHER;
}

static enum kept_state none_there(const struct disk *d)
{
	struct seen got = seen_in(d);

	return got.n == 3 ? KEPT_OLD : got.n ? KEPT_OTHER : KEPT_NEW;
}

TEST(holds_are_old_or_new_after_each_fault)
{
	each_fault(&(struct kept_case){ "hold", put_old, hold_more, more_there, true });
	each_fault(&(struct kept_case){ "release", put_old, hold_none, none_there, true });
}

TEST(a_journal_of_another_lm_or_form_is_left_alone)
{
	static struct memdisk m;
	struct store s = STORE_INIT(&journal_kind, &m.disk, "stops");
	struct seen got = { 0 };
	struct err e = { 0 };

	memdisk_init(&m, 1);
	put_old(&m.disk);
	ck_assert_int_eq(journal_replay(&s, EPOCH + 1, count, &got, NULL), 0);
	ck_assert_int_eq(got.n, 0);
	ck_assert_ptr_nonnull(memdisk_find(&m, "stops"));
	memdisk_find(&m, "stops")->p[40] ^= 1;
	ck_assert_int_eq(journal_replay(&s, 0, count, &got, &e), -ERR_PARSE);
	ck_assert_int_eq(got.n, 0);
	ck_assert_ptr_nonnull(memdisk_find(&m, "stops.bad"));
	ck_assert_int_eq(journal_replay(&s, 0, count, &got, NULL), 0);
	memdisk_done(&m);
}

SUITE("lm journal")
