/* SPDX-License-Identifier: Apache-2.0 */
/* Trace buffers: filled by events, fetched by their tool, bounded. */
#include "common/base/limits.h"
#include "common/omis/text/status.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <signal.h>

#define APPEND "trace_buffer_append(trace_b_1,$time,7,[$par1,$par8])"

static void create(const char *procs)
{
	char text[256];

	snprintf(text, sizeof(text), ":omig_pa_create([%s],trace_b_1)", procs);
	ck_assert_uint_eq(world_ask(&w, OBSERVER, text)->entry[0].status, STATUS_OK);
}

static const char *read_of(const char *request, const char *object)
{
	const struct msg_entry *e = reply_entry_of(world_ask(&w, OBSERVER, request), object);

	ck_assert_ptr_nonnull(e);
	return entry_text(e);
}

static void expect(const char *request, const char *object, const char *start, const char *end)
{
	const char *text = read_of(request, object);
	size_t n = strlen(text);

	ck_assert_msg(!strncmp(text, start, strlen(start)), "%s", text);
	ck_assert_msg(n >= strlen(end) && !strcmp(text + n - strlen(end), end), "%s", text);
}

TEST(each_event_of_a_process_becomes_a_record_of_its_part)
{
	create(rank0);
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): " APPEND, rank0, 1, false);
	call(&seg, "MPI_Send", 8, 1);
	call(&seg, "MPI_Send", 16, 1);
	ck_assert_ptr_null(next_triggered());
	expect(":trace_buffer_read([trace_b_1])", rank0, "trace_b_1,0,0,0,[", ",7,[0,16]]");
	expect(":trace_buffer_read([trace_b_1])", rank0, "trace_b_1,2,0,0", "trace_b_1,2,0,0");
}

TEST(a_reader_takes_as_many_as_it_asks_for)
{
	create(rank0);
	for (int i = 0; i < 5; i++)
		world_ask(&w, OBSERVER,
			  ":trace_buffer_append(trace_b_1,1.5,2,[\"a\\nb\",3#\001\"\002])");
	expect(":trace_buffer_read([trace_b_1],2)", rank0,
	       "trace_b_1,0,3,0,[1.5,2,[\"a\\nb\",3#\001\"\002]],[", "]]");
	expect(":trace_buffer_read([trace_b_1],0)", rank0, "trace_b_1,2,3,0", ",2,3,0");
	expect(":trace_buffer_read([trace_b_1],9)", rank0, "trace_b_1,2,0,0,[", "]]");
	ck_assert_uint_eq(
		world_ask(&w, OBSERVER, ":trace_buffer_read([trace_b_1],-1)")->entry[0].status,
		STATUS_PARAMETER_ERROR);
}

TEST(without_an_event_a_record_goes_to_each_part)
{
	char both[2 * TOKEN_BYTES];

	snprintf(both, sizeof(both), "%s,%s", rank0, rank1);
	create(both);
	ck_assert_uint_eq(world_ask(&w, OBSERVER, ":trace_buffer_append(trace_b_1,1.0,2,[])")
				  ->entry[0]
				  .status,
			  STATUS_OK);
	expect(":trace_buffer_read([trace_b_1])", both, "trace_b_1,0,0,0,[1.0,2,[]]", "");
	expect(":trace_buffer_read([trace_b_1])", both, "trace_b_1,1,0,0", "");
}

/* Appends records of at least so many bytes until an error. Returns the number of stored ones. */
static unsigned fill_with(int bytes)
{
	char text[20000];
	unsigned n = 0;

	snprintf(text, sizeof(text), ":trace_buffer_append(trace_b_1,1.0,2,[\"%0*d\"])", bytes, 0);
	while (world_ask(&w, OBSERVER, text)->entry[0].status == STATUS_OK)
		ck_assert_uint_lt(++n, TRACE_PART_MAX_BYTES / (unsigned)bytes);
	return n;
}

/* Until not even one of nearly 1000 bytes fits. */
static unsigned fill(void)
{
	char text[1200];
	unsigned n;

	/*
	 * The two oldest are short: after the first is read, refusals are reported again, and the
	 * test reads the other.
	 */
	snprintf(text, sizeof(text), ":trace_buffer_append(trace_b_1,1.0,2,[\"%0950d\"])", 0);
	for (int i = 0; i < 2; i++)
		ck_assert_uint_eq(world_ask(&w, OBSERVER, text)->entry[0].status, STATUS_OK);
	n = fill_with(16000);
	world_ask(&w, OBSERVER, ":trace_buffer_read([trace_b_1],1)");
	return 1 + n + fill_with(950);
}

static int64_t figure(const char *name)
{
	char pattern[64];
	const char *at;

	snprintf(pattern, sizeof(pattern), "[\"%s\",", name);
	at = strstr(entry_text(&world_ask(&w, OBSERVER, ":omig_status()")->entry[0]), pattern);
	ck_assert_ptr_nonnull(at);
	return strtoll(at + strlen(pattern), NULL, 10);
}

/* Sends until one was too many: at most 60 of them fit where a long record did not. */
static const struct msg_triggered *send_until_reported(void)
{
	const struct msg_triggered *t = NULL;

	for (int i = 0; i < 60 && !t; i++) {
		call(&seg, "MPI_Send", 8, 1);
		t = next_triggered();
	}
	return t;
}

TEST(a_full_part_drops_new_data_and_reports_that_once)
{
	const struct msg_triggered *t;
	char first[64];
	unsigned n;

	create(rank0);
	n = fill();
	ck_assert_uint_gt(n, TRACE_PART_MAX_BYTES / 17000);
	ck_assert_int_eq(figure("trace_records_dropped"), 2);
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): " APPEND, rank0, 1, false);
	ck_assert_ptr_null(send_until_reported());
	ck_assert_int_gt(figure("trace_records_dropped"), 2);
	snprintf(first, sizeof(first), "trace_b_1,1,%u", n / 100);
	ck_assert_int_eq(
		strncmp(read_of(":trace_buffer_read([trace_b_1],1)", rank0), first, strlen(first)),
		0);
	t = send_until_reported();
	ck_assert_ptr_nonnull(t);
	ck_assert_uint_eq(t->entry[0].status, STATUS_NO_MEMORY);
	ck_assert_ptr_null(send_until_reported());
}

TEST(a_record_that_is_too_long_is_dropped)
{
	char text[2 * TRACE_RECORD_MAX_BYTES];

	create(rank0);
	for (int over = 0; over < 2; over++) {
		/* [1.0,2,["..."]] */
		snprintf(text, sizeof(text), ":trace_buffer_append(trace_b_1,1.0,2,[\"%0*d\"])",
			 TRACE_RECORD_MAX_BYTES - 12 + over, 0);
		ck_assert_uint_eq(world_ask(&w, OBSERVER, text)->entry[0].status == STATUS_OK,
				  !over);
	}
	expect(":trace_buffer_read([trace_b_1])", rank0, "trace_b_1,0,0,1,[1.0,2,", "]]");
}

TEST(a_buffer_belongs_to_its_tool_and_ends_with_it)
{
	world_ask_as(&w, 1, OBSERVER, with(":omig_pa_create([@],trace_b_1)", rank0));
	ck_assert_uint_eq(
		world_ask_as(&w, 2, OBSERVER, ":trace_buffer_read([trace_b_1])")->entry[0].status,
		STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(world_ask_as(&w, 2, OBSERVER, ":trace_buffer_append(trace_b_1,1.0,1,[])")
				  ->entry[0]
				  .status,
			  STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(
		world_ask_as(&w, 2, OBSERVER, with(":omig_pa_create([@],trace_b_1)", rank0))
			->entry[0]
			.status,
		STATUS_NO_PERMISSION);
	world_ask_as(&w, 2, OBSERVER, ":trace_buffer_delete([trace_b_1])");
	ck_assert_int_eq(figure("trace_buffers"), 1);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = 1 } });
	world_run(&w, 10 * MS);
	ck_assert_int_eq(figure("trace_buffers"), 0);
}

TEST(deleting_forgets_the_records)
{
	create(rank0);
	world_ask(&w, OBSERVER, ":trace_buffer_append(trace_b_1,1.0,1,[])");
	ck_assert_int_gt(figure("trace_bytes"), 0);
	world_ask(&w, OBSERVER, ":trace_buffer_delete([trace_b_1])");
	ck_assert_int_eq(figure("trace_bytes"), 0);
	ck_assert_uint_eq(
		world_ask(&w, OBSERVER, ":trace_buffer_read([trace_b_1])")->entry[0].status,
		STATUS_UNKNOWN_OBJECT);
}

TEST(records_of_an_ended_process_are_read_but_none_are_added)
{
	create(rank0);
	world_ask(&w, OBSERVER, ":trace_buffer_append(trace_b_1,1.0,1,[4])");
	fake_proc_end(fake_proc_find(&w.host, 100), SIGKILL);
	world_run(&w, MS);
	expect(":trace_buffer_read([trace_b_1])", rank0, "trace_b_1,0,0,0,[1.0,1,[4]]", "");
	ck_assert_uint_eq(world_ask(&w, OBSERVER, with(":omig_pa_create([@],trace_b_2)", rank0))
				  ->entry[0]
				  .status,
			  STATUS_UNKNOWN_OBJECT);
}

/* After ten minutes its lm forgets it. */
TEST(records_go_with_a_process_that_is_forgotten)
{
	char both[2 * TOKEN_BYTES];

	snprintf(both, sizeof(both), "%s,%s", rank0, rank1);
	create(both);
	world_ask(&w, OBSERVER, ":trace_buffer_append(trace_b_1,1.0,1,[4])");
	fake_proc_end(fake_proc_find(&w.host, 100), SIGKILL);
	world_run(&w, PROCS_ENDED_KEEP_NS - 60 * SEC);
	expect(":trace_buffer_read([trace_b_1],0)", both, "trace_b_1,0,1,0", "");
	world_run(&w, 120 * SEC);
	expect(":trace_buffer_read([trace_b_1])", rank1, "trace_b_1,0,0,0,[1.0,1,[4]]", "");
	ck_assert_int_eq(figure("trace_bytes"), 0);
}

#define IN_ONE 64 /* buffers that one request makes */

static unsigned statuses(const char *text, unsigned status)
{
	const struct msg_reply *r = world_ask(&w, OBSERVER, text);
	unsigned n = 0;

	for (size_t i = 0; i < r->nentry; i++)
		n += r->entry[i].status == status;
	return n;
}

static unsigned make_buffers(unsigned from, unsigned n)
{
	struct buf b = BUF_INIT(1 << 16);
	unsigned made;

	buf_putc(&b, ':');
	for (unsigned i = 0; i < n; i++)
		buf_printf(&b, "omig_pa_create([%s],trace_b_%u) ", rank0, from + i);
	made = statuses(buf_str(&b), STATUS_OK);
	buf_done(&b);
	return made;
}

TEST(there_are_so_many_buffers)
{
	for (unsigned i = 0; i < TRACE_BUFFERS_MAX; i += IN_ONE)
		ck_assert_uint_eq(make_buffers(i + 1, IN_ONE), IN_ONE);
	ck_assert_int_eq(figure("trace_buffers"), TRACE_BUFFERS_MAX);
	ck_assert_uint_eq(make_buffers(TRACE_BUFFERS_MAX + 1, 1), 0);
	world_ask(&w, OBSERVER, ":trace_buffer_delete([trace_b_7])");
	ck_assert_uint_eq(make_buffers(TRACE_BUFFERS_MAX + 1, 2), 1);
}

SUITE_WITH("lm trace buffers", open_ranks, close_ranks)
