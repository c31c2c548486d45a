/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One batch for many links. Of the thousands of pairs of a matrix most are 0 in each read. Their
 * links have one batch together. It stands for all links of its piece that have no batch of their
 * own for that read. It has their number and the sum of their hashes: a receiver that has other
 * links (the objects have changed, a frame was lost) takes none of them for 0.
 */
#ifndef COMMON_FLOW_BATCH_REST_H
#define COMMON_FLOW_BATCH_REST_H

#include "common/base/err.h"
#include "common/flow/engine/flow.h"

/* Fewer are sent one by one: some bytes more, and each by its name. */
#define FLOW_REST_MIN 16

struct flow_rest {
	struct flow_rest_one {
		const char *link; /* borrowed from the engine */
		struct flow_token t;
	} few[FLOW_REST_MIN];
	uint32_t n;
	uint64_t sum;
	nsec_t first, last, oldest, newest; /* of the tokens' times, and of their data */
	uint32_t measurement;
	int64_t read;
};

void flow_rest_clear(struct flow_rest *r);

/* True: it is in there, and is not sent by itself. Valid until the graph changes. */
bool flow_rest_take(struct flow_rest *r, const struct flow_batch *b);

/* What is in there: batches for put(), one or, below FLOW_REST_MIN, each of its own. Nothing is in
 * there then. */
void flow_rest_give(struct flow_rest *r, void (*put)(void *arg, const struct flow_batch *b),
		    void *arg);

/* Where the batch of a rest comes: the links that lead from its piece. */
struct flow_rest_links {
	const char *(*at)(void *arg, size_t i); /* NULL: the last was before */
	bool (*has_reported)(void *arg, const char *link, int64_t read);
	void (*take)(void *arg, const struct flow_batch *b);
	void *arg;
};

/* Takes a batch for each link without one for that read. -ERR_INVALID: these are other links than
 * it stands for, and none is taken. */
int flow_rest_apart(const struct flow_batch *rest, const struct flow_rest_links *links);

#endif
