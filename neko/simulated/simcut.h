/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitions of a simulated network: for some time, its processes are in groups that do not receive
 * each other's messages.
 */
#ifndef NEKO_SIMULATED_SIMCUT_H
#define NEKO_SIMULATED_SIMCUT_H

#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define SIMCUT_RANGES_MAX 64 /* enough for configurations written by hand */

struct simcut_range {
	uint32_t first, last, group;
};

struct simcut {
	nsec_t from, until; /* in effect for from <= t < until */
	unsigned n;
	struct simcut_range range[SIMCUT_RANGES_MAX]; /* other processes are in group 0 */
};

/*
 * Parses "10s..20s: 1-3,7 | 4-6". Fails with ERR_PARSE, ERR_LIMIT, and ERR_INVALID for wrong times,
 * and a repeated or unknown process.
 */
int simcut_parse(const char *text, uint32_t nprocess, struct simcut *out, struct err *e);

bool simcut_parts(const struct simcut *c, nsec_t now, uint32_t a, uint32_t b);

#endif
