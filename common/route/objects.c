/* SPDX-License-Identifier: Apache-2.0 */
#include "common/route/objects.h"

#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/omis/text/arena.h"
#include "common/omis/text/token.h"

#include <stdio.h>
#include <string.h>

struct conversion {
	struct route_tokens tokens;
	int rc; /* 0 or -ERR_NOTFOUND */
};

struct seen {
	uint64_t stamp; /* stamp of the last call that had it */
};

int route_objects_init(struct route_objects *o, const struct route_view *view)
{
	*o = (struct route_objects){ .view = view, .arena = arena_new(PLAN_HEAP_MAX_BYTES) };
	smap_init(&o->conversions);
	smap_init(&o->seen);
	if (o->arena)
		o->by_branch = arena_array(o->arena, view->nbranch, sizeof(*o->by_branch));
	return o->by_branch ? 0 : -ERR_NOMEM;
}

void route_objects_done(struct route_objects *o)
{
	smap_done(&o->conversions);
	smap_done(&o->seen);
	arena_free(o->arena);
	o->arena = NULL;
}

void route_objects_forget(struct route_objects *o)
{
	smap_done(&o->conversions);
	smap_init(&o->conversions);
}

static struct route_tokens no_tokens(struct route_objects *o)
{
	return (struct route_tokens){ .max = OMIS_OBJECTS_MAX, .arena = o->arena };
}

static int too_many(struct route_objects *o)
{
	return err_set(o->e, ERR_LIMIT, "a request for more than %d objects", OMIS_OBJECTS_MAX);
}

static int ask(struct route_objects *o, const char *token, char class, bool up,
	       struct route_tokens *out)
{
	return up ? o->view->lift(o->view->arg, token, out)
		  : o->view->expand(o->view->arg, token, class, out);
}

/* Converts an object by one step, down (to `class`) or up, from the cache or by the view. */
static int convert(struct route_objects *o, const char *token, char class, bool up,
		   const struct route_tokens **out)
{
	char key[NAME_MAX_BYTES + 4];
	struct conversion *c;

	snprintf(key, sizeof(key), "%c %s", up ? '^' : class, token ? token : "");
	c = smap_find(&o->conversions, key);
	if (!c) {
		c = arena_alloc(o->arena, sizeof(*c));
		if (!c)
			return -ERR_NOMEM;
		c->tokens = no_tokens(o);
		c->rc = ask(o, token, class, up, &c->tokens);
		if (c->rc && c->rc != -ERR_NOTFOUND)
			return c->rc == -ERR_LIMIT ? too_many(o) : c->rc;
		if (smap_put(&o->conversions, key, c, NULL))
			return -ERR_NOMEM;
	}
	*out = &c->tokens;
	return c->rc;
}

/* Duplicates within one call are dropped. */
static int add(struct route_objects *o, const char *token, struct route_tokens *out)
{
	struct seen *s = smap_find(&o->seen, token);
	int rc;

	if (s && s->stamp == o->stamp)
		return 0;
	if (!s) {
		s = arena_alloc(o->arena, sizeof(*s));
		if (!s || smap_put(&o->seen, token, s, NULL))
			return -ERR_NOMEM;
	}
	s->stamp = o->stamp;
	if (++o->total > OMIS_OBJECTS_MAX)
		return too_many(o);
	rc = route_tokens_add(out, token);
	return rc == -ERR_LIMIT ? too_many(o) : rc;
}

static bool is_above(char a, char b)
{
	bool related;

	return token_compare_class(a, b, &related) < 0 && related;
}

/* Adds an object that the call does not name itself. */
static int add_implied(struct route_objects *o, const char *token, struct route_tokens *out)
{
	const struct route_view *v = o->view;

	return o->living && v->has_ended(v->arg, token) ? 0 : add(o, token, out);
}

/*
 * Expands `token` to all objects of class `to` in it. Objects that have ended are skipped. At most
 * three levels deep.
 */
static int expand_down(struct route_objects *o, const char *token, char from, char to,
		       struct route_tokens *out)
{
	char next = token_class_below(from);
	const struct route_tokens *list;
	int rc = convert(o, token, next, false, &list);

	for (size_t i = 0; !rc && i < list->n; i++) {
		const char *t = list->v[i];

		/*
		 * Objects of a higher class than `next` stand for their contents: the next level
		 * expands them.
		 */
		if (next == to || token_class(t, strlen(t)) != next)
			rc = add_implied(o, t, out);
		else
			rc = expand_down(o, t, next, to, out);
		if (rc == -ERR_NOTFOUND)
			rc = 0;
	}
	return rc;
}

/* True if a counter, integrator or trace buffer is of the parameter's kind: they are one class. */
static bool is_of_kind(const struct omis_param *p, const char *token)
{
	char kind = token_measure(token, strlen(token));

	return !kind || kind == p->class;
}

/* Expands the empty list. Processes and threads are found through the attached nodes. */
static int expand_all(struct route_objects *o, const struct omis_service *s,
		      struct route_tokens *out)
{
	char class = s->object, root = is_above('n', class) ? 'n' : class;
	const struct route_tokens *list;
	int rc = convert(o, NULL, root, false, &list);

	for (size_t i = 0; !rc && i < list->n; i++) {
		if (!is_of_kind(&s->param[s->object_param], list->v[i]))
			continue;
		if (root == class)
			rc = add_implied(o, list->v[i], out);
		else
			rc = expand_down(o, list->v[i], root, class, out);
		if (rc == -ERR_NOTFOUND)
			rc = 0;
	}
	return rc == -ERR_NOTFOUND ? 0 : rc;
}

static int lift(struct route_objects *o, const char *token, char to, struct route_tokens *out)
{
	const struct route_tokens *up;
	int rc;

	while (token_class(token, strlen(token)) != to) {
		rc = convert(o, token, 0, true, &up);
		if (rc)
			return rc;
		if (up->n != 1 || !is_above(token_class(up->v[0], strlen(up->v[0])),
					    token_class(token, strlen(token))))
			return -ERR_NOTFOUND;
		token = up->v[0];
	}
	return add(o, token, out);
}

/* Adds an unknown object. The last values of an ended process are lost with its lm. */
static int unknown(struct reply *into, uint32_t action, const char *token)
{
	bool may_have_ended = token_class(token, strlen(token)) == 'p';

	return reply_add_error(
		into, action, token, STATUS_UNKNOWN_OBJECT, "there is no such object%s",
		may_have_ended ? ", or no longer: what has ended is known as long as its lm stays"
			       : "");
}

static int one(struct route_objects *o, const struct omis_call *call, const char *token,
	       struct route_tokens *out)
{
	char class = token_class(token, strlen(token)), want = call->service->object;
	bool related;

	if (class == 'u')
		return -ERR_NOTFOUND;
	if (class == want || (token_compare_class(class, want, &related), !related))
		return add(o, token, out);
	if (is_above(want, class))
		return lift(o, token, want, out);
	return expand_down(o, token, class, want, out);
}

int route_objects_of(struct route_objects *o, const struct omis_call *call, uint32_t action,
		     struct reply *into, struct route_tokens *out)
{
	const struct omis_service *s = call->service;
	const struct omis_value *v = &call->param[s->object_param];
	size_t n;
	int rc = 0;

	*out = no_tokens(o);
	o->stamp++;
	o->living = s->class == OMIS_MANIP && !(s->flags & OMIS_SCOPE) && o->view->has_ended;
	if (v->kind != OMIS_LIST) {
		/*
		 * Only lists are expanded: a single node may be meant for its processes, but the
		 * request does not state that.
		 */
		if (v->kind == OMIS_TOKEN && is_above(token_class(v->s.p, v->s.n), s->object))
			return reply_add_error(
				into, action, v->s.p, STATUS_TYPE_MISMATCH,
				"parameter %s of %s is one object, not all in another",
				s->param[s->object_param].name, s->name);
		n = 1;
	} else {
		n = v->list.n;
		v = v->list.v;
		if (!n)
			return expand_all(o, s, out);
	}
	for (size_t i = 0; !rc && i < n; i++) {
		rc = v[i].kind == OMIS_TOKEN ? one(o, call, v[i].s.p, out) : -ERR_INVALID;
		if (rc == -ERR_NOTFOUND)
			rc = unknown(into, action, v[i].s.p);
	}
	return rc;
}

static int places_grow(struct route_objects *o, struct places *p)
{
	size_t cap = p->cap ? 2 * p->cap : 8;
	struct branch_tokens **grown = arena_array(o->arena, cap, sizeof(*grown));

	if (!grown)
		return -ERR_NOMEM;
	if (p->n)
		memcpy(grown, p->v, p->n * sizeof(*grown));
	p->v = grown;
	p->cap = cap;
	return 0;
}

static struct branch_tokens *branch_of(struct route_objects *o, struct places *p, uint32_t branch)
{
	struct branch_tokens *c;

	if (o->by_branch[branch])
		return o->by_branch[branch];
	c = arena_alloc(o->arena, sizeof(*c));
	if (!c)
		return NULL;
	if (p->n == p->cap && places_grow(o, p))
		return NULL;
	*c = (struct branch_tokens){ .branch = branch, .tokens = no_tokens(o) };
	p->v[p->n++] = c;
	o->by_branch[branch] = c;
	return c;
}

static int miss(const struct route_objects *o, const char *token, const char *why,
		struct reply *into)
{
	char words[96];

	into->coverage.asked++;
	if (o->outcome) {
		snprintf(words, sizeof(words), "%s: %s", o->outcome, why);
		why = words;
	}
	return reply_add_missing(into, token, why);
}

static int place_one(struct route_objects *o, const char *token, struct reply *into,
		     struct places *out)
{
	struct route_places where = { .arena = o->arena };
	const char *missing = NULL;
	struct branch_tokens *c;
	int rc = o->view->locate(o->view->arg, token, o->view->arming, &where, &missing);

	if (rc)
		return rc;
	if (missing)
		rc = miss(o, token, missing, into);
	for (size_t i = 0; !rc && i < where.n; i++) {
		if (where.branch[i] >= o->view->nbranch)
			return -ERR_INTERNAL;
		c = branch_of(o, out, where.branch[i]);
		rc = c ? route_tokens_add(&c->tokens, token) : -ERR_NOMEM;
	}
	return rc;
}

int route_objects_locate(struct route_objects *o, uint32_t action, const struct route_tokens *of,
			 struct reply *into, struct places *out)
{
	int rc = 0;

	*out = (struct places){ 0 };
	for (size_t i = 0; !rc && i < of->n; i++) {
		rc = place_one(o, of->v[i], into, out);
		if (rc == -ERR_NOTFOUND)
			rc = unknown(into, action, of->v[i]);
	}
	for (size_t i = 0; i < out->n; i++)
		o->by_branch[out->v[i]->branch] = NULL;
	return rc;
}

int route_objects_existing(struct route_objects *o, uint32_t action, struct route_tokens *tokens,
			   struct reply *into)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < tokens->n; i++) {
		struct route_places where = { .arena = o->arena };
		const char *missing = NULL;

		rc = o->view->locate(o->view->arg, tokens->v[i], o->view->arming, &where, &missing);
		if (rc == -ERR_NOTFOUND)
			rc = unknown(into, action, tokens->v[i]);
		else if (!rc)
			tokens->v[kept++] = tokens->v[i];
	}
	tokens->n = kept;
	return rc;
}

void objects_print_call(struct buf *b, const struct omis_call *call,
			const struct route_tokens *tokens)
{
	struct omis_writer w = OMIS_WRITER(b);
	int at = tokens ? call->service->object_param : -1;

	buf_puts(b, call->name);
	buf_putc(b, '(');
	for (size_t i = 0; i < call->nparam; i++) {
		if ((int)i != at) {
			omis_write_value(&w, &call->param[i]);
			continue;
		}
		if (call->param[i].kind == OMIS_LIST)
			omis_write_list(&w);
		for (size_t k = 0; k < tokens->n; k++)
			omis_write_token(&w, tokens->v[k]);
		if (call->param[i].kind == OMIS_LIST)
			omis_write_list_end(&w);
	}
	buf_putc(b, ')');
}

/*
 * Derives the reason, which a buffer does not report: at its cap the buffer is nearly full, without
 * memory it may stop anywhere.
 */
int route_objects_text_failure(const struct route_objects *o, const struct buf *b)
{
	if (b->n < ROUTE_TEXT_MAX_BYTES / 2)
		return -ERR_NOMEM;
	return err_set(o->e, ERR_LIMIT, "a request of more than %d bytes for one branch",
		       ROUTE_TEXT_MAX_BYTES);
}
