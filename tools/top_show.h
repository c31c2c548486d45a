/* SPDX-License-Identifier: Apache-2.0 */
/* Samples as tables and as JSON. */
#ifndef TOOLS_TOP_SHOW_H
#define TOOLS_TOP_SHOW_H

#include "common/base/buf.h"
#include "tools/term.h"
#include "tools/top.h"

/*
 * Appends nodes, ranks and coverage. is_total: totals since counting began
 * in place of rates. rows: 0, or the lines that fit. -ERR_NOMEM.
 */
int top_show(const struct term *t, const struct top_sample *s, bool is_total, size_t rows, struct buf *out);

/* One JSON object on a line of stdout: rates are null in the first sample. */
bool top_show_json(const struct top_sample *s);

#endif
