/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/form/netput.h"

#include <inttypes.h>
#include <stdio.h>

static void put_name(struct json *j, const struct network *w, uint32_t v)
{
	char name[NETWORK_NAME_BYTES];

	json_str(j, network_name(w, v, name));
}

static void put_key_name(struct json *j, const char *key, const struct network *w, uint32_t v)
{
	json_key(j, key);
	put_name(j, w, v);
}

static void put_pair(struct json *j, const struct network *w, uint32_t tail, uint32_t head)
{
	json_array(j);
	put_name(j, w, tail);
	put_name(j, w, head);
	json_array_end(j);
}

/* --- counts and arcs */

static size_t put_arcs(struct json *j, const char *key, const struct network *w, bool is_b_only)
{
	struct network_arc a;
	size_t n = 0;

	json_key_array(j, key);
	for (uint32_t i = 0; i < w->n; i++)
		for (int k = 0; k < 2; k++)
			if (network_arc(w, i, k, &a) && (a.blocks || !is_b_only)) {
				put_pair(j, w, a.tail, a.head);
				n++;
			}
	json_array_end(j);
	return n;
}

static void put_counts(struct json *j, const struct network *w)
{
	size_t arcs = 0, b_arcs = 0;
	struct network_arc a;

	for (uint32_t i = 0; i < w->n; i++)
		for (int k = 0; k < 2; k++)
			if (network_arc(w, i, k, &a)) {
				arcs++;
				b_arcs += a.blocks;
			}
	json_key_object(j, "counts");
	json_key_u64(j, "vertices", w->n);
	json_key_u64(j, "arcs", arcs);
	json_key_u64(j, "b_arcs", b_arcs);
	json_key_u64(j, "subtasks", w->ntask);
	for (unsigned i = 0; i < NETWORK_KINDS; i++)
		json_key_u64(j, network_kind_name((enum network_kind)i), w->count[i]);
	json_object_end(j);
}

/* --- the path and its states */

void netput_path(struct json *j, const char *key, const struct network *w, const struct netpath *p)
{
	json_key_array(j, key);
	for (size_t i = 0; i < p->n; i++)
		put_name(j, w, p->step[i].v);
	json_array_end(j);
}

void netput_near(struct json *j, const struct network *w, const struct netpath *p, size_t n)
{
	json_key_array(j, "near");
	for (size_t i = 0; i < n; i++) {
		json_object(j);
		json_key_i64(j, "length", p[i].length);
		netput_path(j, "path", w, &p[i]);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_uses(struct json *j, const struct network *w, const struct netspent *s)
{
	struct buf name = BUF_INIT(NETUSE_MAX_BYTES);

	json_key_object(j, "exclusive");
	for (size_t i = 0; i < s->nuse; i++) {
		buf_clear(&name);
		netuse_put(w->use, s->use[i].of, &name);
		json_key_i64(j, buf_str(&name), s->use[i].ns);
		j->failed |= name.failed;
	}
	json_object_end(j);
	buf_done(&name);
}

void netput_states(struct json *j, const struct network *w, const struct netspent *s)
{
	char id[24];

	json_key_object(j, "composite");
	for (unsigned i = 0; i < netuse_states(w->use); i++)
		json_key_i64(j, netuse_state_name(w->use, i), s->state[i]);
	json_object_end(j);
	put_uses(j, w, s);
	json_key_object(j, "cp_by_subtask");
	for (size_t i = 0; i < s->ntask; i++) {
		snprintf(id, sizeof(id), "%" PRIu64, network_id(w, s->task[i].of));
		json_key_i64(j, id, s->task[i].ns);
	}
	json_object_end(j);
}

static void put_slack(struct json *j, const struct network *w)
{
	char name[NETWORK_NAME_BYTES];

	json_key_object(j, "slack");
	for (uint32_t i = 0; i < w->n; i++)
		if (w->v[i].kind == NETWORK_JOIN)
			json_key_i64(j, network_name(w, i, name), netpath_slack(w, i));
	json_object_end(j);
}

static void put_anomalies(struct json *j, const struct network *w)
{
	json_key_array(j, "anomalies");
	for (unsigned i = 0; i < NETWORK_ANOMALIES; i++)
		if (w->anomaly[i])
			json_str(j, network_anomaly_name((enum network_anomaly)i));
	json_array_end(j);
}

void netput_meters(struct json *j, const struct netuse *use, const struct netmeter *m)
{
	json_key_i64(j, "sum_RT", m->sum_response);
	json_key_object(j, "sum_TState");
	for (unsigned i = 0; i < netuse_states(use); i++)
		json_key_i64(j, netuse_state_name(use, i), m->sum_state[i]);
	json_object_end(j);
	json_key_u64(j, "interactions", m->interactions);
	json_key_u64(j, "discarded", m->discarded);
}

void netput_result(struct json *j, const char *name, const struct network *w,
		   const struct netanalysis *a)
{
	json_key_str(j, "name", name);
	put_counts(j, w);
	put_arcs(j, "arcs", w, false);
	put_arcs(j, "b_arcs", w, true);
	put_key_name(j, "v0", w, w->v0);
	put_key_name(j, "vf", w, w->vf);
	json_key_i64(j, "RT", netpath_response(w));
	json_key_i64(j, "cp_length", a->path.length);
	json_key_bool(j, "cp_unique", a->path.is_unique);
	netput_path(j, "critical_path", w, &a->path);
	netput_states(j, w, &a->spent);
	put_slack(j, w);
	json_key_bool(j, "member", a->spent.is_member);
	put_anomalies(j, w);
	json_key_object(j, "meters");
	netput_meters(j, w->use, &a->meter);
	json_object_end(j);
}

/* --- what if */

void netput_what_if(struct json *j, const struct network *w, const struct netretime_change *change,
		    size_t n, const struct netretime *r)
{
	struct network_arc a;

	json_key_object(j, "what_if");
	json_key_array(j, "arcs");
	for (size_t i = 0; i < n; i++) {
		json_object(j);
		json_key(j, "arc");
		network_arc(w, change[i].head, change[i].is_ending, &a);
		put_pair(j, w, a.tail, a.head);
		json_key_u64(j, "subtask", network_id(w, a.task));
		json_key_i64(j, "weight", change[i].length);
		json_key_i64(j, "was", a.blocks ? 0 : network_length(w, &a));
		json_object_end(j);
	}
	json_array_end(j);
	put_key_name(j, "vf", w, r->vf);
	json_key_i64(j, "RT", r->response);
	json_key_bool(j, "cp_unique", r->path.is_unique);
	netput_path(j, "critical_path", w, &r->path);
	json_key_array(j, "b_arcs");
	for (uint32_t i = 0; i < w->n; i++)
		for (int k = 0; k < 2; k++)
			if (r->waits[i] & (k ? NETRETIME_ENDING : NETRETIME_OWN) &&
			    network_arc(w, i, k, &a))
				put_pair(j, w, a.tail, a.head);
	json_array_end(j);
	json_object_end(j);
}

/* --- networks */

static void put_declarations(struct json *j, const struct netuse *u)
{
	json_key_object(j, "objects");
	for (unsigned i = 0; i < netuse_objects(u); i++)
		json_key_str(j, netuse_object_name(u, i),
			     netuse_object_class(u, i) == NETUSE_INHERIT ? "inherit" : "local");
	json_object_end(j);
	json_key_object(j, "states");
	for (unsigned i = 0; i < netuse_states(u); i++) {
		size_t n;
		const uint32_t *object = netuse_state_objects(u, i, &n);

		json_key_array(j, netuse_state_name(u, i));
		for (size_t k = 0; k < n; k++)
			json_str(j, netuse_object_name(u, object[k]));
		json_array_end(j);
	}
	json_object_end(j);
	json_key_array(j, "member");
	for (unsigned i = 0; i < netuse_members(u); i++) {
		size_t n;
		const uint32_t *object = netuse_member_objects(u, i, &n);

		json_array(j);
		for (size_t k = 0; k < n; k++)
			json_str(j, netuse_object_name(u, object[k]));
		json_array_end(j);
	}
	json_array_end(j);
}

static void put_ops(struct json *j, const char *key, const struct network *w,
		    const struct network_vertex *v, bool is_child)
{
	bool has_any = false;

	for (uint32_t i = 0; i < v->nops; i++) {
		const struct network_use *op = &w->op[v->ops + i];

		if (op->is_child != is_child)
			continue;
		if (!has_any)
			json_key_array(j, key);
		has_any = true;
		json_array(j);
		json_str(j, op->is_end ? "end" : "begin");
		json_str(j, netuse_object_name(w->use, op->object));
		json_array_end(j);
	}
	if (has_any)
		json_array_end(j);
}

static void put_event(struct json *j, const struct network *w, uint32_t at, const char *const *node)
{
	const struct network_vertex *v = &w->v[at];

	json_object(j);
	put_key_name(j, "v", w, at);
	json_key_i64(j, "t", v->t);
	json_key_str(j, "ev", network_kind_name((enum network_kind)v->kind));
	json_key_u64(j, "st", network_id(w, v->task));
	if (v->kind == NETWORK_FORK) {
		json_key_u64(j, "new", network_id(w, v->other));
		json_key_str(j, "via", v->is_message ? "message" : "thread");
	} else if (v->kind == NETWORK_JOIN) {
		json_key_u64(j, "with", network_id(w, v->other));
	}
	if (node && v->node != NETWORK_NONE)
		json_key_str(j, "node", node[v->node]);
	put_ops(j, "use", w, v, false);
	put_ops(j, "child_use", w, v, true);
	if (v->blocks)
		json_key_bool(j, "blocks", true);
	json_object_end(j);
}

void netput_network(struct json *j, const char *name, const struct network *w,
		    const char *const *node)
{
	json_object(j);
	json_key_object(j, "network");
	json_key_str(j, "name", name);
	put_declarations(j, w->use);
	json_key_array(j, "events");
	for (uint32_t i = 0; i < w->n; i++)
		put_event(j, w, i, node);
	json_array_end(j);
	json_object_end(j);
	json_object_end(j);
}
