/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries of transfers, and which of their four kinds of work was the slowest. */
#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "tests/unit/eventlog/netlogger/logged.h"

#include <string.h>

TEST(work_is_summed_up_by_transfer_and_kind)
{
	NL_log_T log = NL_open(logged_url);
	NL_summ_T summ = NL_summ();
	char *result;

	ck_assert_int_eq(NL_transfer_init(summ, -1, NL_LVL_INFO), 0);
	ck_assert_int_eq(NL_summ_set_shared_output(summ, log), 0);
	ck_assert_int_eq(NL_summ_add_log(summ, log), 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(
			NL_transfer_start(log, NL_LVL_INFO, NL_TRANSFER_DISK_READ, "x", 0, i), 0);
		ck_assert_int_eq(
			NL_transfer_end(log, NL_LVL_INFO, NL_TRANSFER_DISK_READ, "x", 0, i, 100),
			0);
	}
	ck_assert_int_eq(NL_transfer_end(log, NL_LVL_INFO, 7, "x", 0, 0, 100), -1);
	result = NL_transfer_get_result_string(summ, "x");
	ck_assert_msg(result && str_has_prefix(result, "disk.read=300:"), "%s", result);
	free(result);
	ck_assert_ptr_null(NL_transfer_get_result_string(summ, "y"));
	ck_assert_int_eq(NL_transfer_finalize(summ), 0);
	ck_assert_int_eq(NL_transfer_set_passthrough(summ), 0);
	NL_transfer_start(log, NL_LVL_INFO, NL_TRANSFER_NET_WRITE, "z", 1, 2);
	NL_transfer_end(log, NL_LVL_INFO, NL_TRANSFER_NET_WRITE, "z", 1, 2, 5);
	NL_close(log);
	NL_summ_close(summ);
	ck_assert(
		str_has_prefix(logged_lines(),
			       "transfer.disk.read.summary: id='x' count=3l nbytes=300d seconds="));
	ck_assert_ptr_nonnull(strstr(
		logged_lines(), "\ntransfer.net.write.start: id='z' stream=1i block=2i\n"
				"transfer.net.write.end: id='z' stream=1i block=2i nbytes=5d\n"));
}

static unsigned lines_with(const char *words)
{
	unsigned n = 0;

	for (const char *p = logged_lines(); (p = strstr(p, words)) != NULL; p++)
		n++;
	return n;
}

static NL_summ_T summary_of(NL_log_T log, int interval_us)
{
	NL_summ_T summ = NL_summ();

	ck_assert_ptr_nonnull(summ);
	ck_assert_int_eq(NL_transfer_init(summ, interval_us, NL_LVL_INFO), 0);
	ck_assert_int_eq(NL_summ_set_shared_output(summ, log), 0);
	ck_assert_int_eq(NL_summ_add_log(summ, log), 0);
	return summ;
}

static void work(NL_log_T log, int op, const char *id, int block, double nbytes)
{
	ck_assert_int_eq(NL_transfer_start(log, NL_LVL_INFO, op, id, 0, block), 0);
	ck_assert_int_eq(NL_transfer_end(log, NL_LVL_INFO, op, id, 0, block, nbytes), 0);
}

TEST(without_a_summary_both_events_are_written)
{
	NL_log_T log = NL_open(logged_url);

	work(log, NL_TRANSFER_DISK_READ, "a", 1, 10);
	work(log, NL_TRANSFER_DISK_WRITE, "a", 2, 20.5);
	work(log, NL_TRANSFER_NET_READ, "b", 3, -1);
	ck_assert_int_eq(NL_transfer_start(log, NL_LVL_INFO, -1, "a", 0, 0), -1);
	ck_assert_int_eq(NL_transfer_start(log, NL_LVL_INFO, 4, "a", 0, 0), -1);
	ck_assert_int_eq(NL_transfer_start(log, NL_LVL_INFO, 0, NULL, 0, 0), -1);
	ck_assert_int_eq(NL_transfer_start(NULL, NL_LVL_INFO, 0, "a", 0, 0), -1);
	ck_assert_int_eq(NL_transfer_end(log, NL_LVL_INFO, 0, NULL, 0, 0, 1), -1);
	NL_close(log);
	ck_assert_str_eq(logged_lines(),
			 "transfer.disk.read.start: id='a' stream=0i block=1i\n"
			 "transfer.disk.read.end: id='a' stream=0i block=1i nbytes=10d\n"
			 "transfer.disk.write.start: id='a' stream=0i block=2i\n"
			 "transfer.disk.write.end: id='a' stream=0i block=2i nbytes=20.5d\n"
			 "transfer.net.read.start: id='b' stream=0i block=3i\n"
			 "transfer.net.read.end: id='b' stream=0i block=3i nbytes=-1d\n");
}

TEST(all_kinds_of_work_are_in_the_summary)
{
	NL_log_T log = NL_open(logged_url);
	NL_summ_T summ = summary_of(log, 0);

	for (int op = NL_TRANSFER_DISK_READ; op <= NL_TRANSFER_NET_WRITE; op++)
		if (op != NL_TRANSFER_NET_READ)
			work(log, op, "x", 0, 100 + op);
	work(log, NL_TRANSFER_NET_READ, "y", 0, -5);
	ck_assert_uint_eq(lines_with("summary"), 0);
	ck_assert_int_eq(NL_transfer_finalize(summ), 0);
	NL_summ_close(summ);
	NL_close(log);
	ck_assert_uint_eq(lines_with("\n"), 4);
	ck_assert_uint_eq(lines_with("disk.read.summary: id='x' count=1l nbytes=100d"), 1);
	ck_assert_uint_eq(lines_with("disk.write.summary: id='x' count=1l nbytes=101d"), 1);
	ck_assert_uint_eq(lines_with("net.write.summary: id='x' count=1l nbytes=103d"), 1);
	ck_assert_uint_eq(lines_with("net.read.summary: id='y' count=1l nbytes=0d"), 1);
}

/* Each time that work ends and the interval, which a clock has passed by then, is over. */
TEST(a_summary_is_written_at_each_interval)
{
	NL_log_T log = NL_open(logged_url);
	NL_summ_T summ = summary_of(log, 1);

	for (int i = 0; i < 3; i++) {
		nsec_t began = clock_mono();

		while (clock_mono() - began < 2 * NSEC_PER_USEC)
			continue;
		work(log, NL_TRANSFER_DISK_READ, "x", i, 1);
	}
	NL_summ_close(summ);
	summ = summary_of(log, 1000000000);
	work(log, NL_TRANSFER_DISK_WRITE, "x", 0, 1);
	NL_summ_close(summ);
	NL_close(log);
	ck_assert_uint_eq(lines_with("disk.read.summary"), 3);
	ck_assert_uint_eq(lines_with("disk.write.summary"), 0);
}

/* Returns the seconds of the transfer's first kind of work, from its result. */
static double seconds_of(NL_summ_T summ, const char *id)
{
	char *result = NL_transfer_get_result_string(summ, id), *colon;
	double ns;

	ck_assert_ptr_nonnull(result);
	colon = strchr(result, ':');
	ck_assert_ptr_nonnull(colon);
	ns = strtod(colon + 1, NULL);
	free(result);
	return ns / 1e9;
}

TEST(work_takes_the_time_between_its_start_and_its_end)
{
	NL_log_T log = NL_open(logged_url);
	NL_summ_T summ = summary_of(log, 0);
	nsec_t t[4];

	t[0] = clock_mono();
	NL_transfer_start(log, NL_LVL_INFO, 0, "x", 1, 2);
	t[1] = clock_mono();
	while (clock_mono() - t[1] < NSEC_PER_MSEC)
		continue;
	t[2] = clock_mono();
	NL_transfer_end(log, NL_LVL_INFO, 0, "x", 1, 2, 5);
	t[3] = clock_mono();
	ck_assert_double_ge(seconds_of(summ, "x"), (double)(t[2] - t[1]) / 1e9 - 1e-9);
	ck_assert_double_le(seconds_of(summ, "x"), (double)(t[3] - t[0]) / 1e9 + 1e-9);
	NL_summ_close(summ);
	NL_close(log);
}

TEST(work_that_never_began_counts_no_time)
{
	static const struct {
		int op, stream, block;
	} other[] = { { 1, 1, 2 }, { 0, 2, 2 }, { 0, 1, 3 } };
	NL_log_T log = NL_open(logged_url);
	NL_summ_T summ = summary_of(log, 0);

	for (unsigned i = 0; i < ARRAY_LEN(other); i++) {
		char id[8], *result;

		snprintf(id, sizeof(id), "x%u", i);
		NL_transfer_start(log, NL_LVL_INFO, 0, id, 1, 2);
		NL_transfer_end(log, NL_LVL_INFO, other[i].op, id, other[i].stream, other[i].block,
				7);
		result = NL_transfer_get_result_string(summ, id);
		ck_assert_str_eq(result, other[i].op ? "disk.write=7:0" : "disk.read=7:0");
		free(result);
		NL_transfer_end(log, NL_LVL_INFO, 0, id, 1, 2, 7);
		ck_assert_double_ge(seconds_of(summ, id), 0);
	}
	NL_summ_close(summ);
	NL_close(log);
}

TEST(more_work_than_is_remembered_counts_its_bytes)
{
	NL_log_T log = NL_open(logged_url);
	NL_summ_T summ = summary_of(log, 0);
	char *result, id[16];

	for (int i = 0; i < 65; i++)
		NL_transfer_start(log, NL_LVL_INFO, 0, "x", 0, i);
	for (int i = 0; i < 65; i++)
		NL_transfer_end(log, NL_LVL_INFO, 0, "x", 0, i, 2);
	result = NL_transfer_get_result_string(summ, "x");
	ck_assert_msg(result && str_has_prefix(result, "disk.read=130:"), "%s", result);
	free(result);
	for (int i = 1; i <= 4096; i++) {
		snprintf(id, sizeof(id), "t%d", i);
		NL_transfer_start(log, NL_LVL_INFO, 0, id, 0, 0);
	}
	result = NL_transfer_get_result_string(summ, "t4095");
	ck_assert_str_eq(result, "");
	free(result);
	ck_assert_ptr_null(NL_transfer_get_result_string(summ, "t4096"));
	NL_summ_close(summ);
	NL_close(log);
}

TEST(nothing_is_done_without_a_summary)
{
	NL_log_T log = NL_open(logged_url);
	NL_summ_T summ = NL_summ();

	ck_assert_int_eq(NL_summ_set_shared_output(NULL, log), -1);
	ck_assert_int_eq(NL_summ_add_log(NULL, log), -1);
	ck_assert_int_eq(NL_summ_add_log(summ, NULL), -1);
	ck_assert_int_eq(NL_transfer_init(NULL, 0, 0), -1);
	ck_assert_int_eq(NL_transfer_set_passthrough(NULL), -1);
	ck_assert_int_eq(NL_transfer_finalize(NULL), -1);
	ck_assert_ptr_null(NL_transfer_get_result_string(NULL, "x"));
	ck_assert_ptr_null(NL_transfer_get_result_string(summ, NULL));
	ck_assert_int_eq(NL_summ_add_log(summ, log), 0);
	work(log, NL_TRANSFER_DISK_READ, "x", 0, 1);
	ck_assert_int_eq(NL_transfer_finalize(summ), 0); /* it has no output */
	NL_summ_close(summ);
	NL_summ_close(NULL);
	NL_close(log);
	ck_assert_str_eq(logged_lines(), "");
}

/* Bytes a ns: the least of both ends. */
static const struct {
	const char *one, *other;
	int rc, location;
} slowest[] = {
	{ "disk.read=1000:1 net.write=1000:5", "net.read=1000:4 disk.write=1000:2", 0, NL_BTL_NET },
	{ "net.read=1000:9 disk.write=1000:2", "disk.read=1000:1", 0, NL_BTL_NET },
	{ "disk.read=1000:9", "disk.write=1000:2", 0, NL_BTL_DISK_READ },
	{ "disk.read=1000:2", "disk.write=1000:9", 0, NL_BTL_DISK_WRITE },
	{ "disk.read=1000:90 net.write=1000:10", "disk.write=1000:92", 0, NL_BTL_DISK },
	{ "disk.read=1000:90", "disk.write=1000:100", 0, NL_BTL_DISK_WRITE },
	{ "disk.read=1000:91", "disk.write=1000:100", 0, NL_BTL_DISK },
	{ "disk.read=1000:5", "disk.read=1000:7 disk.write=1000:6", 0, NL_BTL_DISK_READ },
	{ "disk.read=1000:7", "disk.read=1000:5 net.read=1000:6", 0, NL_BTL_DISK_READ },
	{ "disk.write=1:1", NULL, 0, NL_BTL_DISK_WRITE },
	{ NULL, "net.write=1:1", 0, NL_BTL_NET },
	{ "", "net.read=x:-1 disk.read=5:-1", -1, NL_BTL_NOWHERE },
	{ "disk.read=0:1", "disk.write=1:0", -1, NL_BTL_NOWHERE },
	{ "disk.read=5", "disk.write", -1, NL_BTL_NOWHERE },
	{ NULL, NULL, -1, NL_BTL_NOWHERE },
};

TEST(the_slowest_kind_of_work_is_found)
{
	NL_transfer_btl_T btl;

	for (unsigned i = 0; i < ARRAY_LEN(slowest); i++) {
		int rc = NL_transfer_get_bottleneck(slowest[i].one, slowest[i].other, &btl);

		ck_assert_msg(rc == slowest[i].rc, "row %u: %d", i, rc);
		ck_assert_msg(btl.location == slowest[i].location, "row %u: location %d", i,
			      btl.location);
		ck_assert_int_eq(btl.result, rc ? NL_BTL_UNKNOWN : NL_BTL_KNOWN);
	}
	ck_assert_int_eq(NL_transfer_get_bottleneck("disk.read=1:1", NULL, NULL), -1);
}

SUITE_WITH("transfers", logged_set_up, logged_clean_up)
