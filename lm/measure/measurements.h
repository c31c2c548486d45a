/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements on this host: the pieces of their graphs that run here, with inputs from the ranks
 * and from the system. At the end of each interval they are read. One frame sends the values of
 * their links to the parent. Without a measurement nothing runs.
 */
#ifndef LM_MEASURE_MEASUREMENTS_H
#define LM_MEASURE_MEASUREMENTS_H

#include "common/base/err.h"
#include "common/base/limits.h"
#include "proto/msg.h"

/* measurements with a piece here: sixteen of each of TOOLS_MAX tools */
#define MEASUREMENTS_MAX 1024
#define MEASUREMENTS_NODES_MAX 65536 /* nodes of all graphs */
/* all of them: an amount that a watched host can spare */
#define MEASUREMENTS_STATE_MAX_BYTES (64 * 1024 * 1024)
/* time for a parent to return: as long as an sm keeps a tool's measurements */
#define MEASUREMENTS_RESTATE_NS (120 * NSEC_PER_SEC)
#define MEASUREMENTS_ENTRIES_MAX 100 /* problems of one piece; more names do not help */

struct host;
struct loop;
struct omis_writer;
struct probes;
struct procs;
struct measurements;
struct plugins;
struct tickbase;
struct timebase;

/* Pointers are borrowed. */
struct measurements_conf {
	struct loop *loop;
	struct host *host;
	struct procs *procs;
	struct timebase *timebase;
	struct tickbase *ticks;
	struct probes *probes;
	struct plugins *plugins; /* NULL: none */
	const struct disk *disk; /* disk of this file; NULL = the system's */
	const char *baselines; /* file; NULL: the next lm has no baselines */
	int (*send)(void *arg, const struct msg *m); /* up; as link_send() */
	void *arg;
};

/* Returns NULL without memory. */
struct measurements *measurements_new(const struct measurements_conf *c);
void measurements_free(struct measurements *r);

/* Handles a message of the parent. FLOW_ACK always follows. */
void measurements_load(struct measurements *r, const struct msg_flow_load *m);
void measurements_read(struct measurements *r, const struct msg_flow_read *m);
void measurements_end(struct measurements *r, uint32_t measurement);
void measurements_tool_gone(struct measurements *r, uint32_t tool);

/*
 * The parent connected or disconnected. Measurements continue, and their last frames wait until
 * they are loaded again. Those not loaded within MEASUREMENTS_RESTATE_NS are dropped.
 */
void measurements_link(struct measurements *r, bool is_up);

/* For omig_dfg_look: appends the state of one measurement. -ERR_NOTFOUND. */
int measurements_write(const struct measurements *r, uint32_t measurement, struct omis_writer *w);

struct measurements_stats {
	size_t measurements, nodes, state_bytes;
	uint64_t reads;
};
void measurements_stats(const struct measurements *r, struct measurements_stats *out);

#endif
