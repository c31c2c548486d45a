/* SPDX-License-Identifier: Apache-2.0 */
/* A connected tool: its rights, its scope and its objects. They end with the connection. */
#ifndef MAINSM_TOOL_SESSION_H
#define MAINSM_TOOL_SESSION_H

#include "common/container/list.h"
#include "common/container/map.h"
#include "common/net/identity.h"
#include "common/omis/reply/reply.h"
#include "common/route/rights.h"
#include "mainsm/tool/view.h"

#include <stdbool.h>
#include <stdint.h>

/* requests of one principal, over all its tools, that run at once; the others wait in sockets */
#define SESSION_RUNS_MAX 1024
/* a request counts once more for each such part of its text */
#define SESSION_RUN_UNIT_BYTES 4096

struct link;
struct share;

struct session {
	uint32_t number; /* never given twice */
	struct link *link; /* borrowed */
	/* without its token: objects of the tool outlive the token */
	char identity[IDENTITY_URI_BYTES];
	char principal[IDENTITY_PRINCIPAL_BYTES]; /* owner of the session and its objects */
	struct identity id;
	enum omis_right right;
	struct scope *scope;
	struct pa_set *pas;
	struct smap events; /* token -> the session, as a mark */
	struct smap csrs; /* token -> struct tool_csr, owned by the CSR engine */
	struct smap measures; /* token -> struct measure, owned by the measurements */
	struct tool_view view;
	struct {
		nsec_t since;
		unsigned raised, fired;
	} load; /* its user events and firings within a second, by the CSR engine */
	struct list runs; /* struct run, the executor's */
	size_t nrun; /* requests that are executed, a large one as several */
	bool is_paused;
	struct share *share; /* share of its principal, set by tools.c; NULL: not a tool */
	struct list in_share;
	struct list in_sessions;
	/* Receives the messages of a session without a link; may be NULL. */
	void (*on_reply)(void *arg, const struct reply *r);
	void *on_reply_arg;
};

/* link may be NULL (tests). Returns NULL without memory. */
struct session *session_new(uint32_t number, struct link *link, const struct identity *id,
			    const struct directory *d, const struct branches *c);

/*
 * Makes a session that outlives the tool: its identity and right, nothing attached, no link.
 * Returns NULL without memory.
 */
struct session *session_twin(uint32_t number, const struct session *of, const struct directory *d,
			     const struct branches *c);

/* The session's runs must have been cancelled, and its csrs deleted. */
void session_free(struct session *s);

/*
 * Sends a reply. A tool that does not read is disconnected when its queue is full, so that no reply
 * is dropped silently. -ERR_AGAIN then.
 */
int session_reply(struct session *s, const struct reply *r);

/* Sends one entry of action 0. */
void session_reply_error(struct session *s, uint64_t id, unsigned status, const char *text);

#endif
