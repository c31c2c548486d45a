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
 * on_event: definitions and their events; may be NULL. The tool must connect within a second, else
 * the world is broken.
 */
int asker_new(struct world *w, const char *name, void (*on_event)(void *arg, const struct reply *r),
	      void *arg, struct asker **out);
/* From now on, any answer of a rogue about itself is accepted. */
void asker_excuse(struct asker *a, struct rogue *r);
void asker_free(struct asker *a);

/*
 * Returns the whole answer, valid until the next request; NULL: there is none, and the world is
 * broken.
 */
const struct reply *asker_ask(struct asker *a, const char *text);

/* Sends a request without waiting for the answer. */
void asker_report(struct asker *a, const char *text);

/* Breaks the world unless the answer is OK and covers all objects. Returns the answer, or NULL. */
const struct reply *asker_be_ok(struct asker *a, const char *text);

/* Returns the time from the last request to its whole answer. */
nsec_t asker_took(const struct asker *a);

#endif
