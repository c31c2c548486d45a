/* SPDX-License-Identifier: Apache-2.0 */
/* Events by time: held against a sort by hand, in memory and through runs on disk. */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "eventlog/sort/evsort.h"
#include "tests/suite.h"
#include "tests/unit/eventlog/made.h"

#include <stdlib.h>
#include <string.h>

#define EVENTS 5000
#define SMALL 4096 /* bytes of memory: some 40 events a run */

struct made {
	nsec_t at;
	int32_t number;
};

static int by_time(const void *a, const void *b)
{
	const struct made *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static void good(int rc, const struct err *e)
{
	ck_assert_msg(!rc || !e->code, "%s", e->text);
}

static void put(struct evsort *s, const struct made *m)
{
	const struct evvalue v[] = { { .kind = EV_INT32, .i32 = m->number },
				     { .kind = EV_FLOAT, .f32 = 0.5f } };
	struct err e = { 0 };

	good(evsort_put(s,
			&(struct event){ .type = &made_table1,
					 .value = v,
					 .stream = 7,
					 .number = (uint64_t)m->number,
					 .ticks = 3,
					 .wall_ns = m->at },
			&e),
	     &e);
}

/* Few different times, so that many events have the same one. */
static void sorts_as_by_hand(size_t memory, uint64_t span, uint64_t seed)
{
	struct made *m = calloc(EVENTS, sizeof(*m));
	struct evsort *s = evsort_new(NULL, memory);
	struct rng rng;
	struct event ev;
	struct err e = { 0 };

	rng_init(&rng, seed);
	for (int32_t i = 0; i < EVENTS; i++) {
		m[i] = (struct made){ (nsec_t)rng_below(&rng, span) - 5, i };
		put(s, &m[i]);
	}
	qsort(m, EVENTS, sizeof(*m), by_time);
	for (size_t i = 0; i < EVENTS; i++) {
		good(evsort_next(s, &ev, &e), &e);
		ck_assert_int_eq(ev.wall_ns, m[i].at);
		ck_assert_int_eq(ev.value[0].i32, m[i].number);
		ck_assert_uint_eq(ev.number, (uint64_t)m[i].number);
		ck_assert_uint_eq(ev.stream, 7);
		ck_assert_uint_eq(ev.ticks, 3);
		ck_assert_str_eq(ev.type->name, "MY_EVENT");
		ck_assert_ptr_null(ev.stream_type);
	}
	ck_assert_int_eq(evsort_next(s, &ev, &e), 0);
	ck_assert_int_eq(evsort_next(s, &ev, &e), 0);
	ck_assert_uint_eq(evsort_events(s), EVENTS);
	ck_assert(memory == SMALL ? evsort_runs(s) > 50 : evsort_runs(s) == 0);
	evsort_free(s);
	free(m);
}

TEST(events_in_memory_are_by_time_and_stable)
{
	sorts_as_by_hand(EVSORT_MEMORY_BYTES, 10, 1);
	sorts_as_by_hand(EVSORT_MEMORY_BYTES, UINT64_C(1) << 60, 2);
	sorts_as_by_hand(EVSORT_MEMORY_BYTES, 1, 3);
}

TEST(events_in_runs_are_by_time_and_stable)
{
	sorts_as_by_hand(SMALL, 10, 4);
	sorts_as_by_hand(SMALL, UINT64_C(1) << 60, 5);
	sorts_as_by_hand(SMALL, 1, 6);
}

static void collect(void *arg, const struct event *ev)
{
	struct err e = { 0 };

	good(evsort_put(arg, ev, &e), &e);
}

/* Every kind and edge value, the constants of the stream, and the extreme times. */
static void keeps_all(size_t memory)
{
	struct evsort *s = evsort_new(NULL, memory);
	struct evread_report report;
	struct buf log;
	struct event ev;
	struct err e = { 0 };
	nsec_t before = INT64_MIN;
	size_t seen = 0;

	made_edges(&log, false);
	made_read(&log, collect, s, &report);
	for (int got; (got = evsort_next(s, &ev, &e)) != 0; seen++) {
		good(got, &e);
		ck_assert(ev.wall_ns >= before);
		before = ev.wall_ns;
		ck_assert(evtype_equal(ev.type, &made_all));
		ck_assert_str_eq(ev.stream_type->constant[0].name, "pid");
		for (unsigned k = 0; k < made_all.nfield; k++)
			ck_assert(evvalue_equal(&ev.value[k], &made_edge(ev.number)[k]));
		ck_assert_int_eq(ev.wall_ns, made_edge_time(ev.number));
	}
	ck_assert_uint_eq(seen, MADE_EDGES);
	evsort_free(s);
	buf_done(&log);
}

TEST(events_keep_their_values_types_and_streams)
{
	keeps_all(EVSORT_MEMORY_BYTES);
	keeps_all(1);
}

TEST(nothing_is_sorted_to_nothing)
{
	struct evsort *s = evsort_new(NULL, SMALL);
	struct event ev;
	struct err e = { 0 };

	ck_assert_int_eq(evsort_next(s, &ev, &e), 0);
	evsort_free(s);
}

TEST(a_missing_folder_is_reported)
{
	struct evsort *s = evsort_new("/nonexistent", 1);
	struct err e = { 0 };
	int rc = 0;

	for (int32_t i = 0; !rc && i < 3; i++) {
		const struct evvalue v[] = { { .kind = EV_INT32 }, { .kind = EV_FLOAT } };

		rc = evsort_put(s, &(struct event){ .type = &made_table1, .value = v }, &e);
	}
	ck_assert_int_eq(rc, -ERR_SYS);
	ck_assert_ptr_nonnull(strstr(e.text, "/nonexistent"));
	evsort_free(s);
}

TEST(runs_are_limited)
{
	struct evsort *s = evsort_new(NULL, 1);
	struct err e = { 0 };
	int rc = 0;

	for (int32_t i = 0; !rc && i < 2 * EVSORT_RUNS_MAX; i++) {
		const struct evvalue v[] = { { .kind = EV_INT32 }, { .kind = EV_FLOAT } };

		rc = evsort_put(s, &(struct event){ .type = &made_table1, .value = v }, &e);
	}
	ck_assert_int_eq(rc, -ERR_LIMIT);
	ck_assert_uint_eq(evsort_runs(s), EVSORT_RUNS_MAX);
	evsort_free(s);
}

SUITE("evsort")
