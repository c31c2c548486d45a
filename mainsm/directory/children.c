/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/directory/children.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/daemon/link.h"

#include <stdlib.h>

struct children {
	struct child **v; /* NULL: the number is free */
	size_t cap, n;
};

struct children *children_new(void)
{
	return calloc(1, sizeof(struct children));
}

void children_free(struct children *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->cap; i++)
		free(c->v[i]);
	free(c->v);
	free(c);
}

static size_t free_number(const struct children *c)
{
	size_t i = 0;

	while (i < c->cap && c->v[i])
		i++;
	return i;
}

int children_add(struct children *c, const struct child *what, struct child **out)
{
	size_t i = free_number(c);
	struct child *child;
	int rc = array_grow(&c->v, &c->cap, i + 1, sizeof(*c->v), CHILDREN_MAX);

	if (rc)
		return rc;
	child = calloc(1, sizeof(*child));
	if (!child)
		return -ERR_NOMEM;
	*child = *what;
	child->index = (uint32_t)i;
	c->v[i] = child;
	c->n++;
	*out = child;
	return 0;
}

void children_remove(struct children *c, struct child *child)
{
	c->v[child->index] = NULL;
	c->n--;
	free(child);
}

struct child *children_at(const struct children *c, uint32_t index)
{
	return index < c->cap ? c->v[index] : NULL;
}

struct child *children_find(const struct children *c, const char *token)
{
	for (size_t i = 0; i < c->cap; i++)
		if (c->v[i] && str_eq(c->v[i]->token, token))
			return c->v[i];
	return NULL;
}

uint32_t children_bound(const struct children *c)
{
	size_t n = c->cap;

	while (n > 0 && !c->v[n - 1])
		n--;
	return (uint32_t)n;
}

size_t children_count(const struct children *c)
{
	return c->n;
}

/* Nothing that it must hear is left out: it is cut, and told all that holds when it is back. */
int children_send(const struct children *c, uint32_t index, const struct msg *m)
{
	const struct child *child = children_at(c, index);
	int rc = child && child->link ? link_send(child->link, m) : -ERR_CLOSED;

	if (rc == -ERR_AGAIN)
		link_fail(child->link, MSG_ERR_SLOW, "too much waits to be read");
	return rc;
}

void children_send_all(const struct children *c, const struct msg *m)
{
	for (size_t i = 0; i < c->cap; i++)
		if (c->v[i])
			children_send(c, (uint32_t)i, m);
}

const char *children_name(const struct children *c, uint32_t index)
{
	const struct child *child = children_at(c, index);

	return child ? child->token : "?";
}
