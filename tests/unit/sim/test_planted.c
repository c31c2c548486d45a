/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the oracles: each planted fault is found long before a thousand worlds; faults of values
 * and firings in 50.
 */
#include "common/base/log.h"
#include "common/base/array.h"
#include "sim/studies/run.h"
#include "tests/suite.h"
#include "tests/unit/sim/plant.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLDS_MAX 1000
#define WORLDS_SOON 50

/* Writes the report of the run, "" without violations. */
static void run(uint64_t seed, enum rogue_when rogues, char out[WORLD_WORDS_BYTES])
{
	struct run_conf c = { .seed = seed,
			      .sites = 2,
			      .hosts = 4,
			      .ranks = 2,
			      .tools = 2,
			      .time = 15 * NSEC_PER_SEC,
			      .with_faults = true,
			      .rogues = rogues };
	struct run_result r = { 0 };
	struct err e = { 0 };

	ck_assert_msg(run_world(&c, &r, &e) == 0, "%s", e.text);
	memcpy(out, r.broken, WORLD_WORDS_BYTES);
}

/* before: the world before the first one that is tried. */
static void find_among(enum rogue_when rogues, uint64_t before, enum plant p, const char *words)
{
	char broken[WORLD_WORDS_BYTES] = "";
	uint64_t seed = before, max = p >= PLANT_KEPT_CSR ? WORLDS_SOON : WORLDS_MAX;

	/* disks fail */
	log_open(&(struct log_conf){ .level = LOG_LEVEL_ERROR, .fd = open("/dev/null", O_WRONLY) });
	while (!broken[0] && seed < before + max) {
		plant_set(p);
		run(++seed, rogues, broken);
	}
	printf("# found in world %u: %s\n", (unsigned)seed, broken);
	ck_assert_msg(strstr(broken, words), "world %u: \"%s\" is not \"%s\"", (unsigned)seed,
		      broken, words);
	/* Without the fault that world has no violation. */
	plant_set(PLANT_NONE);
	run(seed, rogues, broken);
	ck_assert_str_eq(broken, "");
}

static void find(enum plant p, const char *words)
{
	find_among(ROGUE_SOMETIMES, 0, p, words);
}

/*
 * The lost wake-up may be of any timer of an lm: an event is not reported, or a read lacks a
 * host.
 */
TEST(a_lost_wake_up_is_found)
{
	find(PLANT_LOST_WAKE_UP, "INV-");
}

TEST(a_doubled_action_is_found)
{
	find(PLANT_DOUBLED_ACTION, "signals");
}

TEST(a_forgotten_release_is_found)
{
	find(PLANT_FORGOTTEN_RELEASE, "INV-26: ");
}

TEST(a_missorted_time_is_found)
{
	find(PLANT_MISSORTED_TIME, "INV-6: ");
}

TEST(a_leaked_conditional_request_is_found)
{
	find(PLANT_LEAKED_CSR, "INV-41: ");
}

TEST(a_forgotten_sync_is_found)
{
	find(PLANT_FORGOTTEN_SYNC, "token"); /* a file is missing or torn */
}

TEST(a_clock_with_too_small_a_bound_is_found)
{
	find(PLANT_BOLD_CLOCK, "INV-14: ");
}

TEST(an_answer_that_is_never_freed_is_found)
{
	find(PLANT_LEAKED_REPLY, "INV-45: ");
}

TEST(an_unbounded_queue_is_found)
{
	find(PLANT_UNBOUNDED_QUEUE, "INV-15: ");
}

TEST(an_sm_that_accepts_claims_about_other_hosts_is_found)
{
	find_among(ROGUE_ALWAYS, 40, PLANT_GULLIBLE_SM, ""); /* in one of many ways */
}

TEST(a_loss_that_is_counted_twice_is_found)
{
	find(PLANT_COUNTED_TWICE, "INV-24: ");
}

TEST(a_csr_that_outlives_its_tool_in_an_sm_is_found)
{
	find(PLANT_KEPT_CSR, "INV-11: ");
}

TEST(a_version_that_takes_effect_before_the_old_one_ends_is_found)
{
	find(PLANT_NEW_BEFORE_OLD, "INV-35: ");
}

TEST(an_object_that_contributes_without_a_value_is_found)
{
	find(PLANT_EMPTY_CONTRIBUTOR, "INV-36: ");
}

TEST(a_batch_that_arrives_twice_and_counts_twice_is_found)
{
	find(PLANT_DOUBLED_BATCH, "bytes");
}

TEST(late_data_that_count_as_contributors_are_found)
{
	/* In the first fifty worlds, no host is late with a value that would show it. */
	find_among(ROGUE_SOMETIMES, WORLDS_SOON, PLANT_LATE_CONTRIBUTOR, "INV-39: ");
}

/* Sanitizers examine the worlds of test_cluster: this tests the oracles. */
int main(void)
{
	const char *sanitizers = getenv("SANITIZE");

	if (sanitizers && *sanitizers) {
		puts("the plain build tries the oracles");
		return 77;
	}
	setenv("CK_DEFAULT_TIMEOUT", "600", 0);
	return suite_run("planted", NULL, NULL);
}
