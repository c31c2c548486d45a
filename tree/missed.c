/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/missed.h"

#include "common/base/str.h"
#include "proto/msg.h"

void bygone_csr(struct bygone *b, const char *csr)
{
	str_copy(b->csr[b->ncsr++ % BYGONE_MAX].s, TOKEN_BYTES, csr);
}

void bygone_tool(struct bygone *b, uint32_t tool)
{
	b->tool[b->ntool++ % BYGONE_MAX] = tool;
}

static size_t oldest(size_t n)
{
	return n > BYGONE_MAX ? n - BYGONE_MAX : 0;
}

void bygone_tell(const struct bygone *b, void (*send)(void *arg, const struct msg *m), void *arg)
{
	for (size_t i = oldest(b->ncsr); i < b->ncsr; i++)
		send(arg, &(struct msg){ .type = MSG_DISARM,
					 .disarm = { .csr = b->csr[i % BYGONE_MAX].s } });
	for (size_t i = oldest(b->ntool); i < b->ntool; i++)
		send(arg, &(struct msg){ .type = MSG_TOOL_GONE,
					 .tool_gone = { .tool = b->tool[i % BYGONE_MAX] } });
}
