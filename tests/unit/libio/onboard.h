/* SPDX-License-Identifier: Apache-2.0 */
/* A board for the calls of this program, and its records. */
#ifndef TESTS_UNIT_LIBIO_ONBOARD_H
#define TESTS_UNIT_LIBIO_ONBOARD_H

#include "libio/io.h"
#include "tests/suite.h"

#include <sys/mman.h>

static inline struct board *board_on(void)
{
	static bool is_begun;
	struct board *b =
		mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(b, MAP_FAILED);
	board_init(b, 1);
	if (!is_begun)
		io_processes_begin();
	is_begun = true;
	io_count_nothing();
	io_board = b;
	return b;
}

static inline void board_off(struct board *b)
{
	io_board = NULL;
	munmap(b, sizeof(*b));
}

/* The next record is of that kind. */
static inline struct board_record next(struct board *b, enum board_kind kind)
{
	struct board_record r = { 0 };

	ck_assert_int_eq(board_get(b, &r), 1);
	ck_assert_int_eq(r.kind, kind);
	return r;
}

static inline void no_more(struct board *b)
{
	struct board_record r;

	ck_assert_int_eq(board_get(b, &r), 0);
}

#endif
