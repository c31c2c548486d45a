/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MPI library that does nothing, which separates the cost of a hook from that of MPI. libapp
 * does not know its version: counts and times only.
 */
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default"), noinline))

/* Both names of each function, as real libraries have them. */
#define STUB(name, sig, body)                               \
	int PMPI_##name sig;                                \
	EXPORT int PMPI_##name sig body int MPI_##name sig; \
	EXPORT int MPI_##name sig __attribute__((weak, alias("PMPI_" #name)))

STUB(Init, (int *argc, char ***argv), { return 0; });
STUB(Finalize, (void), { return 0; });
STUB(Iprobe, (int source, int tag, void *comm, int *flag, void *status), {
	*flag = 0;
	return 0;
});
STUB(Send, (const void *buf, int n, void *type, int to, int tag, void *comm), { return 0; });
STUB(Recv, (void *buf, int n, void *type, int from, int tag, void *comm, void *status),
     { return 0; });
STUB(Isend, (const void *buf, int n, void *type, int to, int tag, void *comm, void **request),
     { return 0; });
STUB(Irecv, (void *buf, int n, void *type, int from, int tag, void *comm, void **request),
     { return 0; });
STUB(Wait, (void **request, void *status), { return 0; });
STUB(Waitall, (int n, void **request, void *status), { return 0; });
STUB(Barrier, (void *comm), { return 0; });
STUB(Bcast, (void *buf, int n, void *type, int root, void *comm), { return 0; });
STUB(Allreduce, (const void *in, void *out, int n, void *type, void *op, void *comm),
     { return 0; });
STUB(Get_library_version, (char *text, int *n), {
	memcpy(text, "stub", 5);
	*n = 4;
	return 0;
});
