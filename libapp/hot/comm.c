/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hot: the rules of hook.h. Facts that are not cached are requested from MPI, by local PMPI
 * functions only. Null handles are never passed.
 */
#include "libapp/hot/comm.h"

#include "common/ring/calls.h"
#include "libapp/hot/app_state.h"
#include "libapp/hot/flavour.h"
#include "libapp/hot/hook.h"

#include <string.h>

#define COMMS 8 /* per thread, newest replaces oldest */
#define RANKS 256 /* direct-mapped translations per thread; a power of two */

struct rank_entry {
	uintptr_t key;
	uint32_t generation;
	int32_t rank;
	int64_t world;
};

static struct comm_cache {
	struct comm_facts comm[COMMS];
	unsigned next;
	struct rank_entry rank[RANKS];
} cache[SEG_THREADS_MAX];

static uint32_t generation = 1;
static uintptr_t world_group; /* 0: not open */

void comm_forget_all(void)
{
	__atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED);
}

uint32_t comm_generation(void)
{
	return __atomic_load_n(&generation, __ATOMIC_RELAXED);
}

void comm_open(void)
{
	if (mpi.Comm_group(flavour->comm_world(), &world_group) != 0)
		world_group = 0;
}

void comm_close(void)
{
	uintptr_t group = world_group;

	world_group = 0;
	if (group)
		mpi.Group_free(&group);
}

static bool ask_comm(struct comm_facts *f)
{
	int inter = 0;

	if (mpi.Comm_size(f->key, &f->size) || mpi.Comm_rank(f->key, &f->rank) ||
	    mpi.Comm_test_inter(f->key, &inter))
		return false;
	f->inter = inter != 0;
	f->peers = f->size;
	return !inter || mpi.Comm_remote_size(f->key, &f->peers) == 0;
}

static bool ask_win(struct comm_facts *f)
{
	uintptr_t group = 0;
	int rc;

	if (mpi.Win_get_group(f->key, &group) != 0)
		return false;
	rc = mpi.Group_size(group, &f->size);
	f->peers = f->size;
	mpi.Group_free(&group);
	return !rc;
}

const struct comm_facts *comm_find(uintptr_t handle, bool win)
{
	struct comm_cache *c = &cache[hook_thread.index];
	uint32_t now = __atomic_load_n(&generation, __ATOMIC_RELAXED);
	struct comm_facts *f;

	if (!flavour || !handle_is_usable(win ? CALL_P_WIN : CALL_P_COMM, handle))
		return NULL;
	for (unsigned i = 0; i < COMMS; i++) {
		f = &c->comm[i];
		if (f->key == handle && f->generation == now && f->win == win)
			return f;
	}
	f = &c->comm[c->next];
	c->next = (c->next + 1) % COMMS;
	*f = (struct comm_facts){ .key = handle, .win = win, .sources.blocks = -1 };
	if (win ? ask_win(f) : ask_comm(f)) {
		f->generation = now;
		return f;
	}
	return NULL;
}

static void add_block(struct comm_side *s, int rank)
{
	if (rank != flavour->proc_null)
		s->real++;
	else if (s->blocks < COMM_NEIGHBOURS)
		s->null[s->blocks / 64] |= UINT64_C(1) << (s->blocks % 64);
	s->blocks++;
}

static void add_blocks(struct comm_side *s, const int *rank, int known, int n)
{
	for (int i = 0; i < known; i++)
		add_block(s, rank[i]);
	s->blocks += n - known;
	s->real += n - known;
}

/*
 * Requests the neighbours: two for each dimension, the lower one first. An end that is not
 * periodic has none.
 */
static void ask_cart(struct comm_facts *f)
{
	int n = 0, low, high;

	if (mpi.Cartdim_get(f->key, &n) != 0)
		return;
	for (int i = 0; i < n && mpi.Cart_shift(f->key, i, 1, &low, &high) == 0; i++) {
		add_block(&f->sources, low);
		add_block(&f->sources, high);
	}
	f->destinations = f->sources;
}

static int known_of(int n)
{
	return n < COMM_NEIGHBOURS ? n : COMM_NEIGHBOURS;
}

/* Some libraries take MPI_PROC_NULL for a neighbour. */
static void ask_dist_graph(struct comm_facts *f)
{
	int in = 0, out = 0, weighted, from[COMM_NEIGHBOURS], to[COMM_NEIGHBOURS],
	    weight[2][COMM_NEIGHBOURS];

	if (mpi.Dist_graph_neighbors_count(f->key, &in, &out, &weighted) != 0 || in < 0 ||
	    out < 0 ||
	    mpi.Dist_graph_neighbors(f->key, known_of(in), from, weight[0], known_of(out), to,
				     weight[1]) != 0)
		return;
	add_blocks(&f->sources, from, known_of(in), in);
	add_blocks(&f->destinations, to, known_of(out), out);
}

static void ask_neighbours(struct comm_facts *f)
{
	int kind = 0, n = 0;

	f->sources = f->destinations = (struct comm_side){ 0 };
	if (mpi.Topo_test(f->key, &kind) != 0)
		return;
	if (kind == flavour->cart)
		ask_cart(f);
	if (kind == flavour->graph && mpi.Graph_neighbors_count(f->key, f->rank, &n) == 0)
		f->sources = f->destinations = (struct comm_side){ n, n, { 0 } };
	if (kind == flavour->dist_graph)
		ask_dist_graph(f);
}

const struct comm_facts *comm_neighbours(uintptr_t comm)
{
	struct comm_facts *f = (struct comm_facts *)(uintptr_t)comm_find(comm, false);

	if (f && f->sources.blocks < 0)
		ask_neighbours(f);
	return f;
}

static int64_t translate(const struct comm_facts *f, int rank)
{
	uintptr_t group = 0;
	int out = -1, rc;

	if (f->win)
		rc = mpi.Win_get_group(f->key, &group);
	else if (f->inter)
		rc = mpi.Comm_remote_group(f->key, &group);
	else
		rc = mpi.Comm_group(f->key, &group);
	if (rc)
		return -1;
	rc = mpi.Group_translate_ranks(group, 1, &rank, world_group, &out);
	mpi.Group_free(&group);
	return !rc && out >= 0 ? out : -1;
}

int64_t comm_world_rank(uintptr_t handle, bool win, int64_t rank)
{
	struct rank_entry *e;
	const struct comm_facts *f;

	if (!flavour || rank < 0)
		return -1;
	if (!win && handle == flavour->comm_world())
		return rank < app_state.world_size ? rank : -1;
	f = world_group ? comm_find(handle, win) : NULL;
	if (!f || rank >= f->peers)
		return -1;
	e = &cache[hook_thread.index].rank[(handle / 16 + (uintptr_t)rank) % RANKS];
	if (e->key != handle || e->rank != (int32_t)rank || e->generation != f->generation)
		*e = (struct rank_entry){ handle, f->generation, (int32_t)rank,
					  translate(f, (int)rank) };
	return e->world;
}

/* --- numbers of collective calls on MPI_COMM_WORLD */

bool collective_open(void)
{
	uint64_t world;

	if (!flavour)
		return false;
	world = flavour->comm_world();
	numbered.mask = flavour->handle_bytes == 4 ? UINT32_MAX : UINT64_MAX;
	numbered.f_world = flavour->handle_bytes == 4 ? world & UINT32_MAX : 0;
	numbered.world = world & numbered.mask;
	return true;
}

void collective_miss(void)
{
	if (!hook_thread.lost)
		return;
	__atomic_store_n(&numbered.world, COLLECTIVE_NO_HANDLE, __ATOMIC_RELAXED);
	__atomic_store_n(&numbered.f_world, COLLECTIVE_NO_HANDLE, __ATOMIC_RELAXED);
}
