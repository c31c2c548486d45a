/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In the place of lm-trace: the test program itself, which the lm starts as /proc/self/exe. A
 * variable of the environment distinguishes it.
 */
#ifndef TESTS_UNIT_LM_FAKE_TRACE_H
#define TESTS_UNIT_LM_FAKE_TRACE_H

#include "common/base/buf.h"
#include "common/tracer/tracer_msg.h"
#include "tests/unit/lm/two_ranks.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define FAKE_TRACE_TRIES 2000
/* All tries together remain below CSRS_ARMED_MAX_NS and the deadline of a request. */
#define FAKE_TRACE_STEP_NS (100 * NSEC_PER_USEC)

static inline void fake_trace_send(const struct tracer_msg *m)
{
	struct buf b = BUF_INIT(TRACER_MSG_MAX_BYTES);

	if (tracer_msg_encode(&b, m) < 0 || send(STDIN_FILENO, b.p, b.n, 0) < 0)
		_exit(3);
	buf_done(&b);
}

/* Gives each question to the function, until the lm closes the line. */
static inline int fake_trace_serve(void (*answer)(const struct tracer_msg *m))
{
	static uint8_t in[TRACER_MSG_MAX_BYTES];
	static struct tracer_msg m;
	struct pollfd line = { .fd = STDIN_FILENO, .events = POLLIN };
	ssize_t n;

	while (poll(&line, 1, -1) == 1 && (n = recv(STDIN_FILENO, in, sizeof(in), 0)) > 0) {
		if (tracer_msg_decode(&m, in, (size_t)n, NULL) < 0)
			return 2;
		answer(&m);
	}
	return 0;
}

/* An lm with two ranks, and with that program as its lm-trace. */
static inline void open_traced(void)
{
	world_open(&w);
	world_crash_lm(&w);
	w.tracer = "/proc/self/exe";
	world_start_lm(&w);
	world_add_rank(&w, &seg, 100, 0, rank0);
	world_add_rank(&w, &other, 200, 1, rank1);
}

/*
 * Returns the next message of that type, after a wait: the tracer is a separate process. NULL: none
 * has arrived.
 */
static inline const struct msg *await_msg(uint8_t type)
{
	const struct msg *m = NULL;

	for (int i = 0; !m && i < FAKE_TRACE_TRIES; i++) {
		usleep(2000);
		world_run(&w, FAKE_TRACE_STEP_NS);
		m = above_next(&w.mainsm, type);
	}
	return m;
}

#endif
