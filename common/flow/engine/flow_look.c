/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the state of a running graph. */
#include "common/flow/engine/flow_internal.h"

static uint32_t held(const struct fnode *n)
{
	if ((n->kind == FLOW_OP || n->kind == FLOW_PAIR) && n->op_state.matched)
		return n->op_state.m.window - n->op_state.m.nfree;
	if (n->kind == FLOW_SET && n->domain == FLOW_VT)
		return n->set.m.window - n->set.m.nfree;
	if ((n->kind == FLOW_LINK_IN || n->kind == FLOW_LINK_OUT) && n->domain == FLOW_VT)
		return n->queue.n;
	return 0;
}

int flow_look(const struct flow *f, uint32_t measurement, uint32_t number, struct flow_look *out)
{
	const struct fmeas *m = flow_meas(f, measurement);
	const struct fnode *n;

	if (!m || number >= m->nnode)
		return -ERR_NOTFOUND;
	n = &f->node[m->node[number]];
	*out = (struct flow_look){ .count = n->count,
				   .measurements = n->refs,
				   .open = held(n),
				   .window = n->window,
				   .closed = n->nin ? n->closed : n->shut };
	return 0;
}

uint32_t flow_input(const struct flow *f, uint32_t measurement, uint32_t number)
{
	const struct fmeas *m = flow_meas(f, measurement);

	if (!m || number >= m->nnode || f->node[m->node[number]].kind != FLOW_INPUT)
		return FLOW_NO_INPUT;
	return m->node[number];
}

struct flow_size flow_size(const struct flow *f)
{
	struct flow_size s = { .nodes = f->used,
			       .state_bytes = f->state_bytes,
			       .table_bytes = f->node_cap * sizeof(*f->node) +
					      f->meas_cap * sizeof(*f->meas) +
					      f->edge_cap * sizeof(*f->edge) +
					      f->order_cap * sizeof(*f->order) };

	for (size_t i = 0; i < f->nmeas; i++)
		s.measurements += f->meas[i].id != 0;
	return s;
}

struct fmeas *flow_meas(const struct flow *f, uint32_t measurement)
{
	for (size_t i = 0; i < f->nmeas; i++)
		if (f->meas[i].id == measurement && measurement)
			return &f->meas[i];
	return NULL;
}
