/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of periods: any text is read, or refused with a reason and its place. Each method then
 * gives demands or a reason.
 */
#include "model/estimate/estimate.h"

#include <math.h>
#include <stdlib.h>

#define BYTES_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void check(const struct periods *p, const struct estimate *x)
{
	for (size_t s = 0; s < p->k; s++) {
		const struct estimate_service *v = &x->service[s];

		if (v->state != ESTIMATE_KNOWN && !isnan(v->demand))
			abort();
		if (!isnan(v->low) && !isnan(v->high) && v->low > v->high)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct periods *all = NULL;
	struct err e = { 0 };

	if (n > BYTES_MAX)
		return 0;
	if (periods_read((const char *)p, n, &all, &e)) {
		if (!e.text[0] || !e.line || !e.col)
			abort();
		return 0;
	}
	for (unsigned m = 0; m < ESTIMATE_METHODS; m++) {
		struct estimate x;

		e = (struct err){ 0 };
		if (!estimate(all, (enum estimate_method)m, 0.9, &x, &e))
			check(all, &x);
		else if (!e.text[0])
			abort();
	}
	periods_free(all);
	return 0;
}
