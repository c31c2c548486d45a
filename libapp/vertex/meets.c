/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vertices of collective calls. All processes of a communicator make these calls in one order (MPI
 * 4.0, section 6.14). So a communicator and a number name one. Hot: the law of libapp/hot/hook.h.
 */
#include "common/ring/calls_id.h"
#include "libapp/hot/comm.h"
#include "libapp/vertex/internal.h"

#define CALLS_SALT UINT64_C(0x636f6c6c65637469) /* calls and messages have different ids */

static bool is_root(const struct hook_args *a, int rank)
{
	const struct call_desc *d = a->desc;

	for (unsigned i = 0; i < d->nparam; i++)
		if (d->param[i].kind == CALL_P_ROOT)
			return (int32_t)a->par[i] == rank;
	return false;
}

/* Of a scan and of neighbours, some ranks depend on some others: it is not known on which. */
static int32_t role_of(const struct hook_args *a, int rank)
{
	switch (a->desc->volume) {
	case CALL_V_BCAST:
	case CALL_V_SCATTER:
	case CALL_V_SCATTERV:
		return is_root(a, rank) ? VERTEX_GIVES : VERTEX_TAKES;
	case CALL_V_GATHER:
	case CALL_V_GATHERV:
	case CALL_V_REDUCE:
		return is_root(a, rank) ? VERTEX_TAKES : VERTEX_GIVES;
	case CALL_V_NEIGHBOR_ALLGATHER:
	case CALL_V_NEIGHBOR_ALLGATHERV:
	case CALL_V_NEIGHBOR_ALLTOALL:
	case CALL_V_NEIGHBOR_ALLTOALLV:
	case CALL_V_NEIGHBOR_ALLTOALLW:
		return VERTEX_GIVES | VERTEX_TAKES | VERTEX_UNCERTAIN;
	default:
		return a->func == CALL_ID_Scan || a->func == CALL_ID_Exscan
			       ? VERTEX_GIVES | VERTEX_TAKES | VERTEX_UNCERTAIN
			       : VERTEX_GIVES | VERTEX_TAKES;
	}
}

bool meets_are_seen(const struct hook_args *a)
{
	const struct call_desc *d = a->desc;

	return (d->class == CALL_COLLECTIVE || d->class == CALL_BARRIER) && d->comm &&
	       !d->persistent && !call_posts(d);
}

/* Without its begin a call has no vertex: its rank would look late. A call in front of a failed
 * attempt to enter is not counted: later ids are uncertain then. */
void meets_begin(struct hook_args *a)
{
	uintptr_t handle = (uintptr_t)a->par[a->desc->comm - 1];
	const struct comm_facts *f = comm_find(handle, false);
	struct match_comm *c;

	if (!f || f->inter || f->size < 2 || !messages_enter())
		return;
	c = match_comm_find(&messages.comms, handle);
	if (c && c->id)
		a->message.sent.id = match_id(c->id ^ CALLS_SALT, ++c->met);
	messages_leave();
	if (!a->message.sent.id ||
	    !vertex_put(VERTEX_WAIT, &(struct vertex_values){ .ticks = a->message.begin })) {
		vertex_lose(VERTEX_MEET);
		return;
	}
	a->message.ranks = f->size;
	a->message.role = role_of(a, f->rank);
}

void meets_end(const struct hook_args *a, int rc)
{
	if (rc) {
		vertex_lose(VERTEX_MEET);
		return;
	}
	vertex_put(VERTEX_MEET,
		   &(struct vertex_values){ .ticks = vertex_time(VERTEX_MEET, VERTEX_MEET),
					    .task = a->message.sent.id,
					    .partner = a->message.ranks,
					    .last = a->message.role });
}
