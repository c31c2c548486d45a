/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection to lm-trace as its clients see it: a reply stays true while the client asks again.
 */
#include "common/base/buf.h"
#include "common/base/array.h"
#include "common/loop/loop.h"
#include "lm/helper/helper.h"
#include "tests/suite.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define IS_TRACER "OMIG_TEST_IS_TRACER"
#define WAIT_TRIES 5000
#define WAIT_STEP_NS (20 * NSEC_PER_MSEC)
#define FIRST 100
#define SECOND 200

static struct loop *loop;
static struct helper *trace;
static unsigned events;

static void on_answer(void *arg, const struct tracer_msg *m)
{
}

static struct helper_ask *ask_about(int32_t pid)
{
	const struct tracer_msg m = { .type = TRACER_LET_GO, .pid = pid, .start = 1 };
	struct helper_ask *a = NULL;

	ck_assert_int_eq(helper_ask(trace, &m, &(struct helper_reply){ on_answer, NULL }, &a, NULL),
			 0);
	return a;
}

/* Each listener reads the event; the first one sends a request. */
static void on_event(void *arg, const struct tracer_msg *m)
{
	if (!events++)
		ask_about(SECOND);
	ck_assert_uint_eq(m->type, TRACER_EVENT);
	ck_assert_int_eq(m->pid, events == 1 ? FIRST : SECOND);
	ck_assert_uint_eq(m->nvalue, 2);
}

static void open_trace(void)
{
	loop = loop_new();
	trace = helper_new(&(struct helper_conf){ .loop = loop,
						  .program = "/proc/self/exe",
						  .sent_max = HELPER_SENT_MAX,
						  .answer_max = HELPER_ANSWER_MAX_NS,
						  .hangs = "it did not answer" });
	ck_assert_ptr_nonnull(trace);
	helper_listen(trace, &(struct helper_listener){ .on_event = on_event });
}

static void close_trace(void)
{
	helper_free(trace);
	loop_free(loop);
}

TEST(an_event_stays_the_same_while_a_listener_asks)
{
	open_trace();
	ask_about(FIRST);
	for (int i = 0; events < 2 && i < WAIT_TRIES; i++)
		loop_wait(loop, WAIT_STEP_NS);
	ck_assert_uint_eq(events, 2);
	close_trace();
}

static struct helper_ask *both[2];
static unsigned failures;

/* The first failure also forgets the other question, as an ending task does. */
static void on_failure(void *arg, const struct tracer_msg *m)
{
	failures++;
	helper_ask_forget(both[1]);
	both[1] = NULL;
}

TEST(a_listener_that_drops_failing_requests_leaves_room_for_more)
{
	const struct tracer_msg m = { .type = TRACER_LET_GO, .pid = FIRST, .start = 1 };
	struct rlimit few, before;

	open_trace();
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(helper_ask(trace, &m, &(struct helper_reply){ on_failure, NULL },
					    &both[i], NULL),
				 0);
	/* Without descriptors it cannot be started. */
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ 0, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (int i = 0; !failures && i < WAIT_TRIES; i++)
		loop_wait(loop, WAIT_STEP_NS);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_uint_eq(failures, 1);
	ask_about(SECOND);
	close_trace();
}

/* In the place of lm-trace: each question is answered with an event of its process. */
static int be_tracer(void)
{
	static uint8_t in[TRACER_MSG_MAX_BYTES];
	static struct tracer_msg m;
	struct pollfd line = { .fd = STDIN_FILENO, .events = POLLIN }; /* it never blocks itself */
	ssize_t n;

	while (poll(&line, 1, -1) == 1 && (n = recv(STDIN_FILENO, in, sizeof(in), 0)) > 0) {
		struct buf b = BUF_INIT(TRACER_MSG_MAX_BYTES);
		struct tracer_msg *event = &m;

		if (tracer_msg_decode(&m, in, (size_t)n, NULL))
			return 1;
		event->type = TRACER_EVENT;
		event->tid = event->pid;
		event->start = 0;
		event->what = TRACER_SYSCALL_START;
		event->nvalue = 2;
		if (tracer_msg_encode(&b, event) || send(STDIN_FILENO, b.p, b.n, 0) < 0)
			return 2;
		buf_done(&b);
	}
	return 0;
}

int main(void)
{
	if (getenv(IS_TRACER))
		return be_tracer();
	setenv(IS_TRACER, "1", 1);
	return suite_run("lm trace", NULL, NULL);
}
