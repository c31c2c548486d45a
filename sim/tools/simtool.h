/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool of a simulated world: a link to mainsm, and its pending requests. It checks that each
 * request gets one answer, or is lost with the connection.
 */
#ifndef SIM_TOOLS_SIMTOOL_H
#define SIM_TOOLS_SIMTOOL_H

#include "common/omis/reply/reply.h"
#include "proto/msg.h"
#include "sim/world/world.h"

/* time after the deadline within which an answer arrives, without the delay of the link */
#define SIMTOOL_LATE_NS (500 * NSEC_PER_MSEC)
#define SIMTOOL_PENDING_MAX 256

struct simtool;

struct simtool_conf {
	struct world *w;
	struct loop *loop; /* loop of the tool's host; NULL: the world's */
	const char *name;
	enum role role;
	uint64_t epoch; /* makes the ids of requests unique among all tools and runs */
	/*
	 * Called with a complete reply. Kind 0 and the reply to a definition are answers; others
	 * are events of a conditional request.
	 */
	void (*on_reply)(void *arg, const struct reply *r);
	/* called with events of subscriptions; may be NULL */
	void (*on_events)(void *arg, const struct msg_events *m);
	void (*on_up)(void *arg);
	/* Called when the connection is lost, with all pending requests. */
	void (*on_down)(void *arg);
	void *arg;
};

/* Begins to dial. */
int simtool_new(const struct simtool_conf *c, struct simtool **out, struct err *e);

/* Disconnects and frees the tool. */
void simtool_free(struct simtool *t);

bool simtool_is_up(const struct simtool *t);

struct simtool_ask {
	const char *text;
	uint64_t id; /* 0: a new id */
	nsec_t deadline;
	uint32_t flags; /* enum msg_request_flags */
};

/* Returns an unused id, for a request that may be sent more than once. */
uint64_t simtool_next_id(struct simtool *t);

/* Returns the id, or 0 if the request could not be sent. */
uint64_t simtool_ask(struct simtool *t, const struct simtool_ask *q);

void simtool_ack(struct simtool *t, const struct msg_events_ack *ack);

/* Stops the tool for this time: replies that it has not read are not overdue. */
void simtool_stand(struct simtool *t, nsec_t time);

/* Breaks the world if an answer is overdue. slow: longest delay that links may add. */
void simtool_check(struct simtool *t, nsec_t slow);

#endif
