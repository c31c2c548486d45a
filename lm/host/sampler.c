/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/host/sampler.h"

#include <stdlib.h>

enum look { LOOK_NOT_YET, LOOK_SEEN, LOOK_FAILED };

struct sampler {
	struct host *host;
	enum look has_now, has_counts, has_facts;
	struct host_now now;
	struct host_counts counts;
	struct host_facts facts; /* constant facts, read once */
};

struct sampler *sampler_new(struct host *host)
{
	struct sampler *s = calloc(1, sizeof(*s));

	if (s)
		s->host = host;
	return s;
}

void sampler_free(struct sampler *s)
{
	free(s);
}

void sampler_begin(struct sampler *s)
{
	s->has_now = s->has_counts = LOOK_NOT_YET;
}

const struct host_now *sampler_now(struct sampler *s)
{
	if (s->has_now == LOOK_NOT_YET)
		s->has_now = host_now(s->host, &s->now, NULL) ? LOOK_FAILED : LOOK_SEEN;
	return s->has_now == LOOK_SEEN ? &s->now : NULL;
}

const struct host_counts *sampler_counts(struct sampler *s)
{
	if (s->has_counts == LOOK_NOT_YET)
		s->has_counts = host_counts(s->host, &s->counts, NULL) ? LOOK_FAILED : LOOK_SEEN;
	return s->has_counts == LOOK_SEEN ? &s->counts : NULL;
}

const struct host_facts *sampler_facts(struct sampler *s)
{
	if (s->has_facts == LOOK_NOT_YET)
		s->has_facts = host_facts(s->host, &s->facts, NULL) ? LOOK_FAILED : LOOK_SEEN;
	return s->has_facts == LOOK_SEEN ? &s->facts : NULL;
}
