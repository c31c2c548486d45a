/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that a call moves: one function for each rule of calls.def. Hot: the rules of hook.h.
 * Parameter numbers are positions of C arguments, from 0.
 */
#include "libapp/hot/args.h"
#include "common/base/array.h"
#include "libapp/hot/comm.h"
#include "libapp/hot/flavour.h"

static int64_t type_size(int64_t type)
{
	int64_t wide = 0;
	int size = 0;

	if (!handle_is_usable(CALL_P_TYPE, (uintptr_t)type) ||
	    mpi.Type_size((uintptr_t)type, &size))
		return 0;
	if (size >= 0)
		return size;
	/* MPI_UNDEFINED: more than an int holds. */
	return mpi.Type_size_x((uintptr_t)type, &wide) == 0 && wide > 0 ? wide : 0;
}

static int64_t times(int64_t n, int64_t size)
{
	int64_t out;

	return n < 0 || __builtin_mul_overflow(n, size, &out) ? 0 : out;
}

/* count x size of the arguments at these places */
static int64_t block(const struct hook_args *a, unsigned count, unsigned type)
{
	return times(a->par[count], type_size(a->par[type]));
}

int64_t args_block(const struct hook_args *a, unsigned count, unsigned type)
{
	return block(a, count, type);
}

static bool is_in_place(const struct hook_args *a, unsigned buffer)
{
	if (a->lang == LANG_C)
		return (uintptr_t)a->par[buffer] == flavour->in_place;
	return flavour->f_is_in_place((const void *)(uintptr_t)a->par[buffer], a->lang);
}

static int64_t count_at(const struct hook_args *a, unsigned counts, int i)
{
	const void *n = (const void *)(uintptr_t)a->par[counts];

	if (!n)
		return 0;
	return a->is_wide ? ((const int64_t *)n)[i] : ((const int *)n)[i];
}

static int64_t block_w(const struct hook_args *a, unsigned counts, unsigned types, int i)
{
	return times(count_at(a, counts, i),
		     type_size((int64_t)handle_at(a->lang == LANG_C,
						  (const void *)(uintptr_t)a->par[types], i,
						  CALL_P_TYPE)));
}

/* All blocks of an array of counts, of one type. */
static int64_t blocks_v(const struct hook_args *a, unsigned counts, unsigned type, int n)
{
	int64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += count_at(a, counts, i);
	return times(sum, type_size(a->par[type]));
}

/* All blocks of an array of counts and one of types. */
static int64_t blocks_w(const struct hook_args *a, unsigned counts, unsigned types, int n)
{
	int64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += block_w(a, counts, types, i);
	return sum;
}

/* Likewise for neighbours: nothing is sent to MPI_PROC_NULL. */
static int64_t neighbours_v(const struct hook_args *a, unsigned counts, unsigned type,
			    const struct comm_side *s)
{
	int64_t sum = 0;

	for (int i = 0; i < s->blocks; i++)
		sum += comm_is_null(s, i) ? 0 : count_at(a, counts, i);
	return times(sum, type_size(a->par[type]));
}

static int64_t neighbours_w(const struct hook_args *a, unsigned counts, unsigned types,
			    const struct comm_side *s)
{
	int64_t sum = 0;

	for (int i = 0; i < s->blocks; i++)
		sum += comm_is_null(s, i) ? 0 : block_w(a, counts, types, i);
	return sum;
}

static int64_t own_v(const struct hook_args *a, unsigned counts, unsigned type, int rank)
{
	return times(count_at(a, counts, rank), type_size(a->par[type]));
}

static const struct comm_facts *facts(const struct hook_args *a)
{
	return comm_find((uintptr_t)a->par[a->desc->comm - 1], false);
}

enum role { ROLE_NONE, ROLE_ROOT, ROLE_LEAF };

static enum role role_of(const struct hook_args *a, const struct comm_facts *f, unsigned root)
{
	if (!f->inter)
		return a->par[root] == f->rank ? ROLE_ROOT : ROLE_LEAF;
	if (a->par[root] == flavour->root)
		return ROLE_ROOT;
	return a->par[root] == flavour->proc_null ? ROLE_NONE : ROLE_LEAF;
}

static void v_bcast(struct hook_args *a, const struct comm_facts *f)
{
	enum role role = role_of(a, f, 3);

	if (role == ROLE_ROOT)
		a->out = block(a, 1, 2);
	if (role == ROLE_LEAF)
		a->in = block(a, 1, 2);
}

static void v_gather(struct hook_args *a, const struct comm_facts *f)
{
	enum role role = role_of(a, f, 6);
	bool in_place = role == ROLE_ROOT && is_in_place(a, 0);

	if (role == ROLE_ROOT)
		a->in = times(f->peers - in_place, block(a, 4, 5));
	if (role == ROLE_LEAF || (role == ROLE_ROOT && !f->inter && !in_place))
		a->out = block(a, 1, 2);
}

static void v_gatherv(struct hook_args *a, const struct comm_facts *f)
{
	enum role role = role_of(a, f, 7);
	bool in_place = role == ROLE_ROOT && is_in_place(a, 0);

	if (role == ROLE_ROOT)
		a->in = blocks_v(a, 4, 6, f->peers) - (in_place ? own_v(a, 4, 6, f->rank) : 0);
	if (role == ROLE_LEAF || (role == ROLE_ROOT && !f->inter && !in_place))
		a->out = block(a, 1, 2);
}

static void v_scatter(struct hook_args *a, const struct comm_facts *f)
{
	enum role role = role_of(a, f, 6);
	bool in_place = role == ROLE_ROOT && is_in_place(a, 3);

	if (role == ROLE_ROOT)
		a->out = times(f->peers - in_place, block(a, 1, 2));
	if (role == ROLE_LEAF || (role == ROLE_ROOT && !f->inter && !in_place))
		a->in = block(a, 4, 5);
}

static void v_scatterv(struct hook_args *a, const struct comm_facts *f)
{
	enum role role = role_of(a, f, 7);
	bool in_place = role == ROLE_ROOT && is_in_place(a, 4);

	if (role == ROLE_ROOT)
		a->out = blocks_v(a, 1, 3, f->peers) - (in_place ? own_v(a, 1, 3, f->rank) : 0);
	if (role == ROLE_LEAF || (role == ROLE_ROOT && !f->inter && !in_place))
		a->in = block(a, 5, 6);
}

static void v_allgather(struct hook_args *a, const struct comm_facts *f)
{
	a->in = times(f->peers, block(a, 4, 5));
	a->out = is_in_place(a, 0) ? block(a, 4, 5) : block(a, 1, 2);
}

static void v_allgatherv(struct hook_args *a, const struct comm_facts *f)
{
	a->in = blocks_v(a, 4, 6, f->peers);
	a->out = is_in_place(a, 0) ? own_v(a, 4, 6, f->rank) : block(a, 1, 2);
}

static void v_alltoall(struct hook_args *a, const struct comm_facts *f)
{
	a->in = times(f->peers, block(a, 4, 5));
	a->out = is_in_place(a, 0) ? a->in : times(f->peers, block(a, 1, 2));
}

static void v_alltoallv(struct hook_args *a, const struct comm_facts *f)
{
	a->in = blocks_v(a, 5, 7, f->peers);
	a->out = is_in_place(a, 0) ? a->in : blocks_v(a, 1, 3, f->peers);
}

static void v_alltoallw(struct hook_args *a, const struct comm_facts *f)
{
	a->in = blocks_w(a, 5, 7, f->peers);
	a->out = is_in_place(a, 0) ? a->in : blocks_w(a, 1, 3, f->peers);
}

static void v_reduce(struct hook_args *a, const struct comm_facts *f)
{
	enum role role = role_of(a, f, 5);

	if (role == ROLE_ROOT)
		a->in = block(a, 2, 3);
	if (role == ROLE_LEAF || (role == ROLE_ROOT && !f->inter))
		a->out = block(a, 2, 3);
}

static void v_allreduce(struct hook_args *a, const struct comm_facts *f)
{
	a->out = a->in = block(a, 2, 3);
}

static void v_reduce_scatter(struct hook_args *a, const struct comm_facts *f)
{
	a->out = blocks_v(a, 2, 3, f->size);
	a->in = own_v(a, 2, 3, f->rank);
}

static void v_reduce_scatter_block(struct hook_args *a, const struct comm_facts *f)
{
	a->in = block(a, 2, 3);
	a->out = times(f->size, a->in);
}

static void v_neighbor_allgather(struct hook_args *a, const struct comm_facts *f)
{
	a->out = f->destinations.real ? block(a, 1, 2) : 0;
	a->in = times(f->sources.real, block(a, 4, 5));
}

static void v_neighbor_allgatherv(struct hook_args *a, const struct comm_facts *f)
{
	a->out = f->destinations.real ? block(a, 1, 2) : 0;
	a->in = neighbours_v(a, 4, 6, &f->sources);
}

static void v_neighbor_alltoall(struct hook_args *a, const struct comm_facts *f)
{
	a->out = times(f->destinations.real, block(a, 1, 2));
	a->in = times(f->sources.real, block(a, 4, 5));
}

static void v_neighbor_alltoallv(struct hook_args *a, const struct comm_facts *f)
{
	a->out = neighbours_v(a, 1, 3, &f->destinations);
	a->in = neighbours_v(a, 5, 7, &f->sources);
}

static void v_neighbor_alltoallw(struct hook_args *a, const struct comm_facts *f)
{
	a->out = neighbours_w(a, 1, 3, &f->destinations);
	a->in = neighbours_w(a, 5, 7, &f->sources);
}

/* Rules that need the communicator. */
static void (*const collective[])(struct hook_args *a, const struct comm_facts *f) = {
	[CALL_V_BCAST] = v_bcast,
	[CALL_V_GATHER] = v_gather,
	[CALL_V_GATHERV] = v_gatherv,
	[CALL_V_SCATTER] = v_scatter,
	[CALL_V_SCATTERV] = v_scatterv,
	[CALL_V_ALLGATHER] = v_allgather,
	[CALL_V_ALLGATHERV] = v_allgatherv,
	[CALL_V_ALLTOALL] = v_alltoall,
	[CALL_V_ALLTOALLV] = v_alltoallv,
	[CALL_V_ALLTOALLW] = v_alltoallw,
	[CALL_V_REDUCE] = v_reduce,
	[CALL_V_ALLREDUCE] = v_allreduce,
	[CALL_V_REDUCE_SCATTER] = v_reduce_scatter,
	[CALL_V_REDUCE_SCATTER_BLOCK] = v_reduce_scatter_block,
	[CALL_V_NEIGHBOR_ALLGATHER] = v_neighbor_allgather,
	[CALL_V_NEIGHBOR_ALLGATHERV] = v_neighbor_allgatherv,
	[CALL_V_NEIGHBOR_ALLTOALL] = v_neighbor_alltoall,
	[CALL_V_NEIGHBOR_ALLTOALLV] = v_neighbor_alltoallv,
	[CALL_V_NEIGHBOR_ALLTOALLW] = v_neighbor_alltoallw,
};

static void volume_collective(struct hook_args *a)
{
	uintptr_t comm = (uintptr_t)a->par[a->desc->comm - 1];
	bool topology = a->desc->volume >= CALL_V_NEIGHBOR_ALLGATHER;
	const struct comm_facts *f = topology ? comm_neighbours(comm) : facts(a);

	if (f)
		collective[a->desc->volume](a, f);
}

/* Returns the bytes in a status. */
static int64_t arrived(const struct hook_args *a)
{
	const void *status = (const void *)(uintptr_t)a->par[a->desc->status - 1];
	struct status_view v;

	flavour->status_read(status, &v);
	return v.bytes > 0 ? v.bytes : 0;
}

static bool goes_nowhere(const struct hook_args *a)
{
	return a->desc->peer && a->par[a->desc->peer - 1] == flavour->proc_null;
}

static void volume_simple(struct hook_args *a, enum call_phase phase)
{
	const struct call_desc *d = a->desc;
	int64_t bytes = d->type ? type_size(a->par[d->type - 1]) : 0;

	if (d->count)
		bytes = times(a->par[d->count - 1], bytes);
	switch (d->volume) {
	case CALL_V_SEND:
	case CALL_V_SEND_INIT:
	case CALL_V_PUT:
	case CALL_V_FILE_OUT_POST:
		a->out = bytes;
		return;
	case CALL_V_GET:
	case CALL_V_FILE_IN_POST:
	case CALL_V_RECV_POST:
	case CALL_V_MRECV_POST:
	case CALL_V_RECV_INIT:
		a->in = bytes;
		return;
	case CALL_V_PSEND_INIT:
		a->out = times(a->par[2], bytes);
		return;
	case CALL_V_PRECV_INIT:
		a->in = times(a->par[1], times(a->par[2], bytes));
		return;
	case CALL_V_SENDRECV:
	case CALL_V_SENDRECV_REPLACE:
		a->out = goes_nowhere(a) ? 0 : bytes;
		a->in = phase == CALL_END ? arrived(a) : 0;
		return;
	case CALL_V_ISENDRECV:
		a->out = goes_nowhere(a) ? 0 : bytes;
		a->in = a->par[8] == flavour->proc_null ? 0 : block(a, 6, 7);
		return;
	case CALL_V_ISENDRECV_REPLACE:
		a->out = goes_nowhere(a) ? 0 : bytes;
		a->in = a->par[5] == flavour->proc_null ? 0 : bytes;
		return;
	case CALL_V_GET_ACCUMULATE:
		a->out = bytes;
		a->in = block(a, 4, 5);
		return;
	case CALL_V_FETCH_AND_OP:
		a->out = a->in = bytes;
		return;
	case CALL_V_COMPARE_AND_SWAP:
		a->out = 2 * bytes;
		a->in = bytes;
		return;
	case CALL_V_RECV:
	case CALL_V_MRECV:
	case CALL_V_FILE_IN:
		a->in = phase == CALL_END ? arrived(a) : 0;
		return;
	case CALL_V_FILE_OUT:
		a->out = phase == CALL_END ? arrived(a) : 0;
		return;
	default: /* completions: wait.c */
		return;
	}
}

static void reckon(struct hook_args *a, enum call_phase phase)
{
	unsigned rule = a->desc->volume;

	a->out = a->in = 0;
	if (!flavour || rule == CALL_V_NONE)
		return;
	if (rule < ARRAY_LEN(collective) && collective[rule])
		volume_collective(a);
	else if (!goes_nowhere(a) || (rule >= CALL_V_SENDRECV && rule <= CALL_V_ISENDRECV_REPLACE))
		volume_simple(a, phase);
}

void args_volume(struct hook_args *a, enum call_phase phase)
{
	a->out = a->in = 0;
	if (!a->desc->persistent)
		reckon(a, phase);
}

void args_persistent(struct hook_args *a, int64_t *out, int64_t *in)
{
	int64_t saved_out = a->out, saved_in = a->in;

	reckon(a, CALL_END);
	*out = a->out;
	*in = a->in;
	a->out = saved_out;
	a->in = saved_in;
}

int64_t args_posted(const struct hook_args *a)
{
	struct hook_args copy = *a;
	struct call_desc d = *a->desc;

	d.volume = CALL_V_SEND;
	copy.desc = &d;
	args_volume(&copy, CALL_END);
	return copy.out;
}
