/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests. An enabled one is armed at the branches that serve the objects of its
 * event. It follows objects that come and go. When the event happens, mainsm executes the actions
 * that the lm did not run.
 *
 * Loops end. A request is disabled when its actions lead to its own event more than
 * CAUSAL_DEPTH_MAX times over. One that only observes is in no loop. It is also disabled when it
 * fires more than TOOL_FIRINGS_PER_SEC_MAX times a second for some seconds. The excess of a burst
 * is dropped and counted. The tool is notified once; tool_csr_enable() enables the request again.
 *
 * All requests of a tool together execute actions here TOOL_FIRINGS_PER_SEC_MAX times a second. The
 * rest is dropped and counted too: one tool must not keep mainsm from the others.
 */
#ifndef MAINSM_CSR_CSR_H
#define MAINSM_CSR_CSR_H

#include "common/base/err.h"
#include "common/omis/reply/reply.h"
#include "common/omis/services/check.h"
#include "proto/msg.h"

#include <stdbool.h>

#define TOOL_RAISES_PER_SEC_MAX 4000 /* user events; each is tested by all csrs of the tool */

struct branches;
struct tool_csr;
struct tool_csrs;
struct directory;
struct hold;
struct locks;
struct loop;
struct numbers;
struct run_spec;
struct session;
struct states;
struct timebase;

/*
 * refusal: the token and entries with the faults of a request whose event can never happen; it is
 * not enabled. NULL: it is enabled.
 */
typedef void (*csr_on_fn)(void *arg, const struct reply *refusal);

/* The object that an event happened to; tokens, "" = unknown. */
struct trigger {
	const char *node, *proc, *thread;
	int64_t time_ns;
	struct hold *hold; /* borrowed: keeps the process from running; NULL = it runs */
};

/* All borrowed. */
struct tool_csrs_conf {
	struct loop *loop;
	const struct timebase *timebase;
	struct locks *locks;
	struct branches *branches;
	const struct directory *directory;
	struct numbers *numbers;
	/* It is disarmed everywhere: branches that are away get this later. May be NULL. */
	void (*on_disarmed)(void *arg, const char *csr);
	void *arg;
};

struct tool_csrs *tool_csrs_new(const struct tool_csrs_conf *conf);

/* All must have been deleted. */
void tool_csrs_free(struct tool_csrs *c);

/*
 * Consumes *request (checked, with an event) on success; *out is its token, valid while it exists.
 * Disabled at first. Replies to it carry `id`. -ERR_LIMIT: the tool has TOOL_CSRS_MAX, or too many
 * actions; -ERR_DENIED: an action that the tool has no right to; -ERR_INVALID: a predicate that
 * makes no sense, or an event that never happens; -ERR_NOTFOUND: the user events that it names do
 * not exist; -ERR_NOMEM.
 */
int tool_csr_define(struct tool_csrs *c, struct session *s, struct omis_request **request,
		    uint64_t id, const char **out, struct err *e);

/* NULL: the tool has none of that token. */
struct tool_csr *tool_csr_find(const struct session *s, const char *token);

/*
 * Arms it. fn is called once when the branches have confirmed or are lost: at once when
 * there is nothing to wait for. Enabling again is harmless. -ERR_NOMEM, -ERR_LIMIT: not enabled, no
 * call.
 */
int tool_csr_enable(struct tool_csrs *c, struct tool_csr *csr, csr_on_fn fn, void *arg);

/* The same for each of that tool whose branches have not confirmed yet; how many. */
size_t tool_csrs_await_armed(struct tool_csrs *c, struct session *s, csr_on_fn fn, void *arg);

/* Forgets all waiters with this arg. */
void tool_csrs_forget_waiter(struct tool_csrs *c, void *arg);

/*
 * Disarms it. The tool is notified when its pending actions have ended and the branches have
 * reported their lost events. True: fn is called when the branches have, or CSR_PARTED_MAX_NS
 * later; false: no branch is waited for.
 */
bool tool_csr_disable(struct tool_csrs *c, struct tool_csr *csr, csr_on_fn fn, void *arg);

/* As tool_csr_disable(); the last notification is that it is deleted. The pointer is dead. fn NULL:
 * without a waiter. */
bool tool_csr_delete(struct tool_csrs *c, struct tool_csr *csr, csr_on_fn fn, void *arg);

/* A user event or measurement of that tool is there no more: what waits for it alone can never
 * happen. */
void tool_csrs_event_gone(struct tool_csrs *c, struct session *s);

/* Ends all of that tool and their firings, without calling it. Its requests must have been
 * cancelled. */
void tool_csrs_drop(struct tool_csrs *c, struct session *s);

/* The objects of a tool changed (attach, detach): follows at once. */
void tool_csrs_follow(struct tool_csrs *c, struct session *s);

/* The directory changed: follows soon, once for many changes. */
void tool_csrs_follow_soon(struct tool_csrs *c);

/* A branch is gone: nothing is armed there now. */
void tool_csrs_branch_lost(struct tool_csrs *c, uint32_t branch);

/* From branches. ERR_DENIED: it speaks of objects that are not its own; ERR_NOTFOUND: nothing is
 * armed there. */
int tool_csrs_armed(struct tool_csrs *c, uint32_t branch, const struct msg_arm_ack *m,
		    struct err *e);
int tool_csrs_triggered(struct tool_csrs *c, uint32_t branch, const struct msg_triggered *m,
			struct err *e);
int tool_csrs_losses(struct tool_csrs *c, uint32_t branch, const struct msg_losses *m,
		     struct err *e);

/* A user event, or that of a measurement. Borrowed. */
struct csr_raise {
	const char *event; /* its token */
	const struct omis_value *values; /* a list */
	const struct trigger *source; /* NULL = none, and it happens now */
	unsigned depth; /* of the run that raises it */
};

/* Of that tool. -ERR_LIMIT: more than TOOL_RAISES_PER_SEC_MAX, nothing has happened. */
int tool_csrs_raise(struct tool_csrs *c, struct session *s, const struct csr_raise *r);

/*
 * Disables those that wait for events by one of these names: of this tool's principal, and of all
 * others when it has the right to manipulate. How many were enabled; *stay: so many of others stay
 * enabled, as it has not.
 */
unsigned tool_csrs_events_off(struct tool_csrs *c, const struct session *s,
			      const struct omis_value *names, unsigned *stay);

/* A predicate behind other actions of the run's firing: 0 it passes, RUN_ENDS, -ERR_INVALID: no
 * event led to that run. */
int tool_csrs_predicate(struct tool_csrs *c, const struct run_spec *spec, uint32_t action,
			const struct omis_call *call);

struct tool_csrs_stats {
	size_t defined, enabled;
	uint64_t fired, suspended, strays;
};

void tool_csrs_stats(const struct tool_csrs *c, struct tool_csrs_stats *out);

extern const struct states csr_states;

#endif
