/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of files on a simulated disk: the same as on one that fails, is full, or loses its
 * power. */
#include "common/base/file.h"
#include "common/base/str.h"
#include "sim/disk/simdisk.h"
#include "sim/world/world.h"
#include "tests/suite.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROUNDS 200
#define OLD "as it was before"
#define NEW "as it is to be, which is a longer text"

static char path[FILE_PATH_BYTES];
static struct world w;
static struct simdisk *disk;

static void set_up(void)
{
	struct err e = { 0 };

	ck_assert_int_eq(world_open(&w, suite_seed(1), true, &e), 0);
	ck_assert_msg(simdisk_new("h0", rng_next(&w.dice), &disk, &e) == 0, "%s", e.text);
	simdisk_path(disk, "kept", path);
}

static void clean_up(void)
{
	simdisk_free(disk);
	world_close(&w);
}

static int write_new(void)
{
	return file_write_atomic(path, NEW, strlen(NEW), NULL);
}

static void write_old(void)
{
	simdisk_set(disk, SIMDISK_WELL);
	ck_assert_int_eq(file_write_atomic(path, OLD, strlen(OLD), NULL), 0);
}

static bool is(const char *text)
{
	struct buf b = BUF_INIT(4096);
	bool same = !file_read(path, b.max, FILE_SECRET, &b, NULL) && str_eq(buf_str(&b), text);

	buf_done(&b);
	return same;
}

TEST(what_was_synced_outlives_the_power)
{
	for (int i = 0; i < ROUNDS; i++) {
		write_old();
		ck_assert_int_eq(write_new(), 0);
		simdisk_cut_power(disk);
		ck_assert(is(NEW));
	}
}

TEST(what_was_not_synced_may_be_gone_or_torn)
{
	unsigned old = 0, new = 0, torn = 0;

	for (int i = 0; i < ROUNDS; i++) {
		write_old();
		ck_assert_int_eq(file_replace(path, NEW, strlen(NEW), NULL), 0);
		ck_assert(is(NEW));
		simdisk_cut_power(disk);
		old += is(OLD);
		new += is(NEW);
		torn += !is(OLD) && !is(NEW);
	}
	ck_assert_uint_gt(old, ROUNDS / 10);
	ck_assert_uint_gt(new, ROUNDS / 20);
	ck_assert_uint_gt(torn, ROUNDS / 10);
}

TEST(a_file_that_was_taken_away_may_be_there_again)
{
	unsigned back = 0;

	for (int i = 0; i < ROUNDS; i++) {
		write_old();
		ck_assert_int_eq(file_remove(path, NULL), 0);
		simdisk_cut_power(disk);
		back += is(OLD);
	}
	ck_assert_uint_gt(back, ROUNDS / 10);
	ck_assert_uint_lt(back, ROUNDS - ROUNDS / 10);
}

/* A file in a folder is there as long as both names are. */
TEST(a_folder_outlives_the_power_when_the_one_that_it_is_in_was_synced)
{
	char below[FILE_PATH_BYTES], in_it[FILE_PATH_BYTES];
	unsigned gone = 0;

	simdisk_path(disk, "below", below);
	file_join(in_it, sizeof(in_it), below, "kept", NULL);
	for (int i = 0; i < 2 * ROUNDS; i++) {
		bool is_synced = i % 2;

		ck_assert_int_eq(mkdir(below, 0700), 0);
		ck_assert_int_eq(file_write_atomic(in_it, NEW, strlen(NEW), NULL), 0);
		if (is_synced)
			write_old();
		simdisk_cut_power(disk);
		gone += access(in_it, F_OK) != 0;
		ck_assert(!is_synced || !access(in_it, F_OK));
		disk_remove(below);
	}
	ck_assert_uint_gt(gone, ROUNDS / 10);
	ck_assert_uint_lt(gone, ROUNDS - ROUNDS / 10);
}

TEST(a_full_disk_takes_nothing_and_keeps_what_it_has)
{
	for (int i = 0; i < ROUNDS; i++) {
		write_old();
		simdisk_set(disk, SIMDISK_FULL);
		ck_assert_int_eq(write_new(), -ERR_SYS);
		ck_assert(is(OLD));
	}
}

TEST(a_failing_disk_says_so_and_nothing_is_half)
{
	unsigned failed = 0;

	for (int i = 0; i < ROUNDS; i++) {
		bool is_done;

		write_old();
		simdisk_set(disk, SIMDISK_FAILING);
		is_done = !write_new();
		failed += !is_done;
		simdisk_set(disk, SIMDISK_WELL);
		simdisk_cut_power(disk);
		ck_assert(is(NEW) || (!is_done && is(OLD)));
	}
	ck_assert_uint_gt(failed, ROUNDS / 10);
	ck_assert_uint_lt(failed, ROUNDS);
}

TEST(the_dead_write_nothing)
{
	write_old();
	simdisk_set(disk, SIMDISK_DEAD);
	ck_assert_int_eq(write_new(), -ERR_SYS);
	ck_assert_int_eq(file_remove(path, NULL), -ERR_SYS);
	simdisk_set(disk, SIMDISK_WELL);
	ck_assert(is(OLD));
}

SUITE_WITH("simdisk", set_up, clean_up)
