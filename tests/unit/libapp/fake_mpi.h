/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MPI of one process, with MPICH's handles and statuses: a test takes all ways through libapp
 * without a launcher. It moves nothing: sends succeed, receives end with the status of fake_end.
 */
#ifndef TESTS_UNIT_LIBAPP_FAKE_MPI_H
#define TESTS_UNIT_LIBAPP_FAKE_MPI_H

#include <stdbool.h>
#include <stdint.h>

enum {
	FAKE_RANK = 1, /* in FAKE_WORLD, whose size is */
	FAKE_SIZE = 4,
	FAKE_INTER_PEERS = 3, /* size of the other side of FAKE_INTER: world ranks 1, 2, 3 */
	FAKE_NEIGHBOURS = 3, /* of FAKE_GRAPH; FAKE_CART has 2 dimensions, so 4 */
	/* of FAKE_CHAIN, also of 2 dimensions: the lower end of the second one is none */
	FAKE_CHAIN_NEIGHBOURS = 3,
	FAKE_DIST_SOURCES = 2,
	FAKE_DIST_DESTINATIONS = 5,
	/* of FAKE_HOLES: of 4 sources the third is none, of 300 destinations the second */
	FAKE_HOLES_SOURCES = 3,
	FAKE_HOLES_BLOCKS = 300,
};

/* Handles. FAKE_OTHER has the ranks of the world in reverse order, in order once it was freed. */
#define FAKE_WORLD ((uintptr_t)0x44000000)
#define FAKE_OTHER ((uintptr_t)0x84000001)
#define FAKE_INTER ((uintptr_t)0x84000002)
#define FAKE_CART ((uintptr_t)0x84000003)
#define FAKE_GRAPH ((uintptr_t)0x84000004)
#define FAKE_DIST ((uintptr_t)0x84000005)
#define FAKE_CHAIN ((uintptr_t)0x84000006)
#define FAKE_HOLES ((uintptr_t)0x84000007)
#define FAKE_WIN ((uintptr_t)0xa0000001) /* ranks as in FAKE_OTHER */
#define FAKE_COMM_NULL ((uintptr_t)0x04000000)
#define FAKE_INT ((uintptr_t)0x4c000405)
#define FAKE_DOUBLE ((uintptr_t)0x4c00080b)
#define FAKE_HUGE ((uintptr_t)0xcc000000) /* of more bytes than an int holds: 2^33 */
#define FAKE_SUM ((uintptr_t)0x58000003)
#define FAKE_REQUEST_NULL ((int32_t)0x2c000000)

enum { FAKE_ANY_SOURCE = -2, FAKE_PROC_NULL = -1, FAKE_ROOT = -3, FAKE_UNDEFINED = -32766 };
#define FAKE_IN_PLACE ((void *)(uintptr_t)-1)
#define FAKE_STATUS_IGNORE ((void *)(uintptr_t)1)

struct fake_status {
	int32_t count_low, count_high_cancelled, source, tag, error;
};

/* The results of the calls of this thread. */
struct fake_end {
	int result;
	int source;
	int bytes; /* that arrive, in receives and file reads */
	int step; /* as many more with each further status of a call */
	bool cancelled;
	int first, count; /* Waitany, Waitsome: which requests end; count 0: none has, yet */
	int fortran_base; /* first number of the mpi_f08 indices */
	void (*inside)(void); /* unless NULL, called within each send */
};
extern _Thread_local struct fake_end fake_end;
extern unsigned fake_asked; /* groups, ranks and sizes that libapp requested */
extern const char *fake_version; /* of the library; NULL: of an MPICH */

#define FAKE_SENDING_C void *buf, int64_t n, uintptr_t type, int dest, int tag, uintptr_t comm
#define FAKE_BOTH                                                                     \
	void *out, int nout, uintptr_t tout, int dest, int outtag, void *in, int nin, \
		uintptr_t tin, int source, int intag, uintptr_t comm
#define FAKE_REPLACE                                                                   \
	void *buf, int n, uintptr_t type, int dest, int outtag, int source, int intag, \
		uintptr_t comm
#define FAKE_GATHER_C \
	void *out, int64_t nout, uintptr_t tout, void *in, void *nin, void *at, uintptr_t tin
#define FAKE_F_BCAST void *buf, void *n, void *type, void *root, void *comm, void *ierr
#define FAKE_SENDING void *buf, int n, uintptr_t type, int dest, int tag, uintptr_t comm
#define FAKE_RECEIVING void *buf, int n, uintptr_t type, int source, int tag, uintptr_t comm
#define FAKE_PAIR void *out, int nout, uintptr_t tout, void *in, int nin, uintptr_t tin
#define FAKE_OUT_V void *out, void *nout, void *dout, uintptr_t tout
#define FAKE_IN_V void *in, void *nin, void *din, uintptr_t tin
#define FAKE_OUT_W void *out, void *nout, void *dout, void *tout
#define FAKE_IN_W void *in, void *nin, void *din, void *tin
#define FAKE_REDUCING void *out, void *in, int n, uintptr_t type, uintptr_t op
#define FAKE_ORIGIN void *buf, int n, uintptr_t type
#define FAKE_TARGET int target, intptr_t at, int m, uintptr_t mtype

#define FAKE_COLLECTIVES(X)                                                                      \
	X(Bcast, (void *buf, int n, uintptr_t type, int root, uintptr_t comm))                   \
	X(Gather, (FAKE_PAIR, int root, uintptr_t comm))                                         \
	X(Gatherv, (void *out, int nout, uintptr_t tout, FAKE_IN_V, int root, uintptr_t comm))   \
	X(Scatter, (FAKE_PAIR, int root, uintptr_t comm))                                        \
	X(Scatterv, (FAKE_OUT_V, void *in, int nin, uintptr_t tin, int root, uintptr_t comm))    \
	X(Allgather, (FAKE_PAIR, uintptr_t comm))                                                \
	X(Allgatherv, (void *out, int nout, uintptr_t tout, FAKE_IN_V, uintptr_t comm))          \
	X(Alltoall, (FAKE_PAIR, uintptr_t comm))                                                 \
	X(Alltoallv, (FAKE_OUT_V, FAKE_IN_V, uintptr_t comm))                                    \
	X(Alltoallw, (FAKE_OUT_W, FAKE_IN_W, uintptr_t comm))                                    \
	X(Reduce, (FAKE_REDUCING, int root, uintptr_t comm))                                     \
	X(Allreduce, (FAKE_REDUCING, uintptr_t comm))                                            \
	X(Reduce_scatter,                                                                        \
	  (void *out, void *in, void *nin, uintptr_t type, uintptr_t op, uintptr_t comm))        \
	X(Reduce_scatter_block, (FAKE_REDUCING, uintptr_t comm))                                 \
	X(Neighbor_allgather, (FAKE_PAIR, uintptr_t comm))                                       \
	X(Neighbor_allgatherv, (void *out, int nout, uintptr_t tout, FAKE_IN_V, uintptr_t comm)) \
	X(Neighbor_alltoall, (FAKE_PAIR, uintptr_t comm))                                        \
	X(Neighbor_alltoallv, (FAKE_OUT_V, FAKE_IN_V, uintptr_t comm))                           \
	X(Neighbor_alltoallw, (FAKE_OUT_W, FAKE_IN_W, uintptr_t comm))                           \
	X(Barrier, (uintptr_t comm))                                                             \
	X(Put, (FAKE_ORIGIN, FAKE_TARGET, uintptr_t win))                                        \
	X(Get, (FAKE_ORIGIN, FAKE_TARGET, uintptr_t win))                                        \
	X(Get_accumulate, (FAKE_ORIGIN, void *res, int k, uintptr_t ktype, FAKE_TARGET,          \
			   uintptr_t op, uintptr_t win))                                         \
	X(Fetch_and_op, (void *buf, void *res, uintptr_t type, int target, intptr_t at,          \
			 uintptr_t op, uintptr_t win))                                           \
	X(Compare_and_swap, (void *buf, void *cmp, void *res, uintptr_t type, int target,        \
			     intptr_t at, uintptr_t win))

#define FAKE_CALLS(X)                                                                              \
	FAKE_COLLECTIVES(X)                                                                        \
	X(Init, (void *argc, void *argv))                                                          \
	X(Init_thread, (void *argc, void *argv, int required, void *provided))                     \
	X(Finalize, (void))                                                                        \
	X(Pcontrol, (int level, void *more))                                                       \
	X(Send, (FAKE_SENDING))                                                                    \
	X(Isend, (FAKE_SENDING, void *request))                                                    \
	X(Send_init, (FAKE_SENDING, void *request))                                                \
	X(Recv, (FAKE_RECEIVING, void *status))                                                    \
	X(Irecv, (FAKE_RECEIVING, void *request))                                                  \
	X(Recv_init, (FAKE_RECEIVING, void *request))                                              \
	X(Sendrecv, (void *out, int nout, uintptr_t tout, int dest, int outtag, void *in, int nin, \
		     uintptr_t tin, int source, int intag, uintptr_t comm, void *status))          \
	X(Isendrecv, (FAKE_BOTH, void *request))                                                   \
	X(Sendrecv_replace, (FAKE_REPLACE, void *status))                                          \
	X(Isendrecv_replace, (FAKE_REPLACE, void *request))                                        \
	X(Send_c, (FAKE_SENDING_C))                                                                \
	X(Send_init_c, (FAKE_SENDING_C, void *request))                                            \
	X(Irecv_c, (FAKE_SENDING_C, void *request))                                                \
	X(Allgatherv_c, (FAKE_GATHER_C, uintptr_t comm))                                           \
	X(Wait, (void *request, void *status))                                                     \
	X(Waitany, (int n, void *requests, void *index, void *status))                             \
	X(Waitall, (int n, void *requests, void *statuses))                                        \
	X(Waitsome, (int n, void *requests, void *outcount, void *indices, void *statuses))        \
	X(Test, (void *request, void *flag, void *status))                                         \
	X(Testany, (int n, void *requests, void *index, void *flag, void *status))                 \
	X(Testall, (int n, void *requests, void *flag, void *statuses))                            \
	X(Testsome, (int n, void *requests, void *outcount, void *indices, void *statuses))        \
	X(Psend_init, (void *buf, int parts, int64_t n, uintptr_t type, int dest, int tag,         \
		       uintptr_t comm, uintptr_t hints, void *request))                            \
	X(Precv_init, (void *buf, int parts, int64_t n, uintptr_t type, int source, int tag,       \
		       uintptr_t comm, uintptr_t hints, void *request))                            \
	X(Pready, (int part, uintptr_t request))                                                   \
	X(Pready_range, (int low, int high, uintptr_t request))                                    \
	X(Pready_list, (int n, void *parts, uintptr_t request))                                    \
	X(Allreduce_init, (FAKE_REDUCING, uintptr_t comm, uintptr_t hints, void *request))         \
	X(Barrier_init, (uintptr_t comm, uintptr_t hints, void *request))                          \
	X(Start, (void *request))                                                                  \
	X(Startall, (int n, void *requests))                                                       \
	X(Request_free, (void *request))                                                           \
	X(Comm_free, (void *comm))                                                                 \
	X(File_read_at,                                                                            \
	  (uintptr_t file, int64_t at, void *buf, int n, uintptr_t type, void *status))            \
	X(File_write_at,                                                                           \
	  (uintptr_t file, int64_t at, void *buf, int n, uintptr_t type, void *status))

/* MPI_x is libapp's, PMPI_x the fake's. */
#define FAKE_DECLARE(name, sig) \
	int MPI_##name sig;     \
	int PMPI_##name sig;
FAKE_CALLS(FAKE_DECLARE)
#undef FAKE_DECLARE

int MPIX_Neighbor_alltoall_init(FAKE_PAIR, uintptr_t comm, uintptr_t hints, void *request);
int PMPIX_Neighbor_alltoall_init(FAKE_PAIR, uintptr_t comm, uintptr_t hints, void *request);

/* Fortran entry points of some calls. */
void mpi_psend_init_(void *buf, void *parts, void *n, void *type, void *dest, void *tag, void *comm,
		     void *hints, void *request, void *ierr);
void mpi_pready_(void *part, void *request, void *ierr);
void mpi_barrier_(void *comm, void *ierr);
void mpi_send_(void *buf, void *n, void *type, void *dest, void *tag, void *comm, void *ierr);
void mpi_recv_(void *buf, void *n, void *type, void *source, void *tag, void *comm, void *status,
	       void *ierr);
void mpi_irecv_f08_(void *buf, void *n, void *type, void *source, void *tag, void *comm,
		    void *request, void *ierr);
void mpi_waitsome_f08_(void *n, void *requests, void *outcount, void *indices, void *statuses,
		       void *ierr);
void mpi_bcast_f08ts_large_(FAKE_F_BCAST);
void mpi_bcast_f08ts_(void *buf, void *n, void *type, void *root, void *comm, void *ierr);
void mpi_pcontrol_(void *level, void *more);

#endif
