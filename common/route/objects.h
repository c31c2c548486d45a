/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside planning: the objects of a call, by expansion (down), localisation
 * (up) and location (to branches). Conversions are remembered, so that all of
 * one execution agree.
 */
#ifndef COMMON_ROUTE_OBJECTS_H
#define COMMON_ROUTE_OBJECTS_H

#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/container/map.h"
#include "common/omis/reply/reply.h"
#include "common/omis/services/catalogue.h"
#include "common/route/view.h"

/* What a plan may take: OMIS_OBJECTS_MAX objects with their conversions, lists and texts. */
#define PLAN_HEAP_MAX_BYTES (64 * 1024 * 1024)

/* Tokens of one call that one branch is responsible for. */
struct branch_tokens {
	uint32_t branch;
	struct route_tokens tokens;
};

/* Where the objects of a call are; branches in the order in which they came up. */
struct places {
	struct branch_tokens **v;
	size_t n, cap;
};

struct route_objects {
	const struct route_view *view;
	struct arena *arena; /* owned */
	struct smap conversions; /* "p n_1" -> struct conversion: what expand and lift said */
	struct smap seen; /* token -> struct seen, to run doubles once */
	struct branch_tokens **by_branch; /* view->nbranch, all NULL between two calls */
	uint64_t stamp; /* of the call at work */
	size_t total; /* objects so far, once a call each */
	bool living; /* the call at work means what lives, unless it names an object */
	const char *outcome; /* as plan_conf; NULL after route_objects_init() */
	struct err *e;
};

int route_objects_init(struct route_objects *o, const struct route_view *view);
void route_objects_done(struct route_objects *o);

/* Forgets what the view answered, and asks it again from now on. */
void route_objects_forget(struct route_objects *o);

/*
 * The objects of the call, without doubles. What does not exist becomes
 * entries of `action` in `into`. -ERR_NOMEM, -ERR_LIMIT (with words in o->e).
 */
int route_objects_of(struct route_objects *o, const struct omis_call *call, uint32_t action,
		     struct reply *into, struct route_tokens *out);

/*
 * Distributes them over the branches. Those that do not exist become
 * entries, those out of reach missing (and are asked).
 */
int route_objects_locate(struct route_objects *o, uint32_t action, const struct route_tokens *of,
			 struct reply *into, struct places *out);

/* Drops (with an entry) what does not exist, whatever its place. */
int route_objects_existing(struct route_objects *o, uint32_t action, struct route_tokens *tokens,
			   struct reply *into);

/* name(params) with the object list replaced by `tokens`; NULL = as it is. */
void objects_print_call(struct buf *b, const struct omis_call *call,
			const struct route_tokens *tokens);

/* Why the text of a branch could not be written: -ERR_LIMIT with words, or -ERR_NOMEM. */
int route_objects_text_failure(const struct route_objects *o, const struct buf *b);

/* Room in a frame for the rest of a message. */
#define ROUTE_TEXT_MAX_BYTES (FRAME_MAX_BYTES - 4096)

#endif
