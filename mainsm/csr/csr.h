/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests. An enabled csr has a part at each branch that serves objects of its event.
 * Its parts follow objects that appear and end. When the event happens, mainsm executes the actions
 * that the lm did not run.
 *
 * Loops end. A csr is disabled if its actions lead to its own event more than CAUSAL_DEPTH_MAX
 * times in a chain. A csr that only observes is never part of a loop. A csr is also disabled if it
 * fires more than TOOL_FIRINGS_PER_SEC_MAX times a second for some seconds. The excess of a burst
 * is dropped and counted. The tool is notified once; tool_csr_enable() enables the csr again.
 *
 * All csrs of a tool together execute actions here at most TOOL_FIRINGS_PER_SEC_MAX times a second.
 * The rest is dropped and counted, too, so that one tool does not starve the others.
 */
#ifndef MAINSM_CSR_CSR_H
#define MAINSM_CSR_CSR_H

#include "common/base/err.h"
#include "common/omis/reply/reply.h"
#include "common/omis/services/check.h"
#include "proto/msg.h"

#include <stdbool.h>

#define TOOL_RAISES_PER_SEC_MAX 4000 /* user events; each costs a test by all csrs of the tool */

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
 * refusal: the token, and entries with the errors, of a csr whose event can never happen; it is not
 * enabled. NULL: it is enabled.
 */
typedef void (*csr_on_fn)(void *arg, const struct reply *refusal);

/* The object of an event; tokens, "" = unknown. */
struct trigger {
	const char *node, *proc, *thread;
	int64_t time_ns;
	struct hold *hold; /* borrowed: the hold of the process; NULL = the process runs */
};

/* All borrowed. */
struct tool_csrs_conf {
	struct loop *loop;
	const struct timebase *timebase;
	struct locks *locks;
	struct branches *branches;
	const struct directory *directory;
	struct numbers *numbers;
	/* The csr is disabled everywhere; absent branches get that later. May be NULL. */
	void (*on_disarmed)(void *arg, const char *csr);
	void *arg;
};

struct tool_csrs *tool_csrs_new(const struct tool_csrs_conf *conf);

/* All csrs must have been deleted. */
void tool_csrs_free(struct tool_csrs *c);

/*
 * Consumes *request (checked, with an event) on success; *out is its token, valid while it exists.
 * Initially disabled. Its replies have `id`. -ERR_LIMIT: the tool has TOOL_CSRS_MAX, or too many
 * actions; -ERR_DENIED: an action without the right; -ERR_INVALID: an invalid predicate, or an
 * event that never happens; -ERR_NOTFOUND: it names user events that do not exist; -ERR_NOMEM.
 */
int tool_csr_define(struct tool_csrs *c, struct session *s, struct omis_request **request,
		    uint64_t id, const char **out, struct err *e);

/* Returns NULL if the tool has no csr with that token. */
struct tool_csr *tool_csr_find(const struct session *s, const char *token);

/*
 * Enables the csr. fn is called once, when all branches have confirmed or are lost; at once if no
 * branch is involved. Enabling again has no effect. -ERR_NOMEM, -ERR_LIMIT: not enabled, no call.
 */
int tool_csr_enable(struct tool_csrs *c, struct tool_csr *csr, csr_on_fn fn, void *arg);

/* Waits for each csr of the tool whose branches have not confirmed yet. Returns how many. */
size_t tool_csrs_await_armed(struct tool_csrs *c, struct session *s, csr_on_fn fn, void *arg);

/* Removes all waiters with this arg. */
void tool_csrs_forget_waiter(struct tool_csrs *c, void *arg);

/*
 * Disables the csr. The tool is notified when its pending actions have ended and the branches have
 * reported their lost events. Returns true if fn will be called, at the latest after
 * CSR_PARTED_MAX_NS; false: no branch is awaited.
 */
bool tool_csr_disable(struct tool_csrs *c, struct tool_csr *csr, csr_on_fn fn, void *arg);

/*
 * As tool_csr_disable(); the last notification reports the deletion. The pointer is invalid
 * afterwards. fn NULL: without a waiter.
 */
bool tool_csr_delete(struct tool_csrs *c, struct tool_csr *csr, csr_on_fn fn, void *arg);

/*
 * A user event or measurement of the tool has ended: a csr that waits for nothing else can never
 * fire.
 */
void tool_csrs_event_gone(struct tool_csrs *c, struct session *s);

/*
 * Drops all csrs of the tool and their firings, without a notification. Its requests must have
 * been cancelled.
 */
void tool_csrs_drop(struct tool_csrs *c, struct session *s);

/* The objects of a tool changed (attach, detach): updates the branches at once. */
void tool_csrs_follow(struct tool_csrs *c, struct session *s);

/* The directory changed: updates the branches soon, once for many changes. */
void tool_csrs_follow_soon(struct tool_csrs *c);

/* A branch is lost: no csr is enabled there any longer. */
void tool_csrs_branch_lost(struct tool_csrs *c, uint32_t branch);

/*
 * Takes ARM_ACK of a branch. ERR_DENIED: it names objects that are not its own; ERR_NOTFOUND: that
 * csr is not enabled there.
 */
int tool_csrs_armed(struct tool_csrs *c, uint32_t branch, const struct msg_arm_ack *m,
		    struct err *e);
int tool_csrs_triggered(struct tool_csrs *c, uint32_t branch, const struct msg_triggered *m,
			struct err *e);
int tool_csrs_losses(struct tool_csrs *c, uint32_t branch, const struct msg_losses *m,
		     struct err *e);

/* A user event, or that of a measurement. Borrowed. */
struct csr_raise {
	const char *event; /* token of the event */
	const struct omis_value *values; /* a list */
	const struct trigger *source; /* NULL = none, and the time is now */
	unsigned depth; /* of the run that raises it */
};

/* Raises an event of the tool. -ERR_LIMIT: more than TOOL_RAISES_PER_SEC_MAX, nothing happens. */
int tool_csrs_raise(struct tool_csrs *c, struct session *s, const struct csr_raise *r);

/*
 * Disables the csrs that wait for events with one of these names. Those are the csrs of this tool's
 * principal, and of all others if it has the right to manipulate. Returns how many were enabled;
 * *stay: number of others left enabled for lack of the right.
 */
unsigned tool_csrs_events_off(struct tool_csrs *c, const struct session *s,
			      const struct omis_value *names, unsigned *stay);

/*
 * Evaluates a predicate behind other actions of the run's firing. Returns 0: true, RUN_ENDS,
 * -ERR_INVALID: no event started that run.
 */
int tool_csrs_predicate(struct tool_csrs *c, const struct run_spec *spec, uint32_t action,
			const struct omis_call *call);

struct tool_csrs_stats {
	size_t defined, enabled;
	uint64_t fired, suspended, strays;
};

void tool_csrs_stats(const struct tool_csrs *c, struct tool_csrs_stats *out);

extern const struct states csr_states;

#endif
