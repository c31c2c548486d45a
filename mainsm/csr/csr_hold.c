/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An lm that reports an event may hold the process until the actions have ended: those of the
 * event, and of the user events that have it as their source. If mainsm has no memory for it, the
 * lm releases the process itself.
 */
#include "common/base/str.h"
#include "mainsm/csr/csr_internal.h"
#include "tree/branches.h"

#include <stdlib.h>

struct hold {
	struct branches *branches;
	uint32_t branch;
	struct token csr, node;
	uint64_t seq;
	unsigned users;
};

static void release(struct branches *c, uint32_t branch, const struct msg_release *r)
{
	branches_send(c, branch, &(struct msg){ .type = MSG_RELEASE, .release = *r });
}

struct hold *hold_new(struct branches *c, uint32_t branch, const struct msg_triggered *m)
{
	struct hold *h = calloc(1, sizeof(*h));

	if (!h) {
		release(c, branch, &(struct msg_release){ m->csr, m->seq, m->node });
		return NULL;
	}
	*h = (struct hold){ .branches = c, .branch = branch, .seq = m->seq, .users = 1 };
	str_copy(h->csr.s, sizeof(h->csr.s), m->csr);
	str_copy(h->node.s, sizeof(h->node.s), m->node);
	return h;
}

struct hold *hold_use(struct hold *h)
{
	if (h)
		h->users++;
	return h;
}

void hold_drop(struct hold *h)
{
	if (!h || --h->users)
		return;
	release(h->branches, h->branch, &(struct msg_release){ h->csr.s, h->seq, h->node.s });
	free(h);
}
