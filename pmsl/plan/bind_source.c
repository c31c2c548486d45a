/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of values: built-in metrics, events of probes and their parameters. */
#include "pmsl/plan/binding.h"

#include "common/base/str.h"
#include "common/omis/text/arena.h"
#include "common/ring/region.h"

#include <stdio.h>
#include <string.h>

bool bind_counts_calls(const struct binder *b, const struct dag_node *n)
{
	const struct pmsl_builtin *m = b->builtin[n - b->g->node];

	return m && m->object == PMSL_T_PROCESS && m->quantity != PMSL_Q_SAMPLED;
}

/* Objects of one kind: the requested ones, and those inside requested larger ones. */
struct leaves {
	uint32_t *v;
	size_t n, max;
};

static int add_leaves(struct binder *b, const struct dag_node *at, enum pmsl_kind kind,
		      uint32_t object, struct leaves *l)
{
	const struct world *w = b->b->world;
	uint32_t i;

	if (w->v[object].kind == kind) {
		if (l->n == l->max)
			return bind_fail(b, at, -ERR_LIMIT, "more than %zu objects at once",
					 l->max);
		l->v[l->n++] = object;
		return 0;
	}
	if (w->v[object].kind < kind)
		return bind_fail(b, at, -ERR_INVALID, "%s is not a %s", w->v[object].token,
				 pmsl_kind_name(kind));
	for (size_t k = 0; k < b->nall[kind]; k++) {
		i = b->all[kind][k];
		if (!world_is_in(w, i, object) || (w->v[i].is_alone && bind_counts_calls(b, at)))
			continue;
		if (l->n == l->max)
			return bind_fail(b, at, -ERR_LIMIT, "more than %zu objects at once",
					 l->max);
		l->v[l->n++] = i;
	}
	return 0;
}

/* Finds the objects of that kind that input i names; all of them if there is no such input. */
static int find_leaves(struct binder *b, const struct dag_node *n, int i, enum pmsl_kind kind,
		       struct leaves *l)
{
	struct known of = { .kind = KNOWN_OBJECTS,
			    .objects = b->all[kind],
			    .nobject = b->nall[kind] };
	int rc = i < 0 ? 0 : bind_eval(b, n->in[i], &of);

	if (of.kind == KNOWN_OBJECT) {
		of.objects = &of.object;
		of.nobject = 1;
	}
	for (size_t k = 0; k < of.nobject && !rc; k++)
		l->max += b->b->world->v[of.objects[k]].kind == kind ? 1 : b->nall[kind];
	l->v = arena_array(b->arena, l->max, sizeof(*l->v));
	if (!l->v)
		return -ERR_NOMEM;
	for (size_t k = 0; k < of.nobject && !rc; k++)
		rc = add_leaves(b, n, kind, of.objects[k], l);
	if (!rc && !l->n)
		rc = bind_fail(b, n, -ERR_INVALID, "%s has no object: none of that kind is chosen",
			       n->name);
	return rc;
}

/* Returns the partner's rank as text: the counting host does not know processes of other hosts. */
static const char *partner_name(struct binder *b, const struct world_object *o)
{
	char text[24];

	if (o->rank < 0)
		return o->token;
	snprintf(text, sizeof(text), "%lld", (long long)o->rank);
	return arena_copy(b->b->arena, text, strlen(text));
}

static int name_partners(struct binder *b, const struct leaves *l, uint32_t job)
{
	const char **names = arena_array(b->b->arena, l->n, sizeof(*names));
	size_t n = 0;

	if (!names)
		return -ERR_NOMEM;
	for (size_t k = 0; k < l->n; k++) {
		const struct world_object *o = &b->b->world->v[l->v[k]];

		if (o->job != job)
			continue;
		names[n] = partner_name(b, o);
		if (!names[n++])
			return -ERR_NOMEM;
	}
	b->partner = l->v;
	b->npartner = l->n;
	b->partner_job = job;
	b->partners = (struct flow_names){ names, n };
	return 0;
}

static bool are_named(const struct binder *b, const struct leaves *l, uint32_t job)
{
	return b->partner && job == b->partner_job && l->n == b->npartner &&
	       !memcmp(l->v, b->partner, l->n * sizeof(*l->v));
}

/*
 * Returns the partners of a process: ranks of its own job, because other jobs have the same ranks.
 * The names of the last partners are cached, as all processes of a job have the same ones.
 */
static int choose_partners(struct binder *b, const struct leaves *l, uint32_t object,
			   struct flow_names *out)
{
	uint32_t job = b->b->world->v[object].job;
	int rc = are_named(b, l, job) ? 0 : name_partners(b, l, job);

	if (!rc)
		*out = b->partners;
	return rc;
}

static int find_regions(struct binder *b, const struct dag_node *n, struct flow_names *out)
{
	struct known of;
	int rc;

	if (n->regions < 0)
		return 0;
	rc = bind_eval(b, n->in[n->regions], &of);
	if (!rc)
		*out = (struct flow_names){ of.region, of.nregion };
	return rc;
}

/* Returns the interval of the metric, which is its last input. */
static enum dag_span span_of(const struct binder *b, const struct dag_node *n)
{
	enum dag_span span = (enum dag_span)b->g->node[n->in[n->nin - 1]].op;

	if (span != DAG_AS_MEASURED)
		return span;
	return b->options->since == FLOW_SINCE_LAST ? DAG_SINCE_LAST : DAG_SINCE_START;
}

/* Sets the event at which the value is taken: events of a process apply to it and to its node. */
static int set_event(struct binder *b, const struct dag_node *n, uint32_t object,
		     struct flow_source *s)
{
	const struct world *w = b->b->world;

	if (!b->probe)
		return 0;
	if (object != WORLD_NONE && object != b->process && object != world_node(w, b->process))
		return bind_fail(b, n, -ERR_INVALID,
				 "%s is taken at an event of %s, which says nothing about it",
				 w->v[object].token, w->v[b->process].token);
	s->probe = b->probe;
	s->process = w->v[b->process].token;
	return 0;
}

static int put_delta(struct binder *b, const struct dag_node *n, struct known *v)
{
	struct flow_node delta = { .kind = FLOW_DELTA, .in = &v->node, .nin = 1 };
	struct known source = *v;

	delta.in = &source.node;
	return bind_put(b, n, &delta, NULL, v);
}

/* Puts a node for the metric of one object. */
static int put_metric(struct binder *b, const struct dag_node *n, const struct flow_source *proto,
		      uint32_t object, struct known *out)
{
	struct flow_node v = { .kind = FLOW_INPUT, .source = *proto };
	enum dag_span span = span_of(b, n);
	struct place place = place_of(b->b->world, object);
	int rc = set_event(b, n, object, &v.source);

	if (rc)
		return rc;
	v.source.object = b->b->world->v[object].token;
	/* The value of the first event is the increase since the start. */
	v.source.from_start = span == DAG_SINCE_START || b->probe;
	rc = bind_put(b, n, &v, &place, out);
	return rc || span != DAG_SINCE_LAST ? rc : put_delta(b, n, out);
}

/* Puts the time since the start, which is the same for all objects, or the time of an event. */
static int put_time(struct binder *b, const struct dag_node *n, struct known *out)
{
	struct flow_node v = { .kind = FLOW_INPUT,
			       .source = { .kind = FLOW_SOURCE_TIME, .from_start = true } };
	struct place place = { PLACE_ANYWHERE, 0 };
	int rc = set_event(b, n, WORLD_NONE, &v.source);

	if (b->probe)
		place = place_of(b->b->world, b->process);
	return rc ? rc : bind_put(b, n, &v, &place, out);
}

/* Bytes, calls and seconds of several objects add up; loads and shares are averaged. */
static struct flow_fold fold_of(const struct pmsl_builtin *m)
{
	bool adds = m->is_total || str_eq(m->unit, "B");

	return (struct flow_fold){ .agg = adds ? AGG_SUM : AGG_MEAN };
}

/* Checks the use without asking a host: the answer is the same for every process. */
static int check_use(struct binder *b, const struct dag_node *n, const struct pmsl_builtin *m,
		     const struct flow_names *regions)
{
	const struct pmsl_builtin_use use = { n->partners >= 0, regions->n > 0, b->probe };
	const char *refusal = pmsl_builtin_refusal(m, &use);

	if (refusal)
		return bind_fail(b, n, -ERR_UNSUPPORTED, "%s %s", n->name, refusal);
	if (m->is_of_plugin && (regions->n != 1 || !pmsl_builtin_is_plugged(regions->v[0])))
		return bind_fail(b, n, -ERR_INVALID, "%s is of one metric of a plug-in: \"NAME\"",
				 n->name);
	for (size_t i = 0; i < regions->n && !m->is_of_plugin; i++) {
		if (m->is_by_mount && !pmsl_builtin_is_mount(regions->v[i]))
			return bind_fail(b, n, -ERR_INVALID, "%.64s: " PMSL_BUILTIN_MOUNTS,
					 regions->v[i]);
		if (!m->is_by_mount && !region_is_name(regions->v[i]))
			return bind_fail(
				b, n, -ERR_INVALID,
				"%.64s: a region is BEGIN..END, two probes, a NAME that makes two, or "
				"function:NAME",
				regions->v[i]);
	}
	return 0;
}

/* Puts a source for each object of *l, and replaces the object by its node. Objects without a
 * partner in their job have no such calls, and are left out. */
static int put_metrics(struct binder *b, const struct dag_node *n, struct flow_source *proto,
		       struct leaves *l, struct known *out)
{
	struct leaves partners = { 0 };
	size_t kept = 0;
	int rc = n->partners < 0 ? 0 : find_leaves(b, n, n->partners, PMSL_T_PROCESS, &partners);

	for (size_t k = 0; k < l->n && !rc; k++) {
		if (n->partners >= 0)
			rc = choose_partners(b, &partners, l->v[k], &proto->partners);
		if (rc || (n->partners >= 0 && !proto->partners.n))
			continue;
		rc = put_metric(b, n, proto, l->v[k], out);
		l->v[kept++] = out->node;
	}
	l->n = kept;
	return rc;
}

int bind_source(struct binder *b, const struct dag_node *n, struct known *out)
{
	struct flow_source proto = { .kind = FLOW_SOURCE_METRIC, .metric = n->name };
	const struct pmsl_builtin *m = b->builtin[n - b->g->node];
	struct leaves l = { 0 };
	struct flow_fold fold;
	int rc;

	if (m->object == PMSL_T_NONE)
		return put_time(b, n, out);
	rc = find_leaves(b, n, n->objects, m->object, &l);
	if (!rc)
		rc = find_regions(b, n, &proto.regions);
	if (!rc)
		rc = check_use(b, n, m, &proto.regions);
	if (!rc)
		rc = put_metrics(b, n, &proto, &l, out);
	if (!rc && !l.n)
		*out = known_number(0);
	if (rc || l.n <= 1)
		return rc;
	fold = fold_of(m);
	return bind_set(b, n, &fold, (struct node_list){ l.v, l.n }, out);
}

int bind_context(struct binder *b, const struct dag_node *n, struct known *out)
{
	struct flow_node v = { .kind = FLOW_INPUT, .source = { .kind = FLOW_SOURCE_PARAMETER } };
	struct place place = place_of(b->b->world, b->process);

	v.source.parameter = n->param - 1; /* parameter 0 is the virtual time, behind the process */
	v.source.probe = b->probe;
	v.source.process = b->b->world->v[b->process].token;
	return bind_put(b, n, &v, &place, out);
}

/* Gives a constant a value at each event: the node of the event, times the constant. */
static int put_event(struct binder *b, const struct dag_node *n, struct known *v)
{
	struct flow_node event = { .kind = FLOW_INPUT, .source = { .kind = FLOW_SOURCE_EVENT } };
	struct place place = place_of(b->b->world, b->process);
	struct known in[2] = { { 0 }, *v };
	int rc;

	event.source.probe = b->probe;
	event.source.process = b->b->world->v[b->process].token;
	rc = bind_put(b, n, &event, &place, &in[0]);
	if (rc || v->number == 1) {
		*v = in[0];
		return rc;
	}
	return bind_op(b, n, FLOW_OP_MUL, (struct known_list){ in, 2 }, v);
}

static int put_shift(struct binder *b, const struct dag_node *n, int64_t shift, struct known *v)
{
	struct known from = *v;
	struct flow_node node = { .kind = FLOW_SHIFT, .shift = shift, .in = &from.node, .nin = 1 };

	return shift ? bind_put(b, n, &node, NULL, v) : 0;
}

int bind_at(struct binder *b, const struct dag_node *n, struct known *out)
{
	const struct dag_node *probe = &b->g->node[n->in[1]];
	struct known process;
	int rc = bind_eval(b, probe->in[0], &process);

	if (rc)
		return rc;
	b->probe = probe->name;
	b->process = process.object;
	rc = bind_eval(b, n->in[0], out);
	if (!rc && out->kind == KNOWN_NUMBER)
		rc = put_event(b, n, out);
	b->probe = NULL;
	b->process = WORLD_NONE;
	return rc ? rc : put_shift(b, n, b->g->node[probe->in[1]].shift, out);
}
