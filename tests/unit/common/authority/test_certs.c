/* SPDX-License-Identifier: Apache-2.0 */
/* The file of issued certificates: a new one is appended, and a crash loses at most that one. */
#include "common/authority/certs.h"
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/common/store/each_fault.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define END 1000 /* wall time at which most of them end */

static char dir[32], path[64];
static struct certs *certs;
static struct buf whole; /* contents of the file */

static void open_certs(void)
{
	struct err e = { 0 };

	ck_assert_msg(!certs_open(NULL, path, &certs, &e), "%s", e.text);
}

static void set_up(void)
{
	snprintf(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/certs", dir);
	buf_init(&whole, 1 << 20);
	open_certs();
}

static void clean_up(void)
{
	certs_free(certs);
	unlink(path);
	ck_assert_int_eq(rmdir(dir), 0);
	buf_done(&whole);
}

static int add(unsigned number, nsec_t until, nsec_t now)
{
	struct identity id = {
		.role = ROLE_LM, .site = "s", .wall_not_after = until, .token = "abcdefgh"
	};

	id.serial[0] = (uint8_t)(number >> 8);
	id.serial[1] = (uint8_t)number;
	snprintf(id.host, sizeof(id.host), "h%u", number);
	return certs_add(certs, &id, 123456, now, NULL);
}

static void read_file(void)
{
	buf_clear(&whole);
	ck_assert_int_eq(file_read(path, 1 << 20, FILE_SECRET, &whole, NULL), 0);
}

static void write_file(const void *p, size_t n)
{
	ck_assert_int_eq(file_write_atomic(path, p, n, NULL), 0);
}

static ino_t inode(void)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_ino;
}

static size_t lines(void)
{
	size_t n = 0;

	read_file();
	/* The head, and heads of records, are separate lines. */
	for (const char *at = buf_str(&whole); *at; at = strchr(at, '\n') + 1)
		n += !str_has_prefix(at, "omig-store ") && *at != '+';
	return n;
}

static void reopen(void)
{
	certs_free(certs);
	certs = NULL;
	open_certs();
}

TEST(a_certificate_is_added_to_the_file_that_is_there)
{
	ino_t first;

	ck_assert_int_eq(add(0, END, 1), 0);
	first = inode();
	for (unsigned i = 1; i < 50; i++)
		ck_assert_int_eq(add(i, END, 1), 0);
	ck_assert_uint_eq(inode(), first);
	reopen();
	ck_assert_uint_eq(certs_count(certs), 50);
	ck_assert_str_eq(certs_at(certs, 49)->host, "h49");
	ck_assert_int_eq(certs_at(certs, 49)->wall_limit, 123456);
	ck_assert_int_eq(add(50, END, 1), 0);
	ck_assert_uint_eq(inode(), first);
	ck_assert_uint_eq(lines(), 51);
}

TEST(a_line_that_a_crash_has_cut_is_no_certificate)
{
	size_t before;

	ck_assert_int_eq(add(0, END, 1), 0);
	ck_assert_int_eq(add(1, END, 1), 0);
	read_file();
	before = whole.n;
	ck_assert_int_eq(add(2, END, 1), 0);
	read_file();
	for (size_t n = before; n <= whole.n; n++) {
		write_file(whole.p, n);
		reopen();
		ck_assert_uint_eq(certs_count(certs), n == whole.n ? 3 : 2);
		ck_assert_int_eq(add(3, END, 1), 0);
		reopen();
		ck_assert_uint_eq(certs_count(certs), n == whole.n ? 4 : 3);
		ck_assert_str_eq(certs_at(certs, certs_count(certs) - 1)->host, "h3");
		ck_assert_int_eq(certs_at(certs, certs_count(certs) - 1)->wall_limit, 123456);
		write_file(whole.p, whole.n);
	}
}

/* A file system may have made the file longer before it had the bytes. */
TEST(zeros_at_the_end_are_no_certificate)
{
	ck_assert_int_eq(add(0, END, 1), 0);
	read_file();
	for (int i = 0; i < 40; i++)
		buf_putc(&whole, 0);
	write_file(whole.p, whole.n);
	reopen();
	ck_assert_uint_eq(certs_count(certs), 1);
	ck_assert_int_eq(add(1, END, 1), 0);
	reopen();
	ck_assert_uint_eq(certs_count(certs), 2);
	read_file();
	ck_assert_ptr_null(memchr(whole.p, 0, whole.n));
}

TEST(ended_certificates_do_not_fill_the_file)
{
	for (unsigned i = 0; i < 1000; i++)
		ck_assert_int_eq(add(i, i + 2, i + 1), 0);
	ck_assert_uint_eq(certs_count(certs), 1);
	ck_assert_uint_lt(lines(), 100);
	reopen();
	ck_assert_str_eq(certs_at(certs, certs_count(certs) - 1)->host, "h999");
}

TEST(revoked_serials_remain_when_others_are_added)
{
	ck_assert_int_eq(add(0, END, 1), 0);
	ck_assert_int_eq(add(1, END, 1), 0);
	ck_assert_int_eq(certs_revoke(certs, "h0", 1, NULL, NULL), 0);
	ck_assert_int_eq(add(2, END, 1), 0);
	reopen();
	ck_assert_uint_eq(certs_count(certs), 3);
	ck_assert(certs_at(certs, 0)->revoked);
	ck_assert(!certs_at(certs, 1)->revoked);
}

/* A directory is where the file was: nothing can be written. */
TEST(failed_write_is_repeated_with_the_next_change)
{
	ck_assert_int_eq(add(0, END, 1), 0);
	ck_assert_int_eq(add(1, END, 1), 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(certs_revoke(certs, "h0", 1, NULL, NULL), -ERR_SYS);
	ck_assert_int_eq(add(2, END, 1), -ERR_SYS);
	ck_assert_uint_eq(certs_count(certs), 2);
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(add(3, END, 1), 0);
	reopen();
	ck_assert_uint_eq(certs_count(certs), 3);
	ck_assert(certs_at(certs, 0)->revoked);
	ck_assert_str_eq(certs_at(certs, 2)->host, "h3");
}

TEST(out_of_memory_adds_it_or_not)
{
	size_t n = 1;

	ck_assert_int_eq(add(0, END, 1), 0);
	ALLOC_SWEEP (k) {
		int rc = add((unsigned)n, END, 1);

		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM || rc == -ERR_LIMIT);
		n += !rc;
		ck_assert_uint_eq(certs_count(certs), n);
		ck_assert_uint_eq(lines(), n);
	}
}

/* --- a disk that fails */

static void put_two(const struct disk *d)
{
	certs_free(certs);
	ck_assert_int_eq(certs_open(d, "issued", &certs, NULL), 0);
	ck_assert_int_eq(add(0, END, 1), 0);
	ck_assert_int_eq(add(1, END, 1), 0);
}

/* Adds a certificate with the name of an existing one. */
static int add_third(const struct disk *d)
{
	int rc;

	certs_free(certs);
	certs = NULL;
	rc = certs_open(d, "issued", &certs, NULL);
	return rc || certs_count(certs) == 3 ? rc : add(2, END, 1);
}

static enum kept_state how_many(const struct disk *d)
{
	size_t n;

	certs_free(certs);
	ck_assert_int_eq(certs_open(d, "issued", &certs, NULL), 0);
	n = certs_count(certs);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(certs_at(certs, i)->host[1], '0' + (int)i);
	return n == 2 ? KEPT_OLD : n == 3 ? KEPT_NEW : KEPT_OTHER;
}

static int revoke_first(const struct disk *d)
{
	int rc;

	certs_free(certs);
	certs = NULL;
	rc = certs_open(d, "issued", &certs, NULL);
	return rc ? rc : certs_revoke(certs, "h0", 1, NULL, NULL);
}

static enum kept_state is_revoked(const struct disk *d)
{
	if (how_many(d) != KEPT_OLD)
		return KEPT_OTHER;
	return certs_at(certs, 0)->revoked ? KEPT_NEW : KEPT_OLD;
}

TEST(certificate_is_stored_or_revoked_after_each_fault)
{
	each_fault(&(struct kept_case){ "issue", put_two, add_third, how_many, false });
	each_fault(&(struct kept_case){ "revoke", put_two, revoke_first, is_revoked, false });
}

TEST(a_damaged_certificate_costs_no_other_and_is_counted)
{
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(add(i, END, 1), 0);
	ck_assert_uint_eq(certs_damaged(certs), 0);
	read_file();
	*strstr((char *)whole.p, "\th1\t") ^= 1;
	write_file(whole.p, whole.n);
	reopen();
	ck_assert_uint_eq(certs_count(certs), 2);
	ck_assert_uint_gt(certs_damaged(certs), 0);
	ck_assert_str_eq(certs_at(certs, 1)->host, "h2");
}

SUITE_WITH("certs", set_up, clean_up)
