/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that works for this lm. The first request starts it, and it ends when idle. lm-trace
 * executes requests that need ptrace. If it or the lm dies, the kernel releases the traced
 * processes. lm-look executes requests that may hang, and is killed when one does.
 */
#ifndef LM_HELPER_HELPER_H
#define LM_HELPER_HELPER_H

#include "common/base/clock.h"
#include "common/tracer/tracer_msg.h"

/* limit of waiting requests: a backtrace of each thread of a large host */
#define HELPER_ASKS_MAX 4096
/* pending requests to lm-trace: as many answers as its socket can hold */
#define HELPER_SENT_MAX 8
/* killed helpers that the kernel cannot end yet */
#define TRACE_STUCK_MAX 8
/* lm-trace gives up after 2 s, so a longer answer means that it hangs */
#define HELPER_ANSWER_MAX_NS (10 * NSEC_PER_SEC)
/* Idle time: a tool with a request every few seconds starts the helper once. */
#define HELPER_IDLE_NS (20 * NSEC_PER_SEC)

struct loop;
struct helper;
struct helper_ask;

/*
 * An answer, or TRACER_FAILED from lm-trace or from the lm. TRACER_FRAMES and TRACER_BYTES come in
 * sequence while `what` announces more, and TRACER_MODULE until DONE. Never called within
 * helper_ask().
 */
typedef void (*helper_answer_fn)(void *arg, const struct tracer_msg *m);

/* The receiver of answers. */
struct helper_reply {
	helper_answer_fn fn;
	void *arg;
};

struct helper_conf {
	struct loop *loop; /* borrowed */
	const char *program; /* path of lm-trace; copied; NULL = there is none */
	const char *argument; /* argument of the program; copied; NULL = none */
	/* Waiting requests fail with those that were sent, instead of starting another helper. */
	bool fails_waiting;
	size_t sent_max; /* HELPER_SENT_MAX or less */
	nsec_t answer_max;
	const char *hangs; /* the error of a request without an answer in that time */
	const char *ended; /* the error when it has ended; NULL = "it was killed" */
};

/* Any member may be NULL. */
struct helper_listener {
	helper_answer_fn on_event; /* TRACER_EVENT and TRACER_WATCH_ENDED */
	void (*on_lost)(void *arg); /* the helper has died: all watches have ended */
	void *arg;
};

struct helper *helper_new(const struct helper_conf *c);

/* Pending requests get an error; tasks should be freed before. */
void helper_free(struct helper *t);

/* Replaces the listener; l is copied. */
void helper_listen(struct helper *t, const struct helper_listener *l);

/*
 * Sends a copy of m, with an id. *out is invalid after the last answer. -ERR_UNSUPPORTED: there is
 * no lm-trace, -ERR_LIMIT, -ERR_NOMEM, -ERR_PROTO, -ERR_SYS: it cannot be started.
 */
int helper_ask(struct helper *t, const struct tracer_msg *m, const struct helper_reply *r,
	       struct helper_ask **out, struct err *e);

/* Ignores further answers. NULL is fine. */
void helper_ask_forget(struct helper_ask *a);

/* Changes the number of interests. While it is above 0, an idle helper is not ended. */
void helper_keep(struct helper *t, int change);

/* Ends the helper for good: pending requests get an error, and later ones are refused. */
void helper_stop(struct helper *t, const char *why);

/* True if the helper has no process: helper_free() then leaves no child that must be reaped. */
bool helper_has_ended(const struct helper *t);

/* 0: the helper does not run. */
int32_t helper_pid(const struct helper *t);

#endif
