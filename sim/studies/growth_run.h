/* SPDX-License-Identifier: Apache-2.0 */
/* Growth over several numbers of hosts and levels of sms: measured one after the other, printed as
 * tables in Markdown and as lines of JSON. */
#ifndef SIM_STUDIES_GROWTH_RUN_H
#define SIM_STUDIES_GROWTH_RUN_H

#include "sim/studies/growth.h"

#define GROWTH_STEPS_MAX 8 /* numbers of hosts */
#define GROWTH_LEVELS_MAX 3 /* as CLUSTER_LEVELS_MAX */
/*
 * With a process each, all of which have events: as many as the largest tree has, at most. With
 * some 500 the graph that evaluates all at the top would be larger than FLOW_NODES_MAX, and is
 * refused.
 */
#define GROWTH_FRONT_HOSTS_MAX 400

/*
 * What the program needs for each host: 77 KiB when 100,000 have found each other, 11 more for what
 * mainsm needs for measurements of 10,000, rounded up. More than there is would be swapped for
 * hours, or end the program without a word.
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

/* Whether this many hosts fit into so much memory. ERR_LIMIT, with what they need. */
int growth_fits(unsigned hosts, uint64_t bytes, struct err *e);

/* Room for at most `max` numbers, each from 1 to `most`. */
struct growth_list {
	unsigned *v, max, most;
};

/* Numbers by commas; *n of them. ERR_INVALID. */
int growth_parse_list(const char *text, const struct growth_list *to, unsigned *n, struct err *e);

/* How fast such worlds go here: the same, a row each. time: virtual, of each. */
int growth_run_speed(const struct growth_plan *p, nsec_t time, struct err *e);

/* Rows, or lines with JSON, on the standard output as they are done. */
int growth_run(const struct growth_plan *p, struct err *e);

#endif
