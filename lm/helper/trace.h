/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that works for this lm, started when somebody asks for it and ended when nobody has
 * for a while: lm-trace does what needs ptrace; if it dies, or we do, the kernel lets the
 * processes go that it held, and they run on. lm-look does what may hang: it is killed then.
 */
#ifndef LM_TRACE_H
#define LM_TRACE_H

#include "common/base/clock.h"
#include "common/tracer/tracer_msg.h"

#define TRACE_ASKS_MAX 4096 /* that wait: a backtrace of each thread of a large host */
#define TRACE_SENT_MAX 8 /* of them given to lm-trace: so many answers its line can hold */
/* that were killed and wait for something that does not let them die */
#define TRACE_STUCK_MAX 8
/* it gives up itself after 2 s; longer, and it hangs */
#define TRACE_ANSWER_MAX_NS (10 * NSEC_PER_SEC)
/* a tool that asks every few seconds starts it once */
#define TRACE_IDLE_NS (20 * NSEC_PER_SEC)

struct loop;
struct trace;
struct trace_ask;

/*
 * An answer, or TRACER_FAILED of lm-trace's or of our own making; TRACER_FRAMES and TRACER_BYTES
 * come one after the other while `what` says that more follow, and TRACER_MODULE until DONE does.
 * Never from within trace_ask().
 */
typedef void (*trace_answer_fn)(void *arg, const struct tracer_msg *m);

struct trace_conf {
	struct loop *loop; /* borrowed */
	const char *program; /* path of lm-trace; copied; NULL = there is none */
	size_t sent_max; /* TRACE_SENT_MAX or less */
	nsec_t answer_max;
	const char *hangs; /* what is told of a question that was not answered in that time */
};

/* Any may be NULL. */
struct trace_listener {
	trace_answer_fn on_event; /* TRACER_EVENT and TRACER_WATCH_ENDED */
	void (*on_lost)(void *arg); /* the child has died and watches nothing */
	void *arg;
};

struct trace *trace_new(const struct trace_conf *c);

/* Whoever still waits is told that it failed; tasks should be gone before. */
void trace_free(struct trace *t);

/* Replaces the listener; l is copied. */
void trace_listen(struct trace *t, const struct trace_listener *l);

/*
 * Sends a copy of m, with an id. *out is gone after the last answer. -ERR_UNSUPPORTED: there is no
 * lm-trace, -ERR_LIMIT, -ERR_NOMEM, -ERR_PROTO, -ERR_SYS: it cannot be started.
 */
int trace_ask(struct trace *t, const struct tracer_msg *m, trace_answer_fn fn, void *arg,
	      struct trace_ask **out, struct err *e);

/* The answer is of no interest any more. NULL is fine. */
void trace_ask_forget(struct trace_ask *a);

/* The id of an ask, which events of its watch carry. */
uint32_t trace_ask_id(const struct trace_ask *a);

/* More than 0 wishes: it is not idle, even when nothing is asked. */
void trace_keep(struct trace *t, int change);

/* 0 when it does not run. */
int32_t trace_pid(const struct trace *t);

#endif
