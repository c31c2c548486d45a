/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search: takes blocks, tests hypotheses on them, and has findings. The tests are valid at any
 * time (docs/why.md): a caller may look after each block, and stop at any of them.
 */
#ifndef WHY_SEARCH_H
#define WHY_SEARCH_H

#include "why/block.h"
#include "why/finding.h"

struct why_options {
	double threshold; /* severity that matters; in [WHY_THRESHOLD_MIN, WHY_THRESHOLD_MAX] */
	double alpha; /* probability of a false finding in a search; in (0, 0.5] */
};

#define WHY_THRESHOLD_DEFAULT 0.02
#define WHY_THRESHOLD_MIN 0.001 /* below it, the noise of the monitor itself matters */
#define WHY_THRESHOLD_MAX 0.5
#define WHY_ALPHA_DEFAULT 0.05
#define WHY_HELD_MIN 3 /* blocks for which a loss must have held: shorter ones are noise */

struct why;

/*
 * NULL: the defaults. Returns NULL with ERR_INVALID for options out of range, or ERR_NOMEM. The
 * caller owns the search.
 */
struct why *why_new(const struct why_options *o, struct err *e);
void why_free(struct why *w);

/*
 * Adds a block, which is borrowed for the call. Fails as why_block_check() does, with ERR_INVALID
 * for a block before the end of the last one, and with ERR_NOMEM: then the search is unchanged.
 * O(ranks + pairs).
 */
int why_add(struct why *w, const struct why_block *b, struct err *e);

/*
 * Returns the number of findings, and the first of them: present ones by severity, then those that
 * are gone. Valid until the next why_add().
 */
size_t why_findings(const struct why *w, const struct why_finding **out);

void why_summary(const struct why *w, struct why_summary *out);

#endif
