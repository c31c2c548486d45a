/* SPDX-License-Identifier: Apache-2.0 */
#include "common/ring/region.h"

#include "common/base/str.h"

#include <stdio.h>
#include <string.h>

/* Text around a name, for the probe that begins a region, and for the one that ends it. */
static const struct {
	const char *before, *behind, *end_before, *end_behind;
} ways[REGION_WAYS] = {
	{ "", "_begin", "", "_end" },
	{ "", "_start", "", "_stop" },
	{ "", "_start", "", "_end" },
	{ "", "_enter", "", "_leave" },
	{ "", "_begin_event", "", "_end_event" },
	{ "begin_", "", "end_", "" },
	{ "start_", "", "stop_", "" },
	{ "enter_", "", "leave_", "" },
};

static bool is_probe(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(s[i] == '_' || (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
		      (i && s[i] >= '0' && s[i] <= '9')))
			return false;
	return n > 0 && n < SEG_PROBE_NAME_BYTES;
}

static bool put(char to[SEG_PROBE_NAME_BYTES], const char *before, const char *name,
		const char *behind)
{
	int n = snprintf(to, SEG_PROBE_NAME_BYTES, "%s%s%s", before, name, behind);

	return n > 0 && n < SEG_PROBE_NAME_BYTES;
}

static bool from_two(const char *name, const char *dots, struct region *out)
{
	size_t n = (size_t)(dots - name);

	if (!is_probe(name, n) || !is_probe(dots + 2, strlen(dots + 2)))
		return false;
	memcpy(out->begin, name, n);
	out->begin[n] = 0;
	return str_copy(out->end, sizeof(out->end), dots + 2);
}

bool region_from_name(const char *name, unsigned way, struct region *out)
{
	const char *dots = strstr(name, "..");

	if (way >= REGION_WAYS || (dots && way) || !str_copy(out->name, sizeof(out->name), name))
		return false;
	if (dots)
		return from_two(name, dots, out);
	return is_probe(name, strlen(name)) &&
	       put(out->begin, ways[way].before, name, ways[way].behind) &&
	       put(out->end, ways[way].end_before, name, ways[way].end_behind);
}

const char *region_function(const char *name)
{
	size_t n = sizeof(REGION_FUNCTION) - 1;

	return strncmp(name, REGION_FUNCTION, n) != 0 ? NULL : name + n;
}

bool region_is_name(const char *name)
{
	const char *function = region_function(name);
	struct region r;

	if (function)
		return *function && strlen(function) < REGION_FUNCTION_MAX_BYTES;
	return region_from_name(name, 0, &r);
}

bool region_from_begin(const char *probe, unsigned way, struct region *out)
{
	size_t n = strlen(probe), before, behind;
	char name[SEG_PROBE_NAME_BYTES];

	if (way >= REGION_WAYS || n >= sizeof(name))
		return false;
	before = strlen(ways[way].before);
	behind = strlen(ways[way].behind);
	if (n <= before + behind || strncmp(probe, ways[way].before, before) != 0 ||
	    strcmp(probe + n - behind, ways[way].behind) != 0)
		return false;
	memcpy(name, probe + before, n - before - behind);
	name[n - before - behind] = 0;
	return region_from_name(name, way, out);
}
