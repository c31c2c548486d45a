/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional requests for events of threads: types, switches, blocks, loss, the end. */
#include "common/base/limits.h"
#include "common/omis/text/status.h"
#include "common/omis/text/value.h"
#include "eventlog/evread.h"
#include "lm/instrument/events.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <signal.h>

#define BUFFER "trace_buffer_append(trace_b_1,$time,0,[$block])"
#define ALL "thread_writes_events([@],[\"all\"],\"\"): " BUFFER
#define CUT (300 * MS)

/* io.read: n int32, x double, name string */
static unsigned announce_short(struct fake_segment *s, const char *name)
{
	static const struct evfield field[] = { { "n", EV_INT32 } };
	const struct evtype t = { .name = name, .level = EV_INFO, .nfield = 1, .field = field };

	return fake_segment_announce_type(s, &t);
}

static unsigned announce(struct fake_segment *s, const char *name)
{
	static const struct evfield field[] = { { "n", EV_INT32 },
						{ "x", EV_DOUBLE },
						{ "file", EV_STRING } };
	const struct evtype t = { .name = name, .level = EV_INFO, .nfield = 3, .field = field };

	return fake_segment_announce_type(s, &t);
}

static void write_event(struct fake_segment *s, unsigned number, int32_t n)
{
	const double x = 0.5;
	uint8_t v[17] = { 0 };

	memcpy(v, &n, 4);
	memcpy(v + 4, &x, 8);
	v[12] = 3;
	memcpy(v + 14, "abc", 3);
	fake_segment_event(s, number, v, sizeof(v));
}

struct read {
	struct evread_report report;
	unsigned n, ends; /* events; of library calls that ended */
	int64_t last; /* the first field of the last one */
	char name[64];
};

static void read_block(struct evread *reader, const uint8_t *p, size_t n, struct read *out)
{
	struct event ev;
	size_t used;

	while (n && evread_push(reader, p, n, true, &used) == EVREAD_BLOCK) {
		while (evread_next(reader, &ev)) {
			out->n++;
			out->ends += strstr(ev.type->name, ".end") != NULL;
			out->last =
				ev.value[0].kind == EV_INT32 ? ev.value[0].i32 : ev.value[0].i64;
			snprintf(out->name, sizeof(out->name), "%s", ev.type->name);
			ck_assert_ptr_nonnull(ev.stream_type);
		}
		p += used;
		n -= used;
	}
}

/* All that the trace buffer has. */
static struct read fetch(struct evread *reader)
{
	struct read r = { 0 };
	bool more = true;

	while (more) {
		const struct msg_reply *m =
			world_ask(&w, OBSERVER, ":trace_buffer_read([trace_b_1])");

		more = false;
		for (size_t i = 0; i < m->nentry; i++) {
			struct omis_values *v = NULL;
			int64_t left = 0;

			ck_assert_uint_eq(m->entry[i].status, STATUS_OK);
			ck_assert_int_eq(omis_parse_values((const char *)m->entry[i].value.p,
							   m->entry[i].value.n, &v, NULL),
					 0);
			omis_values_i64(v, 2, &left);
			more |= left > 0;
			for (size_t k = 4; k < v->n; k++) {
				size_t n = 0;
				const char *p = omis_value_text(&v->v[k].list.v[2].list.v[0], &n);

				read_block(reader, (const uint8_t *)p, n, &r);
			}
			omis_values_free(v);
		}
	}
	r.report = *evread_report(reader);
	return r;
}

static struct evread *reader;

static void begin(void)
{
	open_ranks();
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],trace_b_1)", rank0));
	reader = evread_new();
	ck_assert_ptr_nonnull(reader);
}

static void end(void)
{
	evread_free(reader);
	close_ranks();
}

static unsigned arm_status(const char *pattern)
{
	const struct msg_arm_ack *a = arm(pattern, rank0, 1, false);

	return a->nentry ? a->entry[0].status : STATUS_OK;
}

static const char *types(void)
{
	return entry_text(
		&world_ask(&w, OBSERVER, with(":proc_get_event_types([@])", rank0))->entry[0]);
}

TEST(types_are_reported_with_their_fields)
{
	ck_assert_str_eq(types(), "0");
	announce(&seg, "io.read");
	ck_assert_str_eq(
		types(),
		"1,[\"io.read\",\"Info\",[\"n\",\"int32\",\"x\",\"double\",\"file\",\"string\"],0,0,0]");
	fake_segment_announce(&seg, "nonsense", 8);
	announce(&seg, "io.write");
	ck_assert_int_eq(strncmp(types(), "2,[\"io.read\"", 12), 0);
}

TEST(requested_event_types_arrive_as_blocks)
{
	struct read r;
	unsigned number;

	number = announce(&seg, "io.read");
	announce(&seg, "net.read");
	write_event(&seg, number, 1); /* no request yet */
	ck_assert_uint_eq(arm_status("thread_writes_events([@],[\"io.*\"],\"\"): " BUFFER),
			  STATUS_OK);
	ck_assert_ptr_nonnull(strstr(types(), "\"string\"],1,0,0],[\"net.read\""));
	for (int i = 2; i < 102; i++)
		write_event(&seg, number, i);
	world_run(&w, CUT);
	r = fetch(reader);
	ck_assert_uint_eq(r.n, 100);
	ck_assert_int_eq(r.last, 101);
	ck_assert_str_eq(r.name, "io.read");
	ck_assert(evread_is_clean(&r.report));
	ck_assert_ptr_null(next_triggered());
	ck_assert_ptr_nonnull(strstr(types(), "\"string\"],1,100,0],[\"net.read\""));
}

TEST(conditions_are_asked_of_fields)
{
	struct read r;
	unsigned number;

	number = announce(&seg, "io.read");
	ck_assert_uint_eq(
		arm_status("thread_writes_events([@],[\"all\"],\"n >= 95 and x < 1\"): " BUFFER),
		STATUS_OK);
	for (int i = 0; i < 100; i++)
		write_event(&seg, number, i);
	/* has no such fields */
	fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Send", .partner = -1 });
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
	world_run(&w, CUT);
	r = fetch(reader);
	ck_assert_uint_eq(r.n, 5);
}

TEST(nonsense_is_refused)
{
	ck_assert_uint_eq(arm_status("thread_writes_events([@],[],\"\"): " BUFFER),
			  STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(arm_status("thread_writes_events([@],[\"a\"],\"n ~ 3\"): " BUFFER),
			  STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(arm_status("thread_writes_events([@],[\"a\"],\"\",-1): " BUFFER),
			  STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(
		arm("thread_writes_events([@],[\"a\"],\"\"): print([$block])", rank0, 0, true)
			->entry[0]
			.status,
		STATUS_PARAMETER_ERROR);
}

TEST(calls_and_probes_are_events_too)
{
	struct read r;

	ck_assert_uint_eq(
		arm_status("thread_writes_events([@],[\"MPI_Send\",\"step\"],\"\"): " BUFFER),
		STATUS_OK);
	fake_segment_call(&seg,
			  &(struct fake_call){ .name = "MPI_Send", .partner = 1, .bytes_out = 8 });
	fake_segment_probe(&seg, FAKE_STEP, &(union seg_value){ .i = 77 });
	world_run(&w, CUT);
	r = fetch(reader);
	ck_assert_uint_eq(r.n, 3);
	ck_assert_uint_eq(r.ends, 1);
	ck_assert_str_eq(r.name, "step");
	ck_assert_int_eq(r.last, 77);
	csrs_disarm(w.lm->csrs, "c_5");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
	ck_assert_uint_eq(fake_segment_probe_word(&seg, FAKE_STEP), 0);
}

TEST(each_event_without_room_is_counted_as_lost)
{
	struct read r;
	unsigned number, sent = 0;

	number = announce(&seg, "io.read");
	ck_assert_uint_eq(arm_status(ALL), STATUS_OK);
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 1000; i++, sent++)
			write_event(&seg, number, i);
		world_run(&w, 20 * MS);
	}
	csrs_disarm(w.lm->csrs, "c_5");
	r = fetch(reader);
	ck_assert_uint_gt(r.report.dropped, 0);
	ck_assert_uint_gt(r.n, 0);
	ck_assert_uint_eq(r.n + r.report.dropped + r.report.lost_events, sent);
}

BARE_TEST(a_ring_with_more_than_a_turn_may_take_is_emptied_at_once)
{
	struct read r;
	unsigned number;

	world_open(&w);
	world_add_rank_with(&w, &seg,
			    &(struct fake_rank){ .pid = 100, .tid = 100, .ring_bytes = 1 << 20 },
			    rank0);
	world_add_rank(&w, &other, 200, 1, rank1);
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],trace_b_1)", rank0));
	reader = evread_new();
	number = announce(&seg, "io.read");
	ck_assert_uint_eq(arm_status(ALL), STATUS_OK);
	for (int i = 0; i < 10 * CSRS_RECORDS_MAX; i++)
		write_event(&seg, number, i);
	world_run(&w, CSRS_POLL_NS);
	for (int i = 0; i < 10; i++)
		world_run(&w, 0);
	csrs_disarm(w.lm->csrs, "c_5");
	r = fetch(reader);
	ck_assert_uint_eq(r.n, 10 * CSRS_RECORDS_MAX);
	ck_assert_uint_eq(r.report.dropped, 0);
	end();
}

TEST(types_that_come_later_are_on_too)
{
	struct read r;
	unsigned number;

	ck_assert_uint_eq(arm_status(ALL), STATUS_OK);
	number = announce(&seg, "late");
	world_run(&w, 50 * MS);
	write_event(&seg, number, 3);
	world_run(&w, CUT);
	r = fetch(reader);
	ck_assert_uint_eq(r.n, 1);
}

TEST(a_recording_ends_after_its_duration)
{
	unsigned number;

	number = announce(&seg, "io.read");
	ck_assert_uint_eq(arm_status("thread_writes_events([@],[\"all\"],\"\",2): " BUFFER),
			  STATUS_OK);
	write_event(&seg, number, 1);
	world_run(&w, 1900 * MS);
	ck_assert_ptr_nonnull(strstr(types(), "],1,1,0]"));
	world_run(&w, 200 * MS);
	ck_assert_ptr_nonnull(strstr(types(), "],0,1,0]"));
	write_event(&seg, number, 2);
	ck_assert_uint_eq(fetch(reader).n, 1);
}

TEST(a_recording_ends_with_its_tool)
{
	announce(&seg, "io.read");
	ck_assert_uint_eq(arm_status(ALL), STATUS_OK);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = 1 } });
	world_run(&w, 10 * MS);
	ck_assert_ptr_nonnull(strstr(types(), "],0,0,0]"));
}

TEST(rings_of_a_dead_process_are_drained)
{
	struct read r;
	unsigned number;

	number = announce(&seg, "io.read");
	ck_assert_uint_eq(arm_status(ALL), STATUS_OK);
	for (int i = 0; i < 10; i++)
		write_event(&seg, number, i);
	fake_proc_end(fake_proc_find(&w.host, 100), SIGKILL);
	world_run(&w, CUT);
	r = fetch(reader);
	ck_assert_uint_eq(r.n, 10);
}

TEST(values_that_are_none_of_the_type_are_lost)
{
	struct read r;
	unsigned number;

	number = announce(&seg, "io.read");
	ck_assert_uint_eq(arm_status(ALL), STATUS_OK);
	fake_segment_event(&seg, number, "abc", 3);
	write_event(&seg, number, 4);
	world_run(&w, CUT);
	r = fetch(reader);
	ck_assert_uint_eq(r.n, 1);
	ck_assert_uint_eq(r.report.dropped, 1);
}

TEST(values_that_are_too_few_or_too_many_are_lost)
{
	struct read r;
	unsigned number;

	number = announce_short(&seg, "io.read");
	ck_assert_uint_eq(arm_status(ALL), STATUS_OK);
	for (size_t n = 0; n <= 8; n++)
		fake_segment_event(&seg, number, "abcd\0\0\0\0", n);
	world_run(&w, CUT);
	r = fetch(reader);
	ck_assert_uint_eq(r.n, 1);
	ck_assert_uint_eq(r.report.dropped, 8);
	ck_assert_uint_eq(r.report.bad_records, 0);
}

TEST(the_next_lm_continues)
{
	unsigned number;

	number = announce(&seg, "io.read");
	ck_assert_uint_eq(arm_status(ALL), STATUS_OK);
	world_crash_lm(&w);
	world_start_lm(&w);
	world_run(&w, 100 * MS);
	ck_assert_ptr_nonnull(strstr(types(), "],0,0,0]"));
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],trace_b_1)", world_token(&w, 100)));
	ck_assert_uint_eq(arm(ALL, world_token(&w, 100), 1, false)->nentry, 1);
	write_event(&seg, number, 5);
	world_run(&w, CUT);
	ck_assert_uint_eq(fetch(reader).n, 1);
}

SUITE_WITH("lm events", begin, end)
