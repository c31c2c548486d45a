/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and call sites of two summaries are paired; what changed most comes first. */
#include "tests/suite.h"
#include "common/base/str.h"
#include "common/json/json.h"
#include "tools/summary/compare_parts.h"

#include <string.h>

static struct summary made[2];
static struct compare_parts parts;

static void put_ranks(struct summary *s, size_t n)
{
	struct summary_section *of = summary_add_section(s);

	of->world_size = (int64_t)n;
	for (size_t i = 0; i < n; i++) {
		struct summary_process *p = summary_add_process(of);

		p->rank = (int64_t)i;
		p->seconds = 10;
		p->has_calls = true;
	}
}

static void put_size(struct summary *s, int64_t from, uint64_t count, double seconds)
{
	s->has_sizes = true;
	*summary_add_size(s) = (struct summary_size){
		"MPI_Send", from, from ? 2 * from - 1 : 0, count, count * (uint64_t)from, seconds
	};
}

static void put_site(struct summary *s, const char *function, const char *source, double seconds)
{
	struct summary_site *v = summary_add_site(s);

	s->has_sites = true;
	str_copy(v->name, sizeof(v->name), "MPI_Recv");
	str_copy(v->function, sizeof(v->function), function);
	str_copy(v->source, sizeof(v->source), source);
	str_copy(v->module, sizeof(v->module), "/x/heat");
	v->address = 0x40;
	v->count = 10;
	v->bytes_in = 5120;
	v->seconds = seconds;
}

static void compare(enum compare_by by)
{
	ck_assert_int_eq(compare_parts(&made[0], &made[1], by, &parts), 0);
}

static const char *table(size_t rows)
{
	static char text[4096];
	struct buf b = BUF_INIT(sizeof(text));

	ck_assert_int_eq(compare_parts_table(&parts, rows, &b), 0);
	str_copy(text, sizeof(text), buf_str(&b));
	buf_done(&b);
	return text;
}

static void set_up(void)
{
	put_ranks(&made[0], 2);
	put_ranks(&made[1], 4);
}

static void clean_up(void)
{
	compare_parts_done(&parts);
	summary_done(&made[0]);
	summary_done(&made[1]);
}

TEST(sizes_are_paired_and_are_of_one_rank)
{
	put_size(&made[0], 512, 100, 2);
	put_size(&made[0], 0, 5, 0.5);
	put_size(&made[1], 512, 200, 12);
	put_size(&made[1], 1024, 1, 0.004);
	compare(COMPARE_BY_SIZE);
	ck_assert_uint_eq(parts.n, 3);
	ck_assert_str_eq(table(0),
			 "Calls by the size of their messages, seconds of a rank (no "
			 "intervals: one sum of each)\n"
			 "CALL      SIZE      TIME     WAS      DIFF  CALLS  WAS  BYTES  WAS\n"
			 "MPI_Send  512-1023   3 s     1 s  +200.0 %    200  100   100K  50K\n"
			 "MPI_Send  0            -  250 ms      gone      -    5      -    0\n"
			 "MPI_Send  1K-2K     1 ms       -       new      1    -   1.0K    -\n");
	ck_assert_ptr_nonnull(strstr(table(1), "\nand 2 more (--by size)\n"));
}

TEST(a_site_is_found_again_when_its_line_moved)
{
	put_site(&made[0], "exchange", "halo.c:41", 2);
	put_site(&made[1], "exchange", "halo.c:57", 2);
	compare(COMPARE_BY_SITE);
	ck_assert_uint_eq(parts.n, 1);
	ck_assert_int_eq(parts.part[0].line[0], 41);
	ck_assert_ptr_nonnull(
		strstr(table(0), "\nMPI_Recv  exchange halo.c:57  500 ms  1 s  -50.0 %"));
}

TEST(two_calls_of_a_function_are_one_place_without_a_line)
{
	put_site(&made[0], "exchange", "halo.c:41", 1);
	put_site(&made[0], "exchange", "halo.c:44", 1);
	put_site(&made[1], "exchange", "halo.c:41", 2);
	compare(COMPARE_BY_SITE);
	ck_assert_uint_eq(parts.n, 1);
	ck_assert_int_eq(parts.part[0].line[0], 0);
	ck_assert_int_eq(parts.part[0].line[1], 41);
	ck_assert_uint_eq(parts.part[0].count[0], 20);
	ck_assert_double_eq_tol(parts.part[0].seconds[0], 1, 1e-12);
}

TEST(without_debug_information_a_site_is_its_address)
{
	put_site(&made[0], "", "", 1);
	put_site(&made[1], "", "", 2);
	compare(COMPARE_BY_SITE);
	ck_assert_uint_eq(parts.n, 1);
	ck_assert_ptr_nonnull(strstr(table(0), "\nMPI_Recv  heat+0x40 "));
}

TEST(missing_value_is_empty_in_csv_and_null_in_json)
{
	struct buf b = BUF_INIT(4096);
	struct json j;

	put_size(&made[1], 0, 4, 2);
	made[1].size[0].to = -1;
	compare(COMPARE_BY_SIZE);
	compare_parts_csv(&parts, &b);
	ck_assert_str_eq(buf_str(&b), "call,bytes_from,bytes_to,seconds,seconds_base,calls,"
				      "calls_base,bytes,bytes_base\n"
				      "MPI_Send,0,,0.5,0,4,0,0,0\n");
	buf_clear(&b);
	json_init(&j, &b);
	compare_parts_json(&parts, &j);
	ck_assert_int_eq(json_end(&j), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "\"bytes_to\":null,\"seconds\":0.5"));
	buf_done(&b);
}

TEST(nothing_is_compared_of_what_was_not_measured)
{
	ck_assert(!compare_has_parts(&made[0], COMPARE_BY_SIZE));
	ck_assert(!compare_has_parts(&made[0], COMPARE_BY_SITE));
	compare(COMPARE_BY_SITE);
	ck_assert_str_eq(table(0), "");
}

SUITE_WITH("compare_parts", set_up, clean_up)
