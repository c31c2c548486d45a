/* SPDX-License-Identifier: Apache-2.0 */
/* What tools receive, compared with the hosts themselves. What is not true breaks the world. */
#ifndef SIM_TOOLS_ANSWERS_H
#define SIM_TOOLS_ANSWERS_H

#include "sim/nodes/cluster.h"

/*
 * proc_get_info with flags 513: "rank,pid" of that token, which means this process for ever. 1, so
 * that checks can be counted; 0: it is a rogue's, and not judged.
 */
unsigned answers_check_proc(struct cluster *c, const char *token, const char *value);

/* Which calls of a rank have been reported. */
struct seen {
	uint64_t last; /* the newest one's serial */
	uint64_t before; /* bit i: the one i + 1 before it too */
};

/*
 * "3,token,rank,serial" of a call: it was made, by that process, and is reported once. in_order: it
 * also stands behind those that came before. That does not hold where actions on hosts, which may
 * be late, stand in front of the print. seen: of each rank.
 */
unsigned answers_check_trigger(struct cluster *c, const char *value, bool in_order,
			       struct seen *seen);

/* What the ranks of that object have sent in (from, to], times of the world, and how many they are.
 * "" is all. Nothing is sent in a time that ends before it begins. */
struct answers_truth {
	double bytes;
	size_t ranks;
};

struct answers_truth answers_sent(const struct cluster *c, const char *object, nsec_t from,
				  nsec_t to);

/* A measurement of Send_volume that a tool has. */
struct answers_measured {
	nsec_t from; /* of the world: it was requested, and had not begun */
	nsec_t begun; /* it had, everywhere, and nothing goes wrong; 0: unknown */
	nsec_t asked; /* that read, or a later one */
	bool is_last; /* a value is of what came since the last read */
	int64_t read; /* the last one that came: two answers may be of one */
	double sum; /* of all values of all reads that came, each at its least */
};

/*
 * A read of it: each value is what it says that it is (value_fault()). It has at most the bytes
 * that were sent since the measurement was requested. All parts together have at most these too.
 * After it has begun, a value of a process or of all is also bounded below. It has at least the
 * bytes that were sent from then until the read was requested. Values that a rogue may be part of
 * are not judged.
 */
unsigned answers_check_read(struct cluster *c, const char *value, struct answers_measured *m);

/* The value of that host in a read by node; the host is not the rogue's. NaN: none. */
double answers_of(const struct cluster *c, const char *value, const struct simnode *n);

/* The number of the value of the one result, or NaN. */
double answers_total(const char *value);

#endif
