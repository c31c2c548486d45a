/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splitting requests and merging replies: the same code at mainsm (branches are sms) and at an sm
 * (branches are lms). Pure: no I/O, no clock.
 *
 *	view.h    the caller's objects, and the branches that have them
 *	rights.h  rights of identities to use services
 *	plan.h    a checked request -> steps: actions of this daemon, texts for branches
 *	gather.h  the branches' replies of one step -> entries and coverage
 *	implied.h objects that have ended are not an error, unless they were named
 *	arm.h     a conditional request -> a request for each branch
 *
 * The life of a request:
 *
 *	omis_parse, omis_check             (a fault: reply_from_diag)
 *	plan_new
 *	while (plan_next(p, reply, &step, e) == 0 && step)
 *		step->here: execute, reply_add
 *		step->part[]: send; gather_new ... gather_add ... gather_finish(g, reply)
 *	reply_merge
 */
#ifndef COMMON_ROUTE_ROUTE_H
#define COMMON_ROUTE_ROUTE_H

#include "common/route/arm.h"
#include "common/route/gather.h"
#include "common/route/implied.h"
#include "common/route/plan.h"
#include "common/route/rights.h"
#include "common/route/view.h"

#endif
