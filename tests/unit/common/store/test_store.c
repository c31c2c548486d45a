/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One format of small state: written data are read back, damage is detected, and no write is
 * partial.
 */
#include "common/base/array.h"
#include "common/base/hash.h"
#include "common/base/str.h"
#include "common/store/store.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/common/store/each_fault.h"

#include <string.h>

#define PATH "dir/kept"

static const struct store_kind kind = { .what = "test", .version = 3, .max_bytes = 4096 },
			       expendable = { .what = "test",
					      .version = 3,
					      .max_bytes = 4096,
					      .is_expendable = true };
static struct memdisk m;
static struct store s;

static void set_up(void)
{
	memdisk_init(&m, suite_seed(1));
	s = STORE_INIT(&kind, &m.disk, PATH);
}

static void clean_up(void)
{
	memdisk_done(&m);
}

static int write_text(struct store *to, const char *text)
{
	struct buf b = BUF_INIT(8192);
	int rc;

	buf_puts(&b, text);
	rc = store_write(to, &b, NULL);
	buf_done(&b);
	return rc;
}

static void must_write(const char *text)
{
	ck_assert_int_eq(write_text(&s, text), 0);
}

static void must_read(const char *text)
{
	struct store again = STORE_INIT(s.kind, s.disk, s.path);
	struct buf b = { 0 };
	struct err e = { 0 };

	ck_assert_msg(!store_read(&again, &b, &e), "%s", e.text);
	ck_assert_str_eq(buf_str(&b), text);
	ck_assert_uint_eq(again.bytes, s.bytes);
	buf_done(&b);
}

static void refuses(int code, const char *words)
{
	struct buf b = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(store_read(&s, &b, &e), code);
	ck_assert_msg(strstr(e.text, PATH) && strstr(e.text, words), "%s", e.text);
	ck_assert_ptr_null(b.p);
	ck_assert(!s.is_whole);
}

TEST(store_write_replaces_the_previous_content)
{
	refuses(-ERR_NOTFOUND, "not there");
	must_write("");
	must_read("");
	must_write("one\ntwo\n");
	must_read("one\ntwo\n");
	must_write("three\n");
	must_read("three\n");
	ck_assert_ptr_null(memdisk_find(&m, PATH ".new"));
	ck_assert_int_eq(store_remove(&s, NULL), 0);
	ck_assert_int_eq(store_remove(&s, NULL), 0);
	refuses(-ERR_NOTFOUND, "not there");
}

TEST(the_file_has_the_format_of_the_header)
{
	char want[128];

	must_write("one\n");
	ck_assert_int_eq(store_add(&s, "two\n", 4, NULL), 0);
	snprintf(want, sizeof(want), "omig-store test 3 00000004 %08x\none\n+00000004 %08x\ntwo\n",
		 hash_crc32c(0, "one\n", 4), hash_crc32c(0, "two\n", 4));
	ck_assert_uint_eq(memdisk_find(&m, PATH)->n, strlen(want));
	ck_assert_mem_eq(memdisk_find(&m, PATH)->p, want, strlen(want));
}

TEST(records_follow_what_was_written)
{
	ck_assert_int_eq(store_add(&s, "x", 1, NULL), -ERR_LIMIT);
	must_write("a");
	ck_assert_int_eq(store_add(&s, "b", 1, NULL), 0);
	ck_assert_int_eq(store_add(&s, "+", 1, NULL), 0);
	must_read("ab+");
	must_write("c");
	must_read("c");
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(store_add(&s, "d", 1, NULL), 0);
	must_read("cdddddddddd");
}

TEST(a_kind_has_a_largest_size)
{
	static char text[4098];
	static uint8_t zeros[4096 + 65];
	struct buf *file;

	memset(text, 'x', 4096);
	must_write(text);
	must_read(text);
	ck_assert_int_eq(store_add(&s, "x", 1, NULL), -ERR_LIMIT);
	text[4096] = 'x';
	ck_assert_int_eq(write_text(&s, text), -ERR_LIMIT);
	text[4096] = 0;
	must_read(text);
	file = memdisk_find(&m, PATH);
	buf_clear(file);
	buf_put(file, zeros, sizeof(zeros));
	refuses(-ERR_PARSE, "byte 4160: larger than such a file can be");
}

/*
 * Every bit, in the head, the contents and each record: an error, or only that record is lost, and
 * counted.
 */
TEST(no_flipped_bit_goes_unnoticed)
{
	struct buf *file;
	size_t whole;

	must_write("first\n");
	whole = memdisk_find(&m, PATH)->n;
	store_add(&s, "second\n", 7, NULL);
	store_add(&s, "third\n", 6, NULL);
	file = memdisk_find(&m, PATH);
	for (size_t bit = 0; bit < 8 * file->n; bit++) {
		struct buf b = { 0 };
		int rc;

		file->p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		rc = store_read(&s, &b, NULL);
		ck_assert_int_eq(rc, bit / 8 < whole ? -ERR_PARSE : 0);
		ck_assert(rc || (s.damaged && !s.is_whole));
		ck_assert(rc || str_eq(buf_str(&b), "first\nthird\n") ||
			  str_eq(buf_str(&b), "first\nsecond\n"));
		buf_done(&b);
		file->p[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	must_read("first\nsecond\nthird\n");
}

TEST(a_torn_end_costs_the_record_that_was_torn)
{
	struct buf *file, b = { 0 };
	size_t whole, before, n;

	must_write("first\n");
	whole = memdisk_find(&m, PATH)->n;
	store_add(&s, "second\n", 7, NULL);
	before = memdisk_find(&m, PATH)->n;
	store_add(&s, "third\n", 6, NULL);
	file = memdisk_find(&m, PATH);
	for (n = file->n - 1; n > before; n--) {
		file->n = n;
		ck_assert_int_eq(store_read(&s, &b, NULL), 0);
		ck_assert_str_eq(buf_str(&b), "first\nsecond\n");
		ck_assert_uint_eq(s.damaged, n - before);
		ck_assert_int_eq(store_add(&s, "x", 1, NULL), -ERR_LIMIT); /* not after that */
		buf_done(&b);
	}
	for (n = whole; n-- > 0;) {
		file->n = n;
		refuses(-ERR_PARSE, "byte ");
	}
}

TEST(another_form_is_refused_with_the_place)
{
	static const struct {
		const char *text, *words;
	} bad[] = {
		{ "", "byte 0: not in the form" },
		{ "omig-bases 1 boot\n", "byte 0: not in the form" },
		{ "omig-store test 2 00000000 00000000\n", "byte 0: not in the form" },
		{ "omig-store tests 3 00000000 00000000\n", "byte 0: not in the form" },
		{ "omig-store test 3 00000000 00000001\n", "byte 18: cut off, or not what" },
		{ "omig-store test 3 00000000 0000000G\n", "byte 18: cut off, or not what" },
		{ "omig-store test 3 00000001 00000000\n", "byte 18: cut off, or not what" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct buf *file;

		s.kind = &kind;
		must_write("x");
		file = memdisk_find(&m, PATH);
		buf_clear(file);
		buf_puts(file, bad[i].text);
		refuses(-ERR_PARSE, bad[i].words);
		refuses(-ERR_PARSE, "move it away to begin without it");
		s.kind = &expendable;
		refuses(-ERR_PARSE, "it is renamed to .bad");
		refuses(-ERR_NOTFOUND, "not there");
		ck_assert_str_eq(buf_str(memdisk_find(&m, PATH ".bad")), bad[i].text);
	}
}

static int take_line(void *arg, char *line, struct err *e)
{
	if (str_eq(line, "bad"))
		return err_set(e, ERR_PARSE, "a bad line");
	buf_printf(arg, "<%s>", line);
	return 0;
}

TEST(lines_come_one_by_one_with_their_numbers)
{
	struct buf b = BUF_INIT(256);
	struct err e = { 0 };

	ck_assert_int_eq(store_read_lines(&s, take_line, &b, &e), 0); /* no such file */
	must_write("one\n\ntwo\nlast");
	store_add(&s, "+\n", 2, NULL);
	ck_assert_int_eq(store_read_lines(&s, take_line, &b, &e), 0);
	ck_assert_str_eq(buf_str(&b), "<one><><two><last+>");
	must_write("one\nbad\ntwo\n");
	ck_assert_int_eq(store_read_lines(&s, take_line, &b, &e), -ERR_PARSE);
	ck_assert_str_eq(e.text, PATH ":2: a bad line");
	buf_done(&b);
}

TEST(without_memory_nothing_changes)
{
	must_write("old\n");
	ALLOC_SWEEP (k) {
		struct buf b = { 0 };
		struct err e = { 0 };
		int rc = store_read(&s, &b, &e), more = rc ? 0 : store_add(&s, "n\n", 2, &e);

		alloc_sweep_pause();
		ck_assert_int_eq(rc ? rc : more, alloc_sweep_has_failed() ? -ERR_NOMEM : 0);
		buf_done(&b);
		if (!more && !rc)
			must_read("old\nn\n");
		else
			must_read("old\n");
	}
}

/* --- all faults */

static const struct store_kind boot_kind = {
	.what = "test", .version = 3, .max_bytes = 4096, .ends_with_boot = true
};
static const struct store_kind *used = &kind;

static void put_old(const struct disk *d)
{
	struct store to = STORE_INIT(used, d, PATH);

	ck_assert_int_eq(write_text(&to, "old state\n"), 0);
}

static int replace(const struct disk *d)
{
	struct store to = STORE_INIT(used, d, PATH);

	return write_text(&to, "the new state is longer than one sector would be\n");
}

static int add(const struct disk *d)
{
	struct store to = STORE_INIT(used, d, PATH);
	struct buf b = { 0 };
	int rc = store_read(&to, &b, NULL);

	if (!rc && strstr(buf_str(&b), "new"))
		rc = 0;
	else if (!rc && to.is_whole)
		rc = store_add(&to, "and a new record\n", 17, NULL);
	else if (!rc)
		rc = write_text(&to, "old state\nand a new record\n");
	buf_done(&b);
	return rc;
}

static enum kept_state state_of(const struct disk *d)
{
	struct store from = STORE_INIT(used, d, PATH);
	struct buf b = { 0 };
	enum kept_state got = KEPT_OTHER;

	if (!store_read(&from, &b, NULL))
		got = str_eq(buf_str(&b), "old state\n") ? KEPT_OLD
		      : strstr(buf_str(&b), "new")	 ? KEPT_NEW
							 : KEPT_OTHER;
	buf_done(&b);
	return got;
}

TEST(state_is_old_or_new_after_each_fault)
{
	used = &kind;
	each_fault(&(struct kept_case){ "replace", put_old, replace, state_of, false });
	each_fault(&(struct kept_case){ "add", put_old, add, state_of, false });
	used = &boot_kind;
	each_fault(&(struct kept_case){ "replace", put_old, replace, state_of, true });
	each_fault(&(struct kept_case){ "add", put_old, add, state_of, true });
}

SUITE_WITH("store", set_up, clean_up)
