/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/trace.h"

#include "common/base/err.h"
#include "common/base/hash.h"
#include "common/loop/loop.h"

static struct trace *current;

struct chan;
int __real_chan_feed(struct chan *c, const uint8_t *p, size_t n, struct err *e);
int __wrap_chan_feed(struct chan *c, const uint8_t *p, size_t n, struct err *e);

void trace_begin(struct trace *t, const struct loop *l)
{
	current = t;
	if (t)
		*t = (struct trace){ .loop = l };
}

/* Adds to the current trace if there is one. */
static void trace_add(const void *p, size_t n)
{
	uint32_t crc = hash_crc32c(0, p, n);

	if (current)
		current->hash =
			hash_mix64(current->hash ^ crc ^ (uint64_t)loop_now(current->loop) << 16);
}

int __wrap_chan_feed(struct chan *c, const uint8_t *p, size_t n, struct err *e)
{
	if (current) {
		current->frames++;
		current->bytes += n;
		trace_add(p, n);
	}
	return __real_chan_feed(c, p, n, e);
}
