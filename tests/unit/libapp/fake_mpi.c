/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/libapp/fake_mpi.h"

#include "common/base/str.h"

#include <check.h>
#include <pthread.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define REQUESTS 8192
#define REQUEST_FIRST 0x98000000u
#define PERSISTENT 0x4000u /* in a request's handle */
#define GROUP_OF 0x88000000u
#define GROUP_REMOTE 0x100u

_Thread_local struct fake_end fake_end;
unsigned fake_asked;
const char *fake_version;
static int other_is_freed; /* FAKE_OTHER: how often */

/* --- what libapp asks */

/* A call of MPI that only returns a value. */
#define ANSWER(name, sig, says)                                       \
	int PMPI_##name sig;                                          \
	EXPORT int PMPI_##name sig                                    \
	{                                                             \
		says;                                                 \
		__atomic_fetch_add(&fake_asked, 1, __ATOMIC_RELAXED); \
		return 0;                                             \
	}

ANSWER(Comm_size, (uintptr_t comm, int *size), *size = FAKE_SIZE)

static int world_rank(unsigned comm, int rank)
{
	if (comm == (FAKE_OTHER & 0xff) && !__atomic_load_n(&other_is_freed, __ATOMIC_RELAXED))
		return FAKE_SIZE - 1 - rank;
	return rank;
}

ANSWER(Comm_rank, (uintptr_t comm, int *rank), *rank = world_rank((unsigned)comm & 0xff, FAKE_RANK))
ANSWER(Comm_test_inter, (uintptr_t comm, int *flag), *flag = comm == FAKE_INTER)
ANSWER(Comm_remote_size, (uintptr_t comm, int *size), *size = FAKE_INTER_PEERS)
ANSWER(Comm_group, (uintptr_t comm, uintptr_t *group), *group = GROUP_OF | (comm & 0xff))
ANSWER(Comm_remote_group, (uintptr_t comm, uintptr_t *group),
       *group = GROUP_OF | GROUP_REMOTE | (comm & 0xff))
ANSWER(Win_get_group, (uintptr_t win, uintptr_t *group), *group = GROUP_OF | (win & 0xff))
ANSWER(Group_size, (uintptr_t group, int *size), *size = FAKE_SIZE)

int PMPI_Group_free(uintptr_t *group);
EXPORT int PMPI_Group_free(uintptr_t *group)
{
	ck_assert_uint_eq(*group & GROUP_OF, GROUP_OF);
	*group = 0;
	return 0;
}

int PMPI_Group_translate_ranks(uintptr_t from, int n, const int *ranks, uintptr_t to, int *out);
EXPORT int PMPI_Group_translate_ranks(uintptr_t from, int n, const int *ranks, uintptr_t to,
				      int *out)
{
	ck_assert_uint_eq(to, GROUP_OF); /* the world's */
	for (int i = 0; i < n; i++)
		out[i] = from & GROUP_REMOTE ? ranks[i] + 1
					     : world_rank((unsigned)from & 0xff, ranks[i]);
	return 0;
}

ANSWER(Type_size, (uintptr_t type, int *size),
       *size = type == FAKE_HUGE ? FAKE_UNDEFINED : (int)(type >> 8 & 0xff))

int PMPI_Type_size_x(uintptr_t type, int64_t *size);
EXPORT int PMPI_Type_size_x(uintptr_t type, int64_t *size)
{
	ck_assert_uint_eq(type, FAKE_HUGE);
	*size = INT64_C(1) << 33;
	return 0;
}

static int topology(uintptr_t comm)
{
	if (comm == FAKE_GRAPH)
		return 1;
	if (comm == FAKE_CART || comm == FAKE_CHAIN)
		return 2;
	return comm == FAKE_DIST || comm == FAKE_HOLES ? 3 : -1;
}

ANSWER(Topo_test, (uintptr_t comm, int *status), *status = topology(comm))
ANSWER(Cartdim_get, (uintptr_t comm, int *ndims), *ndims = 2)
ANSWER(Graph_neighbors_count, (uintptr_t comm, int rank, int *n), *n = FAKE_NEIGHBOURS)

int PMPI_Cart_shift(uintptr_t comm, int dimension, int by, int *source, int *dest);
EXPORT int PMPI_Cart_shift(uintptr_t comm, int dimension, int by, int *source, int *dest)
{
	ck_assert_int_eq(by, 1); /* neighbours */
	*source = comm == FAKE_CHAIN && dimension == 1 ? FAKE_PROC_NULL : 0;
	*dest = 2;
	return 0;
}

int PMPI_Dist_graph_neighbors_count(uintptr_t comm, int *in, int *out, int *weighted);
EXPORT int PMPI_Dist_graph_neighbors_count(uintptr_t comm, int *in, int *out, int *weighted)
{
	*in = comm == FAKE_HOLES ? FAKE_HOLES_SOURCES + 1 : FAKE_DIST_SOURCES;
	*out = comm == FAKE_HOLES ? FAKE_HOLES_BLOCKS : FAKE_DIST_DESTINATIONS;
	*weighted = 0;
	return 0;
}

int PMPI_Dist_graph_neighbors(uintptr_t comm, int in, int *sources, int *win, int out, int *dests,
			      int *wout);
/* six: of MPI. */
EXPORT int PMPI_Dist_graph_neighbors(uintptr_t comm, int in, int *sources, int *win, int out,
				     int *dests, int *wout)
{
	for (int i = 0; i < in; i++)
		sources[i] = comm == FAKE_HOLES && i == 2 ? FAKE_PROC_NULL : 0;
	for (int i = 0; i < out; i++)
		dests[i] = comm == FAKE_HOLES && i == 1 ? FAKE_PROC_NULL : 0;
	return 0;
}

ANSWER(Query_thread, (int *provided), *provided = 3)
ANSWER(Finalized, (int *flag), *flag = 0)

int PMPI_Get_library_version(char *text, int *n);
EXPORT int PMPI_Get_library_version(char *text, int *n)
{
	const char *words = fake_version ? fake_version : "MPICH Version:\t4.0.2\nof a test\n";

	*n = (int)strlen(words);
	memcpy(text, words, (size_t)*n + 1);
	return 0;
}

/* Fortran's constants, as MPICH keeps them: variables that point to them. */
static int f_ignore[5];
EXPORT extern void *MPI_F_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE, *MPIR_F_MPI_IN_PLACE;
void *MPI_F_STATUS_IGNORE = f_ignore, *MPI_F08_STATUSES_IGNORE = f_ignore,
     *MPIR_F_MPI_IN_PLACE = FAKE_IN_PLACE;

/* --- requests: as in MPI, the last freed one is used next, by any thread */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int32_t unused[REQUESTS];
static unsigned nunused, nrequests;

static int32_t request_new(unsigned kind)
{
	int32_t r;

	pthread_mutex_lock(&lock);
	if (!kind && nunused)
		r = unused[--nunused];
	else
		r = (int32_t)(REQUEST_FIRST | kind | nrequests++);
	ck_assert_uint_lt(nrequests, REQUESTS);
	pthread_mutex_unlock(&lock);
	return r;
}

static void request_free(int32_t *r)
{
	pthread_mutex_lock(&lock);
	unused[nunused++] = *r;
	pthread_mutex_unlock(&lock);
	*r = FAKE_REQUEST_NULL;
}

static void status_set(void *status, int at)
{
	const struct fake_status s = { .count_low = fake_end.bytes + at * fake_end.step,
				       .count_high_cancelled = fake_end.cancelled,
				       .source = fake_end.source };

	if (status != FAKE_STATUS_IGNORE)
		memcpy(status, &s, sizeof(s));
}

/* statuses[at] is that of request */
static void request_end(int32_t *request, void *statuses, int at)
{
	if (statuses != FAKE_STATUS_IGNORE)
		status_set((struct fake_status *)statuses + at, at);
	if (*request != FAKE_REQUEST_NULL && !((uint32_t)*request & PERSISTENT))
		request_free(request);
}

/* --- calls */

static int send_now(void)
{
	if (fake_end.inside)
		fake_end.inside();
	return fake_end.result;
}

#define DO_NOTHING(name, sig)           \
	EXPORT int PMPI_##name sig      \
	{                               \
		return fake_end.result; \
	}
FAKE_COLLECTIVES(DO_NOTHING)
DO_NOTHING(Init, (void *argc, void *argv))
DO_NOTHING(Finalize, (void))
DO_NOTHING(Pcontrol, (int level, void *more))
DO_NOTHING(Start, (void *request))
DO_NOTHING(Startall, (int n, void *requests))
DO_NOTHING(Pready, (int part, uintptr_t request))
DO_NOTHING(Pready_range, (int low, int high, uintptr_t request))
DO_NOTHING(Pready_list, (int n, void *parts, uintptr_t request))

EXPORT int PMPI_Init_thread(void *argc, void *argv, int required, void *provided)
{
	*(int *)provided = required;
	return fake_end.result;
}

EXPORT int PMPI_Send(FAKE_SENDING)
{
	return send_now();
}

EXPORT int PMPI_Isend(FAKE_SENDING, void *request)
{
	*(int32_t *)request = request_new(0);
	return send_now();
}

EXPORT int PMPI_Send_init(FAKE_SENDING, void *request)
{
	*(int32_t *)request = request_new(PERSISTENT);
	return fake_end.result;
}

EXPORT int PMPI_Recv(FAKE_RECEIVING, void *status)
{
	status_set(status, 0);
	return fake_end.result;
}

EXPORT int PMPI_Irecv(FAKE_RECEIVING, void *request)
{
	*(int32_t *)request = request_new(0);
	return fake_end.result;
}

EXPORT int PMPI_Recv_init(FAKE_RECEIVING, void *request)
{
	*(int32_t *)request = request_new(PERSISTENT);
	return fake_end.result;
}

#define MAKE_PERSISTENT(name, sig)                             \
	EXPORT int name sig                                    \
	{                                                      \
		*(int32_t *)request = request_new(PERSISTENT); \
		return fake_end.result;                        \
	}
MAKE_PERSISTENT(PMPI_Psend_init, (void *buf, int parts, int64_t n, uintptr_t type, int dest,
				  int tag, uintptr_t comm, uintptr_t hints, void *request))
MAKE_PERSISTENT(PMPI_Precv_init, (void *buf, int parts, int64_t n, uintptr_t type, int source,
				  int tag, uintptr_t comm, uintptr_t hints, void *request))
MAKE_PERSISTENT(PMPI_Allreduce_init,
		(FAKE_REDUCING, uintptr_t comm, uintptr_t hints, void *request))
MAKE_PERSISTENT(PMPI_Barrier_init, (uintptr_t comm, uintptr_t hints, void *request))
MAKE_PERSISTENT(PMPIX_Neighbor_alltoall_init,
		(FAKE_PAIR, uintptr_t comm, uintptr_t hints, void *request))

/* six: of MPI. */
EXPORT int PMPI_Sendrecv(void *out, int nout, uintptr_t tout, int dest, int outtag, void *in,
			 int nin, uintptr_t tin, int source, int intag, uintptr_t comm,
			 void *status)
{
	status_set(status, 0);
	return send_now();
}

EXPORT int PMPI_Isendrecv(FAKE_BOTH, void *request)
{
	*(int32_t *)request = request_new(0);
	return send_now();
}

EXPORT int PMPI_Sendrecv_replace(FAKE_REPLACE, void *status)
{
	status_set(status, 0);
	return send_now();
}

EXPORT int PMPI_Isendrecv_replace(FAKE_REPLACE, void *request)
{
	*(int32_t *)request = request_new(0);
	return send_now();
}

EXPORT int PMPI_Send_c(FAKE_SENDING_C)
{
	return send_now();
}

EXPORT int PMPI_Irecv_c(FAKE_SENDING_C, void *request)
{
	*(int32_t *)request = request_new(0);
	return fake_end.result;
}

MAKE_PERSISTENT(PMPI_Send_init_c, (FAKE_SENDING_C, void *request))

EXPORT int PMPI_Allgatherv_c(FAKE_GATHER_C, uintptr_t comm)
{
	return fake_end.result;
}

EXPORT int PMPI_Wait(void *request, void *status)
{
	request_end(request, status, 0);
	return fake_end.result;
}

EXPORT int PMPI_Waitall(int n, void *requests, void *statuses)
{
	for (int i = 0; i < n; i++)
		request_end((int32_t *)requests + i, statuses, i);
	return fake_end.result;
}

EXPORT int PMPI_Waitany(int n, void *requests, void *index, void *status)
{
	*(int *)index = fake_end.first;
	request_end((int32_t *)requests + fake_end.first, status, 0);
	return fake_end.result;
}

EXPORT int PMPI_Waitsome(int n, void *requests, void *outcount, void *indices, void *statuses)
{
	*(int *)outcount = fake_end.count;
	for (int i = 0; i < fake_end.count; i++) {
		((int *)indices)[i] = fake_end.first + i;
		request_end((int32_t *)requests + fake_end.first + i, statuses, i);
	}
	return fake_end.result;
}

EXPORT int PMPI_Test(void *request, void *flag, void *status)
{
	*(int *)flag = fake_end.count > 0;
	if (fake_end.count)
		request_end(request, status, 0);
	return fake_end.result;
}

EXPORT int PMPI_Testany(int n, void *requests, void *index, void *flag, void *status)
{
	*(int *)flag = fake_end.count > 0;
	return fake_end.count ? PMPI_Waitany(n, requests, index, status) : fake_end.result;
}

EXPORT int PMPI_Testall(int n, void *requests, void *flag, void *statuses)
{
	*(int *)flag = fake_end.count > 0;
	return fake_end.count ? PMPI_Waitall(n, requests, statuses) : fake_end.result;
}

EXPORT int PMPI_Testsome(int n, void *requests, void *outcount, void *indices, void *statuses)
{
	return PMPI_Waitsome(n, requests, outcount, indices, statuses);
}

EXPORT int PMPI_Request_free(void *request)
{
	*(int32_t *)request = FAKE_REQUEST_NULL;
	return fake_end.result;
}

EXPORT int PMPI_Comm_free(void *comm)
{
	__atomic_fetch_add(&other_is_freed, 1, __ATOMIC_RELAXED);
	*(int32_t *)comm = (int32_t)FAKE_COMM_NULL;
	return fake_end.result;
}

/* six: of MPI. */
EXPORT int PMPI_File_read_at(uintptr_t file, int64_t at, void *buf, int n, uintptr_t type,
			     void *status)
{
	status_set(status, 0);
	return fake_end.result;
}

/* six: of MPI. */
EXPORT int PMPI_File_write_at(uintptr_t file, int64_t at, void *buf, int n, uintptr_t type,
			      void *status)
{
	status_set(status, 0);
	return fake_end.result;
}

/* --- Fortran: everything by address; as in MPICH, handles are the numbers of C */

static int int_of(const void *p)
{
	return *(const int *)p;
}

static uintptr_t handle_of(const void *p)
{
	return *(const uint32_t *)p;
}

static void *f_status(void *p)
{
	return p == f_ignore ? FAKE_STATUS_IGNORE : p;
}

void pmpi_send_(void *buf, void *n, void *type, void *dest, void *tag, void *comm, void *ierr);
/* six: of MPI. */
EXPORT void pmpi_send_(void *buf, void *n, void *type, void *dest, void *tag, void *comm,
		       void *ierr)
{
	/* Through C's entry, as Open MPI does: that call is inside the other and does not count. */
	*(int *)ierr = MPI_Send(buf, int_of(n), handle_of(type), int_of(dest), int_of(tag),
				handle_of(comm));
}

void pmpi_barrier_(void *comm, void *ierr);
EXPORT void pmpi_barrier_(void *comm, void *ierr)
{
	*(int *)ierr = MPI_Barrier(handle_of(comm)); /* through C's entry, too */
}

void pmpi_recv_(void *buf, void *n, void *type, void *source, void *tag, void *comm, void *status,
		void *ierr);
/* six: of MPI. */
EXPORT void pmpi_recv_(void *buf, void *n, void *type, void *source, void *tag, void *comm,
		       void *status, void *ierr)
{
	*(int *)ierr = PMPI_Recv(buf, int_of(n), handle_of(type), int_of(source), int_of(tag),
				 handle_of(comm), f_status(status));
}

void pmpi_irecv_f08_(void *buf, void *n, void *type, void *source, void *tag, void *comm,
		     void *request, void *ierr);
/* six: of MPI. */
EXPORT void pmpi_irecv_f08_(void *buf, void *n, void *type, void *source, void *tag, void *comm,
			    void *request, void *ierr)
{
	*(int *)ierr = PMPI_Irecv(buf, int_of(n), handle_of(type), int_of(source), int_of(tag),
				  handle_of(comm), request);
}

void pmpi_waitsome_f08_(void *n, void *requests, void *outcount, void *indices, void *statuses,
			void *ierr);
/* six: of MPI. */
EXPORT void pmpi_waitsome_f08_(void *n, void *requests, void *outcount, void *indices,
			       void *statuses, void *ierr)
{
	*(int *)ierr = PMPI_Waitsome(int_of(n), requests, outcount, indices, f_status(statuses));
	for (int i = 0; i < int_of(outcount); i++)
		((int *)indices)[i] += fake_end.fortran_base;
}

void pmpi_bcast_f08ts_(void *buf, void *n, void *type, void *root, void *comm, void *ierr);
/* six: of MPI. */
EXPORT void pmpi_bcast_f08ts_(void *buf, void *n, void *type, void *root, void *comm, void *ierr)
{
	*(int *)ierr = fake_end.result;
}

void pmpir_bcast_f08ts_large_(FAKE_F_BCAST);
EXPORT void pmpir_bcast_f08ts_large_(FAKE_F_BCAST)
{
	*(int *)ierr = fake_end.result;
}

void pmpi_psend_init_(void *buf, void *parts, void *n, void *type, void *dest, void *tag,
		      void *comm, void *hints, void *request, void *ierr);
/* six: of MPI. */
EXPORT void pmpi_psend_init_(void *buf, void *parts, void *n, void *type, void *dest, void *tag,
			     void *comm, void *hints, void *request, void *ierr)
{
	*(int *)ierr = PMPI_Psend_init(buf, int_of(parts), *(const int64_t *)n, handle_of(type),
				       int_of(dest), int_of(tag), handle_of(comm), handle_of(hints),
				       request);
}

void pmpi_pready_(void *part, void *request, void *ierr);
EXPORT void pmpi_pready_(void *part, void *request, void *ierr)
{
	*(int *)ierr = fake_end.result;
}

void pmpi_init_(void *ierr);
EXPORT void pmpi_init_(void *ierr)
{
	*(int *)ierr = fake_end.result;
}

void pmpi_init_f08_(void *ierr);
EXPORT void pmpi_init_f08_(void *ierr)
{
	pmpi_init_(ierr);
}

void pmpi_init_thread_(void *required, void *provided, void *ierr);
EXPORT void pmpi_init_thread_(void *required, void *provided, void *ierr)
{
	*(int *)ierr = PMPI_Init_thread(NULL, NULL, int_of(required), provided);
}

void pmpi_pcontrol_(void *level, void *more);
EXPORT void pmpi_pcontrol_(void *level, void *more)
{
}
