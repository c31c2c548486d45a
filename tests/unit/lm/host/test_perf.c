/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the kernel's ring: known ones are returned, truncated or unknown ones do no harm. */
#include "common/base/buf.h"
#include "lm/host/perf.h"
#include "tests/suite.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct perf_record r;
static bool is_known;

static size_t decode(uint32_t type, uint16_t misc, uint16_t size, bool has_ids)
{
	struct buf b = BUF_INIT(1024);
	size_t n;

	buf_put_u32le(&b, type);
	buf_put_u16le(&b, misc);
	buf_put_u16le(&b, size);
	if (type == PERF_RECORD_LOST) {
		buf_put_u64le(&b, 7);
		buf_put_u64le(&b, 99);
	}
	if (has_ids) {
		buf_put_u32le(&b, 100);
		buf_put_u32le(&b, 101);
		buf_put_u64le(&b, 123456789);
	}
	n = perf_decode(b.p, b.n, &r, &is_known);
	buf_done(&b);
	return n;
}

TEST(a_sample_names_thread_and_time)
{
	ck_assert_uint_eq(decode(PERF_RECORD_SAMPLE, 2, 24, true), 24);
	ck_assert(is_known);
	ck_assert_int_eq(r.tid, 101);
	ck_assert_int_eq(r.time, 123456789);
	ck_assert(!r.is_out);
}

TEST(switches_report_their_direction)
{
	decode(PERF_RECORD_SWITCH, 0, 24, true);
	ck_assert(is_known && !r.is_out && !r.is_preempted);
	decode(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, 24, true);
	ck_assert(is_known && r.is_out && !r.is_preempted);
	decode(PERF_RECORD_SWITCH,
	       PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 24, true);
	ck_assert(is_known && r.is_out && r.is_preempted);
}

TEST(losses_are_counted)
{
	ck_assert_uint_eq(decode(PERF_RECORD_LOST, 0, 40, true), 40);
	ck_assert(is_known);
	ck_assert_uint_eq(r.lost, 99);
}

TEST(nonsense_ends_the_reading)
{
	ck_assert_uint_eq(decode(PERF_RECORD_SAMPLE, 0, 0, true), 0);
	ck_assert_uint_eq(decode(PERF_RECORD_SAMPLE, 0, 7, true), 0);
	ck_assert_uint_eq(decode(PERF_RECORD_SAMPLE, 0, 25, true), 0);
	ck_assert_uint_eq(decode(PERF_RECORD_SAMPLE, 0, 8, false), 8);
	ck_assert(!is_known);
	ck_assert_uint_eq(decode(PERF_RECORD_THROTTLE, 0, 24, true), 24);
	ck_assert(!is_known);
	ck_assert_uint_eq(perf_decode((const uint8_t *)"abc", 3, &r, &is_known), 0);
}

static void count(void *arg, const struct perf_record *record)
{
	++*(unsigned *)arg;
}

__attribute__((noinline)) static void reached(void)
{
	__asm__ volatile("");
}

/* The real interface, where the kernel permits it. */
TEST(an_address_is_noted_each_time)
{
	struct err e = { 0 };
	struct perf *p;
	unsigned n = 0;
	int rc = perf_open((int32_t)syscall(SYS_gettid), PERF_ADDR, (uint64_t)(uintptr_t)reached,
			   &p, &e);

	if (rc) {
		printf("# no breakpoints here: %s\n", e.text);
		return;
	}
	for (int i = 0; i < 25; i++)
		reached();
	perf_read(p, count, &n);
	ck_assert_uint_eq(n, 25);
	perf_read(p, count, &n);
	ck_assert_uint_eq(n, 25);
	perf_close(p);
}

SUITE("records of the kernel")
