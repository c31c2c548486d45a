/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests that mainsm has armed here: each host gets its share,
 * again when it comes back, and what it reports is checked before it goes up. They outlive the
 * link to mainsm for a while, so that a restart up there loses little.
 */
#ifndef SM_CSR_CSR_H
#define SM_CSR_CSR_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/limits.h"
#include "proto/msg.h"
#include "sm/hosts/placement.h"
#include "sm/hosts/nodes.h"

#define ARMS_MAX (TOOLS_MAX * TOOL_CSRS_MAX)
/* of the texts for all hosts: each lists its objects */
#define ARMS_BYTES_MAX (64 * 1024 * 1024)
#define ARMS_FOLLOW_NS (20 * NSEC_PER_MSEC) /* many hosts of a lost sm come at once */
#define ARMS_ENTRIES_MAX 1000 /* what is wrong, told in one ARM_ACK; more names help nobody */
/* then mainsm is told without the hosts that do not answer */
#define ARMS_ACK_MAX_NS NSEC_PER_SEC
/* the same for DISARM: less than mainsm waits for this sm */
#define ARMS_PARTED_MAX_NS (700 * NSEC_PER_MSEC)
/* what many hosts have lost goes up as one number */
#define ARMS_LOSSES_NS (200 * NSEC_PER_MSEC)
/* told by one host at once: more is nonsense, and must not run over */
#define ARMS_LOST_MAX (UINT64_C(1) << 31)

struct arms;
struct loop;

/* Borrowed. */
struct arms_conf {
	struct loop *loop;
	struct nodes *nodes;
	struct cells *cells;
	/* To mainsm; as link_send(). */
	int (*send)(void *arg, const struct msg *m);
	/* Is there no room for an event on the link to mainsm? */
	bool (*is_congested)(void *arg);
	void *arg;
};

struct arms *arms_new(const struct arms_conf *conf);

/* Hosts are not told. */
void arms_free(struct arms *a);

/* From mainsm. ARM_ACK follows always; ARM of what is armed replaces it. */
void arms_arm(struct arms *a, const struct msg_arm *m);
/* LOSSES follows always, when all hosts have told theirs, or ARMS_PARTED_MAX_NS later. */
void arms_disarm(struct arms *a, const char *csr);
bool arms_has(const struct arms *a, const char *csr);
void arms_drop_tool(struct arms *a, uint32_t tool);

/*
 * From a host. -ERR_NOTFOUND: nothing of the kind is armed there (it is told, after a TRIGGERED);
 * -ERR_DENIED: it
 * speaks of what is not its own.
 */
int arms_acked(struct arms *a, const struct branch *b, const struct msg_arm_ack *m, struct err *e);
int arms_triggered(struct arms *a, struct branch *b, const struct msg_triggered *m, struct err *e);

/* As arms_triggered(), of which nobody is told. */
int arms_losses(struct arms *a, const struct branch *b, const struct msg_losses *m, struct err *e);

/* It is (again) there: everything that is armed there is sent. */
void arms_branch_up(struct arms *a, const struct branch *b);

/* It is not connected: nobody waits for its confirmations. */
void arms_branch_down(struct arms *a, const struct branch *b);

/* Nobody is there any more. */
void arms_branch_gone(struct arms *a, const struct branch *b);

/* Hosts have moved to other branches: what is armed follows them, soon. */
void arms_follow(struct arms *a);

/* mainsm is gone: whatever it does not arm again before arms_drop_stale() is disarmed then. */
void arms_set_stale(struct arms *a);
void arms_drop_stale(struct arms *a);

struct arms_stats {
	size_t armed, bytes;
	uint64_t triggered; /* went up */
	uint64_t dropped; /* did not fit upwards, and were told as a gap later */
	uint64_t strays;
};

void arms_stats(const struct arms *a, struct arms_stats *out);

/* How many are of tools for which `knows` is false. */
size_t arms_strange(const struct arms *a, bool (*knows)(void *arg, uint32_t tool), void *arg);

#endif
