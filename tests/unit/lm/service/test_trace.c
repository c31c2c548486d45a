/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services executed by lm-trace: its requests, and the results of its answers. The fake one answers
 * with its request.
 */
#include "common/base/array.h"
#include "common/omis/text/status.h"
#include "tests/suite.h"
#include "tests/unit/lm/fake_trace.h"

#define IS_TRACER "OMIG_TEST_IS_TRACER"
#define LONG_STACK 18 /* frames: more than a message has */
#define GOOD_ADDR 4096
#define DEADLINE_NS (2 * SEC)

/* --- the fake */

static struct tracer_msg out;

static void begin(const struct tracer_msg *m, uint8_t type)
{
	out = (struct tracer_msg){
		.type = type, .id = m->id, .pid = m->pid, .tid = m->tid, .start = m->start
	};
}

static void add_frame(uint64_t i, bool with_names)
{
	out.value[out.nvalue++] = 1000 + i;
	out.value[out.nvalue++] = 2000 + i;
	out.value[out.nvalue++] = 10 + i;
	out.value[out.nvalue++] = with_names ? 70 + i : 0;
	out.text[out.ntext++] = with_names ? "/lib/a\nb.so" : "";
	out.text[out.ntext++] = with_names ? "main" : "";
	out.text[out.ntext++] = with_names ? "a.c" : "";
}

static void give_stack(const struct tracer_msg *m)
{
	uint64_t depth = m->value[0] ? m->value[0] : LONG_STACK;

	for (uint64_t i = 0; i < depth; i += TRACER_FRAMES_PART) {
		begin(m, TRACER_FRAMES);
		out.what = i + TRACER_FRAMES_PART < depth;
		for (uint64_t k = i; k < depth && k < i + TRACER_FRAMES_PART; k++)
			add_frame(k, m->what);
		fake_trace_send(&out);
	}
}

/* Register n has the number n, or n and a half. */
static void give_regs(const struct tracer_msg *m)
{
	begin(m, TRACER_REGS);
	out.what = m->what;
	for (uint64_t i = 0; i < m->value[1]; i++) {
		double d = (double)(m->value[0] + i) + 0.5;

		out.value[i] = m->value[0] + i;
		if (m->what == TRACER_REGS_FP)
			memcpy(&out.value[i], &d, sizeof(d));
	}
	out.nvalue = m->value[1];
	fake_trace_send(&out);
}

/* Reports the request in the text of a failure. */
static void give_back(const struct tracer_msg *m, enum err_code code)
{
	static char text[4096];
	int n = snprintf(text, sizeof(text), "%u %d %d %u:", m->type, m->pid, m->tid, m->what);

	for (size_t i = 0; i < m->nvalue; i++) {
		double d;

		memcpy(&d, &m->value[i], sizeof(d));
		n += i && m->type == TRACER_WRITE_REGS && m->what == TRACER_REGS_FP
			     ? snprintf(text + n, sizeof(text) - (size_t)n, " %g", d)
			     : snprintf(text + n, sizeof(text) - (size_t)n, " %lld",
					(long long)m->value[i]);
	}
	begin(m, TRACER_FAILED);
	out.what = code;
	out.ntext = 1;
	out.text[0] = text;
	fake_trace_send(&out);
}

static void answer(const struct tracer_msg *m)
{
	if (m->type == TRACER_BACKTRACE)
		give_stack(m);
	else if (m->type == TRACER_READ_REGS)
		give_regs(m);
	else if (m->type == TRACER_WRITE_REGS)
		give_back(m, ERR_INVALID);
	else if (m->value[0] == GOOD_ADDR)
		fake_trace_send(&(struct tracer_msg){ .type = TRACER_DONE, .id = m->id });
	else if (m->type == TRACER_GOTO)
		give_back(m, ERR_DENIED);
	else
		fake_trace_send(&(struct tracer_msg){ .type = TRACER_BYTES, .id = m->id });
}

/* --- asking */

static const struct msg_reply *ask_of(const char *pattern, const char *token)
{
	const char *text = with(pattern, token);
	static uint64_t id = 1000;
	const struct msg m = { .type = MSG_REQUEST,
			       .request = { .id = ++id,
					    .tool = 1,
					    .identity = MANIPULATOR,
					    .right = OMIS_ADMIN,
					    .deadline_ns = DEADLINE_NS,
					    .text = { (const uint8_t *)text, strlen(text) } } };
	const struct msg *r;

	above_send(&w.mainsm, &m);
	r = await_msg(MSG_REPLY);
	ck_assert_msg(r != NULL, "no reply to %s", text);
	ck_assert_uint_eq(r->reply.id, id);
	return &r->reply;
}

static const struct msg_entry *ask(const char *pattern)
{
	return reply_entry_of(ask_of(pattern, rank0), NULL);
}

static void expect(const char *pattern, unsigned status, const char *text)
{
	const struct msg_entry *e = ask(pattern);

	ck_assert_msg(e != NULL, "nothing about %s", pattern);
	ck_assert_msg(e->status == status, "%s: %u %s", pattern, e->status, entry_text(e));
	ck_assert_str_eq(entry_text(e), text);
}

TEST(a_stack_is_read_to_the_depth_that_is_asked_for)
{
	open_traced();
	expect(":thread_get_backtrace([@],2)", STATUS_OK, "2,[1000,2000],[1001,2001]");
	expect(":thread_get_backtrace([@],1)", STATUS_OK, "1,[1000,2000]");
	expect(":omig_backtrace([@],2)", STATUS_OK,
	       "2,[1000,2000,\"/lib/a\\\\nb.so\",\"main\",10,\"a.c\",70],"
	       "[1001,2001,\"/lib/a\\\\nb.so\",\"main\",11,\"a.c\",71]");
	close_ranks();
}

TEST(a_long_stack_comes_in_parts_and_is_one_value)
{
	const char *text;

	open_traced();
	text = entry_text(ask(":thread_get_backtrace([@],0)"));
	ck_assert_int_eq(strncmp(text, "18,[1000,2000],[1001,2001],", 27), 0);
	ck_assert_ptr_nonnull(strstr(text, "[1015,2015],[1016,2016],[1017,2017]"));
	ck_assert_ptr_null(strstr(text, "[1018"));
	close_ranks();
}

TEST(each_thread_has_an_entry)
{
	const struct msg_reply *r;
	char both[2 * TOKEN_BYTES + 1];

	open_traced();
	snprintf(both, sizeof(both), "%s,%s", rank0, rank1);
	r = ask_of(":thread_write_int_regs([@],3,[7])", both);
	ck_assert_uint_eq(r->nentry, 2);
	ck_assert_str_eq(entry_text(&r->entry[0]), "3 100 100 0: 3 7");
	ck_assert_str_eq(entry_text(&r->entry[1]), "3 200 200 0: 3 7");
	ck_assert_str_ne(r->entry[0].objects, r->entry[1].objects);
	close_ranks();
}

TEST(registers_are_read_and_written_by_their_numbers)
{
	open_traced();
	expect(":thread_read_int_regs([@],3,4)", STATUS_OK, "[3,4,5,6]");
	expect(":thread_read_fp_regs([@],2,2)", STATUS_OK, "[2.5,3.5]");
	expect(":thread_read_int_regs([@],0,0)", STATUS_OK, "[]");
	expect(":thread_write_int_regs([@],1,[5,-6])", STATUS_PARAMETER_ERROR,
	       "3 100 100 0: 1 5 -6");
	expect(":thread_write_fp_regs([@],0,[1.5,2])", STATUS_PARAMETER_ERROR,
	       "3 100 100 1: 0 1.5 2");
	close_ranks();
}

TEST(trace_parameters_out_of_range_are_refused)
{
	static const struct {
		const char *call, *words;
	} bad[] = {
		{ ":thread_get_backtrace([@],-1)", "depth is a number of frames" },
		{ ":omig_backtrace([@],-1)", "depth is a number of frames" },
		{ ":thread_read_int_regs([@],-1,1)", "reg is the number of a register" },
		{ ":thread_read_int_regs([@],0,-1)", "num is a number of registers" },
		{ ":thread_read_fp_regs([@],0,129)", "num is a number of registers" },
		{ ":thread_write_int_regs([@],-1,[1])", "reg is the number of a register" },
		{ ":thread_write_int_regs([@],0,[])", "values is a list" },
	};

	open_traced();
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const struct msg_reply *r = ask_of(bad[i].call, rank0);

		ck_assert_uint_eq(r->nentry, 1);
		ck_assert_uint_eq(r->entry[0].status, STATUS_PARAMETER_ERROR);
		ck_assert_ptr_nonnull(strstr(entry_text(&r->entry[0]), bad[i].words));
	}
	ck_assert_uint_eq(ask(":thread_read_int_regs([@],0,128)")->status, STATUS_OK);
	close_ranks();
}

/* One value fewer than a message has, as the first is the number of the register. */
TEST(no_more_registers_are_written_than_a_message_has)
{
	struct buf b = BUF_INIT(1024);

	open_traced();
	buf_puts(&b, ":thread_write_int_regs([@],0,[1");
	for (int i = 1; i < TRACER_VALUES_MAX - 1; i++)
		buf_puts(&b, ",1");
	buf_puts(&b, "])");
	ck_assert_int_eq(strncmp(entry_text(ask(buf_str(&b))), "3 100 100 0: 0 1 1", 18), 0);
	b.n -= 2;
	buf_puts(&b, ",1])");
	expect(buf_str(&b), STATUS_PARAMETER_ERROR, "values is a list of what the registers get");
	buf_done(&b);
	close_ranks();
}

TEST(a_thread_continues_at_an_address)
{
	open_traced();
	expect(":thread_goto([@],4096)", STATUS_OK, "");
	expect(":thread_call([@],4096)", STATUS_OK, "");
	expect(":thread_goto([@],4097)", STATUS_NO_PERMISSION, "4 100 100 0: 4097");
	close_ranks();
}

TEST(an_answer_of_another_kind_is_an_error_of_ours)
{
	open_traced();
	expect(":thread_call([@],1)", STATUS_INTERNAL_ERROR, "lm-trace sent another message");
	close_ranks();
}

TEST(a_process_that_has_ended_is_not_asked_about)
{
	const struct msg_entry *e;

	open_traced();
	fake_proc_end(fake_proc_find(&w.host, 100), 0);
	world_run(&w, 10 * MS);
	e = ask(":thread_get_backtrace([@],1)");
	ck_assert_uint_eq(e->status, STATUS_UNKNOWN_OBJECT);
	close_ranks();
}

TEST(an_lm_without_a_tracer_reports_that)
{
	open_ranks();
	ck_assert_uint_eq(ask(":thread_get_backtrace([@],1)")->status, STATUS_UNSUPPORTED_SERVICE);
	close_ranks();
}

int main(void)
{
	if (getenv(IS_TRACER))
		return fake_trace_serve(answer);
	setenv(IS_TRACER, "1", 1);
	return suite_run("lm trace services", NULL, NULL);
}
