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
 * Number of ways to derive two probe names from a plain name. A name with two probes uses way 0
 * only.
 */
#define REGION_WAYS 8

/* Returns false if the name does not yield two probes in that way. */
bool region_from_name(const char *name, unsigned way, struct region *out);

/*
 * Finds the plain name of a region that begins with this probe. Returns false if there is none in
 * that way.
 */
bool region_from_begin(const char *probe, unsigned way, struct region *out);

/*
 * Returns the name of the function in a region "function:NAME", which a tool has switched on.
 * Returns NULL for a region between probes. The name has at most REGION_FUNCTION_MAX_BYTES.
 */
const char *region_function(const char *name);
#define REGION_FUNCTION "function:"
#define REGION_FUNCTION_MAX_BYTES 512

/* True if the name is a valid name of a region. */
bool region_is_name(const char *name);

#endif
