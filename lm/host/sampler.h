/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of the host and its processes for measurements. Each is sampled once per moment, for any
 * number of readers.
 */
#ifndef LM_HOST_SAMPLER_H
#define LM_HOST_SAMPLER_H

#include "lm/host/host.h"

struct sampler;

/* host is borrowed. Returns NULL without memory. */
struct sampler *sampler_new(struct host *host);
void sampler_free(struct sampler *s);

/* Begins a new moment: all counters are sampled again when read. */
void sampler_begin(struct sampler *s);

/* Valid until sampler_begin(). Returns NULL if the host has none. */
const struct host_now *sampler_now(struct sampler *s);
const struct host_counts *sampler_counts(struct sampler *s);
const struct host_facts *sampler_facts(struct sampler *s);

#endif
