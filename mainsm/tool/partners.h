/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication partners in the filter of an event. A host knows only its own processes, so csrs at
 * branches name partners by world ranks. Tokens of processes, their containers and contents are
 * replaced here.
 */
#ifndef MAINSM_TOOL_PARTNERS_H
#define MAINSM_TOOL_PARTNERS_H

#include "common/omis/reply/reply.h"
#include "common/omis/text/request.h"
#include "mainsm/tool/view.h"

struct partners {
	struct omis_call event; /* with ranks; borrows from the original */
	bool none; /* partners are named, but none exists: the event cannot happen */
	struct arena *arena; /* owned */
};

/*
 * Copies the list. Values that are not tokens stay; the ranks of the tokens follow, ascending, each
 * once. A container means its attached living MPI processes. If the event names processes of one
 * job only, others are not partners. A token without a rank becomes an UNKNOWN_OBJECT entry of
 * action 0 in `faults`. An event without such a parameter is not changed. -ERR_NOMEM, -ERR_LIMIT:
 * more than OMIS_OBJECTS_MAX. Must be closed in any case.
 */
int partners_open(struct partners *p, const struct tool_view *v, const struct omis_call *event,
		  struct reply *faults);
void partners_close(struct partners *p);

#endif
