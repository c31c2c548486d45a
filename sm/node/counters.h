/* SPDX-License-Identifier: Apache-2.0 */
/* The sm's own health, as the status service and the status dump tell it. */
#ifndef SM_NODE_COUNTERS_H
#define SM_NODE_COUNTERS_H

#include "common/base/buf.h"
#include "common/omis/reply.h"

#include <stddef.h>
#include <stdint.h>

#define FACTS_MAX 80

struct fact {
	const char *name; /* borrowed */
	int64_t value;
	const char *text; /* borrowed; NULL = value counts */
};

struct facts {
	int64_t uptime_ns;
	struct fact fact[FACTS_MAX];
	size_t n;
};

/* Beyond FACTS_MAX: left out. */
void facts_add(struct facts *s, const char *name, int64_t value);
void facts_add_text(struct facts *s, const char *name, const char *text);

/* The result of omig_status: "sm", version, uptime_ns, [name, value]... of the object. */
int facts_reply(const struct facts *s, uint32_t action, const char *object, struct reply *into);

/* A line `name=value ...` of text each few facts. */
void facts_dump(const struct facts *s, struct buf *out);

#endif
