/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the sm itself, for the status service and the status dump. */
#ifndef SM_NODE_COUNTERS_H
#define SM_NODE_COUNTERS_H

#include "common/base/buf.h"
#include "common/omis/reply/reply.h"

#include <stddef.h>
#include <stdint.h>

#define SM_COUNTERS_MAX 80

struct sm_counter {
	const char *name; /* borrowed */
	int64_t value;
	const char *text; /* borrowed; NULL = value counts */
};

struct sm_counters {
	int64_t uptime_ns;
	struct sm_counter counter[SM_COUNTERS_MAX];
	size_t n;
};

/* Counters beyond SM_COUNTERS_MAX are left out. */
void sm_counters_add(struct sm_counters *s, const char *name, int64_t value);
void sm_counters_add_text(struct sm_counters *s, const char *name, const char *text);

/* The result of omig_status: "sm", version, uptime_ns, [name, value]... of the object. */
int sm_counters_reply(const struct sm_counters *s, uint32_t action, const char *object,
		      struct reply *into);

/* Writes lines `name=value ...`, a few counters each. */
void sm_counters_dump(const struct sm_counters *s, struct buf *out);

#endif
