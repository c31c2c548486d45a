/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One batch for many links. Of the thousands of pairs of a matrix most are 0 in each read. Their
 * links share one batch, the rest. It represents all links of its piece that have no batch of their
 * own for that read. It has their number and the sum of their hashes. A receiver with other links
 * (the objects changed, or a frame was lost) sets none of them to 0.
 */
#ifndef COMMON_FLOW_BATCH_REST_H
#define COMMON_FLOW_BATCH_REST_H

#include "common/base/err.h"
#include "common/flow/engine/flow.h"

/* With fewer links, each is sent by itself with its name. */
#define FLOW_REST_MIN 16

struct flow_rest {
	struct flow_rest_one {
		const char *link; /* borrowed from the engine */
		struct flow_token t;
	} few[FLOW_REST_MIN];
	uint32_t n;
	uint64_t sum;
	/* bounds of the tokens' times, and of the times of their data */
	nsec_t first, last, oldest, newest;
	uint32_t measurement;
	int64_t read;
};

void flow_rest_clear(struct flow_rest *r);

/*
 * Adds the batch to the rest. Returns true if it did, so that the caller does not send it. Valid
 * until the graph changes.
 */
bool flow_rest_take(struct flow_rest *r, const struct flow_batch *b);

/*
 * Calls put() with the collected batches: with one rest, or, below FLOW_REST_MIN, with each. The
 * rest is empty afterwards.
 */
void flow_rest_give(struct flow_rest *r, void (*put)(void *arg, const struct flow_batch *b),
		    void *arg);

/* For a receiver of a rest: the links from the piece that sent it. */
struct flow_rest_links {
	const char *(*at)(void *arg, size_t i); /* NULL: i is beyond the last */
	bool (*has_reported)(void *arg, const char *link, int64_t read);
	void (*take)(void *arg, const struct flow_batch *b);
	void *arg;
};

/*
 * Calls take() for each link without a batch for that read. -ERR_INVALID: the links are not those
 * of the rest, and take() is not called.
 */
int flow_rest_apart(const struct flow_batch *rest, const struct flow_rest_links *links);

#endif
