/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a function in the files that a process has loaded, by its name. */
#ifndef TRACER_FUNCTION_SYMBOLS_H
#define TRACER_FUNCTION_SYMBOLS_H

#include "tracer/function/function_code.h"

/*
 * Blocks while files are read. ERR_INVALID: no file has it, with the reason where it is known; or
 * several functions have the name, and the text lists them. ERR_UNSUPPORTED: the file does not show
 * all code of it.
 */
int symbols_find(int32_t pid, const char *name, struct function_code *out, struct err *e);

#endif
