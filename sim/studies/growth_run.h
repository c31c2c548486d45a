/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures growth over several numbers of hosts and levels of sms, one after the other. Prints
 * tables in Markdown, or lines of JSON.
 */
#ifndef SIM_STUDIES_GROWTH_RUN_H
#define SIM_STUDIES_GROWTH_RUN_H

#include "sim/studies/growth.h"

#define GROWTH_STEPS_MAX 8 /* largest number of numbers of hosts */
#define GROWTH_LEVELS_MAX 3 /* as CLUSTER_LEVELS_MAX */
/*
 * Largest number of hosts with events, one process each. With about 500, the graph that evaluates
 * everything at mainsm would exceed FLOW_NODES_MAX and be refused.
 */
#define GROWTH_FRONT_HOSTS_MAX 400

/*
 * Memory of the program for each host. A connected host of 100,000 takes 77 KiB, and mainsm's
 * measurements of 10,000 hosts take 11 more, rounded up. A machine with less memory would swap for
 * hours, or end the program without a message.
 */
#define GROWTH_HOST_BYTES (96 * 1024)

struct growth_plan {
	uint64_t seed;
	unsigned hosts[GROWTH_STEPS_MAX], levels[GROWTH_LEVELS_MAX];
	unsigned nhosts, nlevels;
	bool json; /* prints a line for each value on the standard output, instead of tables */
	const char *output; /* file for the lines of JSON; NULL: none */
	bool (*must_end)(void);
	bool is_watched; /* progress is printed on the standard error */
};

/*
 * Checks that so many hosts fit in that much memory. Fails with ERR_LIMIT, with the required memory
 * in the text.
 */
int growth_fits(unsigned hosts, uint64_t bytes, struct err *e);

/* Where to put at most `max` numbers, each from 1 to `most`. */
struct growth_list {
	unsigned *v, max, most;
};

/* Parses numbers separated by commas; *n is their count. Fails with ERR_INVALID. */
int growth_parse_list(const char *text, const struct growth_list *to, unsigned *n, struct err *e);

/*
 * Measures the speed of such worlds on this machine, and prints a row for each. time: virtual time
 * of each world.
 */
int growth_run_speed(const struct growth_plan *p, nsec_t time, struct err *e);

/* Prints rows, or lines of JSON, on the standard output as they are measured. */
int growth_run(const struct growth_plan *p, struct err *e);

#endif
