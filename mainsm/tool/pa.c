/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/tool/pa.h"

#include "common/base/str.h"

#include <stdlib.h>
#include <string.h>

struct pa_set {
	struct pa_object *v[PA_OBJECTS_MAX];
	size_t n;
};

struct pa_set *pa_set_new(void)
{
	return calloc(1, sizeof(struct pa_set));
}

static void object_end(struct pa_object *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->nproc; i++)
		free(o->proc[i]);
	free(o->proc);
	free(o->token);
	free(o);
}

void pa_set_free(struct pa_set *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		object_end(s->v[i]);
	free(s);
}

static struct pa_object *object_make(const char *token, const struct omis_value *procs)
{
	struct pa_object *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->token = str_dup(token);
	o->proc = calloc(procs->list.n + 1, sizeof(char *));
	for (size_t i = 0; o->token && o->proc && i < procs->list.n; i++) {
		o->proc[i] = str_ndup(procs->list.v[i].s.p, procs->list.v[i].s.n);
		if (!o->proc[i])
			break;
		o->nproc++;
	}
	if (o->token && o->proc && o->nproc == procs->list.n)
		return o;
	object_end(o);
	return NULL;
}

int pa_set_add(struct pa_set *s, const char *token, const struct omis_value *procs)
{
	struct pa_object *o;

	if (s->n >= PA_OBJECTS_MAX)
		return -ERR_LIMIT;
	o = object_make(token, procs);
	if (!o)
		return -ERR_NOMEM;
	s->v[s->n++] = o;
	return 0;
}

static size_t index_of(const struct pa_set *s, const char *token)
{
	size_t i = 0;

	while (i < s->n && !str_eq(s->v[i]->token, token))
		i++;
	return i;
}

void pa_set_del(struct pa_set *s, const char *token)
{
	size_t i = index_of(s, token);

	if (i == s->n)
		return;
	object_end(s->v[i]);
	s->n--;
	memmove(&s->v[i], &s->v[i + 1], (s->n - i) * sizeof(s->v[0]));
}

const struct pa_object *pa_set_find(const struct pa_set *s, const char *token)
{
	return pa_set_at(s, index_of(s, token));
}

const struct pa_object *pa_set_at(const struct pa_set *s, size_t i)
{
	return i < s->n ? s->v[i] : NULL;
}
