/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests from mainsm: split over the hosts, gathered, answered once. Every request ends: by its
 * last step, by its deadline, by mainsm's cancel, or with the link to mainsm.
 */
#ifndef SM_NODE_REQUESTS_H
#define SM_NODE_REQUESTS_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/omis/reply/reply.h"
#include "common/omis/text/request.h"
#include "proto/msg.h"
#include "sm/hosts/nodes.h"
#include "sm/hosts/placement.h"

#define REQUESTS_MAX 4096 /* at a time: 64 tools with 64 each */

struct loop;
struct plan_here;
struct requests;

/* Borrowed. */
struct requests_conf {
	struct loop *loop;
	struct nodes *nodes;
	struct placement *placement;
	/* Sends whole frames to mainsm. */
	int (*send)(void *arg, const uint8_t *p, size_t n);
	/* The round-trip time of the link to mainsm; 0 = not measured. */
	nsec_t (*rtt)(void *arg);
	/* Adds the sm's own part of omig_status. */
	/* Executes omig_dfg_look for this sm. */
	int (*look)(void *arg, const struct plan_here *here, struct reply *into);
	int (*status)(void *arg, uint32_t action, struct reply *into);
	/* True if that many more bytes of hosts' answers may be held. */
	bool (*has_room)(void *arg, size_t bytes);
	void *arg;
};

struct requests *requests_new(const struct requests_conf *conf);
void requests_free(struct requests *rs);

/* Starts a request, which always gets a reply unless it is cancelled. */
void requests_ask(struct requests *rs, const struct msg_request *m);
void requests_cancel(struct requests *rs, uint64_t id);

/*
 * From a host. -ERR_NOTFOUND: no request waits for it (late, twice, never sent); -ERR_PROTO: it
 * names objects that are not its own. Neither has an effect, but the second counts as lost.
 */
int requests_reply(struct requests *rs, struct branch *b, const struct msg_reply *m, struct err *e);

/* The branch is lost: no reply will arrive from it. */
void requests_branch_lost(struct requests *rs, const struct branch *b, const char *reason);

/* mainsm is lost: cancels all, at the hosts too. */
void requests_drop_all(struct requests *rs);

struct requests_stats {
	size_t active;
	size_t bytes; /* of the requests and their replies so far */
	uint64_t asked, answered;
	uint64_t partial; /* answered without some objects */
	uint64_t doubles; /* asked twice */
	uint64_t unsent; /* replies without room in the link to mainsm */
	uint64_t strays; /* answers without a request */
};

void requests_stats(const struct requests *rs, struct requests_stats *out);

#endif
