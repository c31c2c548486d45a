/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates of the node's counts, averaged over 1 to 15 seconds. Counts are sampled only while requests
 * arrive. The first request waits for a second. Later answers need no waiting until half a minute
 * passes without a request.
 */
#ifndef LM_HOST_RATES_H
#define LM_HOST_RATES_H

#include "common/container/list.h"
#include "lm/host/host.h"

#define RATES_MIN_NS NSEC_PER_SEC
#define RATES_STEP_NS (5 * NSEC_PER_SEC) /* between two samples */
#define RATES_MAX_NS (15 * NSEC_PER_SEC)
/* sampling continues for this long after the last request */
#define RATES_WANTED_NS (30 * NSEC_PER_SEC)

struct loop;
struct rates;

struct node_rates {
	double per_s[HOST_NCOUNTS]; /* -1 = not known */
	nsec_t over; /* the time that they are averaged over */
};

/* Must be zeroed before use. */
struct rates_wait {
	struct list link;
	void (*fn)(void *arg);
	void *arg;
};

struct rates *rates_new(struct loop *l, struct host *h);
void rates_free(struct rates *r);

/* -ERR_AGAIN: there is no earlier sample yet; call rates_wait(). -ERR_SYS. */
int rates_get(struct rates *r, struct node_rates *out, struct err *e);

/* fn is called once, when rates_get() has an answer. */
void rates_wait(struct rates *r, struct rates_wait *w, void (*fn)(void *), void *arg);

/* No effect unless it waits. */
void rates_unwait(struct rates_wait *w);

#endif
