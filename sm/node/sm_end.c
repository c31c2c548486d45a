/* SPDX-License-Identifier: Apache-2.0 */
/* The end of an sm: at once, after its branches, or when none is left. */
#include "common/base/log.h"
#include "common/base/str.h"
#include "sm/node/sm_internal.h"

static void on_end(void *arg)
{
	struct sm *sm = arg;

	sm->conf.on_end(sm->conf.arg, sm->reason);
}

void sm_end(struct sm *sm, const char *reason)
{
	if (sm->is_ending)
		return;
	sm->is_ending = true;
	if (reason != sm->reason)
		str_copy(sm->reason, sizeof(sm->reason), reason);
	loop_timer_cancel(sm->linger);
	loop_timer_cancel(sm->drain);
	loop_job_post(sm->conf.loop, &sm->end, on_end, sm);
}

void sm_stop_all(struct sm *sm, const char *reason)
{
	const struct msg m = { .type = MSG_STOP, .stop = { .reason = reason } };

	if (sm->is_stopping || sm->is_ending)
		return;
	sm->is_stopping = true;
	str_copy(sm->reason, sizeof(sm->reason), reason[0] ? reason : "stop requested");
	log_notice("sm", "stop requested lms=%zu: %s", nodes_up(sm->nodes), sm->reason);
	nodes_refuse_all(sm->nodes);
	requests_drop_all(sm->requests);
	branches_send_all(nodes_branches(sm->nodes), &m);
	if (nodes_linked(sm->nodes))
		loop_timer_arm(sm->drain, SM_STOP_DRAIN_NS);
	else
		sm_end(sm, sm->reason);
}

void sm_arm_linger(struct sm *sm)
{
	if (sm->conf.linger > 0 && !nodes_linked(sm->nodes))
		loop_timer_arm(sm->linger, sm->conf.linger);
	else
		loop_timer_cancel(sm->linger);
}
