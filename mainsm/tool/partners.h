/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication partners that an event is filtered by. A host knows only its
 * own processes, so what is armed below names partners by their world ranks:
 * tokens of processes, and of what contains or is in them, are replaced here.
 */
#ifndef MAINSM_TOOL_PARTNERS_H
#define MAINSM_TOOL_PARTNERS_H

#include "common/omis/reply/reply.h"
#include "common/omis/text/request.h"
#include "mainsm/tool/view.h"

struct partners {
	struct omis_call event; /* with ranks; borrows from the original */
	bool none; /* partners are named, but there is none: the event cannot happen */
	struct arena *arena; /* owned */
};

/*
 * What is not a token stays; then come the ranks of the tokens, ascending,
 * each once. A container means its attached MPI processes that live. Where
 * the event names processes of one job only, others are no partners. A token
 * without any rank becomes an UNKNOWN_OBJECT entry of action 0 in `faults`.
 * An event that has no such parameter is left as it is. -ERR_NOMEM,
 * -ERR_LIMIT: more than OMIS_OBJECTS_MAX. To be closed in any case.
 */
int partners_open(struct partners *p, const struct tool_view *v, const struct omis_call *event,
		  struct reply *faults);
void partners_close(struct partners *p);

#endif
