/* SPDX-License-Identifier: Apache-2.0 */
#include "libapp/match/sends.h"

/* Marks other threads in a send of the same channel; true if there is one. */
static bool meets_others(struct match_sends *s, uint64_t key, unsigned thread)
{
	bool meets = false;

	for (unsigned i = 0; i < MATCH_THREADS; i++) {
		if (s->sending[i].key != key || i == thread)
			continue;
		s->sending[i].in_doubt = true;
		meets = true;
	}
	return meets;
}

struct match_sent match_send(struct match_sends *s, const struct match_channel *c, unsigned thread)
{
	uint64_t key = match_key(c);
	struct match_count *count = match_find(&s->table, key);
	struct match_sent sent = { .in_doubt = s->in_doubt };

	if (!count)
		return sent;
	if (s->is_shared)
		s->sending[thread] = (struct match_sending){ key, meets_others(s, key, thread) };
	sent.id = match_id(key, ++count->n);
	return sent;
}

void match_send_done(struct match_sends *s, unsigned thread, struct match_sent *sent)
{
	if (!s->is_shared || !sent->id)
		return;
	sent->in_doubt |= s->sending[thread].in_doubt;
	s->sending[thread] = (struct match_sending){ 0 };
}
