/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept subscriptions of tools: events that wait on disk, in lms and sms, until the tool that
 * receives them has acknowledged them. Nothing of it is on disk here: after a restart the tool asks
 * again, and those below still have all.
 *
 * A subscription is not its tool's: it has a session of its own, with a scope that follows all
 * processes (or those of one job), and goes on without a receiver until its lease is over. What
 * comes for a receiver that does not acknowledge in time is not held here but left below.
 */
#ifndef MAINSM_SUBSCRIPTION_SUBSCRIPTION_H
#define MAINSM_SUBSCRIPTION_SUBSCRIPTION_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/omis/value.h"
#include "proto/msg.h"

#include <stdbool.h>

#define KEPTS_MAX 16 /* as many as a daemon below keeps */
#define KEPT_WINDOW_BYTES (8u << 20) /* that a receiver has not acknowledged */
/* children come back within it, when mainsm was started again too; tools wait longer */
#define KEPT_RETURN_NS (10 * NSEC_PER_SEC)
#define KEPT_ROOM_MAX 8 /* messages of one child on their way */

struct child;
struct children;
struct csrs;
struct directory;
struct kepts;
struct list;
struct loop;
struct numbers;
struct object;
struct session;

/* All borrowed. */
struct kepts_conf {
	struct loop *loop;
	struct children *children;
	struct directory *directory;
	struct csrs *csrs;
	struct numbers *numbers;
	struct list *sessions; /* where sessions of subscriptions stand among those of tools */
	/* What the session had is to be undone below. */
	void (*on_session_gone)(void *arg, uint32_t number);
	void *arg;
};

struct kepts *kepts_new(const struct kepts_conf *conf);
void kepts_free(struct kepts *ks);

/* What a tool asks for. Borrowed. */
struct kept_wish {
	const char *name, *where, *job; /* job: "" = all */
	const struct omis_value *names; /* a list */
	int64_t seconds;
	uint32_t policy, lease_s;
	uint64_t max_bytes;
};

/*
 * The tool receives it from now on; it is made when there is none. ERR_DENIED: it is another's;
 * ERR_INVALID, ERR_LIMIT, ERR_NOMEM.
 */
int kepts_keep(struct kepts *ks, struct session *s, const struct kept_wish *w, bool *is_new,
	       struct err *e);

/* drain: what is kept still comes, and then the end. ERR_NOTFOUND, ERR_DENIED. */
int kepts_unkeep(struct kepts *ks, struct session *s, const char *name, bool drain, struct err *e);

/* Values of omig_events_kept(): those of this owner. */
void kepts_write(const struct kepts *ks, const struct session *s, struct omis_writer *w);

/* It is gone, or goes on without what it received. */
void kepts_tool_gone(struct kepts *ks, const struct session *s);

/* A child is there: before anything is armed at it. */
void kepts_child_up(struct kepts *ks, const struct child *c);
void kepts_child_lost(struct kepts *ks, uint32_t child);
void kepts_proc_came(struct kepts *ks, const struct object *o);

/* From a child; from a tool. Of streams that are over: passed over. */
void kepts_events(struct kepts *ks, uint32_t child, const struct msg_events *m);
void kepts_ack(struct kepts *ks, const struct session *s, const struct msg_events_ack *m);

size_t kepts_count(const struct kepts *ks);

#endif
