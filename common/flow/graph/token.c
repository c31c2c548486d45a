/* SPDX-License-Identifier: Apache-2.0 */
#include "common/flow/graph/token.h"

#include "common/base/array.h"

#include <stdio.h>

/*
 * A value that is not finite is flagged even if it is a valid result. The true value may be any
 * other.
 */
static uint32_t flags_of(double value)
{
	return isfinite(value) ? 0 : FLOW_NAN;
}

struct flow_token flow_token_make(int64_t key, double value, double error, nsec_t time)
{
	return (struct flow_token){ .key = key,
				    .value = value,
				    .error = error >= 0 ? error : INFINITY,
				    .time = time,
				    .oldest = time,
				    .newest = time,
				    .k = 1,
				    .n = 1,
				    .flags = flags_of(value) };
}

struct flow_token flow_token_constant(double value)
{
	return (struct flow_token){ .value = value, .flags = flags_of(value) };
}

struct flow_token flow_token_missing(int64_t key, nsec_t time, uint32_t n)
{
	return (struct flow_token){ .key = key,
				    .value = NAN,
				    .time = time,
				    .oldest = time,
				    .newest = time,
				    .n = n,
				    .flags = FLOW_MISSING | FLOW_PARTIAL };
}

char *flow_flags_print(char *out, uint32_t flags)
{
	static const char *const word[] = { "partial", "stale",	  "late",     "none-yet", "div0",
					    "nan",     "missing", "excluded", "lost",	  "ended" };
	int at = 0;

	out[0] = 0;
	for (size_t i = 0; i < ARRAY_LEN(word); i++)
		if (flags >> i & 1)
			at += snprintf(out + at, (size_t)(FLOW_FLAGS_TEXT_BYTES - at), "%s%s",
				       at ? "," : "", word[i]);
	return out;
}
