/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole hierarchies in virtual time. The same seed is the same run, and all invariants hold after
 * the repair of any faults. OMIG_SIM_SEEDS=N worlds (50) from OMIG_TEST_SEED on.
 */
#include "common/base/log.h"
#include "common/base/array.h"
#include "common/base/str.h"
#include "proto/frame.h"
#include "sim/nodes/cluster.h"
#include "sim/rogues/lies.h"
#include "sim/studies/run.h"
#include "tests/suite.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define SEEDS_DEFAULT 50
#define SMALL .sites = 2, .hosts = 4, .ranks = 2, .tools = 2, .time = 15 * NSEC_PER_SEC

static struct run_result run(const struct run_conf *conf)
{
	struct run_result r = { 0 };
	struct err e = { 0 };

	ck_assert_msg(run_world(conf, &r, &e) == 0, "%s", e.text);
	return r;
}

static void hold(const struct run_conf *c, const struct run_result *r)
{
	struct buf b = BUF_INIT(1024);

	run_print_command(c, &b);
	ck_assert_msg(!r->broken[0], "at %.3f s: %s; again: %s", (double)r->broken_at / 1e9,
		      r->broken, buf_str(&b));
	buf_done(&b);
}

TEST(the_same_seed_is_the_same_run)
{
	for (unsigned with_faults = 0; with_faults < 2; with_faults++) {
		const struct run_conf a = { .seed = 7, SMALL, .with_faults = with_faults };
		const struct run_conf b = { .seed = 8, SMALL, .with_faults = with_faults };
		struct run_result first = run(&a), other = run(&b), second = run(&a);

		ck_assert_uint_eq(first.hash, second.hash);
		ck_assert_uint_eq(first.frames, second.frames);
		ck_assert_uint_ne(first.hash, other.hash);
		ck_assert_uint_gt(first.frames, 500);
	}
}

/* Each host is an input of a node of the site's part. */
TEST(a_site_may_have_more_than_a_thousand_hosts)
{
	const struct run_conf c = { .seed = 1,
				    .sites = 1,
				    .hosts = 1030,
				    .ranks = 1,
				    .tools = 1,
				    .levels = 1,
				    .time = 100 * NSEC_PER_MSEC };
	struct run_result r = run(&c);

	hold(&c, &r);
}

/* The configuration names them. */
TEST(there_may_be_more_sites_than_hosts_may_claim)
{
	const struct run_conf c = {
		.seed = 1, .sites = 40, .hosts = 80, .tools = 1, .levels = 1, .time = NSEC_PER_SEC
	};
	struct run_result r = run(&c);

	hold(&c, &r);
}

TEST(without_faults_all_that_is_asked_is_answered)
{
	struct ledger_counts n = { 0 };

	for (uint64_t seed = 1; seed <= 4; seed++) {
		const struct run_conf c = { .seed = seed,
					    .sites = 3,
					    .hosts = 9,
					    .ranks = 2,
					    .tools = 4,
					    .levels = 1 + (unsigned)(seed % CLUSTER_LEVELS_MAX),
					    .time = 15 * NSEC_PER_SEC };
		struct run_result r = run(&c);

		hold(&c, &r);
		n.answers += r.counts.answers;
		n.triggers += r.counts.triggers;
		n.reads += r.counts.reads;
		n.infos += r.counts.infos;
	}
	/* Else the test is void. */
	ck_assert_uint_gt(n.answers, 200);
	ck_assert_uint_gt(n.triggers, 10);
	ck_assert_uint_gt(n.reads, 10);
	ck_assert_uint_gt(n.infos, 100);
}

TEST(with_any_faults_the_invariants_hold)
{
	const char *wish = getenv("OMIG_SIM_SEEDS");
	uint64_t n = wish ? strtoull(wish, NULL, 10) : SEEDS_DEFAULT, first = suite_seed(1);
	uint64_t kills = 0, cuts = 0, answers = 0, disks = 0, tokens = 0, lies = 0, kept = 0;

	for (uint64_t i = 0; i < n; i++) {
		/* Half of them with sms below sms. */
		const struct run_conf c = { .seed = first + i,
					    SMALL,
					    .with_faults = true,
					    .levels = i % 4 == 1   ? 2
						      : i % 4 == 3 ? 3
								   : 1 };
		struct run_result r = run(&c);

		hold(&c, &r);
		kills += r.counts.kills;
		cuts += r.counts.cuts + r.counts.slow_links + r.counts.breaks;
		disks += r.counts.full_disks + r.counts.failing_disks + r.counts.switched_off;
		tokens += r.counts.tokens;
		answers += r.counts.answers;
		lies += r.counts.lies;
		kept += r.counts.kept_events;
	}
	printf("# %" PRIu64 " worlds: %" PRIu64 " lies, %" PRIu64 " answers, %" PRIu64
	       " kills, %" PRIu64 " links in trouble, %" PRIu64 " disks\n",
	       n, lies, answers, kills, cuts, disks);
	/* Any one of these may be missing in a few worlds; over many worlds each must occur. */
	if (n < SEEDS_DEFAULT)
		return;
	ck_assert_uint_gt(kills, n);
	ck_assert_uint_gt(cuts, n);
	ck_assert_uint_gt(disks, n / 2);
	ck_assert_uint_gt(tokens, n);
	ck_assert_uint_gt(lies, n);
	ck_assert_uint_gt(answers, 10 * n);
	ck_assert_uint_gt(kept, 10 * n);
}

/* --- frames of a host as a rogue changes them */

#define TRIES 2000
#define NO_MESSAGE 250 /* so that it is not reworded */

static unsigned times(const struct buf *b, const char *word)
{
	size_t n = strlen(word);
	unsigned k = 0;

	for (size_t at = 0; at + n <= b->n; at++)
		k += !memcmp(b->p + at, word, n);
	return k;
}

TEST(a_field_behind_a_large_number_is_changed_and_kept_as_any)
{
	struct buf frame = BUF_INIT(1024), out = BUF_INIT(1 << 20);
	size_t mark = frame_begin(&frame, NO_MESSAGE);
	unsigned often = 0, once = 0;
	struct lies l;

	buf_put(&frame, "\x08", 1);
	buf_put_varint(&frame, UINT64_C(1) << 40);
	buf_put(&frame, "\x12\x04tail", 6);
	frame_end(&frame, mark);
	lies_init(&l, suite_seed(1));
	for (int i = 0; i < TRIES; i++) {
		buf_clear(&out);
		lies_alter(&l, frame.p, frame.n, &out);
		often += times(&out, "tail") > 1;
		once += out.n && out.n != frame.n && times(&out, "tail") == 1;
	}
	ck_assert_uint_gt(often, 0); /* many times */
	ck_assert_uint_gt(once, 0); /* the number before it is another one, or is not there */
	lies_done(&l);
	buf_done(&frame);
	buf_done(&out);
}

/* They would search for a place without end. */
TEST(hosts_that_no_sm_takes_are_refused_before_the_world_begins)
{
	const struct run_conf c = {
		.seed = 1, .sites = 2, .hosts = 8193, .ranks = 1, .levels = 1, .time = NSEC_PER_SEC
	};
	struct run_result r = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(run_world(&c, &r, &e), -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "need 3 sites"));
}

int main(void)
{
	setenv("CK_DEFAULT_TIMEOUT", "600", 0);
	/* disks fail */
	log_open(&(struct log_conf){ .level = LOG_LEVEL_ERROR, .fd = open("/dev/null", O_WRONLY) });
	return suite_run("cluster", NULL, NULL);
}
