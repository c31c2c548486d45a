/* SPDX-License-Identifier: Apache-2.0 */
#include "common/route/view.h"

#include "common/base/err.h"
#include "common/omis/text/arena.h"

#include <string.h>

/* An arena frees nothing, but all old arrays together are only as large as the new one. */
static int grow(struct arena *arena, void **array, size_t *cap, size_t n, size_t item)
{
	size_t grown = *cap ? 2 * *cap : 4;
	void *p;

	if (n < *cap)
		return 0;
	p = arena_array(arena, grown, item);
	if (!p)
		return -ERR_NOMEM;
	if (n)
		memcpy(p, *array, n * item);
	*array = p;
	*cap = grown;
	return 0;
}

int route_tokens_add(struct route_tokens *t, const char *token)
{
	void *array = t->v;
	int rc;

	if (t->n >= t->max)
		return -ERR_LIMIT;
	rc = grow(t->arena, &array, &t->cap, t->n, sizeof(*t->v));
	if (rc)
		return rc;
	t->v = array;
	t->v[t->n] = arena_copy(t->arena, token, strlen(token));
	return t->v[t->n] ? (t->n++, 0) : -ERR_NOMEM;
}

int route_places_add(struct route_places *p, uint32_t branch)
{
	void *array = p->branch;
	int rc;

	for (size_t i = 0; i < p->n; i++)
		if (p->branch[i] == branch)
			return 0;
	rc = grow(p->arena, &array, &p->cap, p->n, sizeof(*p->branch));
	if (rc)
		return rc;
	p->branch = array;
	p->branch[p->n++] = branch;
	return 0;
}
