/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the sm, from all its parts. */
#include "common/daemon/counters.h"
#include "common/link/meter.h"
#include "common/net/net.h"
#include "sm/node/sm_internal.h"

static void add_hosts(const struct sm *sm, struct sm_counters *s)
{
	const struct objects_total *t = nodes_total(sm->nodes);
	struct nodes_stats n;

	nodes_stats(sm->nodes, &n);
	sm_counters_add(s, "lms", (int64_t)nodes_up(sm->nodes));
	sm_counters_add(s, "nodes", (int64_t)nodes_count(sm->nodes));
	sm_counters_add(s, "objects", (int64_t)t->n);
	sm_counters_add(s, "object_bytes", (int64_t)t->bytes);
	sm_counters_add(s, "lms_accepted", (int64_t)n.accepted);
	sm_counters_add(s, "lms_refused", (int64_t)n.refused);
	sm_counters_add(s, "lms_cut_slow", (int64_t)n.cut_slow);
	sm_counters_add(s, "lms_cut_wrong", (int64_t)n.cut_wrong);
	sm_counters_add(s, "lms_queued_bytes", (int64_t)n.queued);
	sm_counters_add(s, "lms_rtt_max_ns", n.rtt_max);
	sm_counters_add(s, "sms", (int64_t)n.sms);
	sm_counters_add(s, "level", parent_link_level(sm->parent));
	sm_counters_add(s, "lms_sent_on", (int64_t)n.sent_on);
	sm_counters_add(s, "claims_fenced", (int64_t)n.fenced);
}

static void add_work(const struct sm *sm, struct sm_counters *s)
{
	struct requests_stats r;
	struct site_csrs_stats a;
	struct site_measures_stats f;
	struct keeps_stats k;

	site_subscriptions_stats(sm->subscriptions, &k);
	site_measures_stats(sm->measures, &f);
	requests_stats(sm->requests, &r);
	site_csrs_stats(sm->csrs, &a);
	sm_counters_add(s, "requests", (int64_t)r.active);
	sm_counters_add(s, "requests_asked", (int64_t)r.asked);
	sm_counters_add(s, "requests_answered", (int64_t)r.answered);
	sm_counters_add(s, "requests_partial", (int64_t)r.partial);
	sm_counters_add(s, "requests_unsent", (int64_t)r.unsent);
	sm_counters_add(s, "csrs", (int64_t)a.armed);
	sm_counters_add(s, "events", (int64_t)a.triggered);
	sm_counters_add(s, "events_dropped", (int64_t)a.dropped);
	sm_counters_add(s, "measurements", (int64_t)f.measurements);
	sm_counters_add(s, "flow_nodes", (int64_t)f.nodes);
	sm_counters_add(s, "flow_state_bytes", (int64_t)f.state_bytes);
	sm_counters_add(s, "flow_graph_bytes", (int64_t)f.bytes);
	sm_counters_add(s, "flow_reads", (int64_t)f.reads);
	sm_counters_add(s, "flow_reads_late", (int64_t)f.late);
	sm_counters_add(s, "subscriptions", (int64_t)k.n);
	sm_counters_add(s, "spool_bytes", (int64_t)k.disk_bytes);
	sm_counters_add(s, "spool_events_lost", (int64_t)k.lost_events);
	sm_counters_add(s, "strays", (int64_t)(r.strays + a.strays + f.strays));
	sm_counters_add(s, "forged", (int64_t)sm->forged);
	sm_counters_add(s, "tools",
			(int64_t)(sessions_count(sm->sessions) + sessions_count(sm->old_tools)));
	sm_counters_add(s, "cells", (int64_t)placement_count(sm->placement));
}

static void add_number(void *arg, const char *name, int64_t value)
{
	sm_counters_add(arg, name, value);
}

static void add_parent(const struct sm *sm, struct sm_counters *s)
{
	const struct counter_sink to = { add_number, s };
	struct link_stats l;

	parent_link_stats(sm->parent, &l);
	sm_counters_add(s, "parent_up", parent_link_is_up(sm->parent));
	counters_of_parent(&to, &l, timebase_error(sm->conf.timebase, loop_now(sm->conf.loop)));
}

static void add_process(const struct sm *sm, struct sm_counters *s)
{
	const struct counter_sink to = { add_number, s };
	struct daemon_health h = { 0 };

	counters_of_certificate(&to, net_ctx_self(sm->conf.ctx));
	if (!sm->conf.health)
		return;
	sm->conf.health(sm->conf.arg, &h);
	counters_of_process(&to, &h);
}

size_t sm_bytes(const struct sm *sm)
{
	struct site_csrs_stats a;
	struct requests_stats r;

	requests_stats(sm->requests, &r);
	site_csrs_stats(sm->csrs, &a);
	return nodes_total(sm->nodes)->bytes + r.bytes + a.bytes +
	       branches_queued(nodes_branches(sm->nodes), loop_now(sm->conf.loop)) +
	       parent_link_queued(sm->parent);
}

int sm_check_room(struct sm *sm, size_t bytes, struct err *e)
{
	if (sm->quota.max[QUOTA_BYTES] <= 0)
		return 0;
	return quota_check(&sm->quota, QUOTA_BYTES, (int64_t)(sm_bytes(sm) + bytes), &sm->use, e);
}

/* Adds the user's quota, and its refusals. */
static void add_quota(const struct sm *sm, struct sm_counters *s)
{
	static const char *const limits[QUOTA_COUNT] = { "quota_hosts", "quota_objects",
							 "quota_csrs", "quota_messages",
							 "quota_bytes" };
	static const char *const overs[QUOTA_COUNT] = { "over_hosts", "over_objects", "over_csrs",
							"over_messages", "over_bytes" };
	struct meter_stats m = { 0 };

	if (!nodes_total(sm->nodes)->quota)
		return;
	if (sm->conf.meter)
		meter_get_stats(sm->conf.meter, &m);
	for (int i = 0; i < QUOTA_COUNT; i++) {
		sm_counters_add(s, limits[i], sm->quota.max[i]);
		sm_counters_add(s, overs[i],
				(int64_t)(i == QUOTA_MESSAGES ? m.pauses : sm->use.over[i]));
	}
	sm_counters_add(s, "bytes", (int64_t)sm_bytes(sm));
	sm_counters_add(s, "read_later_ns", m.paused);
	if (sm->use.last[0])
		sm_counters_add_text(s, "refused", sm->use.last);
}

void sm_collect(const struct sm *sm, struct sm_counters *out)
{
	*out = (struct sm_counters){ .uptime_ns = loop_now(sm->conf.loop) - sm->started };
	add_hosts(sm, out);
	add_work(sm, out);
	add_parent(sm, out);
	add_process(sm, out);
	add_quota(sm, out);
}

void sm_dump(const struct sm *sm, struct buf *out)
{
	struct sm_counters s;

	sm_collect(sm, &s);
	sm_counters_dump(&s, out);
}

static bool knows(void *arg, uint32_t tool)
{
	const struct sm *sm = arg;

	return sessions_has(sm->sessions, tool) || sessions_has(sm->old_tools, tool);
}

void sm_get_counts(const struct sm *sm, struct sm_counts *out)
{
	struct requests_stats r;
	struct site_csrs_stats a;
	struct nodes_stats n;

	requests_stats(sm->requests, &r);
	site_csrs_stats(sm->csrs, &a);
	nodes_stats(sm->nodes, &n);
	*out = (struct sm_counts){
		.lms = nodes_up(sm->nodes),
		.nodes = nodes_count(sm->nodes),
		.objects = nodes_total(sm->nodes)->n,
		.procs = nodes_total(sm->nodes)->procs,
		.bytes = sm_bytes(sm),
		.requests = r.active,
		.csrs = a.armed,
		.strange = site_csrs_strange(sm->csrs, knows, (void *)sm),
		.asked = r.asked,
		.answered = r.answered,
		.partial = r.partial,
		.doubles = r.doubles,
		.strays = r.strays + a.strays,
		.forged = sm->forged,
		.refused = n.refused,
		.dropped = a.dropped,
		.cut = n.cut_slow,
		.is_up = parent_link_is_up(sm->parent),
	};
	for (int i = 0; i < QUOTA_COUNT; i++)
		out->over_quota += sm->use.over[i];
}
