/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hypothesis on its way through the search: its test, its place, and its finding. A symptom with
 * culprits has several levels: each one tests the loss that is left when the culprits of the levels
 * before are taken off.
 */
#ifndef WHY_TRACK_H
#define WHY_TRACK_H

#include "why/cause.h"
#include "why/place.h"
#include "why/tested.h"

#define TRACK_LEVELS 3 /* culprits one after the other: a reader looks at one first */

struct track {
	enum why_id id;
	unsigned level;
	struct tested tested;
	struct place ranks, hosts;
	struct why_loss loss; /* of the last block */
	bool has_finding;
	struct why_finding finding;
	struct why_range stated; /* the severity when the state was last not STEADY */
	struct causes causes;
	int64_t culprits; /* a number that changes with them */
};

/* The block and the errors that its tests may have. */
struct track_block {
	struct view *view;
	double threshold;
	double alpha_place, alpha_cause;
	size_t blocks; /* of the search */
};

/* Makes room for one more block. */
int track_reserve(struct track *t, struct err *e);

/* Adds the loss of a block. */
void track_add(struct track *t, const struct track_block *b, const struct why_explained *x);

/* Makes the test a finding, with the next number, from the last block on. */
void track_find(struct track *t, const struct track_block *b, unsigned number);

/* Brings the finding up to date after a block. */
void track_refresh(struct track *t, const struct track_block *b);

/* True if the loss of the finding has ended. */
bool track_is_gone(const struct track *t, double threshold);

/* Sets *out to the finding with the state GONE. The track starts again. */
void track_end(struct track *t, const struct track_block *b, struct why_finding *out);

/* Forgets everything but the number of attempts. */
void track_restart(struct track *t);
void track_done(struct track *t);

#endif
