/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests for system calls and signals: the watches of lm-trace, and its events. The
 * fake one writes each watch into a file, and answers by the signals in it.
 */
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/omis/text/status.h"
#include "tests/suite.h"
#include "tests/unit/lm/fake_trace.h"

#include <fcntl.h>
#include <signal.h>

#define WATCHES "OMIG_TEST_WATCHES" /* the file; in the environment of the fake */
#define CALL 39 /* number of the system call that each thread makes */
#define RESULT (-2)
#define CLOSES "21" /* a watch for this signal: the fake dies */
#define FAILS "22" /* the watch cannot be */
#define ENDS "23" /* it ends at once, with five events dropped */
#define DROPPED 5

static char file[] = "/tmp/omig-test-traced-XXXXXX";

/* --- the fake */

static bool has_signal(const struct tracer_msg *m, const char *number)
{
	return m->value[0] >> (strtol(number, NULL, 10) - 1) & 1;
}

static void note(const struct tracer_msg *m)
{
	char line[200];
	int fd = open(getenv(WATCHES), O_WRONLY | O_APPEND);
	int n = snprintf(line, sizeof(line), "%d %u %llx %llx %llx\n", m->pid, m->what,
			 (unsigned long long)m->value[0], (unsigned long long)m->value[1],
			 (unsigned long long)m->value[2]);

	if (fd < 0 || write(fd, line, (size_t)n) != n)
		_exit(4);
	close(fd);
}

static void give_event(const struct tracer_msg *m, uint32_t what, size_t n, const int64_t *value)
{
	struct tracer_msg e = { .type = TRACER_EVENT,
				.id = m->id,
				.pid = m->pid,
				.tid = m->pid,
				.start = m->start,
				.what = what,
				.nvalue = n };

	memcpy(e.value, value, n * sizeof(*value));
	fake_trace_send(&e);
}

static void give_events(const struct tracer_msg *m)
{
	static const int64_t begin[] = { 1, CALL, 11, 12, 13, 14, 15, 16 },
			     end[] = { INT64_MAX, CALL, RESULT }, usr1[] = { 1, SIGUSR1 },
			     odd[] = { 1, 65 };

	if (m->what & TRACER_SYSCALL_START)
		give_event(m, TRACER_SYSCALL_START, ARRAY_LEN(begin), begin);
	if (m->what & TRACER_SYSCALL_END)
		give_event(m, TRACER_SYSCALL_END, ARRAY_LEN(end), end);
	if (m->what & TRACER_SIGNAL) {
		give_event(m, TRACER_SIGNAL, ARRAY_LEN(odd), odd);
		give_event(m, TRACER_SIGNAL, ARRAY_LEN(usr1), usr1);
	}
}

static void answer(const struct tracer_msg *m)
{
	struct tracer_msg r = { .type = TRACER_DONE, .id = m->id };

	if (m->type != TRACER_WATCH)
		_exit(2);
	note(m);
	if (has_signal(m, CLOSES))
		_exit(0);
	if (has_signal(m, FAILS))
		r = (struct tracer_msg){ .type = TRACER_FAILED,
					 .id = m->id,
					 .what = ERR_DENIED,
					 .ntext = 1,
					 .text = { "not permitted" } };
	fake_trace_send(&r);
	if (has_signal(m, ENDS)) {
		r = (struct tracer_msg){ .type = TRACER_WATCH_ENDED,
					 .id = m->id,
					 .pid = m->pid,
					 .start = m->start,
					 .nvalue = 1,
					 .value = { DROPPED },
					 .ntext = 1,
					 .text = { "too many stops" } };
		fake_trace_send(&r);
	}
	give_events(m);
}

/* --- the tests */

static void forget_watches(void)
{
	ck_assert_int_eq(truncate(file, 0), 0);
}

static const char *watches(void)
{
	static struct buf b;

	buf_done(&b);
	buf_init(&b, 1 << 16);
	file_read(file, 1 << 16, 0, &b, NULL);
	return buf_str(&b);
}

static bool is_watched_soon(const char *line)
{
	for (int i = 0; i < FAKE_TRACE_TRIES; i++) {
		if (strstr(watches(), line))
			return true;
		usleep(2000);
		world_run(&w, FAKE_TRACE_STEP_NS);
	}
	return false;
}

static void set_up(void)
{
	forget_watches();
	open_traced();
}

static void clean_up(void)
{
	close_ranks();
}

/* Its acknowledgment arrives when the threads are held, perhaps after the first events. */
static void arm_for(const char *csr, const char *pattern)
{
	const char *text = with(pattern, rank0);
	const struct msg m = { .type = MSG_ARM,
			       .arm = { .csr = csr,
					.tool = 1,
					.identity = MANIPULATOR,
					.version = 3,
					.text = { (const uint8_t *)text, strlen(text) },
					.reply = true } };
	size_t seen = w.mainsm.got.seen;
	const struct msg *ack;

	above_send(&w.mainsm, &m);
	do
		ack = await_msg(MSG_ARM_ACK);
	while (ack && strcmp(ack->arm_ack.csr, csr) != 0);
	ck_assert_ptr_nonnull(ack);
	w.mainsm.got.seen = seen;
}

static const struct msg_triggered *await_triggered(void)
{
	const struct msg *m = await_msg(MSG_TRIGGERED);

	return m ? &m->triggered : NULL;
}

static bool comes_more(void)
{
	world_run(&w, 10 * MS);
	return above_next(&w.mainsm, MSG_TRIGGERED) != NULL;
}

TEST(the_begin_of_a_call_has_its_number_and_its_arguments)
{
	const struct msg_triggered *t;

	arm_for("c_5", "thread_has_started_sys_call([@],\"\"): print([$par1,$par2,$par7])");
	t = await_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(t->proc, rank0);
	ck_assert_int_eq(strncmp(t->thread, "t_7_", 4), 0);
	ck_assert_str_eq(par(t, 1), "39");
	ck_assert_str_eq(par(t, 2), "11");
	ck_assert_str_eq(par(t, 7), "16");
	ck_assert_ptr_nonnull(strstr(watches(), "100 1 0 0 0\n"));
	ck_assert(!comes_more());
}

TEST(the_end_of_a_call_has_its_result)
{
	const struct msg_triggered *t;

	arm_for("c_5", "thread_has_ended_sys_call([@],\"39\"): print([$par0,$par1,$par2])");
	t = await_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(par(t, 0), "-2");
	ck_assert_str_eq(par(t, 1), "39");
	ck_assert_str_eq(par(t, 2), "-2");
	/* A time in the future is replaced by the present time. */
	ck_assert_int_le(t->time_ns, timebase_at(&w.time, loop_now(w.loop)));
	ck_assert_ptr_nonnull(strstr(watches(), "100 2 0 8000000000 0\n"));
}

TEST(other_calls_and_signals_fire_nothing)
{
	arm_for("c_5", "thread_has_started_sys_call([@],\"70\"): print([1])");
	ck_assert_ptr_nonnull(strstr(watches(), "100 1 0 0 40\n"));
	arm_for("c_6", "thread_received_signal([@],[12]): print([1])");
	ck_assert_ptr_nonnull(strstr(watches(), "100 5 800 0 40\n"));
	ck_assert(!comes_more());
}

TEST(a_signal_has_its_number)
{
	const struct msg_triggered *t;

	arm_for("c_5", "thread_received_signal([@],[12,10]): print([$sig])");
	t = await_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(t->csr, "c_5");
	ck_assert_uint_eq(t->npar, 1);
	ck_assert_int_eq(strtol((const char *)t->par[0].value.p, NULL, 10), SIGUSR1);
	ck_assert_ptr_nonnull(strstr(watches(), "100 4 a00 0 0\n"));
	ck_assert(!comes_more()); /* 65 is not a signal */
}

TEST(watched_events_are_the_union_of_all_csrs)
{
	arm_for("c_5", "thread_received_signal([@],[12]): print([1])");
	arm_for("c_6", "thread_has_started_sys_call([@],\"1\"): print([1])");
	ck_assert(is_watched_soon("100 5 800 2 0\n"));
	arm_for("c_7", "thread_has_started_sys_call([@],\"64\"): print([1])");
	ck_assert(is_watched_soon("100 5 800 2 1\n"));
	/* A request for any signal: the watch does not name single ones. */
	arm_for("c_8", "thread_received_signal([@],[]): print([1])");
	ck_assert(is_watched_soon("100 5 0 2 1\n"));
	arm_for("c_9", "thread_has_ended_sys_call([@],\"\"): print([1])");
	ck_assert(is_watched_soon("100 7 0 0 0\n"));
	forget_watches();
	csrs_disarm(w.lm->csrs, "c_9");
	ck_assert(is_watched_soon("100 5 0 2 1\n"));
	csrs_disarm(w.lm->csrs, "c_6");
	csrs_disarm(w.lm->csrs, "c_7");
	csrs_disarm(w.lm->csrs, "c_8");
	ck_assert(is_watched_soon("100 4 800 0 0\n"));
	csrs_disarm(w.lm->csrs, "c_5");
	ck_assert(is_watched_soon("100 0 0 0 0\n"));
	ck_assert_ptr_null(strstr(watches(), "200 ")); /* the other rank is left alone */
}

/* Expects a report with an error of the process, as the result of the last action. */
static void expect_suspended(const char *why, uint64_t dropped)
{
	const struct msg_triggered *t = await_triggered();
	char text[100];

	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(t->proc, rank0);
	ck_assert_uint_eq(t->nentry, 1);
	ck_assert_uint_eq(t->entry[0].status, STATUS_OS_ERROR);
	ck_assert_str_eq(t->entry[0].objects, rank0);
	snprintf(text, sizeof(text), "suspended in this process: %s", why);
	ck_assert_str_eq(entry_text(&t->entry[0]), text);
	ck_assert_uint_eq(t->dropped, dropped);
}

TEST(a_watch_that_ends_is_reported_with_what_it_has_dropped)
{
	arm_for("c_5", "thread_received_signal([@],[" ENDS "]): print([1])");
	expect_suspended("too many stops", DROPPED);
	ck_assert(!comes_more());
	/* Arming again sends the watch again. */
	forget_watches();
	arm_for("c_6", "thread_received_signal([@],[12]): print([1])");
	ck_assert(is_watched_soon("100 4 400800 0 0\n"));
}

TEST(a_watch_that_cannot_be_is_reported)
{
	arm_for("c_5", "thread_received_signal([@],[" FAILS "]): print([1])");
	expect_suspended("not permitted", 0);
	ck_assert(!comes_more());
}

TEST(events_of_a_suspended_process_fire_nothing)
{
	arm_for("c_5", "thread_received_signal([@],[" ENDS ",10]): print([1])");
	expect_suspended("too many stops", DROPPED);
	ck_assert(!comes_more()); /* SIGUSR1 arrived after the end */
}

TEST(a_tracer_that_dies_is_started_again_after_a_while)
{
	arm_for("c_5", "thread_received_signal([@],[" CLOSES "]): print([1])");
	ck_assert(is_watched_soon("100 4 100000 0 0\n"));
	for (int i = 0; i < FAKE_TRACE_TRIES && comes_more(); i++)
		;
	forget_watches();
	for (int i = 0; i < 100 && !*watches(); i++) {
		usleep(2000);
		world_run(&w, 100 * MS);
	}
	ck_assert_str_eq(watches(), "100 4 100000 0 0\n");
}

TEST(a_new_thread_is_watched_too)
{
	arm_for("c_5", "thread_received_signal([@],[12]): print([1])");
	forget_watches();
	fake_thread_add(fake_proc_find(&w.host, 100), 101);
	for (int i = 0; i < 100 && !*watches(); i++) {
		usleep(2000);
		world_run(&w, 100 * MS);
	}
	ck_assert_str_eq(watches(), "100 4 800 0 0\n");
	/* A process that has ended is not watched. */
	forget_watches();
	fake_proc_end(fake_proc_find(&w.host, 100), 0);
	ck_assert(is_watched_soon("100 0 0 0 0\n"));
}

int main(void)
{
	int rc, fd;

	if (getenv(WATCHES))
		return fake_trace_serve(answer);
	fd = mkstemp(file);
	if (fd < 0 || setenv(WATCHES, file, 1))
		return 1;
	close(fd);
	rc = suite_run("lm traced", set_up, clean_up);
	unlink(file);
	return rc;
}
