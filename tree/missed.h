/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a child that was away may have missed: conditional requests that are
 * not armed any more, tools that have left. It is told when it comes back;
 * hearing it twice does no harm. Only the last ones are remembered: what lasts
 * longer is noticed when it triggers.
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
