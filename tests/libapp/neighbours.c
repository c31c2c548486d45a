/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbourhood collectives over topologies with ends, repeated and missing neighbours, and their
 * true volumes. Bytes in are the changed bytes of the receive buffers. Bytes out are what all
 * others got from this rank, exchanged by PMPI calls. Neighbours are computed from the shapes, not
 * requested from MPI. Writes "call RANK NAME count N out B in B" to FILE.<rank>. usage: neighbours
 * FILE
 */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#define PERSISTENT(name) MPIX_Neighbor_##name##_init
#else
#define PERSISTENT(name) MPI_Neighbor_##name##_init
#endif
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 8, ROOM = 8, RANKS = 16, NAMES = 64, NOTHING = -1, TO_NOBODY = 5 };

static struct book {
	const char *name;
	long count, out, in;
} book[NAMES];

static int rank, size;
static int to[BLOCKS * ROOM], from[BLOCKS * ROOM];

/* One block for each neighbour, in the order of the standard. */
struct shape {
	MPI_Comm comm;
	int nin, nout, in[BLOCKS], out[BLOCKS];
};

static struct book *entry(const char *name)
{
	int i = 0;

	while (book[i].name && strcmp(book[i].name, name) != 0)
		i++;
	book[i].name = name;
	return &book[i];
}

#define DO(name, ...)                                 \
	do {                                          \
		if (MPI_##name(__VA_ARGS__) != 0)     \
			MPI_Abort(MPI_COMM_WORLD, 9); \
		entry("MPI_" #name)->count++;         \
	} while (0)

static void clear(void)
{
	for (int i = 0; i < BLOCKS * ROOM; i++) {
		to[i] = rank;
		from[i] = NOTHING;
	}
}

/* Counts the changed bytes since clear(), and the bytes that other ranks received from this one. */
static void weigh(const char *name, int is_one_block, int own)
{
	int got[RANKS] = { 0 }, given[RANKS], in = 0, out = 0;

	for (int i = 0; i < BLOCKS * ROOM; i++) {
		if (from[i] == NOTHING)
			continue;
		in++;
		got[from[i]]++;
	}
	PMPI_Alltoall(got, 1, MPI_INT, given, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++)
		out += given[i];
	if (is_one_block && out)
		out = own;
	entry(name)->in += in * (long)sizeof(int);
	entry(name)->out += out * (long)sizeof(int);
}

#define ALL_WAYS(name, is_one_block, own, ...)                                      \
	do {                                                                        \
		MPI_Request r;                                                      \
		clear();                                                            \
		DO(Neighbor_##name, __VA_ARGS__, s->comm);                          \
		weigh("MPI_Neighbor_" #name, is_one_block, own);                    \
		clear();                                                            \
		DO(Ineighbor_##name, __VA_ARGS__, s->comm, &r);                     \
		DO(Wait, &r, MPI_STATUS_IGNORE);                                    \
		weigh("MPI_Ineighbor_" #name, is_one_block, own);                   \
		if (PERSISTENT(name)(__VA_ARGS__, s->comm, MPI_INFO_NULL, &r) != 0) \
			MPI_Abort(MPI_COMM_WORLD, 8);                               \
		entry("MPI_Neighbor_" #name "_init")->count++;                      \
		for (int start = 0; start < 2; start++) {                           \
			clear();                                                    \
			DO(Start, &r);                                              \
			DO(Wait, &r, MPI_STATUS_IGNORE);                            \
			weigh("MPI_Neighbor_" #name "_init", is_one_block, own);    \
		}                                                                   \
		DO(Request_free, &r);                                               \
	} while (0)

static int between(int peer)
{
	return peer == MPI_PROC_NULL ? TO_NOBODY : 1 + (rank + peer) % 3;
}

static void move(const struct shape *s, int is_lopsided)
{
	int nin[BLOCKS], nout[BLOCKS], own[BLOCKS], place[BLOCKS], mine = 1 + rank % 3;
	MPI_Aint bytes[BLOCKS];
	MPI_Datatype type[BLOCKS];

	for (int i = 0; i < BLOCKS; i++) {
		place[i] = i * ROOM;
		bytes[i] = i * ROOM * (MPI_Aint)sizeof(int);
		type[i] = MPI_INT;
		nin[i] = i < s->nin ? between(s->in[i]) : 0;
		nout[i] = i < s->nout ? between(s->out[i]) : 0;
		own[i] = i < s->nin && s->in[i] != MPI_PROC_NULL ? 1 + s->in[i] % 3 : TO_NOBODY;
	}
	ALL_WAYS(allgather, 1, 2, to, 2, MPI_INT, from, 2, MPI_INT);
	ALL_WAYS(allgatherv, 1, mine, to, mine, MPI_INT, from, own, place, MPI_INT);
	ALL_WAYS(alltoall, 0, 0, to, 3, MPI_INT, from, 3, MPI_INT);
	ALL_WAYS(alltoallv, 0, 0, to, nout, place, MPI_INT, from, nin, place, MPI_INT);
/* 4.0.2 moves nothing by it where ranks have more sources than destinations */
#ifdef MPICH_VERSION
	if (is_lopsided)
		return;
#endif
	ALL_WAYS(alltoallw, 0, 0, to, nout, bytes, type, from, nin, bytes, type);
}

/* Rows of `columns` ranks: of each dimension the lower neighbour, then the upper one. */
static void grid(int columns, int wraps_rows, int wraps_columns)
{
	int dims[2] = { size / columns, columns }, wraps[2] = { wraps_rows, wraps_columns };
	int at[2] = { rank / columns, rank % columns };
	struct shape s = { .nin = 4, .nout = 4 };

	for (int i = 0; i < 4; i++) {
		int d = i / 2, there[2] = { at[0], at[1] };

		there[d] += i % 2 ? 1 : -1;
		s.in[i] = MPI_PROC_NULL;
		if (wraps[d])
			there[d] = (there[d] + dims[d]) % dims[d];
		if (there[d] >= 0 && there[d] < dims[d])
			s.in[i] = there[0] * columns + there[1];
		s.out[i] = s.in[i];
	}
	DO(Cart_create, MPI_COMM_WORLD, 2, dims, wraps, 0, &s.comm);
	move(&s, 0);
	DO(Comm_free, &s.comm);
}

/* Rank 0 is a neighbour of all ranks, and twice of the last one. */
static void star(void)
{
	int index[RANKS], edges[2 * RANKS], n = 0;
	struct shape s = { 0 };

	for (int i = 1; i < size; i++)
		edges[n++] = i;
	edges[n++] = size - 1;
	index[0] = n;
	for (int i = 1; i < size; i++) {
		edges[n++] = 0;
		if (i == size - 1)
			edges[n++] = 0;
		index[i] = n;
	}
	s.nin = s.nout = index[rank] - (rank ? index[rank - 1] : 0);
	for (int i = 0; i < s.nin; i++)
		s.in[i] = s.out[i] = edges[(rank ? index[rank - 1] : 0) + i];
	DO(Graph_create, MPI_COMM_WORLD, size, index, edges, 0, &s.comm);
	move(&s, 0);
	DO(Comm_free, &s.comm);
}

/* Each sends twice to the next one; the last has no destination, and rank 0 no source. */
static void line(int with_none)
{
	struct shape s = { .comm = MPI_COMM_NULL };

	if (with_none)
		s.in[s.nin++] = s.out[s.nout++] = MPI_PROC_NULL;
	for (int i = 0; i < 2; i++) {
		if (rank > 0)
			s.in[s.nin++] = rank - 1;
		if (rank < size - 1)
			s.out[s.nout++] = rank + 1;
	}
	DO(Dist_graph_create_adjacent, MPI_COMM_WORLD, s.nin, s.in, MPI_UNWEIGHTED, s.nout, s.out,
	   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &s.comm);
	move(&s, 1);
	DO(Comm_free, &s.comm);
}

static int write_books(const char *base)
{
	char name[4096];
	FILE *f;

	snprintf(name, sizeof(name), "%s.%d", base, rank);
	f = fopen(name, "w");
	if (!f)
		return -1;
	for (int i = 0; book[i].name; i++)
		fprintf(f, "call %d %s count %ld out %ld in %ld\n", rank, book[i].name,
			book[i].count, book[i].out, book[i].in);
	return fclose(f);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc != 2 || size > BLOCKS - 1 || size % 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	grid(1, 0, 0);
	grid(2, 0, 0);
	grid(2, 1, 0);
	grid(size, 1, 1);
	star();
	line(0);
#ifdef MPICH_VERSION /* takes MPI_PROC_NULL for a neighbour of a graph */
	line(1);
#endif
	entry("MPI_Finalize")->count++;
	if (write_books(argv[1]) != 0)
		MPI_Abort(MPI_COMM_WORLD, 4);
	if (rank == 0)
		printf("calls: done\n");
	return MPI_Finalize();
}
