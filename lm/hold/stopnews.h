/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports processes that the monitor stopped or continued. The report follows the turn of the
 * change, because a listener may stop and continue processes itself.
 */
#ifndef LM_HOLD_STOPNEWS_H
#define LM_HOLD_STOPNEWS_H

#include "common/loop/loop.h"
#include "lm/hold/holds.h"

struct stopnews {
	struct loop *loop;
	struct procs *procs; /* both borrowed */
	struct loop_job job;
	holds_on_change_fn fn; /* NULL: nothing is reported */
	void *arg;
};

/*
 * depth: of the list whose action did it, 0 = none. A repeated change in one turn is reported once.
 */
void stopnews_note(struct stopnews *n, struct proc *p, bool is_stopped, unsigned depth);

/* Reports the changes of p now. */
void stopnews_notify(struct stopnews *n, struct proc *p);

#endif
