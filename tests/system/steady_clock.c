/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks for neko/one-host: steady takes the sample with the shortest round trip. ahead adds
 * clock.ahead to it, which shows in the times of a run.
 */
#include <omig/neko.h>

struct clock {
	nsec_t offset, error, ahead;
};

static int ahead_init(void *state, struct setup *s, struct err *e)
{
	struct clock *c = state;

	return neko_setup_nsec(s, "clock.ahead", 0, INT64_C(1000000000), &c->ahead, e);
}

static void sample(void *state, nsec_t asked, nsec_t answered, nsec_t master)
{
	struct clock *c = state;
	nsec_t error = (answered - asked) / 2;

	if (c->error && error >= c->error - 1)
		return;
	c->offset = master - asked - error;
	c->error = error + 1;
}

static nsec_t now(void *state, nsec_t own, nsec_t *error)
{
	const struct clock *c = state;

	*error = c->error + c->ahead;
	return own + c->offset + c->ahead;
}

static const struct neko_clock_ops clocks[] = {
	{ .name = "steady", .bytes = sizeof(struct clock), .sample = sample, .now = now },
	{ .name = "ahead",
	  .bytes = sizeof(struct clock),
	  .init = ahead_init,
	  .sample = sample,
	  .now = now },
	{ .name = 0 },
};
NEKO_CLOCKS(clocks)
