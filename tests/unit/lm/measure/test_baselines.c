/* SPDX-License-Identifier: Apache-2.0 */
/* Begin of measurements: the next lm finds the state of the last one, once, and nothing else. */
#include "lm/measure/baselines.h"

#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "tests/suite.h"
#include "tests/unit/common/store/each_fault.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOOT "boot-1"
#define KEEP (10 * NSEC_PER_SEC)

static struct loop *loop;
static char dir[64], path[96];
static const struct disk *disk; /* NULL: the system's */
static struct baselines *b; /* those of the lm that runs */

/* The lm is gone as if killed, and the next one is there. */
static void next_lm(const char *boot)
{
	baselines_close(b);
	b = baselines_open(&(struct baselines_conf){
		.loop = loop, .path = path, .disk = disk, .boot = boot, .keep = KEEP });
	ck_assert_ptr_nonnull(b);
}

static void set_up(void)
{
	loop = loop_new_virtual();
	str_copy(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/bases", dir);
	next_lm(BOOT);
}

static void clean_up(void)
{
	baselines_close(b);
	b = NULL;
	unlink(path);
	ck_assert_int_eq(rmdir(dir), 0);
	loop_free(loop);
}

static void put(const char *key, double value)
{
	baselines_put(b, key, &(struct base){ .value = value, .open = 0.25 });
}

static void turn(void)
{
	loop_advance(loop, NSEC_PER_MSEC);
}

TEST(next_lm_takes_each_baseline_once)
{
	struct base v;

	put("7@1 Send_count p_1_a", 0.1);
	put("7@1 Send_count p_1_b", -1e300);
	put("8@1 Send_count p_1_a", 3);
	put("8@1 Send_count p_1_a", 4);
	ck_assert(!baselines_take(b, "8@1 Send_count p_1_a", &v)); /* its own */
	turn();
	for (int i = 0; i < 2; i++) {
		next_lm(BOOT);
		ck_assert(baselines_take(b, "7@1 Send_count p_1_a", &v));
		ck_assert(v.value == 0.1 && v.open == 0.25 && !v.is_cut);
		ck_assert(!baselines_take(b, "7@1 Send_count p_1_a", &v));
		ck_assert(baselines_take(b, "7@1 Send_count p_1_b", &v) && v.value == -1e300);
		ck_assert(baselines_take(b, "8@1 Send_count p_1_a", &v) && v.value == 4);
		ck_assert(!baselines_take(b, "8@1 Send_count", &v));
	}
	next_lm("boot-10");
	next_lm("boot-2");
	ck_assert(!baselines_take(b, "7@1 Send_count p_1_a", &v));
}

TEST(ended_and_unrequested_baselines_are_removed)
{
	struct base v;

	put("7@1 a", 1);
	put("77@1 a", 2);
	put("9@1 a", 3);
	turn();
	baselines_drop(b, "7@1 ");
	turn();
	next_lm(BOOT);
	ck_assert(!baselines_take(b, "7@1 a", &v));
	ck_assert(baselines_take(b, "77@1 a", &v));
	loop_advance(loop, KEEP);
	put("5@1 a", 5);
	turn();
	next_lm(BOOT);
	ck_assert(!baselines_take(b, "9@1 a", &v));
	ck_assert(baselines_take(b, "77@1 a", &v));
	baselines_drop(b, "");
	turn();
	ck_assert_int_ne(access(path, F_OK), 0);
}

TEST(an_orderly_end_marks_the_baselines_as_cut)
{
	struct base v;

	put("7@1 a", 1);
	baselines_cut(b);
	next_lm(BOOT);
	ck_assert(baselines_take(b, "7@1 a", &v) && v.is_cut && v.value == 1);
}

/* Nothing is read from it, and nothing is damaged. */
TEST(a_file_that_is_not_ours_is_as_none)
{
	static const char *const bad[] = {
		"",
		"\n",
		"boot-1",
		"boot-2\n0000000000000000 0000000000000000 0 a\n",
		"boot-1\n\n\n",
		"boot-1\n0000000000000000 0000000000000000 0 \n",
		"boot-1\n000000000000000g 0000000000000000 0 a\n",
		"boot-1\n7ff0000000000000 0000000000000000 0 a\n",
		"boot-1\n0000000000000000 bff0000000000000 0 a\n",
		"boot-1\n0000000000000000_0000000000000000 0 a\n",
	};
	static const char old[] = "omig-bases 1 boot-1\n0000000000000000 0000000000000000 0 a\n";
	char text[BASELINES_KEY_BYTES + 128], aside[104];
	struct base v;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		put_kept(NULL, path, "baselines 1", bad[i]);
		next_lm(BOOT);
		ck_assert_msg(!baselines_take(b, "a", &v) && !baselines_take(b, "", &v), "%s",
			      bad[i]);
	}
	snprintf(text, sizeof(text), "boot-1\n0000000000000000 0000000000000000 0 %0*d\n",
		 BASELINES_KEY_BYTES, 0);
	put_kept(NULL, path, "baselines 1", text);
	next_lm(BOOT);
	/* as a version before this one wrote it */
	ck_assert_int_eq(file_write_atomic(path, old, strlen(old), NULL), 0);
	next_lm(BOOT);
	ck_assert(!baselines_take(b, "a", &v));
	snprintf(aside, sizeof(aside), "%s.bad", path);
	ck_assert_int_eq(unlink(aside), 0);
}

/* --- a disk that fails */

static void put_one(const struct disk *d)
{
	disk = d;
	baselines_close(b);
	b = NULL;
	next_lm(BOOT);
	put("7@1 a", 1);
	turn();
	baselines_close(b);
	b = NULL;
}

static enum kept_state both_there(const struct disk *d)
{
	struct base v = { 0 }, w = { 0 };
	bool is_old, is_new;

	disk = d;
	next_lm(BOOT);
	is_old = baselines_take(b, "7@1 a", &v);
	is_new = baselines_take(b, "7@1 b", &w);
	disk = NULL;
	baselines_close(b);
	b = NULL;
	return is_new && v.value == 2 && w.value == 3 ? KEPT_NEW
	       : is_old && !is_new && v.value == 1    ? KEPT_OLD
						      : KEPT_OTHER;
}

static int put_two(const struct disk *d)
{
	struct base v;

	disk = d;
	next_lm(BOOT);
	baselines_take(b, "7@1 a", &v);
	put("7@1 a", 2);
	put("7@1 b", 3);
	turn();
	return both_there(d) == KEPT_NEW ? 0 : -ERR_AGAIN;
}

TEST(baselines_are_old_or_new_after_each_fault)
{
	each_fault(&(struct kept_case){ "baselines", put_one, put_two, both_there, true });
	next_lm(BOOT);
}

TEST(baselines_beyond_the_limits_are_not_stored)
{
	char key[BASELINES_KEY_BYTES + 1];
	struct base v;

	snprintf(key, sizeof(key), "%0*d", BASELINES_KEY_BYTES, 1);
	put(key, 1);
	baselines_put(b, "7@1 a", &(struct base){ .value = 1.0 / 0.0 });
	turn();
	ck_assert_int_ne(access(path, F_OK), 0);
	for (int i = 0; i < 6000; i++) {
		snprintf(key, sizeof(key), "7@1 %0200d", i);
		put(key, i);
	}
	turn();
	next_lm(BOOT);
	for (int i = 0, n = 0; i < 6000; i++) {
		snprintf(key, sizeof(key), "7@1 %0200d", i);
		if (baselines_take(b, key, &v))
			ck_assert(v.value == i && ++n);
		ck_assert(i < 5999 || (n > 4000 && n < 6000));
	}
}

SUITE_WITH("bases", set_up, clean_up)
