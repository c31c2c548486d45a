/* SPDX-License-Identifier: Apache-2.0 */
/* The least MPI library that libomig enters: of one rank, with a sum that a program can check. */
#include <string.h>

#define EXPORT __attribute__((visibility("default"), noinline))

/* Both names of each function, as real libraries have them. */
#define BOTH(name, sig, body)                               \
	int PMPI_##name sig;                                \
	EXPORT int PMPI_##name sig body int MPI_##name sig; \
	EXPORT int MPI_##name sig __attribute__((weak, alias("PMPI_" #name)))

static int has_begun, has_ended;

BOTH(Init, (int *argc, char ***argv), {
	has_begun = 1;
	return 0;
});
BOTH(Finalize, (void), {
	has_ended = 1;
	return 0;
});
BOTH(Initialized, (int *flag), {
	*flag = has_begun;
	return 0;
});
BOTH(Finalized, (int *flag), {
	*flag = has_ended;
	return 0;
});
BOTH(Allreduce, (const void *in, void *out, int n, void *type, void *op, void *comm), {
	for (int i = 0; i < n; i++)
		((long *)out)[i] = ((const long *)in)[i] + 1;
	return 0;
});
BOTH(Barrier, (void *comm), { return 0; });
BOTH(Get_library_version, (char *text, int *n), {
	memcpy(text, "plain", 6);
	*n = 5;
	return 0;
});
