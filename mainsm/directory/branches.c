/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/directory/branches.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/daemon/link.h"

#include <stdlib.h>

struct mainsm_branches {
	struct mainsm_branch **v; /* NULL: the number is free */
	size_t cap, n;
};

struct mainsm_branches *mainsm_branches_new(void)
{
	return calloc(1, sizeof(struct mainsm_branches));
}

void mainsm_branches_free(struct mainsm_branches *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->cap; i++)
		free(c->v[i]);
	free(c->v);
	free(c);
}

static size_t free_number(const struct mainsm_branches *c)
{
	size_t i = 0;

	while (i < c->cap && c->v[i])
		i++;
	return i;
}

int mainsm_branches_add(struct mainsm_branches *c, const struct mainsm_branch *what,
			struct mainsm_branch **out)
{
	size_t i = free_number(c);
	struct mainsm_branch *child;
	int rc = array_grow(&c->v, &c->cap, i + 1, sizeof(*c->v), MAINSM_BRANCHES_MAX);

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

void mainsm_branches_remove(struct mainsm_branches *c, struct mainsm_branch *child)
{
	c->v[child->index] = NULL;
	c->n--;
	free(child);
}

struct mainsm_branch *mainsm_branches_at(const struct mainsm_branches *c, uint32_t index)
{
	return index < c->cap ? c->v[index] : NULL;
}

struct mainsm_branch *mainsm_branches_find(const struct mainsm_branches *c, const char *token)
{
	for (size_t i = 0; i < c->cap; i++)
		if (c->v[i] && str_eq(c->v[i]->token, token))
			return c->v[i];
	return NULL;
}

uint32_t mainsm_branches_bound(const struct mainsm_branches *c)
{
	size_t n = c->cap;

	while (n > 0 && !c->v[n - 1])
		n--;
	return (uint32_t)n;
}

size_t mainsm_branches_count(const struct mainsm_branches *c)
{
	return c->n;
}

/* Nothing that it must hear is left out: it is cut, and told all that holds when it is back. */
int mainsm_branches_send(const struct mainsm_branches *c, uint32_t index, const struct msg *m)
{
	const struct mainsm_branch *child = mainsm_branches_at(c, index);
	int rc = child && child->link ? link_send(child->link, m) : -ERR_CLOSED;

	if (rc == -ERR_AGAIN)
		link_fail(child->link, MSG_ERR_SLOW, "too much waits to be read");
	return rc;
}

void mainsm_branches_send_all(const struct mainsm_branches *c, const struct msg *m)
{
	for (size_t i = 0; i < c->cap; i++)
		if (c->v[i])
			mainsm_branches_send(c, (uint32_t)i, m);
}

const char *mainsm_branches_name(const struct mainsm_branches *c, uint32_t index)
{
	const struct mainsm_branch *child = mainsm_branches_at(c, index);

	return child ? child->token : "?";
}
