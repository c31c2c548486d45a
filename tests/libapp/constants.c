/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flavour's table against the mpi.h that this file is compiled with, and against the library.
 */
#include "common/ring/calls.h"
#include "libapp/hot/flavour.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;

#define SAME(what, ours, theirs)                                                \
	do {                                                                    \
		long long a_ = (long long)(ours), b_ = (long long)(theirs);     \
		if (a_ != b_) {                                                 \
			printf("%s: %lld here, %lld in mpi.h\n", what, a_, b_); \
			failed = 1;                                             \
		}                                                               \
	} while (0)

static uintptr_t word(const void *handle, size_t n)
{
	uintptr_t w = 0;

	memcpy(&w, handle, n);
	return w;
}

#define WORD(type, handle) word(&(type){ handle }, sizeof(type))

static void numbers(void)
{
	SAME("MPI_ANY_SOURCE", flavour->any_source, MPI_ANY_SOURCE);
	SAME("MPI_PROC_NULL", flavour->proc_null, MPI_PROC_NULL);
	SAME("MPI_ROOT", flavour->root, MPI_ROOT);
	SAME("MPI_UNDEFINED", flavour->undefined, MPI_UNDEFINED);
	SAME("MPI_GRAPH", flavour->graph, MPI_GRAPH);
	SAME("MPI_CART", flavour->cart, MPI_CART);
	SAME("MPI_DIST_GRAPH", flavour->dist_graph, MPI_DIST_GRAPH);
	SAME("MPI_IN_PLACE", flavour->in_place, (uintptr_t)MPI_IN_PLACE);
	SAME("MPI_STATUS_IGNORE", flavour->status_ignore, (uintptr_t)MPI_STATUS_IGNORE);
	SAME("MPI_STATUSES_IGNORE", flavour->statuses_ignore, (uintptr_t)MPI_STATUSES_IGNORE);
	SAME("sizeof(MPI_Status)", flavour->status_bytes, sizeof(MPI_Status));
	SAME("sizeof(MPI_Request)", flavour->handle_bytes, sizeof(MPI_Request));
	SAME("sizeof(MPI_Comm)", flavour->handle_bytes, sizeof(MPI_Comm));
	SAME("sizeof(MPI_Datatype)", flavour->handle_bytes, sizeof(MPI_Datatype));
	SAME("sizeof(MPI_Aint)", sizeof(intptr_t), sizeof(MPI_Aint));
	SAME("sizeof(MPI_Offset)", sizeof(int64_t), sizeof(MPI_Offset));
	SAME("sizeof(MPI_Count)", sizeof(int64_t), sizeof(MPI_Count));
}

static void handles(void)
{
	SAME("MPI_COMM_WORLD", flavour->comm_world(), WORD(MPI_Comm, MPI_COMM_WORLD));
	SAME("MPI_COMM_NULL", flavour->null_of(CALL_P_COMM), WORD(MPI_Comm, MPI_COMM_NULL));
	SAME("MPI_DATATYPE_NULL", flavour->null_of(CALL_P_TYPE),
	     WORD(MPI_Datatype, MPI_DATATYPE_NULL));
	SAME("MPI_WIN_NULL", flavour->null_of(CALL_P_WIN), WORD(MPI_Win, MPI_WIN_NULL));
	SAME("MPI_REQUEST_NULL", flavour->null_of(CALL_P_REQUEST),
	     WORD(MPI_Request, MPI_REQUEST_NULL));
	SAME("MPI_Comm_f2c", flavour->from_fortran(CALL_P_COMM, MPI_Comm_c2f(MPI_COMM_SELF)),
	     WORD(MPI_Comm, MPI_COMM_SELF));
	SAME("MPI_Type_f2c", flavour->from_fortran(CALL_P_TYPE, MPI_Type_c2f(MPI_DOUBLE)),
	     WORD(MPI_Datatype, MPI_DOUBLE));
	SAME("MPI_Request_f2c",
	     flavour->from_fortran(CALL_P_REQUEST, MPI_Request_c2f(MPI_REQUEST_NULL)),
	     WORD(MPI_Request, MPI_REQUEST_NULL));
}

/* A status as the library fills it, for sizes on both sides of 32 bits. */
static void statuses(void)
{
	static const MPI_Count bytes[] = {
		0, 1, 77, INT32_MAX, (MPI_Count)INT32_MAX + 5, (MPI_Count)1 << 40
	};
	struct status_view v;
	MPI_Status st;
	int self = 0;

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		memset(&st, 0, sizeof(st));
		MPI_Status_set_elements_x(&st, MPI_BYTE, bytes[i]);
		flavour->status_read(&st, &v);
		SAME("bytes", v.bytes, bytes[i]);
		SAME("cancelled", v.cancelled, 0);
		MPI_Status_set_cancelled(&st, 1);
		flavour->status_read(&st, &v);
		SAME("cancelled", v.cancelled, 1);
		SAME("bytes of a cancelled one", v.bytes, bytes[i]);
	}
	MPI_Sendrecv(&self, 1, MPI_INT, 0, 5, &failed, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_SELF,
		     &st);
	flavour->status_read(&st, &v);
	SAME("source", v.source, 0);
	SAME("bytes", v.bytes, sizeof(int));
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	if (!flavour_open()) {
		printf("this library's version text is not known\n");
		return 1;
	}
	numbers();
	handles();
	statuses();
	MPI_Finalize();
	return failed;
}
