/* SPDX-License-Identifier: Apache-2.0 */
/* Networks for tests: written by hand, or drawn from a seed. */
#ifndef TESTS_UNIT_INTERACTION_MADE_H
#define TESTS_UNIT_INTERACTION_MADE_H

#include "common/base/rng.h"
#include "interaction/network.h"

/* A row of a table: uses are "+cpu -net >+queue", where > is the new sub-task. */
struct made_event {
	const char *name;
	int64_t t;
	enum network_kind kind;
	uint64_t task, other;
	bool is_message, blocks;
	const char *use;
};

/* Adds a row. Its place is `place`, its node unknown. Returns the result of network_add(). */
int made_add(struct network *w, const struct made_event *ev, uint32_t place, struct err *e);

/* Figure 2 (c) of the paper, with the receiver in the same task: RT is 90. */
#define MADE_FIG2C 7
extern const struct made_event made_fig2c[MADE_FIG2C];
void made_fig2c_objects(struct netuse *u);

/* Objects a, b: local; c, d: inherit. */
void made_objects(struct netuse *u);

#define MADE_MAX 128
struct made {
	struct made_event ev[MADE_MAX]; /* in an order of cause and effect */
	char name[MADE_MAX][8];
	char use[MADE_MAX][24];
	size_t n;
	bool has_both_blocked;
};

/* Draws a valid network with at most `joins` joins. Times often are equal. */
void made_draw(struct made *m, struct rng *r, unsigned steps, unsigned joins);

/* Adds its events, each sub-task's in order, the sub-tasks mixed. */
void made_add_mixed(struct network *w, const struct made *m, struct rng *r);

#endif
