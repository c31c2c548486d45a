/* SPDX-License-Identifier: Apache-2.0 */
/* Places in the source of addresses in this program's own file. */
#include "tests/suite.h"
#include "tracer/source.h"

#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char self[4096];
static uint64_t here; /* where a call returns to, by the addresses of the file */
static int line;

static int on_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	*(uint64_t *)arg = info->dlpi_addr;
	return 1; /* the first one is the program */
}

static __attribute__((noinline)) void be_called(void)
{
	uint64_t bias = 0;

	dl_iterate_phdr(on_object, &bias);
	here = (uint64_t)(uintptr_t)__builtin_return_address(0) - bias;
}

static inline __attribute__((always_inline)) void be_inlined(void)
{
	line = __LINE__ + 1;
	be_called();
	__asm__ volatile("");
}

static __attribute__((noinline)) void be_compiled(void)
{
	be_inlined();
	__asm__ volatile("");
}

static void set_up(void)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(n, 0);
	self[n] = 0;
	be_compiled();
}

static const char *lines_of(const struct source_file *f, uint64_t address, int want)
{
	static char text[SOURCE_TEXT_MAX_BYTES];
	struct buf b = BUF_INIT(sizeof(text));
	struct err e = { 0 };

	ck_assert_int_eq(source_lines(f, &address, 1, &b, &e), want);
	snprintf(text, sizeof(text), "%s", want ? e.text : buf_str(&b));
	buf_done(&b);
	return text;
}

TEST(a_call_has_its_function_and_line_and_inlined_ones_first)
{
	const char *text = lines_of(&(struct source_file){ .path = self }, here, 0);
	char want[128];

	snprintf(want, sizeof(want), "test_source.c\t%d\n", line);
	ck_assert_ptr_nonnull(strstr(text, "\tbe_inlined\t"));
	ck_assert_ptr_nonnull(strstr(text, want));
	ck_assert_ptr_nonnull(strstr(text, "\tbe_compiled\t"));
	ck_assert(strstr(text, "be_inlined") < strstr(text, "be_compiled"));
}

TEST(addresses_without_a_call_have_no_place)
{
	const struct source_file f = { .path = self };

	ck_assert_str_eq(lines_of(&f, here - 1, 0), "");
	ck_assert_str_eq(lines_of(&f, 0, 0), "");
	ck_assert_str_eq(lines_of(&f, UINT64_MAX, 0), "");
}

TEST(another_file_in_its_place_is_refused)
{
	static const uint8_t other[20] = { 1, 2, 3 };
	const struct source_file f = { self, other, sizeof(other) };

	ck_assert_ptr_nonnull(strstr(lines_of(&f, here, -ERR_NOTFOUND), "another file"));
}

TEST(files_that_are_no_code_are_refused_and_none_hangs)
{
	char pipe[] = "/tmp/omig-source-XXXXXX";
	int fd = mkstemp(pipe);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "text", 4), 4);
	close(fd);
	lines_of(&(struct source_file){ .path = pipe }, here, -ERR_INVALID);
	ck_assert_int_eq(unlink(pipe), 0);
	ck_assert_int_eq(mkfifo(pipe, 0600), 0);
	lines_of(&(struct source_file){ .path = pipe }, here, -ERR_NOTFOUND);
	ck_assert_int_eq(unlink(pipe), 0);
	lines_of(&(struct source_file){ .path = pipe }, here, -ERR_NOTFOUND);
}

SUITE_WITH("source", set_up, NULL)
