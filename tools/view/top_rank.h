/* SPDX-License-Identifier: Apache-2.0 */
/* One rank of `omig top`: its calls, partners and stack. */
#ifndef TOOLS_VIEW_TOP_RANK_H
#define TOOLS_VIEW_TOP_RANK_H

#include "common/base/buf.h"
#include "tools/term/term.h"
#include "tools/view/top.h"

/*
 * Requests what there is of the rank with that token and appends it. Counting of its partners is
 * switched on. What is not permitted is said. rows: 0, or the lines that fit. An exit status.
 */
int top_rank_show(const struct term *t, const struct top_sample *s, const char *token, size_t rows,
		  struct buf *out);

#endif
