/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that the planner calls. A view answers for one tool's scope at one time. mainsm
 * answers from its directory and the tool's session, an sm from its table of lms.
 */
#ifndef COMMON_ROUTE_VIEW_H
#define COMMON_ROUTE_VIEW_H

#include "common/omis/text/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Tokens that a callback returns; they are copied. */
struct route_tokens {
	const char **v;
	size_t n, cap;
	size_t max; /* with more tokens, -ERR_LIMIT */
	struct arena *arena;
};

/* Fails with ERR_NOMEM, ERR_LIMIT, which the callback must return. */
int route_tokens_add(struct route_tokens *t, const char *token);

/* Branches with an object, each once. */
struct route_places {
	uint32_t *branch;
	size_t n, cap;
	struct arena *arena;
};

int route_places_add(struct route_places *p, uint32_t branch);

/*
 * All callbacks return 0, or -ERR_NOTFOUND: the object does not exist, is not attached, or is
 * hidden (the result is the same for all three). -ERR_NOMEM and -ERR_LIMIT end the planning.
 */
struct route_view {
	void *arg;
	uint32_t nbranch; /* branches are 0 .. nbranch - 1 */

	/*
	 * token NULL: adds all attached objects of class cls: 's' 'c' 'e' 'a', or 'n' also for
	 * processes and threads, which are found through their nodes. Otherwise adds the attached
	 * objects of class cls in `token`, which is one level above. May add objects of a class
	 * above cls if only the daemon below knows their contents.
	 */
	int (*expand)(void *arg, const char *token, char cls, struct route_tokens *out);

	/* Adds the object that contains `token`, one level up. */
	int (*lift)(void *arg, const char *token, struct route_tokens *out);

	/*
	 * Adds the branches that must execute a call for this object: one for a node, process or
	 * thread; any number for a counter. For a counter, *missing (initially NULL) may be set to
	 * the reason why a part of it cannot be reached; the text is copied.
	 */
	int (*locate)(void *arg, const char *token, bool arming, struct route_places *out,
		      const char **missing);

	/*
	 * True for a process of which only the last values are left. Reads include it like others,
	 * but a manipulation includes it only by name. NULL: this daemon does not know.
	 */
	bool (*has_ended)(void *arg, const char *token);

	/* Passed to locate(): the part of a silent branch waits for the branch. */
	bool arming;
};

#endif
