/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/route/world.h"

#include "common/base/err.h"
#include "common/base/str.h"

#include <check.h>
#include <string.h>

static char class_of(const char *token)
{
	return token_class(token, strlen(token));
}

static bool is_visible(const struct world *w, int i)
{
	const struct thing *t = &w->v[i];

	/* Threads follow their process. */
	if (class_of(t->token.s) == 't')
		return !t->gone && is_visible(w, t->parent);
	return t->attached && !t->gone;
}

struct thing *world_find(struct world *w, const char *token, size_t n)
{
	for (int i = 0; i < w->n; i++)
		if (strlen(w->v[i].token.s) == n && !memcmp(w->v[i].token.s, token, n))
			return &w->v[i];
	return NULL;
}

static int index_of(struct world *w, const char *token)
{
	struct thing *t = token ? world_find(w, token, strlen(token)) : NULL;

	return t && is_visible(w, (int)(t - w->v)) ? (int)(t - w->v) : -1;
}

static int expand(void *arg, const char *token, char cls, struct route_tokens *out)
{
	struct world *w = arg;
	int in = index_of(w, token), rc = 0;

	if (++w->expansions == w->deny_at)
		return -ERR_NOMEM;
	if (token && in < 0)
		return -ERR_NOTFOUND;
	for (int i = 0; !rc && i < w->n; i++)
		if (is_visible(w, i) && class_of(w->v[i].token.s) == cls &&
		    (!token || w->v[i].parent == in))
			rc = route_tokens_add(out, w->v[i].token.s);
	return rc;
}

static int lift(void *arg, const char *token, struct route_tokens *out)
{
	struct world *w = arg;
	int i = index_of(w, token);

	w->lifts++;
	if (i < 0 || w->v[i].parent < 0)
		return -ERR_NOTFOUND;
	return route_tokens_add(out, w->v[w->v[i].parent].token.s);
}

static int locate(void *arg, const char *token, bool arming, struct route_places *out,
		  const char **missing)
{
	struct world *w = arg;
	int i = index_of(w, token), rc = 0;

	if (i < 0)
		return -ERR_NOTFOUND;
	*missing = w->v[i].unreachable;
	if (class_of(token) != 'a')
		return *missing ? 0 : route_places_add(out, w->v[i].branch);
	for (uint32_t k = 0; !rc && k < w->view.nbranch; k++)
		if (w->v[i].branches >> k & 1)
			rc = route_places_add(out, k);
	return rc;
}

static bool has_ended(void *arg, const char *token)
{
	const struct thing *t = world_find(arg, token, strlen(token));

	return t && t->ended;
}

void world_init(struct world *w, uint32_t nbranch)
{
	*w = (struct world){ 0 };
	w->view = (struct route_view){ w, nbranch, expand, lift, locate, has_ended, false };
}

int world_add(struct world *w, const char *token, int parent, uint32_t branch)
{
	struct thing *t = &w->v[w->n];

	ck_assert_int_lt(w->n, WORLD_THINGS);
	*t = (struct thing){ .parent = parent, .attached = true, .branch = branch };
	ck_assert(str_copy(t->token.s, sizeof(t->token.s), token));
	return w->n++;
}

void world_small(struct world *w)
{
	int s, n, p;

	world_init(w, 2);
	s = world_add(w, "s_1", -1, 0);
	n = world_add(w, "n_1", s, 0);
	p = world_add(w, "p_1_000001", n, 0);
	world_add(w, "t_1_000001", p, 0);
	world_add(w, "p_1_000002", n, 0);
	n = world_add(w, "n_2", s, 0);
	world_add(w, "p_2_000001", n, 0);
	s = world_add(w, "s_2", -1, 1);
	n = world_add(w, "n_3", s, 1);
	world_add(w, "p_3_000001", n, 1);
}

struct omis_request *world_request(const char *text)
{
	struct omis_request *r = NULL;
	struct omis_diag d = { 0 };
	struct err e = { 0 };

	ck_assert_msg(!omis_parse_inner(text, strlen(text), &r, &e), "%s: %s", text, e.text);
	ck_assert_msg(!omis_check(r, &d), "%s: %s", text, d.err.text);
	return r;
}

char *world_show(const struct reply *r)
{
	struct buf b = BUF_INIT(1000000);

	for (size_t i = 0; i < r->nentry; i++) {
		const struct reply_entry *e = &r->entry[i];

		buf_printf(&b, "%s%u '%s' %s", i ? "; " : "", e->action, e->objects,
			   status_name(e->status));
		if (e->status == STATUS_OK)
			buf_printf(&b, " '%s'", e->value);
	}
	if (r->coverage.asked || r->coverage.nmissing)
		buf_printf(&b, " %u/%u", r->coverage.answered, r->coverage.asked);
	for (size_t i = 0; i < r->coverage.nmissing; i++)
		buf_printf(&b, " missing %s (%s)", r->coverage.missing[i].object,
			   r->coverage.missing[i].reason);
	return (char *)buf_take(&b, NULL);
}
