/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls and signals: they are reported as watched when lm-trace holds the threads, and not
 * before.
 */
#include "common/omis/text/status.h"
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/lm/fake_trace.h"

#include <fcntl.h>
#include <sys/stat.h>

#define GATE "OMIG_TEST_GATE" /* environment of the program started instead of lm-trace */
#define SIGNAL "thread_received_signal([@],[10]): print([$sig])"

static char folder[] = "/tmp/omig-test-source-XXXXXX", gate[64];

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

/* The tracer waits at the gate until it opens; returns when it continues. */
static void open_gate(void)
{
	int fd = open(gate, O_WRONLY);

	ck_assert_int_ge(fd, 0);
	close(fd);
}

TEST(a_traced_csr_is_acknowledged_when_its_threads_are_held)
{
	const struct msg *ack;

	open_traced();
	ask_for("c_5", SIGNAL, 3);
	ck_assert_ptr_null(above_next(&w.mainsm, MSG_ARM_ACK));
	open_gate();
	ack = await_msg(MSG_ARM_ACK);
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

TEST(a_tracer_that_does_not_answer_is_not_waited_for)
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

TEST(superseded_arming_is_acknowledged_once_or_never)
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

TEST(without_a_tracer_it_is_reported_at_once)
{
	open_ranks();
	ask_for("c_5", SIGNAL, 3);
	ck_assert_ptr_nonnull(above_next(&w.mainsm, MSG_ARM_ACK));
	close_ranks();
}

/* In the place of lm-trace: each watch is granted, when the gate was opened once. */
static void grant(const struct tracer_msg *m)
{
	if (m->type != TRACER_WATCH)
		_exit(2);
	fake_trace_send(&(struct tracer_msg){ .type = TRACER_DONE, .id = m->id });
}

static int be_tracer(void)
{
	int fd = open(getenv(GATE), O_RDONLY);

	if (fd < 0)
		return 1;
	close(fd);
	return fake_trace_serve(grant);
}

int main(void)
{
	int rc;

	if (getenv(GATE))
		return be_tracer();
	if (!mkdtemp(folder))
		return 1;
	snprintf(gate, sizeof(gate), "%s/gate", folder);
	if (mkfifo(gate, 0600) || setenv(GATE, gate, 1))
		return 1;
	rc = suite_run("lm source", NULL, NULL);
	unlink(gate);
	rmdir(folder);
	return rc;
}
