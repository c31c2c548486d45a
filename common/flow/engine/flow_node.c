/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a node, by its kind. */
#include "common/flow/engine/flow_internal.h"

#include <stdlib.h>
#include <string.h>

static bool is_queue(const struct fnode *n)
{
	return (n->kind == FLOW_LINK_IN || n->kind == FLOW_LINK_OUT) && n->domain == FLOW_VT;
}

static int choice_init(struct fnode *n, const struct flow_choice *of)
{
	size_t bytes = of->n * sizeof(*of->v);

	n->choice.word = malloc(bytes);
	if (!n->choice.word)
		return -ERR_NOMEM;
	memcpy(n->choice.word, of->v, bytes);
	n->choice.n = of->n;
	n->state_bytes = bytes;
	return 0;
}

int flow_node_init(struct flow *f, struct fnode *n, const struct flow_node *g)
{
	switch (n->kind) {
	case FLOW_OP:
	case FLOW_PAIR:
		return op_init(f, n);
	case FLOW_WHO:
		return who_init(f, n, &g->who);
	case FLOW_SET:
		return set_init(f, n);
	case FLOW_VT_AGG:
		return vt_agg_init(n);
	case FLOW_LINK_IN:
	case FLOW_LINK_OUT:
		if (is_queue(n))
			return queue_init(n);
		return n->kind == FLOW_LINK_IN ? reads_init(n) : 0;
	case FLOW_DELTA:
		delta_init(n, f->meas[n->measurement].start);
		return 0;
	case FLOW_STOP:
		return stop_init(n, &g->stop);
	case FLOW_CHOICE:
		return choice_init(n, &g->choice);
	case FLOW_INPUT: /* all zeros: no value yet, and read 0 is over */
	default:
		return 0;
	}
}

void flow_node_done(struct fnode *n)
{
	if (n->kind == FLOW_OP || n->kind == FLOW_PAIR || n->kind == FLOW_WHO)
		op_done(n);
	else if (n->kind == FLOW_SET)
		set_done(n);
	else if (n->kind == FLOW_VT_AGG)
		vt_agg_done(n);
	else if (n->kind == FLOW_STOP)
		stop_done(n);
	else if (n->kind == FLOW_CHOICE)
		free(n->choice.word);
	else if (is_queue(n))
		queue_done(n);
	else if (n->kind == FLOW_LINK_IN)
		reads_done(n);
	free(n->in);
	free(n->link);
	free(n->identity);
	*n = (struct fnode){ 0 };
}
