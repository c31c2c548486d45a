/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values with the objects that have them: the state of WHO_MAX, WHO_MIN and TOP. Each list is in
 * one total order: by value, then by object, then by error. So the result of a merge depends on the
 * values alone, and never on the order of merges. An object is a process, node or site, packed into
 * a number that orders like its token's numbers.
 */
#ifndef COMMON_FLOW_GRAPH_WHO_H
#define COMMON_FLOW_GRAPH_WHO_H

#include "common/omis/text/token.h"

#include <stdbool.h>
#include <stdint.h>

#define WHO_TOP_MAX 16 /* the largest k of TOP: a link sends so many values for each read */
#define WHO_NONE 0 /* no object */

/* A value, its bound, and its object. The value may be infinite, but is not NaN. */
struct who {
	double value, error;
	uint64_t object;
};

/* The largest values, in their order. One object may have several. */
struct who_top {
	uint32_t n;
	struct who of[WHO_TOP_MAX];
};

/* Packs the token of a process, node or site. Returns WHO_NONE for another token. */
uint64_t who_pack(const char *token);

/* Prints the token of a packed object. Returns out->s; "" if it is none. */
const char *who_token(struct token *out, uint64_t object);

/* True if the number is a packed object. */
bool who_is_object(uint64_t object);

/*
 * True if a is before b: its value is greater, or less if `least`. Of equal values the one of the
 * smaller object is first, then the one with the smaller error.
 */
bool who_is_before(const struct who *a, const struct who *b, bool least);

void who_top_add(struct who_top *t, const struct who *w);
void who_top_merge(struct who_top *t, const struct who_top *from);

/* Checks a value or list of a peer. `all`: the number of values that made the list. */
bool who_is_sane(const struct who *w);
bool who_top_is_sane(const struct who_top *t, uint64_t all);

#endif
