/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/missed.h"

#include "common/base/str.h"
#include "proto/msg.h"

void missed_csr(struct missed *b, const char *csr)
{
	str_copy(b->csr[b->ncsr++ % MISSED_MAX].s, TOKEN_BYTES, csr);
}

void missed_tool(struct missed *b, uint32_t tool)
{
	b->tool[b->ntool++ % MISSED_MAX] = tool;
}

static size_t oldest(size_t n)
{
	return n > MISSED_MAX ? n - MISSED_MAX : 0;
}

void missed_send(const struct missed *b, void (*send)(void *arg, const struct msg *m), void *arg)
{
	for (size_t i = oldest(b->ncsr); i < b->ncsr; i++)
		send(arg, &(struct msg){ .type = MSG_DISARM,
					 .disarm = { .csr = b->csr[i % MISSED_MAX].s } });
	for (size_t i = oldest(b->ntool); i < b->ntool; i++)
		send(arg, &(struct msg){ .type = MSG_TOOL_GONE,
					 .tool_gone = { .tool = b->tool[i % MISSED_MAX] } });
}
