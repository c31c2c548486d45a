/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers: quantities of their own, stop conditions, and values that are left out. */
#include "common/base/array.h"
#include "neko/stat/stat.h"
#include "tests/suite.h"

#include <string.h>

enum { A, B };

struct state {
	struct quantity *own;
	unsigned written;
};

static void handle(void *state, struct neko_figures *f, const struct neko_event *v)
{
	struct state *s = state;

	if (s->own)
		quantity_add(s->own, v->content);
	neko_figure(f, v->process - 1, v->content, 0);
}

static int init(void *state, struct neko_figures *f, struct setup *s, struct err *e)
{
	struct state *own = state;

	own->own = neko_quantity(f, QUANTITY_VALUES, "own", "s", e);
	return own->own ? quantity_stop_on_interval(own->own, 0.95, 0.05, e) : -1;
}

static bool should_stop(void *state, struct neko_figures *f)
{
	return quantity_count(((struct state *)state)->own) >= 5;
}

static int write_results(void *state, struct neko_figures *f, struct err *e)
{
	((struct state *)state)->written++;
	return neko_fail(e, "the disk is full");
}

static const struct neko_row rows[] = { { "a", NULL, true }, { "b", NULL, false }, { 0 } };
static const struct neko_measure with_rows = {
	.name = "rows", .rows = rows, .bytes = sizeof(struct state), .handle = handle
};
static const struct neko_measure with_own = {
	.name = "own",
	.bytes = sizeof(struct state),
	.handle = handle,
	.init = init,
	.should_stop = should_stop,
	.write_results = write_results,
};

struct made {
	struct stat_kind kind;
	struct setup *setup;
	void *h;
	struct err e;
	int rc;
};

static struct made make(const struct neko_measure *m, const char *text)
{
	struct made v = { .kind = stat_measured(m) };

	ck_assert_int_eq(setup_parse(text, strlen(text), &v.setup, &v.e), 0);
	v.rc = v.kind.init(&v.kind, v.setup, 2, &v.h, &v.e);
	if (!v.rc)
		ck_assert_int_eq(v.kind.begin(v.h, 2), 0);
	return v;
}

static void add(struct made *v, uint32_t process, double content)
{
	v->kind.handle(v->h,
		       &(struct neko_event){ .process = process, .what = "e", .content = content });
}

static const struct quantity *result(struct made *v, unsigned i)
{
	struct stat_result out[STAT_QUANTITIES_MAX];

	ck_assert_uint_gt(v->kind.results(v->h, out), i);
	return out[i].quantity;
}

static void end(struct made *v)
{
	if (v->h)
		v->kind.done(v->h);
	setup_free(v->setup);
}

TEST(each_quantity_may_have_its_own_rule)
{
	struct made v = make(&with_rows, "stat.stop = n >= 2\nstat.b.stop = n >= 3\n");

	ck_assert_msg(!v.rc, "%s", v.e.text);
	ck_assert(v.kind.has_rule(v.h));
	for (int i = 0; i < 3; i++) {
		add(&v, 1, i);
		ck_assert(!v.kind.should_stop(v.h));
	}
	for (int i = 0; i < 3; i++) {
		ck_assert(!v.kind.should_stop(v.h));
		add(&v, 2, i);
	}
	ck_assert(v.kind.should_stop(v.h));
	end(&v);
	v = make(&with_rows, "stat.drop = 1\nstat.a.drop = 2\n");
	ck_assert(!v.kind.has_rule(v.h) && !v.kind.should_stop(v.h));
	for (int i = 0; i < 3; i++) {
		add(&v, 1, i);
		add(&v, 2, i);
	}
	ck_assert(quantity_count(result(&v, A)) == 1 && quantity_count(result(&v, B)) == 2);
	end(&v);
}

TEST(ends_and_outliers_of_each_run_are_left_out)
{
	struct made v = make(&with_rows, "stat.a.drop_last = 1\nstat.a.trim = 1, 2\n"
					 "stat.b.fence = 3\n");

	for (int run = 0; run < 2; run++) {
		if (run)
			v.kind.begin(v.h, 2);
		for (int i = 0; i < 10; i++) {
			add(&v, 1, i);
			add(&v, 2, i < 9 ? i : 1000);
		}
		v.kind.end(v.h, 0);
	}
	/* 9 was the last one; 0 is the least, 8 and 7 are the greatest. */
	ck_assert_uint_eq(quantity_count(result(&v, A)), 2 * 6);
	ck_assert(quantity_min(result(&v, A)) == 1 && quantity_max(result(&v, A)) == 6);
	ck_assert_uint_eq(quantity_dropped(result(&v, A)), 2 * 4);
	ck_assert_uint_eq(quantity_count(result(&v, B)), 2 * 9);
	ck_assert_double_eq(quantity_max(result(&v, B)), 8);
	end(&v);
}

TEST(a_handler_makes_its_quantities_and_ends_the_run_itself)
{
	struct made v = make(&with_own, "");
	struct stat_result out[STAT_QUANTITIES_MAX];
	struct err e = { 0 };

	ck_assert_msg(!v.rc, "%s", v.e.text);
	ck_assert(v.kind.has_rule(v.h));
	for (int i = 0; i < 5; i++) {
		ck_assert(!v.kind.should_stop(v.h));
		add(&v, 2, i);
	}
	ck_assert(v.kind.should_stop(v.h));
	v.kind.end(v.h, 0);
	ck_assert_uint_eq(v.kind.results(v.h, out), 1);
	ck_assert_str_eq(quantity_name(out[0].quantity), "own");
	ck_assert_uint_eq(out[0].series->n, 5);
	ck_assert_int_lt(v.kind.write_results(v.h, &e), 0);
	ck_assert_str_eq(e.text, "the disk is full");
	end(&v);
	v = make(&with_own, "stat.own.stop = n >= 2\n");
	add(&v, 2, 1);
	add(&v, 2, 1);
	/* The handler has set another condition since. */
	ck_assert(!v.kind.should_stop(v.h));
	end(&v);
}

static int init_none(void *state, struct neko_figures *f, struct setup *s, struct err *e)
{
	return neko_quantity(f, 3, "own", NULL, e) ? 0 : -1;
}

static int init_twice(void *state, struct neko_figures *f, struct setup *s, struct err *e)
{
	return neko_quantity(f, QUANTITY_VALUES, "a", NULL, e) ? 0 : -1;
}

static int init_path(void *state, struct neko_figures *f, struct setup *s, struct err *e)
{
	return neko_quantity(f, QUANTITY_ON_FILE, "../a", NULL, e) ? 0 : -1;
}

TEST(invalid_quantity_is_refused)
{
	static const struct {
		struct neko_measure m;
		const char *text, *says;
	} bad[] = {
		{ { .handle = handle, .init = init_none }, "", "3 is not a kind" },
		{ { .handle = handle, .init = init_twice, .rows = rows }, "", "have the name a" },
		{ { .handle = handle, .init = init_path }, "", "needs a name" },
		{ { .handle = handle, .rows = rows }, "stat.trim = 5\n", "two numbers" },
		{ { .handle = handle, .rows = rows }, "stat.b.trim = 1, x\n", "stat.b.trim" },
		{ { .handle = handle, .rows = rows }, "stat.b.stop = soon\n", "stat.b.stop" },
		{ { .handle = handle, .rows = rows }, "stat.fence = -1\n", "stat.fence" },
		{ { .handle = handle, .rows = rows }, "stat.files = /none/x\n", "stat.files" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct made v = make(&bad[i].m, bad[i].text);

		ck_assert_msg(v.rc < 0 && strstr(v.e.text, bad[i].says), "row %zu: '%s'", i,
			      v.e.text);
		end(&v);
	}
}

SUITE("measure")
