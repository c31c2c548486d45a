/* SPDX-License-Identifier: Apache-2.0 */
/* A conditional request that a command defines, enables, repeats after a gap, and deletes. */
#ifndef TOOLS_SESSION_SESSION_CSR_H
#define TOOLS_SESSION_SESSION_CSR_H

#include "tools/session/session.h"

#define SESSION_TOKEN_BYTES 40

struct session_csr {
	char token[SESSION_TOKEN_BYTES]; /* "" = none */
	Omis_status ended; /* the status with which mainsm ended it; 0: it runs */
	char why[256];
	struct session_gap gap; /* limit_ns, again and arg are the caller's */
};

/* Sends the request. on_reply(), also called for the first reply, passes each to _note(). */
int session_csr_define(struct session_csr *c, const char *text, size_t n,
		       void (*on_reply)(Omis_reply, void *), void *arg);

/* Stores the token or the end of the request. The caller owns r. Returns its status. */
Omis_status session_csr_note(struct session_csr *c, Omis_reply r);

int session_csr_enable(const struct session_csr *c);

/* Deletes the request in mainsm, if there is one. */
void session_csr_delete(struct session_csr *c);

/* Drops the request of an earlier mainsm. */
void session_csr_reset(struct session_csr *c);

/*
 * Called in each turn of a loop: session_bridge(). *has_ended: mainsm is connected and has ended
 * the request, which session_csr_fail() then reports.
 */
int session_csr_check(struct session_csr *c, bool *has_ended);

/* Returns status, or CMD_UNREACHABLE if the connection was the reason. */
int session_csr_fail(const struct session_csr *c, int status, const char *before);

#endif
