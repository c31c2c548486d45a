/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of ranks as people write them. */
#ifndef TOOLS_TERM_RANGES_H
#define TOOLS_TERM_RANGES_H

#include "common/base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* Appends "0-3, 7" for ascending numbers; behind `most` ranges "...". Equal ones count once. */
void ranges_put(struct buf *out, const int64_t *number, size_t n, size_t most);

#endif
