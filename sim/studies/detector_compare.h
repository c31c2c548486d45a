/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares failure detectors for our links: those of neko. Each sends one heartbeat in a period of
 * ours. The network is the one for which detector.h measures the links themselves.
 */
#ifndef SIM_STUDIES_DETECTOR_COMPARE_H
#define SIM_STUDIES_DETECTOR_COMPARE_H

#include "sim/studies/detector.h"

#define DETECTORS_MAX 8

struct detector_compared {
	const char *name, *rule; /* the name of the layer and its settings; static */
	double months;
	uint64_t suspicions; /* of a live peer */
	struct moments found; /* seconds from its crash; one for each run with a crash */
};

/*
 * Measures for the total time of all links of c. Returns how many, at most DETECTORS_MAX; < 0:
 * -code.
 */
int detectors_measure(const struct detector_conf *c, struct detector_compared *out, struct err *e);

/* Prints a line each, with the exact interval of the counts. */
void detectors_print(const struct detector_compared *r, unsigned n, struct buf *out);

#endif
