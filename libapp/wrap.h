/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The basis of the generated wrappers. Each real function has a pointer that initially points to a
 * resolver. So a call needs no test, and the first call finds the function, whenever MPI is loaded.
 */
#ifndef LIBAPP_WRAP_H
#define LIBAPP_WRAP_H

#include "common/ring/calls_id.h"
#include "libapp/hot/app_state.h"
#include "libapp/hot/args.h"
#include "libapp/hot/comm.h"
#include "libapp/hot/hook.h"
#include "libapp/hot/real.h"
#include "libapp/setup/probe.h"
#include "libapp/setup/setup.h"

#include <stddef.h>
#include <string.h>

#pragma GCC visibility push(hidden)

#define EXPORT __attribute__((visibility("default")))

#define REAL(name) __atomic_load_n(&real.name, __ATOMIC_RELAXED)

static inline int64_t f_int(const void *p)
{
	int v;

	if (!p)
		return 0;
	memcpy(&v, p, sizeof(v));
	return v;
}

static inline int64_t f_wide(const void *p)
{
	int64_t v;

	if (!p)
		return 0;
	memcpy(&v, p, sizeof(v));
	return v;
}

/* ierror may be absent in mpi_f08: then the library's own error handling decides. */
static inline int f_result(const void *ierr)
{
	return (int)f_int(ierr);
}

static inline void f_missing(void *ierr)
{
	const int code = REAL_MISSING;

	if (ierr)
		memcpy(ierr, &code, sizeof(code));
}

/* Resolves one pointer early; leaves it at its resolver if the function is not loaded yet. */
static inline void wrap_look(const char *name, const char *profiling, void **pointer)
{
	void *f = real_find(name, profiling);

	if (f)
		__atomic_store_n(pointer, f, __ATOMIC_RELAXED);
}

/* Resolves all C functions, at set-up, so that the hot path looks up nothing. */
void wrap_resolve_all(void);

#pragma GCC visibility pop

#endif
