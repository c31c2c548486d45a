/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/node/sessions.h"

#include "common/base/err.h"
#include "common/container/map.h"

#include <stdlib.h>

struct sessions {
	struct map seen;
};

struct sessions *sessions_new(void)
{
	struct sessions *t = calloc(1, sizeof(*t));

	if (t)
		map_init(&t->seen);
	return t;
}

void sessions_free(struct sessions *t)
{
	if (!t)
		return;
	map_done(&t->seen);
	free(t);
}

bool sessions_has(const struct sessions *t, uint32_t tool)
{
	return map_find(&t->seen, tool);
}

size_t sessions_count(const struct sessions *t)
{
	return t->seen.n;
}

int sessions_seen(struct sessions *t, uint32_t tool)
{
	if (map_find(&t->seen, tool))
		return 0;
	if (t->seen.n >= TOOLS_SEEN_MAX)
		return -ERR_LIMIT;
	return map_put(&t->seen, tool, t, NULL);
}

void sessions_gone(struct sessions *t, uint32_t tool)
{
	map_del(&t->seen, tool);
}

bool sessions_any(const struct sessions *t, uint32_t *tool)
{
	struct map_iter i = { 0 };

	if (!map_next(&t->seen, &i))
		return false;
	*tool = (uint32_t)i.key;
	return true;
}
