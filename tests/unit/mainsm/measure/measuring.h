/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of measurements: hosts and an sm with engines. Each process reports the value of `told`
 * for any metric; a test determines the end of an interval.
 */
#ifndef TESTS_UNIT_MAINSM_MEASURE_MEASURING_H
#define TESTS_UNIT_MAINSM_MEASURE_MEASURING_H

#include "common/flow/batch/batch.h"
#include "common/flow/batch/rest.h"
#include "common/omis/services/check.h"
#include "tests/unit/mainsm/csr/csrs.h"

#define MEASURED_MAX 8 /* pieces that one branch has */

struct measured_piece {
	char object[24];
	struct flow *flow;
	struct flow_graph *graph;
	struct measured *all;
};

/* The part of one measurement at one branch. */
struct measured {
	struct fake_branch *b;
	struct measured_piece piece[MEASURED_MAX];
	size_t n;
	uint32_t measurement, version_parts;
	uint64_t version, read;
	int64_t start, every, read_at;
	unsigned loads, ends, reads;
	const char *refused; /* an object without a source at this branch; NULL: all have one */
	bool no_ack;
	double (*told)(const char *process);
	/*
	 * the probe events of each interval; their values rise by 1 from the value above. NULL:
	 * none
	 */
	unsigned (*events)(const char *process);
	struct buf batch[MEASURED_MAX * 8]; /* of the read under way */
	size_t nbatch;
	struct flow_rest rest; /* the pairs of these batches that are 0, in one batch */
};

static inline struct measured_piece *measured_find(struct measured *m, const char *object)
{
	for (size_t i = 0; i < m->n; i++)
		if (str_eq(m->piece[i].object, object))
			return &m->piece[i];
	return NULL;
}

static inline void measured_clear(struct measured *m)
{
	while (m->n) {
		flow_free(m->piece[--m->n].flow);
		flow_graph_free(m->piece[m->n].graph);
	}
}

static inline void measured_put(void *arg, const struct flow_batch *b)
{
	struct measured *m = arg;

	ck_assert_uint_lt(m->nbatch, sizeof(m->batch) / sizeof(m->batch[0]));
	m->batch[m->nbatch] = BUF_INIT(FRAME_MAX_BYTES);
	flow_batch_encode(&m->batch[m->nbatch++], b);
}

/*
 * Passes the output of a node's piece to the site's piece, if any; else it will be sent to
 * mainsm.
 */
static inline void measured_on_batch(void *arg, const struct flow_batch *b)
{
	struct measured_piece *p = arg;
	struct measured *m = p->all;

	for (size_t i = 0; i < m->n && p->object[0] == 'n'; i++)
		if (m->piece[i].object[0] == 's') {
			ck_assert_int_eq(flow_take(m->piece[i].flow, b, NULL), 0);
			return;
		}
	if (!flow_rest_take(&m->rest, b))
		measured_put(m, b);
}

static inline void measured_on_result(void *arg, const struct flow_result *r)
{
	ck_abort_msg("a result below the top");
}

static inline void measured_load(struct measured *m, const struct msg_flow_piece *from)
{
	static const struct flow_limits limits = { 4, 2048, 16 << 20 };
	struct measured_piece *p = measured_find(m, from->object);
	struct omis_values *v = NULL;
	struct err e = { 0 };

	if (!p) {
		p = &m->piece[m->n++];
		*p = (struct measured_piece){ .all = m };
		str_copy(p->object, sizeof(p->object), from->object);
		p->flow = flow_new(&limits,
				   &(struct flow_out){ measured_on_result, measured_on_batch, p });
	}
	flow_graph_free(p->graph);
	ck_assert_int_eq(omis_parse_values((const char *)from->graph.p, from->graph.n, &v, NULL),
			 0);
	ck_assert_uint_eq(v->n, 1);
	ck_assert_msg(flow_graph_from_value(&v->v[0], &p->graph, &e) == 0, "%s", e.text);
	ck_assert_uint_eq(p->graph->measurement, m->measurement);
	ck_assert_msg(flow_load(p->flow, p->graph, m->start, &e) == 0, "%s", e.text);
	omis_values_free(v);
}

static inline void measured_ack(struct measured *m)
{
	static const char words[] = "nobody may look at it";
	struct msg_entry entry = { .objects = m->refused,
				   .status = STATUS_NO_PERMISSION,
				   .value = { (const uint8_t *)words, sizeof(words) - 1 } };
	struct msg ack = { .type = MSG_FLOW_ACK,
			   .flow_ack = { m->measurement, m->version, &entry, m->refused ? 1 : 0 } };

	if (!m->no_ack)
		ck_assert_int_eq(link_send(m->b->link, &ack), 0);
}

static inline void measured_got_load(struct measured *m, const struct msg_flow_load *l)
{
	/* If the number of pieces has changed, objects came or ended: begins with new engines. */
	if (m->version != l->version && (m->n != l->npiece || m->start != l->start_ns))
		measured_clear(m);
	m->measurement = l->measurement;
	m->version = l->version;
	m->start = l->start_ns;
	m->every = l->every_ns;
	m->read = l->read;
	m->loads++;
	for (size_t i = 0; i < l->npiece; i++)
		measured_load(m, &l->piece[i]);
	if (!l->more)
		measured_ack(m);
}

static inline void measured_push_events(struct measured *m, struct measured_piece *p, uint32_t i,
					int64_t read, int64_t t)
{
	const char *process = p->graph->node[i].source.process;

	for (unsigned k = 0; m->events && k < m->events(process); k++) {
		struct flow_token token =
			flow_token_make(read * 1000 + k, m->told(process) + k, 0, t - 1);

		flow_push(p->flow, flow_input(p->flow, m->measurement, i), &token);
	}
}

static inline void measured_push(struct measured *m, struct measured_piece *p, int64_t read,
				 int64_t t)
{
	for (uint32_t i = 0; i < p->graph->nnode; i++) {
		const struct flow_node *n = &p->graph->node[i];
		struct flow_token token;

		if (n->kind == FLOW_INPUT && n->domain == FLOW_VT)
			measured_push_events(m, p, i, read, t);
		if (n->kind != FLOW_INPUT || n->domain != FLOW_READ)
			continue;
		token = flow_token_make(read,
					n->source.kind == FLOW_SOURCE_TIME
						? (double)(t - m->start) / (double)SEC
						: m->told(n->source.object),
					0, t);
		flow_push(p->flow, flow_input(p->flow, m->measurement, i), &token);
	}
}

static inline void measured_read_all(struct measured *m, char kind, int64_t read, int64_t t)
{
	for (size_t i = 0; i < m->n; i++) {
		struct measured_piece *p = &m->piece[i];

		if (p->object[0] != kind)
			continue;
		measured_push(m, p, read, t);
		ck_assert_int_eq(flow_read(p->flow, m->measurement, read, t, NULL), 0);
	}
}

/* Sends the branch's data of that read to mainsm. */
static inline void measured_send(struct measured *m, int64_t read, int64_t t)
{
	struct bytes v[sizeof(m->batch) / sizeof(m->batch[0])];
	struct msg msg = { .type = MSG_FLOW_BATCH };

	m->nbatch = 0;
	measured_read_all(m, 'n', read, t);
	measured_read_all(m, 's', read, t);
	flow_rest_give(&m->rest, measured_put, m);
	for (size_t i = 0; i < m->nbatch; i++)
		v[i] = (struct bytes){ m->batch[i].p, m->batch[i].n };
	msg.flow_batch = (struct msg_flow_batch){
		m->measurement, (uint64_t)read, t, m->n ? m->piece[0].object : "", v, m->nbatch, 0
	};
	ck_assert_int_eq(link_send(m->b->link, &msg), 0);
	for (size_t i = 0; i < m->nbatch; i++)
		buf_done(&m->batch[i]);
	loop_advance(m->b->loop, 10 * MS);
}

static inline void measured_on_flow(struct fake_branch *b, const struct msg *msg)
{
	struct measured *m = b->of;

	if (msg->type == MSG_FLOW_LOAD) {
		measured_got_load(m, &msg->flow_load);
	} else if (msg->type == MSG_FLOW_END) {
		m->ends++;
		measured_clear(m);
	} else if (msg->type == MSG_FLOW_READ) {
		m->reads++;
		m->read_at = msg->flow_read.time_ns;
		m->read = msg->flow_read.read;
	}
}

static inline void measured_open(struct measured *m, struct fake_branch *b,
				 double (*told)(const char *process))
{
	*m = (struct measured){ .b = b, .told = told };
	b->on_other = measured_on_flow;
	b->of = m;
}

#endif
