/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checked request becomes steps, one after the other: a step is either one
 * action to be executed here, or texts to be sent to branches, or (AT_EACH)
 * both. A step is made when it is asked for: the actions behind an attach see
 * its effect. Apart from that all conversions of objects in one plan agree
 * with each other, whatever the view says later.
 *
 * Order: actions on one branch keep their textual order; nothing behind a ';'
 * or behind an action executed here starts before all in front of it is done.
 */
#ifndef COMMON_ROUTE_PLAN_H
#define COMMON_ROUTE_PLAN_H

#include "common/omis/reply/reply.h"
#include "common/omis/services/catalogue.h"
#include "common/route/view.h"

struct plan;

struct plan_conf {
	enum omis_right right; /* of the identity that asks */
	bool top; /* mainsm: AT_TOP services are executed here; elsewhere they are refused */
	/* action numbers in replies, one an action; NULL = 1, 2, ...; borrowed */
	const uint32_t *numbers;
	/* In front of why an object cannot be reached: what that means for a request that
	 * manipulates. NULL: it only looks */
	const char *outcome;
};

/*
 * To be sent to a branch. text is a request for omis_parse_inner() with action k standing for
 * action[k].
 */
struct plan_part {
	uint32_t branch;
	uint32_t nobject; /* that the text asks about, once an action each */
	const char *text; /* may hold a 0 inside a binary value */
	size_t ntext;
	const uint32_t *action; /* numbers as replies use them */
	size_t naction;
};

/*
 * To be executed here. The object list is expanded, without doubles, without objects that do
 * not exist.
 */
struct plan_here {
	uint32_t action; /* number as replies use it */
	const struct omis_call *call;
	size_t nobject;
};

struct plan_step {
	const struct plan_here *here; /* or NULL; comes before the parts */
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
 * *step: what to do next, valid until plan_free(); NULL when all is done.
 * What is known without asking goes into `into`: NO_PERMISSION, UNKNOWN_OBJECT
 * and TYPE_MISMATCH entries, objects that cannot be reached, coverage of
 * objects of a `here` action. -ERR_NOMEM; -ERR_LIMIT: more than OMIS_OBJECTS_MAX objects.
 */
int plan_next(struct plan *p, struct reply *into, const struct plan_step **step, struct err *e);

/*
 * The rest is not executed (a deadline passed, a tool left): each action not yet begun gets
 * an error entry with these words.
 */
int plan_abandon(struct plan *p, const char *reason, struct reply *into);

#endif
