/* SPDX-License-Identifier: Apache-2.0 */
#include "common/route/implied.h"

#include "common/container/map.h"
#include "common/omis/services/catalogue.h"
#include "common/omis/text/token.h"

#include <stdio.h>
#include <string.h>

#define KEY_BYTES (TOKEN_BYTES + 12)

static bool is_transient(const char *token, size_t n)
{
	char class = token_class(token, n);

	return n < TOKEN_BYTES && (class == 'p' || class == 't');
}

static const char *key_of(char out[KEY_BYTES], uint32_t action, const char *token, size_t n)
{
	snprintf(out, KEY_BYTES, "%u %.*s", action, (int)n, token);
	return out;
}

static int name_one(struct smap *names, uint32_t action, const struct omis_value *v)
{
	char key[KEY_BYTES];

	if (v->kind != OMIS_TOKEN || !is_transient(v->s.p, v->s.n))
		return 0;
	return smap_put(names, key_of(key, action, v->s.p, v->s.n), names, NULL);
}

static int name_list(struct smap *names, uint32_t action, const struct omis_value *v)
{
	int rc = 0;

	if (v->kind != OMIS_LIST)
		return name_one(names, action, v);
	for (size_t i = 0; !rc && i < v->list.n; i++)
		rc = name_one(names, action, &v->list.v[i]);
	return rc;
}

static int name_all(struct smap *names, uint32_t action, const struct omis_call *call)
{
	const struct omis_service *s = call->service;
	int rc = 0;

	for (size_t i = 0; s && !rc && i < call->nparam; i++)
		if ((int)i == s->object_param || s->param[i].is_ranks)
			rc = name_list(names, action, &call->param[i]);
	return rc;
}

static bool may_go(const struct reply_entry *e)
{
	return e->status == STATUS_UNKNOWN_OBJECT && e->objects[0];
}

static bool is_implied(const struct smap *names, const struct reply_entry *e)
{
	char key[KEY_BYTES];
	size_t n;

	for (const char *at = e->objects; *at; at += n + (at[n] == ',')) {
		n = strcspn(at, ",");
		if (!is_transient(at, n) || smap_find(names, key_of(key, e->action, at, n)))
			return false;
	}
	return true;
}

static size_t drop(struct reply *r, const struct smap *names)
{
	size_t kept = 0, n = r->nentry;

	for (size_t i = 0; i < n; i++)
		if (!may_go(&r->entry[i]) || !is_implied(names, &r->entry[i]))
			r->entry[kept++] = r->entry[i];
	r->nentry = kept;
	return n - kept;
}

static bool any_may_go(const struct reply *r)
{
	for (size_t i = 0; i < r->nentry; i++)
		if (may_go(&r->entry[i]))
			return true;
	return false;
}

size_t route_drop_implied(struct reply *r, const struct omis_call *call, size_t n,
			  const uint32_t *numbers)
{
	struct smap names;
	size_t dropped = 0;
	int rc = 0;

	if (!any_may_go(r))
		return 0;
	smap_init(&names);
	for (size_t i = 0; !rc && i < n; i++)
		rc = name_all(&names, numbers ? numbers[i] : (uint32_t)i + 1, &call[i]);
	if (!rc)
		dropped = drop(r, &names);
	smap_done(&names);
	return dropped;
}
