/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements that an sm refuses, its reports about running ones, and their ends. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/omis/text/status.h"
#include "common/time/timebase.h"
#include "sm/measure/measure.h"
#include "tests/suite.h"
#include "tests/unit/sm/world.h"

#define M 7
#define SITE(number)                                                                       \
	"[\"flow\",1," number ",[[\"link_in\",0,0,0,[],\"a\",\"read\",0,\"SUM\",0.0,0,1]," \
	"[\"set\",0,0,0,[0],\"SUM\",0.0,0],[\"link_out\",0,0,0,[1],\"up\"]]]"
#define HOST(number)                                                                           \
	"[\"flow\",1," number ",[[\"input\",0,0,0,[],\"time\",\"\",\"\",\"\",\"\",0,1,[],[]]," \
	"[\"link_out\",0,0,0,[0],\"a\"]]]"

static struct world w;

static void set_up(void)
{
	world_open(&w);
	world_run(&w, 100 * SEC);
	lms_start(&w, 1);
}

static void clean_up(void)
{
	world_done(&w);
}

static nsec_t now(void)
{
	return timebase_at(&w.top_time, loop_now(w.loop));
}

/* A valid one: the sm's own piece and one of host n_1. */
static struct msg_flow_load good(void)
{
	static const char site[] = SITE("7"), host[] = HOST("7");
	static const struct msg_flow_piece piece[] = {
		{ "s_5", { (const uint8_t *)site, sizeof(site) - 1 } },
		{ "n_1", { (const uint8_t *)host, sizeof(host) - 1 } },
	};

	return (struct msg_flow_load){ .measurement = M,
				       .tool = 1,
				       .identity = "omig:tool-observe//me",
				       .version = 1,
				       .start_ns = now(),
				       .every_ns = SEC,
				       .piece = piece,
				       .npiece = ARRAY_LEN(piece) };
}

static const struct msg_flow_ack *answer(void)
{
	const struct msg *m = messages_next(&w.top.flows, MSG_FLOW_ACK);

	return m ? &m->flow_ack : NULL;
}

static void send(const struct msg_flow_load *l)
{
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_FLOW_LOAD, .flow_load = *l }), 0);
	world_run(&w, 10 * MS);
}

static void confirm(void)
{
	const struct msg *got = messages_next(&w.lm[0].flows, MSG_FLOW_LOAD);

	ck_assert_ptr_nonnull(got);
	lm_send(&w.lm[0], &(struct msg){ .type = MSG_FLOW_ACK,
					 .flow_ack = { .measurement = got->flow_load.measurement,
						       .version = got->flow_load.version } });
	world_run(&w, 10 * MS);
}

static bool is_taken(const struct msg_flow_load *l)
{
	const struct msg_flow_ack *a;
	bool is_good;

	send(l);
	a = answer();
	if (!a) {
		confirm();
		a = answer();
	}
	ck_assert_ptr_nonnull(a);
	ck_assert_uint_eq(a->measurement, l->measurement);
	ck_assert_uint_eq(a->version, l->version);
	is_good = a->nentry == 0;
	top_send(&w, &(struct msg){ .type = MSG_FLOW_END, .flow_end = { l->measurement } });
	world_run(&w, 10 * MS);
	return is_good;
}

/* The words of the refusal's only entry. */
static void expect_refused(const struct msg_flow_load *l, uint32_t status, const char *words)
{
	const struct msg_flow_ack *a;
	char text[200];

	send(l);
	a = answer();
	ck_assert_ptr_nonnull(a);
	ck_assert_uint_eq(a->measurement, l->measurement);
	ck_assert_uint_eq(a->version, l->version);
	ck_assert_uint_ge(a->nentry, 1);
	ck_assert_uint_eq(a->entry[0].status, status);
	snprintf(text, sizeof(text), "%.*s", (int)a->entry[0].value.n,
		 (const char *)a->entry[0].value.p);
	ck_assert_msg(strstr(text, words) != NULL, "'%s' lacks '%s'", text, words);
	ck_assert_ptr_null(messages_next(&w.lm[0].flows, MSG_FLOW_LOAD));
}

TEST(the_time_between_reads_has_limits_on_both_sides)
{
	struct msg_flow_load l = good();

	ck_assert(is_taken(&l));
	l.every_ns = FLOW_EVERY_MIN_NS;
	ck_assert(is_taken(&l));
	l.every_ns = FLOW_EVERY_MAX_NS;
	ck_assert(is_taken(&l));
	l.every_ns = 0; /* only when it is requested */
	ck_assert(is_taken(&l));
	l.every_ns = FLOW_EVERY_MIN_NS - 1;
	expect_refused(&l, STATUS_PARAMETER_ERROR, "10000000 ns at least");
	l.every_ns = FLOW_EVERY_MAX_NS + 1;
	expect_refused(&l, STATUS_PARAMETER_ERROR, "10000000 ns at least");
	l.every_ns = -SEC;
	expect_refused(&l, STATUS_PARAMETER_ERROR, "10000000 ns at least");
}

TEST(the_start_is_a_time_of_this_era)
{
	struct msg_flow_load l = good();

	l.start_ns = TIME_MIN_WALL_NS;
	l.every_ns = 0;
	ck_assert(is_taken(&l));
	l.start_ns = TIME_MIN_WALL_NS - 1;
	expect_refused(&l, STATUS_PARAMETER_ERROR, "no sensible time");
	l.start_ns = now() + TIME_FUTURE_MAX_NS;
	ck_assert(is_taken(&l));
	l.start_ns = now() + TIME_FUTURE_MAX_NS + SEC;
	expect_refused(&l, STATUS_PARAMETER_ERROR, "no sensible time");
}

TEST(a_read_may_be_a_little_ahead_of_the_clock)
{
	struct msg_flow_load l = good();

	l.start_ns -= 10 * SEC + SEC / 2;
	l.read = 10 + 64;
	ck_assert(is_taken(&l));
	l.read++;
	expect_refused(&l, STATUS_PARAMETER_ERROR, "read 75 is far ahead");
	l.every_ns = 0; /* reads that are requested have no clock */
	ck_assert(is_taken(&l));
	l.read = INT64_MAX / 2;
	ck_assert(is_taken(&l));
	l.read++;
	expect_refused(&l, STATUS_PARAMETER_ERROR, "is far ahead");
}

TEST(a_measurement_has_a_number_and_an_owner)
{
	struct msg_flow_load l = good();

	l.identity = "";
	expect_refused(&l, STATUS_NO_PERMISSION, "without an owner");
	l = good();
	l.measurement = 0;
	expect_refused(&l, STATUS_PARAMETER_ERROR, "without a number");
}

TEST(the_graph_is_that_of_the_measurement)
{
	static const char other[] = SITE("8");
	const struct msg_flow_piece piece = { "s_5",
					      { (const uint8_t *)other, sizeof(other) - 1 } };
	struct msg_flow_load l = good();

	l.piece = &piece;
	l.npiece = 1;
	expect_refused(&l, STATUS_PARAMETER_ERROR, "the graph is one of measurement 8");
}

TEST(a_piece_is_for_this_site_or_a_node)
{
	struct msg_flow_piece piece = { "s_9",
					{ (const uint8_t *)HOST("7"), sizeof(HOST("7")) - 1 } };
	struct msg_flow_load l = good();
	static const char *const names[] = { "s_9", "p_1_000001", "d_7", "nonsense" };

	l.piece = &piece;
	l.npiece = 1;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct msg_flow_ack *a;

		piece.object = names[i];
		l.version = 10 + i;
		send(&l);
		a = answer();
		ck_assert_ptr_nonnull(a);
		ck_assert_uint_eq(a->nentry, 1);
		ck_assert_str_eq(a->entry[0].objects, names[i]);
		ck_assert_uint_ne(a->entry[0].status, STATUS_OK);
	}
}

TEST(a_measurement_beyond_the_limit_takes_no_place)
{
	static const char host[] = "[]";
	const struct msg_flow_piece piece = { "n_9", { (const uint8_t *)host, 2 } };
	struct msg_flow_load l = good();

	l.piece = &piece;
	l.npiece = 1;
	for (uint32_t i = 1; i <= SITE_MEASURES_MAX; i++) {
		l.measurement = i;
		send(&l);
		messages_done(&w.top.flows);
	}
	l.measurement = SITE_MEASURES_MAX;
	l.version = 2;
	send(&l); /* a version of one that runs */
	ck_assert_str_eq(answer()->entry[0].objects, "n_9");
	messages_done(&w.top.flows);
	l.measurement = SITE_MEASURES_MAX + 1;
	expect_refused(&l, STATUS_PARAMETER_ERROR, "1024 measurements run in this sm");
	top_send(&w, &(struct msg){ .type = MSG_FLOW_END, .flow_end = { 1 } });
	send(&l);
	ck_assert_str_eq(answer()->entry[0].objects, "n_9");
}

TEST(a_look_shows_the_nodes_and_the_ways_of_a_measurement)
{
	struct msg_flow_load l = good();
	const struct reply *r;
	const char *text;

	send(&l);
	confirm();
	world_run(&w, 2 * SEC);
	r = top_ask(&w, ":omig_dfg_look([n_1],7)", SEC);
	ck_assert_uint_eq(entries_of(r, 1), 2);
	text = entry_of(r, 1, 0)->value;
	if (strcmp(entry_of(r, 1, 0)->objects, "s_5") != 0)
		text = entry_of(r, 1, 1)->value;
	ck_assert_msg(strncmp(text, "[0,\"link_in\",0,", 15) == 0, "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "],[1,\"set\","));
	ck_assert_ptr_nonnull(strstr(text, "],[2,\"link_out\","));
	ck_assert_ptr_nonnull(strstr(text, "],[\"up\","));
	ck_assert_ptr_nonnull(strstr(text, "],[\"n_1\",0,0]"));
	/* An sm without a piece of it reports nothing. */
	r = top_ask(&w, ":omig_dfg_look([n_1],8)", SEC);
	ck_assert_uint_eq(entries_of(r, 1), 1);
	r = top_ask(&w, ":omig_dfg_look([n_1],0)", SEC);
	ck_assert_uint_eq(entries_of(r, 1), 1);
}

static unsigned ends_at_host(void)
{
	unsigned n = 0;

	while (messages_next(&w.lm[0].flows, MSG_FLOW_END))
		n++;
	return n;
}

TEST(a_measurement_ends_below_with_its_tool_and_with_its_number)
{
	static const char host[] = HOST("8");
	const struct msg_flow_piece piece = { "n_1", { (const uint8_t *)host, sizeof(host) - 1 } };
	struct msg_flow_load l = good();

	send(&l);
	confirm();
	l.measurement = M + 1;
	l.tool = 2;
	l.npiece = 1;
	l.piece = &piece;
	send(&l);
	confirm();
	ck_assert_uint_eq(ends_at_host(), 0);
	top_send(&w, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = 2 } });
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(ends_at_host(), 1);
	ck_assert_uint_eq(w.lm[0].flows.m[w.lm[0].flows.n - 1]->flow_end.measurement, M + 1);
	top_send(&w, &(struct msg){ .type = MSG_FLOW_END, .flow_end = { M } });
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(ends_at_host(), 1);
	/* One that we do not know may run on a host. */
	top_send(&w, &(struct msg){ .type = MSG_FLOW_END, .flow_end = { 99 } });
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(ends_at_host(), 1);
	ck_assert_uint_eq(w.lm[0].flows.m[w.lm[0].flows.n - 1]->flow_end.measurement, 99);
}

TEST(another_start_step_or_owner_is_another_measurement)
{
	struct msg_flow_load l = good();

	send(&l);
	confirm();
	l.version = 2;
	send(&l);
	ck_assert_uint_eq(ends_at_host(), 0);
	l.every_ns += SEC;
	send(&l);
	ck_assert_uint_eq(ends_at_host(), 1);
	l.start_ns -= 1;
	send(&l);
	ck_assert_uint_eq(ends_at_host(), 1);
	l.identity = "omig:tool-observe//other";
	send(&l);
	ck_assert_uint_eq(ends_at_host(), 1);
}

SUITE_WITH("sm measurement limits", set_up, clean_up)
