/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The csrs that mainsm has enabled for hosts of this sm. Each host gets its part, and again when it
 * returns. Its reports are checked before they are sent to the parent. The csrs outlive the link to
 * the parent for a while, so that a restart there loses little.
 */
#ifndef SM_CSR_CSR_H
#define SM_CSR_CSR_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/limits.h"
#include "proto/msg.h"
#include "sm/hosts/nodes.h"
#include "sm/hosts/placement.h"

#define SITE_CSRS_MAX (TOOLS_MAX * TOOL_CSRS_MAX)
/* bytes of the texts of all csrs; each lists its objects */
#define SITE_CSRS_BYTES_MAX (64 * 1024 * 1024)
#define SITE_CSRS_FOLLOW_NS (20 * NSEC_PER_MSEC) /* many hosts of a lost sm arrive together */
#define SITE_CSRS_ENTRIES_MAX 1000 /* faults reported in one ARM_ACK; more names are of no use */
/* after this, mainsm gets the answer without silent hosts */
#define SITE_CSRS_ACK_MAX_NS NSEC_PER_SEC
/* Likewise for DISARM: shorter than mainsm's wait for this sm. */
#define SITE_CSRS_PARTED_MAX_NS (700 * NSEC_PER_MSEC)
/* Collects losses of many hosts in one number. */
#define SITE_CSRS_LOSSES_NS (200 * NSEC_PER_MSEC)

struct site_csrs;
struct loop;

/* Borrowed. */
struct site_csrs_conf {
	struct loop *loop;
	struct nodes *nodes;
	struct placement *placement;
	/* Sends to mainsm; as link_send(). */
	int (*send)(void *arg, const struct msg *m);
	/* True if the link to mainsm has no room for an event. */
	bool (*is_congested)(void *arg);
	void *arg;
};

struct site_csrs *site_csrs_new(const struct site_csrs_conf *conf);

/* Sends no message to the hosts. */
void site_csrs_free(struct site_csrs *a);

/* Handles ARM of mainsm: ARM_ACK always follows. ARM of an enabled csr replaces it. */
void site_csrs_arm(struct site_csrs *a, const struct msg_arm *m);
/* LOSSES always follows: when all hosts have reported theirs, or SITE_CSRS_PARTED_MAX_NS later. */
void site_csrs_disarm(struct site_csrs *a, const char *csr);
bool site_csrs_has(const struct site_csrs *a, const char *csr);
void site_csrs_drop_tool(struct site_csrs *a, uint32_t tool);

/*
 * Handle messages of a host. -ERR_NOTFOUND: no such csr is enabled there (the reply to a TRIGGERED
 * is a DISARM); -ERR_DENIED: it names objects that are not its own.
 */
int site_csrs_acked(struct site_csrs *a, const struct branch *b, const struct msg_arm_ack *m,
		    struct err *e);
int site_csrs_triggered(struct site_csrs *a, struct branch *b, const struct msg_triggered *m,
			struct err *e);

/* As site_csrs_triggered(), but without an answer to the host. */
int site_csrs_losses(struct site_csrs *a, const struct branch *b, const struct msg_losses *m,
		     struct err *e);

/* The branch has connected (again): its csrs are sent. */
void site_csrs_branch_up(struct site_csrs *a, const struct branch *b);

/* The branch has disconnected: its confirmations are not awaited. */
void site_csrs_branch_down(struct site_csrs *a, const struct branch *b);

/* The branch has no hosts left. */
void site_csrs_branch_gone(struct site_csrs *a, const struct branch *b);

/* Hosts have moved to other branches: their csrs are enabled there soon. */
void site_csrs_follow(struct site_csrs *a);

/*
 * mainsm is lost: csrs that it does not arm again before site_csrs_drop_stale() are disarmed then.
 */
void site_csrs_set_stale(struct site_csrs *a);
void site_csrs_drop_stale(struct site_csrs *a);

struct site_csrs_stats {
	size_t armed, bytes;
	uint64_t triggered; /* reported to the parent */
	/* had no room in the link to the parent, and were reported as a gap later */
	uint64_t dropped;
	uint64_t strays;
};

void site_csrs_stats(const struct site_csrs *a, struct site_csrs_stats *out);

/* Returns how many belong to tools for which `knows` is false. */
size_t site_csrs_strange(const struct site_csrs *a, bool (*knows)(void *arg, uint32_t tool),
			 void *arg);

#endif
