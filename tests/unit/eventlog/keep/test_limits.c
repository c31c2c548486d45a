/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept subscriptions with limited resources: no room, no memory, a failing disk; and invalid
 * requests.
 */
#include "common/base/file.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/eventlog/keep/world.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Its end is due when all is above, even if its input is invalid. */
static void all_comes_before_the_end(uint32_t policy)
{
	append(1000);
	open_as("run7", OWNER, 4, policy, true);
	WAIT_FOR(seen.blocks == 1);
	ck_assert_uint_eq(seen.ends, 0);
	ack(4, seen.place);
	WAIT_FOR(seen.ends == 1);
}

TEST(a_full_disk_does_not_end_a_subscription)
{
	char path[64];

	open_it(0);
	snprintf(path, sizeof(path), "%s/run7.sub", dir);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0); /* it cannot be replaced */
	all_comes_before_the_end(MSG_KEEP_DROP_OLDEST);
}

TEST(a_refused_limit_does_not_end_a_subscription)
{
	open_as("run7", OWNER, 0, MSG_KEEP_STOP, false);
	all.bytes += KEEPS_ALL_MAX_BYTES - 4 * MIB;
	all_comes_before_the_end(MSG_KEEP_DROP_NEWEST);
	all.bytes -= KEEPS_ALL_MAX_BYTES - 4 * MIB;
}

TEST(a_full_disk_stops_the_source_or_loses_exactly)
{
	open_as("run7", OWNER, 3, MSG_KEEP_STOP, false);
	for (int i = 0; i < 30; i++)
		append(100 * 1024);
	WAIT_FOR(seen.full == 1);
	ck_assert(keep_is_full(run7()));
	WAIT_FOR(seen.settled == 30);
	while (seen.events + seen.lost < 300) {
		uint64_t before = seen.blocks;

		ack(3, seen.place);
		WAIT_FOR(seen.blocks > before);
	}
	ck_assert_uint_eq(seen.events + seen.lost, 300);
	ck_assert_uint_gt(seen.lost, 0);
	ack(3, seen.place);
	WAIT_FOR(seen.full == 101);
}

static uint64_t on_disk(void)
{
	struct keeps_stats s;

	keeps_stats(ks, &s);
	return s.disk_bytes;
}

TEST(the_end_comes_behind_what_was_lost_at_last)
{
	struct msg m = { .type = MSG_EVENTS_OPEN,
			 .events_open = { "run7", OWNER, 3, KEEP_ROOM_MAX, MSG_KEEP_STOP, 2 * MIB,
					  600, false } };

	keeps_take(ks, &m);
	for (int i = 0; i < 30; i++)
		append(100 * 1024);
	WAIT_FOR(seen.settled == 30 && seen.place && seen.place == on_disk());
	m.events_open.ending = true;
	keeps_take(ks, &m);
	for (nsec_t end = clock_mono() + WAIT_MAX_NS; !seen.ends && clock_mono() < end;) {
		ack(3, seen.place); /* all blocks there at once */
		loop_wait(l, 100 * NSEC_PER_MSEC);
	}
	ck_assert_uint_eq(seen.ends, 1);
	ck_assert_uint_eq(seen.events + seen.lost, 300);
	ck_assert_uint_gt(seen.lost, 0);
}

TEST(other_limits_hold_from_now_on_and_for_what_is_there)
{
	open_as("run7", OWNER, 3, MSG_KEEP_STOP, false);
	for (int i = 0; i < 30; i++)
		append(100 * 1024);
	WAIT_FOR(seen.full == 1);
	WAIT_FOR(seen.settled == 30);
	open_as("run7", OWNER, 3, MSG_KEEP_DROP_NEWEST, false); /* four times the room */
	ck_assert_int_eq(seen.full, 101);
	ck_assert(!keep_is_full(run7()));
	for (int i = 0; i < 30; i++)
		ck_assert_int_eq(append(100 * 1024), 0);
	WAIT_FOR(seen.settled == 60);
	while (seen.events + seen.lost < 600) {
		uint64_t before = seen.blocks;

		ack(3, seen.place); /* of the same opening */
		WAIT_FOR(seen.blocks > before);
	}
	ck_assert_uint_lt(seen.lost, 300);
}

TEST(nonsense_is_refused_with_its_reason)
{
	struct keep *k;
	struct err e = { 0 };

	open_as("../x", OWNER, 3, 0, false);
	ck_assert_int_eq(keeps_check(ks, "../x", OWNER, &k, &e), -ERR_INVALID);
	open_as("x", OWNER, 3, 7, false);
	ck_assert_int_eq(keeps_check(ks, "x", OWNER, &k, &e), -ERR_INVALID);
	open_as("x", "", 3, 0, false);
	ck_assert_int_eq(keeps_check(ks, "x", "", &k, &e), -ERR_INVALID);
	open_as("x", OWNER, 3, 0, false);
	ck_assert_int_eq(keeps_check(ks, "x", OWNER, &k, &e), 0);
	open_as("x", "omig:tool-observe//v", 3, 0, false);
	ck_assert_int_eq(keeps_check(ks, "x", OWNER, &k, &e), 0);
	ck_assert_int_eq(keeps_check(ks, "x", "omig:tool-observe//v", &k, &e), -ERR_DENIED);
	keeps_take(ks,
		   &(struct msg){ .type = MSG_EVENTS_OPEN,
				  .events_open = { "y", OWNER, 3, 4, 0, 155 * MIB, 600, false } });
	ck_assert_int_eq(keeps_check(ks, "y", OWNER, &k, &e), -ERR_LIMIT);
	ck_assert_int_eq(keeps_check(ks, "z", OWNER, &k, &e), -ERR_NOTFOUND);
}

TEST(no_more_than_so_many_are_kept)
{
	struct keep *k;
	struct err e = { 0 };
	char name[8];

	for (int i = 0; i <= KEEPS_MAX; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		open_as(name, OWNER, 1, 0, false);
		ck_assert_int_eq(keeps_check(ks, name, OWNER, &k, &e),
				 i < KEEPS_MAX ? 0 : -ERR_LIMIT);
	}
}

TEST(users_of_one_process_share_what_there_is)
{
	struct keep *k;
	struct err e = { 0 };

	open_it(3);
	ck_assert_uint_eq(all.n, 1);
	ck_assert_uint_eq(all.bytes, 8 * MIB);
	all.n = KEEPS_ALL_MAX;
	open_as("x", OWNER, 3, 0, false);
	ck_assert_int_eq(keeps_check(ks, "x", OWNER, &k, &e), -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "of all users"));
	all.n = 1;
	all.bytes += KEEPS_ALL_MAX_BYTES - 16 * MIB;
	open_as("x", OWNER, 3, 0, false);
	ck_assert_int_eq(keeps_check(ks, "x", OWNER, &k, &e), 0);
	open_as("y", OWNER, 3, 0, false);
	ck_assert_int_eq(keeps_check(ks, "y", OWNER, &k, &e), -ERR_LIMIT);
	open_as("run7", OWNER, 4, MSG_KEEP_STOP, false); /* an existing one may have less */
	ck_assert_int_eq(keeps_check(ks, "run7", OWNER, &k, &e), 0);
	all.bytes -= KEEPS_ALL_MAX_BYTES - 16 * MIB;
	ck_assert_uint_eq(all.n, 2);
	ck_assert_uint_eq(all.bytes, 10 * MIB);
	keeps_free(ks);
	ck_assert_uint_eq(all.n + all.bytes, 0);
	start();
	ck_assert_uint_eq(all.n, 2);
}

TEST(one_that_could_not_be_made_leaves_nothing_behind)
{
	unsigned refused = 0;

	ALLOC_SWEEP (k) {
		open_it(3);
		alloc_sweep_pause();
		if (keeps_find(ks, "run7")) {
			keeps_take(ks, &(struct msg){ .type = MSG_EVENTS_END,
						      .events_end = { "run7", OWNER } });
			WAIT_FOR(!keeps_find(ks, "run7"));
		} else {
			refused++;
		}
		ck_assert(!is_there("run7.sub"));
	}
	ck_assert_uint_gt(refused, 0);
	ck_assert_uint_eq(seen.made, seen.gone);
	ck_assert_uint_eq(all.n + all.bytes, 0);
}

/* No file grows meanwhile. */
static void fill_disk(bool is_full)
{
	static struct rlimit was;

	if (is_full)
		ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &was), 0);
	ck_assert_int_eq(sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL), 0);
	ck_assert_int_eq(
		setrlimit(RLIMIT_FSIZE, is_full ? &(struct rlimit){ 0, was.rlim_max } : &was), 0);
}

TEST(a_full_disk_at_the_start_loses_no_subscription)
{
	open_it(3);
	append(100);
	WAIT_FOR(seen.blocks == 1);
	keeps_free(ks);
	fill_disk(true);
	start();
	fill_disk(false);
	ck_assert_ptr_nonnull(keeps_find(ks, "run7"));
	seen.due = 0;
	open_it(1);
	WAIT_FOR(seen.blocks == 2);
}

TEST(subscription_refused_at_start_opens_on_request)
{
	open_it(3);
	append(100);
	WAIT_FOR(seen.blocks == 1);
	keeps_free(ks);
	all.n = KEEPS_ALL_MAX;
	start();
	ck_assert_ptr_null(keeps_find(ks, "run7"));
	all.n = 0;
	open_as("run7", "omig:tool-observe//v", 1, MSG_KEEP_DROP_OLDEST, false);
	fill_disk(true);
	seen.due = 0;
	open_it(1);
	WAIT_FOR(seen.blocks == 2);
	fill_disk(false);
	ck_assert_str_eq(keep_request(run7())->identity, OWNER);
}

TEST(a_damaged_file_affects_no_other_subscription)
{
	char path[64];

	open_it(3);
	append(100);
	WAIT_FOR(seen.blocks == 1);
	keeps_free(ks);
	for (const char *const *p = (const char *const[]){ "a.sub", ".sub", "b.sub", NULL }; *p;
	     p++) {
		snprintf(path, sizeof(path), "%s/%s", dir, *p);
		ck_assert_int_eq(file_write_atomic(path, "\0\0\0\3nonsense", 12, NULL), 0);
	}
	start();
	ck_assert_ptr_null(keeps_find(ks, "a"));
	seen.due = 0;
	open_it(1);
	WAIT_FOR(seen.blocks == 2);
}

SUITE_WITH("limits", set_up, clean_up)
