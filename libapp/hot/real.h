/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real functions behind the wrappers. No symbol of MPI is left to the linker. A preloaded
 * library must load into shells and launchers too, and Python loads its MPI long after libomig.
 */
#ifndef LIBAPP_HOT_REAL_H
#define LIBAPP_HOT_REAL_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/*
 * Finds the next definition of `name` after ours: another tool's wrapper, so that tools stack, or
 * the library's. Otherwise finds `profiling`, the library's second name, wherever it is loaded.
 * Returns NULL if there is none (yet). In an attached program: the function that the program would
 * call without us. Preserves errno.
 */
void *real_find(const char *name, const char *profiling);

/* Finds a variable: the program's copy of it (copy relocations), else the library's. */
void *real_data(const char *name);

/*
 * Returned if the program's MPI does not have the function: the class is "other error" everywhere.
 */
#define REAL_MISSING 16

/*
 * True if the program was loaded with an MPI library. Opens no file, and leaves no message for
 * dlerror().
 */
bool real_has_mpi(void);

#pragma GCC visibility pop

#endif
