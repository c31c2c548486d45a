/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a checked request to steps, one after the other. A step is either one action to be
 * executed here, or texts to be sent to branches, or (AT_EACH) both. A step is made when it is
 * requested: the actions behind an attach see its effect. Apart from that all conversions of
 * objects in one plan agree with each other, even if the view changes later.
 *
 * Order: actions on one branch keep their textual order. Nothing behind a ';' or behind an action
 * executed here starts before everything in front of it is done.
 */
#ifndef COMMON_ROUTE_PLAN_H
#define COMMON_ROUTE_PLAN_H

#include "common/omis/reply/reply.h"
#include "common/omis/services/catalogue.h"
#include "common/route/view.h"

struct plan;

struct plan_conf {
	enum omis_right right; /* of the requesting identity */
	bool top; /* mainsm: AT_TOP services are executed here; elsewhere they are refused */
	/* action numbers in replies, one per action; NULL = 1, 2, ...; borrowed */
	const uint32_t *numbers;
	/*
	 * Text in front of the reason why an object cannot be reached: the consequence for a
	 * request that manipulates. NULL: it only observes
	 */
	const char *outcome;
};

/* To be sent to a branch. text is a request for omis_parse_inner(), where action k is action[k]. */
struct plan_part {
	uint32_t branch;
	uint32_t nobject; /* objects that the text asks about, once per action */
	const char *text; /* may hold a 0 inside a binary value */
	size_t ntext;
	const uint32_t *action; /* numbers as replies use them */
	size_t naction;
};

/* To be executed here. The object list is expanded, without duplicates and unknown objects. */
struct plan_here {
	uint32_t action; /* number as replies use it */
	const struct omis_call *call;
	size_t nobject;
};

struct plan_step {
	const struct plan_here *here; /* or NULL; precedes the parts */
	const struct plan_part *part; /* at most one a branch */
	size_t npart;
};

/*
 * Borrows the request (checked, unconditional or bound) and the view until plan_free().
 * -ERR_INVALID, -ERR_NOMEM.
 */
int plan_new(const struct omis_request *r, const struct route_view *view,
	     const struct plan_conf *conf, struct plan **out, struct err *e);
void plan_free(struct plan *p);

/*
 * *step: the next step, valid until plan_free(); NULL when all is done. Results that need no branch
 * are added to `into`: NO_PERMISSION, UNKNOWN_OBJECT and TYPE_MISMATCH entries, unreachable
 * objects, coverage of objects of a `here` action. -ERR_NOMEM; -ERR_LIMIT: more than
 * OMIS_OBJECTS_MAX objects.
 */
int plan_next(struct plan *p, struct reply *into, const struct plan_step **step, struct err *e);

/*
 * Ends the plan early (a deadline passed, a tool left): each action not yet begun gets an error
 * entry with this text.
 */
int plan_abandon(struct plan *p, const char *reason, struct reply *into);

#endif
