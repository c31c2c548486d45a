/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the CSR engine: csr.c (creation and end), csr_arm.c (branches), csr_fire.c (events).
 */
#ifndef MAINSM_CSR_CSR_INTERNAL_H
#define MAINSM_CSR_CSR_INTERNAL_H

#include "common/base/clock.h"
#include "common/container/list.h"
#include "common/container/map.h"
#include "common/loop/loop.h"
#include "common/omis/text/token.h"
#include "common/route/predicate.h"
#include "mainsm/csr/csr.h"
#include "mainsm/tool/session.h"
#include "tree/parting.h"
#include "tree/standing.h"

#define CSR_FOLLOW_NS (20 * NSEC_PER_MSEC) /* directory changes arrive in bursts */
#define CSR_OVERLOADS_MAX 3 /* seconds: a burst is not a loop */
/* After this it counts as enabled, although some branches have not confirmed it. */
#define CSR_ARMED_MAX_NS (2 * NSEC_PER_SEC)
/* After this the losses of a silent branch are unknown, and the tool is notified. */
#define CSR_PARTED_MAX_NS NSEC_PER_SEC
/* time after which losses are reported separately, if no event has reported them */
#define CSR_LOSSES_NS (200 * NSEC_PER_MSEC)

struct tool_csrs {
	struct tool_csrs_conf conf;
	struct smap by_token;
	struct loop_timer *follow, *losses; /* owned */
	struct partings partings; /* of struct tool_csr */
	struct tool_csrs_stats stats;
	uint32_t version; /* version of the last ARM */
};

struct csr_waiter {
	csr_on_fn fn;
	void *arg;
	struct list in_waiters;
};

enum csr_state {
	CSR_OFF,
	CSR_ENABLING, /* enabled, but the tool is not notified yet */
	CSR_ENABLED,
	CSR_DISABLING, /* disabled, but the tool is not notified yet */
	CSR_LEAVING, /* as CSR_DISABLING, and then deleted */
	CSR_DELETED,
	CSR_STATES
};

enum csr_event { CSR_ENABLE, CSR_REFUSE, CSR_DISABLE, CSR_REPORT, CSR_DELETE, CSR_EVENTS };

struct tool_csr {
	struct tool_csrs *c;
	struct token token;
	struct session *session; /* NULL: its tool is gone */
	struct omis_request *request; /* owned */
	struct predicates *predicates; /* owned; of the request; NULL = none */
	uint64_t id; /* of the tool's request */
	enum csr_state state;
	const char *why; /* reason for disabling: static words or NULL */
	/* Since it was enabled: later changes do not repeat the report. */
	bool has_reported_faults;
	/* firings whose actions are executed, and calls that still need the csr */
	unsigned keepers;
	unsigned firings; /* firings among the keepers */
	struct parting parting; /* from branches that got DISARM */
	struct list parted; /* waiters for its end */
	struct standing *standing; /* owned; mark: number of actions that a branch executes */
	struct smap objects; /* token -> the CSR, as a set: enabled for these objects */
	struct smap came; /* those of them that the ENABLED report has as new */
	struct smap refused; /* those of them that the branches cannot watch */
	struct reply *news; /* owned; errors for the ENABLED report; NULL = none */
	struct list waiters;
	nsec_t second; /* start of the second in which `offered` counts */
	uint64_t offered, dropped; /* dropped: not reported yet */
	bool has_reported; /* an event reported losses since the last check */
	bool is_thinned; /* branches have dropped events in that second */
	unsigned overloads; /* seconds in a row with too many firings */
};

/* --- csr.c */

bool tool_csr_is_of_user_event(const struct tool_csr *csr);

void tool_csr_step(struct tool_csr *csr, enum csr_event ev);
bool tool_csr_is_enabled(const struct tool_csr *csr);

/*
 * Sends a reply of the CSR: kind is a status code; entry 0 has the token or `why`. Consumes the
 * entries of `more` (may be NULL).
 */
void tool_csr_report(struct tool_csr *csr, unsigned kind, const char *objects, const char *why,
		     struct reply *more);

/* Disables the csr with a reason for the tool: a value, so in quotes. */
void tool_csr_suspend(struct tool_csr *csr, const char *why);

/* Called when a firing has ended. May free the CSR. */
void tool_csr_fire_ended(struct tool_csr *csr);

/* Releases one keeper. May free the CSR. */
void tool_csr_let_go(struct tool_csr *csr);

/* Consumes the waiters: each is called. */
void tool_csr_call_waiters(struct list *waiters, const struct reply *refusal);

/* --- csr_part.c: the end, and losses */

/* Called when all branches have parted: sends due notifications. May free the CSR. */
void tool_csr_parted(void *csr);

/* As tool_csr_parted(), unless branches still have to answer. */
void tool_csr_check_parted(struct tool_csr *csr);

/*
 * Reports DISABLED if it is due and no firing is in progress. now: even with firings in progress.
 */
void tool_csr_report_disabled(struct tool_csr *csr, bool now);

void tool_csr_lose(struct tool_csr *csr, uint64_t n);
void tool_csrs_on_losses(void *arg);

/*
 * Finds the csr of this token, also one that is deleted and parting. Returns NULL if there is none.
 */
struct tool_csr *tool_csrs_find_any(struct tool_csrs *c, const char *token);

/* --- csr_arm.c */

/* Updates the branches to the CSR's current objects. -ERR_NOMEM, -ERR_LIMIT. */
int tool_csr_arm(struct tool_csr *csr);

/* True if the tool has that user event or measurement. An ended one never returns. */
bool tool_csr_event_exists(const struct session *s, const char *token);

/* True if all user events and measurements that it names have ended. */
bool tool_csr_is_hopeless(const struct tool_csr *csr);

/* Disarms all branches, without notifying the tool. */
void tool_csr_disarm(struct tool_csr *csr);

/* When it is settled, the waiters and the tool are notified. Returns NULL without memory. */
struct standing *tool_csr_standing_new(struct tool_csr *csr);

/* --- csr_hold.c: a process that is held until all actions of its event have ended */

/* The caller is its only user. NULL: no memory; the process was released. */
struct hold *hold_new(struct branches *c, uint32_t branch, const struct msg_triggered *m);
struct hold *hold_use(struct hold *h); /* NULL is fine */
/* The last user releases the process. NULL is fine. */
void hold_drop(struct hold *h);

/* --- csr_fire.c */

struct csr_firing {
	struct tool_csr *csr;
	const struct omis_ecp *par; /* beside the standard ones */
	size_t npar;
	struct trigger trigger;
	size_t first; /* the action to begin with, from 0 */
	const struct msg_entry *entry; /* entry that was executed below */
	size_t nentry;
	uint64_t dropped;
	unsigned depth;
};

/*
 * Checks entries of a branch: the actions must be of this request, and the objects its own.
 * ERR_DENIED, ERR_PROTO.
 */
int tool_csr_check_entries(const struct tool_csr *csr, const struct branch *b,
			   const struct msg_entry *entry, size_t n, struct err *e);

#endif
