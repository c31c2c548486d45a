/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For libdw: disables the search for separate debug files, which would ask servers in the network.
 */
#ifndef TRACER_DEBUG_FILE_H
#define TRACER_DEBUG_FILE_H

#include <elfutils/libdwfl.h>

/* six: libdw calls it. Returns -1: there is none. */
int tracer_no_debug_file(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base,
			 const char *file, const char *link, GElf_Word crc, char **debug);

#endif
