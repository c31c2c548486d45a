/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements of the site: each host gets its piece of the graph, again when
 * it comes back, and what its links carry is brought together read by read. The sm of the site runs
 * the site's piece; an sm below it has none and passes on what its hosts send, in one frame a read.
 * They outlive the link to mainsm for a while, as what is armed does.
 */
#ifndef SM_MEASURE_MEASURE_H
#define SM_MEASURE_MEASURE_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/limits.h"
#include "proto/msg.h"
#include "sm/hosts/nodes.h"

#define FLOWS_MAX 1024 /* sixteen measurements of each of TOOLS_MAX tools */
#define FLOWS_BYTES_MAX (256 * 1024 * 1024) /* graphs of all hosts and measurements */
#define FLOWS_NODES_MAX 262144 /* of all pieces of this site that run here */
/* of these; a sketch of each host is some 50 KB */
#define FLOWS_STATE_MAX_BYTES (256 * 1024 * 1024)
#define FLOWS_ENTRIES_MAX 1000 /* what is wrong, told in one FLOW_ACK; more names help nobody */
/* then mainsm is told without the hosts that do not answer */
#define FLOWS_ACK_MAX_NS NSEC_PER_SEC
#define FLOWS_FOLLOW_NS (20 * NSEC_PER_MSEC) /* many hosts of a lost sm come at once */

/*
 * A read waits so long for its last host: a busy one is late by less. Of fast reads it is as many
 * intervals, since hosts cannot be further ahead than FLOW_READS_OPEN. Who is above others waits
 * longer than they do, or one silent host would take with it what all beside it have told: by a
 * third for an sm above other sms, by two for that of the site, and mainsm (measure.h there) twice
 * as long.
 */
#define FLOWS_GRACE_NS (500 * NSEC_PER_MSEC)
#define FLOWS_GRACE_READS 3 /* and the thirds that the grace has */
#define FLOWS_GRACE_STACKED 1
#define FLOWS_GRACE_SITE 2

struct flows;
struct loop;
struct omis_writer;
struct timebase;

/* Borrowed. */
struct flows_conf {
	struct loop *loop;
	struct timebase *timebase;
	struct nodes *nodes;
	/* Our site's number; 0 = not known yet. */
	uint32_t (*site)(void *arg);
	/* To mainsm; as link_send(). */
	int (*send)(void *arg, const struct msg *m);
	void *arg;
};

/* NULL without memory. */
struct flows *flows_new(const struct flows_conf *conf);

/* Hosts are not told. */
void flows_free(struct flows *f);

/* From above. FLOW_ACK follows a FLOW_LOAD, when its last part is here. */
void flows_load(struct flows *f, const struct msg_flow_load *m);
void flows_read(struct flows *f, const struct msg_flow_read *m);
void flows_end(struct flows *f, uint32_t measurement);
void flows_drop_tool(struct flows *f, uint32_t tool);

/*
 * From a host. -ERR_NOTFOUND: nothing of the kind is loaded there (it is told, after a FLOW_BATCH);
 * -ERR_DENIED: it speaks of what is not its own; -ERR_PROTO: it breaks the rules.
 */
int flows_acked(struct flows *f, const struct branch *b, const struct msg_flow_ack *m,
		struct err *e);
int flows_batch(struct flows *f, struct branch *b, const struct msg_flow_batch *m, struct err *e);

/* It is (again) there; it is not connected; hosts have moved to other branches. */
void flows_branch_up(struct flows *f, const struct branch *b);
void flows_branch_down(struct flows *f, const struct branch *b);
void flows_follow(struct flows *f);

/* mainsm is gone: whatever it does not load again before flows_drop_stale() ends then. */
void flows_set_stale(struct flows *f);
void flows_drop_stale(struct flows *f);

/* For omig_dfg_look: appends what can be seen of a piece that runs here. -ERR_NOTFOUND. */
int flows_look(const struct flows *f, uint32_t measurement, struct omis_writer *w);

struct flows_stats {
	size_t measurements, nodes, state_bytes;
	size_t bytes; /* of graphs */
	uint64_t reads; /* that were closed */
	uint64_t late; /* of these, without some host */
	uint64_t strays;
};

void flows_stats(const struct flows *f, struct flows_stats *out);

#endif
