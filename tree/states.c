/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/states.h"

#include "common/base/buf.h"
#include "common/base/log.h"

unsigned states_step(const struct states *t, unsigned from, unsigned event, const char *which)
{
	unsigned to = t->next[from * t->nevent + event];

	if (to != from)
		log_debug("states", "%s=%s %s -> %s event=%s", t->name, which, t->state[from],
			  t->state[to], t->event[event]);
	return to;
}

void states_print_dot(const struct states *t, struct buf *b)
{
	buf_printf(b, "digraph %s {\n", t->name);
	for (unsigned s = 0; s < t->nstate; s++)
		for (unsigned ev = 0; ev < t->nevent; ev++)
			if (t->next[s * t->nevent + ev] != s)
				buf_printf(b, "\t%s -> %s [label=\"%s\"];\n", t->state[s],
					   t->state[t->next[s * t->nevent + ev]], t->event[ev]);
	buf_puts(b, "}\n");
}
