/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/simulated/medium_internal.h"

#include <stdlib.h>

void medium_take(struct medium *m, uint32_t index, bool is_given_up, struct medium_frame *out)
{
	struct station *s = &m->station[index];
	struct frame *f = medium_first(s);

	*out = (struct medium_frame){ f->what, index + 1, is_given_up };
	s->queued_bytes -= f->bytes;
	m->nqueued--;
	list_del(&f->link);
	free(f);
	if (is_given_up)
		m->counts.given_up++;
	else
		m->counts.frames++;
}
