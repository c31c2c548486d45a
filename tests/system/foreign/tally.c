/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An independent count: a PMPI layer of its own around every function of an MPI's mpi.h. tally.awk
 * makes it from that header and from nothing of Omig. At MPI_Finalize it writes "call RANK NAME
 * count N out B in B" to $TALLY.<rank>. Bytes are those of common/ring/calls.def, computed by means
 * of MPI; of receives by their status.
 *
 * Only one thread of a rank may call MPI. A function without a rule below moves nothing here.
 * (Intercommunicators have no right rule, nor has mpi_f08.) Then the counts differ, and the test
 * fails.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_MAX 1024
#define REQUESTS_MAX 65536 /* that are open */

enum lang { IN_C, IN_FORTRAN };

struct call {
	int id;
	enum lang lang;
	int is_outer; /* not made by MPI itself */
	int requests; /* number of requests of a completing call */
	long *key;
	void *status, *own_status;
};

static struct {
	long count, out, in;
} book[CALLS_MAX];

static struct request {
	long key;
	int id; /* of the call that made it */
	enum { RECEIVE, SENDS, RECEIVES } kind; /* the latter two: persistent */
	long bytes; /* of one of SENDS */
} request[REQUESTS_MAX];
static int requests;

static int depth;

static const char *name_of(int id);

static void fail(const char *why)
{
	fprintf(stderr, "tally: %s\n", why);
	abort();
}

static int int_of(const void *fortran)
{
	return *(const MPI_Fint *)fortran;
}

/* --- buffers and sizes */

#ifdef OPEN_MPI
extern int mpi_fortran_in_place_ __attribute__((weak));
#define FORTRAN_IN_PLACE ((void *)&mpi_fortran_in_place_)
#else
extern void *MPIR_F_MPI_IN_PLACE __attribute__((weak));
#define FORTRAN_IN_PLACE (&MPIR_F_MPI_IN_PLACE ? MPIR_F_MPI_IN_PLACE : NULL)
#endif

static void *buffer_of(void *fortran)
{
	return fortran && fortran == FORTRAN_IN_PLACE ? MPI_IN_PLACE : fortran;
}

static long size(long n, MPI_Datatype type)
{
	int bytes = 0;

	if (n)
		PMPI_Type_size(type, &bytes);
	return n * bytes;
}

static int rank_in(MPI_Comm comm)
{
	int rank = -1;

	PMPI_Comm_rank(comm, &rank);
	return rank;
}

static int ranks_of(MPI_Comm comm)
{
	int n = 0;

	PMPI_Comm_size(comm, &n);
	return n;
}

static long sum(const int *counts, MPI_Comm comm)
{
	long n = 0;

	for (int i = 0; i < ranks_of(comm); i++)
		n += counts[i];
	return n;
}

/* --- requests and statuses */

static long key_of(enum lang lang, const void *handles, int i)
{
	if (lang == IN_FORTRAN)
		return 2 * (long)((const MPI_Fint *)handles)[i] + 1;
	return 2 * (long)((const MPI_Request *)handles)[i];
}

static void call_requests(struct call *t, const void *handles, int n)
{
	if (!t->is_outer)
		return;
	t->requests = n;
	t->key = calloc((size_t)n + 1, sizeof(*t->key));
	for (int i = 0; t->key && i < n; i++)
		t->key[i] = key_of(t->lang, handles, i);
}

/* The program's status; a separate one if the program ignores it. */
static void *call_status(struct call *t, void *status, int n)
{
	const void *f_one = MPI_F_STATUS_IGNORE, *f_all = MPI_F_STATUSES_IGNORE;

	t->status = status;
	if (!t->is_outer)
		return status;
	if (t->lang == IN_C ? status == MPI_STATUS_IGNORE || status == MPI_STATUSES_IGNORE
			    : status == f_one || status == f_all)
		t->status = t->own_status = calloc((size_t)n + 1, sizeof(MPI_Status));
	return t->status;
}

static long arrived(const struct call *t, int i)
{
	MPI_Status s;
	MPI_Count n = 0;
	int is_cancelled = 0;

	if (t->lang == IN_C)
		s = ((MPI_Status *)t->status)[i];
	else
		PMPI_Status_f2c((MPI_Fint *)t->status + (size_t)i * (sizeof(s) / sizeof(MPI_Fint)),
				&s);
	PMPI_Test_cancelled(&s, &is_cancelled);
	PMPI_Get_elements_x(&s, MPI_BYTE, &n);
	return is_cancelled || n == MPI_UNDEFINED ? 0 : n;
}

static void is_open(const struct call *t, const void *handle, int kind, long bytes)
{
	if (requests == REQUESTS_MAX)
		fail("too many open requests");
	request[requests++] = (struct request){ key_of(t->lang, handle, 0), t->id, kind, bytes };
}

/* Request i of the call; the newest, should a handle have come again. */
static struct request *request_of(const struct call *t, int i)
{
	for (int k = requests; k-- > 0;)
		if (request[k].key == t->key[i])
			return &request[k];
	return NULL;
}

/* Its status is at `at`; -1: it is freed. */
static void ended(const struct call *t, int i, int at)
{
	struct request *r = request_of(t, i);

	if (!r)
		return;
	if (at >= 0 && r->kind != SENDS)
		book[r->id].in += arrived(t, at);
	if (at < 0 || r->kind == RECEIVE)
		*r = request[--requests];
}

static void started(const struct call *t)
{
	for (int i = 0; i < t->requests; i++) {
		const struct request *r = request_of(t, i);

		if (r && r->kind == SENDS)
			book[r->id].out += r->bytes;
	}
}

static void ended_all(const struct call *t)
{
	for (int i = 0; i < t->requests; i++)
		ended(t, i, i);
}

static void ended_some(const struct call *t, int n, const int *index)
{
	for (int i = 0; n != MPI_UNDEFINED && i < n; i++)
		if (index[i] != MPI_UNDEFINED)
			ended(t, index[i] - (t->lang == IN_FORTRAN), i);
}

/* --- what a call moves: p1, p2 ... are its arguments as in C */

#define OUT(bytes) (book[t.id].out += (bytes))
#define IN(bytes) (book[t.id].in += (bytes))
#define TO(rank, bytes) OUT((rank) == MPI_PROC_NULL ? 0 : (bytes))
#define SEND TO(p4, size(p2, p3));
#define AFTER_Send SEND
#define AFTER_Bsend SEND
#define AFTER_Ssend SEND
#define AFTER_Rsend SEND
#define AFTER_Isend SEND
#define AFTER_Ibsend SEND
#define AFTER_Issend SEND
#define AFTER_Irsend SEND
#define AFTER_Recv IN(arrived(&t, 0));
#define AFTER_Mrecv IN(arrived(&t, 0));
#define AFTER_Irecv is_open(&t, p7, RECEIVE, 0);
#define AFTER_Imrecv is_open(&t, p5, RECEIVE, 0);
#define AFTER_Recv_init is_open(&t, p7, RECEIVES, 0);
#define SEND_INIT is_open(&t, p7, SENDS, p4 == MPI_PROC_NULL ? 0 : size(p2, p3));
#define AFTER_Send_init SEND_INIT
#define AFTER_Bsend_init SEND_INIT
#define AFTER_Ssend_init SEND_INIT
#define AFTER_Rsend_init SEND_INIT
#define AFTER_Start started(&t);
#define AFTER_Startall started(&t);
#define AFTER_Sendrecv        \
	TO(p4, size(p2, p3)); \
	IN(arrived(&t, 0));
#define AFTER_Sendrecv_replace \
	TO(p4, size(p2, p3));  \
	IN(arrived(&t, 0));

#define AFTER_Wait ended(&t, 0, 0);
#define AFTER_Test      \
	if (*(int *)p2) \
		ended(&t, 0, 0);
#define AFTER_Waitall ended_all(&t);
#define AFTER_Testall   \
	if (*(int *)p3) \
		ended_all(&t);
#define AFTER_Waitany ended_some(&t, 1, p3);
#define AFTER_Testany   \
	if (*(int *)p4) \
		ended_some(&t, 1, p3);
#define AFTER_Waitsome ended_some(&t, *(int *)p3, p4);
#define AFTER_Testsome ended_some(&t, *(int *)p3, p4);
#define AFTER_Request_free ended(&t, 0, -1);

#define AFTER_Bcast                \
	if (rank_in(p5) == p4)     \
		OUT(size(p2, p3)); \
	else                       \
		IN(size(p2, p3));
#define AFTER_Reduce           \
	OUT(size(p3, p4));     \
	if (rank_in(p7) == p6) \
		IN(size(p3, p4));
#define BOTH               \
	OUT(size(p3, p4)); \
	IN(size(p3, p4));
#define AFTER_Allreduce BOTH
#define AFTER_Scan BOTH
#define AFTER_Exscan BOTH
#define AFTER_Reduce_scatter        \
	OUT(size(sum(p3, p6), p4)); \
	IN(size(((int *)p3)[rank_in(p6)], p4));
#define AFTER_Reduce_scatter_block              \
	OUT(size(ranks_of(p6) * (long)p3, p4)); \
	IN(size(p3, p4));
#define AFTER_Gather               \
	if (p1 != MPI_IN_PLACE)    \
		OUT(size(p2, p3)); \
	if (rank_in(p8) == p7)     \
		IN((ranks_of(p8) - (p1 == MPI_IN_PLACE)) * size(p5, p6));
#define AFTER_Gatherv              \
	if (p1 != MPI_IN_PLACE)    \
		OUT(size(p2, p3)); \
	if (rank_in(p9) == p8)     \
		IN(size(sum(p5, p9) - (p1 == MPI_IN_PLACE ? ((int *)p5)[p8] : 0), p7));
#define AFTER_Scatter             \
	if (p4 != MPI_IN_PLACE)   \
		IN(size(p5, p6)); \
	if (rank_in(p8) == p7)    \
		OUT((ranks_of(p8) - (p4 == MPI_IN_PLACE)) * size(p2, p3));
#define AFTER_Scatterv            \
	if (p5 != MPI_IN_PLACE)   \
		IN(size(p6, p7)); \
	if (rank_in(p9) == p8)    \
		OUT(size(sum(p2, p9) - (p5 == MPI_IN_PLACE ? ((int *)p2)[p8] : 0), p4));
#define AFTER_Allgather                                        \
	OUT(p1 == MPI_IN_PLACE ? size(p5, p6) : size(p2, p3)); \
	IN(ranks_of(p7) * size(p5, p6));
#define AFTER_Allgatherv                                                             \
	OUT(p1 == MPI_IN_PLACE ? size(((int *)p5)[rank_in(p8)], p7) : size(p2, p3)); \
	IN(size(sum(p5, p8), p7));
#define AFTER_Alltoall                                                          \
	OUT(ranks_of(p7) * (p1 == MPI_IN_PLACE ? size(p5, p6) : size(p2, p3))); \
	IN(ranks_of(p7) * size(p5, p6));
#define AFTER_Alltoallv                                                          \
	OUT(p1 == MPI_IN_PLACE ? size(sum(p6, p9), p8) : size(sum(p2, p9), p4)); \
	IN(size(sum(p6, p9), p8));

#define AFTER_Put TO(p4, size(p2, p3));
#define AFTER_Accumulate TO(p4, size(p2, p3));
#define AFTER_Get IN(p4 == MPI_PROC_NULL ? 0 : size(p2, p3));

#define AFTER_File_read_at IN(arrived(&t, 0));
#define AFTER_File_read_at_all IN(arrived(&t, 0));
#define AFTER_File_write_at OUT(arrived(&t, 0));
#define AFTER_File_write_at_all OUT(arrived(&t, 0));

/* --- a call */

/* The call runs functions of the program, and MPI calls of these count as the program's. */
static int is_transparent(int id)
{
	return strstr(name_of(id), "attr") != NULL;
}

static void write_books(void)
{
	const char *base = getenv("TALLY");
	char path[4096];
	FILE *f;
	int rank = rank_in(MPI_COMM_WORLD);

	if (!base || snprintf(path, sizeof(path), "%s.%d", base, rank) >= (int)sizeof(path))
		fail("TALLY names no file");
	f = fopen(path, "w");
	if (!f)
		fail("the file cannot be written");
	for (int i = 0; i < CALLS_MAX; i++)
		if (book[i].count)
			fprintf(f, "call %d %s count %ld out %ld in %ld\n", rank, name_of(i),
				book[i].count, book[i].out, book[i].in);
	if (fclose(f) != 0)
		fail("the file cannot be written");
}

static struct call call_open(int id, enum lang lang)
{
	struct call t = { .id = id, .lang = lang, .is_outer = !depth };

	depth += !is_transparent(id);
	book[id].count += t.is_outer;
	if (t.is_outer && !strcmp(name_of(id), "MPI_Finalize"))
		write_books();
	return t;
}

static int call_moves(const struct call *t, int rc)
{
	return t->is_outer && rc == MPI_SUCCESS;
}

static void call_close(struct call *t)
{
	free(t->own_status);
	free(t->key);
	depth -= !is_transparent(t->id);
}

#include "tally_calls.h"

_Static_assert(sizeof(names) / sizeof(names[0]) <= CALLS_MAX, "more functions than that");

static const char *name_of(int id)
{
	return id < (int)(sizeof(names) / sizeof(names[0])) ? names[id] : "?";
}
