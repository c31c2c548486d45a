/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner's questions to its caller. A view answers them for one tool's scope at one moment.
 * mainsm answers from its directory and the tool's session, an sm from its table of lms.
 */
#ifndef COMMON_ROUTE_VIEW_H
#define COMMON_ROUTE_VIEW_H

#include "common/omis/text/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Tokens that a callback returns; copied when added. */
struct route_tokens {
	const char **v;
	size_t n, cap;
	size_t max; /* -ERR_LIMIT beyond it */
	struct arena *arena;
};

/* 0, -ERR_NOMEM, -ERR_LIMIT: the callback must return it. */
int route_tokens_add(struct route_tokens *t, const char *token);

/* Branches that have an object below; each once. */
struct route_places {
	uint32_t *branch;
	size_t n, cap;
	struct arena *arena;
};

int route_places_add(struct route_places *p, uint32_t branch);

/*
 * All callbacks return 0, or -ERR_NOTFOUND: the object does not exist, is not attached, or may not
 * be seen (the same for all three). -ERR_NOMEM and -ERR_LIMIT end the planning.
 */
struct route_view {
	void *arg;
	uint32_t nbranch; /* branches are 0 .. nbranch - 1 */

	/*
	 * token NULL: adds the attached objects of class cls ('n' for processes and threads too:
	 * they are found through their nodes; 's' 'c' 'e' 'a' directly). Otherwise adds the
	 * attached objects of class cls, one level down, in `token`. May add objects of a class
	 * above cls if the level below knows more.
	 */
	int (*expand)(void *arg, const char *token, char cls, struct route_tokens *out);

	/* Adds the object one level up that contains `token`. */
	int (*lift)(void *arg, const char *token, struct route_tokens *out);

	/*
	 * Adds the branches that must execute a call for this object: one for a node, process or
	 * thread; any number for a counter. For a counter, *missing (NULL before) may be set as
	 * well: a part of it is known but cannot be reached, for this reason; the text is copied.
	 */
	int (*locate)(void *arg, const char *token, bool arming, struct route_places *out,
		      const char **missing);

	/*
	 * True for a process whose last values alone are left. It is read like the others, but a
	 * manipulation includes it only by name. NULL: not known here.
	 */
	bool (*has_ended)(void *arg, const char *token);

	/* Passed to locate: the part of a silent branch waits for it. */
	bool arming;
};

#endif
