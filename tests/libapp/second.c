/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another tool's PMPI layer: counts MPI_Send, MPI_Recv and MPI_Allreduce and reports that at the
 * end, on stderr. SECOND_pmpi: calls the PMPI_ functions, as most tools do; SECOND_next: the next
 * definition of the same name, as stacked tools do.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long sends, recvs, reduces;

static void *real(const char *next, const char *profiling)
{
	void *p = NULL;

#ifdef SECOND_next
	p = dlsym(RTLD_NEXT, next);
#endif
	if (!p)
		p = dlsym(RTLD_NEXT, profiling);
	return p ? p : dlsym(RTLD_DEFAULT, profiling);
}

#define REAL(name) ((fn *)real("MPI_" #name, "PMPI_" #name))

/* six: MPI's interface. */
int MPI_Send(uintptr_t b, uintptr_t n, uintptr_t t, uintptr_t d, uintptr_t g, uintptr_t c);
int MPI_Send(uintptr_t b, uintptr_t n, uintptr_t t, uintptr_t d, uintptr_t g, uintptr_t c)
{
	typedef int fn(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

	sends++;
	return REAL(Send)(b, n, t, d, g, c);
}

/* six: MPI's interface. */
int MPI_Recv(uintptr_t b, uintptr_t n, uintptr_t t, uintptr_t d, uintptr_t g, uintptr_t c,
	     uintptr_t s);
int MPI_Recv(uintptr_t b, uintptr_t n, uintptr_t t, uintptr_t d, uintptr_t g, uintptr_t c,
	     uintptr_t s)
{
	typedef int fn(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

	recvs++;
	return REAL(Recv)(b, n, t, d, g, c, s);
}

/* six: MPI's interface. */
int MPI_Allreduce(uintptr_t b, uintptr_t r, uintptr_t n, uintptr_t t, uintptr_t o, uintptr_t c);
int MPI_Allreduce(uintptr_t b, uintptr_t r, uintptr_t n, uintptr_t t, uintptr_t o, uintptr_t c)
{
	typedef int fn(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

	reduces++;
	return REAL(Allreduce)(b, r, n, t, o, c);
}

int MPI_Finalize(void);
int MPI_Finalize(void)
{
	typedef int fn(void);

	dprintf(2, "second %ld %ld %ld\n", sends, recvs, reduces);
	return REAL(Finalize)();
}
