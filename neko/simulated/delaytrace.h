/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delays of a real run, which a simulation replays. The file has lines such as
 *
 *	lan 1 2 12.000000000 0.010023456
 *	lan 1 2 13.000000000 lost
 *
 * Network, sender, destination, time of sending, and time on the way in seconds, or `lost`. Lines
 * that begin with # are comments. A link is a sender and a destination. A link without lines uses
 * the delays of all links of the network, in their order.
 */
#ifndef NEKO_SIMULATED_DELAYTRACE_H
#define NEKO_SIMULATED_DELAYTRACE_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdint.h>

#define DELAYTRACE_MAX_BYTES (256u << 20) /* six million messages: a day of a busy algorithm */
#define DELAYTRACE_LINE_MAX 256
#define DELAYTRACE_LOST (-1)

struct delaytrace;

/*
 * Reads only the lines of that network. Fails with ERR_PARSE, ERR_INVALID, ERR_NOTFOUND without
 * such lines, ERR_LIMIT, ERR_NOMEM; e has the line.
 */
int delaytrace_parse(const char *text, size_t n, const char *net, struct delaytrace **out,
		     struct err *e);

/*
 * Reads the file, whose path precedes the text of errors. Fails as above, and like file_read().
 * Blocks for the disk.
 */
int delaytrace_read(const char *path, const char *net, struct delaytrace **out, struct err *e);
void delaytrace_free(struct delaytrace *t);

/* Returns the number n of links, which are 0..n-1. The number n means all links together. */
uint32_t delaytrace_links(const struct delaytrace *t);
uint32_t delaytrace_link(const struct delaytrace *t, uint32_t from, uint32_t to);

/* Returns the number of delays of the link, never 0. */
uint32_t delaytrace_count(const struct delaytrace *t, uint32_t link);
/* i is below that count. Returns nanoseconds, or DELAYTRACE_LOST. */
nsec_t delaytrace_get(const struct delaytrace *t, uint32_t link, uint32_t i);

#endif
