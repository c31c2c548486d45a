/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/executor.h"

#include "common/container/map.h"
#include "common/loop/loop.h"
#include "common/route/gather.h"
#include "common/route/implied.h"
#include "common/route/rights.h"
#include "tree/branches.h"
#include "tree/run_internal.h"
#include "tree/wire.h"

#include <stdlib.h>
#include <string.h>

/* time by which the deadline of a branch precedes that of this daemon */
#define MARGIN_NS (2 * NSEC_PER_MSEC)

static void run_go(struct run *run);

struct executor *executor_new(const struct executor_conf *conf)
{
	struct executor *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->conf = *conf;
	map_init(&x->asked);
	list_init(&x->runs);
	return x;
}

void executor_free(struct executor *x)
{
	if (!x)
		return;
	map_done(&x->asked);
	free(x);
}

size_t executor_count(const struct executor *x)
{
	return x->nrun;
}

size_t executor_bytes(const struct executor *x)
{
	return x->bytes;
}

uint64_t executor_strays(const struct executor *x)
{
	return x->strays;
}

static nsec_t now(const struct run *run)
{
	return loop_now(run->x->conf.loop);
}

/*
 * Charges memory to the run and the executor. A branch's reply moves from its part to the sum and
 * to the reply.
 */
static void charge(struct run *run, size_t bytes)
{
	run->bytes += bytes;
	run->x->bytes += bytes;
}

static void run_free(struct run *run)
{
	if (!run)
		return;
	list_each_safe (i, &run->asks)
		ask_free(list_entry(i, struct ask, in_asks));
	loop_timer_free(run->timer);
	gather_free(run->gather);
	plan_free(run->plan);
	omis_request_free(run->request);
	reply_free(run->reply);
	list_del(&run->in_runs);
	list_del(&run->in_owner);
	run->x->nrun--;
	run->x->bytes -= run->bytes;
	free(run);
}

/* Ends a run: delivers its reply and frees it. */
static void run_end(struct run *run)
{
	struct reply *r = run->reply;
	struct run_spec spec = run->spec;

	if (spec.top)
		route_drop_implied(r, run->request->action, run->request->naction, spec.numbers);
	if (reply_merge(r, run->request, spec.numbers)) {
		struct reply *bare = reply_new();

		if (bare)
			reply_add(bare, 0, NULL, STATUS_NO_MEMORY, "no memory for the reply");
		reply_free(r);
		r = bare;
	}
	run->reply = NULL;
	run_free(run);
	spec.on_done(spec.arg, r);
}

/* Fails the whole request: the error is of this daemon, not of an object. */
static void run_fail(struct run *run, int rc, const struct err *e)
{
	reply_add_error(run->reply, 0, NULL, status_from_err(rc), "%s", e->text);
	run->is_over = true;
}

static const char *name_of(void *arg, uint32_t branch)
{
	struct run *run = arg;

	return branches_name(run->x->conf.branches, branch);
}

static bool owns(void *arg, uint32_t branch, const char *token, size_t n)
{
	struct run *run = arg;
	const struct branch *b = branches_at(run->x->conf.branches, branch);

	return b && branch_owns(b, token, n);
}

/*
 * Returns the time for a branch. It ends before our deadline, so that the branch's partial answer
 * still arrives.
 */
static nsec_t time_for(const struct run *run, uint32_t branch)
{
	const struct branch *b = branches_at(run->x->conf.branches, branch);
	nsec_t left = run_remaining(run), margin = left / 20 > MARGIN_NS ? left / 20 : MARGIN_NS;

	if (b)
		margin += branch_rtt(b);
	return left > 2 * margin ? left - margin : left / 2 + 1;
}

/* Adds an empty answer for a free index, because a request to all branches includes it. */
static void answer_empty(struct run *run, uint32_t branch)
{
	struct reply *nothing = reply_new();

	if (!nothing || gather_add(run->gather, branch, nothing, NULL))
		gather_lost(run->gather, branch, "not connected");
	reply_free(nothing);
}

static int send_to(const struct run *run, uint32_t branch, const struct msg *m)
{
	return branches_send(run->x->conf.branches, branch, m);
}

static void not_sent(struct run *run, const struct plan_part *part, struct ask *a, int rc)
{
	if (a)
		ask_free(a);
	if (rc == -ERR_NOTFOUND && !part->nobject)
		answer_empty(run, part->branch);
	else
		run_lose(run, part->branch, false,
			 rc == -ERR_LIMIT   ? "the request is too large for one message"
			 : rc == -ERR_AGAIN ? "too much data waits for it"
			 : rc == -ERR_NOMEM ? "no memory for the request"
					    : "not connected");
}

static void send_part(struct run *run, const struct plan_part *part)
{
	struct ask *a = ask_new(run, part->branch);
	struct msg m = { .type = MSG_REQUEST };
	int rc = a ? 0 : -ERR_NOMEM;

	if (a) {
		m.request = (struct msg_request){
			.id = a->id,
			.tool = run->spec.tool,
			.identity = run->spec.identity,
			.right = (uint32_t)run->spec.right,
			.deadline_ns = time_for(run, part->branch),
			.policy = run->spec.policy,
			.quorum = run->spec.quorum,
			.text = { (const uint8_t *)part->text, part->ntext },
			.action = part->action,
			.naction = part->naction,
			.depth = run->spec.depth,
			.csr = run->spec.csr ? run->spec.csr : "",
			.op_epoch = run->spec.op_epoch,
			.op = run->spec.op,
			.flags = run->spec.flags,
		};
		rc = send_to(run, part->branch, &m);
	}
	if (rc)
		not_sent(run, part, a, rc);
}

static int send_parts(struct run *run, const struct plan_step *step, struct err *e)
{
	struct gather_conf conf = {
		.policy = run->spec.policy == MSG_WAIT_QUORUM ? GATHER_QUORUM
			  : run->spec.policy == MSG_WAIT_NOW  ? GATHER_NOW
							      : GATHER_ALL,
		.quorum = run->spec.quorum,
		.deadline = run->deadline,
		.arg = run,
		.name = name_of,
		.owns = owns,
	};
	int rc = gather_new(step, &conf, &run->gather, e);

	if (rc)
		return rc;
	for (size_t i = 0; i < step->npart; i++)
		send_part(run, &step->part[i]);
	return 0;
}

static void send_cancel(void *arg, uint32_t branch)
{
	struct run *run = arg;

	list_each_safe (i, &run->asks) {
		struct ask *a = list_entry(i, struct ask, in_asks);
		struct msg m = { .type = MSG_CANCEL, .cancel = { .id = a->id } };

		if (a->branch == branch)
			send_to(run, branch, &m);
	}
}

static void give_up(void *arg, uint32_t branch)
{
	send_cancel(arg, branch);
	run_lose(arg, branch, true, "no answer in time");
}

/* Moves the branches' replies of this step to the reply of the run. */
static void close_gather(struct run *run)
{
	struct err e = { 0 };
	int rc;

	gather_each_waiting(run->gather, give_up, run);
	rc = gather_finish(run->gather, run->reply);
	gather_free(run->gather);
	run->gather = NULL;
	list_each_safe (i, &run->asks)
		ask_free(list_entry(i, struct ask, in_asks));
	if (rc) {
		err_set(&e, (enum err_code)(-rc), "the reply is too large");
		run_fail(run, rc, &e);
	}
}

static void give_up_rest(struct run *run)
{
	plan_abandon(run->plan,
		     run_may_be_done(run)
			     ? "outcome unknown: the deadline passed before the request for it"
			     : "not done: the deadline passed before its begin",
		     run->reply);
	run->is_over = true;
}

static void report_late(void *arg, uint32_t branch)
{
	const struct run *run = arg;
	const struct executor_conf *c = &run->x->conf;

	if (c->late)
		c->late(c->arg, branch);
}

static void on_deadline(void *arg)
{
	struct run *run = arg;

	if (run->gather) {
		gather_each_waiting(run->gather, report_late, run);
		close_gather(run);
	}
	if (run->is_here && run->abandon) {
		run->abandon(run->abandon_arg);
		reply_add_error(run->reply, run->here_action, NULL, STATUS_UNSPECIFIED_ERROR,
				"not done before the deadline");
	}
	give_up_rest(run);
	run_end(run);
}

/* Ends the list before this action: no entry reports success for it or later ones. */
static void end_list(struct run *run, uint32_t action)
{
	const uint32_t *numbers = run->spec.numbers;
	size_t n = 0;

	while (n < run->request->naction && (numbers ? numbers[n] : n + 1) != action)
		n++;
	run->request->naction = n;
	run->is_over = true;
}

/* Starts a step of this daemon. Returns true when the run has to wait. */
static bool start_here(struct run *run, const struct plan_here *here)
{
	const struct executor_conf *c = &run->x->conf;
	int got;

	if (run->spec.flags & MSG_REQUEST_OUTCOME) {
		reply_add_error(run->reply, here->action, NULL, STATUS_UNSUPPORTED_SERVICE,
				"only hosts store the outcome");
		return false;
	}
	run->is_here = true;
	run->here_action = here->action;
	run->abandon = NULL;
	got = c->here(c->arg, run, here, run->reply);
	if (got == 1)
		return run->is_here;
	run->is_here = false;
	if (got == RUN_ENDS)
		end_list(run, here->action);
	if (got < 0)
		reply_add(run->reply, here->action, NULL, status_from_err(got), err_name(got));
	return false;
}

/* Begins the next step. Returns true when the run has to wait. */
static bool next_step(struct run *run)
{
	const struct plan_step *step = NULL;
	struct err e = { 0 };
	int rc = plan_next(run->plan, run->reply, &step, &e);

	run->step = NULL;
	if (rc) {
		run_fail(run, rc, &e);
		return false;
	}
	if (!step) {
		run->is_over = true;
		return false;
	}
	run->step = step;
	return step->here && start_here(run, step->here);
}

/* Sends the step's parts after its local actions. Returns true when the run has to wait. */
static bool parts_of_step(struct run *run)
{
	const struct plan_step *step = run->step;
	struct err e = { 0 };
	int rc;

	run->step = NULL;
	if (!step || !step->npart)
		return false;
	rc = send_parts(run, step, &e);
	if (rc) {
		run_fail(run, rc, &e);
		return false;
	}
	if (!gather_is_done(run->gather, now(run)))
		return true;
	close_gather(run);
	return false;
}

/* Executes one step, or the parts of one. Returns true when the run has to wait. */
static bool go_on(struct run *run)
{
	if (!run->step && next_step(run))
		return true;
	return run->is_over ? false : parts_of_step(run);
}

/* Continues until the run waits or is over. A nested call leaves the rest to the outermost one. */
static void run_go(struct run *run)
{
	bool waits = false;

	if (run->is_going)
		return;
	run->is_going = true;
	while (!waits && !run->is_over) {
		/* A wait in this daemon may end at the deadline, before the timer of the run. */
		if (!run->step && run_remaining(run) == 0)
			give_up_rest(run);
		else
			waits = go_on(run);
	}
	run->is_going = false;
	if (run->is_over)
		run_end(run);
	else if (!loop_timer_is_armed(run->timer))
		loop_timer_arm_at(run->timer, run->deadline);
}

void run_set_abandon(struct run *run, void (*fn)(void *arg), void *arg)
{
	run->abandon = fn;
	run->abandon_arg = arg;
}

void run_here_done(struct run *run)
{
	run->is_here = false;
	run_go(run);
}

nsec_t executor_bounded(nsec_t deadline)
{
	if (deadline <= 0)
		return EXECUTOR_DEADLINE_NS;
	return deadline < EXECUTOR_DEADLINE_MAX_NS ? deadline : EXECUTOR_DEADLINE_MAX_NS;
}

static struct run *run_new(struct executor *x, const struct run_spec *spec)
{
	struct run *run = calloc(1, sizeof(*run));

	if (!run)
		return NULL;
	run->x = x;
	run->spec = *spec;
	list_init(&run->asks);
	list_push_back(&x->runs, &run->in_runs);
	list_push_back(spec->owner, &run->in_owner);
	x->nrun++;
	charge(run, sizeof(*run) + spec->bytes);
	run->deadline = loop_now(x->conf.loop) + executor_bounded(spec->deadline);
	run->reply = reply_new();
	run->timer = loop_timer_new(x->conf.loop, on_deadline, run);
	if (run->reply && run->timer)
		return run;
	run_free(run);
	return NULL;
}

/*
 * Returns the outcome of a manipulation at a branch that cannot be reached. This daemon or its
 * predecessor may have sent a request with this id before, which may have been executed.
 */
static const char *outcome_unsent(const struct omis_request *r, const struct run_spec *spec)
{
	if (route_right_needed(r) <= OMIS_OBSERVE)
		return NULL;
	return spec->op || spec->flags & MSG_REQUEST_OUTCOME ? "outcome unknown" : "not done";
}

int executor_run(struct executor *x, struct omis_request **request, const struct run_spec *spec,
		 struct err *e)
{
	struct plan_conf conf = { .right = spec->right,
				  .top = spec->top,
				  .numbers = spec->numbers,
				  .outcome = outcome_unsent(*request, spec) };
	struct run *run = run_new(x, spec);
	int rc;

	if (!run)
		return err_nomem(e);
	rc = plan_new(*request, &run->spec.view, &conf, &run->plan, e);
	if (rc) {
		run_free(run);
		return rc;
	}
	run->request = *request;
	*request = NULL;
	run_go(run);
	return 0;
}

/* Called after a branch has replied completely, which may end the step. */
static void after_answer(struct run *run)
{
	if (!run->gather || !gather_is_done(run->gather, now(run)))
		return;
	close_gather(run);
	run_go(run);
}

static size_t size_of(const struct msg_reply *m)
{
	size_t n = m->nentry * sizeof(struct reply_entry);

	for (size_t i = 0; i < m->nentry; i++)
		n += strlen(m->entry[i].objects) + m->entry[i].value.n;
	for (size_t i = 0; m->coverage && i < m->coverage->nmissing; i++)
		n += sizeof(struct reply_missing) + strlen(m->coverage->missing[i].object) +
		     strlen(m->coverage->missing[i].reason);
	return n;
}

/* Adds a part of a branch's reply. *why: the reason, if the part is refused. */
static int add_part(struct ask *a, const struct msg_reply *m, const char **why)
{
	const struct executor_conf *c = &a->run->x->conf;
	size_t bytes = size_of(m);

	*why = "quota bytes";
	if (c->has_room && !c->has_room(c->arg, bytes))
		return -ERR_LIMIT;
	*why = "the reply is too large";
	if (!a->part)
		a->part = reply_new();
	if (!a->part)
		return -ERR_NOMEM;
	charge(a->run, bytes);
	return wire_add_reply(a->part, m);
}

int executor_reply(struct executor *x, uint32_t branch, const struct msg_reply *m, struct err *e)
{
	struct ask *a = map_find(&x->asked, m->id);
	struct run *run;
	const char *why;
	int rc;

	if (!a || a->branch != branch) {
		x->strays++;
		return err_set(e, ERR_NOTFOUND, "a reply without a request");
	}
	run = a->run;
	rc = add_part(a, m, &why);
	if (!rc && m->more)
		return 0;
	if (rc)
		run_lose(run, branch, true, why);
	else
		rc = gather_add(run->gather, branch, a->part, e);
	ask_free(a);
	after_answer(run);
	return rc;
}

void executor_branch_lost(struct executor *x, uint32_t branch, const char *reason)
{
	struct list hit;

	/*
	 * The end of a run may start or end other runs, so the affected ones are collected first.
	 */
	list_init(&hit);
	list_each_safe (i, &x->runs) {
		struct run *run = list_entry(i, struct run, in_runs);

		if (!run->gather)
			continue;
		run_lose(run, branch, true, reason);
		list_del(&run->in_runs);
		list_push_back(&hit, &run->in_runs);
	}
	for (struct list *i = list_first(&hit); i; i = list_first(&hit)) {
		struct run *run = list_entry(i, struct run, in_runs);

		list_del(i);
		list_push_back(&x->runs, i);
		after_answer(run);
	}
}

static void run_drop(struct run *run)
{
	struct run_spec spec = run->spec;

	run_free(run);
	spec.on_done(spec.arg, NULL);
}

void executor_cancel(struct executor *x, struct list *owner)
{
	struct list runs;

	/* on_done may free the owner, and the list in it. */
	list_init(&runs);
	list_splice_back(&runs, owner);
	for (struct list *i = list_first(&runs); i; i = list_first(&runs)) {
		struct run *run = list_entry(i, struct run, in_owner);

		if (run->gather)
			gather_each_waiting(run->gather, send_cancel, run);
		if (run->is_here && run->abandon)
			run->abandon(run->abandon_arg);
		run_drop(run);
	}
}
