/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quota of one user of a shared sm: named limits, and how often each was reached. 0 = only the
 * limits of the program. Pure.
 */
#ifndef SM_HOSTS_QUOTA_H
#define SM_HOSTS_QUOTA_H

#include "common/base/err.h"

#include <stdint.h>

enum quota_what {
	QUOTA_HOSTS, /* known, silent ones included */
	QUOTA_OBJECTS, /* processes and threads of all hosts */
	QUOTA_CSRS, /* armed conditional requests */
	QUOTA_MESSAGES, /* a second, over all links: more are read later */
	QUOTA_BYTES, /* of objects, armed requests and queues */
	QUOTA_COUNT
};

struct quota {
	int64_t max[QUOTA_COUNT];
};

/* "hosts" "objects" "csrs" "messages" "bytes". */
const char *quota_name(enum quota_what what);

/* Returns QUOTA_COUNT for an unknown name. */
enum quota_what quota_from_name(const char *name);

/* Counts of refusals, and the last message. Initially zero. */
struct quota_use {
	uint64_t over[QUOTA_COUNT];
	char last[ERR_TEXT_BYTES];
};

/*
 * Returns ERR_LIMIT with a message for the user, and counts it, if `has` (with the addition)
 * exceeds the limit.
 */
int quota_check(const struct quota *q, enum quota_what what, int64_t has, struct quota_use *use,
		struct err *e);

#endif
