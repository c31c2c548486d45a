/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/text/parse.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "pmsl/text/parsing.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Parses Process[]. */
static bool parse_type(struct pmsl_parser *p, struct pmsl_type *out)
{
	const char *text = p->lex.s->text + p->word.at;
	unsigned dims = 0;

	out->kind = p->word.kind == PMSL_W_NAME ? pmsl_kind_find(text, p->word.len) : PMSL_T_NONE;
	if (out->kind == PMSL_T_NONE) {
		pmsl_expected(p, "a type");
		pmsl_hint(p->d, "types are Process, Node, Site, Region, VirtualTime, TimeInterval, "
				"PointOfTime, Value");
		return false;
	}
	for (pmsl_take(p); pmsl_accept(p, '['); dims++)
		if (!pmsl_expect(p, ']', "']'"))
			return false;
	if (dims > PMSL_DIMS_MAX)
		return pmsl_lost(p, p->end - 1, 1, "more than %d dimensions", PMSL_DIMS_MAX);
	out->dims = (uint8_t)dims;
	return true;
}

static struct pmsl_decl *make_decl(struct pmsl_parser *p, enum pmsl_decl_kind kind,
				   struct pmsl_type type)
{
	struct pmsl_decl *d = pmsl_make(p, sizeof(*d));

	if (!d)
		return NULL;
	d->kind = kind;
	d->type = type;
	d->number = -1;
	d->at = p->word.at;
	d->len = p->word.len;
	if (p->word.kind == PMSL_W_NAME) {
		d->name = pmsl_copy_word(p, &p->word);
		pmsl_take(p);
	}
	return d;
}

/* Parses TYPE NAME, ... ). A parameter of a probe may have no name. */
static bool parse_params(struct pmsl_parser *p, enum pmsl_decl_kind kind, struct pmsl_decl **out,
			 unsigned *n)
{
	struct pmsl_type type;

	if (pmsl_accept(p, ')'))
		return true;
	do {
		if (!parse_type(p, &type))
			return false;
		if (p->word.kind != PMSL_W_NAME && kind == PMSL_D_PARAM) {
			pmsl_expected(p, "the name of the parameter");
			return false;
		}
		if (*n == PMSL_PARAMS_MAX)
			return pmsl_lost(p, p->word.at, p->word.len, "more than %d parameters",
					 PMSL_PARAMS_MAX);
		*out = make_decl(p, kind, type);
		if (!*out)
			return false;
		(*out)->position = (*n)++;
		out = &(*out)->next;
	} while (pmsl_accept(p, ','));
	return pmsl_expect(p, ')', "',' or ')'");
}

static struct pmsl_stmt *make_stmt(struct pmsl_parser *p, enum pmsl_stmt_kind kind)
{
	struct pmsl_stmt *s = pmsl_make(p, sizeof(*s));

	if (!s)
		return NULL;
	s->kind = kind;
	s->at = p->word.at;
	s->len = p->word.len;
	return s;
}

/* Parses PROBE NAME(TYPE, ...); */
static struct pmsl_stmt *parse_probe(struct pmsl_parser *p)
{
	struct pmsl_stmt *s;

	pmsl_take(p);
	if (p->word.kind != PMSL_W_NAME) {
		pmsl_expected(p, "the name of a probe");
		return NULL;
	}
	s = make_stmt(p, PMSL_S_DECLARE);
	if (!s)
		return NULL;
	s->decl = make_decl(p, PMSL_D_PROBE, (struct pmsl_type){ 0 });
	if (!s->decl || !pmsl_expect(p, '(', "'('"))
		return NULL;
	return parse_params(p, PMSL_D_PROBE_PARAM, &s->decl->param, &s->decl->nparam) ? s : NULL;
}

/* Parses the names after a type: each becomes a statement. */
static struct pmsl_stmt *parse_names(struct pmsl_parser *p)
{
	struct pmsl_stmt *first = NULL, **end = &first;
	struct pmsl_type type;

	if (!parse_type(p, &type))
		return NULL;
	do {
		if (p->word.kind != PMSL_W_NAME) {
			pmsl_expected(p, "the name of a variable");
			return NULL;
		}
		*end = make_stmt(p, PMSL_S_DECLARE);
		if (!*end)
			return NULL;
		(*end)->decl = make_decl(p, PMSL_D_VARIABLE, type);
		if (!(*end)->decl)
			return NULL;
		if (pmsl_accept(p, '=')) {
			(*end)->decl->value = pmsl_parse_expr(p);
			if (!(*end)->decl->value)
				return NULL;
		}
		end = &(*end)->next;
	} while (pmsl_accept(p, ','));
	return first;
}

/* Parses NAME[index]... = EXPR. */
static struct pmsl_stmt *parse_assign(struct pmsl_parser *p)
{
	struct pmsl_stmt *s = make_stmt(p, PMSL_S_ASSIGN);

	if (!s)
		return NULL;
	s->name = pmsl_copy_word(p, &p->word);
	pmsl_take(p);
	if (!pmsl_parse_indices(p, &s->index) || !pmsl_expect(p, '=', "'='"))
		return NULL;
	s->value = pmsl_parse_expr(p);
	return s->value ? s : NULL;
}

static struct pmsl_stmt *parse_return(struct pmsl_parser *p)
{
	struct pmsl_stmt *s = make_stmt(p, PMSL_S_RETURN);

	pmsl_take(p);
	if (!s)
		return NULL;
	s->value = pmsl_parse_expr(p);
	return s->value ? s : NULL;
}

/* True at a type that begins a declaration: "Value x", "Value[] x". */
static bool begins_declaration(const struct pmsl_parser *p)
{
	if (p->word.kind != PMSL_W_NAME)
		return false;
	if (p->next.kind == PMSL_W_NAME)
		return true;
	return p->next.kind == PMSL_W_MARK && p->next.sub == '[' &&
	       pmsl_kind_find(p->lex.s->text + p->word.at, p->word.len) != PMSL_T_NONE;
}

static struct pmsl_stmt *parse_stmt(struct pmsl_parser *p)
{
	struct pmsl_stmt *s = NULL;

	if (pmsl_is_keyword(p, PMSL_K_PROBE))
		s = parse_probe(p);
	else if (pmsl_is_keyword(p, PMSL_K_RETURN))
		s = parse_return(p);
	else if (begins_declaration(p))
		s = parse_names(p);
	else if (p->word.kind == PMSL_W_NAME)
		s = parse_assign(p);
	else
		pmsl_expected(p, "a declaration, an assignment or RETURN");
	return s && pmsl_expect(p, ';', "';'") ? s : NULL;
}

/* Skips to the end of the statement: behind ';', or before '}' or the next statement. */
static void recover_stmt(struct pmsl_parser *p)
{
	while (p->word.kind != PMSL_W_END && !pmsl_is_mark(p, '}')) {
		if (pmsl_accept(p, ';'))
			break;
		pmsl_take(p);
		if (pmsl_is_keyword(p, PMSL_K_RETURN) || pmsl_is_keyword(p, PMSL_K_PROBE))
			break;
	}
	p->is_lost = p->is_nomem;
}

static bool must_stop(const struct pmsl_parser *p)
{
	return p->is_nomem || p->d->is_full || p->word.kind == PMSL_W_END;
}

static void parse_body(struct pmsl_parser *p, struct pmsl_metric *m)
{
	struct pmsl_stmt **end = &m->stmt;

	while (!must_stop(p) && !pmsl_is_mark(p, '}')) {
		*end = parse_stmt(p);
		if (p->is_lost)
			recover_stmt(p);
		while (*end)
			end = &(*end)->next;
	}
	if (!must_stop(p) || p->word.kind == PMSL_W_END)
		pmsl_expect(p, '}', "'}' at the end of the metric");
}

/* Parses : Unit("iterations"). */
static bool parse_unit(struct pmsl_parser *p, struct pmsl_metric *m)
{
	if (!pmsl_accept(p, ':'))
		return true;
	if (p->word.kind != PMSL_W_NAME || p->word.len != 4 ||
	    strncasecmp(p->lex.s->text + p->word.at, "Unit", 4)) {
		pmsl_expected(p, "Unit(\"...\")");
		return false;
	}
	pmsl_take(p);
	if (!pmsl_expect(p, '(', "'('"))
		return false;
	if (p->word.kind != PMSL_W_STRING) {
		pmsl_expected(p, "a unit in quotes");
		return false;
	}
	m->unit_at = p->word.at;
	m->unit_text = pmsl_copy_word(p, &p->word);
	pmsl_take(p);
	return pmsl_expect(p, ')', "')'");
}

static bool parse_head(struct pmsl_parser *p, struct pmsl_metric *m)
{
	if (p->word.kind != PMSL_W_NAME) {
		pmsl_expected(p, "the name of a metric");
		return false;
	}
	m->at = p->word.at;
	m->len = p->word.len;
	m->name = pmsl_copy_word(p, &p->word);
	pmsl_take(p);
	return pmsl_expect(p, '(', "'('") && parse_params(p, PMSL_D_PARAM, &m->param, &m->nparam) &&
	       parse_unit(p, m) && pmsl_expect(p, '{', "'{'");
}

/* Skips the rest of the metric and its '}'. */
static void recover_metric(struct pmsl_parser *p)
{
	while (p->word.kind != PMSL_W_END && !pmsl_accept(p, '}'))
		pmsl_take(p);
	p->is_lost = p->is_nomem;
}

static struct pmsl_metric *parse_metric(struct pmsl_parser *p)
{
	struct pmsl_metric *m = pmsl_make(p, sizeof(*m));

	if (!m)
		return NULL;
	if (parse_head(p, m)) {
		p->is_lost = false;
		parse_body(p, m);
		return m;
	}
	recover_metric(p);
	return m->name ? m : NULL;
}

static void parse_metrics(struct pmsl_parser *p, struct pmsl_tree *t)
{
	struct pmsl_metric **end = &t->metric;

	if (p->word.kind == PMSL_W_END)
		pmsl_error(p->d, p->word.at, 1, "there is no metric in this text");
	while (!must_stop(p)) {
		*end = parse_metric(p);
		p->is_lost = p->is_nomem;
		if (*end) {
			(*end)->number = t->nmetric++;
			end = &(*end)->next;
		}
	}
}

int pmsl_parse(const struct pmsl_source *s, struct pmsl_diags *d, struct pmsl_tree **out)
{
	struct pmsl_parser p = { .lex = { .s = s, .d = d },
				 .d = d,
				 .arena = arena_new(PMSL_HEAP_MAX_BYTES) };
	struct pmsl_tree *t = p.arena ? arena_alloc(p.arena, sizeof(*t)) : NULL;

	if (!t) {
		arena_free(p.arena);
		return -ERR_NOMEM;
	}
	t->arena = p.arena;
	if (s->n > PMSL_SOURCE_MAX_BYTES) {
		pmsl_error(d, PMSL_SOURCE_MAX_BYTES, 1, "the text is longer than %d KiB",
			   PMSL_SOURCE_MAX_BYTES / 1024);
	} else {
		pmsl_lex(&p.lex, &p.word);
		pmsl_lex(&p.lex, &p.next);
		parse_metrics(&p, t);
	}
	if (p.is_nomem) {
		arena_free(p.arena);
		return -ERR_NOMEM;
	}
	*out = t;
	return 0;
}

void pmsl_tree_free(struct pmsl_tree *t)
{
	if (t)
		arena_free(t->arena);
}
