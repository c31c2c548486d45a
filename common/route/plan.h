/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a checked request to steps, one after the other. A step is an action for this daemon, or
 * texts for branches, or (AT_EACH) both. A step is made when it is requested, so that actions
 * behind an attach include the attached objects. Apart from that, all conversions of objects in a
 * plan agree, even if the view changes later.
 *
 * Order: actions on one branch keep their textual order. No action behind a ';', or behind an
 * action of this daemon, starts before all earlier actions are done.
 */
#ifndef COMMON_ROUTE_PLAN_H
#define COMMON_ROUTE_PLAN_H

#include "common/omis/reply/reply.h"
#include "common/omis/services/catalogue.h"
#include "common/route/view.h"

struct plan;

struct plan_conf {
	enum omis_right right; /* right of the requesting identity */
	/* true in mainsm: AT_TOP services are executed here; elsewhere they are refused */
	bool top;
	/* numbers of the actions in replies; NULL = 1, 2, ...; borrowed */
	const uint32_t *numbers;
	/*
	 * Text in front of the reason why an object cannot be reached: the consequence for a
	 * request that manipulates. NULL: the request only observes
	 */
	const char *outcome;
};

/* Text for a branch: a request for omis_parse_inner(), whose action k has the number action[k]. */
struct plan_part {
	uint32_t branch;
	uint32_t nobject; /* number of objects in the text, each once per action */
	const char *text; /* may contain a 0 in a binary value */
	size_t ntext;
	const uint32_t *action; /* numbers of the actions in replies */
	size_t naction;
};

/*
 * An action for this daemon. The object list is expanded, without duplicates and unknown objects.
 */
struct plan_here {
	uint32_t action; /* number of the action in replies */
	const struct omis_call *call;
	size_t nobject;
};

struct plan_step {
	const struct plan_here *here; /* NULL, or executed before the parts are sent */
	const struct plan_part *part; /* at most one for each branch */
	size_t npart;
};

/*
 * The request (checked, unconditional or bound) and the view are borrowed until plan_free(). Fails
 * with ERR_INVALID, ERR_NOMEM.
 */
int plan_new(const struct omis_request *r, const struct route_view *view,
	     const struct plan_conf *conf, struct plan **out, struct err *e);
void plan_free(struct plan *p);

/*
 * Sets *step to the next step, valid until plan_free(); NULL at the end. Adds results that need no
 * branch to `into`: NO_PERMISSION, UNKNOWN_OBJECT and TYPE_MISMATCH entries, unreachable objects,
 * and the coverage of a `here` action. Fails with ERR_NOMEM, and with ERR_LIMIT for more than
 * OMIS_OBJECTS_MAX objects.
 */
int plan_next(struct plan *p, struct reply *into, const struct plan_step **step, struct err *e);

/*
 * Ends the plan early, for example at a deadline: each action that has not begun gets an error
 * entry with this text.
 */
int plan_abandon(struct plan *p, const char *reason, struct reply *into);

#endif
