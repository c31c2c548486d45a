/* SPDX-License-Identifier: Apache-2.0 */
/* The slow stage of a program's networks, in words: a rank and its region. */
#ifndef TOOLS_INTERACTION_NETSTAGE_H
#define TOOLS_INTERACTION_NETSTAGE_H

#include "common/base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* True if one of the objects is a rank. */
bool netstage_is_one(const char *uses);

/*
 * uses: objects with "+" between, as networks of interaction/weave have them ("rank2+work").
 * Appends a line, unless no rank is among them. ns of all ns are the time with them in use.
 */
void netstage_put(struct buf *out, const char *uses, int64_t ns, int64_t all);

#endif
