/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/service/expected.h"

#include "common/base/str.h"

#include <stdlib.h>

/* The lm of the job makes a key and joins within this time, on a busy host too. */
#define EXPECTED_NS (10 * NSEC_PER_SEC)

struct waiting {
	struct service_call c;
	struct expected_question question;
	struct list in_waiting;
	struct loop_timer *timer;
};

void expected_note(struct services *t, const char *job)
{
	struct expected_job *e = &t->expected[t->nexpected++ % EXPECTED_MAX];

	str_copy(e->name, sizeof(e->name), job);
	e->until = loop_now(t->conf.loop) + EXPECTED_NS;
}

/* Returns 0 if the job is not expected. */
static nsec_t expected_until(const struct services *t, const char *job)
{
	nsec_t until = 0;

	for (size_t i = 0; i < EXPECTED_MAX; i++)
		if (t->expected[i].until > until && (!job[0] || str_eq(t->expected[i].name, job)))
			until = t->expected[i].until;
	return until > loop_now(t->conf.loop) ? until : 0;
}

static void waiting_free(struct waiting *w)
{
	list_del(&w->in_waiting);
	loop_timer_free(w->timer);
	free(w);
}

static void finish(struct waiting *w)
{
	struct run *run = w->c.run;
	int rc = w->question.answer(&w->c);

	if (rc)
		reply_add(w->c.into, w->c.action, NULL, status_from_err(rc), err_name(rc));
	waiting_free(w);
	run_here_done(run);
}

static void on_time(void *arg)
{
	finish(arg);
}

static void abandon(void *arg)
{
	waiting_free(arg);
}

static struct waiting *find_answered(const struct services *t)
{
	list_each (i, &t->waiting) {
		struct waiting *w = list_entry(i, struct waiting, in_waiting);

		if (w->question.is_there(&w->c))
			return w;
	}
	return NULL;
}

void expected_check(struct services *t)
{
	struct waiting *w;

	while ((w = find_answered(t)))
		finish(w);
}

/* Waits for a part of the request's time: the rest is for its other actions and the reply. */
static int begin_to_wait(struct service_call *c, const struct expected_question *q, nsec_t until)
{
	struct waiting *w = calloc(1, sizeof(*w));
	nsec_t now = loop_now(c->services->conf.loop), most = now + run_remaining(c->run) / 4 * 3;

	if (!w)
		return -ERR_NOMEM;
	w->c = *c;
	w->question = *q;
	list_push_back(&c->services->waiting, &w->in_waiting);
	w->timer = loop_timer_new(c->services->conf.loop, on_time, w);
	if (!w->timer) {
		waiting_free(w);
		return -ERR_NOMEM;
	}
	loop_timer_arm_at(w->timer, until < most ? until : most);
	run_set_abandon(c->run, abandon, w);
	return 1;
}

int expected_answer(struct service_call *c, const struct expected_question *q)
{
	nsec_t until = q->is_there(c) ? 0 : expected_until(c->services, q->job);

	return until ? begin_to_wait(c, q, until) : q->answer(c);
}
