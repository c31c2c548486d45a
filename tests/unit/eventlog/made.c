/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/eventlog/made.h"

#include "common/base/array.h"
#include "tests/suite.h"

#include <math.h>
#include <string.h>

#define TEXT(words)                                                     \
	{                                                               \
		.kind = EV_STRING, .n = sizeof(words) - 1, .s = (words) \
	}

static const struct evfield all_fields[] = { { "i", EV_INT32 },
					     { "l", EV_INT64 },
					     { "f", EV_FLOAT },
					     { "d", EV_DOUBLE },
					     { "s", EV_STRING } };
static const struct evconst all_constants[] = {
	{ "HOST", TEXT("foo.lbl.gov") },
	{ "block", { .kind = EV_INT32, .i32 = -7 } },
	{ "size", { .kind = EV_INT64, .i64 = INT64_C(1) << 40 } },
	{ "ratio", { .kind = EV_FLOAT, .f32 = 0.25f } },
	{ "exact", { .kind = EV_DOUBLE, .f64 = 0.1 } },
};
const struct evtype made_all = { .name = "all.kinds",
				 .level = EV_INFO,
				 .nfield = ARRAY_LEN(all_fields),
				 .nconst = ARRAY_LEN(all_constants),
				 .field = all_fields,
				 .constant = all_constants };

static const struct evfield table1_fields[] = { { "MY_INT", EV_INT32 }, { "MY_FLOAT", EV_FLOAT } };
static const struct evconst table1_constants[] = { { "HOST", TEXT("foo.lbl.gov") },
						   { "PROG", TEXT("MY_PROGRAM") } };
const struct evtype made_table1 = { .name = "MY_EVENT",
				    .level = EV_INFO,
				    .nfield = ARRAY_LEN(table1_fields),
				    .nconst = ARRAY_LEN(table1_constants),
				    .field = table1_fields,
				    .constant = table1_constants };

static const int32_t ints[] = { 0, 1, -1, INT32_MAX, INT32_MIN };
static const int64_t longs[] = { 0, 1, -1, INT64_MAX, INT64_MIN, INT64_C(1) << 32 };
static const int64_t times[] = {
	0, 10, -1, INT64_MAX, INT64_MIN, INT64_C(1017436389) * 1000000000 + 443568000
};
static const char *const texts[] = { "",
				     " ",
				     "plain",
				     "two words",
				     "a=b",
				     "\"quoted\"",
				     "back\\slash",
				     "12",
				     "1e5",
				     "\xc3\xa9",
				     "\xff\x01\x1b[31m",
				     "<script>&amp;",
				     "line\nbreak\ttab",
				     "nan" };

int64_t made_edge_time(size_t i)
{
	return times[i % ARRAY_LEN(times)];
}

const struct evvalue *made_edge(size_t i)
{
	static const float floats[] = { 0.0f,	-0.0f,		 0.1f,	     3.4028235e38f,
					1e-45f, 1.17549435e-38f, 16777216.0f };
	static const double doubles[] = { 0.0,
					  -0.0,
					  0.1,
					  1.7976931348623157e308,
					  4.9e-324,
					  2.2250738585072014e-308,
					  9007199254740993.0 };
	static struct evvalue v[5];

	v[0] = (struct evvalue){ .kind = EV_INT32, .i32 = ints[i % ARRAY_LEN(ints)] };
	v[1] = (struct evvalue){ .kind = EV_INT64, .i64 = longs[i % ARRAY_LEN(longs)] };
	v[2] = (struct evvalue){ .kind = EV_FLOAT, .f32 = floats[i % ARRAY_LEN(floats)] };
	v[3] = (struct evvalue){ .kind = EV_DOUBLE, .f64 = doubles[i % ARRAY_LEN(doubles)] };
	if (i % MADE_EDGES == 11)
		v[2].f32 = INFINITY, v[3].f64 = -INFINITY;
	if (i % MADE_EDGES == 12)
		v[2].f32 = NAN, v[3].f64 = NAN;
	v[4] = (struct evvalue){ .kind = EV_STRING,
				 .n = (uint32_t)strlen(texts[i % MADE_EDGES]),
				 .s = texts[i % MADE_EDGES] };
	return v;
}

static void good(int rc, const struct err *e)
{
	ck_assert_msg(!rc, "%s", e->text);
}

void made_edges(struct buf *out, bool swap)
{
	static const struct evconst host[] = { { "pid", { .kind = EV_INT32, .i32 = 4711 } } };
	const struct evtype of_stream = { .name = "", .nconst = 1, .constant = host };
	struct evwrite w;
	struct err e = { 0 };

	evwrite_init(&w, MADE_STREAM, swap, 512);
	good(evwrite_define(&w, 0, &of_stream, &e), &e);
	good(evwrite_define(&w, 1, &made_all, &e), &e);
	for (size_t i = 0; i < MADE_EDGES; i++)
		good(evwrite_event(&w, 1,
				   &(struct event){ .type = &made_all,
						    .ticks = (uint64_t)made_edge_time(i),
						    .value = made_edge(i) },
				   &e),
		     &e);
	good(evwrite_cut(&w, true, &e), &e);
	*out = w.out;
	buf_done(&w.body);
}

void made_many(struct buf *out, uint64_t stream, unsigned from, unsigned n, size_t block_bytes)
{
	struct evwrite w;
	struct err e = { 0 };

	evwrite_init(&w, stream, false, block_bytes);
	good(evwrite_define(&w, 7, &made_table1, &e), &e);
	for (unsigned i = from; i < from + n; i++) {
		const struct evvalue v[] = { { .kind = EV_INT32, .i32 = (int32_t)i },
					     { .kind = EV_FLOAT, .f32 = 0.5f } };

		good(evwrite_event(&w, 7,
				   &(struct event){ .type = &made_table1, .ticks = i, .value = v },
				   &e),
		     &e);
	}
	good(evwrite_cut(&w, false, &e), &e);
	*out = w.out;
	buf_done(&w.body);
}

void made_read(const struct buf *b, void (*fn)(void *arg, const struct event *ev), void *arg,
	       struct evread_report *out)
{
	struct evread *r = evread_new();
	struct event ev;
	size_t at = 0, used;
	int got;

	ck_assert_ptr_nonnull(r);
	while ((got = evread_push(r, b->p + at, b->n - at, true, &used)) == EVREAD_BLOCK) {
		at += used;
		while (evread_next(r, &ev))
			if (fn)
				fn(arg, &ev);
	}
	ck_assert_int_eq(got, EVREAD_END);
	*out = *evread_report(r);
	evread_free(r);
}
