/* SPDX-License-Identifier: Apache-2.0 */
/* Words and numbers of the texts of /proc, and the rates of their counters. */
#include "common/base/array.h"
#include "common/loop/loop.h"
#include "lm/host/proctext.h"
#include "lm/host/rates.h"
#include "tests/suite.h"

#include <string.h>

TEST(a_line_gives_as_many_numbers_as_are_there_and_wanted)
{
	int64_t v[4] = { -7, -7, -7, -7 };

	ck_assert_uint_eq(text_numbers("1 2\t-3\n4", v, 4), 3);
	ck_assert_int_eq(v[0], 1);
	ck_assert_int_eq(v[1], 2);
	ck_assert_int_eq(v[2], -3);
	ck_assert_int_eq(v[3], -7);
	ck_assert_uint_eq(text_numbers("1 2 3 4 5", v, 2), 2);
	ck_assert_int_eq(v[2], -3);
	ck_assert_uint_eq(text_numbers("12a 3", v, 4), 1);
	ck_assert_uint_eq(text_numbers("", v, 4), 0);
}

TEST(the_largest_number_is_exact_and_larger_ones_saturate)
{
	int64_t v;

	ck_assert_str_eq(text_number("9223372036854775807x", &v), "x");
	ck_assert_int_eq(v, INT64_MAX);
	text_number("9223372036854775806", &v);
	ck_assert_int_eq(v, INT64_MAX - 1);
	text_number("9223372036854775808", &v);
	ck_assert_int_eq(v, INT64_MAX);
	text_number("-0", &v);
	ck_assert_int_eq(v, 0);
	ck_assert_ptr_null(text_number("/1", &v));
	ck_assert_ptr_null(text_number(":1", &v));
	ck_assert_str_eq(text_number("9:", &v), ":");
	ck_assert_str_eq(text_number("0/", &v), "/");
}

TEST(the_pid_in_its_own_namespace_is_the_last_one)
{
	ck_assert_int_eq(text_inner_pid("Name:\tNSpid: 4\nNSpid:\t70\t14\nUid:\t1\n"), 14);
	ck_assert_int_eq(text_inner_pid("NSpid:\t70\n"), 70);
	ck_assert_int_eq(text_inner_pid("NSpid:\n7\n"), -1);
	ck_assert_int_eq(text_inner_pid("NSpid:\t70\t99999999999\n"), -1);
	ck_assert_int_eq(text_inner_pid(""), -1);
}

TEST(decimals_have_digits_behind_the_point)
{
	double d;

	ck_assert_str_eq(text_decimal(" 0.75 1", &d), " 1");
	ck_assert_double_eq_tol(d, 0.75, 1e-12);
	ck_assert_str_eq(text_decimal("12", &d), "");
	ck_assert_double_eq(d, 12);
	ck_assert_str_eq(text_decimal("3.\n", &d), "\n");
	ck_assert_double_eq(d, 3);
	ck_assert_ptr_null(text_decimal(".5", &d));
}

TEST(parsed_words_end_at_blanks_and_lines)
{
	const char *word, *p;
	size_t n;

	p = text_word("\t ab cd\tef\ngh", &word, &n);
	ck_assert_mem_eq(word, "ab", n);
	ck_assert_uint_eq(n, 2);
	p = text_word(p, &word, &n);
	p = text_word(p, &word, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_mem_eq(word, "ef", 2);
	ck_assert_ptr_null(text_word(p, &word, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_ptr_null(text_word("", &word, &n));
}

TEST(keys_are_found_at_the_begin_of_lines)
{
	static const char text[] = "one 1\nonetwo 2\n\ntwo -3\nlast 4";
	int64_t v;

	ck_assert_str_eq(text_find(text, "two"), " -3\nlast 4");
	ck_assert(text_field(text, "one", &v));
	ck_assert_int_eq(v, 1);
	ck_assert(text_field(text, "two", &v));
	ck_assert_int_eq(v, -3);
	ck_assert(text_field(text, "last", &v));
	ck_assert_int_eq(v, 4);
	ck_assert(!text_field(text, "three", &v));
	ck_assert_ptr_null(text_next_line("last"));
	ck_assert_ptr_null(text_next_line("last\n"));
	ck_assert_str_eq(text_next_line("first\nx"), "x");
}

TEST(masks_are_numbers_of_hexadecimal_digits)
{
	uint64_t v = 5;

	ck_assert(text_hex_field("SigBlk:\t00000000000000ff\n", "SigBlk:", &v));
	ck_assert_uint_eq(v, 0xff);
	ck_assert(text_hex_field("a 9a0f", "a", &v));
	ck_assert_uint_eq(v, 0x9a0f);
	ck_assert(text_hex_field("a ffffffffffffffff", "a", &v));
	ck_assert_uint_eq(v, UINT64_MAX);
	ck_assert(text_hex_field("a 7fffffffffffffff", "a", &v));
	ck_assert_uint_eq(v, INT64_MAX);
	ck_assert(text_hex_field("a 10000000000000000", "a", &v));
	ck_assert_uint_eq(v, UINT64_MAX);
	v = 5;
	ck_assert(!text_hex_field("a g", "a", &v));
	ck_assert(!text_hex_field("a `", "a", &v));
	ck_assert(!text_hex_field("b 1", "a", &v));
	ck_assert_uint_eq(v, 5);
	ck_assert(text_hex_field("a 1g", "a", &v));
	ck_assert_uint_eq(v, 1);
}

TEST(a_line_is_copied_without_its_blanks_and_cut_to_its_room)
{
	char out[6];

	text_line(out, sizeof(out), "  ab c \t\nnext");
	ck_assert_str_eq(out, "ab c");
	text_line(out, sizeof(out), "abcde");
	ck_assert_str_eq(out, "abcde");
	text_line(out, sizeof(out), "abcdef");
	ck_assert_str_eq(out, "abcde");
	text_line(out, sizeof(out), " \t ");
	ck_assert_str_eq(out, "");
}

TEST(a_link_has_a_short_name_and_a_colon)
{
	char name[TEXT_LINK_BYTES];

	ck_assert_str_eq(text_link("  eth0: 1 2", name), " 1 2");
	ck_assert_str_eq(name, "eth0");
	ck_assert_str_eq(text_link("a23456789012345:7", name), "7");
	ck_assert_str_eq(name, "a23456789012345");
	ck_assert_ptr_null(text_link("a234567890123456:7", name));
	ck_assert_ptr_null(text_link("Inter-|   Receive", name));
	ck_assert_ptr_null(text_link("eth0\n: 1", name));
}

/* --- rates */

/* A host whose counts increase by a number per second each, except unknown ones. */
static struct {
	struct host host;
	struct loop *loop;
	unsigned looks;
	bool is_broken, goes_back;
} counted;

#define GROWTH 10 /* of count i in a second: (i + 1) times this */
#define UNKNOWN HOST_EXECS

static int give_counts(struct host *h, struct host_counts *out, struct err *e)
{
	int64_t s = loop_now(counted.loop) / NSEC_PER_SEC;

	if (counted.is_broken)
		return err_set(e, ERR_SYS, "no /proc");
	counted.looks++;
	for (int i = 0; i < HOST_NCOUNTS; i++)
		out->v[i] = counted.goes_back ? 1000000 - s : s * GROWTH * (i + 1);
	out->v[UNKNOWN] = -1;
	return 0;
}

static void wake(void *arg)
{
	++*(unsigned *)arg;
}

static struct rates *rates_open(void)
{
	static const struct host_ops ops = { .counts = give_counts };

	memset(&counted, 0, sizeof(counted));
	counted.host.ops = &ops;
	counted.loop = loop_new_virtual();
	loop_advance(counted.loop, 100 * NSEC_PER_SEC);
	return rates_new(counted.loop, &counted.host);
}

static void rates_close(struct rates *r)
{
	rates_free(r);
	loop_free(counted.loop);
}

TEST(rates_need_a_second_and_are_there_then)
{
	struct rates *r = rates_open();
	struct rates_wait one = { 0 }, two = { 0 };
	struct node_rates n;
	unsigned first = 0, second = 0;

	ck_assert_int_eq(rates_get(r, &n, NULL), -ERR_AGAIN);
	rates_wait(r, &one, wake, &first);
	rates_wait(r, &two, wake, &second);
	loop_advance(counted.loop, RATES_MIN_NS - 1);
	ck_assert_uint_eq(first + second, 0);
	rates_unwait(&two);
	loop_advance(counted.loop, 1);
	ck_assert_uint_eq(first, 1);
	ck_assert_uint_eq(second, 0);
	ck_assert_int_eq(rates_get(r, &n, NULL), 0);
	ck_assert_int_eq(n.over, RATES_MIN_NS);
	for (int i = 0; i < HOST_NCOUNTS; i++)
		ck_assert_double_eq_tol(n.per_s[i], i == UNKNOWN ? -1 : GROWTH * (i + 1), 1e-9);
	rates_close(r);
}

TEST(rates_stay_there_while_they_are_asked_for)
{
	struct rates *r = rates_open();
	struct rates_wait one = { 0 };
	struct node_rates n;
	unsigned woken = 0;

	rates_get(r, &n, NULL);
	rates_wait(r, &one, wake, &woken);
	for (int i = 0; i < 60; i++) {
		loop_advance(counted.loop, NSEC_PER_SEC);
		ck_assert_int_eq(rates_get(r, &n, NULL), 0);
		ck_assert_int_ge(n.over, RATES_MIN_NS);
		ck_assert_int_le(n.over, RATES_STEP_NS + RATES_MIN_NS);
		ck_assert_double_eq_tol(n.per_s[HOST_CONTEXT_SWITCHES],
					GROWTH * (HOST_CONTEXT_SWITCHES + 1), 1e-9);
	}
	ck_assert_uint_eq(woken, 1);
	/* When no rates are asked for, the polls end, and the next request waits again. */
	loop_advance(counted.loop, RATES_WANTED_NS + 2 * RATES_STEP_NS);
	counted.looks = 0;
	loop_advance(counted.loop, 20 * RATES_STEP_NS);
	ck_assert_uint_eq(counted.looks, 0);
	ck_assert_int_eq(rates_get(r, &n, NULL), -ERR_AGAIN);
	rates_wait(r, &one, wake, &woken);
	loop_advance(counted.loop, RATES_MIN_NS);
	ck_assert_uint_eq(woken, 2);
	ck_assert_int_eq(rates_get(r, &n, NULL), 0);
	rates_close(r);
}

TEST(a_shrinking_count_has_rate_0_and_an_unread_host_none)
{
	struct rates *r = rates_open();
	struct rates_wait one = { 0 };
	struct node_rates n;
	unsigned woken = 0;

	counted.goes_back = true;
	rates_get(r, &n, NULL);
	rates_wait(r, &one, wake, &woken);
	loop_advance(counted.loop, RATES_MIN_NS);
	ck_assert_int_eq(rates_get(r, &n, NULL), 0);
	ck_assert_double_eq(n.per_s[HOST_PAGE_IN], 0);
	ck_assert_double_eq(n.per_s[UNKNOWN], -1);
	counted.is_broken = true;
	ck_assert_int_eq(rates_get(r, &n, NULL), -ERR_SYS);
	rates_close(r);
}

SUITE("host texts")
