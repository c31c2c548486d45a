/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements of the site. Each host gets its piece of the graph, and again when it returns. The
 * values of its links are merged read by read. The sm of the site runs the site's piece. A lower sm
 * has none and passes on the values of its hosts, in one frame per read. Measurements outlive the
 * link to mainsm for a while, as conditional requests do.
 */
#ifndef SM_MEASURE_MEASURE_H
#define SM_MEASURE_MEASURE_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/limits.h"
#include "proto/msg.h"
#include "sm/hosts/nodes.h"

#define SITE_MEASURES_MAX 1024 /* sixteen measurements of each of TOOLS_MAX tools */
#define SITE_MEASURES_BYTES_MAX (256 * 1024 * 1024) /* graphs of all hosts and measurements */
#define SITE_MEASURES_NODES_MAX 262144 /* of all pieces of this site that run here */
/* total; a sketch of each host is some 50 KB */
#define SITE_MEASURES_STATE_MAX_BYTES (256 * 1024 * 1024)
/* faults reported in one FLOW_ACK; more names are of no use */
#define SITE_MEASURES_ENTRIES_MAX 1000
/* after this, mainsm gets the answer without silent hosts */
#define SITE_MEASURES_ACK_MAX_NS NSEC_PER_SEC
#define SITE_MEASURES_FOLLOW_NS (20 * NSEC_PER_MSEC) /* many hosts of a lost sm arrive together */

/*
 * A read waits this long for its last host: a busy host is late by less. Fast reads wait as many
 * intervals: hosts cannot be further ahead than FLOW_READS_OPEN. A parent waits longer than its
 * branches, or one silent host would discard the values of all others. An sm above other sms waits
 * a third longer, the sm of the site two thirds, mainsm twice as long.
 */
#define SITE_MEASURES_GRACE_NS (500 * NSEC_PER_MSEC)
#define SITE_MEASURES_GRACE_READS 3 /* and as thirds of the grace */
#define SITE_MEASURES_GRACE_STACKED 1
#define SITE_MEASURES_GRACE_SITE 2

struct site_measures;
struct loop;
struct omis_writer;
struct timebase;

/* Borrowed. */
struct site_measures_conf {
	struct loop *loop;
	struct timebase *timebase;
	struct nodes *nodes;
	/* Number of this site; 0 = not known yet. */
	uint32_t (*site)(void *arg);
	/* Sends to mainsm; as link_send(). */
	int (*send)(void *arg, const struct msg *m);
	void *arg;
};

/* Returns NULL without memory. */
struct site_measures *site_measures_new(const struct site_measures_conf *conf);

/* Sends nothing to the hosts. */
void site_measures_free(struct site_measures *f);

/* Messages of the parent. FLOW_ACK follows the last part of a FLOW_LOAD. */
void site_measures_load(struct site_measures *f, const struct msg_flow_load *m);
void site_measures_read(struct site_measures *f, const struct msg_flow_read *m);
void site_measures_end(struct site_measures *f, uint32_t measurement);
void site_measures_drop_tool(struct site_measures *f, uint32_t tool);

/*
 * From a host. -ERR_NOTFOUND: no such piece is loaded there (a FLOW_END answers a FLOW_BATCH);
 * -ERR_DENIED: it names objects that are not its own; -ERR_PROTO: it breaks the rules.
 */
int site_measures_acked(struct site_measures *f, const struct branch *b,
			const struct msg_flow_ack *m, struct err *e);
int site_measures_batch(struct site_measures *f, struct branch *b, const struct msg_flow_batch *m,
			struct err *e);

/* A branch is connected (again); a branch is lost; hosts have moved to other branches. */
void site_measures_branch_up(struct site_measures *f);
void site_measures_branch_down(struct site_measures *f, const struct branch *b);
void site_measures_follow(struct site_measures *f);

/*
 * mainsm is lost: measurements that it does not load again before site_measures_drop_stale() end
 * then.
 */
void site_measures_set_stale(struct site_measures *f);
void site_measures_drop_stale(struct site_measures *f);

/* For omig_dfg_look: appends the state of a piece that runs here. -ERR_NOTFOUND. */
int site_measures_look(const struct site_measures *f, uint32_t measurement, struct omis_writer *w);

struct site_measures_stats {
	size_t measurements, nodes, state_bytes;
	size_t bytes; /* of graphs */
	uint64_t reads; /* closed reads */
	uint64_t late; /* reads closed without some host */
	uint64_t strays;
};

void site_measures_stats(const struct site_measures *f, struct site_measures_stats *out);

#endif
