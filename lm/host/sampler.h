/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of the host and its processes for measurements, sampled when they are read: once a
 * moment, however many read them.
 */
#ifndef LM_HOST_SAMPLER_H
#define LM_HOST_SAMPLER_H

#include "lm/host/host.h"

struct sampler;

/* host is borrowed. NULL without memory. */
struct sampler *sampler_new(struct host *host);
void sampler_free(struct sampler *s);

/* A new moment: what was sampled before is sampled again. */
void sampler_begin(struct sampler *s);

/* Valid until sampler_begin(). NULL: the host has none. */
const struct host_now *sampler_now(struct sampler *s);
const struct host_counts *sampler_counts(struct sampler *s);
const struct host_facts *sampler_facts(struct sampler *s);

#endif
