/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/node/sessions.h"

#include "common/base/err.h"
#include "common/base/map.h"

#include <stdlib.h>

struct tools {
	struct map seen;
};

struct tools *tools_new(void)
{
	struct tools *t = calloc(1, sizeof(*t));

	if (t)
		map_init(&t->seen);
	return t;
}

void tools_free(struct tools *t)
{
	if (!t)
		return;
	map_done(&t->seen);
	free(t);
}

bool tools_has(const struct tools *t, uint32_t tool)
{
	return map_find(&t->seen, tool);
}

size_t tools_count(const struct tools *t)
{
	return t->seen.n;
}

int tools_seen(struct tools *t, uint32_t tool)
{
	if (map_find(&t->seen, tool))
		return 0;
	if (t->seen.n >= TOOLS_SEEN_MAX)
		return -ERR_LIMIT;
	return map_put(&t->seen, tool, t, NULL);
}

void tools_gone(struct tools *t, uint32_t tool)
{
	map_del(&t->seen, tool);
}

bool tools_any(const struct tools *t, uint32_t *tool)
{
	struct map_iter i = { 0 };

	if (!map_next(&t->seen, &i))
		return false;
	*tool = (uint32_t)i.key;
	return true;
}
