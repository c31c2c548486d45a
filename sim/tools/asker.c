/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tools/asker.h"

#include "sim/rogues/rogue.h"
#include "sim/tools/simtool.h"

#include <stdlib.h>

#define STEP_NS (100 * NSEC_PER_MSEC)
#define ANSWER_NS (2 * NSEC_PER_SEC)

struct asker {
	struct world *w;
	struct simtool *tool;
	void (*on_event)(void *arg, const struct reply *r);
	void *arg;
	struct rogue *rogue; /* NULL: no rogue; borrowed */
	struct reply *answer; /* the last answer; owned */
	nsec_t asked_at, answered_at;
};

static void pass(struct asker *a, nsec_t time)
{
	if (!a->w->broken[0])
		loop_advance(a->w->loop, time);
}

static void on_reply(void *arg, const struct reply *r)
{
	struct asker *a = arg;

	rogue_check(a->rogue, r);
	if (r->kind && a->on_event)
		a->on_event(a->arg, r);
	if (r->kind && r->kind != STATUS_CSR_DEFINED)
		return;
	reply_free(a->answer);
	a->answer = reply_new();
	a->answered_at = loop_now(a->w->loop);
	if (!a->answer || reply_append(a->answer, r))
		world_break(a->w, "no memory");
	else
		a->answer->id = r->id;
}

static void on_link(void *arg)
{
}

int asker_new(struct world *w, const char *name, void (*on_event)(void *arg, const struct reply *r),
	      void *arg, struct asker **out)
{
	struct asker *a = calloc(1, sizeof(*a));
	const struct simtool_conf c = { .w = w,
					.name = name,
					.role = ROLE_TOOL_MANIPULATE,
					.epoch = 1,
					.on_reply = on_reply,
					.on_up = on_link,
					.on_down = on_link,
					.arg = a };

	if (!a)
		return -ERR_NOMEM;
	*a = (struct asker){ .w = w, .on_event = on_event, .arg = arg };
	if (simtool_new(&c, &a->tool, NULL)) {
		free(a);
		return -ERR_NOMEM;
	}
	pass(a, NSEC_PER_SEC);
	*out = a;
	return 0;
}

void asker_excuse(struct asker *a, struct rogue *r)
{
	a->rogue = r;
}

void asker_free(struct asker *a)
{
	if (!a)
		return;
	simtool_free(a->tool);
	reply_free(a->answer);
	free(a);
}

const struct reply *asker_ask(struct asker *a, const char *text)
{
	const struct simtool_ask q = { .text = text, .deadline = ANSWER_NS };
	uint64_t id = simtool_ask(a->tool, &q);

	a->asked_at = loop_now(a->w->loop);
	for (nsec_t t = 0; t < ANSWER_NS + SIMTOOL_LATE_NS && !a->w->broken[0]; t += STEP_NS) {
		if (id && a->answer && a->answer->id == id)
			return a->answer;
		pass(a, STEP_NS);
	}
	world_break(a->w, "INV-1: no fault remains, but %.80s is not answered", text);
	return NULL;
}

void asker_report(struct asker *a, const char *text)
{
	simtool_ask(a->tool, &(struct simtool_ask){ .text = text, .deadline = ANSWER_NS });
}

static bool is_partial(const struct asker *a, const struct reply *r)
{
	if (!rogue_counts(a->rogue))
		return reply_is_partial(r);
	for (size_t i = 0; i < r->coverage.nmissing; i++)
		if (!rogue_is_excused(a->rogue, r->coverage.missing[i].object))
			return true;
	return false;
}

const struct reply *asker_be_ok(struct asker *a, const char *text)
{
	const struct reply *r = asker_ask(a, text);

	for (size_t i = 0; r && i < r->nentry; i++)
		if (r->entry[i].status && !rogue_is_excused(a->rogue, r->entry[i].objects))
			world_break(
				a->w,
				"INV-31: no fault remains, but the answer to %.80s is %s: %.200s",
				text, status_name(r->entry[i].status), r->entry[i].value);
	if (r && is_partial(a, r))
		world_break(
			a->w,
			"INV-31: no fault remains, but the answer to %.80s lacks objects: %.100s: %.150s",
			text, r->coverage.nmissing ? r->coverage.missing[0].object : "?",
			r->coverage.nmissing ? r->coverage.missing[0].reason : "?");
	return a->w->broken[0] ? NULL : r;
}

nsec_t asker_took(const struct asker *a)
{
	return a->answered_at - a->asked_at;
}
