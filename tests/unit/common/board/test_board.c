/* SPDX-License-Identifier: Apache-2.0 */
/* A board keeps the order of its records, counts those that are lost, and its streams. */
#include "common/board/board.h"
#include "tests/suite.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define WRITERS 4
#define EACH 40000u

static struct board *b;

static void set_up(void)
{
	b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(b, MAP_FAILED);
	board_init(b, 5);
}

static void clean_up(void)
{
	munmap(b, sizeof(*b));
}

static bool put(int32_t pid, uint64_t id)
{
	return board_put(b, &(struct board_record){
				    .kind = BOARD_READ, .pid = pid, .id = id, .label = "x" });
}

TEST(records_come_out_in_order)
{
	struct board_record r;

	ck_assert(board_is_valid(b, sizeof(*b)));
	ck_assert(!board_is_valid(b, sizeof(*b) - 1));
	ck_assert_int_eq(board_get(b, &r), 0);
	for (uint64_t i = 0; i < 3 * BOARD_RECORDS / 2; i++) {
		ck_assert(put(1, i));
		ck_assert_int_eq(board_get(b, &r), 1);
		ck_assert_uint_eq(r.id, i);
	}
	ck_assert_int_eq(board_get(b, &r), 0);
	ck_assert_uint_eq(b->lost, 0);
}

TEST(a_full_board_counts_what_it_loses)
{
	struct board_record r;

	for (uint64_t i = 0; i < BOARD_RECORDS; i++)
		ck_assert(put(1, i));
	ck_assert(!put(1, 7));
	ck_assert_uint_eq(b->lost, 1);
	for (uint64_t i = 0; i < BOARD_RECORDS; i++)
		ck_assert_int_eq(board_get(b, &r), 1);
	ck_assert_int_eq(board_get(b, &r), 0);
	ck_assert(put(1, 8));
}

/* A writer that was killed has claimed a record. One that was only late spoils a later record. */
TEST(a_record_that_is_never_whole_is_skipped)
{
	struct board_record r;

	b->in++;
	ck_assert(put(1, 4));
	ck_assert_int_eq(board_get(b, &r), -1);
	board_skip(b);
	ck_assert_uint_eq(b->lost, 1);
	ck_assert_int_eq(board_get(b, &r), 1);
	ck_assert_uint_eq(r.id, 4);
	ck_assert(put(1, 5));
	ck_assert(put(1, 6));
	b->record[2].id = 99;
	ck_assert_int_eq(board_get(b, &r), -1);
	ck_assert_uint_eq(b->lost, 2);
	ck_assert_int_eq(board_get(b, &r), 1);
	ck_assert_uint_eq(r.id, 6);
}

/* A program may write anything there: the reader goes on behind it. */
TEST(places_that_no_writer_makes_end_what_is_on_the_board)
{
	struct board_record r;

	ck_assert(put(1, 4));
	b->in = UINT64_MAX / 2;
	ck_assert_int_eq(board_get(b, &r), 0);
	ck_assert_uint_eq(b->lost, BOARD_RECORDS);
	ck_assert(put(1, 5));
	ck_assert_int_eq(board_get(b, &r), 1);
	ck_assert_uint_eq(r.id, 5);
	b->out = b->in + 1;
	ck_assert_int_eq(board_get(b, &r), 0);
	ck_assert(put(1, 6));
	ck_assert_int_eq(board_get(b, &r), 1);
	ck_assert_uint_eq(r.id, 6);
}

TEST(a_label_without_an_end_gets_one)
{
	struct board_record r = { .kind = BOARD_EXEC };

	memset(r.label, 'a', sizeof(r.label));
	board_put(b, &r);
	ck_assert_int_eq(board_get(b, &r), 1);
	ck_assert_uint_eq(strlen(r.label), BOARD_LABEL_BYTES - 1);
	r.kind = BOARD_KINDS;
	board_put(b, &r);
	ck_assert_int_eq(board_get(b, &r), -1);
	ck_assert_uint_eq(b->lost, 1);
}

static void *write_all(void *arg)
{
	for (uint64_t i = 0; i < EACH; i++)
		put((int32_t)(uintptr_t)arg, i);
	return NULL;
}

TEST(each_record_of_several_writers_comes_out_once_or_is_lost)
{
	pthread_t thread[WRITERS];
	uint64_t next[WRITERS] = { 0 }, got = 0;
	struct board_record r;
	int state;

	for (uintptr_t i = 0; i < WRITERS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, write_all, (void *)i), 0);
	while (got + __atomic_load_n(&b->lost, __ATOMIC_RELAXED) < WRITERS * EACH) {
		state = board_get(b, &r);
		if (state != 1)
			continue;
		ck_assert_int_lt(r.pid, WRITERS);
		ck_assert_uint_ge(r.id, next[r.pid]);
		next[r.pid] = r.id + 1;
		got++;
	}
	for (unsigned i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	ck_assert_int_eq(board_get(b, &r), 0);
	ck_assert_uint_gt(got, 0);
	ck_assert_uint_eq(got + b->lost, WRITERS * EACH);
}

TEST(a_stream_is_found_again_and_a_replaced_one_is_in_doubt)
{
	struct board_stream *s = board_stream(b, 7), *again;

	ck_assert_ptr_nonnull(s);
	s->written = 100;
	ck_assert_ptr_eq(board_stream(b, 7), s);
	for (uint64_t key = 8; s->key == 7; key++)
		ck_assert_ptr_nonnull(board_stream(b, key));
	ck_assert_uint_eq(s->doubt, 0); /* later ones are new */
	ck_assert_uint_eq(s->written, 0);
	again = board_stream(b, 7);
	ck_assert_uint_eq(again->doubt, 1);
}

SUITE_WITH("board", set_up, clean_up)
