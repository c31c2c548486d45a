/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool of a simulated world: a link to mainsm, and what it has asked. It checks that each request
 * is answered once, or lost with the end of the connection.
 */
#ifndef SIM_TOOLS_SIMTOOL_H
#define SIM_TOOLS_SIMTOOL_H

#include "common/omis/reply/reply.h"
#include "proto/msg.h"
#include "sim/world/world.h"

/* an answer comes by the deadline and the way to us */
#define SIMTOOL_LATE_NS (500 * NSEC_PER_MSEC)
#define SIMTOOL_PENDING_MAX 256

struct simtool;

struct simtool_conf {
	struct world *w;
	struct loop *loop; /* of its host; NULL: the world's */
	const char *name;
	enum role role;
	uint64_t epoch; /* with it the ids of its requests are its own for ever */
	/* A whole reply; kind 0 and that of a definition are answers, others events of a
	 * conditional request. */
	void (*on_reply)(void *arg, const struct reply *r);
	/* of kept subscriptions; may be NULL */
	void (*on_events)(void *arg, const struct msg_events *m);
	void (*on_up)(void *arg);
	/* What it has asked and not heard is lost. */
	void (*on_down)(void *arg);
	void *arg;
};

/* Begins to dial. */
int simtool_new(const struct simtool_conf *c, struct simtool **out, struct err *e);

/* Leaves in good order. */
void simtool_free(struct simtool *t);

bool simtool_is_up(const struct simtool *t);

struct simtool_ask {
	const char *text;
	uint64_t id; /* 0: the next new one */
	nsec_t deadline;
	uint32_t flags; /* enum msg_request_flags */
};

/* One that it has not used: for a request that may be sent again. */
uint64_t simtool_next_id(struct simtool *t);

/* The id, 0 when it could not be sent. */
uint64_t simtool_ask(struct simtool *t, const struct simtool_ask *q);

void simtool_ack(struct simtool *t, const struct msg_events_ack *ack);

/* The tool stops for this time: replies that it has not read are not overdue. */
void simtool_stand(struct simtool *t, nsec_t time);

/* Answers that are overdue break the world. slow: what links may add. */
void simtool_check(struct simtool *t, nsec_t slow);

#endif
