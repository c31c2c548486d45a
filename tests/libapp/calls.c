/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes all kinds of calls and counts them itself: calls, and bytes by the rules of calls.def. It
 * computes the bytes from its own arguments, not from MPI. Writes "call RANK NAME count N out B in
 * B" to FILE.<rank>. usage: calls FILE
 */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 256
#define INTS 64

static struct book {
	const char *name;
	long count, out, in;
} book[NAMES_MAX];

static int rank, size, left, right;
static MPI_Comm world, back; /* back: the ranks in reverse order */
static int a[4096], b[4096];

static struct book *entry(const char *name)
{
	int i;

	for (i = 0; book[i].name && strcmp(book[i].name, name) != 0; i++)
		continue;
	book[i].name = name;
	return &book[i];
}

static void note(const char *name, long out, long in)
{
	struct book *e = entry(name);

	e->count++;
	e->out += out;
	e->in += in;
}

/* Bytes that belong to a call made earlier. */
static void late(const char *name, long in)
{
	entry(name)->in += in;
}

static void later(const char *name, long out)
{
	entry(name)->out += out;
}

#define DO(name, out, in, ...)                        \
	do {                                          \
		if (MPI_##name(__VA_ARGS__) != 0)     \
			MPI_Abort(MPI_COMM_WORLD, 9); \
		note("MPI_" #name, out, in);          \
	} while (0)

static const long I = sizeof(int);

static void sends_and_receives(void)
{
	MPI_Status st;
	MPI_Request r[4];
	int n, flag = 0, index, done[4];

	/* The receive from any source has more room than needed. */
	if (rank % 2 == 0) {
		DO(Send, 5 * I, 0, a, 5, MPI_INT, right, 1, world);
		DO(Ssend, 7 * I, 0, a, 7, MPI_INT, right, 1, world);
	} else {
		DO(Recv, 0, 5 * I, b, 100, MPI_INT, MPI_ANY_SOURCE, 1, world, MPI_STATUS_IGNORE);
		DO(Recv, 0, 7 * I, b, 100, MPI_INT, left, 1, world, &st);
		MPI_Get_count(&st, MPI_INT, &n);
		if (n != 7 || st.MPI_SOURCE != left)
			MPI_Abort(world, 3);
	}
	DO(Send, 0, 0, a, 5, MPI_INT, MPI_PROC_NULL, 1, world);
	DO(Recv, 0, 0, b, 5, MPI_INT, MPI_PROC_NULL, 1, world, MPI_STATUS_IGNORE);
	DO(Sendrecv, 9 * I, 9 * I, a, 9, MPI_INT, right, 2, b, 50, MPI_INT, left, 2, world,
	   MPI_STATUS_IGNORE);
	DO(Sendrecv_replace, 3 * I, 3 * I, a, 3, MPI_INT, right, 2, left, 2, world,
	   MPI_STATUS_IGNORE);
	/*
	 * Posts a receive of 100 bytes, of which 11 arrive: these count, whichever call completes
	 * it.
	 */
	DO(Irecv, 0, 0, b, 100, MPI_INT, left, 3, world, &r[0]);
	DO(Irecv, 0, 0, b + 100, 100, MPI_INT, MPI_ANY_SOURCE, 4, world, &r[1]);
	DO(Isend, 11 * I, 0, a, 11, MPI_INT, right, 3, world, &r[2]);
	DO(Isend, 13 * I, 0, a, 13, MPI_INT, right, 4, world, &r[3]);
	DO(Waitall, 0, 0, 4, r, MPI_STATUSES_IGNORE);
	late("MPI_Irecv", 11 * I + 13 * I);
	DO(Irecv, 0, 0, b, 100, MPI_INT, left, 5, world, &r[0]);
	DO(Isend, 2 * I, 0, a, 2, MPI_INT, right, 5, world, &r[1]);
	DO(Wait, 0, 0, &r[0], MPI_STATUS_IGNORE);
	late("MPI_Irecv", 2 * I);
	while (!flag)
		DO(Test, 0, 0, &r[1], &flag, MPI_STATUS_IGNORE);
	DO(Irecv, 0, 0, b, 100, MPI_INT, left, 6, world, &r[0]);
	DO(Issend, 4 * I, 0, a, 4, MPI_INT, right, 6, world, &r[1]);
	for (int i = 0; i < 2; i++)
		DO(Waitany, 0, 0, 2, r, &index, &st);
	late("MPI_Irecv", 4 * I);
	DO(Irecv, 0, 0, b, 100, MPI_INT, left, 7, world, &r[0]);
	DO(Isend, 6 * I, 0, a, 6, MPI_INT, right, 7, world, &r[1]);
	for (int got = 0; got < 2; got += n)
		DO(Waitsome, 0, 0, 2, r, &n, done, MPI_STATUSES_IGNORE);
	late("MPI_Irecv", 6 * I);
	DO(Irecv, 0, 0, b, 100, MPI_INT, MPI_PROC_NULL, 7, world, &r[0]);
	DO(Wait, 0, 0, &r[0], MPI_STATUS_IGNORE);
}

static void persistent(void)
{
	MPI_Request r[2];

	DO(Recv_init, 0, 0, b, 100, MPI_INT, left, 8, world, &r[0]);
	DO(Send_init, 0, 0, a, 10, MPI_INT, right, 8, world, &r[1]);
	for (int i = 0; i < 3; i++) {
		DO(Startall, 0, 0, 2, r);
		later("MPI_Send_init", 10 * I);
		DO(Waitall, 0, 0, 2, r, MPI_STATUSES_IGNORE);
		late("MPI_Recv_init", 10 * I);
	}
	DO(Start, 0, 0, &r[0]);
	DO(Start, 0, 0, &r[1]);
	later("MPI_Send_init", 10 * I);
	DO(Waitall, 0, 0, 2, r, MPI_STATUSES_IGNORE);
	late("MPI_Recv_init", 10 * I);
	DO(Request_free, 0, 0, &r[0]);
	DO(Request_free, 0, 0, &r[1]);
}

#define MANY 200 /* more than one call can distinguish */

/* All starts count, however many requests one call starts. */
static void many_persistent(void)
{
	MPI_Request r[MANY], in[MANY];

	for (int i = 0; i < MANY; i++) {
		DO(Send_init, 0, 0, a, 2, MPI_INT, right, 20, world, &r[i]);
		PMPI_Irecv(b, 2, MPI_INT, left, 20, world, &in[i]);
	}
	DO(Startall, 0, 0, MANY, r);
	later("MPI_Send_init", MANY * 2 * I);
	PMPI_Waitall(MANY, in, MPI_STATUSES_IGNORE);
	DO(Waitall, 0, 0, MANY, r, MPI_STATUSES_IGNORE);
	for (int i = 0; i < MANY; i++) {
		PMPI_Irecv(b, 2, MPI_INT, left, 20, world, &in[i]);
		DO(Start, 0, 0, &r[i]);
		later("MPI_Send_init", 2 * I);
	}
	PMPI_Waitall(MANY, in, MPI_STATUSES_IGNORE);
	for (int i = 0; i < MANY; i++) {
		DO(Wait, 0, 0, &r[i], MPI_STATUS_IGNORE);
		DO(Request_free, 0, 0, &r[i]);
	}
}

/* The names of the standard, or those of Open MPI 4. */
#ifdef OPEN_MPI
#define X_INIT(name) MPIX_##name##_init
#else
#define X_INIT(name) MPI_##name##_init
#endif
#define MAKE(name, ...)                               \
	do {                                          \
		if (X_INIT(name)(__VA_ARGS__) != 0)   \
			MPI_Abort(MPI_COMM_WORLD, 9); \
		note("MPI_" #name "_init", 0, 0);     \
	} while (0)

static void persistent_collectives(void)
{
	MPI_Request r[4];

	MAKE(Bcast, a, 20, MPI_INT, 0, world, MPI_INFO_NULL, &r[0]);
	MAKE(Allreduce, a, b, 5, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &r[1]);
	MAKE(Alltoall, a, 3, MPI_INT, b + 100, 3, MPI_INT, world, MPI_INFO_NULL, &r[2]);
	MAKE(Barrier, world, MPI_INFO_NULL, &r[3]);
	for (int i = 0; i < 2; i++) {
		DO(Startall, 0, 0, 4, r);
		DO(Waitall, 0, 0, 4, r, MPI_STATUSES_IGNORE);
		later("MPI_Bcast_init", rank ? 0 : 20 * I);
		late("MPI_Bcast_init", rank ? 20 * I : 0);
		later("MPI_Allreduce_init", 5 * I);
		late("MPI_Allreduce_init", 5 * I);
		later("MPI_Alltoall_init", 3 * I * size);
		late("MPI_Alltoall_init", 3 * I * size);
	}
	for (int i = 0; i < 4; i++)
		DO(Request_free, 0, 0, &r[i]);
}

#if MPI_VERSION >= 4
static void partitioned(void)
{
	int list[2] = { 1, 4 }, flag;
	MPI_Request r[2];

	DO(Psend_init, 0, 0, a, 5, 7, MPI_INT, right, 21, world, MPI_INFO_NULL, &r[0]);
	DO(Precv_init, 0, 0, b, 5, 7, MPI_INT, left, 21, world, MPI_INFO_NULL, &r[1]);
	for (int i = 0; i < 2; i++) {
		DO(Startall, 0, 0, 2, r);
		DO(Pready, 0, 0, 0, r[0]);
		DO(Pready_range, 0, 0, 2, 3, r[0]);
		DO(Pready_list, 0, 0, 2, list, r[0]);
		later("MPI_Psend_init", 5 * 7 * I);
		DO(Parrived, 0, 0, r[1], 0, &flag);
		DO(Waitall, 0, 0, 2, r, MPI_STATUSES_IGNORE);
		late("MPI_Precv_init", 5 * 7 * I);
	}
	DO(Request_free, 0, 0, &r[0]);
	DO(Request_free, 0, 0, &r[1]);
}
#else
static void partitioned(void)
{
}
#endif

static void probes(void)
{
	MPI_Message m;
	MPI_Status st;
	MPI_Request r;
	int flag = 0;

	DO(Isend, 8 * I, 0, a, 8, MPI_INT, right, 9, world, &r);
	DO(Probe, 0, 0, MPI_ANY_SOURCE, 9, world, MPI_STATUS_IGNORE);
	while (!flag)
		DO(Iprobe, 0, 0, left, 9, world, &flag, &st);
	DO(Mprobe, 0, 0, left, 9, world, &m, MPI_STATUS_IGNORE);
	DO(Mrecv, 0, 8 * I, b, 100, MPI_INT, &m, MPI_STATUS_IGNORE);
	DO(Wait, 0, 0, &r, MPI_STATUS_IGNORE);
	DO(Isend, 1 * I, 0, a, 1, MPI_INT, right, 9, world, &r);
	for (flag = 0; !flag;)
		DO(Improbe, 0, 0, left, 9, world, &flag, &m, MPI_STATUS_IGNORE);
	DO(Wait, 0, 0, &r, MPI_STATUS_IGNORE);
	DO(Imrecv, 0, 0, b, 100, MPI_INT, &m, &r);
	DO(Wait, 0, 0, &r, MPI_STATUS_IGNORE);
	late("MPI_Imrecv", 1 * I);
}

static void rooted(void)
{
	int counts[INTS], displs[INTS];
	long all = 0;

	for (int i = 0; i < size; i++) {
		counts[i] = i + 1;
		displs[i] = 8 * i;
		all += i + 1;
	}
	for (int root = 0; root < size; root++) {
		int me = root == rank;

		DO(Bcast, me ? 20 * I : 0, me ? 0 : 20 * I, a, 20, MPI_INT, root, world);
		DO(Gather, 3 * I, me ? 3 * I * size : 0, a, 3, MPI_INT, b, 3, MPI_INT, root, world);
		DO(Gather, me ? 0 : 3 * I, me ? 3 * I * (size - 1) : 0, me ? MPI_IN_PLACE : a, 3,
		   MPI_INT, b, 3, MPI_INT, root, world);
		DO(Gatherv, (rank + 1) * I, me ? all * I : 0, a, rank + 1, MPI_INT, b, counts,
		   displs, MPI_INT, root, world);
		DO(Gatherv, me ? 0 : (rank + 1) * I, me ? (all - rank - 1) * I : 0,
		   me ? MPI_IN_PLACE : a, rank + 1, MPI_INT, b, counts, displs, MPI_INT, root,
		   world);
		DO(Scatter, me ? 4 * I * size : 0, 4 * I, a, 4, MPI_INT, b, 4, MPI_INT, root,
		   world);
		DO(Scatter, me ? 4 * I * (size - 1) : 0, me ? 0 : 4 * I, a, 4, MPI_INT,
		   me ? MPI_IN_PLACE : b, 4, MPI_INT, root, world);
		DO(Scatterv, me ? all * I : 0, (rank + 1) * I, a, counts, displs, MPI_INT, b,
		   rank + 1, MPI_INT, root, world);
		DO(Reduce, 6 * I, me ? 6 * I : 0, a, b, 6, MPI_INT, MPI_SUM, root, world);
		DO(Reduce, 6 * I, me ? 6 * I : 0, me ? MPI_IN_PLACE : a, b, 6, MPI_INT, MPI_SUM,
		   root, world);
	}
}

static void all_to_all(void)
{
	int counts[INTS], displs[INTS], bytes[INTS];
	MPI_Datatype types[INTS];
	MPI_Request r;
	long all = 0;

	for (int i = 0; i < size; i++) {
		counts[i] = rank + i + 1; /* symmetric: i sends to j as many as j receives from i */
		displs[i] = 16 * i;
		bytes[i] = 64 * i;
		types[i] = MPI_INT;
		all += counts[i];
	}
	DO(Allgather, 2 * I, 2 * I * size, a, 2, MPI_INT, b, 2, MPI_INT, world);
	DO(Allgather, 2 * I, 2 * I * size, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_INT,
	   world);
	DO(Alltoall, 3 * I * size, 3 * I * size, a, 3, MPI_INT, b, 3, MPI_INT, world);
	DO(Alltoall, 3 * I * size, 3 * I * size, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 3, MPI_INT,
	   world);
	DO(Alltoallv, all * I, all * I, a, counts, displs, MPI_INT, b, counts, displs, MPI_INT,
	   world);
	DO(Alltoallw, all * I, all * I, a, counts, bytes, types, b, counts, bytes, types, world);
	DO(Allreduce, 5 * I, 5 * I, a, b, 5, MPI_INT, MPI_SUM, world);
	DO(Allreduce, 5 * I, 5 * I, MPI_IN_PLACE, b, 5, MPI_INT, MPI_SUM, world);
	DO(Scan, I, I, a, b, 1, MPI_INT, MPI_SUM, world);
	DO(Exscan, I, I, a, b, 1, MPI_INT, MPI_SUM, world);
	DO(Reduce_scatter_block, 2 * I * size, 2 * I, a, b, 2, MPI_INT, MPI_SUM, world);
	for (int i = 0, sum = 0; i < size; i++) {
		counts[i] = i + 1;
		displs[i] = sum;
		sum += i + 1;
		all = sum;
	}
	DO(Allgatherv, (rank + 1) * I, all * I, a, rank + 1, MPI_INT, b, counts, displs, MPI_INT,
	   world);
	DO(Reduce_scatter, all * I, (rank + 1) * I, a, b, counts, MPI_INT, MPI_SUM, world);
	DO(Iallreduce, 5 * I, 5 * I, a, b, 5, MPI_INT, MPI_SUM, world, &r);
	DO(Wait, 0, 0, &r, MPI_STATUS_IGNORE);
	DO(Ibarrier, 0, 0, world, &r);
	DO(Wait, 0, 0, &r, MPI_STATUS_IGNORE);
	DO(Barrier, 0, 0, world);
}

static void neighbours(void)
{
	int dims[1] = { size }, periods[1] = { 1 };
	MPI_Comm ring;

	DO(Cart_create, 0, 0, world, 1, dims, periods, 0, &ring);
	DO(Neighbor_allgather, 2 * I, 2 * 2 * I, a, 2, MPI_INT, b, 2, MPI_INT, ring);
	DO(Neighbor_alltoall, 2 * 3 * I, 2 * 3 * I, a, 3, MPI_INT, b, 3, MPI_INT, ring);
	DO(Comm_free, 0, 0, &ring);
}

/* Bytes of a type with holes, of a wide type, of a large count. */
static void types(void)
{
	MPI_Datatype vector;
	MPI_Request r;

	MPI_Type_vector(4, 2, 8, MPI_DOUBLE, &vector);
	MPI_Type_commit(&vector);
	DO(Isend, 2 * 4 * 2 * 8, 0, a, 2, vector, right, 10, world, &r);
	DO(Recv, 0, 2 * 4 * 2 * 8, b, 16, MPI_DOUBLE, left, 10, world, MPI_STATUS_IGNORE);
	DO(Wait, 0, 0, &r, MPI_STATUS_IGNORE);
	MPI_Type_free(&vector);
}

/* Ranks of other communicators, also of one made where another was freed; an intercommunicator. */
static void communicators(void)
{
	MPI_Comm half, inter;
	int peer = rank ^ 1;

	DO(Comm_split, 0, 0, world, 0, size - rank, &back);
	DO(Sendrecv, I, I, a, 1, MPI_INT, size - 1 - right, 11, b, 1, MPI_INT, size - 1 - left, 11,
	   back, MPI_STATUS_IGNORE);
	DO(Comm_free, 0, 0, &back);
	DO(Comm_dup, 0, 0, world, &back);
	DO(Sendrecv, I, I, a, 1, MPI_INT, right, 11, b, 1, MPI_INT, left, 11, back,
	   MPI_STATUS_IGNORE);
	DO(Comm_free, 0, 0, &back);
	if (size != 2)
		return;
	DO(Comm_split, 0, 0, world, rank, 0, &half);
	DO(Intercomm_create, 0, 0, half, 0, world, peer, 12, &inter);
	DO(Sendrecv, I, I, a, 1, MPI_INT, 0, 13, b, 1, MPI_INT, 0, 13, inter, MPI_STATUS_IGNORE);
	DO(Bcast, rank ? 0 : 4 * I, rank ? 4 * I : 0, a, 4, MPI_INT, rank ? 0 : MPI_ROOT, inter);
	DO(Allgather, 2 * I, 2 * I, a, 2, MPI_INT, b, 2, MPI_INT, inter);
	DO(Comm_free, 0, 0, &inter);
	DO(Comm_free, 0, 0, &half);
}

static void one_sided(void)
{
	static int memory[64];
	MPI_Win win;

	DO(Win_create, 0, 0, memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, world, &win);
	DO(Win_fence, 0, 0, 0, win);
	DO(Put, 3 * I, 0, a, 3, MPI_INT, right, 0, 3, MPI_INT, win);
	DO(Accumulate, 2 * I, 0, a, 2, MPI_INT, right, 8, 2, MPI_INT, MPI_SUM, win);
	DO(Win_fence, 0, 0, 0, win);
	DO(Get, 0, 4 * I, b, 4, MPI_INT, right, 0, 4, MPI_INT, win);
	DO(Win_fence, 0, 0, 0, win);
	DO(Win_lock, 0, 0, MPI_LOCK_SHARED, right, 0, win);
	DO(Fetch_and_op, I, I, a, b, MPI_INT, right, 20, MPI_SUM, win);
	DO(Compare_and_swap, 2 * I, I, a, b, b + 1, MPI_INT, right, 21, win);
	DO(Get_accumulate, 2 * I, 2 * I, a, 2, MPI_INT, b, 2, MPI_INT, right, 24, 2, MPI_INT,
	   MPI_SUM, win);
	DO(Win_flush, 0, 0, right, win);
	DO(Win_unlock, 0, 0, right, win);
	DO(Win_free, 0, 0, &win);
}

static void files(const char *base)
{
	char name[4096];
	MPI_Status st;
	MPI_File f;

	snprintf(name, sizeof(name), "%s.data", base);
	DO(File_open, 0, 0, world, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	DO(File_write_at, 16 * I, 0, f, rank * 16 * I, a, 16, MPI_INT, MPI_STATUS_IGNORE);
	DO(File_sync, 0, 0, f);
	DO(Barrier, 0, 0, world);
	DO(File_read_at, 0, 16 * I, f, rank * 16 * I, b, 16, MPI_INT, &st);
	/* The file ends after 8 of the requested 16 bytes. */
	DO(File_read_at, 0, 8 * I, f, (size * 16 - 8) * I, b, 16, MPI_INT, MPI_STATUS_IGNORE);
	DO(File_close, 0, 0, &f);
}

static void write_books(const char *base)
{
	char name[4096];
	FILE *f;

	snprintf(name, sizeof(name), "%s.%d", base, rank);
	f = fopen(name, "w");
	if (!f)
		MPI_Abort(world, 4);
	for (int i = 0; book[i].name; i++)
		fprintf(f, "call %d %s count %ld out %ld in %ld\n", rank, book[i].name,
			book[i].count, book[i].out, book[i].in);
	fclose(f);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	world = MPI_COMM_WORLD;
	MPI_Comm_rank(world, &rank);
	MPI_Comm_size(world, &size);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	if (argc != 2 || size > 16 || size % 2)
		MPI_Abort(world, 2);
	for (int round = 0; round < 3; round++) {
		sends_and_receives();
		persistent();
		many_persistent();
		persistent_collectives();
		partitioned();
		probes();
		rooted();
		all_to_all();
		neighbours();
		types();
		communicators();
		one_sided();
		files(argv[1]);
	}
	note("MPI_Finalize", 0, 0);
	write_books(argv[1]);
	if (rank == 0)
		printf("calls: done\n");
	return MPI_Finalize();
}
