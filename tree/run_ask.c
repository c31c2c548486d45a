/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the branches in a run. */
#include "common/base/rng.h"
#include "common/loop/loop.h"
#include "common/route/gather.h"
#include "common/route/rights.h"
#include "tree/run_internal.h"

#include <stdio.h>
#include <stdlib.h>

nsec_t run_remaining(const struct run *run)
{
	nsec_t left = run->deadline - loop_now(run->x->conf.loop);

	return left > 0 ? left : 0;
}

const struct run_spec *run_spec(const struct run *run)
{
	return &run->spec;
}

struct reply *run_reply(struct run *run)
{
	return run->reply;
}

void ask_free(struct ask *a)
{
	map_del(&a->run->x->asked, a->id);
	list_del(&a->in_asks);
	reply_free(a->part);
	free(a);
}

/* Returns an id that cannot be guessed: a branch cannot answer a request that it did not get. */
static uint64_t fresh_id(struct executor *x)
{
	uint64_t id;

	do {
		if (x->nrandom == 0) {
			if (rng_fill_random(x->random, sizeof(x->random), NULL))
				return 0;
			x->nrandom = sizeof(x->random) / sizeof(x->random[0]);
		}
		id = x->random[--x->nrandom];
	} while (id == 0 || map_find(&x->asked, id));
	return id;
}

struct ask *ask_new(struct run *run, uint32_t branch)
{
	struct executor *x = run->x;
	struct ask *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->run = run;
	a->branch = branch;
	a->id = fresh_id(x);
	if (a->id == 0 || map_put(&x->asked, a->id, a, NULL)) {
		free(a);
		return NULL;
	}
	list_push_back(&run->asks, &a->in_asks);
	return a;
}

bool run_may_be_done(const struct run *run)
{
	return run->spec.flags & MSG_REQUEST_OUTCOME;
}

/*
 * Adds the outcome for a branch that will not answer. The reason does not matter for a request that
 * only observes.
 */
void run_lose(struct run *run, uint32_t branch, bool is_sent, const char *reason)
{
	char words[96];

	if (route_right_needed(run->request) > OMIS_OBSERVE) {
		snprintf(words, sizeof(words), "%s: %s",
			 is_sent || run_may_be_done(run) ? "outcome unknown" : "not done", reason);
		reason = words;
	}
	gather_lost(run->gather, branch, reason);
}
