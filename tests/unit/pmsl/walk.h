/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of a metric by a walk over its template, with all events available. It handles the
 * features used in tests of random metrics, without graphs, pieces or partial aggregates.
 */
#ifndef TESTS_UNIT_PMSL_WALK_H
#define TESTS_UNIT_PMSL_WALK_H

#include "common/base/clock.h"
#include "common/flow/graph/graph.h"
#include "pmsl/plan/bind.h"

#define WALK_PROCS 8
#define WALK_VTS 12 /* virtual times, from 1 */
#define WALK_READS 3

/* Time at which a process passed the probe, its counts at that time, and the probe's parameters. */
struct walk_event {
	nsec_t time;
	double sent, extra;
	bool is_lost; /* never received */
	unsigned round; /* the read before which its host received it; 0: unused */
};

struct walk_log {
	struct walk_event event[WALK_PROCS][WALK_VTS + 1];
	double sent_at_read[WALK_PROCS][WALK_READS + 1];
};

struct walk {
	const struct dag *g;
	const struct walk_log *log;
	unsigned read; /* from 1 */
	enum flow_since since;
	unsigned run[PMSL_VARIABLES_MAX]; /* values of the variables: a rank, a virtual time */
	unsigned running; /* bits of the variables that have a value now */
	/* A process' value of one virtual time, whole in that round, has not come up; NULL: all
	 * have. */
	bool (*is_gone)(void *arg, unsigned rank, unsigned vt, unsigned round);
	void *arg;
	int rank, vt; /* of the event that is examined; rank -1: none */
};

/* The virtual times that a metric gets as a list. */
#define WALK_RANGES 3
extern const struct bind_range walk_list[WALK_RANGES];
bool walk_is_listed(double vt);

/* All that happens has happened before number WALK_READS. */
nsec_t walk_read_time(unsigned r);

/* NaN when there is none. w->rank is -1. */
double walk_metric(struct walk *w);

/* The number of values in the aggregate that the metric returns. */
unsigned walk_count(struct walk *w);

#endif
