/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool's files and gaps as docs/eventlog.md specifies them, byte by byte; and a reader's
 * handling of gaps.
 */
#include "common/base/file.h"
#include "common/base/array.h"
#include "common/base/str.h"
#include "eventlog/evgap.h"
#include "eventlog/evread.h"
#include "eventlog/evwrite.h"
#include "eventlog/spool/ledger.h"
#include "eventlog/spool/spool.h"
#include "tests/suite.h"

#include <ctype.h>
#include <string.h>

#define PAGE "docs/eventlog.md"

/* The bytes of the block ```hex NAME; # begins a comment. */
static void bytes_of(const char *name, struct buf *out)
{
	struct buf page = BUF_INIT(1 << 20);
	char fence[32];
	const char *p;

	ck_assert_int_eq(file_read(PAGE, page.max, 0, &page, NULL), 0);
	snprintf(fence, sizeof(fence), "```hex %s\n", name);
	p = strstr(buf_str(&page), fence);
	ck_assert_ptr_nonnull(p);
	for (p += strlen(fence); strncmp(p, "```", 3);) {
		char pair[3] = { p[0], p[1], 0 };
		uint64_t v;

		if (*p == '#' || isspace((unsigned char)*p)) {
			p = *p == '#' ? strchr(p, '\n') : p + 1;
			continue;
		}
		ck_assert_int_eq(str_to_hex64(pair, &v), 0);
		buf_putc(out, (uint8_t)v);
		p += 2;
	}
	buf_done(&page);
}

static void same(const char *name, const uint8_t *p, size_t n)
{
	struct buf b = BUF_INIT(4096);

	for (size_t i = 0; i < n; i++)
		printf("%02x%s", p[i], i % 16 == 15 || i + 1 == n ? "\n" : " ");
	bytes_of(name, &b);
	ck_assert_uint_eq(b.n, n);
	ck_assert_mem_eq(b.p, p, n);
	buf_done(&b);
}

static const struct evgap gap = { .stream = UINT64_C(0x1122334455667788),
				  .seq = 5,
				  .end_seq = 7,
				  .first = 100,
				  .end_first = 150,
				  .dropped = 3 };

TEST(a_gap_has_the_documented_bytes)
{
	uint8_t block[EVGAP_BLOCK_BYTES];
	struct evblock head;
	struct evgap back;

	evgap_encode(&gap, block);
	if (block[0] == 'G') /* the page has the bytes of a little-endian sender */
		same("gap", block, sizeof(block));
	ck_assert_int_eq(evblock_look(block, sizeof(block), &head), EVBLOCK_GOOD);
	ck_assert(evgap_of(block, &head, &back));
	ck_assert(back.seq == 5 && back.end_seq == 7 && back.first == 100 &&
		  back.end_first == 150 && back.dropped == 3);
}

TEST(a_ledger_has_the_documented_bytes)
{
	static struct ledger l, back;
	struct buf b = BUF_INIT(LEDGER_FILE_MAX_BYTES);
	struct consumer *c;

	ledger_init(&l);
	ck_assert_int_eq(ledger_add(&l, "up", 4096, &c), 0);
	ck_assert_int_eq(ledger_encode(&l, &b), 0);
	same("ledger", b.p, b.n);
	ck_assert_int_eq(gaps_add(&c->gaps, &gap, 4096), 0);
	ck_assert_int_eq(gaps_add(&l.lost, &gap, 0), 0);
	ck_assert_int_eq(ledger_encode(&l, &b), 0);
	ck_assert_uint_eq(b.n, 2 + 4 + 60 + 1 + 2 + 8 + 4 + 60);
	ledger_init(&back);
	ck_assert_int_eq(ledger_decode(&back, b.p, b.n), 0);
	ck_assert_ptr_nonnull(ledger_find(&back, "up"));
	ck_assert_uint_eq(ledger_find(&back, "up")->gaps.unreported, 1);
	ck_assert_uint_eq(back.lost.n, 1);
	ledger_done(&l);
	ledger_done(&back);
	buf_done(&b);
}

/* Altered bytes change the checksum (common/store); a truncated file is not a ledger. */
TEST(no_part_of_a_ledger_is_taken)
{
	static struct ledger l;
	struct buf b = BUF_INIT(4096);

	bytes_of("ledger", &b);
	ledger_init(&l);
	for (size_t n = 0; n < b.n; n++)
		ck_assert_int_eq(ledger_decode(&l, b.p, n), -ERR_PARSE);
	buf_putc(&b, 0);
	ck_assert_int_eq(ledger_decode(&l, b.p, b.n), -ERR_PARSE);
	ck_assert_ptr_null(ledger_find(&l, "up"));
	ledger_done(&l);
	buf_done(&b);
}

/* --- a reader counts what gaps say, each once */

static void put_block(struct buf *b, uint64_t seq, uint64_t first, uint32_t events)
{
	uint8_t p[EVBLOCK_HEAD_BYTES];
	struct evblock head = { .version = EVBLOCK_VERSION,
				.bytes = EVBLOCK_HEAD_BYTES,
				.stream = gap.stream,
				.seq = seq,
				.first = first,
				.events = events };

	evblock_encode(&head, p);
	buf_put(b, p, sizeof(p));
}

static void put_gap(struct buf *b, uint64_t seq, uint64_t end_seq, uint64_t first,
		    uint64_t end_first)
{
	uint8_t p[EVGAP_BLOCK_BYTES];
	struct evgap g = { gap.stream, seq, end_seq, first, end_first, 0, false };

	evgap_encode(&g, p);
	buf_put(b, p, sizeof(p));
}

TEST(a_reader_counts_what_is_in_gaps_once)
{
	struct buf b = BUF_INIT(4096);
	struct evread *r = evread_new();
	const struct evread_report *report = evread_report(r);
	size_t at = 0, used;

	put_block(&b, 0, 0, 0);
	put_gap(&b, 1, 3, 0, 10); /* two blocks, ten events */
	put_gap(&b, 1, 5, 0, 25); /* longer: two and fifteen more */
	put_gap(&b, 1, 3, 0, 10); /* known */
	put_block(&b, 5, 25, 0);
	put_gap(&b, 6, 7, 25, 30); /* and nothing follows */
	while (evread_push(r, b.p + at, b.n - at, true, &used) == EVREAD_BLOCK)
		at += used;
	ck_assert_uint_eq(report->lost_blocks, 5);
	ck_assert_uint_eq(report->lost_events, 30);
	ck_assert_uint_eq(report->repeated_blocks, 1);
	ck_assert_uint_eq(report->skipped_bytes + report->bad_records + report->torn_blocks, 0);
	evread_free(r);
	buf_done(&b);
}

TEST(numbers_of_a_gap_do_not_run_over)
{
	uint8_t p[EVGAP_BLOCK_BYTES];
	struct evgap g = { 1, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX - 5, UINT64_MAX, 0, false };
	struct evblock head;
	struct evgap back;

	evgap_encode(&g, p);
	ck_assert_int_eq(evblock_look(p, sizeof(p), &head), EVBLOCK_GOOD);
	ck_assert(evgap_of(p, &head, &back));
	p[EVBLOCK_HEAD_BYTES + 4 + 7] = 1; /* as a block made by hand */
	ck_assert(!evgap_of(p, &head, &back));
}

TEST(all_that_may_be_lost_has_room_in_the_file)
{
	static struct ledger l;
	struct buf out = BUF_INIT(LEDGER_FILE_MAX_BYTES);
	struct evgap what = { .end_seq = 1, .end_first = 1 };
	char name[] = "consumer-0";
	size_t kept = 0;

	ledger_init(&l);
	for (int i = 0; i < 4; i++, name[9]++) {
		struct consumer *c;

		ck_assert_int_eq(ledger_add(&l, name, 0, &c), 0);
		for (what.stream = 0; what.stream < LEDGER_GAPS_MAX; what.stream++)
			kept += !ledger_lose(&l, c, &what, 0);
	}
	ck_assert_uint_eq(kept, LEDGER_GAPS_OF_ALL_MAX);
	for (what.stream = 0; what.stream < LEDGER_GAPS_MAX; what.stream++)
		ck_assert_int_eq(gaps_add(&l.lost, &what, 0), 0);
	ck_assert_int_eq(ledger_encode(&l, &out), 0);
	ledger_done(&l);
	buf_done(&out);
}

TEST(every_limit_is_on_the_page)
{
	struct buf page = BUF_INIT(1 << 20);
	char row[80];
	static const struct {
		const char *name;
		uint64_t value;
	} limit[] = {
		{ "SPOOL_PENDING_MAX_BYTES", SPOOL_PENDING_MAX_BYTES },
		{ "SPOOL_READ_BYTES", SPOOL_READ_BYTES },
		{ "SPOOL_DISK_MIN_BYTES", SPOOL_DISK_MIN_BYTES },
		{ "LEDGER_CONSUMERS_MAX", LEDGER_CONSUMERS_MAX },
		{ "LEDGER_GAPS_MAX", LEDGER_GAPS_MAX },
		{ "LEDGER_GAPS_OF_ALL_MAX", LEDGER_GAPS_OF_ALL_MAX },
		{ "LEDGER_FILE_MAX_BYTES", LEDGER_FILE_MAX_BYTES },
	};

	ck_assert_int_eq(file_read(PAGE, page.max, 0, &page, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(limit); i++) {
		snprintf(row, sizeof(row), "\n| %s | %llu |", limit[i].name,
			 (unsigned long long)limit[i].value);
		ck_assert_msg(strstr(buf_str(&page), row) != NULL, "no \"%s\" on the page", row);
	}
	buf_done(&page);
}

SUITE("format")
