/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of a measurement: marks on the tree of objects. The nearest mark on or above a
 * process decides whether it is in. So a process of a named node can be removed, and added again.
 */
#include "common/base/array.h"
#include "common/base/str.h"
#include "mainsm/measure/measure_internal.h"

#include <stdlib.h>
#include <string.h>

static size_t mark_at(const struct asked_objects *a, const char *token)
{
	size_t i = 0;

	while (i < a->n && !str_eq(a->mark[i].token, token))
		i++;
	return i;
}

/* Returns the decision of the nearest mark above the object. */
static bool is_in(const struct asked_objects *a, const struct object *o)
{
	for (; o; o = o->parent) {
		size_t at = mark_at(a, o->token);

		if (at < a->n)
			return !a->mark[at].is_out;
	}
	return a->is_all;
}

static bool lies_in(const struct session *s, const char *token, const char *in)
{
	const struct object *o = directory_find(s->view.directory, token);

	if (str_eq(token, in))
		return true;
	while (o && !str_eq(o->token, in))
		o = o->parent;
	return o;
}

/* Removes marks on the object and its contents. Returns true if one of them included something. */
static bool drop_marks(struct asked_objects *a, const struct session *s, const char *token)
{
	size_t kept = 0;
	bool was_in = false;

	for (size_t i = 0; i < a->n; i++)
		if (!lies_in(s, a->mark[i].token, token))
			a->mark[kept++] = a->mark[i];
		else
			was_in |= !a->mark[i].is_out;
	a->n = kept;
	return was_in;
}

static int put_mark(struct asked_objects *a, const char *token, bool is_out)
{
	int rc = array_grow(&a->mark, &a->cap, a->n + 1, sizeof(*a->mark), DIRECTORY_OBJECTS_MAX);

	if (rc)
		return rc;
	str_copy(a->mark[a->n].token, sizeof(a->mark[a->n].token), token);
	a->mark[a->n++].is_out = is_out;
	return 0;
}

static const struct object *find(const struct session *s, const char *token)
{
	const struct object *o = directory_find(s->view.directory, token);

	return o && o->kind != OBJECT_THREAD && scope_has(s->scope, o) ? o : NULL;
}

static int unknown(struct buf *why, const char *token)
{
	buf_printf(why, "there is no such object: %.40s", token);
	return -ERR_NOTFOUND;
}

static int add_one(struct asked_objects *a, const struct session *s, const char *token,
		   struct buf *why)
{
	const struct object *o = find(s, token);

	if (!o)
		return unknown(why, token);
	drop_marks(a, s, token);
	return is_in(a, o) ? 0 : put_mark(a, token, false);
}

/* Removes an object. One that has ended is not in the tree, and may still be named. */
static int remove_one(struct asked_objects *a, const struct session *s, const char *token,
		      struct buf *why)
{
	const struct object *o = find(s, token);
	bool was_in = o && is_in(a, o);

	was_in |= drop_marks(a, s, token);
	if (!o && !was_in)
		return unknown(why, token);
	if (was_in)
		return o && is_in(a, o) ? put_mark(a, token, true) : 0;
	buf_printf(why, "%.40s is not among what is measured", token);
	return -ERR_NOTFOUND;
}

static bool is_nothing(const struct asked_objects *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (!a->mark[i].is_out)
			return false;
	return !a->is_all;
}

static int change(struct asked_objects *a, const struct session *s,
		  const struct omis_value *objects, bool add, struct buf *why)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < objects->list.n; i++) {
		const struct omis_value *o = &objects->list.v[i];

		if (o->kind != OMIS_TOKEN) {
			buf_puts(why, "objects are tokens");
			return -ERR_INVALID;
		}
		rc = (add ? add_one : remove_one)(a, s, o->s.p, why);
	}
	return rc;
}

int asked_objects_copy(const struct asked_objects *from, struct asked_objects *out)
{
	struct asked_objects a = { .is_all = from->is_all };

	if (array_grow(&a.mark, &a.cap, from->n + 1, sizeof(*a.mark), DIRECTORY_OBJECTS_MAX + 1))
		return -ERR_NOMEM;
	if (from->n)
		memcpy(a.mark, from->mark, from->n * sizeof(*a.mark));
	a.n = from->n;
	*out = a;
	return 0;
}

void asked_objects_done(struct asked_objects *a)
{
	free(a->mark);
	*a = (struct asked_objects){ .is_all = false };
}

int asked_objects_init(struct asked_objects *a, const struct session *s,
		       const struct omis_value *objects, struct buf *why)
{
	a->is_all = !objects->list.n;
	return change(a, s, objects, true, why);
}

int asked_objects_change(struct asked_objects *a, const struct session *s,
			 const struct omis_value *objects, bool add, struct buf *why)
{
	struct asked_objects made;
	int rc = asked_objects_copy(a, &made);

	if (rc)
		return rc;
	rc = change(&made, s, objects, add, why);
	if (!rc && is_nothing(&made)) {
		buf_puts(why, "nothing would be left to measure");
		rc = -ERR_INVALID;
	}
	if (rc) {
		asked_objects_done(&made);
		return rc;
	}
	asked_objects_done(a);
	*a = made;
	return 0;
}
