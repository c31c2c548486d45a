/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a signal does to a process takes a moment: its threads must run for it. A call that has sent
 * signals waits here, in its task, until their effect is seen. So what stands behind it sees it
 * too. The loop continues meanwhile. After SETTLE_MAX_NS the answer says what is so instead.
 */
#ifndef LM_SERVICE_SETTLE_H
#define LM_SERVICE_SETTLE_H

#include "lm/task/task.h"

/* a thread that sleeps in the kernel may do so for ever; one that only waits for a processor has it
 * by then */
#define SETTLE_MAX_NS (1500 * NSEC_PER_MSEC)
#define SETTLE_STEP_MAX_NS (10 * NSEC_PER_MSEC)

enum settle_what {
	SETTLE_STOPPED, /* no thread runs */
	SETTLE_RUNNING, /* no tracer keeps it stopped */
	SETTLE_TAKEN, /* the signal is taken or blocked; one that ends the process has ended it */
};

struct settle_goal {
	enum settle_what what;
	int sig; /* of SETTLE_TAKEN */
	int32_t tid; /* the thread that it was sent to; 0: the process */
};

/* What it examines; borrowed. */
struct settle_on {
	struct host *host;
	struct holds *holds;
};

/*
 * Calls fn for each object of that class ('p' or 't') that the first parameter names; fn sets the
 * state to wait for. Answers as call_each_proc() does.
 */
typedef int (*settle_fn)(struct service_call *c, const struct object *o, struct settle_goal *w,
			 struct err *e);
int settle_each(struct service_call *c, const struct settle_on *on, char class, settle_fn fn);

#endif
