/* SPDX-License-Identifier: Apache-2.0 */
/* Converts addresses in a file to source positions, by its own symbols and debug information. */
#ifndef TRACER_SOURCE_H
#define TRACER_SOURCE_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stddef.h>
#include <stdint.h>

/* of a function or file; templates make longer ones, which are cut */
#define SOURCE_NAME_MAX_BYTES 512
#define SOURCE_TEXT_MAX_BYTES (256 * 1024) /* 128 addresses with some inlined functions each */

struct source_file {
	const char *path;
	const uint8_t *build_id; /* required build ID of the file */
	size_t build_id_bytes; /* 0: any */
};

/*
 * Appends a line for each place: address, function, source file and line number, separated by tabs.
 * An address has one line for each inlined function, the innermost first. It must be a return
 * address: if no call precedes it, there is no line. Blocks while the file is read. ERR_NOTFOUND:
 * there is no such file, or it has another build id. ERR_INVALID: it contains no code.
 */
int source_lines(const struct source_file *f, const uint64_t *address, size_t n, struct buf *out,
		 struct err *e);

#endif
