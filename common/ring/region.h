/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions of a program by name. BEGIN..END is what lies between two probes; a plain NAME stands for
 * two probes whose names are made of it, as NAME_begin and NAME_end, begin_NAME and end_NAME.
 */
#ifndef COMMON_RING_REGION_H
#define COMMON_RING_REGION_H

#include "common/ring/seg.h"

#include <stdbool.h>

struct region {
	char name[2 * SEG_PROBE_NAME_BYTES + 2]; /* as given, or as short as it can be */
	char begin[SEG_PROBE_NAME_BYTES], end[SEG_PROBE_NAME_BYTES];
};

/* The ways in which a plain name is made; a name of two probes is meant in way 0 alone. */
#define REGION_WAYS 8

/* False: that name means no two probes in that way. */
bool region_from_name(const char *name, unsigned way, struct region *out);

/* The region of a plain name that begins with this probe. False: in that way there is none. */
bool region_from_begin(const char *probe, unsigned way, struct region *out);

/* Could a region have that name? */
bool region_is_name(const char *name);

#endif
