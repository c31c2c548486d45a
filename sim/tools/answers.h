/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the replies of tools with the hosts themselves. A false reply breaks the world. */
#ifndef SIM_TOOLS_ANSWERS_H
#define SIM_TOOLS_ANSWERS_H

#include "sim/nodes/cluster.h"

/*
 * Checks proc_get_info with flags 513: "rank,pid" of that token, which always means this process.
 * Returns 1, to count checks; 0: the process is a rogue's, and not judged.
 */
unsigned answers_check_proc(struct cluster *c, const char *token, const char *value);

/* Calls of a rank that have been reported. */
struct seen {
	uint64_t last; /* the newest one's serial */
	uint64_t before; /* bit i: the one i + 1 before it too */
};

/*
 * Checks "3,token,rank,serial" of a call: that process made it, and it is reported once. in_order:
 * reports must be in order. They need not be if actions on hosts, which may be late, precede the
 * print. seen: of each rank.
 */
unsigned answers_check_trigger(struct cluster *c, const char *value, bool in_order,
			       struct seen *seen);

/*
 * Bytes that the ranks of that object have sent in (from, to], times of the world, and number of
 * ranks. "" is all. Zero if the interval ends before it begins.
 */
struct answers_truth {
	double bytes;
	size_t ranks;
};

struct answers_truth answers_sent(const struct cluster *c, const char *object, nsec_t from,
				  nsec_t to);

/* A measurement of Send_volume by a tool. */
struct answers_measured {
	nsec_t from; /* of the world: it was requested, and had not begun */
	nsec_t begun; /* all hosts have loaded it, and there is no fault; 0: unknown */
	nsec_t asked; /* requested read, or a later one */
	bool is_last; /* a value is for the time since the last read */
	int64_t read; /* the last received read: two answers may be about one */
	double sum; /* lower bounds of all values in all reads, added up */
};

/*
 * Checks a read: each value must be consistent (value_fault()). It has at most the bytes that were
 * sent since the measurement was requested. All parts together have at most these, too. Once it has
 * begun, a value of a process or of all also has a lower bound: the bytes sent from then until the
 * read was requested. Values that a rogue may affect are not judged.
 */
unsigned answers_check_read(struct cluster *c, const char *value, struct answers_measured *m);

/* Returns the value of that host in a read by node; the host is not the rogue's. NaN: none. */
double answers_of(const struct cluster *c, const char *value, const struct simnode *n);

/* Returns the value of the only result, or NaN. */
double answers_total(const char *value);

#endif
