/* SPDX-License-Identifier: Apache-2.0 */
/* Files on a simulated disk: the same results as on one that fails, is full, or loses its power. */
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/store/store.h"
#include "sim/disk/simdisk.h"
#include "sim/world/world.h"
#include "tests/suite.h"

#include <errno.h>
#include <string.h>
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

static const struct store_kind synced = { .what = "test", .version = 1, .max_bytes = 4096 },
			       unsynced = { .what = "test",
					    .version = 1,
					    .max_bytes = 4096,
					    .ends_with_boot = true };

static int write_as(const struct store_kind *kind, const char *at, const char *text)
{
	struct store s = STORE_INIT(kind, simdisk_disk(disk), at);
	struct buf b = BUF_INIT(4096);
	int rc;

	buf_puts(&b, text);
	rc = store_write(&s, &b, NULL);
	buf_done(&b);
	return rc;
}

static int write_new(void)
{
	return write_as(&synced, path, NEW);
}

static void write_old(void)
{
	simdisk_set(disk, SIMDISK_WELL);
	ck_assert_int_eq(write_as(&synced, path, OLD), 0);
}

static bool is(const char *text)
{
	struct store s = STORE_INIT(&synced, simdisk_disk(disk), path);
	struct buf b = { 0 };
	bool same = !store_read(&s, &b, NULL) && str_eq(buf_str(&b), text);

	buf_done(&b);
	return same;
}

static int take_away(void)
{
	const struct disk *d = simdisk_disk(disk);

	return d->remove(d->arg, path);
}

TEST(synced_data_survive_a_power_cut)
{
	for (int i = 0; i < ROUNDS; i++) {
		write_old();
		ck_assert_int_eq(write_new(), 0);
		simdisk_cut_power(disk);
		ck_assert(is(NEW));
	}
}

TEST(unsynced_data_may_be_lost_or_torn)
{
	unsigned old = 0, new = 0, torn = 0;

	for (int i = 0; i < ROUNDS; i++) {
		write_old();
		ck_assert_int_eq(write_as(&unsynced, path, NEW), 0);
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
		ck_assert_int_eq(take_away(), 0);
		simdisk_cut_power(disk);
		back += is(OLD);
	}
	ck_assert_uint_gt(back, ROUNDS / 10);
	ck_assert_uint_lt(back, ROUNDS - ROUNDS / 10);
}

/* A file in a folder is there as long as both names are. */
TEST(a_folder_that_was_made_outlives_the_power)
{
	const struct disk *d = simdisk_disk(disk);
	char below[FILE_PATH_BYTES], in_it[FILE_PATH_BYTES];
	struct err e = { 0 };

	simdisk_path(disk, "below", below);
	file_join(in_it, sizeof(in_it), below, "kept", NULL);
	for (int i = 0; i < ROUNDS; i++) {
		ck_assert_msg(!d->make_folder(d->arg, below, &e), "%s", e.text);
		ck_assert_int_eq(write_as(&synced, in_it, NEW), 0);
		simdisk_cut_power(disk);
		ck_assert_int_eq(access(in_it, F_OK), 0);
		disk_remove(below);
	}
}

/* Operations in an entered directory act on the disk. */
TEST(an_entered_folder_is_as_the_disk_is)
{
	struct disk in, twice;
	char below[FILE_PATH_BYTES];
	struct err e = { 0 };
	unsigned old = 0;
	int fd;

	simdisk_path(disk, "below", below);
	ck_assert_msg(!disk_enter(simdisk_disk(disk), below, &in, &e), "%s", e.text);
	ck_assert_int_eq(disk_enter(simdisk_disk(disk), below, &twice, &e), -ERR_SYS);
	for (int i = 0; i < ROUNDS; i++) {
		fd = in.create(in.arg, "a");
		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq(in.create(in.arg, "a"), -EEXIST);
		ck_assert_int_eq(disk_write_all(&in, fd, NEW, strlen(NEW), 0), 0);
		ck_assert_int_eq(in.sync(in.arg, fd), 0);
		in.close(in.arg, fd);
		if (i % 2)
			ck_assert_int_eq(in.sync_names(in.arg, "a"), 0);
		simdisk_cut_power(disk);
		fd = in.open(in.arg, "a");
		ck_assert(fd >= 0 || (fd == -ENOENT && i % 2 == 0));
		old += fd < 0;
		if (fd < 0)
			continue;
		ck_assert_int_eq(in.size(in.arg, fd), strlen(NEW));
		in.close(in.arg, fd);
		ck_assert_int_eq(in.remove(in.arg, "a"), 0);
		ck_assert_int_eq(in.sync_names(in.arg, "a"), 0);
	}
	ck_assert_uint_gt(old, ROUNDS / 8);
	simdisk_set(disk, SIMDISK_DEAD);
	ck_assert_int_eq(in.create(in.arg, "a"), -EIO);
	disk_leave(&in);
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

TEST(a_failing_disk_reports_that_and_nothing_is_half)
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
	ck_assert_int_eq(take_away(), -EIO);
	simdisk_set(disk, SIMDISK_WELL);
	ck_assert(is(OLD));
}

SUITE_WITH("simdisk", set_up, clean_up)
