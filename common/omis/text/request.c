/* SPDX-License-Identifier: Apache-2.0 */
#include "common/omis/text/request.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/text/lex.h"

#include <string.h>

#define CALLS_FIRST 8

struct calls {
	struct omis_call *v; /* first[], or memory of the arena */
	size_t n, cap;
	struct omis_call first[CALLS_FIRST];
};

static int parse_call(struct lex *l, struct omis_call *c)
{
	const char *p;
	size_t n;
	int rc;

	memset(c, 0, sizeof(*c));
	lex_blanks(l);
	c->offset = (uint32_t)l->at;
	rc = lex_word(l, &p, &n);
	if (rc)
		return rc;
	if (!n)
		return lex_expected(l, "the name of a service");
	if (!lex_take(l, '('))
		return lex_expected(l, "'('");
	c->name = arena_copy(l->arena, p, n);
	return c->name ? lex_params(l, ')', &c->param, &c->nparam) : lex_nomem(l);
}

static int calls_add(struct lex *l, struct calls *calls, const struct omis_call *c)
{
	struct omis_call *grown;

	if (calls->n == OMIS_ACTIONS_MAX)
		return lex_limit(l, c->offset, "more than %d actions", OMIS_ACTIONS_MAX);
	if (calls->n == calls->cap) {
		grown = arena_array(l->arena, 2 * calls->cap, sizeof(*grown));
		if (!grown)
			return lex_nomem(l);
		memcpy(grown, calls->v, calls->n * sizeof(*grown));
		calls->v = grown;
		calls->cap *= 2;
	}
	calls->v[calls->n++] = *c;
	return 0;
}

/* Parses up to the '}' or the end of the text, and does not consume it. */
static int parse_actions(struct lex *l, struct calls *calls)
{
	struct omis_call c;
	bool barrier = false;
	int rc;

	do {
		rc = parse_call(l, &c);
		c.barrier = barrier;
		if (!rc)
			rc = calls_add(l, calls, &c);
		if (rc)
			return rc;
		barrier = lex_take(l, ';');
	} while (barrier || lex_is_letter(lex_next(l)));
	return 0;
}

static int parse_event(struct lex *l, struct omis_request *r)
{
	if (lex_next(l) == ':')
		return 0;
	r->event = arena_alloc(l->arena, sizeof(*r->event));
	return r->event ? parse_call(l, r->event) : lex_nomem(l);
}

static int parse_request(struct lex *l, struct omis_request *r)
{
	struct calls calls = { .v = calls.first, .cap = CALLS_FIRST };
	int rc = parse_event(l, r);

	if (rc)
		return rc;
	if (!lex_take(l, ':'))
		return lex_expected(l, "':'");
	r->locked = lex_take(l, '{');
	rc = parse_actions(l, &calls);
	if (rc)
		return rc;
	if (r->locked && !lex_take(l, '}'))
		return lex_expected(l, "an action, ';' or '}'");
	if (lex_next(l) >= 0)
		return lex_expected(l, r->locked ? "the end" : "an action or ';'");
	r->naction = calls.n;
	r->action = arena_array(l->arena, calls.n, sizeof(*r->action));
	if (!r->action)
		return lex_nomem(l);
	memcpy(r->action, calls.v, calls.n * sizeof(*r->action));
	return 0;
}

static int parse(const char *p, size_t n, size_t values, struct omis_request **out, struct err *e)
{
	struct arena *arena = arena_new(LEX_HEAP_MAX_BYTES);
	struct omis_request *r;
	struct lex l;
	int rc;

	if (!arena)
		return err_nomem(e);
	lex_init(&l, bytes_at(p, n), arena, values, e);
	r = arena_alloc(arena, sizeof(*r));
	rc = r ? parse_request(&l, r) : err_nomem(e);
	if (rc) {
		arena_free(arena);
		return rc;
	}
	r->arena = arena;
	*out = r;
	return 0;
}

static int too_long(size_t limit, struct err *e)
{
	err_set(e, ERR_LIMIT, "a request of more than %zu bytes: too long at offset %zu", limit,
		limit);
	return err_at(e, 0, (unsigned)limit + 1), -ERR_LIMIT;
}

int omis_parse(const char *p, size_t n, struct omis_request **out, struct err *e)
{
	if (n > OMIS_REQUEST_MAX_BYTES)
		return too_long(OMIS_REQUEST_MAX_BYTES, e);
	return parse(p, n, OMIS_TOKENS_MAX, out, e);
}

int omis_parse_inner(const char *p, size_t n, struct omis_request **out, struct err *e)
{
	int rc;

	if (n > FRAME_MAX_BYTES)
		return too_long(FRAME_MAX_BYTES, e);
	/* Permits further parameters besides the objects, and the lists themselves. */
	rc = parse(p, n, OMIS_OBJECTS_MAX + OMIS_TOKENS_MAX, out, e);
	if (!rc)
		(*out)->inner = true;
	return rc;
}

void omis_request_free(struct omis_request *r)
{
	if (r)
		arena_free(r->arena);
}

static bool call_equal(const struct omis_call *a, const struct omis_call *b)
{
	if (!str_eq(a->name, b->name) || a->barrier != b->barrier || a->nparam != b->nparam)
		return false;
	for (size_t i = 0; i < a->nparam; i++)
		if (!omis_value_equal(&a->param[i], &b->param[i]))
			return false;
	return true;
}

bool omis_request_equal(const struct omis_request *a, const struct omis_request *b)
{
	if (!a->event != !b->event || (a->event && !call_equal(a->event, b->event)))
		return false;
	if (a->naction != b->naction || a->locked != b->locked)
		return false;
	for (size_t i = 0; i < a->naction; i++)
		if (!call_equal(&a->action[i], &b->action[i]))
			return false;
	return true;
}
