/* SPDX-License-Identifier: Apache-2.0 */
/* Links that still have to send the batch of a read. */
#include "common/flow/batch/rest.h"
#include "common/flow/graph/graph_limits.h"
#include "tests/suite.h"
#include "tests/unit/common/flow/graph/made.h"
#include "tree/stage.h"

#define NUMBER 7
#define SECOND NSEC_PER_SEC

static double value; /* of the last read */
static uint32_t of, asked;
static struct flow *engine;
static struct stage *stage;
static int user;

static void on_result(void *arg, const struct flow_result *r)
{
	value = r->t.value;
	of = r->t.k;
	asked = r->t.n;
}

/* A host's graph: links of those names. */
static struct flow_graph *host_graph(const char *a, const char *b)
{
	struct flow_graph *g = flow_graph_new(NUMBER);
	uint32_t in = made_metric(g, 1, "Count");

	made_link_out(g, a, in);
	if (b)
		made_link_out(g, b, in);
	return g;
}

/* The sum of three links. */
static struct flow_graph *sum_graph(void)
{
	static const char *const name[] = { "a", "b", "c" };
	struct flow_graph *g = flow_graph_new(NUMBER);
	uint32_t in[3];

	for (size_t i = 0; i < 3; i++)
		in[i] = made_link_in(g, (struct flow_link){ .name = name[i],
							    .domain = FLOW_READ,
							    .fold = { .agg = AGG_SUM,
								      .since = FLOW_SINCE_START },
							    .behind = 1 });
	made_result(g, 0, made_set(g, AGG_SUM, false, in, 3));
	return g;
}

static void set(const char *name, const char *a, const char *b)
{
	struct flow_graph *g = host_graph(a, b);

	ck_assert_int_eq(stage_set_sender(stage, name, g, &user), 0);
	flow_graph_free(g);
}

static void load(void)
{
	const struct flow_limits limits = { 1, FLOW_NODES_MAX, FLOW_STATE_MAX_BYTES };
	const struct flow_out out = { on_result, NULL, NULL };
	struct flow_graph *g = sum_graph();
	struct err e = { 0 };

	engine = flow_new(&limits, &out);
	ck_assert_msg(!stage_load(stage, engine, g, SECOND, &e), "%s", e.text);
	flow_graph_free(g);
}

/* n_1 at branch 1 sends a and b, n_2 at branch 2 sends c. */
static void set_up(void)
{
	value = 0;
	of = asked = 0;
	engine = NULL;
	stage = stage_new(NUMBER, 0);
	ck_assert_ptr_nonnull(stage);
	set("n_1", "a", "b");
	set("n_2", "c", NULL);
	stage_place_sender(stage, "n_1", 1);
	stage_place_sender(stage, "n_2", 2);
}

static void clean_up(void)
{
	stage_free(stage);
	flow_free(engine);
}

static int give(uint32_t branch, const char *link, int64_t read, double v)
{
	const struct flow_token t = flow_token_make(read, v, 0, SECOND + read);
	const struct flow_batch b = { .measurement = NUMBER,
				      .link = link,
				      .read = read,
				      .domain = FLOW_READ,
				      .n = 1,
				      .t = &t };

	return stage_take(stage, branch, &b, NULL);
}

static void read_it(int64_t read)
{
	ck_assert_int_eq(stage_read(stage, read, SECOND + read * SECOND, NULL), 0);
}

TEST(a_read_is_complete_with_its_last_link)
{
	load();
	ck_assert_int_eq(stage_complete(stage), 0);
	ck_assert_int_eq(give(1, "a", 1, 1), 0);
	ck_assert_int_eq(give(2, "c", 1, 4), 0);
	ck_assert_int_eq(stage_complete(stage), 0);
	ck_assert_int_eq(give(1, "b", 1, 2), 0);
	ck_assert_int_eq(stage_complete(stage), 1);
	read_it(1);
	ck_assert_double_eq(value, 7);
	ck_assert_uint_eq(of, 3);
	ck_assert_int_eq(stage_complete(stage), 1);
}

TEST(a_link_belongs_to_the_branch_of_its_sender)
{
	load();
	ck_assert_int_eq(give(2, "a", 1, 1), -ERR_NOTFOUND);
	ck_assert_int_eq(give(1, "x", 1, 1), -ERR_NOTFOUND);
	ck_assert_int_eq(give(1, "a", 1 + FLOW_READS_OPEN, 1), -ERR_INVALID);
	stage_place_sender(stage, "n_1", 3);
	ck_assert_int_eq(give(1, "a", 1, 1), -ERR_NOTFOUND);
	ck_assert_int_eq(give(3, "a", 1, 1), 0);
	ck_assert_ptr_eq(stage_user(stage, "a"), &user);
	ck_assert_ptr_null(stage_user(stage, "x"));
}

TEST(a_silent_link_is_not_waited_for_until_it_sends_again)
{
	load();
	for (int64_t read = 1; read <= STAGE_MISSED_MAX; read++) {
		ck_assert_int_lt(stage_complete(stage), read);
		give(1, "a", read, 1);
		give(1, "b", read, 1);
		ck_assert_int_lt(stage_complete(stage), read);
		read_it(read);
	}
	give(1, "a", STAGE_MISSED_MAX + 1, 1);
	give(1, "b", STAGE_MISSED_MAX + 1, 1);
	ck_assert_int_eq(stage_complete(stage), STAGE_MISSED_MAX + 1);
	read_it(STAGE_MISSED_MAX + 1);
	ck_assert_double_eq(value, 2);
	ck_assert_uint_eq(asked, 3);
	give(2, "c", STAGE_MISSED_MAX + 1, 1);
	ck_assert_int_eq(stage_complete(stage), STAGE_MISSED_MAX + 1);
	give(1, "a", STAGE_MISSED_MAX + 2, 1);
	give(1, "b", STAGE_MISSED_MAX + 2, 1);
	ck_assert_int_lt(stage_complete(stage), STAGE_MISSED_MAX + 2);
}

TEST(a_sender_that_is_nowhere_is_not_waited_for)
{
	load();
	stage_place_sender(stage, "n_2", STAGE_NOWHERE);
	give(1, "a", 1, 1);
	give(1, "b", 1, 1);
	ck_assert_int_eq(stage_complete(stage), 1);
	stage_place_sender(stage, "n_1", STAGE_NOWHERE);
	ck_assert_int_eq(stage_complete(stage), INT64_MAX);
	stage_place_sender(stage, "n_1", STAGE_HERE);
	ck_assert_int_eq(stage_complete(stage), INT64_MAX);
	ck_assert_int_eq(give(STAGE_HERE, "a", 2, 1), 0);
}

TEST(links_that_stay_in_a_new_graph_continue)
{
	load();
	give(1, "a", 1, 1);
	give(2, "c", 1, 1);
	set("n_1", "a", NULL); /* without b */
	ck_assert_int_eq(stage_complete(stage), 1);
	ck_assert_int_eq(give(1, "b", 1, 1), -ERR_NOTFOUND);
	set("n_1", "b", "a");
	ck_assert_int_eq(stage_complete(stage), 1);
	stage_begin(stage);
	set("n_1", "b", "a");
	stage_commit(stage);
	ck_assert_ptr_null(stage_user(stage, "c"));
	read_it(1);
	ck_assert_uint_eq(of, 2);
	ck_assert_uint_eq(asked, 3);
}

static struct flow_rest rest; /* borrows the names of `many` */
static struct flow_graph *many;

static void gather(const char *link, int64_t read)
{
	const struct flow_token t = flow_token_make(read, 0, 0, SECOND + read);
	const struct flow_batch b = { .measurement = NUMBER,
				      .link = link,
				      .read = read,
				      .domain = FLOW_READ,
				      .n = 1,
				      .t = &t };

	ck_assert(flow_rest_take(&rest, &b));
}

static void put(void *arg, const struct flow_batch *b)
{
	*(int *)arg = stage_take(stage, 1, b, NULL);
}

/* As many links as one batch represents. */
static void many_links(bool but_one)
{
	uint32_t in;
	char name[16];

	many = flow_graph_new(NUMBER);
	in = made_metric(many, 1, "Count");
	flow_rest_clear(&rest);
	for (int i = 0; i < FLOW_REST_MIN + 1; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		made_link_out(many, name, in);
	}
	ck_assert_int_eq(stage_set_sender(stage, "n_1", many, &user), 0);
	for (size_t i = 0; i < many->nnode; i++)
		if (many->node[i].kind == FLOW_LINK_OUT && !(but_one && i == many->nnode - 1))
			gather(many->node[i].link.name, 1);
}

TEST(one_batch_reports_all_other_links_of_its_sender)
{
	int rc = -1;

	many_links(false);
	ck_assert_int_eq(give(2, "c", 1, 1), 0);
	flow_rest_give(&rest, put, &rc);
	ck_assert_int_eq(rc, 0);
	ck_assert_int_eq(stage_complete(stage), 1);
	flow_graph_free(many);
}

TEST(a_rest_of_other_links_is_refused_and_not_waited_for)
{
	int rc = 0;

	load();
	many_links(true);
	stage_place_sender(stage, "n_2", STAGE_NOWHERE);
	flow_rest_give(&rest, put, &rc);
	ck_assert_int_eq(rc, -ERR_INVALID);
	ck_assert_int_eq(stage_complete(stage), 1);
	flow_graph_free(many);
}

TEST(without_a_graph_batches_are_only_counted)
{
	ck_assert(!stage_is_loaded(stage));
	give(1, "a", 100, 1);
	give(1, "b", 100, 1);
	give(2, "c", 101, 1);
	ck_assert_int_eq(stage_complete(stage), 100);
	stage_pass(stage, 100);
	ck_assert_int_eq(stage_complete(stage), 100);
}

static void add_strays(void *arg, const struct stage_link_counts *l)
{
	*(uint64_t *)arg += l->strays;
	ck_assert_str_eq(l->from, l->name[0] == 'c' ? "n_2" : "n_1");
	ck_assert(l->is_awaited);
}

TEST(doubles_and_late_ones_are_strays)
{
	uint64_t strays = 0;

	load();
	give(1, "a", 1, 1);
	give(1, "a", 1, 1);
	give(2, "c", 90, 1);
	stage_each_link(stage, add_strays, &strays);
	ck_assert_uint_eq(strays, 2);
}

SUITE_WITH("tree stage", set_up, clean_up)
