/* SPDX-License-Identifier: Apache-2.0 */
/* The code of a loaded module, as its file has it. */
#ifndef TRACER_FUNCTION_FILE_CODE_H
#define TRACER_FUNCTION_FILE_CODE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a file; borrowed, valid while the module is. */
struct file_code {
	uint64_t at; /* in the process */
	size_t n;
	const uint8_t *bytes;
};

/* The bytes from an address to the end of its segment. n is 0 if the file has none. */
struct file_code file_code_at(Dwfl_Module *m, uint64_t at);

/* A segment with the right to execute; i counts all segments. Returns false if there is no i. */
bool file_code_segment(Dwfl_Module *m, size_t i, struct file_code *out);

#endif
