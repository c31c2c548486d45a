/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX 1e15

int network_result_init(const struct network *n, struct network_result *out)
{
	*out = (struct network_result){
		.throughput = calloc(n->classes + 1, sizeof(double)),
		.residence = calloc(n->classes * n->stations + 1, sizeof(double)),
		.queue = calloc(n->classes * n->stations + 1, sizeof(double)),
		.factor = calloc(n->stations + 1, sizeof(double)),
		.guess = calloc(n->classes * n->stations + 1, sizeof(double)),
	};
	if (out->throughput && out->residence && out->queue && out->factor && out->guess)
		return 0;
	network_result_done(out);
	return -ERR_NOMEM;
}

void network_result_done(struct network_result *r)
{
	free(r->throughput);
	free(r->residence);
	free(r->queue);
	free(r->factor);
	free(r->guess);
	*r = (struct network_result){ 0 };
}

static bool is_time(double v)
{
	return v >= 0 && v <= TIME_MAX;
}

static int check_class(const struct network *n, size_t c, struct err *e)
{
	double all = n->think[c];

	if (!is_time(n->think[c]))
		return err_set(e, ERR_INVALID, "class %zu: a think time is from 0 to %g", c,
			       TIME_MAX);
	if (n->population[c] > NETWORK_POPULATION_MAX)
		return err_set(e, ERR_LIMIT, "class %zu: more than %d customers", c,
			       NETWORK_POPULATION_MAX);
	for (size_t k = 0; k < n->stations; k++) {
		size_t at = c * n->stations + k;

		if (!is_time(n->visits[at]) || !is_time(n->service[at]))
			return err_set(e, ERR_INVALID,
				       "class %zu: visits and times are from 0 to %g", c, TIME_MAX);
		all += n->visits[at] * n->service[at];
	}
	if (!(all > 0) && !(n->rate && n->rate[c] > 0))
		return err_set(e, ERR_INVALID, "class %zu: a cycle takes no time", c);
	return 0;
}

int network_check(const struct network *n, struct err *e)
{
	if (n->classes > NETWORK_CLASSES_MAX || n->stations > NETWORK_STATIONS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d classes or %d stations",
			       NETWORK_CLASSES_MAX, NETWORK_STATIONS_MAX);
	for (size_t k = 0; k < n->stations; k++)
		if (!n->station[k].servers)
			return err_set(e, ERR_INVALID, "station %zu has no server", k);
	for (size_t c = 0; c < n->classes; c++) {
		int rc = check_class(n, c, e);

		if (rc)
			return rc;
	}
	return 0;
}

void network_bounds(const struct network *n, struct network_bounds *out)
{
	double all = 0, most = 0, sum = 0, customers = n->population[0], think = n->think[0];
	bool is_single = true;
	size_t queues = 0;

	for (size_t k = 0; k < n->stations; k++) {
		double d = n->visits[k] * n->service[k], each = d / n->station[k].servers;

		all += d;
		if (n->station[k].kind == STATION_DELAY) {
			think += d;
			continue;
		}
		is_single = is_single && n->station[k].servers == 1;
		most = fmax(most, each);
		sum += d;
		queues += d > 0;
	}
	*out = (struct network_bounds){ .balanced_low = NAN, .balanced_high = NAN };
	/* all others may be served before, at each station */
	out->low = customers / (think + customers * sum);
	out->high = customers / (n->think[0] + all);
	if (most > 0)
		out->high = fmin(out->high, 1 / most);
	if (!is_single || !queues)
		return;
	out->balanced_low = customers / (sum + think +
					 (customers - 1) * most / (1 + think / (customers * sum)));
	out->balanced_high =
		customers /
		(sum + think + (customers - 1) * (sum / (double)queues) / (1 + think / sum));
	if (most > 0)
		out->balanced_high = fmin(out->balanced_high, 1 / most);
}
