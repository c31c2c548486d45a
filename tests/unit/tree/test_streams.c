/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/buf.h"
#include "common/base/err.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tree/streams.h"

#include <string.h>

struct world {
	struct streams xs;
	uint64_t number;
	unsigned steps, freed;
};

static void on_step(void *arg, struct stream *x, enum stream_state was)
{
	((struct world *)arg)->steps++;
}

static void on_free(void *arg, struct stream *x)
{
	((struct world *)arg)->freed++;
}

static void world_open(struct world *w)
{
	*w = (struct world){ 0 };
	streams_init(&w->xs, &(struct streams_conf){ .bytes = sizeof(struct stream) + 8,
						     .number = &w->number,
						     .on_step = on_step,
						     .on_free = on_free,
						     .arg = w });
}

static struct stream *come(struct world *w, uint32_t branch, const char *name)
{
	bool is_new;

	return streams_come(&w->xs, branch, name, &is_new);
}

static void hold(struct world *w, const struct stream *x, uint64_t mark, uint32_t bytes)
{
	ck_assert_int_eq(streams_reserve(&w->xs, w->xs.nmessage + 1), 0);
	streams_hold(&w->xs, &(struct stream_message){ .number = x->number,
						       .place = mark * 10,
						       .mark = mark,
						       .branch = x->branch,
						       .bytes = bytes });
}

static void print_place(void *arg, const struct stream_message *m)
{
	buf_printf(arg, "%u:%u ", m->branch, (unsigned)m->place);
}

TEST(a_branch_that_returns_has_the_stream_that_it_had)
{
	struct world w;
	struct stream *x;
	bool is_new;

	world_open(&w);
	x = streams_come(&w.xs, 3, "a", &is_new);
	ck_assert(is_new && x->state == STREAM_AWAY && x->has_branch);
	ck_assert_ptr_eq(streams_come(&w.xs, 3, "a", &is_new), x);
	ck_assert(!is_new);
	stream_open(&w.xs, x);
	stream_leave(&w.xs, x);
	ck_assert_ptr_null(streams_at(&w.xs, 3));
	ck_assert(x->state == STREAM_AWAY && !x->number);
	ck_assert_ptr_eq(streams_come(&w.xs, 5, "a", &is_new), x);
	ck_assert(!is_new);
	ck_assert_ptr_ne(come(&w, 3, "a"), x);
	ck_assert_ptr_eq(streams_at(&w.xs, 5), x);
	streams_done(&w.xs);
	ck_assert_uint_eq(w.freed, 2);
}

TEST(each_opening_has_a_number_of_its_own)
{
	struct world w;
	struct stream *a, *b;

	world_open(&w);
	a = come(&w, 0, "a");
	b = come(&w, 1, "b");
	stream_open(&w.xs, a);
	stream_open(&w.xs, b);
	ck_assert_uint_ne(a->number, b->number);
	stream_open(&w.xs, a);
	ck_assert_uint_eq(a->number, 3);
	ck_assert_uint_eq(w.number, 3);
	streams_done(&w.xs);
}

TEST(streams_are_counted_by_state)
{
	struct world w;
	struct stream *a;

	world_open(&w);
	a = come(&w, 0, "a");
	come(&w, 1, "b");
	ck_assert_uint_eq(w.xs.n[STREAM_AWAY], 2);
	stream_open(&w.xs, a);
	stream_step(&w.xs, a, STREAM_FULL);
	ck_assert(w.xs.n[STREAM_AWAY] == 1 && w.xs.n[STREAM_SHUT] == 1);
	stream_open(&w.xs, a);
	stream_end(&w.xs, a, "");
	ck_assert(w.xs.n[STREAM_SHUT] == 0 && w.xs.n[STREAM_ENDED] == 1);
	ck_assert_uint_eq(w.steps, 4);
	stream_free(&w.xs, a);
	ck_assert_uint_eq(w.xs.n[STREAM_ENDED], 0);
	ck_assert_ptr_null(streams_at(&w.xs, 0));
	streams_done(&w.xs);
}

TEST(disconnected_sources_and_those_in_an_end_are_missing)
{
	struct buf b = BUF_INIT(100);
	struct world w;
	struct stream *x;

	world_open(&w);
	ck_assert_ptr_nonnull(streams_add(&w.xs, "sm x", STREAM_AWAY));
	x = come(&w, 0, "a");
	stream_open(&w.xs, x);
	stream_end(&w.xs, x, "c, d");
	streams_write_missing(&w.xs, &b);
	ck_assert_str_eq(buf_str(&b), "sm x, c, d");
	buf_done(&b);
	stream_open(&w.xs, x);
	stream_end(&w.xs, x, "");
	streams_write_missing(&w.xs, &b);
	ck_assert_str_eq(buf_str(&b), "sm x");
	buf_done(&b);
	streams_done(&w.xs);
}

TEST(messages_of_one_opening_are_released_alone)
{
	struct buf b = BUF_INIT(100);
	struct world w;
	struct stream *x, *y;

	world_open(&w);
	x = come(&w, 0, "x");
	y = come(&w, 1, "y");
	stream_open(&w.xs, x);
	stream_open(&w.xs, y);
	hold(&w, x, 1, 100);
	hold(&w, y, 1, 20);
	hold(&w, x, 2, 3);
	hold(&w, x, 4, 4000);
	ck_assert_uint_eq(streams_held(&w.xs, x), 3);
	streams_release(&w.xs, x, 3, print_place, &b);
	ck_assert_str_eq(buf_str(&b), "0:10 0:20 ");
	ck_assert_uint_eq(w.xs.unsafe, 4020);
	ck_assert_uint_eq(streams_held(&w.xs, x), 1);
	stream_open(&w.xs, x);
	ck_assert_uint_eq(streams_held(&w.xs, x), 0);
	streams_release(&w.xs, x, UINT64_MAX, NULL, NULL);
	ck_assert_uint_eq(w.xs.unsafe, 4020);
	buf_done(&b);
	streams_done(&w.xs);
}

TEST(messages_of_all_are_released_up_to_a_mark)
{
	struct buf b = BUF_INIT(100);
	struct world w;
	struct stream *x, *y;

	world_open(&w);
	x = come(&w, 0, "x");
	y = come(&w, 1, "y");
	stream_open(&w.xs, x);
	stream_open(&w.xs, y);
	hold(&w, x, 1, 1);
	hold(&w, y, 2, 1);
	hold(&w, x, 3, 1);
	streams_release(&w.xs, NULL, 2, print_place, &b);
	ck_assert_str_eq(buf_str(&b), "0:10 1:20 ");
	streams_release(&w.xs, NULL, 2, print_place, &b);
	ck_assert_str_eq(buf_str(&b), "0:10 1:20 ");
	ck_assert_uint_eq(w.xs.unsafe, 1);
	buf_done(&b);
	streams_done(&w.xs);
}

TEST(running_out_of_memory_leaves_sound_streams)
{
	ALLOC_SWEEP (k) {
		struct world w;
		struct stream *x;
		int rc;

		world_open(&w);
		x = come(&w, 0, "x");
		rc = streams_reserve(&w.xs, 8);
		if (x) {
			stream_open(&w.xs, x);
			stream_end(&w.xs, x, "y");
		}
		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		ck_assert(!x == !streams_at(&w.xs, 0));
		ck_assert_uint_eq(w.xs.n[STREAM_ENDED], x ? 1 : 0);
		ck_assert_uint_eq(w.xs.n[STREAM_AWAY], 0);
		streams_done(&w.xs);
	}
}

SUITE("streams")
