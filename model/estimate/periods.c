/* SPDX-License-Identifier: Apache-2.0 */
#include "model/estimate/periods.h"

#include "common/base/array.h"

#include <stdlib.h>
#include <string.h>

int periods_new(size_t k, bool has_completed, bool has_elapsed, struct periods **out)
{
	struct periods *p;

	if (k > LEAST_COLUMNS_MAX)
		return -ERR_LIMIT;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ERR_NOMEM;
	p->k = k;
	p->cap = 64;
	p->name = calloc(k + 1, sizeof(*p->name));
	p->begun = calloc(p->cap * (k + 1), sizeof(double));
	p->response = calloc(p->cap, sizeof(double));
	if (has_completed)
		p->completed = calloc(p->cap * (k + 1), sizeof(double));
	if (has_elapsed)
		p->elapsed = calloc(p->cap, sizeof(double));
	if (!p->name || !p->begun || !p->response || (has_completed && !p->completed) ||
	    (has_elapsed && !p->elapsed)) {
		periods_free(p);
		return -ERR_NOMEM;
	}
	*out = p;
	return 0;
}

void periods_free(struct periods *p)
{
	if (!p)
		return;
	free(p->name);
	free(p->begun);
	free(p->completed);
	free(p->response);
	free(p->elapsed);
	free(p);
}

static int grow(double **array, size_t each, size_t cap)
{
	double *more = *array ? realloc(*array, cap * each * sizeof(double)) : NULL;

	if (!*array)
		return 0;
	if (!more)
		return -ERR_NOMEM;
	*array = more;
	return 0;
}

int periods_add(struct periods *p, size_t *at)
{
	if (p->n >= PERIODS_MAX || (p->n + 1) * (p->k + 1) > PERIODS_CELLS_MAX)
		return -ERR_LIMIT;
	if (p->n == p->cap) {
		size_t cap = 2 * p->cap;

		if (grow(&p->begun, p->k + 1, cap) || grow(&p->completed, p->k + 1, cap) ||
		    grow(&p->response, 1, cap) || grow(&p->elapsed, 1, cap))
			return -ERR_NOMEM;
		p->cap = cap;
	}
	*at = p->n++;
	memset(p->begun + *at * p->k, 0, p->k * sizeof(double));
	if (p->completed)
		memset(p->completed + *at * p->k, 0, p->k * sizeof(double));
	if (p->elapsed)
		p->elapsed[*at] = 0;
	p->response[*at] = 0;
	return 0;
}

void periods_clear(struct periods *p)
{
	p->n = 0;
}

/* Requests that were in service before the first period: as many as the sums fall below 0. */
static void begin_with(const struct periods *p, double *in)
{
	double now[LEAST_COLUMNS_MAX] = { 0 };

	memset(in, 0, p->k * sizeof(*in));
	for (size_t i = 0; i < p->n; i++)
		for (size_t s = 0; s < p->k; s++) {
			now[s] += p->begun[i * p->k + s] - p->completed[i * p->k + s];
			if (-now[s] > in[s])
				in[s] = -now[s];
		}
}

/* Returns the one service with a request, -1 for none, -2 for more. */
static int only_one(const double *in, size_t k)
{
	int at = -1;
	double sum = 0;

	for (size_t s = 0; s < k; s++)
		if (in[s] > 0.5) {
			at = (int)s;
			sum += in[s];
		}
	return sum > 1.5 ? -2 : at;
}

int periods_in_service(const struct periods *p, int *out, struct err *e)
{
	double in[LEAST_COLUMNS_MAX];

	if (!p->completed)
		return err_set(e, ERR_UNSUPPORTED, "completions were not counted");
	begin_with(p, in);
	out[0] = only_one(in, p->k);
	for (size_t i = 0; i < p->n; i++) {
		for (size_t s = 0; s < p->k; s++)
			in[s] += p->begun[i * p->k + s] - p->completed[i * p->k + s];
		out[i + 1] = only_one(in, p->k);
	}
	for (size_t i = 0; i <= p->n; i++)
		if (out[i] == -2)
			return err_set(e, ERR_INVALID,
				       "several requests were in service at the end of period %zu: "
				       "the process has several threads",
				       i);
	return 0;
}
