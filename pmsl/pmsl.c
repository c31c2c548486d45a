/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/pmsl.h"

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "pmsl/check/builtin.h"
#include "pmsl/check/check.h"
#include "pmsl/text/lex.h"
#include "pmsl/text/parse.h"

#include <stdlib.h>
#include <string.h>

struct pmsl {
	struct pmsl_source source;
	char *name, *text; /* owned */
	struct pmsl_units units;
	struct pmsl_tree *tree;
	struct pmsl_tree *known[PMSL_LIBRARY_MAX]; /* owned; texts of the library, in its order */
	size_t nknown;
};

/* Parses a text of the library. The tree copies its words, so the text is only borrowed. */
static int take_known(struct pmsl *p, const struct pmsl_source *s)
{
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct pmsl_tree *t = NULL;
	int rc = pmsl_parse(s, &d, &t);

	if (rc)
		return rc;
	t->known = p->known;
	t->nknown = p->nknown;
	p->known[p->nknown++] = t;
	rc = d.nerror ? 0 : pmsl_check(t, &p->units, &d);
	return rc || !d.nerror ? rc : -ERR_INVALID;
}

static int compile(struct pmsl *p, const struct pmsl_library *l, const struct pmsl_source *s,
		   struct pmsl_diags *d)
{
	int rc = l->n > PMSL_LIBRARY_MAX ? -ERR_LIMIT : 0;

	p->name = str_dup(s->name);
	p->text = malloc(s->n + 1);
	if (!p->name || !p->text)
		return -ERR_NOMEM;
	if (s->n)
		memcpy(p->text, s->text, s->n);
	p->text[s->n] = '\0';
	p->source = (struct pmsl_source){ p->name, p->text, s->n };
	pmsl_units_init(&p->units);
	for (size_t i = 0; i < l->n && !rc; i++)
		rc = take_known(p, &l->v[i]);
	if (!rc)
		rc = pmsl_parse(&p->source, d, &p->tree);
	if (rc || d->nerror)
		return rc;
	p->tree->known = p->known;
	p->tree->nknown = p->nknown;
	return pmsl_check(p->tree, &p->units, d);
}

int pmsl_compile_with(const struct pmsl_library *l, const struct pmsl_source *s,
		      struct pmsl_diags *d, struct pmsl **out)
{
	struct pmsl *p = calloc(1, sizeof(*p));
	int rc = p ? compile(p, l, s, d) : -ERR_NOMEM;

	if (rc)
		pmsl_free(p);
	else
		*out = p;
	return rc;
}

int pmsl_compile(const char *name, const char *text, size_t n, struct pmsl_diags *d,
		 struct pmsl **out)
{
	const struct pmsl_library none = { NULL, 0 };

	return pmsl_compile_with(&none, &(struct pmsl_source){ name, text, n }, d, out);
}

void pmsl_names_each(const char *text, size_t n, void (*fn)(void *arg, const char *name, size_t n),
		     void *arg)
{
	const struct pmsl_source s = { "", text, n };
	struct pmsl_diags unused = PMSL_DIAGS_INIT;
	struct pmsl_lexer l = { .s = &s, .d = &unused };
	struct pmsl_word w;

	for (pmsl_lex(&l, &w); w.kind != PMSL_W_END; pmsl_lex(&l, &w))
		if (w.kind == PMSL_W_NAME)
			fn(arg, text + w.at, w.len);
}

void pmsl_free(struct pmsl *p)
{
	if (!p)
		return;
	pmsl_tree_free(p->tree);
	for (size_t i = 0; i < p->nknown; i++)
		pmsl_tree_free(p->known[i]);
	free(p->name);
	free(p->text);
	free(p);
}

const struct pmsl_source *pmsl_source(const struct pmsl *p)
{
	return &p->source;
}

const struct pmsl_tree *pmsl_tree(const struct pmsl *p)
{
	return p->tree;
}

const struct pmsl_units *pmsl_units(const struct pmsl *p)
{
	return &p->units;
}

const struct pmsl_metric *pmsl_metric(const struct pmsl *p, const char *name, struct pmsl_diags *d)
{
	const struct pmsl_metric *m = pmsl_tree_find(p->tree, name);
	struct nearest near = nearest_to(name);

	if (m && m->is_good)
		return m;
	pmsl_error(d, PMSL_NOWHERE, 0, m ? "%s has errors" : "there is no metric %s in it", name);
	for (const struct pmsl_metric *other = p->tree->metric; other && !m; other = other->next)
		nearest_try(&near, other->name);
	if (near.best)
		pmsl_hint(d, "did you mean %s?", near.best);
	return NULL;
}

int pmsl_plan(const struct pmsl_demand *w, struct pmsl_diags *d, struct pmsl_plan *out)
{
	struct placed what = { .b = &out->bound,
			       .measurement = w->measurement,
			       .text = &w->text->source };
	int rc;

	memset(out, 0, sizeof(*out));
	rc = dag_build(w->metric, true, d, &out->dag);
	if (rc)
		return rc;
	rc = bound_init(&out->bound, w->world);
	if (!rc)
		rc = bind_metric(out->dag, w->options, &out->bound, d, &out->outputs);
	what.outputs = out->outputs;
	if (!rc)
		rc = place_graph(&what, d, &out->pieces);
	if (rc)
		pmsl_plan_done(out);
	return rc;
}

int pmsl_can_stop(const struct pmsl_metric *m, const struct bind_options *options)
{
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct dag *g;
	int rc = dag_build(m, true, &d, &g);
	bool can = !rc && bind_can_stop(g, options);

	if (!rc)
		dag_free(g);
	return rc == -ERR_NOMEM ? rc : can ? 0 : -ERR_UNSUPPORTED;
}

void pmsl_plan_done(struct pmsl_plan *plan)
{
	pieces_done(&plan->pieces);
	bound_done(&plan->bound);
	dag_free(plan->dag);
	memset(plan, 0, sizeof(*plan));
}

int pmsl_builtin_source(const char *builtin, bool has_partners, bool has_regions, struct buf *out)
{
	const struct pmsl_builtin_use use = { .by_partners = has_partners,
					      .by_regions = has_regions };
	struct pmsl_builtin b;
	int id = pmsl_builtin_find(builtin);
	const char *object, *time;

	if (id < 0 || !pmsl_builtin_get((unsigned)id, &b))
		return -ERR_NOTFOUND;
	if (pmsl_builtin_refusal(&b, &use))
		return -ERR_UNSUPPORTED;
	object = b.object == PMSL_T_NODE ? "Node" : "Process";
	time = b.is_total ? "t" : "NOW";
	buf_puts(out, "Measured(");
	if (b.object != PMSL_T_NONE)
		buf_printf(out, "%s object%s", object,
			   b.is_total || has_partners || has_regions ? ", " : "");
	if (has_partners)
		buf_puts(out, "Process[] partners, ");
	if (has_regions)
		buf_puts(out, "Region[] regions, ");
	buf_puts(out, b.is_total ? "TimeInterval t) " : ") ");
	buf_printf(out, "{ RETURN %s(%s%s%s%s); }", b.name,
		   b.object != PMSL_T_NONE ? "object, " : "", has_partners ? "partners, " : "",
		   has_regions ? "regions, " : "", time);
	return out->failed ? -ERR_NOMEM : 0;
}
