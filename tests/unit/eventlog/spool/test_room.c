/* SPDX-License-Identifier: Apache-2.0 */
/* Room of a spool: which sizes go together, when it is full, when it has room again, and when it
 * has something to do. */
#include "tests/suite.h"
#include "tests/unit/eventlog/spool/flow.h"
#include "tests/unit/common/store/memdisk.h"

#include <string.h>

#define BODY 8192
#define MSEC NSEC_PER_MSEC
#define START NSEC_PER_SEC

static struct memdisk sim;
static struct flow flow;
static struct taker taker;
static unsigned words;
static char last_word[256];

static void on_word(void *arg, const char *text)
{
	words++;
	snprintf(last_word, sizeof(last_word), "%s", text);
}

static void set_up(void)
{
	memdisk_init(&sim, 1);
	flow_init(&flow, 1);
	taker_init(&taker, "it");
	words = 0;
}

static void clean_up(void)
{
	memdisk_done(&sim);
}

static struct spool_conf usual(void)
{
	return (struct spool_conf){ .disk = &sim.disk,
				    .when_full = SPOOL_DROP_NEWEST,
				    .max_bytes = SPOOL_DISK_MIN_BYTES,
				    .segment_bytes = SPOOL_DISK_MIN_BYTES / 8,
				    .commit_ns = 60 * MSEC,
				    .commit_bytes = 2 * BODY,
				    .on_word = on_word };
}

static int opens(const struct spool_conf *c)
{
	struct spool *s = NULL;
	int rc = spool_open(c, &s, NULL);

	ck_assert((!rc) == (s != NULL));
	spool_free(s);
	return rc;
}

TEST(sizes_go_together_or_are_refused)
{
	struct spool_conf c = usual();
	struct spool *s = NULL;

	ck_assert_int_eq(opens(&c), 0);
	c.max_bytes = SPOOL_DISK_MIN_BYTES - 1;
	ck_assert_int_eq(opens(&c), -ERR_INVALID);
	c.max_bytes = SPOOL_DISK_MIN_BYTES;
	c.segment_bytes = c.max_bytes / 2;
	ck_assert_int_eq(opens(&c), 0);
	c.segment_bytes++;
	ck_assert_int_eq(opens(&c), -ERR_INVALID);
	c.segment_bytes = 0;
	c.commit_bytes = SPOOL_PENDING_MAX_BYTES / 2;
	ck_assert_int_eq(opens(&c), 0);
	c.commit_bytes++;
	ck_assert_int_eq(opens(&c), -ERR_INVALID);
	c = usual();
	ck_assert_int_eq(spool_open(&c, &s, NULL), 0);
	ck_assert_int_eq(spool_limit(s, SPOOL_STOP, SPOOL_DISK_MIN_BYTES - 1, START), -ERR_INVALID);
	ck_assert_int_eq(spool_limit(s, SPOOL_STOP, SPOOL_DISK_MIN_BYTES, START), 0);
	spool_free(s);
}

static struct spool *opened(struct consumer **c)
{
	const struct spool_conf conf = usual();
	struct spool *s = NULL;
	struct err e = { 0 };

	ck_assert_msg(spool_open(&conf, &s, &e) == 0, "%s", e.text);
	ck_assert_int_eq(spool_add(s, taker.name, true, c), 0);
	return s;
}

/* Full is full until a quarter is free: for a block that would have room, too. */
TEST(a_full_spool_has_room_when_a_quarter_is_free)
{
	struct consumer *c;
	struct spool *s = opened(&c);
	struct spool_stats stats;
	unsigned kept = 0, lost = 0;
	nsec_t now = START;

	while (lost < 3) {
		if (flow_append(&flow, s, 0, BODY, now))
			lost++;
		else
			kept++;
		ck_assert_int_eq(spool_commit(s, now), 0);
		now += MSEC;
	}
	ck_assert(spool_is_full(s));
	ck_assert_uint_ge((uint64_t)kept * BODY, SPOOL_DISK_MIN_BYTES / 8 * 7);
	ck_assert_uint_le((uint64_t)kept * BODY, SPOOL_DISK_MIN_BYTES);
	spool_stats(s, &stats);
	ck_assert_uint_eq(stats.lost_blocks, 3);
	ck_assert_uint_le(stats.disk_bytes, SPOOL_DISK_MIN_BYTES);
	while (spool_is_full(s)) {
		ck_assert(taker_read(&taker, s));
		taker_ack(&taker, s, now);
		now += NSEC_PER_SEC;
		spool_step(s, now);
	}
	spool_stats(s, &stats);
	ck_assert_uint_le(stats.disk_bytes, SPOOL_DISK_MIN_BYTES / 4 * 3);
	ck_assert_uint_gt(stats.disk_bytes, SPOOL_DISK_MIN_BYTES / 4);
	ck_assert_int_eq(flow_append(&flow, s, 0, BODY, now), 0);
	ck_assert_int_eq(spool_commit(s, now), 0);
	flow_note(&flow, s);
	taker_drain(&taker, s, now);
	taker_check(&taker, &flow, false);
	ck_assert_uint_gt(taker.lost, 0);
	spool_free(s);
}

TEST(an_append_is_settled_after_the_longest_delay)
{
	struct consumer *c;
	struct spool *s = opened(&c);
	nsec_t now = START;

	now = spool_step(s, now) == INT64_MAX ? now : now + NSEC_PER_SEC;
	ck_assert_int_eq(spool_step(s, now), INT64_MAX);
	ck_assert_int_eq(flow_append(&flow, s, 0, 1024, now), 0);
	ck_assert(spool_owes(s));
	ck_assert_int_eq(spool_step(s, now), now + 60 * MSEC);
	ck_assert_uint_eq(spool_settled(s), 0);
	ck_assert(!spool_can_read(s, c));
	ck_assert_int_eq(spool_step(s, now + 60 * MSEC - 1), now + 60 * MSEC);
	ck_assert_uint_eq(spool_settled(s), 0);
	now += 60 * MSEC;
	spool_step(s, now);
	ck_assert_uint_eq(spool_settled(s), 1);
	ck_assert(!spool_owes(s));
	ck_assert(spool_can_read(s, c));
	/* So many bytes are not waited for. */
	ck_assert_int_eq(flow_append(&flow, s, 0, BODY, now), 0);
	spool_step(s, now);
	ck_assert_uint_eq(spool_settled(s), 1);
	ck_assert_int_eq(flow_append(&flow, s, 0, BODY, now), 0);
	spool_step(s, now);
	ck_assert_uint_eq(spool_settled(s), 3);
	ck_assert(taker_read(&taker, s));
	ck_assert_uint_gt(spool_backlog(s, c), 2 * BODY);
	taker_ack(&taker, s, now);
	ck_assert_uint_eq(spool_backlog(s, c), 0);
	ck_assert_int_le(spool_step(s, now), now + SPOOL_LEDGER_NS);
	now += SPOOL_LEDGER_NS;
	spool_step(s, now);
	ck_assert_int_eq(spool_step(s, now), INT64_MAX);
	spool_free(s);
	/* Acknowledged blocks do not come again. */
	s = NULL;
	{
		const struct spool_conf conf = usual();

		ck_assert_int_eq(spool_open(&conf, &s, NULL), 0);
		ck_assert(!spool_can_read(s, spool_find(s, taker.name)));
	}
	spool_free(s);
}

TEST(damage_is_reported_and_counted_once)
{
	struct consumer *c;
	struct spool *s = opened(&c);
	struct spool_stats stats;
	struct buf *segment = NULL;
	nsec_t now = START;

	for (int i = 0; i < 10; i++, now += MSEC)
		ck_assert_int_eq(flow_append(&flow, s, 0, BODY, now), 0);
	ck_assert_int_eq(spool_commit(s, now), 0);
	flow_note(&flow, s);
	for (int i = 0; i < MEMDISK_FILES; i++)
		if (sim.now[i].name[0] && sim.file[sim.now[i].file].now.n > 20 * 1024)
			segment = &sim.file[sim.now[i].file].now;
	ck_assert_ptr_nonnull(segment);
	spool_stats(s, &stats);
	ck_assert_uint_eq(stats.damaged_bytes, 0);
	ck_assert_uint_eq(words, 0);
	memset(segment->p + 20 * 1024, 0x55, 100);
	while (taker_read(&taker, s))
		taker_ack(&taker, s, now);
	spool_stats(s, &stats);
	ck_assert_uint_ge(stats.damaged_bytes, BODY);
	ck_assert_uint_le(stats.damaged_bytes, 3 * BODY);
	ck_assert_uint_eq(words, 1);
	ck_assert_ptr_nonnull(strstr(last_word, "it has bytes outside of blocks"));
	spool_free(s);
}

TEST(names_of_consumers_are_found_once)
{
	struct consumer *c, *other = NULL;
	struct spool *s = opened(&c);

	ck_assert_ptr_eq(spool_find(s, taker.name), c);
	ck_assert_ptr_null(spool_find(s, "other"));
	ck_assert_int_eq(spool_add(s, taker.name, true, &other), -ERR_EXISTS);
	ck_assert_int_eq(spool_add(s, "", true, &other), -ERR_INVALID);
	ck_assert_int_eq(flow_append(&flow, s, 0, 1024, START), 0);
	ck_assert_int_eq(spool_commit(s, START), 0);
	ck_assert_int_eq(spool_add(s, "late", false, &other), 0);
	ck_assert(spool_can_read(s, c) && !spool_can_read(s, other));
	ck_assert_uint_eq(spool_backlog(s, other), 0);
	ck_assert_int_eq(spool_ack(s, c, 1 << 30, START), -ERR_INVALID);
	spool_remove(s, c);
	ck_assert_ptr_null(spool_find(s, taker.name));
	ck_assert_int_eq(spool_add(s, taker.name, true, &c), 0);
	spool_free(s);
	spool_free(NULL);
}

SUITE_WITH("spool room", set_up, clean_up)
