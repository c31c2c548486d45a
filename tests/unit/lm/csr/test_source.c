/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls and signals: they are reported as watched when lm-trace holds the threads, and not
 * before.
 */
#include "common/base/buf.h"
#include "common/omis/text/status.h"
#include "common/tracer/tracer_msg.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define GATE "OMIG_TEST_GATE" /* the environment of what is started in the place of lm-trace */
#define SIGNAL "thread_received_signal([@],[10]): print([$sig])"
#define TRIES 2000
#define STEP_NS (100 * NSEC_PER_USEC) /* all tries together stay below CSRS_ARMED_MAX_NS */

static char folder[] = "/tmp/omig-test-source-XXXXXX", gate[64];

static void open_traced(void)
{
	world_open(&w);
	world_crash_lm(&w);
	w.tracer = "/proc/self/exe";
	world_start_lm(&w);
	world_add_rank(&w, &seg, 100, 0, rank0);
	world_add_rank(&w, &other, 200, 1, rank1);
}

static void ask_for(const char *csr, const char *pattern, uint32_t version)
{
	const char *text = with(pattern, rank0);
	struct msg m = { .type = MSG_ARM,
			 .arm = { .csr = csr,
				  .tool = 1,
				  .identity = MANIPULATOR,
				  .version = version,
				  .text = { (const uint8_t *)text, strlen(text) },
				  .reply = true } };

	above_send(&w.mainsm, &m);
	world_run(&w, 20 * MS);
}

/* The tracer waits at the gate until it opens; returns when it goes on. */
static void open_gate(void)
{
	int fd = open(gate, O_WRONLY);

	ck_assert_int_ge(fd, 0);
	close(fd);
}

static const struct msg *await_ack(void)
{
	const struct msg *ack = NULL;

	for (int i = 0; !ack && i < TRIES; i++) {
		usleep(2000); /* the tracer is a process of its own */
		world_run(&w, STEP_NS);
		ack = above_next(&w.mainsm, MSG_ARM_ACK);
	}
	return ack;
}

START_TEST(it_is_armed_when_the_threads_are_held)
{
	const struct msg *ack;

	open_traced();
	ask_for("c_5", SIGNAL, 3);
	ck_assert_ptr_null(above_next(&w.mainsm, MSG_ARM_ACK));
	open_gate();
	ack = await_ack();
	ck_assert_ptr_nonnull(ack);
	ck_assert_str_eq(ack->arm_ack.csr, "c_5");
	ck_assert_uint_eq(ack->arm_ack.version, 3);
	ck_assert_uint_eq(ack->arm_ack.nentry, 1);
	ck_assert_str_eq(ack->arm_ack.entry[0].objects, rank0);
	ck_assert_uint_eq(ack->arm_ack.entry[0].status, STATUS_OK);
	world_run(&w, 2 * CSRS_ARMED_MAX_NS);
	ck_assert_ptr_null(above_next(&w.mainsm, MSG_ARM_ACK));
	close_ranks();
}
END_TEST

START_TEST(a_tracer_that_does_not_answer_is_not_waited_for)
{
	open_traced();
	ask_for("c_5", SIGNAL, 3);
	world_run(&w, CSRS_ARMED_MAX_NS - 100 * MS);
	ck_assert_ptr_null(above_next(&w.mainsm, MSG_ARM_ACK));
	world_run(&w, 200 * MS);
	ck_assert_ptr_nonnull(above_next(&w.mainsm, MSG_ARM_ACK));
	open_gate();
	close_ranks();
}
END_TEST

START_TEST(what_is_armed_anew_or_given_up_meanwhile_is_told_once_or_never)
{
	const struct msg *ack;

	open_traced();
	ask_for("c_5", SIGNAL, 3);
	ask_for("c_6", SIGNAL, 3);
	ask_for("c_5", SIGNAL, 4);
	csrs_disarm(w.lm->csrs, "c_6");
	ck_assert_ptr_null(above_next(&w.mainsm, MSG_ARM_ACK));
	world_run(&w, 2 * CSRS_ARMED_MAX_NS);
	ack = above_next(&w.mainsm, MSG_ARM_ACK);
	ck_assert_ptr_nonnull(ack);
	ck_assert_str_eq(ack->arm_ack.csr, "c_5");
	ck_assert_uint_eq(ack->arm_ack.version, 4);
	ck_assert_ptr_null(above_next(&w.mainsm, MSG_ARM_ACK));
	open_gate();
	close_ranks();
}
END_TEST

START_TEST(without_a_tracer_it_is_told_at_once)
{
	open_ranks();
	ask_for("c_5", SIGNAL, 3);
	ck_assert_ptr_nonnull(above_next(&w.mainsm, MSG_ARM_ACK));
	close_ranks();
}
END_TEST

/* In the place of lm-trace: each watch is granted, when the gate was opened once. */
static int be_tracer(void)
{
	static uint8_t in[TRACER_MSG_MAX_BYTES];
	static struct tracer_msg m, done;
	struct pollfd line = { .fd = STDIN_FILENO, .events = POLLIN };
	int fd = open(getenv(GATE), O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return 1;
	close(fd);
	while (poll(&line, 1, -1) == 1 && (n = recv(STDIN_FILENO, in, sizeof(in), 0)) > 0) {
		struct buf b = BUF_INIT(TRACER_MSG_MAX_BYTES);

		if (tracer_msg_decode(&m, in, (size_t)n, NULL) < 0 || m.type != TRACER_WATCH)
			return 2;
		done = (struct tracer_msg){ .type = TRACER_DONE, .id = m.id };
		if (tracer_msg_encode(&b, &done) < 0 || send(STDIN_FILENO, b.p, b.n, 0) < 0)
			return 3;
		buf_done(&b);
	}
	return 0;
}

int main(void)
{
	const TTest *const tests[] = {
		it_is_armed_when_the_threads_are_held,
		a_tracer_that_does_not_answer_is_not_waited_for,
		what_is_armed_anew_or_given_up_meanwhile_is_told_once_or_never,
		without_a_tracer_it_is_told_at_once
	};
	int rc;

	if (getenv(GATE))
		return be_tracer();
	if (!mkdtemp(folder))
		return 1;
	snprintf(gate, sizeof(gate), "%s/gate", folder);
	if (mkfifo(gate, 0600) || setenv(GATE, gate, 1))
		return 1;
	rc = suite_run_with("lm source", NULL, NULL, tests, sizeof(tests) / sizeof(tests[0]));
	unlink(gate);
	rmdir(folder);
	return rc;
}
