/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of ranks in the notation of users. */
#ifndef TOOLS_TERM_RANGES_H
#define TOOLS_TERM_RANGES_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appends "0-3, 7" for ascending numbers; after `most` ranges "...". Equal ones count once. */
void ranges_put(struct buf *out, const int64_t *number, size_t n, size_t most);

/* A user's selection: "0-15,20". A text with more pieces is refused. */
#define RANGES_PIECES_MAX 64

struct ranges {
	struct ranges_piece {
		int64_t first, last;
	} piece[RANGES_PIECES_MAX];
	size_t n; /* 0: all */
};

/* ERR_INVALID with a message; *r is then unchanged. */
int ranges_parse(const char *text, struct ranges *r, struct err *e);

/* The same as the callback of an option: into is a struct ranges. */
int ranges_option(void *into, const char *text, struct err *e);

bool ranges_have(const struct ranges *r, int64_t number);

#endif
