/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a branch that was away may have missed: conditional requests that were disarmed, and tools
 * that have left. They are sent when it returns; a repetition does no harm. Only the last ones are
 * remembered: an older conditional request is disarmed when it triggers.
 */
#ifndef TREE_MISSED_H
#define TREE_MISSED_H

#include "common/omis/text/token.h"

#include <stddef.h>
#include <stdint.h>

#define MISSED_MAX 256

struct msg;

/* Zero-initialise. */
struct missed {
	struct token csr[MISSED_MAX];
	uint32_t tool[MISSED_MAX];
	size_t ncsr, ntool; /* ever noted */
};

void missed_csr(struct missed *b, const char *csr);
void missed_tool(struct missed *b, uint32_t tool);

/* Calls send for a DISARM or TOOL_GONE each, oldest first. */
void missed_send(const struct missed *b, void (*send)(void *arg, const struct msg *m), void *arg);

#endif
