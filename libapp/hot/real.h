/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions behind ours. No symbol of MPI is ever left for the linker: a
 * preloaded library must load into shells and launchers too, and Python
 * brings its MPI long after us.
 */
#ifndef LIBAPP_HOT_REAL_H
#define LIBAPP_HOT_REAL_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/*
 * Finds the next definition of `name` after ours. That is another tool's wrapper, so that tools
 * stack, or the library's. Else it finds `profiling`, the library's own second name, wherever it is
 * loaded. NULL: there is none (yet). Keeps errno.
 */
void *real_find(const char *name, const char *profiling);

/* A variable: the program's copy of it (copy relocations), else the library's. */
void *real_data(const char *name);

/*
 * What a call returns whose function the program's MPI does not have: the class is "other error"
 * everywhere.
 */
#define REAL_MISSING 16

/* An MPI library is among what the program was loaded with. Looks into no file, and leaves no word
 * for dlerror(). */
bool real_has_mpi(void);

#pragma GCC visibility pop

#endif
