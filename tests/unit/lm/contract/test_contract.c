/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional requests for arcs: vertices of two processes, contracted and fetched. */
#include "common/base/limits.h"
#include "common/omis/text/status.h"
#include "common/omis/text/value.h"
#include "eventlog/evtype.h"
#include "interaction/online/netonline.h"
#include "interaction/online/netspec.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#define BUFFER "trace_buffer_append(trace_b_1,$time,0,[$block])"
#define DB "[],[\"db=db\"],[]"

static struct netonline *top;

static unsigned announce(struct fake_segment *s, const char *name, const char *second,
			 enum evkind kind)
{
	const struct evfield field[] = { { "st", EV_INT64 }, { second, kind } };
	const struct evtype t = {
		.name = name, .level = EV_INFO, .nfield = second ? 2 : 1, .field = field
	};

	return fake_segment_announce_type(s, &t);
}

static void write_text(struct fake_segment *s, unsigned number, int64_t st, const char *text)
{
	uint8_t v[64] = { 0 };
	uint16_t n = (uint16_t)strlen(text);

	memcpy(v, &st, 8);
	memcpy(v + 8, &n, 2);
	memcpy(v + 10, text, n);
	fake_segment_event(s, number, v, 10 + n);
}

static void write_ids(struct fake_segment *s, unsigned number, int64_t st, int64_t second)
{
	int64_t v[2] = { st, second };

	fake_segment_event(s, number, (const uint8_t *)v, second ? 16 : 8);
}

/* The ring of the process had no room for so many. */
static void lose(struct fake_segment *s, unsigned number, uint64_t n)
{
	struct seg_event *e = (struct seg_event *)(void *)(s->base + s->h->event_offset);

	e[number].lost += n;
}

static bool is_on(const struct fake_segment *s, unsigned number)
{
	const uint32_t *word = (const uint32_t *)(const void *)(s->base + s->h->event_word_offset);

	return word[number] & EVENT_RECORD;
}

static void take_entry(const struct msg_entry *entry)
{
	struct omis_values *v = NULL;
	struct err e = { 0 };

	ck_assert_uint_eq(entry->status, STATUS_OK);
	ck_assert(!omis_parse_values((const char *)entry->value.p, entry->value.n, &v, NULL));
	for (size_t k = 4; k < v->n; k++) {
		size_t n = 0;
		const char *p = omis_value_text(&v->v[k].list.v[2].list.v[0], &n);

		ck_assert_msg(!netonline_take(top, bytes_at(p, n), &e), "%s", e.text);
	}
	omis_values_free(v);
}

static struct netonline_report fetch(void)
{
	const struct msg_reply *m = world_ask(&w, OBSERVER, ":trace_buffer_read([trace_b_1])");

	for (size_t i = 0; i < m->nentry; i++)
		take_entry(&m->entry[i]);
	return netonline_report(top);
}

static void begin(void)
{
	const char *db = "db=db";
	struct netspec spec = { .states = { &db, 1 } };
	struct netonline_plan plan = { .most = 1000, .grace_ns = 0, .timeout_ns = INT64_MAX / 2 };
	struct netuse *use;
	struct err e;

	open_ranks();
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],trace_b_1)", rank0));
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],trace_b_1)", rank1));
	ck_assert(!netspec_declare(&spec, &use, &e));
	ck_assert(!netonline_new(&use, &plan, &top, &e));
}

static void end(void)
{
	netonline_free(top);
	close_ranks();
}

/* The status of the request with these parameters, for both processes. */
static unsigned arm_status(const char *parameters)
{
	char text[256];
	const struct msg_arm_ack *a;

	snprintf(text, sizeof(text), "thread_writes_arcs([%s,%s],%s): " BUFFER, rank0, rank1,
		 parameters);
	a = arm(text, rank0, 1, false);
	return a->nentry ? a->entry[0].status : STATUS_OK;
}

/* A request of the first process, a message to the second one, which uses db and ends. */
static void request(void)
{
	unsigned source = announce(&seg, "interaction.source", "i", EV_STRING),
		 fork = announce(&seg, "interaction.fork", "new", EV_INT64),
		 own_sink = announce(&seg, "interaction.sink", NULL, EV_INT64),
		 simple = announce(&other, "interaction.simple", "use", EV_STRING),
		 sink = announce(&other, "interaction.sink", NULL, EV_INT64);

	world_run(&w, 50 * MS);
	write_text(&seg, source, 1, "hello");
	write_ids(&seg, fork, 1, 2);
	write_ids(&seg, own_sink, 1, 0);
	write_text(&other, simple, 2, "+db");
	write_text(&other, simple, 2, "+disk -db");
	write_text(&other, simple, 2, "");
	write_ids(&other, sink, 2, 0);
}

TEST(vertices_of_two_processes_become_few_arcs)
{
	struct netonline_report r;
	struct err e;

	ck_assert_uint_eq(arm_status(DB), STATUS_OK);
	request();
	world_run(&w, 900 * MS);
	ck_assert_uint_eq(fetch().arcs, 0);
	world_run(&w, 600 * MS);
	r = fetch();
	/* source, fork, sink of the message; the first sink is not the last one */
	ck_assert_uint_le(r.arcs, 5);
	ck_assert_uint_ge(r.arcs, 3);
	ck_assert_uint_eq(r.events_lost + r.arcs_lost + r.batches_bad, 0);
	ck_assert(!netonline_end(top, &e));
	ck_assert_uint_eq(netonline_total(top)->response.n, 1);
	ck_assert_uint_eq(netonline_report(top).wrong, 0);
	ck_assert_str_eq(netonline_total(top)->slowest, "hello");
	ck_assert_ptr_null(next_triggered());
}

TEST(plain_ones_are_all_vertices)
{
	struct err e;

	ck_assert_uint_eq(arm_status(DB ",1"), STATUS_OK);
	request();
	world_run(&w, 400 * MS);
	ck_assert_uint_eq(fetch().arcs, 7);
	ck_assert(!netonline_end(top, &e));
	ck_assert_uint_eq(netonline_total(top)->response.n, 1);
}

TEST(the_rest_comes_at_the_end_of_the_request)
{
	ck_assert_uint_eq(arm_status(DB), STATUS_OK);
	request();
	world_run(&w, 100 * MS);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_DISARM, .disarm = { .csr = "c_5" } });
	world_run(&w, 50 * MS);
	ck_assert_uint_ge(fetch().arcs, 3);
}

TEST(lost_and_foreign_events_are_counted)
{
	unsigned simple, wrong;

	ck_assert_uint_eq(arm_status(DB), STATUS_OK);
	simple = announce(&seg, "interaction.simple", "use", EV_STRING);
	wrong = announce(&seg, "interaction.sink", "x", EV_INT64);
	announce(&seg, "io.read", NULL, EV_INT64);
	world_run(&w, 50 * MS);
	write_text(&seg, simple, 1, "");
	fake_segment_event(&seg, wrong, (const uint8_t *)"abc", 3);
	world_run(&w, 1500 * MS);
	ck_assert_uint_eq(fetch().events_lost, 1);
	ck_assert_uint_eq(fetch().arcs, 1);
}

TEST(losses_of_each_process_go_up_without_an_arc)
{
	unsigned first, second;

	ck_assert_uint_eq(arm_status(DB), STATUS_OK);
	first = announce(&seg, "interaction.simple", "use", EV_STRING);
	second = announce(&other, "interaction.simple", "use", EV_STRING);
	world_run(&w, 50 * MS);
	lose(&seg, first, 2);
	lose(&other, second, 3);
	world_run(&w, 500 * MS);
	ck_assert_uint_eq(fetch().events_lost, 5);
	ck_assert_uint_eq(fetch().arcs + fetch().arcs_lost, 0);
}

TEST(losses_before_the_end_of_the_request_go_up)
{
	unsigned simple;

	ck_assert_uint_eq(arm_status(DB), STATUS_OK);
	simple = announce(&other, "interaction.simple", "use", EV_STRING);
	world_run(&w, 300 * MS);
	lose(&other, simple, 4);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_DISARM, .disarm = { .csr = "c_5" } });
	world_run(&w, 50 * MS);
	ck_assert_uint_eq(fetch().events_lost, 4);
}

TEST(a_vertex_with_a_wrong_field_counts_as_lost)
{
	unsigned simple;

	ck_assert_uint_eq(arm_status(DB), STATUS_OK);
	simple = announce(&seg, "interaction.simple", "use", EV_STRING);
	world_run(&w, 50 * MS);
	write_text(&seg, simple, -1, "");
	write_text(&seg, simple, 1, "db");
	world_run(&w, 1500 * MS);
	ck_assert_uint_eq(fetch().events_lost, 2);
}

TEST(only_vertices_are_switched_on)
{
	unsigned send, simple;

	ck_assert_uint_eq(arm_status(DB), STATUS_OK);
	send = announce(&seg, "interaction.send", "new", EV_INT64);
	simple = announce(&seg, "interaction.simple", "use", EV_STRING);
	world_run(&w, 50 * MS);
	ck_assert(is_on(&seg, simple));
	ck_assert(!is_on(&seg, send));
}

TEST(wrong_declarations_are_refused)
{
	ck_assert_uint_eq(arm_status("[],[\"db\"],[]"), STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(arm_status("[],[],[\"\"]"), STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(arm_status("[\"a\"],[\"a=b\",\"a=c\"],[]"), STATUS_PARAMETER_ERROR);
}

SUITE_WITH("lm contract", begin, end)
