/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places the pieces of a measurement. A node's piece goes to the branch that serves the node, a
 * site's to the site's sm. If mainsm itself serves some of its hosts, the site's piece is evaluated
 * here. The sm then has no piece of its own, and passes on the values of its hosts.
 */
#include "common/base/array.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/omis/text/status.h"
#include "mainsm/measure/measure_internal.h"
#include "pmsl/plan/bound.h"
#include "tree/loading.h"
#include "tree/states.h"

#include <stdlib.h>

/* --- states */

static const char *const state_names[MEASURE_STATES] = { "new", "loading", "running", "stopped" };
static const char *const event_names[MEASURE_EVENTS] = { "start", "sent", "moved", "stop" };

#define NEW MEASURE_NEW
#define LOADING MEASURE_LOADING
#define RUNNING MEASURE_RUNNING
#define STOPPED MEASURE_STOPPED

/* by event, in their order */
static const uint8_t next[MEASURE_STATES][MEASURE_EVENTS] = {
	[NEW] = { LOADING, NEW, NEW, NEW },
	[LOADING] = { LOADING, RUNNING, LOADING, STOPPED },
	[RUNNING] = { RUNNING, RUNNING, LOADING, STOPPED },
	[STOPPED] = { LOADING, STOPPED, STOPPED, STOPPED },
};

const struct states measure_states = { .name = "measurement",
				       .state = state_names,
				       .event = event_names,
				       .nstate = MEASURE_STATES,
				       .nevent = MEASURE_EVENTS,
				       .next = next[0] };

void measure_step(struct measure *m, enum measure_event ev)
{
	m->state = states_step(&measure_states, m->state, ev, m->token.s);
}

bool measure_runs(const struct measure *m)
{
	return m->state == MEASURE_LOADING || m->state == MEASURE_RUNNING;
}

/* --- errors of parts */

void measure_drop_troubles(struct measure *m, uint32_t branch)
{
	for (size_t i = m->ntrouble; i > 0; i--)
		if (m->trouble[i - 1].branch == branch) {
			free(m->trouble[i - 1].text);
			m->trouble[i - 1] = m->trouble[--m->ntrouble];
		}
}

static void add(struct measure *m, struct measure_trouble t, const char *object)
{
	for (size_t i = 0; t.text && i < m->ntrouble; i++)
		if (str_eq(m->trouble[i].object, object) && str_eq(m->trouble[i].text, t.text)) {
			free(t.text);
			return;
		}
	str_copy(t.object, sizeof(t.object), object);
	if (!t.text || array_grow(&m->trouble, &m->captrouble, m->ntrouble + 1, sizeof(t),
				  MEASURE_TROUBLES_MAX))
		free(t.text);
	else
		m->trouble[m->ntrouble++] = t;
}

/* Adds a host's report about an object. */
static void measure_add_trouble(struct measure *m, uint32_t branch, const struct msg_entry *entry)
{
	add(m,
	    (struct measure_trouble){
		    .branch = branch,
		    .status = entry->status,
		    .text = str_ndup((const char *)entry->value.p, entry->value.n) },
	    entry->objects);
}

void measure_add_fault(struct measure *m, const char *text)
{
	add(m,
	    (struct measure_trouble){ .branch = STAGE_NOWHERE,
				      .status = STATUS_PARAMETER_ERROR,
				      .text = str_dup(text) },
	    "");
}

/* --- places */

static const struct object *object_of(const struct measure *m, const struct measure_piece *p)
{
	return directory_find(m->ms->conf.directory, p->object);
}

static uint32_t server_of(const struct measure *m, const struct measure_piece *p)
{
	const struct object *o = object_of(m, p);

	return o && o->server ? o->server - 1 : STAGE_NOWHERE;
}

static bool is_of_site(const struct measure *m, const struct measure_piece *node,
		       const struct measure_piece *site)
{
	const struct object *o = node->kind == PLACE_NODE ? object_of(m, node) : NULL;

	return o && str_eq(o->parent->token, site->object);
}

/* Returns the site's sm if all reachable hosts are behind it. */
static uint32_t sm_of(const struct measure *m, const struct measure_piece *site)
{
	const struct branch *sm = branches_find(m->ms->conf.branches, site->object);

	for (size_t i = 0; sm && i < m->plan->npiece; i++) {
		const struct measure_piece *p = &m->plan->piece[i];

		if (is_of_site(m, p, site) && p->branch != sm->index && p->branch != STAGE_NOWHERE)
			return STAGE_HERE;
	}
	return sm ? sm->index : STAGE_HERE;
}

/* Finds the branch of each piece. Returns true if one has moved. */
static bool find_branches(struct measure *m)
{
	bool moved = false;

	for (size_t i = m->plan->npiece; i > 0; i--) {
		struct measure_piece *p = &m->plan->piece[i - 1];
		uint32_t before = p->branch;

		if (p->kind == PLACE_NODE)
			p->branch = server_of(m, p);
		else
			p->branch = p->kind == PLACE_SITE ? sm_of(m, p) : STAGE_HERE;
		moved |= p->branch != before;
	}
	return moved;
}

/* --- stages */

/* One graph; its state is limited by that of a graph, twice during a replacement. */
static const struct flow_limits stage_limits = { 1, 2 * FLOW_NODES_MAX, 2 * FLOW_STATE_MAX_BYTES };

static int open_stage(struct measure *m, struct measure_piece *p, struct err *e)
{
	const struct flow_out out = { m->ms->on_result, m->ms->on_batch, m };
	int rc;

	if (p->stage)
		return 0;
	p->engine = flow_new(&stage_limits, &out);
	p->stage = stage_new(m->number, m->reads.read);
	rc = p->engine && p->stage ? stage_load(p->stage, p->engine, p->graph, m->reads.start, e)
				   : err_nomem(e);
	if (rc)
		measure_piece_close(p);
	return rc;
}

/* Returns the stage to which the links of a piece lead; NULL: it runs at a branch. */
static struct stage *stage_above(const struct measure *m, const struct measure_piece *p)
{
	for (size_t i = 0; p->kind == PLACE_NODE && i < m->plan->npiece; i++) {
		const struct measure_piece *site = &m->plan->piece[i];

		if (site->kind == PLACE_SITE && is_of_site(m, p, site))
			return site->stage;
	}
	return p->kind == PLACE_SITE ? m->plan->piece[0].stage : NULL;
}

static void each_stage(const struct measure *m, void (*fn)(struct stage *s))
{
	for (size_t i = 0; i < m->plan->npiece; i++)
		if (m->plan->piece[i].stage)
			fn(m->plan->piece[i].stage);
}

static int set_senders(struct measure *m)
{
	int rc = 0;

	each_stage(m, stage_begin);
	for (size_t i = 0; !rc && i < m->plan->npiece; i++) {
		const struct measure_piece *p = &m->plan->piece[i];
		struct stage *to = stage_above(m, p);

		if (!to)
			continue;
		rc = stage_set_sender(to, p->object, p->graph, m);
		stage_place_sender(to, p->object, p->branch);
	}
	if (!rc)
		each_stage(m, stage_commit);
	return rc;
}

/* Fails with -ERR_NOMEM, or the engine's error for a site's piece. */
static int open_stages(struct measure *m, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < m->plan->npiece; i++) {
		struct measure_piece *p = &m->plan->piece[i];

		if (p->branch == STAGE_HERE) {
			rc = open_stage(m, p, e);
		} else {
			measure_piece_close(p);
		}
	}
	return rc;
}

/* --- branches */

static uint64_t hash_of(const struct measure_piece *p)
{
	return bound_hash_text(bound_hash_text(1, p->object), buf_str(&p->text));
}

/* A branch that takes no message now is about to be lost: its objects leave, and return with it. */
static int send_load(void *arg, const struct standing_part *to)
{
	const struct measure *m = arg;
	struct loading x = { .branches = m->ms->conf.branches,
			     .branch = to->branch,
			     .head = { .measurement = m->number,
				       .tool = m->session->number,
				       .identity = m->session->identity,
				       .version = to->version,
				       .start_ns = m->reads.start,
				       .every_ns = m->asked.every,
				       .read = (uint64_t)m->reads.read } };

	for (size_t i = 0; i < m->plan->npiece; i++) {
		const struct measure_piece *p = &m->plan->piece[i];

		if (p->branch == to->branch)
			loading_add(&x, p->object, p->text.p, p->text.n);
	}
	return loading_end(&x);
}

static void end_load(void *arg, const struct standing_part *p)
{
	struct measure *m = arg;
	const struct msg msg = { .type = MSG_FLOW_END, .flow_end = { .measurement = m->number } };

	branches_send(m->ms->conf.branches, p->branch, &msg);
	measure_drop_troubles(m, p->branch);
}

static void on_settled(void *arg)
{
	measure_ready_loaded(arg);
}

struct standing *measure_standing_new(struct measure *m)
{
	return standing_new(&(struct standing_conf){ .loop = m->ms->conf.loop,
						     .wait_max = MEASURE_LOADED_MAX_NS,
						     .version = &m->version,
						     .send = send_load,
						     .end = end_load,
						     .settled = on_settled,
						     .arg = m });
}

static int load_branches(struct measure *m)
{
	int rc = 0;

	standing_begin(m->standing, false);
	for (size_t i = 0; !rc && i < m->plan->npiece; i++)
		if (m->plan->piece[i].branch < STAGE_HERE)
			rc = standing_add(m->standing, m->plan->piece[i].branch,
					  hash_of(&m->plan->piece[i]));
	return rc ? rc : standing_commit(m->standing);
}

int measure_route(struct measure *m, struct err *e)
{
	int rc;

	if (!m->plan || !measure_runs(m))
		return 0;
	if (!find_branches(m) && m->state == MEASURE_RUNNING)
		return 0;
	m->ms->stats.routes++;
	rc = open_stages(m, e);
	if (!rc && load_branches(m))
		rc = err_nomem(e);
	if (!rc && set_senders(m))
		rc = err_nomem(e);
	measure_step(m, rc ? MEASURE_MOVED : MEASURE_SENT);
	standing_check(m->standing, false);
	return rc;
}

/* --- another plan */

/* A stage continues with its new graph when it has one. */
static int take_stage(struct measure *m, struct measure_piece *old, struct measure_plan *plan,
		      struct err *e)
{
	for (size_t i = 0; i < plan->npiece; i++) {
		struct measure_piece *p = &plan->piece[i];
		int rc;

		if (p->kind != old->kind || !str_eq(p->object, old->object))
			continue;
		rc = stage_load(old->stage, old->engine, p->graph, m->reads.start, e);
		if (rc)
			return rc;
		p->stage = old->stage;
		p->engine = old->engine;
		old->stage = NULL;
		old->engine = NULL;
		return 0;
	}
	return 0;
}

/*
 * The root is first: if it refuses, nothing has changed. A stage of a site that refuses begins
 * again without its state.
 */
static int take_stages(struct measure *m, struct measure_plan *plan, struct err *e)
{
	for (size_t i = 0; m->plan && i < m->plan->npiece; i++) {
		struct measure_piece *old = &m->plan->piece[i];
		int rc = old->stage ? take_stage(m, old, plan, e) : 0;

		if (rc && i == 0)
			return rc;
	}
	return 0;
}

int measure_use(struct measure *m, struct measure_plan **plan, struct err *e)
{
	int rc = measure_runs(m) ? take_stages(m, *plan, e) : 0;

	if (rc)
		return rc;
	measure_plan_free(m->plan);
	m->plan = *plan;
	*plan = NULL;
	measure_step(m, MEASURE_MOVED);
	return measure_route(m, e);
}

static void measure_unload(struct measure *m)
{
	standing_end(m->standing);
	for (size_t i = 0; m->plan && i < m->plan->npiece; i++)
		measure_piece_close(&m->plan->piece[i]);
}

void measure_stop(struct measure *m)
{
	if (!measure_runs(m))
		return;
	measure_step(m, MEASURE_STOP);
	m->ms->stats.running--;
	read_clock_stop(&m->reads);
	measure_unload(m);
	standing_check(m->standing, true);
	measure_drop_waiters(m);
}

/* --- acknowledgements */

int measures_loaded(struct measures *ms, uint32_t branch, const struct msg_flow_ack *a,
		    struct err *e)
{
	struct measure *m = map_find(&ms->by_number, a->measurement);

	if (!m || !standing_has(m->standing, branch, a->version))
		return err_set(e, ERR_NOTFOUND, "nothing of that version is loaded there");
	if (!branch_owns_entries(branches_at(ms->conf.branches, branch), a->entry, a->nentry))
		return err_set(e, ERR_DENIED, "names objects that are not its own");
	measure_drop_troubles(m, branch);
	for (size_t i = 0; i < a->nentry; i++)
		measure_add_trouble(m, branch, &a->entry[i]);
	standing_confirm(m->standing, branch);
	standing_check(m->standing, false);
	return 0;
}

void measure_lose_branch(struct measure *m, uint32_t branch)
{
	if (!standing_drop(m->standing, branch))
		return;
	measure_drop_troubles(m, branch);
	measure_step(m, MEASURE_MOVED);
	standing_check(m->standing, false);
}
