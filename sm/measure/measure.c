/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/measure/measure.h"

#include "common/loop/loop.h"
#include "sm/measure/measure_internal.h"
#include "tree/flowlook.h"

#include <stdlib.h>

void site_measures_branch_up(struct site_measures *f)
{
	struct map_iter i = { 0 };

	while (map_next(&f->by_number, &i))
		site_measure_settle(i.value);
}

static void on_follow(void *arg)
{
	site_measures_branch_up(arg);
}

struct site_measures *site_measures_new(const struct site_measures_conf *conf)
{
	struct site_measures *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->conf = *conf;
	map_init(&f->by_number);
	f->follow = loop_timer_new(conf->loop, on_follow, f);
	if (f->follow)
		return f;
	site_measures_free(f);
	return NULL;
}

static void site_measure_free(struct site_measure *m)
{
	struct smap_iter i = { 0 };

	while (smap_next(&m->parts, &i))
		piece_free(m, i.value);
	smap_done(&m->parts);
	stage_free(m->stage);
	standing_free(m->standing);
	read_clock_done(&m->reads);
	loop_timer_free(m->timer);
	flowbox_free(m->box);
	reply_free(m->answer);
	free(m->kind);
	free(m->identity);
	free(m);
}

void site_measures_free(struct site_measures *f)
{
	struct map_iter i = { 0 };

	if (!f)
		return;
	while (map_next(&f->by_number, &i))
		site_measure_free(i.value);
	map_done(&f->by_number);
	flow_batch_room_done(&f->room);
	loop_timer_free(f->follow);
	flow_free(f->engine);
	free(f);
}

/* Sends the end to all branches: one that was away when its hosts moved may still run it. */
void site_measure_end(struct site_measure *m)
{
	const struct msg end = { .type = MSG_FLOW_END, .flow_end = { m->id } };

	branches_send_all(nodes_branches(m->f->conf.nodes), &end);
	map_del(&m->f->by_number, m->id);
	site_measure_free(m);
}

void site_measures_end(struct site_measures *f, uint32_t measurement)
{
	const struct msg end = { .type = MSG_FLOW_END, .flow_end = { measurement } };
	struct site_measure *m = map_find(&f->by_number, measurement);

	if (m)
		site_measure_end(m);
	else
		branches_send_all(nodes_branches(f->conf.nodes),
				  &end); /* a host with the measurement may have moved here */
}

void site_measures_drop_tool(struct site_measures *f, uint32_t tool)
{
	struct map_iter i = { 0 };

	while (map_next(&f->by_number, &i)) {
		struct site_measure *m = i.value;

		if (m->tool == tool)
			site_measure_end(m);
	}
}

void site_measures_set_stale(struct site_measures *f)
{
	struct map_iter i = { 0 };

	while (map_next(&f->by_number, &i))
		((struct site_measure *)i.value)->is_stale = true;
}

void site_measures_drop_stale(struct site_measures *f)
{
	struct map_iter i = { 0 };

	while (map_next(&f->by_number, &i)) {
		struct site_measure *m = i.value;

		if (m->is_stale)
			site_measure_end(m);
	}
}

void site_measures_follow(struct site_measures *f)
{
	if (f->by_number.n && !loop_timer_is_armed(f->follow))
		loop_timer_arm(f->follow, SITE_MEASURES_FOLLOW_NS);
}

int site_measures_look(const struct site_measures *f, uint32_t measurement, struct omis_writer *w)
{
	struct site_measure *m = map_find(&f->by_number, measurement);
	struct smap_iter i = { 0 };
	struct flowbox_counts sent;

	if (!m || !stage_is_loaded(m->stage))
		return -ERR_NOTFOUND;
	sent = flowbox_counts(m->box);
	for (uint32_t k = 0; k < m->nnode; k++)
		flowlook_node(f->engine, m->id, k, m->kind[k], w);
	flowlook_way("up", sent.frames, sent.bytes, w);
	while (smap_next(&m->parts, &i)) {
		const struct host_piece *s = i.value;

		flowlook_way(s->token.s, s->frames, s->bytes, w);
	}
	return 0;
}

void site_measures_stats(const struct site_measures *f, struct site_measures_stats *out)
{
	struct flow_size s = { 0 };

	if (f->engine)
		s = flow_size(f->engine);
	*out = f->stats;
	out->measurements = f->by_number.n;
	out->nodes = s.nodes;
	out->state_bytes = s.state_bytes;
}
