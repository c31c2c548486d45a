/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool of a simulated world that waits for each answer before it continues. Virtual time passes
 * meanwhile.
 */
#ifndef SIM_TOOLS_ASKER_H
#define SIM_TOOLS_ASKER_H

#include "common/omis/reply/reply.h"
#include "sim/world/world.h"

struct asker;
struct rogue;

/*
 * on_event: called for definitions and their events; may be NULL. A tool that cannot connect within
 * a second breaks the world.
 */
int asker_new(struct world *w, const char *name, void (*on_event)(void *arg, const struct reply *r),
	      void *arg, struct asker **out);
/* From now on, accepts any answer of a rogue about itself. */
void asker_excuse(struct asker *a, struct rogue *r);
void asker_free(struct asker *a);

/*
 * Returns the complete answer, valid until the next request. Returns NULL, and breaks the world, if
 * there is none.
 */
const struct reply *asker_ask(struct asker *a, const char *text);

/* Sends a request without waiting for the answer. */
void asker_report(struct asker *a, const char *text);

/* Breaks the world unless the answer is OK and covers all objects. Returns the answer, or NULL. */
const struct reply *asker_be_ok(struct asker *a, const char *text);

/* Returns the time from the last request to the end of its answer. */
nsec_t asker_took(const struct asker *a);

#endif
