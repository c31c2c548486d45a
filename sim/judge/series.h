/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks all reads of a measurement with values since the last read: rules for each of them, and
 * for all together.
 */
#ifndef SIM_JUDGE_SERIES_H
#define SIM_JUDGE_SERIES_H

#include "sim/nodes/cluster.h"
#include "sim/world/values.h"

#define SERIES_READS_MAX 256

struct series {
	struct cluster *c;
	unsigned slow_host; /* index of the host whose link is slow */
	nsec_t from, slow_from, slow_to; /* times of the world; no process sends before `from` */
	struct part {
		int64_t read;
		nsec_t until; /* mainsm's time */
		nsec_t error; /* largest error of any host's clock when the read arrived */
		struct value v;
	} part[SERIES_READS_MAX];
	size_t n;
};

void series_begin(struct series *s, struct cluster *c, unsigned slow_host);

/* Starts the calls, after the measurement has begun on all hosts. */
void series_go(struct series *s);

/*
 * Checks the event of a read, a text for values_parse_print(). Each read must arrive once, in
 * order, with one value.
 */
void series_take(struct series *s, const char *value);

/* Checks that all values sent to parents have arrived. */
void series_judge(struct series *s);
void series_done(struct series *s);

#endif
