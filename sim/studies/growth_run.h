/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growth over several numbers of hosts and levels of sms: measured in sequence, printed as tables
 * in Markdown and as lines of JSON.
 */
#ifndef SIM_STUDIES_GROWTH_RUN_H
#define SIM_STUDIES_GROWTH_RUN_H

#include "sim/studies/growth.h"

#define GROWTH_STEPS_MAX 8 /* numbers of hosts */
#define GROWTH_LEVELS_MAX 3 /* as CLUSTER_LEVELS_MAX */
/*
 * Each has a process with events: at most as many as the largest tree. With some 500 the graph that
 * evaluates everything at mainsm would exceed FLOW_NODES_MAX, and be refused.
 */
#define GROWTH_FRONT_HOSTS_MAX 400

/*
 * Memory of the program for each host: 77 KiB when 100,000 are connected, 11 more for mainsm's
 * measurements of 10,000, rounded up. More than the machine has would be swapped for hours, or end
 * the program without a message.
 */
#define GROWTH_HOST_BYTES (96 * 1024)

struct growth_plan {
	uint64_t seed;
	unsigned hosts[GROWTH_STEPS_MAX], levels[GROWTH_LEVELS_MAX];
	unsigned nhosts, nlevels;
	bool json; /* a line for each figure on the standard output, instead of tables */
	const char *output; /* file for these lines; NULL: none */
	bool (*must_end)(void);
	bool is_watched; /* progress is printed on the standard error */
};

/*
 * Checks that this many hosts fit in that much memory. ERR_LIMIT, with the memory that they need.
 */
int growth_fits(unsigned hosts, uint64_t bytes, struct err *e);

/* Room for at most `max` numbers, each from 1 to `most`. */
struct growth_list {
	unsigned *v, max, most;
};

/* Parses numbers separated by commas; *n of them. ERR_INVALID. */
int growth_parse_list(const char *text, const struct growth_list *to, unsigned *n, struct err *e);

/* Measures the speed of such worlds on this machine, a row each. time: virtual, of each. */
int growth_run_speed(const struct growth_plan *p, nsec_t time, struct err *e);

/* Rows, or lines with JSON, on the standard output as they are done. */
int growth_run(const struct growth_plan *p, struct err *e);

#endif
