/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a function inside of its callers, where the file has debug information. */
#ifndef TRACER_FUNCTION_INLINED_H
#define TRACER_FUNCTION_INLINED_H

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

/* Counts them in the function's unit of compilation; 0 also without debug information. */
size_t inlined_copies(Dwfl_Module *m, uint64_t at);

#endif
