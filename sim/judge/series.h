/* SPDX-License-Identifier: Apache-2.0 */
/* All reads of a measurement of what was sent since the last read. What must hold of each of them,
 * and of all together. */
#ifndef SIM_JUDGE_SERIES_H
#define SIM_JUDGE_SERIES_H

#include "sim/nodes/cluster.h"
#include "sim/world/values.h"

#define SERIES_READS_MAX 256

struct series {
	struct cluster *c;
	unsigned slow_host; /* whose line is slow */
	nsec_t from, slow_from, slow_to; /* of the world; from: before it nothing was sent */
	struct part {
		int64_t read;
		nsec_t until; /* mainsm's */
		nsec_t error; /* of the clock of any host when it came */
		struct value v;
	} part[SERIES_READS_MAX];
	size_t n;
};

void series_begin(struct series *s, struct cluster *c, unsigned slow_host);

/* The measurement has begun on all hosts: the calls begin. */
void series_go(struct series *s);

/* The text of an event of a read, as values_parse_print() has it: each read once, in its place,
 * with one value. */
void series_take(struct series *s, const char *value);

/* True: all that was sent to parents has arrived. */
void series_judge(struct series *s);
void series_done(struct series *s);

#endif
