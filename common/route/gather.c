/* SPDX-License-Identifier: Apache-2.0 */
#include "common/route/gather.h"

#include "common/base/err.h"
#include "common/container/map.h"
#include "common/omis/text/arena.h"

#include <stdlib.h>
#include <string.h>

enum asked_state { ASKED_WAITING, ASKED_ANSWERED, ASKED_LOST };

struct asked {
	uint32_t branch;
	uint32_t nobject;
	const uint32_t *action;
	size_t naction;
	enum asked_state state;
	const char *name, *reason; /* of a lost branch, copied when it was lost; NULL = no memory */
};

struct gather {
	struct gather_conf conf;
	struct asked *asked;
	size_t n, waiting, answered; /* numbers of branches */
	uint64_t objects; /* objects of the branches that have answered */
	struct map by_branch; /* branch -> struct asked */
	struct reply *sum; /* sum of the replies so far */
	struct arena *arena;
};

static int copy_parts(struct gather *g, const struct plan_step *step)
{
	g->asked = arena_array(g->arena, step->npart, sizeof(*g->asked));
	if (!g->asked)
		return -ERR_NOMEM;
	for (size_t i = 0; i < step->npart; i++) {
		const struct plan_part *part = &step->part[i];
		uint32_t *action = arena_array(g->arena, part->naction, sizeof(*action));

		if (!action)
			return -ERR_NOMEM;
		memcpy(action, part->action, part->naction * sizeof(*action));
		g->asked[i] = (struct asked){ .branch = part->branch,
					      .nobject = part->nobject,
					      .action = action,
					      .naction = part->naction };
		if (map_put(&g->by_branch, part->branch, &g->asked[i], NULL))
			return -ERR_NOMEM;
	}
	g->n = g->waiting = step->npart;
	return 0;
}

int gather_new(const struct plan_step *step, const struct gather_conf *conf, struct gather **out,
	       struct err *e)
{
	struct gather *g = calloc(1, sizeof(*g));
	int rc = -ERR_NOMEM;

	if (!g)
		return err_nomem(e);
	g->conf = *conf;
	map_init(&g->by_branch);
	g->sum = reply_new();
	g->arena = arena_new(REPLY_MAX_BYTES);
	if (g->sum && g->arena)
		rc = copy_parts(g, step);
	if (rc) {
		gather_free(g);
		return err_nomem(e);
	}
	*out = g;
	return 0;
}

void gather_free(struct gather *g)
{
	if (!g)
		return;
	map_done(&g->by_branch);
	reply_free(g->sum);
	arena_free(g->arena);
	free(g);
}

static bool was_asked(const struct asked *a, uint32_t action)
{
	for (size_t i = 0; i < a->naction; i++)
		if (a->action[i] == action)
			return true;
	return false;
}

static bool owns_all(const struct gather *g, uint32_t branch, const char *objects)
{
	size_t len;

	if (!g->conf.owns)
		return true;
	for (; *objects; objects += len + (objects[len] == ',')) {
		len = strcspn(objects, ",");
		if (!g->conf.owns(g->conf.arg, branch, objects, len))
			return false;
	}
	return true;
}

static int check_entry(const struct gather *g, const struct asked *a,
		       const struct reply_entry *entry, struct err *e)
{
	if (entry->action == 0 ? !status_is_error(entry->status) : !was_asked(a, entry->action))
		return err_set(e, ERR_PROTO, "a result for action %u, which was not requested",
			       entry->action);
	if (!owns_all(g, a->branch, entry->objects))
		return err_set(e, ERR_PROTO, "a result for an object of another branch");
	return 0;
}

/* An error of the whole text of a branch becomes an error of each of its actions. */
static int add_entry(struct reply *to, const struct asked *a, const struct reply_entry *e)
{
	int rc = 0;

	if (e->action)
		return reply_add_n(to, e->action, e->objects, e->status,
				   bytes_at(e->value, e->nvalue));
	for (size_t i = 0; !rc && i < a->naction; i++)
		rc = reply_add_n(to, a->action[i], e->objects, e->status,
				 bytes_at(e->value, e->nvalue));
	return rc;
}

/*
 * Sets the coverage. A branch may have expanded further than the plan, but never counts fewer
 * objects than were asked.
 */
static void set_coverage(struct reply *to, const struct asked *a, const struct reply_coverage *from)
{
	struct reply_coverage *c = &to->coverage;

	c->asked = from->asked > a->nobject ? from->asked : a->nobject;
	c->answered = from->answered < c->asked ? from->answered : c->asked;
	c->more_missing = from->more_missing;
	reply_add_time(to, from->oldest_ns, from->newest_ns);
}

/*
 * Adds a missing object of the branch, with the branch's reason. For an object of another branch,
 * the branch itself is missing: the object may have belonged to it at the time of the request.
 */
static int add_missing(const struct gather *g, const struct asked *a, const struct reply_missing *m,
		       struct reply *to)
{
	bool is_own = owns_all(g, a->branch, m->object);

	return reply_add_missing(to, is_own ? m->object : g->conf.name(g->conf.arg, a->branch),
				 m->reason);
}

/*
 * Converts the branch's reply to the numbers of this request, so that it is added completely or not
 * at all.
 */
static int translate(const struct gather *g, const struct asked *a, const struct reply *r,
		     struct reply *to, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < r->nentry; i++) {
		rc = check_entry(g, a, &r->entry[i], e);
		if (!rc)
			rc = add_entry(to, a, &r->entry[i]);
	}
	for (size_t i = 0; !rc && i < r->coverage.nmissing; i++)
		rc = add_missing(g, a, &r->coverage.missing[i], to);
	set_coverage(to, a, &r->coverage);
	return rc;
}

/* Copies the name, because another branch may have this index when the others have answered. */
static void lose(struct gather *g, struct asked *a, const char *reason)
{
	const char *name = g->conf.name(g->conf.arg, a->branch);

	a->state = ASKED_LOST;
	a->name = arena_copy(g->arena, name, strlen(name));
	a->reason = arena_copy(g->arena, reason, strlen(reason));
	g->waiting--;
}

static struct asked *find_waiting(const struct gather *g, uint32_t branch)
{
	struct asked *a = map_find(&g->by_branch, branch);

	return a && a->state == ASKED_WAITING ? a : NULL;
}

int gather_add(struct gather *g, uint32_t branch, const struct reply *r, struct err *e)
{
	struct asked *a = find_waiting(g, branch);
	struct reply *ours;
	int rc;

	if (!a)
		return err_set(e, ERR_NOTFOUND, "an answer without a waiting request");
	ours = reply_new();
	rc = ours ? translate(g, a, r, ours, e) : -ERR_NOMEM;
	if (!rc)
		rc = reply_append(g->sum, ours);
	if (!rc) {
		a->state = ASKED_ANSWERED;
		g->waiting--;
		g->answered++;
		g->objects += ours->coverage.answered;
	} else {
		lose(g, a, rc == -ERR_PROTO ? "its answer was wrong" : "its answer did not fit");
	}
	reply_free(ours);
	return rc == -ERR_NOMEM ? err_nomem(e) : rc;
}

void gather_lost(struct gather *g, uint32_t branch, const char *reason)
{
	struct asked *a = find_waiting(g, branch);

	if (a)
		lose(g, a, reason);
}

bool gather_is_done(const struct gather *g, nsec_t now)
{
	if (!g->waiting || now >= g->conf.deadline)
		return true;
	if (g->conf.policy == GATHER_QUORUM)
		return g->objects >= g->conf.quorum;
	return g->conf.policy == GATHER_NOW && g->answered;
}

void gather_each_waiting(const struct gather *g, void (*fn)(void *arg, uint32_t branch), void *arg)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->asked[i].state == ASKED_WAITING)
			fn(arg, g->asked[i].branch);
}

static int note_missing(const struct gather *g, const struct asked *a, struct reply *into)
{
	const char *reason = a->state == ASKED_WAITING ? "no answer in time"
			     : a->reason	       ? a->reason
						       : "lost";
	const char *name = a->name ? a->name : g->conf.name(g->conf.arg, a->branch);

	if (into->coverage.asked > UINT32_MAX - a->nobject)
		into->coverage.asked = UINT32_MAX;
	else
		into->coverage.asked += a->nobject;
	return reply_add_missing(into, name, reason);
}

int gather_finish(struct gather *g, struct reply *into)
{
	int rc = reply_append(into, g->sum);

	for (size_t i = 0; !rc && i < g->n; i++)
		if (g->asked[i].state != ASKED_ANSWERED)
			rc = note_missing(g, &g->asked[i], into);
	return rc;
}
