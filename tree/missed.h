/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a child that was away may have missed: conditional requests that were disarmed, and tools
 * that have left. They are sent when it returns; a repetition does no harm. Only the last ones are
 * remembered: an older conditional request is disarmed when it triggers.
 */
#ifndef TREE_MISSED_H
#define TREE_MISSED_H

#include "common/omis/text/token.h"

#include <stddef.h>
#include <stdint.h>

#define BYGONE_MAX 256

struct msg;

/* Zero-initialise. */
struct bygone {
	struct token csr[BYGONE_MAX];
	uint32_t tool[BYGONE_MAX];
	size_t ncsr, ntool; /* ever noted */
};

void bygone_csr(struct bygone *b, const char *csr);
void bygone_tool(struct bygone *b, uint32_t tool);

/* Calls send for a DISARM or TOOL_GONE each, oldest first. */
void bygone_tell(const struct bygone *b, void (*send)(void *arg, const struct msg *m), void *arg);

#endif
