/* SPDX-License-Identifier: Apache-2.0 */
#include "libapp/hot/real.h"
#include "common/base/array.h"
#include "libapp/hot/app_state.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

/* All libraries that may contain MPI; those of the other flavour are simply not loaded. */
static const char *const library[] = {
	"libmpi.so.40",	      "libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "libmpich.so.12",
	"libmpichfort.so.12", "libmpi.so.12",	    "libmpifort.so.12",
};

/* Finds a name in a loaded library, which may be outside of the global scope. */
static void *find_loaded(const char *name)
{
	void *p = NULL, *handle;

	for (size_t i = 0; !p && i < ARRAY_LEN(library); i++) {
		handle = dlopen(library[i], RTLD_LAZY | RTLD_NOLOAD);
		if (!handle)
			continue;
		p = dlsym(handle, name);
		dlclose(handle);
	}
	return p;
}

/* The definition that the program's slots led to: a symbol may be the program's jump to a slot. */
static void *find_original(const char *name)
{
	int i = app_state.gate ? gate_find(app_state.gate, name) : -1;

	/* NOLINTNEXTLINE: an address as a number */
	return i < 0 ? NULL : (void *)(uintptr_t)app_state.gate->original[i];
}

void *real_find(const char *name, const char *profiling)
{
	int saved = errno;
	void *p = find_original(name);

	if (p)
		return p;
	p = dlsym(RTLD_NEXT, name);

	/*
	 * the first name is never searched by RTLD_DEFAULT: it may be ours, or that of another
	 * tool
	 */
	if (!p)
		p = dlsym(RTLD_NEXT, profiling);
	if (!p)
		p = dlsym(RTLD_DEFAULT, profiling);
	if (!p)
		p = find_loaded(profiling);
	errno = saved;
	return p;
}

void *real_data(const char *name)
{
	int saved = errno;
	void *p = dlsym(RTLD_DEFAULT, name);

	if (!p)
		p = find_loaded(name);
	errno = saved;
	return p;
}

bool real_has_mpi(void)
{
	bool is_there = dlsym(RTLD_DEFAULT, "PMPI_Init") != NULL;

	if (!is_there)
		dlerror();
	return is_there;
}
