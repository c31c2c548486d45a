/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests. One that is enabled is armed at the children whose
 * objects its event is about, and follows objects that come and go; when the
 * event happens the actions that the lm did not run are executed here.
 *
 * Loops end: a condition whose actions lead to its own event more than
 * CAUSAL_DEPTH_MAX times over is disabled (one that only asks is in no loop), and so is one that fires more than
 * TOOL_FIRINGS_PER_SEC_MAX times a second for some seconds (what is too many
 * in a burst is dropped and counted). The tool is told once; csr_enable()
 * gives it another chance.
 *
 * All conditions of a tool together execute actions here TOOL_FIRINGS_PER_SEC_MAX
 * times a second, the rest is dropped and counted too: what one tool has
 * composed must not keep mainsm from the others.
 */
#ifndef MAINSM_CSR_H
#define MAINSM_CSR_H

#include "common/base/err.h"
#include "common/omis/check.h"
#include "common/omis/reply.h"
#include "proto/msg.h"

#include <stdbool.h>

#define TOOL_RAISES_PER_SEC_MAX 4000 /* user events; each looks at all conditions of the tool */

struct children;
struct csr;
struct csrs;
struct directory;
struct hold;
struct locks;
struct loop;
struct numbers;
struct run_spec;
struct session;

/* The object that an event happened to; tokens, "" = unknown. */
struct trigger {
	const char *node, *proc, *thread;
	int64_t time_ns;
	struct hold *hold; /* borrowed: keeps the process from running; NULL = it runs */
};

/* All borrowed. */
struct csrs_conf {
	struct loop *loop;
	struct locks *locks;
	struct children *children;
	const struct directory *directory;
	struct numbers *numbers;
	/* It is not armed anywhere any more: children that are away must hear of it. May be NULL. */
	void (*on_disarmed)(void *arg, const char *csr);
	void *arg;
};

struct csrs *csrs_new(const struct csrs_conf *conf);

/* All must have been deleted. */
void csrs_free(struct csrs *c);

/*
 * Consumes *request (checked, with an event) on success; *out is its token, valid while it exists. Disabled at
 * first. Replies to it carry `id`. -ERR_LIMIT: the tool has TOOL_CSRS_MAX, or too many actions; -ERR_DENIED: an action that
 * the tool has no right to; -ERR_INVALID: a filter that makes no sense; -ERR_NOMEM.
 */
int csr_define(struct csrs *c, struct session *s, struct omis_request **request, uint64_t id, const char **out,
	       struct err *e);

/* NULL: the tool has none of that token. */
struct csr *csr_find(const struct session *s, const char *token);

/*
 * Arms it. on_armed is called once when the children have confirmed or are lost: at once when
 * there is nothing to wait for. Enabling again is harmless. -ERR_NOMEM, -ERR_LIMIT: not enabled, no call.
 */
int csr_enable(struct csrs *c, struct csr *csr, void (*on_armed)(void *arg), void *arg);

/* Forgets those who wait with this arg. */
void csr_forget_waiter(struct csr *csr, void *arg);

void csr_disable(struct csrs *c, struct csr *csr);

/* The tool is told when its last actions have ended. The pointer is dead. */
void csr_delete(struct csrs *c, struct csr *csr);

/* All of that tool, without telling it; its runs must have been cancelled. */
void csrs_drop(struct csrs *c, struct session *s);

/* The objects of a tool changed (attach, detach): follows at once. */
void csrs_follow(struct csrs *c, struct session *s);

/* The directory changed: follows soon, once for many changes. */
void csrs_follow_soon(struct csrs *c);

/* A child is gone: what was armed there is not any more. */
void csrs_child_lost(struct csrs *c, uint32_t child);

/* From children. ERR_DENIED: it speaks of objects that are not its own; ERR_NOTFOUND: nothing is armed there. */
int csrs_armed(struct csrs *c, uint32_t child, const struct msg_arm_ack *m, struct err *e);
int csrs_triggered(struct csrs *c, uint32_t child, const struct msg_triggered *m, struct err *e);

/*
 * A user event of that tool. values: a list; depth of the run that raises it; source NULL = none.
 * -ERR_LIMIT: more than TOOL_RAISES_PER_SEC_MAX, nothing has happened.
 */
int csrs_raise(struct csrs *c, struct session *s, const char *event,
	       const struct omis_value *values, const struct trigger *source, unsigned depth);

/* Disables those of all tools that wait for events by one of these names. How many were enabled. */
unsigned csrs_events_off(struct csrs *c, const struct omis_value *names);

/* A filter behind other actions of the run's firing: 0 it passes, RUN_ENDS, -ERR_INVALID: no event led to that run. */
int csrs_filter(struct csrs *c, const struct run_spec *spec, uint32_t action, const struct omis_call *call);

struct csrs_stats {
	size_t defined, enabled;
	uint64_t fired, suspended, strays;
};

void csrs_stats(const struct csrs *c, struct csrs_stats *out);

#endif
