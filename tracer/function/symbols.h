/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a function in the files that a process has loaded, by its name. */
#ifndef TRACER_FUNCTION_SYMBOLS_H
#define TRACER_FUNCTION_SYMBOLS_H

#include "common/base/buf.h"
#include "tracer/function/function_code.h"

/*
 * Blocks while files are read. ERR_INVALID: no file has it, with the reason where it is known; or
 * several functions have the name, and the text lists them. ERR_UNSUPPORTED: the file does not show
 * all code of it.
 */
int symbols_find(int32_t pid, const char *name, struct function_code *out, struct err *e);

/*
 * Appends a line for each function of that name: by which name symbols_find() finds this one
 * alone, the file, the address, with tabs between. Of more than SYMBOLS_LISTED_MAX the last line
 * has two empty fields and the number of the others. Names are escaped. Blocks; ERR_INVALID as
 * above, ERR_NOMEM.
 */
#define SYMBOLS_LISTED_MAX 200
#define SYMBOLS_TEXT_MAX_BYTES (256 * 1024)
int symbols_list(int32_t pid, const char *name, struct buf *out, struct err *e);

#endif
