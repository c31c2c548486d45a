/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the failure detector of our own links: pairs of daemons that only send heartbeats, over
 * TCP on a given network. It measures how often a live peer is suspected, and how long the
 * detection of a lost peer takes.
 */
#ifndef SIM_STUDIES_DETECTOR_H
#define SIM_STUDIES_DETECTOR_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/err.h"
#include "neko/core/delay.h"
#include "stats/moments.h"

#include <stdint.h>

#define DETECTOR_LINKS_MAX 1000
/* Linux's minimum of TCP's retransmission time-out, which doubles each time */
#define DETECTOR_RETRY_NS (200 * NSEC_PER_MSEC)
#define DETECTOR_MONTH_NS (INT64_C(30) * 86400 * NSEC_PER_SEC)

struct detector_conf {
	uint64_t seed;
	unsigned links;
	nsec_t time; /* simulated time of each pair */
	struct delay delay; /* one-way delay */
	const char *delay_text; /* the delay in words, for detector_compare.h */
	double loss; /* probability that a segment is lost, each time that it is sent */
};

struct detector_result {
	double months; /* sum over all links */
	uint64_t frames;
	uint64_t suspicions; /* suspicions of a live peer */
	/* seconds from the loss of a peer to the report; each link contributes one at its end */
	struct moments found;
	double found_max;
};

int detector_measure(const struct detector_conf *c, struct detector_result *out, struct err *e);

/*
 * Computes the bounds of the mean for a count of k events: the exact interval of a Poisson
 * distribution.
 */
void detector_poisson(uint64_t k, double level, double out[2]);

void detector_print(const struct detector_conf *c, const struct detector_result *r,
		    struct buf *out);

#endif
