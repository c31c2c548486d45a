/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of memory, as the kernel lists them. */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tracer/thread/maps.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TEST(lines_have_their_parts)
{
	const char *at = "1000-3000 r-xp 00000000 08:01 77                         /a b/c\n"
			 "7fff00000000-7fff00001000 rw-p 00000000 00:00 0            [stack]\n"
			 "ffff0000-ffff1000 rw-p 00000000 00:00 0 \n";
	struct maps_region r;

	ck_assert(maps_next(&at, &r));
	ck_assert_uint_eq(r.from, 0x1000);
	ck_assert_uint_eq(r.to, 0x3000);
	ck_assert_str_eq(r.rights, "r-xp");
	ck_assert(r.is_file && r.path_n == 6 && !memcmp(r.path, "/a b/c", 6));
	ck_assert(maps_next(&at, &r));
	ck_assert_uint_eq(r.to, UINT64_C(0x7fff00001000));
	ck_assert(!r.is_file && r.path_n == 7 && !memcmp(r.path, "[stack]", 7));
	ck_assert(maps_next(&at, &r));
	ck_assert(!r.is_file && !r.path_n && !strcmp(r.rights, "rw-p"));
	ck_assert(!maps_next(&at, &r));
}

TEST(lines_of_another_form_are_left_out)
{
	static const char *const bad[] = { "",
					   "-",
					   "1000",
					   "1000-",
					   "1000-2000",
					   "1000-2000 ",
					   "1000-2000 rw-p",
					   "1000-2000 rw-p ",
					   "1000-2000 rw-p 0 0:0",
					   "1000-2000 rw-p 0 0:0 ",
					   "1000-2000 rw 0 0:0 0",
					   "x-2000 rw-p 0 0:0 0" };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char text[80];
		const char *at = text;
		struct maps_region r;

		snprintf(text, sizeof(text), "%s\n1000-2000 rw-p 0 0:0 0 \n", bad[i]);
		ck_assert_msg(maps_next(&at, &r), "behind %s", bad[i]);
		ck_assert_msg(!maps_next(&at, &r), "%s is read", bad[i]);
		text[strlen(bad[i])] = 0;
		at = text;
		ck_assert_msg(!maps_next(&at, &r), "%s is read at the end", bad[i]);
	}
}

TEST(memory_of_this_process_is_found_until_it_is_unmapped)
{
	struct buf b = BUF_INIT(MAPS_MAX_BYTES);
	struct maps_region r;
	void *p = mmap(NULL, 1 << 16, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_int_eq(maps_read(getpid(), &b, NULL), 0);
	ck_assert(maps_find(&b, (uintptr_t)p, &r));
	ck_assert(!r.is_file && r.rights[0] == 'r' && r.rights[1] == '-');
	munmap(p, 1 << 16);
	ck_assert_int_eq(maps_read(getpid(), &b, NULL), 0);
	ck_assert(!maps_find(&b, (uintptr_t)p, &r));
	buf_done(&b);
}

SUITE("regions of memory")
