/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the oracles see anything: each fault that is planted is found, and long before a thousand worlds. */
#include "common/base/log.h"
#include "sim/disk.h"
#include "sim/run.h"
#include "tests/suite.h"
#include "tests/unit/sim/plant.h"

#include <fcntl.h>
#include <string.h>

#define WORLDS_MAX 1000

/* What is said of it, "" when nothing is wrong. */
static void run(uint64_t seed, char out[WORLD_WORDS_BYTES])
{
	struct run_conf c = { .seed = seed, .sites = 2, .hosts = 4, .ranks = 2, .tools = 2, .time = 15 * NSEC_PER_SEC,
			      .with_faults = true };
	struct run_result r = { 0 };
	char disk[DISK_PATH_BYTES];
	struct err e = { 0 };

	ck_assert_int_eq(disk_make(disk, &e), 0);
	c.disk = disk;
	ck_assert_msg(run_world(&c, &r, &e) == 0, "%s", e.text);
	disk_remove(disk);
	memcpy(out, r.broken, WORLD_WORDS_BYTES);
}

static void find(enum plant p, const char *words)
{
	char broken[WORLD_WORDS_BYTES] = "";
	uint64_t seed = 0;

	log_open(&(struct log_conf){ .level = LOG_LEVEL_ERROR, .fd = open("/dev/null", O_WRONLY) }); /* disks fail */
	while (!broken[0] && seed < WORLDS_MAX) {
		plant_set(p);
		run(++seed, broken);
	}
	printf("# found in world %u: %s\n", (unsigned)seed, broken);
	ck_assert_msg(strstr(broken, words), "world %u: \"%s\" is not \"%s\"", (unsigned)seed, broken, words);
	/* Without it that world is sound. */
	plant_set(PLANT_NONE);
	run(seed, broken);
	ck_assert_str_eq(broken, "");
}

START_TEST(a_lost_wake_up_is_found)
{
	find(PLANT_LOST_WAKE_UP, "are told");
}
END_TEST

START_TEST(a_doubled_action_is_found)
{
	find(PLANT_DOUBLED_ACTION, "signals");
}
END_TEST

START_TEST(a_forgotten_release_is_found)
{
	find(PLANT_FORGOTTEN_RELEASE, "is stopped");
}
END_TEST

START_TEST(a_missorted_time_is_found)
{
	find(PLANT_MISSORTED_TIME, "not in its place");
}
END_TEST

START_TEST(a_leaked_conditional_request_is_found)
{
	find(PLANT_LEAKED_CSR, "switched on");
}
END_TEST

START_TEST(a_forgotten_sync_is_found)
{
	find(PLANT_FORGOTTEN_SYNC, "token"); /* one is not there, or the file is torn */
}
END_TEST

START_TEST(a_clock_that_is_said_to_be_better_than_it_is_is_found)
{
	find(PLANT_BOLD_CLOCK, "is wrong about the time");
}
END_TEST

SUITE("planted", a_lost_wake_up_is_found, a_doubled_action_is_found, a_forgotten_release_is_found, a_missorted_time_is_found,
      a_leaked_conditional_request_is_found, a_forgotten_sync_is_found, a_clock_that_is_said_to_be_better_than_it_is_is_found)
