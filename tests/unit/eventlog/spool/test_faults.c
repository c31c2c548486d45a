/* SPDX-License-Identifier: Apache-2.0 */
/* Each operation of the disk in turn fails, does half, or is the last one before a crash. */
#include "eventlog/evgap.h"
#include "eventlog/spool/ledger.h"
#include "eventlog/spool/segments.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/eventlog/spool/flow.h"
#include "tests/unit/common/store/memdisk.h"

#include <errno.h>
#include <string.h>

#define MSEC NSEC_PER_MSEC
#define START NSEC_PER_SEC

/* Sanitizers make each operation 30 times dearer; they see all kinds of them in fewer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STRIDE 9
#else
#define STRIDE 1
#endif

static struct memdisk sim;
static struct flow flow;
static struct taker fast, slow;
static enum spool_when_full when_full;
static uint8_t example[EVGAP_BLOCK_BYTES];
static struct evblock example_head;

static struct spool_conf conf(void)
{
	return (struct spool_conf){ .disk = &sim.disk,
				    .when_full = when_full,
				    .max_bytes = SPOOL_DISK_MIN_BYTES,
				    .segment_bytes = 16 * 1024,
				    .commit_ns = 60 * MSEC,
				    .commit_bytes = 4 * 1024 };
}

static struct spool *open_spool(void)
{
	const struct spool_conf c = conf();
	struct consumer *unused;
	struct err e = { 0 };
	struct spool *s = NULL;
	int rc = spool_open(&c, &s, &e);

	ck_assert_msg(!rc || sim.is_dead || sim.fault_at, "%s", e.text);
	if (rc)
		return NULL;
	if (!spool_find(s, fast.name))
		ck_assert_int_eq(spool_add(s, fast.name, true, &unused), 0);
	if (!spool_find(s, slow.name))
		ck_assert_int_eq(spool_add(s, slow.name, true, &unused), 0);
	return s;
}

/* More than it may keep, with a fast and a slow consumer. */
static nsec_t use(struct spool *s, nsec_t now)
{
	for (int i = 0; i < 100; i++, now += 13 * MSEC) {
		flow_append(&flow, s, (unsigned)i % FLOW_STREAMS, 1024 + 4 * (size_t)(i % 50), now);
		spool_step(s, now);
		flow_note(&flow, s);
		if (i % 10 == 9 && taker_read(&fast, s) && i % 20 == 19)
			taker_ack(&fast, s, now);
		if (i % 50 == 49 && taker_read(&slow, s))
			taker_ack(&slow, s, now);
	}
	return now;
}

static nsec_t settle(struct spool *s, nsec_t now)
{
	for (int i = 0; i < 100 && spool_settled(s) < spool_appended(s); i++) {
		now += NSEC_PER_SEC;
		spool_step(s, now);
		flow_note(&flow, s);
	}
	ck_assert_uint_eq(spool_settled(s), spool_appended(s));
	return now;
}

/* A loss for all is reported when there is room again: when all have taken the rest. */
static void finish(struct spool *s, nsec_t now)
{
	struct taker *const both[] = { &fast, &slow };

	now = settle(s, now);
	for (int round = 0; round < 4; round++)
		for (int i = 0; i < 2; i++, now += NSEC_PER_SEC) {
			taker_drain(both[i], s, now);
			spool_step(s, now);
		}
	for (int i = 0; i < 2; i++)
		taker_check(both[i], &flow, when_full == SPOOL_DROP_OLDEST);
	spool_free(s);
}

static void arm(uint64_t at, uint64_t times, enum memdisk_fault fault, int error)
{
	sim.fault_at = at ? sim.ops + at : 0;
	sim.times = times;
	sim.fault = fault;
	sim.error = error;
}

/* As the source after a crash. percent: of the unsettled blocks is sent again. */
static struct spool *again(struct spool *was, bool is_power, unsigned percent, nsec_t now)
{
	struct spool *s;

	spool_free(was);
	memdisk_crash(&sim, is_power);
	s = open_spool();
	ck_assert_ptr_nonnull(s);
	fast.place = slow.place = 0;
	flow_again(&flow, s, percent, now);
	return s;
}

/* A spool is used and killed; then it is opened and used with a fault at an operation. How many
 * there were. */
static uint64_t run(uint64_t at, uint64_t times, enum memdisk_fault fault, int error, bool is_power)
{
	nsec_t now = START;
	struct spool *s;
	uint64_t ops;

	memdisk_init(&sim, at);
	flow_init(&flow, at);
	taker_init(&fast, "fast");
	taker_init(&slow, "slow");
	s = open_spool();
	now = use(s, now);
	spool_free(s);
	memdisk_crash(&sim, false);
	fast.place = slow.place = 0;
	flow_again(&flow, NULL, 0, now);
	ops = sim.ops;
	arm(at, times, fault, error);
	s = open_spool();
	if (s)
		now = use(s, now);
	ops = sim.ops - ops;
	if (fault == MEMDISK_CRASH || is_power || !s)
		now = use(s = again(s, is_power, (unsigned)(at % 3) * 50, now), now);
	sim.fault_at = 0;
	finish(s, now);
	memdisk_done(&sim);
	return ops;
}

static void sweep(uint64_t times, enum memdisk_fault fault, int error, bool is_power)
{
	uint64_t ops = run(0, 0, MEMDISK_NONE, 0, false);

	ck_assert_uint_gt(ops, 50);
	for (uint64_t at = 1; at <= ops; at += STRIDE)
		run(at, times, fault, error, is_power);
	printf("# %llu operations\n", (unsigned long long)ops);
}

static void sweep_all_policies(uint64_t times, enum memdisk_fault fault, int error, bool is_power)
{
	when_full = SPOOL_DROP_NEWEST;
	sweep(times, fault, error, is_power);
	when_full = SPOOL_DROP_OLDEST;
	sweep(times, fault, error, is_power);
}

TEST(any_operation_may_fail_once)
{
	sweep_all_policies(1, MEMDISK_FAIL, EIO, false);
}

/* A disk whose second sync succeeds has lost the data of the first one. */
TEST(blocks_settled_after_a_failure_survive_a_power_loss)
{
	sweep_all_policies(1, MEMDISK_FAIL, EIO, true);
}

TEST(any_operation_and_the_ten_after_it_may_find_no_space)
{
	sweep_all_policies(11, MEMDISK_FAIL, ENOSPC, false);
}

TEST(any_operation_may_do_half)
{
	sweep_all_policies(3, MEMDISK_SHORT, 0, false);
}

TEST(the_process_may_die_at_any_operation)
{
	sweep_all_policies(1, MEMDISK_CRASH, 0, false);
}

TEST(the_machine_may_die_at_any_operation)
{
	sweep_all_policies(1, MEMDISK_CRASH, 0, true);
}

/* --- anything, in any order */

static void any_fault(struct rng *r)
{
	static const int errors[] = { EIO, ENOSPC, EROFS };
	enum memdisk_fault f = rng_below(r, 2)	 ? MEMDISK_FAIL
			       : rng_below(r, 2) ? MEMDISK_SHORT
						 : MEMDISK_CRASH;
	size_t i = rng_below(r, 3);

	/* Data that fail to be read three times are passed over: not here. */
	arm(1 + rng_below(r, 60), 1 + rng_below(r, errors[i] == EIO ? 2 : 8), f, errors[i]);
}

/* A consumer with random actions. */
static void any_step(struct rng *r, struct spool *s, nsec_t now)
{
	struct taker *t = rng_below(r, 4) ? &fast : &slow;

	switch (rng_below(r, 8)) {
	case 0:
		taker_read(t, s);
		break;
	case 1:
		taker_ack(t, s, now);
		break;
	case 2:
		spool_rewind(s, spool_find(s, t->name));
		t->place = 0;
		break;
	case 3:
		sim.room = rng_below(r, 20) ? UINT64_MAX : 40000 + rng_below(r, 100000);
		break;
	default:
		flow_append(&flow, s, (unsigned)rng_below(r, FLOW_STREAMS), 4 * rng_below(r, 1500),
			    now);
	}
	spool_step(s, now);
	flow_note(&flow, s);
}

static void any_schedule(uint64_t seed)
{
	nsec_t now = START;
	struct spool *s;
	struct rng r;

	rng_init(&r, seed);
	when_full = (enum spool_when_full)rng_below(&r, 3);
	memdisk_init(&sim, seed);
	flow_init(&flow, seed);
	taker_init(&fast, "fast");
	taker_init(&slow, "slow");
	s = open_spool();
	for (int i = 0; i < 400; i++, now += (nsec_t)rng_below(&r, 20) * MSEC) {
		if (!rng_below(&r, 50))
			any_fault(&r);
		any_step(&r, s, now);
		if (sim.is_dead || !rng_below(&r, 200))
			s = again(s, rng_below(&r, 2), (unsigned)rng_below(&r, 101), now);
	}
	sim.fault_at = 0;
	sim.room = UINT64_MAX;
	finish(s, now);
	memdisk_done(&sim);
}

TEST(any_schedule_counts_each_event_once)
{
	uint64_t seed = suite_seed(1);

	for (int i = 0; i < 60 / STRIDE; i++)
		any_schedule(seed + (uint64_t)i);
}

/* Without assertions, which need memory too. */
static int use_briefly(struct buf *out)
{
	const struct spool_conf c = conf();
	struct consumer *one;
	struct spool *s = NULL;
	uint64_t place;
	int rc = spool_open(&c, &s, NULL);

	if (rc)
		return rc;
	one = spool_find(s, fast.name);
	for (int i = 0; i < 3 && !rc; i++)
		rc = spool_append(s, example, &example_head, START);
	if (!rc)
		rc = spool_commit(s, START);
	if (!rc)
		rc = spool_read(s, one, out, &place);
	spool_free(s);
	return rc;
}

TEST(memory_may_end_anywhere)
{
	size_t rounds = 0;

	when_full = SPOOL_DROP_NEWEST;
	memdisk_init(&sim, 1);
	flow_init(&flow, 1);
	taker_init(&fast, "fast");
	taker_init(&slow, "slow");
	finish(open_spool(), START);
	evgap_encode(&(struct evgap){ .stream = 7, .end_seq = 1, .end_first = 1 }, example);
	evblock_look(example, sizeof(example), &example_head);
	ALLOC_SWEEP (k) {
		struct buf out = BUF_INIT(2 * SPOOL_READ_BYTES);
		int rc = use_briefly(&out);

		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM || rc == -ERR_SYS);
		ck_assert(rc || out.n >= sizeof(example));
		buf_done(&out);
		rounds++;
	}
	ck_assert_uint_gt(rounds, 5);
	memdisk_done(&sim);
}

/*
 * A life of a spool whose first segment has bytes in its middle that are not a block. All of it is
 * read.
 */
static nsec_t live_with_damage(unsigned life, nsec_t now)
{
	struct spool *s = open_spool();

	for (int i = 0; i < 40; i++, now += 100 * MSEC) {
		flow_append(&flow, s, life % FLOW_STREAMS, 1024, now);
		spool_step(s, now);
	}
	ck_assert_int_eq(spool_commit(s, now), 0);
	for (int i = 0; i < MEMDISK_FILES; i++) {
		size_t n = strlen(sim.now[i].name);

		if (n > 4 && !strcmp(sim.now[i].name + n - 4, SEGMENT_GOOD) &&
		    sim.file[sim.now[i].file].now.n > 8000)
			memset(sim.file[sim.now[i].file].now.p + 5000, 0xee, 100);
	}
	for (int i = 0; i < 4; i++, now += NSEC_PER_SEC) {
		taker_drain(&fast, s, now);
		taker_drain(&slow, s, now);
		spool_step(s, now);
	}
	spool_free(s);
	return now;
}

static unsigned count_bad(void)
{
	unsigned n = 0;

	for (int i = 0; i < MEMDISK_FILES; i++)
		n += strstr(sim.now[i].name, SEGMENT_BAD) != NULL;
	return n;
}

TEST(damaged_files_of_many_starts_do_not_fill_the_disk)
{
	nsec_t now = START;

	memdisk_init(&sim, 1);
	flow_init(&flow, 1);
	taker_init(&fast, "fast");
	taker_init(&slow, "slow");
	when_full = SPOOL_DROP_OLDEST;
	for (unsigned life = 0; life < 8; life++)
		now = live_with_damage(life, now);
	ck_assert_uint_eq(count_bad(), SPOOL_BAD_MAX);
	memdisk_done(&sim);
}

static void append_of_stream(struct spool *s, uint64_t stream, nsec_t now)
{
	uint8_t block[EVGAP_BLOCK_BYTES];
	struct evblock head;

	evgap_encode(&(struct evgap){ .stream = stream, .end_seq = 1, .end_first = 1 }, block);
	ck_assert_int_eq(evblock_look(block, sizeof(block), &head), EVBLOCK_GOOD);
	ck_assert_int_eq(spool_append(s, block, &head, now), 0);
}

/* Each process has a stream: a long absence loses more streams than the ledger names. */
TEST(losses_of_more_streams_than_have_room_fill_no_disk)
{
	struct spool_conf c = conf();
	struct consumer *away;
	struct spool_stats is;
	struct spool *s;
	nsec_t now = START;

	memdisk_init(&sim, 1);
	c.when_full = SPOOL_DROP_OLDEST;
	c.segment_bytes = c.max_bytes / 2; /* few, as the ledger is written at the end of each */
	ck_assert_int_eq(spool_open(&c, &s, NULL), 0);
	ck_assert_int_eq(spool_add(s, "away", true, &away), 0);
	for (uint64_t i = 0; i < LEDGER_GAPS_MAX; i++)
		ck_assert_int_eq(
			gaps_add(&away->gaps,
				 &(struct evgap){ .stream = i, .end_seq = 1, .end_first = 1 }, 0),
			0);
	for (uint64_t i = 0; i < 6000; i++, now += MSEC) {
		append_of_stream(s, LEDGER_GAPS_MAX + i, now);
		if (i % 500 == 499)
			ck_assert_int_eq(spool_commit(s, now), 0);
	}
	spool_stats(s, &is);
	ck_assert_uint_eq(spool_settled(s), spool_appended(s));
	ck_assert_uint_le(is.disk_bytes, 2 * c.max_bytes);
	ck_assert_uint_eq(away->gaps.n, LEDGER_GAPS_MAX);
	ck_assert_uint_gt(is.unnamed_losses, 0);
	spool_free(s);
	memdisk_done(&sim);
}

SUITE("faults")
