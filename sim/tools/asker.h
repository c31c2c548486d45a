/* SPDX-License-Identifier: Apache-2.0 */
/* A tool of a simulated world that waits for each answer before it continues: time passes while it
 * does. */
#ifndef SIM_TOOLS_ASKER_H
#define SIM_TOOLS_ASKER_H

#include "common/omis/reply/reply.h"
#include "sim/world/world.h"

struct asker;
struct rogue;

/* on_event: definitions and their events; may be NULL. It is there a second later, or the world
 * is broken. */
int asker_new(struct world *w, const char *name, void (*on_event)(void *arg, const struct reply *r),
	      void *arg, struct asker **out);
/* From now on what a rogue answers for itself is as good as any. */
void asker_excuse(struct asker *a, struct rogue *r);
void asker_free(struct asker *a);

/* The whole answer, valid until the next one is asked; NULL: there is none, and the world is
 * broken. */
const struct reply *asker_ask(struct asker *a, const char *text);

/* Does not wait for the answer. */
void asker_report(struct asker *a, const char *text);

/* What is not answered OK, and of all objects, breaks the world. The answer, or NULL. */
const struct reply *asker_be_ok(struct asker *a, const char *text);

/* From asking to the whole answer, of the last one. */
nsec_t asker_took(const struct asker *a);

#endif
