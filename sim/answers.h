/* SPDX-License-Identifier: Apache-2.0 */
/* What tools are told, compared with the hosts themselves. What is not true breaks the world. */
#ifndef SIM_ANSWERS_H
#define SIM_ANSWERS_H

#include "sim/cluster.h"

/*
 * proc_get_info with flags 513: "rank,pid" of that token, which means this process for ever. 1, so
 * that checks can be counted; 0: it is a rogue's, and not judged.
 */
unsigned answers_check_proc(struct cluster *c, const char *token, const char *value);

/* Which calls of a rank have been told. */
struct seen {
	uint64_t last; /* the newest one's serial */
	uint64_t before; /* bit i: the one i + 1 before it too */
};

/*
 * "3,token,rank,serial" of a call: it was made, by that process, and is told once. in_order: and behind those that
 * came before; not so where actions on hosts, which may be late, stand in front of the telling. seen: of each rank.
 */
unsigned answers_check_trigger(struct cluster *c, const char *value, bool in_order, struct seen *seen);

/* A read of Send_volume: no value is more than has been sent; what a rogue may have its share in is not judged. */
unsigned answers_check_read(struct cluster *c, const char *value);

/* Of a read by node: the value of that host, which is not the rogue's; NaN: none. */
double answers_of(const struct cluster *c, const char *value, const struct simnode *n);

/* The number of the value of the one result, or NaN. */
double answers_total(const char *value);

#endif
