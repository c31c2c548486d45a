/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool that is connected: what it may do, what it sees, what it has made.
 * Everything in it ends with the connection.
 */
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

/* requests of one principal, over all its tools, that are executed at a time; the rest waits in
 * sockets */
#define SESSION_RUNS_MAX 1024
#define SESSION_RUN_UNIT_BYTES 4096 /* each of these in a request's text counts as one more */

struct link;
struct share;

struct session {
	uint32_t number; /* never given twice */
	struct link *link; /* borrowed */
	char identity[IDENTITY_URI_BYTES]; /* without its token: what it has made outlives that */
	char principal[IDENTITY_PRINCIPAL_BYTES]; /* whose the session is, and what it makes */
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
	} load; /* of its user events and firings within a second, the CSR engine's */
	struct list runs; /* struct run, the executor's */
	size_t nrun; /* requests that are executed, a large one as several */
	bool is_paused;
	struct share *share; /* of its principal, by above.c; NULL: of no tool */
	struct list in_share;
	struct list in_sessions;
	/* Without a link: gets the messages instead; may be NULL. */
	void (*on_reply)(void *arg, const struct reply *r);
	void *on_reply_arg;
};

/* link may be NULL (tests). NULL without memory. */
struct session *session_new(uint32_t number, struct link *link, const struct identity *id,
			    const struct directory *d, const struct branches *c);

/* For something that outlives the tool: its identity and right, nothing attached, no link. NULL
 * without memory. */
struct session *session_twin(uint32_t number, const struct session *of, const struct directory *d,
			     const struct branches *c);

/* The session's runs must be cancelled, and its csrs deleted. */
void session_free(struct session *s);

/*
 * Sends a reply. A tool that does not read is cut when its queue is full:
 * nothing is ever dropped in silence. -ERR_AGAIN then.
 */
int session_reply(struct session *s, const struct reply *r);

/* One entry, action 0. */
void session_reply_error(struct session *s, uint64_t id, unsigned status, const char *text);

#endif
