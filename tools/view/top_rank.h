/* SPDX-License-Identifier: Apache-2.0 */
/* One rank of `omig top`: its calls, partners and stack. */
#ifndef TOOLS_VIEW_TOP_RANK_H
#define TOOLS_VIEW_TOP_RANK_H

#include "common/base/buf.h"
#include "tools/term/term.h"
#include "tools/view/top.h"

/*
 * Requests all data of the rank with that token and appends them. Switches counting of its partners
 * on. Reports missing rights. rows: 0, or the lines that fit. Returns an exit status.
 */
int top_rank_show(const struct term *t, const struct top_sample *s, const char *token, size_t rows,
		  struct buf *out);

#endif
