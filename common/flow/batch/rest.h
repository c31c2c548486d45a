/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One batch for many links. Most of the thousands of pairs of a matrix are 0 in each read. Their
 * links share one batch, the *rest*. It stands for all links of its piece that have no batch of
 * their own for that read. It has their number and the sum of their hashes. A receiver with other
 * links (objects have changed, or a frame was lost) sets none of them to 0.
 */
#ifndef COMMON_FLOW_BATCH_REST_H
#define COMMON_FLOW_BATCH_REST_H

#include "common/base/err.h"
#include "common/flow/engine/flow.h"

/* if fewer links have the value 0, each is sent with its name */
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
 * Adds the batch to the rest if its value is 0. Returns true if it was added, so that the caller
 * does not send it. Valid until the graph changes.
 */
bool flow_rest_take(struct flow_rest *r, const struct flow_batch *b);

/*
 * Calls put() with the rest, or, below FLOW_REST_MIN links, with each collected batch. The rest is
 * empty afterwards.
 */
void flow_rest_give(struct flow_rest *r, void (*put)(void *arg, const struct flow_batch *b),
		    void *arg);

/* For a receiver of a rest: the links from the piece that has sent it. */
struct flow_rest_links {
	const char *(*at)(void *arg, size_t i); /* returns NULL beyond the last link */
	bool (*has_reported)(void *arg, const char *link, int64_t read);
	void (*take)(void *arg, const struct flow_batch *b);
	void *arg;
};

/*
 * Calls take() for each link without a batch for that read. Fails with ERR_INVALID if the links are
 * not those of the rest, and then does not call take().
 */
int flow_rest_apart(const struct flow_batch *rest, const struct flow_rest_links *links);

#endif
