/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of communicators, which all of their processes compute from the calls that made them. Hot:
 * the rules of libapp/hot/hook.h.
 */
#include "common/base/hash.h"
#include "libapp/hot/comm.h"
#include "libapp/vertex/internal.h"

/* Ranks that are translated one by one; communicators of larger groups have no id. */
#define MEMBERS_MAX 4096

enum how {
	HOW_UNKNOWN, /* other worlds: ranks of MPI_COMM_WORLD do not name their processes */
	HOW_CHILD, /* one of its parent */
	HOW_PART, /* one of several that the call makes */
	HOW_GROUP, /* its members alone make it */
	HOW_PAIR, /* two groups make it */
};

static enum how how_of(uint32_t func)
{
	switch (func) {
	case CALL_ID_Comm_dup:
	case CALL_ID_Comm_dup_with_info:
	case CALL_ID_Comm_idup:
	case CALL_ID_Intercomm_merge:
		return HOW_CHILD;
	case CALL_ID_Comm_split:
	case CALL_ID_Comm_split_type:
	case CALL_ID_Comm_create:
	case CALL_ID_Cart_create:
	case CALL_ID_Cart_sub:
	case CALL_ID_Graph_create:
	case CALL_ID_Dist_graph_create:
	case CALL_ID_Dist_graph_create_adjacent:
		return HOW_PART;
	case CALL_ID_Comm_create_group:
		return HOW_GROUP;
	case CALL_ID_Intercomm_create:
		return HOW_PAIR;
	default:
		return HOW_UNKNOWN;
	}
}

/* Position of the new communicator among the arguments; 0 is never one. */
static unsigned place_of(const struct call_desc *d)
{
	unsigned last = d->nparam - 1u;

	switch (d->param[last].kind) {
	case CALL_P_REQUEST:
		return last - 1;
	default:
		return d->param[last].name[0] == 'e' ? last - 1 : last; /* errcodes of a spawn */
	}
}

/* Returns a number that depends on the members, and not on their order. 0: not known. */
static uint64_t hash_group(uintptr_t comm, int size)
{
	uint64_t sum = 0;
	int64_t rank;

	if (size > MEMBERS_MAX)
		return 0;
	for (int i = 0; i < size; i++) {
		rank = comm_world_rank(comm, false, i);
		if (rank < 0)
			return 0;
		sum += hash_mix64((uint64_t)rank + 1);
	}
	return sum ? sum : 1;
}

/* Hashes two groups in an order that does not depend on the side. */
static uint64_t hash_pair(uint64_t a, uint64_t b)
{
	if (!a || !b)
		return 0;
	return a < b ? match_comm_child(a, b, 0) : match_comm_child(b, a, 0);
}

static uint64_t hash_members(const struct hook_args *a, uintptr_t made)
{
	uintptr_t parent = (uintptr_t)a->par[a->desc->comm - 1];
	const struct comm_facts *f = comm_find(made, false);
	int peers = f ? f->peers : 0, size = f ? f->size : 0;
	uint64_t members = f ? hash_group(made, peers) : 0;

	if (how_of(a->func) == HOW_PAIR)
		members = hash_pair(members, f ? hash_group(parent, size) : 0);
	return members;
}

static bool is_inter(uintptr_t comm)
{
	const struct comm_facts *f = comm_find(comm, false);

	return !f || f->inter;
}

/* Counts the calls with these members and this tag, and returns the number. 0: no room. */
static uint64_t number_among(uint64_t members, int32_t tag)
{
	struct match_count *c = match_find(&messages.groups, match_comm_child(members, 0, tag));

	return c ? ++c->n : 0;
}

/* Found in front of the lock, since MPI translates ranks. */
struct made {
	uintptr_t comm; /* 0: none for this process */
	int64_t first; /* world rank of the first process, or -1 */
	uint64_t members;
};

static uint64_t id_of(const struct hook_args *a, enum how how, const struct made *m)
{
	uintptr_t handle = (uintptr_t)a->par[a->desc->comm - 1];
	struct match_comm *parent = match_comm_find(&messages.comms, handle);
	uint64_t n, tag = a->desc->tag ? (uint32_t)a->par[a->desc->tag - 1] : 0;

	if (how == HOW_GROUP || how == HOW_PAIR) {
		n = m->members ? number_among(m->members, (int32_t)tag) : 0;
		return n ? match_comm_child(m->members ^ tag, n, -1) : 0;
	}
	if (!parent || !parent->id)
		return 0;
	n = ++parent->made;
	if (how == HOW_PART && m->first < 0)
		return 0;
	return match_comm_child(parent->id, n, how == HOW_PART ? (int32_t)m->first : 0);
}

void groups_made(const struct hook_args *a, int rc)
{
	enum how how = how_of(a->func);
	struct made m = { .first = -1 };
	uint64_t id;

	if (!a->desc->comm || !place_of(a->desc))
		return;
	if (rc) { /* others may have made it */
		vertex_miss();
		return;
	}
	m.comm = handle_at(a->lang == LANG_C, (const void *)(uintptr_t)a->par[place_of(a->desc)], 0,
			   CALL_P_COMM);
	if (!handle_is_usable(CALL_P_COMM, m.comm))
		m.comm = 0;
	if (m.comm && how == HOW_PART && !is_inter((uintptr_t)a->par[a->desc->comm - 1]))
		m.first = comm_world_rank(m.comm, false, 0);
	if (m.comm && (how == HOW_GROUP || how == HOW_PAIR))
		m.members = hash_members(a, m.comm);
	if (!messages_enter())
		return;
	id = how == HOW_UNKNOWN ? 0 : id_of(a, how, &m);
	match_comm_drop(&messages.comms, m.comm);
	if (m.comm && id)
		match_comm_put(&messages.comms, m.comm, id);
	messages_leave();
}

void groups_free(const struct hook_args *a)
{
	uintptr_t comm =
		handle_at(a->lang == LANG_C, (const void *)(uintptr_t)a->par[0], 0, CALL_P_COMM);

	if (!messages_enter())
		return;
	match_comm_drop(&messages.comms, comm);
	messages_leave();
}
