/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a function in the files that a process has loaded, by its name. */
#ifndef TRACER_FUNCTION_SYMBOLS_H
#define TRACER_FUNCTION_SYMBOLS_H

#include "common/base/err.h"

#include <stddef.h>
#include <stdint.h>

#define FUNCTION_MAX_BYTES 65536 /* of code; a longer function is refused */
#define FUNCTION_PADDING_BYTES 16
#define FUNCTION_NAME_BYTES 512
#define FUNCTION_PARTS 2 /* the function, and its cold part */

/* A piece of code, as its file has it. */
struct function_part {
	uint64_t at; /* in the process */
	size_t n; /* 0: there is no such part */
	size_t padding; /* bytes behind it that belong to no symbol */
	uint8_t bytes[FUNCTION_MAX_BYTES + FUNCTION_PADDING_BYTES];
};

struct function_code {
	char symbol[FUNCTION_NAME_BYTES], plain[FUNCTION_NAME_BYTES];
	struct function_part part[FUNCTION_PARTS];
};

/*
 * Blocks while files are read. ERR_INVALID: no file has it, with the reason where it is known; or
 * several functions have the name, and the text lists them. ERR_UNSUPPORTED: the symbol does not
 * describe code.
 */
int symbols_find(int32_t pid, const char *name, struct function_code *out, struct err *e);

#endif
