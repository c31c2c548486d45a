/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subscriptions of tools: lms and sms store events on disk until the receiving tool has
 * acknowledged them. mainsm stores nothing on disk: after a restart the tool asks again, and the
 * branches still have everything. A subscription outlives its tool. It has a session of its own,
 * with a scope that follows all processes (or those of one job). It continues without a receiver
 * until its lease ends. Events for a receiver that does not acknowledge in time stay at the
 * branches.
 */
#ifndef MAINSM_SUBSCRIPTION_SUBSCRIPTION_H
#define MAINSM_SUBSCRIPTION_SUBSCRIPTION_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/omis/text/value.h"
#include "proto/msg.h"

#include <stdbool.h>

#define SUBSCRIPTIONS_MAX 16 /* as many as a daemon below stores */

struct branch;
struct branches;
struct tool_csrs;
struct directory;
struct subscriptions;
struct list;
struct loop;
struct numbers;
struct object;
struct session;

/* All borrowed. */
struct subscriptions_conf {
	struct loop *loop;
	struct branches *branches;
	struct directory *directory;
	struct tool_csrs *csrs;
	struct numbers *numbers;
	struct list *sessions; /* list of sessions, shared with those of tools */
	/* The branches must drop the objects of that session. */
	void (*on_session_gone)(void *arg, uint32_t number);
	void *arg;
};

struct subscriptions *subscriptions_new(const struct subscriptions_conf *conf);
void subscriptions_free(struct subscriptions *ks);

/* The request of a tool. Borrowed. */
struct subscription_request {
	const char *name, *where, *job; /* job: "" = all */
	const struct omis_value *names; /* a list */
	int64_t seconds;
	uint32_t policy, lease_s;
	uint64_t max_bytes;
};

/*
 * Makes the tool the receiver; creates the subscription if there is none. ERR_DENIED: it belongs to
 * another; ERR_INVALID, ERR_LIMIT, ERR_NOMEM.
 */
int subscriptions_keep(struct subscriptions *ks, struct session *s,
		       const struct subscription_request *w, bool *is_new, struct err *e);

/* drain: the stored events are sent first, then the end. ERR_NOTFOUND, ERR_DENIED. */
int subscriptions_unkeep(struct subscriptions *ks, struct session *s, const char *name, bool drain,
			 struct err *e);

/* Writes the values of omig_events_kept(): those of this owner. */
void subscriptions_write(const struct subscriptions *ks, const struct session *s,
			 struct omis_writer *w);

/* The tool has left, or no longer receives its subscriptions. */
void subscriptions_tool_gone(struct subscriptions *ks, const struct session *s);

/* A branch has connected. Called before anything is armed at it. */
void subscriptions_branch_up(struct subscriptions *ks, const struct branch *c);
void subscriptions_branch_lost(struct subscriptions *ks, uint32_t branch);
void subscriptions_proc_came(struct subscriptions *ks, const struct object *o);

/* Messages from a branch and from a tool. Messages of closed streams are skipped. */
void subscriptions_events(struct subscriptions *ks, uint32_t branch, const struct msg_events *m);
void subscriptions_ack(struct subscriptions *ks, const struct session *s,
		       const struct msg_events_ack *m);

size_t subscriptions_count(const struct subscriptions *ks);

#endif
