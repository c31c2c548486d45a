/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a process: /proc/PID/maps, see proc_pid_maps(5). */
#ifndef TRACER_THREAD_MAPS_H
#define TRACER_THREAD_MAPS_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* The kernel permits 65530 regions, of 60 bytes or more. */
#define MAPS_MAX_BYTES (4 * 1024 * 1024)

struct maps_region {
	uint64_t from, to;
	char rights[5]; /* "r-xp" */
	bool is_file;
	const char *path; /* of a file, or as "[heap]"; borrowed from the text, not ended by a 0 */
	size_t path_n; /* 0: there is none */
};

/* Replaces the contents of b, which has room for MAPS_MAX_BYTES. -ERR_LIMIT, -ERR_NOTFOUND. */
int maps_read(int32_t pid, struct buf *b, struct err *e);

/* Reads the next region at *at, a place in the text. False: there is no more. O(1) in the text. */
bool maps_next(const char **at, struct maps_region *out);

/* Returns false if no region has the address. O(n) in regions. */
bool maps_find(const struct buf *maps, uint64_t address, struct maps_region *out);

#endif
