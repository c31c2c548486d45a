/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/text/evout.h"

#include "common/base/str.h"

#include <string.h>

/*
 * True if the event itself has a field of that name: both a library call and its stream have a
 * rank.
 */
static bool is_own(const struct evtype *t, const char *name)
{
	for (unsigned i = 0; i < t->nconst; i++)
		if (str_eq(t->constant[i].name, name))
			return true;
	for (unsigned i = 0; i < t->nfield; i++)
		if (str_eq(t->field[i].name, name))
			return true;
	return false;
}

static bool next_constant(const struct evtype *t, unsigned at, struct evattr *out)
{
	if (!t || at >= t->nconst)
		return false;
	*out = (struct evattr){ t->constant[at].name, &t->constant[at].value, true };
	return true;
}

bool evattr_next(struct evattr_iter *i, struct evattr *out)
{
	const struct evtype *t = i->ev->type, *s = i->ev->stream_type;
	unsigned of_stream = s ? s->nconst : 0, at;

	while (i->at < of_stream && is_own(t, s->constant[i->at].name))
		i->at++;
	at = i->at++;
	if (next_constant(s, at, out))
		return true;
	at -= of_stream;
	if (next_constant(t, at, out))
		return true;
	at -= t->nconst;
	if (at >= t->nfield)
		return false;
	*out = (struct evattr){ t->field[at].name, &i->ev->value[at], false };
	return true;
}

const struct evvalue *evattr_find(const struct event *ev, const char *name)
{
	struct evattr_iter i = { .ev = ev };
	struct evattr a;

	while (evattr_next(&i, &a))
		if (str_eq(a.name, name))
			return a.value;
	return NULL;
}

const struct evvalue *evattr_find_id(const struct event *ev)
{
	for (unsigned i = 0; i < ev->type->nfield; i++) {
		const char *name = ev->type->field[i].name;
		size_t n = strlen(name);

		if (str_eq(name, "guid") || str_eq(name, "id") || str_eq(name, "ID") ||
		    (n > 3 && str_eq(name + n - 3, ".id")))
			return &ev->value[i];
	}
	return NULL;
}
