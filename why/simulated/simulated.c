/* SPDX-License-Identifier: Apache-2.0 */
#include "why/simulated/simulated.h"

#include "common/base/limits.h"
#include "stats/draw/normal.h"
#include "why/simulated/plant.h"

#include <math.h>
#include <stdlib.h>

#define WORK_S 0.1 /* of an iteration: ten in a second */
#define FREQUENCY_HZ 3e9
#define PROCESSORS 16
#define CALL_BYTES 8192
#define LOSS_MAX 0.9 /* the work is a tenth of the time then */

static int check(const struct simulated_conf *c, struct err *e)
{
	if (c->ranks < 2 || c->ranks > WHY_RANKS_MAX)
		return err_set(e, ERR_INVALID, "a program has 2 to %d ranks", WHY_RANKS_MAX);
	if (c->hosts < 1 || c->hosts > c->ranks)
		return err_set(e, ERR_INVALID, "a program has at most as many hosts as ranks");
	if (!(c->loss >= 0 && c->loss <= LOSS_MAX))
		return err_set(e, ERR_INVALID, "a loss is in [0, %g]", LOSS_MAX);
	if (!(c->dependence >= 0 && c->dependence < 1))
		return err_set(e, ERR_INVALID, "a dependence is in [0, 1)");
	if (!c->iterations)
		return err_set(e, ERR_INVALID, "a block has at least one iteration");
	return 0;
}

/* The ranks that wait for the late ones, as a part of all. */
static double waiting_part(const struct simulated *s)
{
	size_t late = 0;

	if (s->conf.plant == SIMULATED_SLOW_COLLECTIVE || s->conf.plant == SIMULATED_FILE)
		return 1;
	for (size_t i = 0; i < s->conf.ranks; i++)
		late += s->rank[i].host == s->culprit;
	late = s->conf.plant == SIMULATED_SLOW_HOST ? late : 1;
	return 1 - (double)late / (double)s->conf.ranks;
}

int simulated_init(struct simulated *s, const struct simulated_conf *c, struct err *e)
{
	int rc = check(c, e);

	*s = (struct simulated){ .conf = *c, .spread = 1 };
	if (rc)
		return rc;
	s->rank = calloc(c->ranks, sizeof(*s->rank));
	s->host = calloc(c->hosts, sizeof(*s->host));
	s->work = calloc(c->ranks, sizeof(*s->work));
	if (!s->rank || !s->host || !s->work)
		return err_nomem(e);
	rng_init(&s->rng, c->seed);
	s->culprit = rng_below(&s->rng, c->plant == SIMULATED_SLOW_HOST ? c->hosts : c->ranks);
	if (c->plant == SIMULATED_LATE_ROOT)
		s->culprit = 0;
	for (size_t i = 0; i < c->ranks; i++)
		s->rank[i].host = (uint32_t)(i * c->hosts / c->ranks);
	/* Of an iteration of work + late, the waiting part loses late: their ratio is the loss. */
	s->iteration = WORK_S;
	s->late = waiting_part(s) > c->loss ? WORK_S * c->loss / (waiting_part(s) - c->loss) : 0;
	return 0;
}

void simulated_done(struct simulated *s)
{
	free(s->rank);
	free(s->host);
	free(s->work);
}

/* The spread of the noise: its logarithm is an autoregression of order 1. */
static void next_spread(struct simulated *s)
{
	double d = s->conf.dependence, step = draw_normal(&s->rng) * 0.5 * sqrt(1 - d * d);

	s->spread = d > 0 ? exp(d * log(s->spread) + step) : 1;
}

static void clear(struct simulated *s)
{
	for (size_t i = 0; i < s->conf.ranks; i++) {
		struct why_rank *r = &s->rank[i];

		why_rank_clear(r, (int32_t)i, r->host);
		for (size_t k = 0; k < WHY_CLASSES; k++)
			r->delay[k] = r->calls[k] = r->bytes[k] = 0;
		for (size_t k = 0; k < WHY_FIGURES; k++)
			r->figure[k] = 0;
	}
	for (size_t i = 0; i < s->conf.hosts; i++) {
		why_host_clear(&s->host[i]);
		s->host[i].figure[WHY_PROCESSORS] = PROCESSORS;
		s->host[i].figure[WHY_STEAL] = 0;
		s->host[i].figure[WHY_FREQUENCY] = FREQUENCY_HZ;
	}
	if (s->conf.plant == SIMULATED_SLOW_HOST && plant_operation(s) == 0)
		for (size_t i = 0; i < s->conf.ranks; i++)
			if (plant_is_late(s, i))
				s->host[s->culprit].figure[WHY_FREQUENCY] =
					FREQUENCY_HZ * WORK_S / (WORK_S + s->late);
}

/* Returns the length of an iteration. */
static double iterate(struct simulated *s)
{
	enum why_class class = plant_class(s->conf.plant);
	double longest = 0, operation = plant_operation(s);

	for (size_t i = 0; i < s->conf.ranks; i++) {
		double noise = s->conf.noise.cv > 0 ? law_draw(&s->conf.noise, &s->rng) - 1 : 0;

		s->work[i] = WORK_S * fmax(1 + noise * s->spread, 0) + plant_excess(s, i);
		longest = fmax(longest, s->work[i]);
	}
	for (size_t i = 0; i < s->conf.ranks; i++) {
		struct why_rank *r = &s->rank[i];

		r->delay[class] += longest - s->work[i] + operation;
		r->calls[class]++;
		r->bytes[class] += CALL_BYTES;
		/* Libraries poll: waiting takes a processor, too. */
		r->figure[WHY_COMPUTE] += longest + operation;
		if (plant_is_late(s, i))
			plant_explain(s, r, plant_excess(s, i));
	}
	return longest + operation;
}

struct why_block simulated_next(struct simulated *s)
{
	double seconds = 0;
	struct why_block b = { .begin = s->now,
			       .rank = s->rank,
			       .nrank = s->conf.ranks,
			       .host = s->host,
			       .nhost = s->conf.hosts,
			       .world_size = (int64_t)s->conf.ranks };

	next_spread(s);
	clear(s);
	for (unsigned i = 0; i < s->conf.iterations; i++)
		seconds += iterate(s);
	for (size_t i = 0; i < s->conf.ranks; i++)
		s->rank[i].seconds = seconds;
	s->now += (nsec_t)(seconds * 1e9) + 1;
	b.end = s->now;
	s->blocks++;
	return b;
}
