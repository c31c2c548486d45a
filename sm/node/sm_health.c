/* SPDX-License-Identifier: Apache-2.0 */
/* Figures about the sm, out of all its parts. */
#include "common/daemon/meter.h"
#include "common/net/net.h"
#include "sm/node/sm_internal.h"

static void add_hosts(const struct sm *sm, struct facts *s)
{
	const struct objects_total *t = nodes_total(sm->nodes);
	struct nodes_stats n;

	nodes_stats(sm->nodes, &n);
	facts_add(s, "lms", (int64_t)nodes_up(sm->nodes));
	facts_add(s, "nodes", (int64_t)nodes_count(sm->nodes));
	facts_add(s, "objects", (int64_t)t->n);
	facts_add(s, "object_bytes", (int64_t)t->bytes);
	facts_add(s, "lms_accepted", (int64_t)n.accepted);
	facts_add(s, "lms_refused", (int64_t)n.refused);
	facts_add(s, "lms_cut_slow", (int64_t)n.cut_slow);
	facts_add(s, "lms_cut_wrong", (int64_t)n.cut_wrong);
	facts_add(s, "lms_queued_bytes", (int64_t)n.queued);
	facts_add(s, "lms_rtt_max_ns", n.rtt_max);
	facts_add(s, "sms", (int64_t)n.sms);
	facts_add(s, "level", uplink_level(sm->uplink));
	facts_add(s, "lms_sent_on", (int64_t)n.sent_on);
	facts_add(s, "claims_fenced", (int64_t)n.fenced);
}

static void add_work(const struct sm *sm, struct facts *s)
{
	struct requests_stats r;
	struct arms_stats a;
	struct flows_stats f;
	struct keeps_stats k;

	kept_stats(sm->kept, &k);
	flows_stats(sm->flows, &f);
	requests_stats(sm->requests, &r);
	arms_stats(sm->arms, &a);
	facts_add(s, "requests", (int64_t)r.active);
	facts_add(s, "requests_asked", (int64_t)r.asked);
	facts_add(s, "requests_answered", (int64_t)r.answered);
	facts_add(s, "requests_partial", (int64_t)r.partial);
	facts_add(s, "requests_unsent", (int64_t)r.unsent);
	facts_add(s, "csrs", (int64_t)a.armed);
	facts_add(s, "events", (int64_t)a.triggered);
	facts_add(s, "events_dropped", (int64_t)a.dropped);
	facts_add(s, "measurements", (int64_t)f.measurements);
	facts_add(s, "flow_nodes", (int64_t)f.nodes);
	facts_add(s, "flow_state_bytes", (int64_t)f.state_bytes);
	facts_add(s, "flow_graph_bytes", (int64_t)f.bytes);
	facts_add(s, "flow_reads", (int64_t)f.reads);
	facts_add(s, "flow_reads_late", (int64_t)f.late);
	facts_add(s, "subscriptions", (int64_t)k.n);
	facts_add(s, "spool_bytes", (int64_t)k.disk_bytes);
	facts_add(s, "spool_events_lost", (int64_t)k.lost_events);
	facts_add(s, "strays", (int64_t)(r.strays + a.strays + f.strays));
	facts_add(s, "forged", (int64_t)sm->forged);
	facts_add(s, "tools", (int64_t)(tools_count(sm->tools) + tools_count(sm->old_tools)));
	facts_add(s, "cells", (int64_t)cells_count(sm->cells));
}

static void add_uplink(const struct sm *sm, struct facts *s)
{
	struct link_stats l;

	uplink_stats(sm->uplink, &l);
	facts_add(s, "uplink", uplink_is_up(sm->uplink));
	facts_add(s, "uplink_connects", l.connects);
	facts_add(s, "uplink_queued_bytes", (int64_t)l.queued);
	facts_add(s, "uplink_dropped", (int64_t)l.dropped);
	facts_add(s, "uplink_frames_out", (int64_t)l.frames_out);
	facts_add(s, "uplink_bytes_out", (int64_t)l.bytes_out);
	facts_add(s, "uplink_rtt_ns", l.rtt);
	facts_add(s, "time_error_ns", timebase_error(sm->conf.timebase, loop_now(sm->conf.loop)));
}

static void add_process(const struct sm *sm, struct facts *s)
{
	const struct identity *self = net_ctx_self(sm->conf.ctx);
	struct sm_health h = { 0 };

	if (self && self->wall_not_after)
		facts_add(s, "certificate_expires_s", self->wall_not_after / NSEC_PER_SEC);
	if (!sm->conf.health)
		return;
	sm->conf.health(sm->conf.arg, &h);
	facts_add(s, "lag_max_ns", h.lag_max);
	facts_add(s, "rss_bytes", h.rss_bytes);
	facts_add(s, "fds", h.fds);
	facts_add(s, "fd_limit", h.fd_limit);
}

size_t sm_bytes(const struct sm *sm)
{
	struct arms_stats a;
	struct requests_stats r;

	requests_stats(sm->requests, &r);
	arms_stats(sm->arms, &a);
	return nodes_total(sm->nodes)->bytes + r.bytes + a.bytes + nodes_queued(sm->nodes) +
	       uplink_queued(sm->uplink);
}

/* What the user is allowed, and what was refused for it. */
static void add_quota(const struct sm *sm, struct facts *s)
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
		facts_add(s, limits[i], sm->quota.max[i]);
		facts_add(s, overs[i], (int64_t)(i == QUOTA_MESSAGES ? m.pauses : sm->use.over[i]));
	}
	facts_add(s, "bytes", (int64_t)sm_bytes(sm));
	facts_add(s, "read_later_ns", m.paused);
	if (sm->use.last[0])
		facts_add_text(s, "refused", sm->use.last);
}

void sm_collect(const struct sm *sm, struct facts *out)
{
	*out = (struct facts){ .uptime_ns = loop_now(sm->conf.loop) - sm->started };
	add_hosts(sm, out);
	add_work(sm, out);
	add_uplink(sm, out);
	add_process(sm, out);
	add_quota(sm, out);
}

void sm_dump(const struct sm *sm, struct buf *out)
{
	struct facts s;

	sm_collect(sm, &s);
	facts_dump(&s, out);
}

static bool knows(void *arg, uint32_t tool)
{
	const struct sm *sm = arg;

	return tools_has(sm->tools, tool) || tools_has(sm->old_tools, tool);
}

void sm_get_counts(const struct sm *sm, struct sm_counts *out)
{
	struct requests_stats r;
	struct arms_stats a;
	struct nodes_stats n;

	requests_stats(sm->requests, &r);
	arms_stats(sm->arms, &a);
	nodes_stats(sm->nodes, &n);
	*out = (struct sm_counts){
		.lms = nodes_up(sm->nodes),
		.nodes = nodes_count(sm->nodes),
		.objects = nodes_total(sm->nodes)->n,
		.procs = nodes_total(sm->nodes)->procs,
		.bytes = sm_bytes(sm),
		.requests = r.active,
		.csrs = a.armed,
		.strange = arms_strange(sm->arms, knows, (void *)sm),
		.asked = r.asked,
		.answered = r.answered,
		.partial = r.partial,
		.doubles = r.doubles,
		.strays = r.strays + a.strays,
		.forged = sm->forged,
		.refused = n.refused,
		.dropped = a.dropped,
		.cut = n.cut_slow,
		.is_up = uplink_is_up(sm->uplink),
	};
	for (int i = 0; i < QUOTA_COUNT; i++)
		out->over_quota += sm->use.over[i];
}
