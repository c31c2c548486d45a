/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For planning: the objects of a call, by expansion, localisation and location (to branches).
 * Conversions are cached, so that all of one execution agree.
 */
#ifndef COMMON_ROUTE_OBJECTS_H
#define COMMON_ROUTE_OBJECTS_H

#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/container/map.h"
#include "common/omis/reply/reply.h"
#include "common/omis/services/catalogue.h"
#include "common/route/view.h"

/* Limit of a plan's memory: OMIS_OBJECTS_MAX objects with their conversions, lists and texts. */
#define PLAN_HEAP_MAX_BYTES (64 * 1024 * 1024)

/* The tokens of one call for which one branch is responsible. */
struct branch_tokens {
	uint32_t branch;
	struct route_tokens tokens;
};

/* The branches of the objects of a call, in the order of their first use. */
struct places {
	struct branch_tokens **v;
	size_t n, cap;
};

struct route_objects {
	const struct route_view *view;
	struct arena *arena; /* owned */
	struct smap conversions; /* "p n_1" -> struct conversion: results of expand and lift */
	struct smap seen; /* token -> struct seen, to remove duplicates */
	struct branch_tokens **by_branch; /* view->nbranch entries, all NULL between two calls */
	uint64_t stamp; /* stamp of the current call */
	size_t total; /* number of objects so far, each once per call */
	bool living; /* the current call includes only living objects, except those that it names */
	const char *outcome; /* as in plan_conf; NULL after route_objects_init() */
	struct err *e;
};

int route_objects_init(struct route_objects *o, const struct route_view *view);
void route_objects_done(struct route_objects *o);

/* Drops the cached results, so that the view is asked again. */
void route_objects_forget(struct route_objects *o);

/*
 * Returns the objects of the call, without duplicates. Unknown objects become entries of `action`
 * in `into`. Fails with ERR_NOMEM, ERR_LIMIT with a text in o->e.
 */
int route_objects_of(struct route_objects *o, const struct omis_call *call, uint32_t action,
		     struct reply *into, struct route_tokens *out);

/*
 * Distributes objects over the branches. Unknown objects become entries; unreachable ones are
 * missing, and count as asked.
 */
int route_objects_locate(struct route_objects *o, uint32_t action, const struct route_tokens *of,
			 struct reply *into, struct places *out);

/* Drops unknown objects, which become entries, without locating the others. */
int route_objects_existing(struct route_objects *o, uint32_t action, struct route_tokens *tokens,
			   struct reply *into);

/* Prints name(params) with `tokens` as the object list; NULL = unchanged. */
void objects_print_call(struct buf *b, const struct omis_call *call,
			const struct route_tokens *tokens);

/*
 * Returns the reason why the text of a branch could not be written: -ERR_LIMIT with a text, or
 * -ERR_NOMEM.
 */
int route_objects_text_failure(const struct route_objects *o, const struct buf *b);

/* Largest text, which leaves room in a frame for the other members of a message. */
#define ROUTE_TEXT_MAX_BYTES (FRAME_MAX_BYTES - 4096)

#endif
