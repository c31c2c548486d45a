/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contents of `omig export`: one sample of everything, and totals between samples, so that
 * counters never decrease.
 */
#ifndef TOOLS_EXPORT_EXPORT_H
#define TOOLS_EXPORT_EXPORT_H

#include "common/container/map.h"
#include "tools/term/say.h"
#include "tools/export/metrics.h"
#include "tools/view/top.h"

#define EXPORT_NAME_BYTES 256

/* --- cumulative counters of a process */

enum export_kind { EXPORT_CALLS, EXPORT_TIME_NS, EXPORT_OUT, EXPORT_IN, EXPORT_KINDS };
struct export_counters {
	double cpu_s;
	double mpi[EXPORT_KINDS][TOP_CLASSES];
};

/* The processes of a job on a node, including ended ones. */
struct export_group {
	char job[EXPORT_NAME_BYTES], site[TOP_NAME_BYTES], node[TOP_NAME_BYTES];
	struct export_counters gone; /* counters of processes that were dropped */
	struct export_counters sum; /* of all */
	size_t processes; /* remembered */
	size_t running; /* alive in the last sample */
	double rss_bytes; /* memory of the running processes */
	nsec_t seen; /* time of the last sample with a process of it */
};

struct export_process {
	char token[TOP_TOKEN_BYTES], program[TOP_NAME_BYTES];
	struct export_group *group;
	int64_t rank, pid;
	double rss_bytes;
	bool has_ended, is_seen; /* in the last sample */
	nsec_t seen;
	/* last: as read; base: total before the last decrease, when the counters restarted */
	struct export_counters last, base;
};

/* State between samples. */
struct export_totals {
	struct smap process, group; /* by token; by job, site and node */
	uint64_t resets; /* counts that decreased */
	size_t forgotten; /* processes without room, in the last sample */
};

void export_totals_init(struct export_totals *k);
void export_totals_done(struct export_totals *k);

/* Where a process runs. */
struct export_place {
	const char *job, *site, *node;
};

/* For each sample: begin, each process once, end. */
void export_totals_begin(struct export_totals *k);
int export_totals_add(struct export_totals *k, const struct top_rank *r,
		      const struct export_place *at, nsec_t now);
void export_totals_end(struct export_totals *k, nsec_t now);

/*
 * Returns groups, sorted so that a limit cuts the same ones each time; the caller frees them. NULL:
 * no memory.
 */
struct export_group **export_totals_groups(const struct export_totals *k, size_t *n);
struct export_process **export_totals_processes(const struct export_totals *k, size_t *n);

/* --- the rest of a sample */

#define EXPORT_NODE_VALUES 32

struct export_node {
	char token[TOP_TOKEN_BYTES], name[TOP_NAME_BYTES], site[TOP_NAME_BYTES], state[16];
	double v[EXPORT_NODE_VALUES]; /* in the order of export_node.c; NaN: not known */
};

struct export_daemon {
	char name[16], version[32], site[TOP_NAME_BYTES], node[TOP_NAME_BYTES];
	double uptime_s;
	Omis_value *status; /* owned: daemon, version, uptime_ns, [name, value]... */
};

struct export
{
	struct cmd_common common;
	const char *measure; /* off, count, time, volume */
	bool per_rank, is_open; /* a session with mainsm */
	size_t series_max;
	struct export_totals totals;
	struct export_node *node; /* owned */
	size_t nnode, node_cap;
	struct export_daemon *daemon; /* owned */
	size_t ndaemon, daemon_cap;
	unsigned asked, answered; /* coverage of the last sample */
	bool is_up; /* the last sample succeeded */
	nsec_t taken_wall, took, started_wall;
	uint64_t samples, failures, scrapes;
};

void export_init(struct export *x);
void export_done(struct export *x);

/*
 * Takes one sample. Reports failures on stderr and returns an exit status. Opens the session if
 * there is none.
 */
int export_take(struct export *x);

/* --- export_node.c: values of nodes */

/* Returns the flags for node_get_info(). */
unsigned export_node_flags(void);
/* Reads v, the reply of node_get_info() for those flags, NULL: none. */
void export_node_read(struct export_node *n, const Omis_value *v);
void export_node_write(const struct export *x, struct metrics *m);

/* --- export_write.c: writes the last sample as text */

void export_write(const struct export *x, enum metrics_form form, struct buf *out);

#endif
