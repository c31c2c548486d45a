/* SPDX-License-Identifier: Apache-2.0 */
/* Opening of existing files: those of a crash, damaged ones and foreign ones. */
#include "common/base/array.h"
#include "eventlog/evgap.h"
#include "eventlog/spool/ledger.h"
#include "eventlog/spool/segments.h"
#include "eventlog/spool/walk.h"
#include "tests/suite.h"
#include "tests/unit/eventlog/spool/flow.h"
#include "tests/unit/common/store/memdisk.h"

#include <errno.h>
#include <string.h>

#define MSEC NSEC_PER_MSEC
#define START NSEC_PER_SEC
#define BLOCK (EVBLOCK_HEAD_BYTES + 960)

static struct memdisk sim;
static struct flow flow;
static struct taker taker;
static char words[1024];

static void on_word(void *arg, const char *text)
{
	size_t n = strlen(words);

	snprintf(words + n, sizeof(words) - n, "%s\n", text);
}

static void set_up(void)
{
	memdisk_init(&sim, 1);
	flow_init(&flow, 1);
	taker_init(&taker, "it");
	*words = '\0';
}

static void clean_up(void)
{
	memdisk_done(&sim);
}

static struct spool_conf conf(void)
{
	return (struct spool_conf){ .disk = &sim.disk,
				    .when_full = SPOOL_DROP_OLDEST,
				    .max_bytes = 4 * SPOOL_DISK_MIN_BYTES,
				    .segment_bytes = 2 * SPOOL_DISK_MIN_BYTES,
				    .commit_ns = 10 * MSEC,
				    .commit_bytes = 4 * 1024,
				    .on_word = on_word };
}

static struct spool *opened(void)
{
	const struct spool_conf c = conf();
	struct spool *s = NULL;
	struct err e = { 0 };

	ck_assert_msg(!spool_open(&c, &s, &e), "%s", e.text);
	return s;
}

static void fails(int rc, const char *word)
{
	const struct spool_conf c = conf();
	struct spool *s;
	struct err e = { 0 };

	ck_assert_int_eq(spool_open(&c, &s, &e), rc);
	ck_assert_msg(strstr(e.text, word), "%s", e.text);
}

/* A spool with a consumer and n blocks of BLOCK bytes in its one segment. Nothing is taken. */
static void left(unsigned n)
{
	struct spool *s = opened();
	struct consumer *c;

	ck_assert_int_eq(spool_add(s, taker.name, true, &c), 0);
	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(flow_append(&flow, s, 0, BLOCK - EVBLOCK_HEAD_BYTES, START), 0);
	ck_assert_int_eq(spool_commit(s, START + SPOOL_LEDGER_NS), 0);
	flow_note(&flow, s);
	spool_free(s);
}

static struct buf *segment(uint64_t start)
{
	char name[SEGMENT_NAME_BYTES];

	segment_name(name, start, SEGMENT_GOOD);
	return memdisk_find(&sim, name);
}

static void put_file(const char *name, const void *p, size_t n)
{
	int fd = sim.disk.create(sim.disk.arg, name);

	ck_assert_int_ge(fd, 0);
	if (n)
		ck_assert_int_eq(sim.disk.write_at(sim.disk.arg, fd, p, n, 0), n);
	sim.disk.close(sim.disk.arg, fd);
}

/* Reads all blocks. Returns the number of blocks of stream 0. */
static unsigned taken(struct spool *s)
{
	unsigned n = 0;

	while (taker_read(&taker, s))
		taker_ack(&taker, s, START);
	for (size_t i = 0; i < FLOW_BLOCKS_MAX; i++)
		n += taker.has[0][i];
	return n;
}

/* --- segments */

TEST(a_torn_end_is_cut_off)
{
	struct spool *s;
	struct spool_stats stats;

	left(10);
	segment(0)->n -= 100;
	s = opened();
	spool_stats(s, &stats);
	ck_assert_uint_eq(stats.disk_bytes, 9 * BLOCK);
	ck_assert_uint_eq(stats.damaged_bytes, 0);
	ck_assert_str_eq(words, "");
	ck_assert_uint_eq(segment(0)->n, 9 * BLOCK);
	ck_assert_uint_eq(taken(s), 9);
	spool_free(s);
}

TEST(damage_before_the_end_is_counted_and_kept)
{
	struct spool *s;
	struct spool_stats stats;

	left(10);
	memset(segment(0)->p + 3 * BLOCK + 200, 0x55, 100);
	segment(0)->n -= 100;
	s = opened();
	spool_stats(s, &stats);
	ck_assert_uint_eq(stats.disk_bytes, 9 * BLOCK);
	ck_assert_uint_eq(stats.damaged_bytes, BLOCK);
	ck_assert_ptr_nonnull(
		strstr(words, "0000000000000000.seg is damaged (it has bytes outside"));
	ck_assert_uint_eq(taken(s), 8);
	spool_free(s);
}

TEST(a_disk_that_fails_once_while_it_opens_costs_no_block)
{
	const struct spool_conf c = conf();
	struct spool *s;
	struct spool_stats stats;
	int rc;

	left(10);
	for (uint64_t at = 1; at < 40; at++) {
		sim.fault_at = sim.ops + at;
		sim.times = 1;
		sim.fault = MEMDISK_FAIL;
		sim.error = EIO;
		rc = spool_open(&c, &s, NULL);
		sim.fault_at = 0;
		ck_assert(!rc || rc == -ERR_SYS);
		if (rc)
			continue;
		spool_stats(s, &stats);
		ck_assert_uint_eq(stats.damaged_bytes, 0);
		ck_assert_uint_eq(stats.disk_bytes, 10 * BLOCK);
		spool_free(s);
	}
}

TEST(an_empty_segment_is_removed)
{
	struct spool *s;

	left(3);
	put_file("0000000000100000.seg", NULL, 0);
	s = opened();
	ck_assert_ptr_null(segment(0x100000));
	ck_assert_uint_eq(taken(s), 3);
	spool_free(s);
}

/* Names that no spool writes, and a segment that is set aside. */
TEST(foreign_names_are_left_alone)
{
	static const char *const names[] = { "x.seg",
					     "000000000010000g.seg",
					     "00000000001000000.seg",
					     "0000000000100000.sex",
					     "0000000000100000.bad",
					     "0000000000100000" };
	struct spool *s;
	struct spool_stats stats;

	left(3);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		put_file(names[i], "?", 1);
	s = opened();
	spool_stats(s, &stats);
	ck_assert_uint_eq(stats.segments, 1);
	ck_assert_uint_eq(taken(s), 3);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		ck_assert_ptr_nonnull(memdisk_find(&sim, names[i]));
	spool_free(s);
}

/* The overlapping part of the earlier segment was not synced, and was written again. */
TEST(of_two_segments_that_overlap_the_later_one_holds)
{
	struct spool *s;
	struct spool_stats stats;

	left(4);
	put_file("0000000000000800.seg", segment(0)->p + 2 * BLOCK, 2 * BLOCK);
	ck_assert_uint_eq(BLOCK, 0x400); /* so that this is its place */
	memset(segment(0)->p + 2 * BLOCK, 0x55, 2 * BLOCK);
	s = opened();
	spool_stats(s, &stats);
	ck_assert_uint_eq(stats.segments, 2);
	ck_assert_uint_eq(stats.disk_bytes, 4 * BLOCK);
	ck_assert_uint_eq(taken(s), 4);
	spool_stats(s, &stats);
	ck_assert_uint_eq(stats.damaged_bytes, 0);
	spool_free(s);
}

/* A place is never used twice: a block there would count as acknowledged. */
TEST(places_continue_behind_what_was_acknowledged)
{
	struct spool *s;
	struct consumer *c;

	left(4);
	s = opened();
	ck_assert_uint_eq(taken(s), 4);
	ck_assert_int_eq(spool_commit(s, START + 2 * SPOOL_LEDGER_NS), 0);
	spool_free(s);
	if (segment(0))
		sim.disk.remove(sim.disk.arg, "0000000000000000.seg");
	s = opened();
	c = spool_find(s, taker.name);
	ck_assert_uint_eq(spool_backlog(s, c), 0);
	ck_assert_int_eq(flow_append(&flow, s, 0, 960, START), 0);
	ck_assert_int_eq(spool_commit(s, START), 0);
	ck_assert_ptr_nonnull(segment(4 * BLOCK));
	ck_assert_uint_eq(spool_backlog(s, c), BLOCK);
	ck_assert_uint_eq(taken(s), 5);
	spool_free(s);
}

/* Damage in each window of a segment that a consumer was too slow for. */
TEST(damage_in_each_window_is_counted_once)
{
	const unsigned n = 2 * WALK_WINDOW_BYTES / BLOCK + 2;
	struct spool_conf c = conf();
	struct spool_stats stats;
	struct consumer *it;
	struct spool *s = NULL;
	nsec_t now = START;

	c.max_bytes = 8 * WALK_WINDOW_BYTES;
	c.segment_bytes = 3 * WALK_WINDOW_BYTES;
	ck_assert_int_eq(spool_open(&c, &s, NULL), 0);
	ck_assert_int_eq(spool_add(s, taker.name, true, &it), 0);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_int_eq(flow_append(&flow, s, 0, BLOCK - EVBLOCK_HEAD_BYTES, now), 0);
		spool_step(s, now);
	}
	ck_assert_int_eq(spool_commit(s, now), 0);
	memset(segment(0)->p + 1 * BLOCK + 200, 0x55, 100);
	memset(segment(0)->p + (n - 1) * BLOCK + 200, 0x55, 100);
	spool_free(s);
	s = NULL;
	*words = '\0';
	/* Another segment, so that the first one is not the last. */
	put_file("0000000001000000.seg", segment(0)->p, BLOCK);
	c.max_bytes = SPOOL_DISK_MIN_BYTES;
	c.segment_bytes = 0;
	ck_assert_int_eq(spool_open(&c, &s, NULL), 0);
	ck_assert_int_eq(flow_append(&flow, s, 1, 960, now), 0);
	ck_assert_int_eq(spool_commit(s, now), 0);
	spool_stats(s, &stats);
	ck_assert_uint_eq(stats.expired_segments, 1);
	ck_assert_uint_eq(stats.damaged_bytes, 2 * BLOCK);
	ck_assert_ptr_nonnull(memdisk_find(&sim, "0000000000000000.bad"));
	spool_free(s);
}

static int cannot_list(void *arg, const char *folder, void (*each)(void *arg, const char *name),
		       void *each_arg)
{
	return -EACCES;
}

TEST(a_folder_that_cannot_be_listed_is_an_error)
{
	left(3);
	sim.disk.list = cannot_list;
	fails(-ERR_SYS, "the folder cannot be read: Permission denied");
}

/* --- the disk itself is full */

TEST(older_segments_are_removed_on_a_full_disk)
{
	struct spool_conf c = conf();
	struct spool_stats stats;
	struct consumer *it;
	struct spool *s = NULL;
	nsec_t now = START;

	c.max_bytes = 64u << 20;
	c.segment_bytes = 16 * 1024;
	sim.room = 200 * 1024;
	ck_assert_int_eq(spool_open(&c, &s, NULL), 0);
	ck_assert_int_eq(spool_add(s, taker.name, true, &it), 0);
	for (unsigned i = 0; i < 1000; i++, now += 20 * MSEC) {
		ck_assert_int_eq(flow_append(&flow, s, 0, BLOCK - EVBLOCK_HEAD_BYTES, now), 0);
		spool_step(s, now);
	}
	for (unsigned i = 0; i < 10; i++, now += SPOOL_RETRY_NS)
		spool_step(s, now);
	flow_note(&flow, s);
	spool_stats(s, &stats);
	ck_assert_uint_eq(spool_settled(s), 1000);
	ck_assert(!stats.is_failing);
	ck_assert_uint_gt(stats.failures, 0);
	ck_assert_uint_gt(stats.expired_segments, 0);
	ck_assert_uint_eq(stats.lost_blocks, 0);
	ck_assert_uint_lt(stats.disk_bytes, sim.room);
	ck_assert_uint_gt(stats.disk_bytes, sim.room / 2);
	ck_assert_ptr_nonnull(strstr(words, "nothing can be stored: No space left"));
	ck_assert_ptr_nonnull(strstr(words, "storing continues"));
	taken(s);
	taker_check(&taker, &flow, true);
	spool_free(s);
}

/* --- the ledger */

static void refused_ledger(void)
{
	struct spool *s;

	*words = '\0';
	s = opened();
	ck_assert_msg(strstr(words, "it is renamed to .bad: consumers get all"), "%s", words);
	ck_assert_ptr_nonnull(memdisk_find(&sim, "ledger.bad"));
	ck_assert_ptr_null(spool_find(s, taker.name));
	spool_free(s);
}

TEST(a_ledger_that_means_nothing_is_set_aside)
{
	left(3);
	memdisk_find(&sim, "ledger")->p[5] ^= 1;
	refused_ledger();
}

TEST(a_ledger_that_is_too_long_is_set_aside)
{
	static uint8_t zeros[LEDGER_FILE_MAX_BYTES + 1];

	put_file("ledger", zeros, sizeof(zeros));
	refused_ledger();
}

TEST(a_ledger_that_cannot_be_read_keeps_the_spool_closed)
{
	left(3);
	sim.fault_at = sim.ops + 1;
	sim.times = 1;
	sim.fault = MEMDISK_FAIL;
	sim.error = EIO;
	fails(-ERR_SYS, "the ledger: Input/output error");
	sim.fault_at = 0;
	spool_free(opened());
}

static int decoded(struct buf *b)
{
	static struct ledger l;
	int rc;

	ledger_init(&l);
	rc = ledger_decode(&l, b->p, b->n);
	ledger_done(&l);
	buf_clear(b);
	return rc;
}

static void put_head(struct buf *b, uint16_t consumers, uint32_t gaps)
{
	buf_put_u16le(b, consumers);
	buf_put_u32le(b, gaps);
}

static void put_gap(struct buf *b, uint64_t seq, uint64_t end_seq, uint64_t first,
		    uint64_t end_first)
{
	const uint64_t v[] = { 0, 7, seq, end_seq, first, end_first, 0 };

	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		buf_put_u64le(b, v[i]);
	buf_put_u32le(b, 0);
}

static void put_consumer(struct buf *b, const char *name, size_t n, uint64_t place)
{
	buf_putc(b, (uint8_t)n);
	buf_put(b, name, n);
	buf_put_u64le(b, place);
	buf_put_u32le(b, 0);
}

TEST(an_invalid_ledger_is_refused)
{
	static const char longest[] =
		"0123456789012345678901234567890123456789012345678901234567890123";
	struct buf b = BUF_INIT(4096);

	put_head(&b, 0, 0);
	ck_assert_int_eq(decoded(&b), 0);
	put_head(&b, 0, 0);
	buf_putc(&b, 0);
	ck_assert_int_eq(decoded(&b), -ERR_PARSE);
	put_head(&b, 0, 1);
	put_gap(&b, 1, 2, 5, 5);
	ck_assert_int_eq(decoded(&b), 0);
	put_head(&b, 0, 1);
	put_gap(&b, 2, 2, 5, 5);
	ck_assert_int_eq(decoded(&b), -ERR_PARSE);
	put_head(&b, 0, 1);
	put_gap(&b, 1, 2, 5, 4);
	ck_assert_int_eq(decoded(&b), -ERR_PARSE);
	put_head(&b, 0, 2);
	put_gap(&b, 1, 2, 5, 5);
	ck_assert_int_eq(decoded(&b), -ERR_PARSE);
	put_head(&b, 1, 0);
	put_consumer(&b, longest, LEDGER_NAME_BYTES - 1, INT64_MAX);
	ck_assert_int_eq(decoded(&b), 0);
	put_head(&b, 1, 0);
	put_consumer(&b, longest, LEDGER_NAME_BYTES, 0);
	ck_assert_int_eq(decoded(&b), -ERR_PARSE);
	put_head(&b, 1, 0);
	put_consumer(&b, "it", 2, (uint64_t)INT64_MAX + 1);
	ck_assert_int_eq(decoded(&b), -ERR_PARSE);
	put_head(&b, 1, 0);
	put_consumer(&b, "a/b", 3, 0);
	ck_assert_int_eq(decoded(&b), -ERR_PARSE);
	put_head(&b, 1, 0);
	put_consumer(&b, "", 0, 0);
	ck_assert_int_eq(decoded(&b), -ERR_PARSE);
	put_head(&b, 2, 0);
	put_consumer(&b, "it", 2, 0);
	put_consumer(&b, "it", 2, 0);
	ck_assert_int_eq(decoded(&b), -ERR_PARSE);
	put_head(&b, 2, 0);
	put_consumer(&b, "it", 2, 0);
	ck_assert_int_eq(decoded(&b), -ERR_PARSE);
	buf_done(&b);
}

SUITE_WITH("spool open", set_up, clean_up)
