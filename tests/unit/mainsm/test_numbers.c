/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of sites, hosts and tokens: given once, kept in files, never given twice. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "mainsm/directory/numbers.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/common/store/each_fault.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], names[96], boot[96];

static void set_up(void)
{
	snprintf(dir, sizeof(dir), "/tmp/omig-numbers-%ld", (long)getpid());
	snprintf(names, sizeof(names), "%s/names", dir);
	snprintf(boot, sizeof(boot), "%s/boot", dir);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
}

static void clean_up(void)
{
	unlink(names);
	unlink(boot);
	rmdir(dir);
}

static void put(const char *path, const char *text)
{
	put_kept(NULL, path, path == names ? "names 1" : "boot-count 1", text);
}

static struct numbers *opened(const char *in)
{
	struct numbers *n = NULL;
	struct err e = { 0 };

	ck_assert_msg(numbers_open(NULL, in, &n, &e) == 0, "%s", e.text);
	return n;
}

static uint32_t site(struct numbers *n, const char *name)
{
	uint32_t out = 0;

	ck_assert_int_eq(numbers_site(n, name, &out), 0);
	return out;
}

static uint32_t node(struct numbers *n, const char *name, const char *host)
{
	uint32_t out = 0;

	ck_assert_int_eq(numbers_node(n, name, host, &out), 0);
	return out;
}

TEST(each_name_has_its_number)
{
	struct numbers *n = opened(NULL);

	ck_assert(!numbers_is_dirty(n));
	ck_assert_uint_eq(numbers_sites(n), 0);
	ck_assert_uint_eq(site(n, "a"), 1);
	ck_assert(numbers_is_dirty(n));
	ck_assert_uint_eq(node(n, "a", "h1"), 1);
	ck_assert_uint_eq(node(n, "a", "h2"), 2);
	ck_assert_uint_eq(site(n, "b"), 2);
	ck_assert_uint_eq(node(n, "b", "h1"), 3);
	ck_assert_int_eq(numbers_flush(n, NULL), 0);
	ck_assert(!numbers_is_dirty(n));
	ck_assert_uint_eq(site(n, "a"), 1);
	ck_assert_uint_eq(node(n, "a", "h2"), 2);
	ck_assert_uint_eq(numbers_sites(n), 2);
	ck_assert(!numbers_is_dirty(n));
	numbers_free(n);
	numbers_free(NULL);
}

TEST(numbers_survive_a_restart)
{
	struct numbers *n = opened(dir);
	uint64_t before;

	site(n, "a");
	site(n, "b");
	node(n, "b", "h1");
	node(n, "b", "h2");
	before = numbers_mint(n, NUMBER_CSR);
	ck_assert_uint_eq(numbers_mint(n, NUMBER_CSR), before + 1);
	ck_assert_uint_eq(numbers_mint(n, NUMBER_TOOL), before);
	ck_assert_int_eq(numbers_flush(n, NULL), 0);
	numbers_free(n);
	n = opened(dir);
	ck_assert(!numbers_is_dirty(n));
	ck_assert_uint_eq(numbers_sites(n), 2);
	ck_assert_uint_eq(site(n, "b"), 2);
	ck_assert_uint_eq(node(n, "b", "h2"), 2);
	ck_assert_uint_eq(node(n, "a", "h1"), 3);
	ck_assert_uint_eq(site(n, "c"), 3);
	ck_assert_uint_eq(numbers_mint(n, NUMBER_CSR), before + (1 << 20));
	numbers_free(n);
}

TEST(when_all_are_given_the_boot_count_goes_up)
{
	struct numbers *n = opened(dir);
	uint64_t first = numbers_mint(n, NUMBER_PA), last = 0;

	for (int i = 2; i < 1 << 20; i++)
		last = numbers_mint(n, NUMBER_PA);
	ck_assert_uint_eq(last, first + (1 << 20) - 2);
	ck_assert_uint_eq(numbers_mint(n, NUMBER_PA), first + (1 << 20));
	ck_assert_uint_eq(numbers_mint(n, NUMBER_DFG), first + (1 << 20));
	numbers_free(n);
	n = opened(dir);
	ck_assert_uint_eq(numbers_mint(n, NUMBER_PA), first + (2 << 20));
	numbers_free(n);
}

TEST(files_that_are_not_ours_are_refused)
{
	static const struct {
		const char *names, *boot, *words;
	} bad[] = {
		{ "1\n", NULL, "two or three fields" },
		{ "x\ta\n", NULL, "not a number of a name" },
		{ "0\ta\n", NULL, "not a number of a name" },
		{ "4294967295\ta\n", NULL, "not a number of a name" },
		{ "1\t\n", NULL, "not a number of a name" },
		{ "1\ta\n", "x\n", "not a boot count" },
		{ "1\ta\n", "-1\n", "not a boot count" },
		{ "1\ta\n", "1073741824\n", "not a boot count" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct numbers *n = NULL;
		struct err e = { 0 };

		put(names, bad[i].names);
		put(boot, bad[i].boot ? bad[i].boot : "1\n");
		ck_assert_int_eq(numbers_open(NULL, dir, &n, &e), -ERR_PARSE);
		ck_assert_msg(strstr(e.text, bad[i].words) != NULL, "%s", e.text);
		ck_assert_ptr_null(n);
	}
	put(names, "4294967294\ta\n7\ta\th\n");
	put(boot, "1073741823\n");
	numbers_free(opened(dir));
}

TEST(the_greatest_number_of_a_file_counts)
{
	struct numbers *n;

	put(names, "9\tb\n4\ta\n7\ta\th\n3\ta\tg\n");
	n = opened(dir);
	ck_assert_uint_eq(numbers_sites(n), 9);
	ck_assert_uint_eq(site(n, "a"), 4);
	ck_assert_uint_eq(site(n, "c"), 10);
	ck_assert_uint_eq(node(n, "a", "i"), 8);
	ck_assert_uint_eq(node(n, "a", "g"), 3);
	numbers_free(n);
}

TEST(names_beyond_the_limit_get_none)
{
	struct numbers *n = opened(NULL);
	char name[16];
	uint32_t out = 5;

	for (int i = 0; i < NUMBERS_NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		ck_assert_uint_eq(site(n, name), (uint32_t)i + 1);
	}
	ck_assert_int_eq(numbers_site(n, "one more", &out), -ERR_LIMIT);
	ck_assert_uint_eq(out, 5);
	ck_assert_uint_eq(site(n, "s7"), 8);
	ck_assert_uint_eq(numbers_sites(n), NUMBERS_NAMES_MAX);
	numbers_free(n);
}

TEST(without_memory_nothing_is_given)
{
	put(names, "1\ta\n1\ta\th\n");
	ALLOC_SWEEP (k) {
		struct numbers *n = NULL;
		struct err e = { 0 };
		uint32_t out = 0;
		int rc = numbers_open(NULL, dir, &n, &e), more = 0;

		if (!rc)
			more = numbers_site(n, "b", &out);
		if (!rc && !more)
			more = numbers_flush(n, &e);
		alloc_sweep_pause();
		ck_assert_int_eq(rc ? rc : more, alloc_sweep_has_failed() ? -ERR_NOMEM : 0);
		ck_assert(rc || out == 2 || more);
		numbers_free(n);
		put(names, "1\ta\n1\ta\th\n");
	}
}

/* --- a disk that fails */

static void put_one(const struct disk *d)
{
	struct numbers *n;

	ck_assert_int_eq(numbers_open(d, "", &n, NULL), 0);
	ck_assert_uint_eq(site(n, "a"), 1);
	ck_assert_int_eq(numbers_flush(n, NULL), 0);
	numbers_free(n);
}

static int name_another(const struct disk *d)
{
	struct numbers *n;
	int rc = numbers_open(d, "", &n, NULL);

	if (rc)
		return rc;
	ck_assert_uint_eq(site(n, "b"), 2);
	rc = numbers_flush(n, NULL);
	numbers_free(n);
	return rc;
}

static enum kept_state names_there(const struct disk *d)
{
	struct numbers *n;
	uint32_t known;
	bool is_same;

	ck_assert_int_eq(numbers_open(d, "", &n, NULL), 0);
	known = numbers_sites(n);
	is_same = site(n, "a") == 1;
	numbers_free(n);
	return !is_same || known > 2 ? KEPT_OTHER : known == 2 ? KEPT_NEW : KEPT_OLD;
}

static uint64_t first_minted; /* the first number of the start before the one under test */

static void start_once(const struct disk *d)
{
	struct numbers *n;

	ck_assert_int_eq(numbers_open(d, "", &n, NULL), 0);
	first_minted = numbers_mint(n, NUMBER_CSR);
	numbers_free(n);
}

static int start_again(const struct disk *d)
{
	struct numbers *n;
	int rc = numbers_open(d, "", &n, NULL);

	if (!rc)
		numbers_free(n);
	return rc;
}

/* No number is assigned twice, even with starts in between. */
static enum kept_state mints_above(const struct disk *d)
{
	struct numbers *n;
	uint64_t got;

	ck_assert_int_eq(numbers_open(d, "", &n, NULL), 0);
	got = numbers_mint(n, NUMBER_CSR);
	numbers_free(n);
	return got <= first_minted		 ? KEPT_OTHER
	       : got >= first_minted + (2 << 20) ? KEPT_NEW
						 : KEPT_OLD;
}

TEST(number_is_not_lost_or_repeated_after_any_fault)
{
	each_fault(&(struct kept_case){ "names", put_one, name_another, names_there, false });
	each_fault(
		&(struct kept_case){ "boot count", start_once, start_again, mints_above, false });
}

SUITE_WITH("mainsm numbers", set_up, clean_up)
