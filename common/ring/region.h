/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions of a program by name. BEGIN..END is the code between two probes. A plain NAME means two
 * probes with names derived from it: NAME_begin and NAME_end, begin_NAME and end_NAME, and so on.
 */
#ifndef COMMON_RING_REGION_H
#define COMMON_RING_REGION_H

#include "common/ring/seg.h"

#include <stdbool.h>

struct region {
	char name[2 * SEG_PROBE_NAME_BYTES + 2]; /* as given, or in its shortest form */
	char begin[SEG_PROBE_NAME_BYTES], end[SEG_PROBE_NAME_BYTES];
};

/*
 * Number of ways to derive two probe names from a plain name. A name of two probes uses way 0 only.
 */
#define REGION_WAYS 8

/* Returns false if the name yields no two probes in that way. */
bool region_from_name(const char *name, unsigned way, struct region *out);

/*
 * Finds the plain name whose region begins with this probe. Returns false if that way yields none.
 */
bool region_from_begin(const char *probe, unsigned way, struct region *out);

/*
 * The name of the function of a region "function:NAME", which a tool has switched on; NULL: it is a
 * region between probes. Its name has REGION_FUNCTION_MAX_BYTES at most.
 */
const char *region_function(const char *name);
#define REGION_FUNCTION "function:"
#define REGION_FUNCTION_MAX_BYTES 512

/* True if it is a valid name of a region. */
bool region_is_name(const char *name);

#endif
