/* SPDX-License-Identifier: Apache-2.0 */
/* Compares replies to tools with the true state of the hosts. A false reply breaks the world. */
#ifndef SIM_TOOLS_ANSWERS_H
#define SIM_TOOLS_ANSWERS_H

#include "sim/nodes/cluster.h"

/*
 * Checks a reply of proc_get_info with flags 513: "rank,pid" of that token, which must always mean
 * the same process. Returns the number of checks: 1, or 0 if a rogue may have sent the reply.
 */
unsigned answers_check_proc(struct cluster *c, const char *token, const char *value);

/* Calls of a rank that have been reported. */
struct seen {
	uint64_t last; /* serial number of the newest call */
	uint64_t before; /* bit i: the call with the serial last - i - 1 has been reported, too */
};

/*
 * Checks the reply "3,token,rank,serial" about a call: the process made the call, and no reply had
 * it before. in_order: reports must be in order; actions on hosts before the print may delay some.
 * seen: by rank.
 */
unsigned answers_check_trigger(struct cluster *c, const char *value, bool in_order,
			       struct seen *seen);

/*
 * Returns the bytes that the object's ranks have sent in (from, to], and the number of ranks. Times
 * are the world's. Object "" means all. Zeros if the interval ends before it begins.
 */
struct answers_truth {
	double bytes;
	size_t ranks;
};

struct answers_truth answers_sent(const struct cluster *c, const char *object, nsec_t from,
				  nsec_t to);

/* A measurement of Send_volume by a tool. */
struct answers_measured {
	nsec_t from; /* time of the world before which the measurement cannot have begun */
	nsec_t begun; /* time when all hosts had loaded it, without faults; 0: unknown */
	nsec_t asked; /* time of the request for the next read, or later */
	bool is_last; /* a value covers the time since the last read */
	int64_t read; /* number of the last received read; two replies may have the same one */
	double sum; /* sum of the lower bounds of all values in all reads */
};

/*
 * Checks a read: each value must be consistent (value_fault()). It has at most the bytes that were
 * sent since the measurement was requested. All parts together have at most these, too. Once it has
 * begun, a value of a process or of all also has a lower bound: the bytes sent from then until the
 * read was requested. Values that a rogue may affect are not judged.
 */
unsigned answers_check_read(struct cluster *c, const char *value, struct answers_measured *m);

/*
 * Returns the value of that host in a read by node; NaN if there is none. The host must not be the
 * rogue's.
 */
double answers_of(const struct cluster *c, const char *value, const struct simnode *n);

/* Returns the value of the only result, or NaN. */
double answers_total(const char *value);

#endif
