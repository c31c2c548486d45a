/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a test, the networks that are made of them, and the path of the last one. */
#ifndef TESTS_UNIT_INTERACTION_WEAVE_WOVEN_H
#define TESTS_UNIT_INTERACTION_WEAVE_WOVEN_H

#include "common/base/clock.h"
#include "interaction/weave/netweave.h"

#define BOTH (NETWEAVE_GIVES | NETWEAVE_TAKES)

struct woven {
	struct netweave *weave;
	struct err e;
	char use[2048]; /* of the last interaction's path: "rank1:30 rank0+wait:5 " */
	char names[2048], why[512];
	int64_t response;
	bool is_unique;
	unsigned nwhole, nunfit;
};
extern struct woven woven;

void woven_begin(enum netweave_mode mode);
void woven_finish(void); /* all events are there */
void woven_end(void);

/* Ranks of even and odd numbers are on two hosts. */
void woven_add(unsigned rank, struct netweave_event ev);
void woven_send(unsigned rank, int64_t t, uint64_t id);
void woven_sent(unsigned rank, int64_t t, uint64_t id);
void woven_wait(unsigned rank, int64_t t);
void woven_receive(unsigned rank, int64_t t, uint64_t id);
void woven_meet(unsigned rank, int64_t t, int32_t ranks, int32_t roles);
void woven_mark(unsigned rank, int64_t t, enum netweave_kind kind, uint64_t number); /* "step" */
void woven_region(unsigned rank, int64_t t, bool is_end); /* "work" */

#endif
