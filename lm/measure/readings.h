/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements on this host: the pieces of their graphs that run here, with
 * inputs from the ranks and from the system. Whenever an interval ends they are read, and what
 * their links carry goes up in one frame. Without a measurement nothing runs.
 */
#ifndef LM_READINGS_H
#define LM_READINGS_H

#include "common/base/err.h"
#include "common/base/limits.h"
#include "proto/msg.h"

/* measurements with a piece here: sixteen of each of TOOLS_MAX tools */
#define READINGS_MAX 1024
#define READINGS_NODES_MAX 65536 /* of all their graphs */
/* of these: what a watched host can spare */
#define READINGS_STATE_MAX_BYTES (64 * 1024 * 1024)
/* for a parent that comes back: as long as an sm keeps what tools wanted */
#define READINGS_RESTATE_NS (120 * NSEC_PER_SEC)
#define READINGS_ENTRIES_MAX 100 /* what is wrong with one piece; more names help nobody */

struct host;
struct loop;
struct omis_writer;
struct probes;
struct procs;
struct readings;
struct tickbase;
struct timebase;

/* Pointers are borrowed. */
struct readings_conf {
	struct loop *loop;
	struct host *host;
	struct procs *procs;
	struct timebase *timebase;
	struct tickbase *ticks;
	struct probes *probes;
	const char *bases; /* file; NULL: the next lm does not know where counts began */
	int (*send)(void *arg, const struct msg *m); /* up; as link_send() */
	void *arg;
};

/* NULL without memory. */
struct readings *readings_new(const struct readings_conf *c);
void readings_free(struct readings *r);

/* From above. FLOW_ACK follows always. */
void readings_load(struct readings *r, const struct msg_flow_load *m);
void readings_read(struct readings *r, const struct msg_flow_read *m);
void readings_end(struct readings *r, uint32_t measurement);
void readings_tool_gone(struct readings *r, uint32_t tool);

/*
 * The parent came or went. Measurements go on, and their last frames wait until they are loaded
 * again; what is not within READINGS_RESTATE_NS is given up.
 */
void readings_link(struct readings *r, bool is_up);

/* For omig_dfg_look: appends what can be seen of one. -ERR_NOTFOUND. */
int readings_look(const struct readings *r, uint32_t measurement, struct omis_writer *w);

struct readings_stats {
	size_t measurements, nodes, state_bytes;
	uint64_t reads;
};
void readings_stats(const struct readings *r, struct readings_stats *out);

#endif
