/* SPDX-License-Identifier: Apache-2.0 */
/* Call sites and files with code, as the lm reads them, and as an enemy leaves them. */
#include "common/ring/calls_id.h"
#include "tests/suite.h"
#include "tests/unit/common/ring/made.h"

#include <string.h>

static struct made m;
static struct segview *view;
static struct segview_site last;

static void open_view(void)
{
	struct err e = { 0 };

	made_init(&m, 2, SEG_RING_MIN_BYTES);
	ck_assert_msg(!segview_over(m.p, m.n, &view, &e), "%s", e.text);
}

static void close_view(void)
{
	segview_free(view);
	made_done(&m);
}

static struct seg_site *site_at(unsigned i)
{
	return (struct seg_site *)(void *)((uint8_t *)made_thread(&m, 0) + m.plan.site_offset) + i;
}

static struct seg_module *module_at(unsigned i)
{
	return (struct seg_module *)(void *)(m.p + m.plan.module_offset) + i;
}

static void on_site(void *arg, const struct segview_site *s)
{
	last = *s;
}

static int sites(void)
{
	return segview_sites(view, 0, on_site, NULL);
}

TEST(a_site_is_what_its_thread_has_written)
{
	*site_at(7) = (struct seg_site){ .key = 1,
					 .func = CALL_ID_Send,
					 .depth = 2,
					 .pc = { 10, 20, 30, 40 },
					 .count = 3,
					 .bytes_out = 4,
					 .bytes_in = 5,
					 .delay = 6,
					 .longest = 2 };
	ck_assert_int_eq(sites(), 1);
	ck_assert_uint_eq(last.func, CALL_ID_Send);
	ck_assert_uint_eq(last.pc[1], 20);
	ck_assert_uint_eq(last.pc[2], 0); /* beyond its depth */
	ck_assert_uint_eq(last.count, 3);
	ck_assert_uint_eq(last.delay, 6);
	ck_assert_uint_eq(last.longest, 2);
	ck_assert_int_eq(segview_sites(view, 1, on_site, NULL), 0);
	ck_assert_int_eq(segview_sites(view, 2, on_site, NULL), -ERR_INVALID);
}

TEST(sites_that_make_no_sense_are_not_there)
{
	*site_at(0) = (struct seg_site){ .key = 0, .func = CALL_ID_Send, .depth = 1 };
	*site_at(1) = (struct seg_site){ .key = 1, .func = UINT32_MAX, .depth = 1 };
	*site_at(2) = (struct seg_site){ .key = 1, .func = CALL_ID_Send, .depth = 0 };
	*site_at(3) = (struct seg_site){ .key = 1, .func = CALL_ID_Send, .depth = 5 };
	ck_assert_int_eq(sites(), 0);
}

TEST(files_without_code_or_with_strange_paths_are_not_there)
{
	struct seg_module got;

	*module_at(0) = (struct seg_module){
		.start = 16, .end = 32, .build_id_bytes = 4, .path = "/bin/a"
	};
	*module_at(1) = (struct seg_module){ .start = 16, .end = 16, .path = "/bin/a" };
	*module_at(2) = (struct seg_module){ .start = 16, .end = 32, .path = "bin/a" };
	*module_at(3) = (struct seg_module){ .start = 16, .end = 32, .path = "/bin/\033[2J" };
	*module_at(4) = (struct seg_module){ .start = 16, .end = 32, .build_id_bytes = 99 };
	memset(module_at(4)->path, '/', SEG_MODULE_PATH_BYTES);
	ck_assert(segview_module(view, 0, &got));
	ck_assert_str_eq(got.path, "/bin/a");
	ck_assert_uint_eq(got.build_id_bytes, 4);
	for (unsigned i = 1; i < 4; i++)
		ck_assert(!segview_module(view, i, &got));
	ck_assert(segview_module(view, 4, &got)); /* cut, without a build id */
	ck_assert_uint_eq(got.build_id_bytes, 0);
	ck_assert_uint_eq(strlen(got.path), SEG_MODULE_PATH_BYTES - 1);
	ck_assert(!segview_module(view, SEG_MODULES, &got));
}

SUITE_WITH("segsite", open_view, close_view)
