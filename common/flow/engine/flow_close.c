/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the contributors that remain when inputs were closed, from the inputs upwards. */
#include "common/flow/engine/flow_internal.h"

/*
 * Counts contributors that are open or have ended, and those that should contribute. An operation
 * has the counts of its worst input.
 */
static void count_alive(const struct flow *f, struct fnode *n)
{
	n->alive_k = n->alive_n = 0;
	for (uint32_t k = 0; k < n->nin; k++) {
		const struct fnode *in = &f->node[n->in[k]];

		if (n->kind != FLOW_SET) {
			flow_coverage_worse(&n->alive_k, &n->alive_n, in->alive_k, in->alive_n);
			continue;
		}
		n->alive_k += in->alive_k;
		n->alive_n += in->alive_n;
	}
	if (n->nin)
		return;
	n->alive_n = n->behind;
	n->alive_k = n->shut && !n->ended ? 0 : n->behind;
}

/* True if a set has lost its last input, or any other node its first one. */
static bool is_closed(const struct flow *f, const struct fnode *n)
{
	bool any = false, all = true;

	if (!n->nin)
		return n->shut;
	for (uint32_t k = 0; k < n->nin; k++) {
		any |= f->node[n->in[k]].closed;
		all &= f->node[n->in[k]].closed;
	}
	return n->kind == FLOW_SET ? all : any;
}

static void report(struct flow *f, struct fnode *n)
{
	if (n->kind != FLOW_SET || n->domain != FLOW_VT)
		return;
	for (uint32_t k = 0; k < n->nin; k++)
		set_close(f, n, k, f->node[n->in[k]].closed);
}

void flow_settle(struct flow *f)
{
	for (size_t i = 0; i < f->norder; i++) {
		struct fnode *n = &f->node[f->order[i]];

		count_alive(f, n);
		n->closed = is_closed(f, n);
		report(f, n);
	}
	f->is_unsettled = false;
}

void flow_settle_if_needed(struct flow *f)
{
	if (f->is_unsettled)
		flow_settle(f);
}
