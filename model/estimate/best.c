/* SPDX-License-Identifier: Apache-2.0 */
#include "model/estimate/estimate.h"

#include "common/base/array.h"

/* The first that applies. */
static const struct {
	enum estimate_method method;
	const char *reason;
} choices[] = {
	{ ESTIMATE_CONSTANT, "all sums agree with constant service times" },
	{ ESTIMATE_ELAPSED, "completions and elapsed times are known" },
	{ ESTIMATE_GLS, "completions are known, of one thread" },
	{ ESTIMATE_HALF, "completions are known, of several threads" },
	{ ESTIMATE_OLS, "no completions are known" },
};

int estimate_best(const struct periods *p, double level, struct estimate *out, const char **why,
		  struct err *e)
{
	int rc = -ERR_INTERNAL;

	for (size_t i = 0; i < ARRAY_LEN(choices); i++) {
		rc = estimate(p, choices[i].method, level, out, e);
		*why = choices[i].reason;
		if (!rc || rc == -ERR_NOMEM)
			break;
	}
	return rc;
}
