/* SPDX-License-Identifier: Apache-2.0 */
#include "common/container/map.h"
#include "common/net/internal.h"

#include <stdlib.h>

#define SOURCES_MAX 4096 /* sources that are stored at once: 256 KiB */
#define FAILURES_FREE 2 /* for a typo and a retry; the third failure is penalised */
#define FAILURE_MEMORY_NS (60 * NSEC_PER_SEC)

struct sources {
	struct map by_key;
};

struct sources *sources_new(void)
{
	struct sources *s = calloc(1, sizeof(*s));

	if (s)
		map_init(&s->by_key);
	return s;
}

void sources_free(struct sources *s)
{
	if (!s)
		return;
	for (struct map_iter i = { 0 }; map_next(&s->by_key, &i);)
		free(i.value);
	map_done(&s->by_key);
	free(s);
}

static bool is_forgettable(const struct source *s, nsec_t now)
{
	return !s->half_open && now >= s->penalty_until && now - s->last >= FAILURE_MEMORY_NS;
}

static void forget(struct sources *s, nsec_t now)
{
	for (struct map_iter i = { 0 }; map_next(&s->by_key, &i);) {
		if (is_forgettable(i.value, now))
			free(map_del(&s->by_key, i.key));
	}
}

struct source *sources_get(struct sources *s, uint64_t key, nsec_t now)
{
	struct source *found = map_find(&s->by_key, key);

	if (found)
		return found;
	if (s->by_key.n >= SOURCES_MAX)
		forget(s, now);
	if (s->by_key.n >= SOURCES_MAX)
		return NULL;
	found = calloc(1, sizeof(*found));
	if (!found)
		return NULL;
	found->key = key;
	found->last = now;
	if (map_put(&s->by_key, key, found, NULL)) {
		free(found);
		return NULL;
	}
	return found;
}

void source_punish(struct source *s, nsec_t now, nsec_t penalty)
{
	if (s->penalty_until < now)
		s->penalty_until = now;
	s->penalty_until += penalty;
	if (s->penalty_until > now + PENALTY_MAX_NS)
		s->penalty_until = now + PENALTY_MAX_NS;
}

void source_failed(struct source *s, nsec_t now)
{
	if (now - s->last >= FAILURE_MEMORY_NS)
		s->failures = 0;
	s->last = now;
	if (++s->failures > FAILURES_FREE)
		source_punish(s, now, PENALTY_AUTH_NS);
}

bool source_is_punished(const struct source *s, nsec_t now)
{
	return now < s->penalty_until;
}
