/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares failure detectors of neko for our links. Each sends one heartbeat in a period of ours.
 * detector.h measures our links on the same network.
 */
#ifndef SIM_STUDIES_DETECTOR_COMPARE_H
#define SIM_STUDIES_DETECTOR_COMPARE_H

#include "sim/studies/detector.h"

#define DETECTORS_MAX 8

struct detector_compared {
	const char *name, *rule; /* name of the layer, and its settings; static */
	double months;
	uint64_t suspicions; /* suspicions of a live peer */
	/* seconds from a crash to its detection; each run with a crash contributes one */
	struct moments found;
};

/*
 * Measures each detector for the total time of all links of c. Returns how many, at most
 * DETECTORS_MAX; < 0: -code.
 */
int detectors_measure(const struct detector_conf *c, struct detector_compared *out, struct err *e);

/* Prints a line for each detector, with the exact interval of its suspicions. */
void detectors_print(const struct detector_compared *r, unsigned n, struct buf *out);

#endif
