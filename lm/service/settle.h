/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for the effect of signals. A process handles a signal only when its threads run. A call
 * that has sent signals waits here, in its task, until the effect is visible, also to later
 * actions. The loop continues meanwhile. After SETTLE_MAX_NS the answer reports the actual state.
 */
#ifndef LM_SERVICE_SETTLE_H
#define LM_SERVICE_SETTLE_H

#include "lm/task/task.h"

/*
 * a thread may sleep in the kernel for ever; a thread that waits for a processor gets it in this
 * time
 */
#define SETTLE_MAX_NS (1500 * NSEC_PER_MSEC)
#define SETTLE_STEP_MAX_NS (10 * NSEC_PER_MSEC)

enum settle_what {
	SETTLE_STOPPED, /* no thread runs */
	SETTLE_RUNNING, /* no tracer keeps it stopped */
	SETTLE_TAKEN, /* the signal is handled or blocked, or has ended the process */
};

struct settle_goal {
	enum settle_what what;
	int sig; /* the signal of SETTLE_TAKEN */
	int32_t tid; /* the thread that it was sent to; 0: the process */
};

/* The objects that it examines; borrowed. */
struct settle_on {
	struct host *host;
	struct holds *holds;
};

/*
 * Calls fn for each object of class 'p' or 't' that the first parameter names; fn sets the state to
 * wait for. Answers as call_each_proc() does.
 */
typedef int (*settle_fn)(struct service_call *c, const struct object *o, struct settle_goal *w,
			 struct err *e);
int settle_each(struct service_call *c, const struct settle_on *on, char class, settle_fn fn);

#endif
