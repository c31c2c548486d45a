/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/form/netlog.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "eventlog/text/evout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char prefix[] = "interaction.";

/* Returns the name behind the prefix, or NULL if the event has another one. */
static const char *word_of(const char *event)
{
	size_t n = strlen(prefix);

	return strncmp(event, prefix, n) ? NULL : event + n;
}

static bool has_kind(const char *event, enum network_kind *out)
{
	const char *word = word_of(event);

	return word && !network_kind_from_name(word, strlen(word), out);
}

bool netlog_is_vertex(const char *event)
{
	enum network_kind kind;

	return has_kind(event, &kind);
}

static int missing(struct err *e, const char *field, const char *what)
{
	return err_set(e, ERR_INVALID, "field %s is missing, or is not %s", field, what);
}

static const struct evvalue *text_of(const struct event *ev, const char *field)
{
	const struct evvalue *v = evattr_find(ev, field);

	return v && v->kind == EV_STRING ? v : NULL;
}

static int read_u64(const struct event *ev, const char *field, uint64_t *out, struct err *e)
{
	const struct evvalue *v = evattr_find(ev, field);
	char text[24];

	if (v && v->kind == EV_INT64 && v->i64 >= 0)
		*out = (uint64_t)v->i64;
	else if (v && v->kind == EV_INT32 && v->i32 >= 0)
		*out = (uint64_t)v->i32;
	else if (v && v->kind == EV_STRING && v->n < sizeof(text)) {
		memcpy(text, v->s, v->n);
		text[v->n] = '\0';
		if (str_to_u64(text, 0, UINT64_MAX, out))
			return missing(e, field, "an integer from 0 to 2^64 - 1");
	} else {
		return missing(e, field, "an integer from 0 to 2^64 - 1");
	}
	return 0;
}

static bool is_true(const struct event *ev, const char *field)
{
	const struct evvalue *v = evattr_find(ev, field);

	if (!v)
		return false;
	return v->kind == EV_INT32    ? v->i32 != 0
	       : v->kind == EV_INT64  ? v->i64 != 0
	       : v->kind == EV_STRING ? v->n == 4 && !memcmp(v->s, "true", 4)
				      : false;
}

/* Copies a name; a number becomes text. Returns false if the event has no such field. */
static bool copy_text(const struct event *ev, const char *field, char out[NAME_MAX_BYTES + 1])
{
	const struct evvalue *v = evattr_find(ev, field);

	out[0] = '\0';
	if (v && v->kind == EV_INT32)
		snprintf(out, NAME_MAX_BYTES + 1, "%" PRId32, v->i32);
	else if (v && v->kind == EV_INT64)
		snprintf(out, NAME_MAX_BYTES + 1, "%" PRId64, v->i64);
	else if (v && v->kind == EV_STRING && v->n <= NAME_MAX_BYTES && str_is_name(v->s, v->n)) {
		memcpy(out, v->s, v->n);
		out[v->n] = '\0';
	}
	return *out;
}

/* --- uses */

static bool is_between(char c)
{
	return c == ' ' || c == ',';
}

static int read_uses(struct netlog *l, struct netuse *use, const struct evvalue *v, bool is_child,
		     struct err *e)
{
	for (uint32_t i = 0, n; v && i < v->n; i += n) {
		struct network_use *op = &l->op[l->vertex.nuse];
		int rc;

		for (n = 0; i + n < v->n && !is_between(v->s[i + n]);)
			n++;
		if (!n) {
			n = 1;
			continue;
		}
		if (v->s[i] != '+' && v->s[i] != '-')
			return err_set(e, ERR_INVALID, "a use is +OBJECT or -OBJECT");
		if (l->vertex.nuse == NETLOG_USES_MAX)
			return err_set(e, ERR_LIMIT, "more than %d uses", NETLOG_USES_MAX);
		*op = (struct network_use){ .is_child = is_child, .is_end = v->s[i] == '-' };
		rc = netuse_object(use, v->s + i + 1, n - 1, &op->object, e);
		if (rc && rc != -ERR_NOTFOUND)
			return rc;
		l->vertex.nuse += !rc;
	}
	return 0;
}

int netlog_objects(struct netuse *use, struct bytes text, uint32_t *object, size_t *out,
		   struct err *e)
{
	const char *s = (const char *)text.p;
	size_t n = text.n;

	*out = 0;
	for (size_t i = 0, k; i < n; i += k + 1) {
		int rc;

		for (k = 0; i + k < n && !is_between(s[i + k]) && s[i + k] != '+';)
			k++;
		if (!k)
			continue;
		if (*out == NETUSE_TERMS_MAX)
			return err_set(e, ERR_LIMIT, "more than %d objects", NETUSE_TERMS_MAX);
		rc = netuse_object(use, s + i, k, &object[(*out)++], e);
		if (rc)
			return rc;
	}
	return *out ? 0 : err_set(e, ERR_INVALID, "no object");
}

/* --- vertices */

static int read_pair(struct netlog *l, struct netuse *use, const struct event *ev, struct err *e)
{
	bool is_fork = l->vertex.kind == NETWORK_FORK;
	const struct evvalue *via = text_of(ev, "via");
	int rc;

	if (!is_fork && l->vertex.kind != NETWORK_JOIN)
		return 0;
	rc = read_u64(ev, is_fork ? "new" : "with", &l->vertex.other, e);
	l->vertex.is_message = is_fork && via && via->n == 7 && !memcmp(via->s, "message", 7);
	return rc || !is_fork ? rc : read_uses(l, use, text_of(ev, "child_use"), true, e);
}

int netlog_vertex(struct netlog *l, struct netuse *use, const struct event *ev, struct err *e)
{
	int rc;

	l->vertex = (struct network_event){ .t = ev->wall_ns,
					    .node = NETWORK_NONE,
					    .place = (uint32_t)ev->number + 1,
					    .use = l->op };
	if (!has_kind(ev->type->name, &l->vertex.kind))
		return 0;
	rc = read_u64(ev, "st", &l->vertex.task, e);
	rc = rc ? rc : read_uses(l, use, text_of(ev, "use"), false, e);
	rc = rc ? rc : read_pair(l, use, ev, e);
	if (rc)
		return rc;
	l->vertex.blocks = is_true(ev, "blocks");
	if (copy_text(ev, "v", l->name)) {
		l->vertex.name = l->name;
		l->vertex.n = strlen(l->name);
	}
	if (!copy_text(ev, "i", l->interaction))
		l->interaction[0] = '\0';
	if (!copy_text(ev, "node", l->node) && !copy_text(ev, "HOST", l->node))
		copy_text(ev, "host", l->node);
	return 1;
}

/* --- declarations */

static int declare_object(struct netuse *use, const struct event *ev, struct err *e)
{
	const struct evvalue *name = text_of(ev, "name"), *class = text_of(ev, "class");
	bool is_inherit = class && class->n == 7 && !memcmp(class->s, "inherit", 7);
	uint32_t object;
	int rc;

	if (!name)
		return missing(e, "name", "a text");
	if (!is_inherit && !(class && class->n == 5 && !memcmp(class->s, "local", 5)))
		return missing(e, "class", "local or inherit");
	rc = netuse_object(use, name->s, name->n, &object, e);
	return rc ? rc : netuse_declare(use, object, is_inherit ? NETUSE_INHERIT : NETUSE_LOCAL, e);
}

static int declare_terms(struct netuse *use, const struct event *ev, bool is_state, struct err *e)
{
	const struct evvalue *objects = text_of(ev, "objects");
	uint32_t object[NETUSE_TERMS_MAX];
	char name[NAME_MAX_BYTES + 1];
	size_t n;
	int rc;

	if (is_state && !copy_text(ev, "name", name))
		return missing(e, "name", "a text");
	if (!objects)
		return missing(e, "objects", "a text");
	rc = netlog_objects(use, bytes_at(objects->s, objects->n), object, &n, e);
	if (rc)
		return rc;
	return is_state ? netuse_add_state(use, name, object, n, e)
			: netuse_add_member(use, object, n, e);
}

int netlog_declare(struct netuse *use, const struct event *ev, struct err *e)
{
	const char *word = word_of(ev->type->name);
	int rc;

	if (word && str_eq(word, "object"))
		rc = declare_object(use, ev, e);
	else if (word && (str_eq(word, "state") || str_eq(word, "member")))
		rc = declare_terms(use, ev, *word == 's', e);
	else
		return 0;
	return rc ? rc : 1;
}
