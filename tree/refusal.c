/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/refusal.h"

#include <string.h>

static void fill(struct refusal *r, unsigned status, const char *why)
{
	*r = (struct refusal){ .entry = { .objects = "",
					  .status = status,
					  .value = { (const uint8_t *)why, strlen(why) } } };
}

const struct msg *refusal_of_request(struct refusal *r, const struct msg_request *m,
				     unsigned status, const char *why)
{
	fill(r, status, why);
	r->m.type = MSG_REPLY;
	r->m.reply = (struct msg_reply){
		.id = m->id, .entry = &r->entry, .nentry = 1, .coverage = &r->coverage
	};
	return &r->m;
}

const struct msg *refusal_of_arm(struct refusal *r, const struct msg_arm *m, unsigned status,
				 const char *why)
{
	fill(r, status, why);
	r->m.type = MSG_ARM_ACK;
	r->m.arm_ack = (struct msg_arm_ack){
		.csr = m->csr, .version = m->version, .entry = &r->entry, .nentry = 1
	};
	return &r->m;
}

const struct msg *refusal_of_load(struct refusal *r, const struct msg_flow_load *m, unsigned status,
				  const char *why)
{
	fill(r, status, why);
	r->m.type = MSG_FLOW_ACK;
	r->m.flow_ack = (struct msg_flow_ack){ m->measurement, m->version, &r->entry, 1 };
	return &r->m;
}

struct reply *refusal_reply(uint64_t id, unsigned status, const char *why)
{
	struct reply *r = reply_new();

	if (!r)
		return NULL;
	r->id = id;
	if (!reply_add(r, 0, NULL, status, why))
		return r;
	reply_free(r);
	return NULL;
}
