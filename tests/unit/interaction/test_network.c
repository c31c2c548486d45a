/* SPDX-License-Identifier: Apache-2.0 */
/* Networks written by hand: the worked example, and every kind of wrong input. */
#include "interaction/netmeter.h"
#include "interaction/netretime.h"
#include "interaction/netspent.h"
#include "tests/suite.h"
#include "tests/unit/interaction/made.h"

static struct netuse *u;
static struct network w;
static struct err e;

static void set_up(void)
{
	u = netuse_new();
	ck_assert_ptr_nonnull(u);
	network_init(&w, u);
	e = (struct err){ 0 };
}

static void clean_up(void)
{
	network_done(&w);
	netuse_free(u);
}

static void add(const struct made_event *ev, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(!made_add(&w, &ev[i], (uint32_t)i + 1, &e), "%s", e.text);
}

static const char *path_text(const struct netpath *p)
{
	static char text[256];
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		char name[NETWORK_NAME_BYTES];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? " " : "",
				      network_name(&w, p->step[i].v, name));
	}
	return text;
}

static void build_fig2c(void)
{
	made_fig2c_objects(u);
	add(made_fig2c, MADE_FIG2C);
	ck_assert_msg(!network_build(&w, &e), "%s", e.text);
}

TEST(the_worked_example_has_its_path_and_response_time)
{
	struct netpath p;

	build_fig2c();
	ck_assert_int_eq(netpath_response(&w), 90);
	ck_assert_uint_eq(w.vf, network_find(&w, "vT"));
	ck_assert(!netpath_find(&w, &p, &e));
	ck_assert_str_eq(path_text(&p), "v0 vR v3 vT");
	ck_assert(p.is_unique);
	ck_assert_int_eq(p.length, 90);
	ck_assert_uint_eq(w.ntask, 3);
	ck_assert_int_eq(netpath_slack(&w, network_find(&w, "v3")), 20);
	netpath_done(&p);
}

TEST(the_time_of_the_worked_example_is_in_the_inherited_object)
{
	struct buf text = BUF_INIT(256);
	struct netpath p;
	struct netspent s;

	build_fig2c();
	ck_assert(!netpath_find(&w, &p, &e));
	ck_assert(!netspent_find(&w, &p, &s, &e));
	ck_assert_uint_eq(s.nuse, 1);
	netuse_put(u, s.use[0].of, &text);
	ck_assert_str_eq(buf_str(&text), "cpu+req");
	ck_assert_int_eq(s.use[0].ns, 90);
	ck_assert_uint_eq(s.ntask, 2);
	ck_assert_int_eq(s.task[0].ns, 10);
	ck_assert_int_eq(s.task[1].ns, 80);
	ck_assert(s.is_member);
	netspent_done(&s);
	netpath_done(&p);
	buf_done(&text);
}

TEST(a_shorter_thread_makes_its_wait_vanish)
{
	/* v3 waits for the message now: vR to v3 takes 5 in place of 40. */
	struct netretime_change c = { .length = 5 };
	struct netretime r;

	build_fig2c();
	c.head = network_find(&w, "v3");
	ck_assert(!netretime(&w, &c, 1, &r, &e));
	ck_assert_int_eq(r.response, 70);
	ck_assert_str_eq(path_text(&r.path), "v0 vR v1 v2 v3 vT");
	ck_assert_uint_eq(r.waits[c.head], NETRETIME_OWN);
	netretime_done(&r);
	c.length = -1;
	ck_assert_int_eq(netretime(&w, &c, 1, &r, &e), -ERR_INVALID);
	c.length = INT64_MAX;
	ck_assert_int_eq(netretime(&w, &c, 1, &r, &e), -ERR_LIMIT);
}

/* Figure 3 of the paper: times are the numbers of the vertices, times ten. */
TEST(figure_3_has_the_path_of_the_paper)
{
	static const struct {
		int v, task, other;
		enum network_kind kind;
		bool blocks;
	} row[] = {
		{ 1, 1, 0, NETWORK_SOURCE, false },  { 2, 1, 2, NETWORK_FORK, false },
		{ 3, 1, 0, NETWORK_SINK, false },    { 4, 2, 0, NETWORK_SIMPLE, false },
		{ 5, 2, 4, NETWORK_FORK, false },    { 6, 2, 3, NETWORK_FORK, false },
		{ 7, 2, 0, NETWORK_SINK, false },    { 8, 3, 0, NETWORK_SIMPLE, false },
		{ 9, 3, 0, NETWORK_SINK, false },    { 10, 4, 0, NETWORK_SIMPLE, false },
		{ 11, 4, 5, NETWORK_FORK, false },   { 12, 4, 0, NETWORK_SIMPLE, true },
		{ 16, 5, 6, NETWORK_FORK, false },   { 17, 5, 0, NETWORK_SIMPLE, false },
		{ 13, 4, 5, NETWORK_JOIN, false },   { 14, 4, 8, NETWORK_FORK, false },
		{ 15, 4, 0, NETWORK_SINK, false },   { 18, 6, 0, NETWORK_SIMPLE, false },
		{ 19, 6, 7, NETWORK_FORK, false },   { 20, 6, 0, NETWORK_SINK, false },
		{ 21, 7, 0, NETWORK_SIMPLE, false }, { 22, 7, 0, NETWORK_SINK, false },
		{ 23, 8, 0, NETWORK_SIMPLE, false }, { 24, 8, 9, NETWORK_FORK, false },
		{ 25, 8, 0, NETWORK_SINK, false },   { 26, 9, 0, NETWORK_SIMPLE, false },
		{ 27, 9, 0, NETWORK_SINK, false },
	};
	struct netpath p;

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		char name[8];
		struct made_event ev = { .name = name,
					 .t = (int64_t)i * 10,
					 .kind = row[i].kind,
					 .task = (uint64_t)row[i].task,
					 .other = (uint64_t)row[i].other,
					 .blocks = row[i].blocks };

		snprintf(name, sizeof(name), "%d", row[i].v);
		add(&ev, 1);
	}
	ck_assert_msg(!network_build(&w, &e), "%s", e.text);
	ck_assert(!netpath_find(&w, &p, &e));
	ck_assert_str_eq(path_text(&p), "1 2 4 5 10 11 16 17 13 14 23 24 26 27");
	ck_assert_uint_eq(w.ntask, 9);
	ck_assert_uint_eq(w.count[NETWORK_FORK], 8);
	ck_assert_uint_eq(w.count[NETWORK_SINK], 8);
	netpath_done(&p);
}

TEST(a_join_of_two_waits_takes_the_later_one)
{
	static const struct made_event ev[] = {
		{ "a", 0, NETWORK_SOURCE, 1, 0, false, false, NULL },
		{ "b", 1, NETWORK_FORK, 1, 2, false, false, NULL },
		{ "c", 2, NETWORK_SIMPLE, 1, 0, false, true, NULL },
		{ "d", 5, NETWORK_SIMPLE, 2, 0, false, true, NULL },
		{ "e", 9, NETWORK_JOIN, 1, 2, false, false, NULL },
		{ "f", 9, NETWORK_SINK, 1, 0, false, false, NULL },
	};
	struct netpath p;

	add(ev, ARRAY_LEN(ev));
	ck_assert(!network_build(&w, &e));
	ck_assert_uint_eq(w.anomaly[NETWORK_BOTH_BLOCKED], 1);
	ck_assert(!netpath_find(&w, &p, &e));
	ck_assert_str_eq(path_text(&p), "a b d e f");
	netpath_done(&p);
}

TEST(a_wait_that_ends_without_a_join_is_ordinary_time)
{
	static const struct made_event ev[] = {
		{ "a", 0, NETWORK_SOURCE, 1, 0, false, true, NULL },
		{ "b", 1, NETWORK_SIMPLE, 1, 0, false, false, NULL },
		{ "c", 2, NETWORK_SINK, 1, 0, false, false, NULL },
	};

	add(ev, ARRAY_LEN(ev));
	ck_assert(!network_build(&w, &e));
	ck_assert_uint_eq(w.anomaly[NETWORK_WAIT_WITHOUT_JOIN], 1);
}

/* --- wrong input: each is refused with its place */

static const struct {
	struct made_event ev[6];
	size_t n;
	int rc;
	unsigned place;
	const char *words;
} wrong[] = {
	{ { { "a", 0, NETWORK_SOURCE, 1, 0, false, false, NULL },
	    { "a", 1, NETWORK_SINK, 1, 0, false, false, NULL } },
	  2,
	  -ERR_EXISTS,
	  2,
	  "'a' is there twice" },
	{ { { "a", 0, NETWORK_SOURCE, 1, 0, false, false, NULL },
	    { "b", 1, NETWORK_SOURCE, 2, 0, false, false, NULL } },
	  2,
	  -ERR_EXISTS,
	  2,
	  "second source" },
	{ { { "a", 0, NETWORK_SOURCE, 1, 0, false, false, NULL },
	    { "b", 1, NETWORK_FORK, 1, 1, false, false, NULL } },
	  2,
	  -ERR_INVALID,
	  2,
	  "creates itself" },
	{ { { "a", 0, NETWORK_SOURCE, 1, 0, false, false, NULL },
	    { "b", 1, NETWORK_FORK, 1, 2, false, false, NULL },
	    { "c", 2, NETWORK_FORK, 1, 2, false, false, NULL } },
	  3,
	  -ERR_EXISTS,
	  3,
	  "created twice: at b" },
	{ { { "a", 0, NETWORK_SOURCE, 1, 0, false, false, NULL },
	    { "b", 1, NETWORK_SINK, 1, 0, false, false, NULL },
	    { "c", 2, NETWORK_SINK, 1, 0, false, false, NULL } },
	  3,
	  -ERR_EXISTS,
	  3,
	  "ends twice: at b" },
	{ { { "a", 0, NETWORK_SOURCE, 1, 0, false, false, NULL },
	    { "b", 1, NETWORK_SINK, 1, 0, false, false, NULL },
	    { "c", 2, NETWORK_SIMPLE, 1, 0, false, false, NULL } },
	  3,
	  -ERR_INVALID,
	  3,
	  "after the sink" },
	{ { { "a", 5, NETWORK_SOURCE, 1, 0, false, false, NULL },
	    { "b", 1, NETWORK_SIMPLE, 1, 0, false, false, NULL },
	    { "c", 9, NETWORK_SINK, 1, 0, false, false, NULL } },
	  3,
	  -ERR_INVALID,
	  2,
	  "before the source" },
	{ { { "a", 0, NETWORK_SOURCE, 1, 0, false, false, NULL },
	    { "b", 5, NETWORK_FORK, 1, 2, false, false, NULL },
	    { "c", 6, NETWORK_SINK, 1, 0, false, false, NULL },
	    { "d", 4, NETWORK_SINK, 2, 0, false, false, NULL } },
	  4,
	  -ERR_INVALID,
	  4,
	  "before that of 'b'" },
	/* sub-task 2 is created by 3, which is created by 2: a cycle at one time */
	{ { { "a", 0, NETWORK_SOURCE, 1, 0, false, false, NULL },
	    { "b", 1, NETWORK_SINK, 1, 0, false, false, NULL },
	    { "c", 1, NETWORK_FORK, 2, 3, false, false, NULL },
	    { "d", 1, NETWORK_FORK, 3, 2, false, false, NULL },
	    { "e", 1, NETWORK_SINK, 2, 0, false, false, NULL },
	    { "f", 1, NETWORK_SINK, 3, 0, false, false, NULL } },
	  6,
	  -ERR_INVALID,
	  3,
	  "cycle" },
	{ { { "a", INT64_MIN, NETWORK_SOURCE, 1, 0, false, false, NULL },
	    { "b", INT64_MAX, NETWORK_SINK, 1, 0, false, false, NULL } },
	  2,
	  -ERR_LIMIT,
	  0,
	  "2^63" },
	{ { { "a", 0, NETWORK_SOURCE, 1, 0, false, false, NULL },
	    { "b", 1, NETWORK_FORK, 1, 2, false, false, NULL },
	    { "c", 2, NETWORK_SINK, 1, 0, false, false, NULL } },
	  3,
	  -ERR_NOTFOUND,
	  0,
	  "the end of sub-task 2 is missing" },
	{ { { "a", 0, NETWORK_SIMPLE, 7, 0, false, false, NULL },
	    { "c", 2, NETWORK_SINK, 7, 0, false, false, NULL } },
	  2,
	  -ERR_NOTFOUND,
	  0,
	  "the source, and 1 more is missing" },
};

TEST_EACH(wrong_input_is_refused_with_its_place, i, (int)ARRAY_LEN(wrong))
{
	int rc = 0;

	for (size_t k = 0; k < wrong[i].n && !rc; k++)
		rc = made_add(&w, &wrong[i].ev[k], (uint32_t)k + 1, &e);
	rc = rc ? rc : network_build(&w, &e);
	ck_assert_msg(rc == wrong[i].rc, "%d %s", rc, e.text);
	ck_assert_msg(strstr(e.text, wrong[i].words), "%s", e.text);
	ck_assert_uint_eq(e.line, wrong[i].place);
}

TEST(times_near_the_limits_are_exact)
{
	static const struct made_event ev[] = {
		{ "a", INT64_MIN, NETWORK_SOURCE, 1, 0, false, false, "+x" },
		{ "b", -1, NETWORK_SINK, 1, 0, false, false, NULL },
	};
	struct netmeter m = { 0 };

	add(ev, ARRAY_LEN(ev));
	ck_assert_msg(!network_build(&w, &e), "%s", e.text);
	ck_assert_int_eq(netpath_response(&w), INT64_MAX);
	ck_assert(!netmeter_run(&m, &w, &e));
	ck_assert_int_eq(netmeter_run(&m, &w, &e), -ERR_LIMIT);
	ck_assert_int_eq(m.sum_response, INT64_MAX);
	ck_assert_uint_eq(m.interactions, 1);
}

TEST(a_million_sub_tasks_make_one_network)
{
	struct netpath p;
	int64_t t = 0;

	add(&(struct made_event){ .name = "v0", .kind = NETWORK_SOURCE, .task = 1 }, 1);
	for (uint64_t i = 2; i <= 1000000; i++)
		add(&(struct made_event){ .t = ++t, .kind = NETWORK_FORK, .task = 1, .other = i },
		    1);
	for (uint64_t i = 1; i <= 1000000; i++)
		add(&(struct made_event){ .t = ++t, .kind = NETWORK_SINK, .task = i }, 1);
	ck_assert_msg(!network_build(&w, &e), "%s", e.text);
	ck_assert(!netpath_find(&w, &p, &e));
	ck_assert_int_eq(p.length, 1999999);
	netpath_done(&p);
}

SUITE_WITH("interaction", set_up, clean_up)
