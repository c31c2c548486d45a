/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tools/term/table.h"

#include <math.h>
#include <string.h>

static const char *const heads[] = { "NAME", "N" };

static struct table *sample(void)
{
	struct table *t = table_new(2, heads, "lr");

	if (!t)
		return NULL;
	table_cell(t, "a");
	table_cell(t, "%d", 1);
	table_cell(t, "longer");
	table_cell(t, "%d", 100);
	return t;
}

TEST(columns_are_as_wide_as_their_widest_cell)
{
	struct table *t = sample();
	struct buf b = BUF_INIT(4096);

	ck_assert_int_eq(table_print(t, 0, &b), 0);
	ck_assert_str_eq(buf_str(&b), "NAME      N\na         1\nlonger  100\n");
	buf_done(&b);
	table_free(t);
}

TEST(lines_are_cut_at_the_width)
{
	struct table *t = sample();
	struct buf b = BUF_INIT(4096);

	ck_assert_int_eq(table_print(t, 9, &b), 0);
	ck_assert_str_eq(buf_str(&b), "NAME\na\nlonger  1\n");
	buf_done(&b);
	table_free(t);
}

TEST(hostile_bytes_do_not_reach_the_terminal)
{
	struct table *t = table_new(1, heads, "l");
	struct buf b = BUF_INIT(4096);

	table_cell(t, "x\033[2Jy\n\xff");
	ck_assert_int_eq(table_print(t, 0, &b), 0);
	ck_assert_ptr_null(memchr(b.p, '\033', b.n));
	ck_assert_ptr_null(memchr(b.p, '\xff', b.n));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "x\\x1b[2Jy\\n\\xff"));
	buf_done(&b);
	table_free(t);
}

TEST(characters_count_not_bytes)
{
	struct table *t = table_new(2, heads, "lr");
	struct buf b = BUF_INIT(4096);

	table_cell(t, "h\xc3\xb6st");
	table_cell(t, "7");
	ck_assert_int_eq(table_print(t, 0, &b), 0);
	ck_assert_str_eq(buf_str(&b), "NAME  N\nh\xc3\xb6st  7\n");
	buf_done(&b);
	table_free(t);
}

TEST(numbers_are_short)
{
	char out[TABLE_NUMBER_BYTES];

	ck_assert_str_eq(table_count(out, 0), "0");
	ck_assert_str_eq(table_count(out, 999), "999");
	ck_assert_str_eq(table_count(out, 1000), "1.0k");
	ck_assert_str_eq(table_count(out, 12345), "12k");
	ck_assert_str_eq(table_count(out, 999999), "1.0M");
	ck_assert_str_eq(table_count(out, (double)NAN), "-");
	ck_assert_str_eq(table_bytes(out, 1023), "1023");
	ck_assert_str_eq(table_bytes(out, 1024), "1.0K");
	ck_assert_str_eq(table_bytes(out, 5.5 * 1024 * 1024 * 1024), "5.5G");
	ck_assert_str_eq(table_percent(out, 12.34), "12.3");
	ck_assert_str_eq(table_duration(out, 12.34), "12.3s");
	ck_assert_str_eq(table_duration(out, 245), "4m05s");
	ck_assert_str_eq(table_duration(out, 7380), "2h03m");
	ck_assert_str_eq(table_duration(out, 266400), "3d02h");
	ck_assert_str_eq(table_duration(out, -1), "-");
}

TEST(running_out_of_memory_is_reported)
{
	ALLOC_SWEEP (k) {
		struct table *t = sample();
		struct buf b = BUF_INIT(4096);
		int rc = t ? table_print(t, 0, &b) : -1;

		alloc_sweep_pause();
		ck_assert(!rc || alloc_sweep_has_failed());
		buf_done(&b);
		table_free(t);
	}
}

static const struct {
	double v;
	int digits;
	const char *unit, *text;
} quantities[] = {
	{ 20704000, 4, "B", "20.7 MB" },
	{ 42, 4, "B", "42 B" },
	{ 999.4, 4, "B", "999.4 B" },
	{ 999.96, 4, "B", "1 kB" },
	{ 999.6, 4, "B", "999.6 B" },
	{ 1.5e18, 4, "B/s", "1.5 EB/s" },
	{ 0.956872017, 4, "s/s", "95.69 %" },
	{ 0.006416527, 4, "s", "6.417 ms" },
	{ 3.16e-9, 2, "s", "3.2 ns" },
	{ 0, 4, "s", "0 s" },
	{ 0.0021, 4, "s/calls", "2.1 ms/calls" },
	{ 1234567, 4, "calls", "1234567 calls" },
	{ 130, 2, "%", "130 %" },
	{ -20704000, 4, "B", "-20.7 MB" },
	{ 2.5, 4, "", "2.5" },
	{ NAN, 4, "B", "- B" },
	{ 3, 4, "switches", "3 switches" },
};

TEST(a_quantity_has_a_unit_with_a_prefix)
{
	char text[TABLE_QUANTITY_BYTES];

	for (size_t i = 0; i < ARRAY_LEN(quantities); i++)
		ck_assert_str_eq(table_quantity(text, quantities[i].v, quantities[i].digits,
						quantities[i].unit),
				 quantities[i].text);
}

SUITE("table")
