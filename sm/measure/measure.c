/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/measure/measure.h"

#include "tree/flowlook.h"
#include "common/base/timebase.h"
#include "common/loop/loop.h"
#include "sm/measure/measure_internal.h"

#include <stdio.h>
#include <stdlib.h>

static void on_follow(void *arg)
{
	struct flows *f = arg;
	struct map_iter i = { 0 };

	while (map_next(&f->by_number, &i))
		measure_settle(i.value);
}

struct flows *flows_new(const struct flows_conf *conf)
{
	struct flows *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->conf = *conf;
	map_init(&f->by_number);
	f->follow = loop_timer_new(conf->loop, on_follow, f);
	if (f->follow)
		return f;
	flows_free(f);
	return NULL;
}

nsec_t flows_now(const struct flows *f)
{
	return timebase_at(f->conf.timebase, loop_now(f->conf.loop));
}

void flows_site_token(const struct flows *f, struct token *out)
{
	snprintf(out->s, sizeof(out->s), "s_%u", f->conf.site(f->conf.arg));
}

struct measure *flows_find(const struct flows *f, uint32_t id)
{
	return map_find(&f->by_number, id);
}

static void measure_free(struct measure *m)
{
	struct smap_iter i = { 0 };

	while (smap_next(&m->shares, &i))
		piece_free(m, i.value);
	smap_done(&m->shares);
	smap_done(&m->links);
	if (m->f->engine)
		flow_remove(m->f->engine, m->id);
	loop_timer_free(m->ack_timer);
	loop_timer_free(m->timer);
	flowbox_free(m->box);
	reply_free(m->answer);
	free(m->clock);
	free(m->kind);
	free(m->identity);
	free(m);
}

void flows_free(struct flows *f)
{
	struct map_iter i = { 0 };

	if (!f)
		return;
	while (map_next(&f->by_number, &i))
		measure_free(i.value);
	map_done(&f->by_number);
	flow_batch_room_done(&f->room);
	loop_timer_free(f->follow);
	flow_free(f->engine);
	free(f);
}

/* To all: one that was away when its hosts moved may run it still. */
void measure_end(struct measure *m)
{
	const struct msg end = { .type = MSG_FLOW_END, .flow_end = { m->id } };

	nodes_send_all(m->f->conf.nodes, &end);
	map_del(&m->f->by_number, m->id);
	measure_free(m);
}

void flows_end(struct flows *f, uint32_t measurement)
{
	const struct msg end = { .type = MSG_FLOW_END, .flow_end = { measurement } };
	struct measure *m = flows_find(f, measurement);

	if (m)
		measure_end(m);
	else
		nodes_send_all(f->conf.nodes,
			       &end); /* a host may have come from elsewhere with it */
}

void flows_drop_tool(struct flows *f, uint32_t tool)
{
	struct map_iter i = { 0 };

	while (map_next(&f->by_number, &i)) {
		struct measure *m = i.value;

		if (m->tool == tool)
			measure_end(m);
	}
}

void flows_set_stale(struct flows *f)
{
	struct map_iter i = { 0 };

	while (map_next(&f->by_number, &i))
		((struct measure *)i.value)->is_stale = true;
}

void flows_drop_stale(struct flows *f)
{
	struct map_iter i = { 0 };

	while (map_next(&f->by_number, &i)) {
		struct measure *m = i.value;

		if (m->is_stale)
			measure_end(m);
	}
}

void flows_follow(struct flows *f)
{
	if (f->by_number.n && !loop_timer_is_armed(f->follow))
		loop_timer_arm(f->follow, FLOWS_FOLLOW_NS);
}

int flows_look(const struct flows *f, uint32_t measurement, struct omis_writer *w)
{
	struct measure *m = flows_find(f, measurement);
	struct smap_iter i = { 0 };
	struct flowbox_counts sent;

	if (!m || !m->has_piece)
		return -ERR_NOTFOUND;
	sent = flowbox_counts(m->box);
	for (uint32_t k = 0; k < m->nnode; k++)
		flowlook_node(f->engine, m->id, k, m->kind[k], w);
	flowlook_way("up", sent.frames, sent.bytes, w);
	while (smap_next(&m->shares, &i)) {
		const struct host_piece *s = i.value;

		flowlook_way(s->token.s, s->frames, s->bytes, w);
	}
	return 0;
}

void flows_stats(const struct flows *f, struct flows_stats *out)
{
	struct flow_size s = { 0 };

	if (f->engine)
		s = flow_size(f->engine);
	*out = f->stats;
	out->measurements = f->by_number.n;
	out->nodes = s.nodes;
	out->state_bytes = s.state_bytes;
}
