/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that an absent branch may have missed: disarmed csrs, and tools that have left. The
 * messages are sent when the branch returns; a repetition has no effect. Only the newest are
 * stored: an older csr is disarmed when it triggers.
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
	size_t ncsr, ntool; /* noted since the start */
};

void missed_csr(struct missed *b, const char *csr);
void missed_tool(struct missed *b, uint32_t tool);

/* Calls send for each DISARM or TOOL_GONE, oldest first. */
void missed_send(const struct missed *b, void (*send)(void *arg, const struct msg *m), void *arg);

#endif
