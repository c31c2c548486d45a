/* SPDX-License-Identifier: Apache-2.0 */
/* All reads of a measurement of what was sent since the last read, and what they must be together
 * and each. */
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
		struct value v;
	} part[SERIES_READS_MAX];
	size_t n;
};

void series_begin(struct series *s, struct cluster *c, unsigned slow_host);

/* It has begun everywhere, and calls begin. */
void series_go(struct series *s);

/* What an event of a read tells, as values_parse_print() has it: each read once, in its place, with
 * one value. */
void series_take(struct series *s, const char *value);

/* All that was sent up has come. */
void series_judge(struct series *s);
void series_done(struct series *s);

#endif
