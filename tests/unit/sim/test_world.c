/* SPDX-License-Identifier: Apache-2.0 */
/* A world that breaks names the first cause; without its disks nothing in it can be judged. */
#include "common/loop/loop.h"
#include "sim/world/world.h"
#include "tests/suite.h"

#include <string.h>
#include <unistd.h>

static struct world w;

static void set_up(void)
{
	struct err e = { 0 };

	ck_assert_msg(world_open(&w, 1, true, &e) == 0, "%s", e.text);
}

static void clean_up(void)
{
	world_close(&w);
}

TEST(the_first_cause_counts)
{
	world_break(&w, "INV-%d: first", 1);
	world_break(&w, "INV-2: second");
	ck_assert_str_eq(w.broken, "INV-1: first");
	ck_assert_int_eq(w.broken_at, loop_now(w.loop));
}

TEST(where_the_disks_were_removed_no_invariant_is_named)
{
	ck_assert_int_eq(rmdir(w.disk), 0);
	world_break(&w, "INV-44: too much");
	ck_assert_ptr_nonnull(strstr(w.broken, w.disk));
	ck_assert_ptr_nonnull(strstr(w.broken, "was removed: the world was not judged"));
	ck_assert_ptr_null(strstr(w.broken, "INV-"));
}

/* A device that has no room. */
TEST(a_folder_without_room_is_full)
{
	ck_assert_str_eq(disk_failure("/proc"), "is full");
	ck_assert_ptr_null(disk_failure(w.disk));
	ck_assert_str_eq(disk_failure("/nonexistent"), "was removed");
}

SUITE_WITH("world", set_up, clean_up)
