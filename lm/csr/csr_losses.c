/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports lost events. The next event of the request has their number. If none follows, because the
 * burst or the job is over or the request is disarmed, LOSSES has it.
 */
#include "lm/csr/csr_internal.h"

void csr_lose(struct csr *c, uint64_t n)
{
	struct csrs *s = c->owner;

	c->dropped += n;
	s->dropped += n;
	if (n && !loop_timer_is_armed(s->losses))
		loop_timer_arm(s->losses, CSRS_LOSSES_NS);
}

int csr_send_losses(const struct csrs *s, const struct msg_losses *m)
{
	return s->conf.send(s->conf.arg, &(struct msg){ .type = MSG_LOSSES, .losses = *m });
}

/* Unsent reports wait for the link. */
void csrs_on_losses(void *arg)
{
	struct csrs *s = arg;
	bool is_left = false;

	list_each (i, &s->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (c->dropped &&
		    !csr_send_losses(
			    s, &(struct msg_losses){ .csr = c->token, .dropped = c->dropped }))
			c->dropped = 0;
		is_left |= c->dropped > 0;
	}
	if (is_left)
		loop_timer_arm(s->losses, CSRS_LOSSES_NS);
}
