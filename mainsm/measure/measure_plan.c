/* SPDX-License-Identifier: Apache-2.0 */
/* Plans a measurement: from a metric and the present objects to the pieces of its graph. */
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "mainsm/measure/measure_internal.h"
#include "pmsl/check/builtin.h"

#include <stdlib.h>

#define GRAPH_MAX_BYTES (FRAME_MAX_BYTES - 64 * 1024) /* per piece, in one frame */

void measure_plan_explain(const struct pmsl *p, const struct pmsl_diags *d, struct buf *why)
{
	for (size_t i = 0; i < d->n; i++)
		if (!d->v[i].is_warning)
			pmsl_diag_print(why, pmsl_source(p), &d->v[i], &pmsl_no_colors);
	if (why->n && why->p[why->n - 1] == '\n')
		why->n--;
}

void measure_piece_close(struct measure_piece *p)
{
	stage_free(p->stage);
	flow_free(p->engine);
	p->stage = NULL;
	p->engine = NULL;
}

void measure_plan_free(struct measure_plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->npiece; i++) {
		flow_graph_free(p->piece[i].graph);
		buf_done(&p->piece[i].text);
		measure_piece_close(&p->piece[i]);
	}
	free(p->piece);
	for (size_t i = 0; i < p->nlabel; i++)
		free(p->with[i]);
	free(p->with);
	free(p->label);
	measure_world_free(p->world);
	free(p);
}

static bool has_parameter(const struct measure *m, const char *name)
{
	const struct omis_values *p = m->asked.parameters;

	for (size_t i = 0; i < p->n; i += 2)
		if (str_eq(omis_values_text(p, i), name))
			return true;
	return false;
}

static struct pmsl_builtin_use use_of(const struct measure *m)
{
	return (struct pmsl_builtin_use){
		.by_partners = m->asked.each & BIND_EACH_PARTNER || has_parameter(m, "partners"),
		.by_regions = m->asked.each & BIND_EACH_REGION || has_parameter(m, "regions"),
	};
}

static void report_unknown(const char *metric, struct buf *why)
{
	struct nearest near = nearest_to(metric);
	char best[PMSL_BUILTIN_NAME_BYTES];

	pmsl_builtin_try(&near, best);
	buf_printf(why, "there is no built-in metric %.64s", metric);
	if (near.best)
		buf_printf(why, "; did you mean %s?", near.best);
}

static void explain_builtin(const struct measure *m, const struct pmsl_builtin_use *use,
			    struct buf *why)
{
	int id = pmsl_builtin_find(m->asked.metric);
	struct pmsl_builtin b;
	const char *refusal;

	if (id < 0 || !pmsl_builtin_get((unsigned)id, &b)) {
		report_unknown(m->asked.metric, why);
		return;
	}
	refusal = pmsl_builtin_refusal(&b, use);
	buf_printf(why, "%.64s %s", m->asked.metric, refusal ? refusal : "cannot be measured so");
}

int measure_builtin(const struct measure *m, struct buf *text, struct buf *why)
{
	const struct pmsl_builtin_use use = use_of(m);
	int rc = pmsl_builtin_source(m->asked.metric, use.by_partners, use.by_regions, text);

	if (rc == -ERR_NOTFOUND || rc == -ERR_UNSUPPORTED)
		explain_builtin(m, &use, why);
	return rc == -ERR_NOTFOUND ? -ERR_INVALID : rc;
}

static int take_piece(struct measure_plan *p, struct piece *from, const struct world *w,
		      struct buf *why)
{
	struct measure_piece *to = &p->piece[p->npiece++];

	*to = (struct measure_piece){ .kind = from->place.kind,
				      .graph = from->graph,
				      .branch = STAGE_NOWHERE };
	from->graph = NULL;
	to->text = BUF_INIT(GRAPH_MAX_BYTES);
	if (to->kind != PLACE_TOP)
		str_copy(to->object, sizeof(to->object), w->v[from->place.object].token);
	flow_graph_print(&to->text, to->graph);
	if (to->text.failed) {
		buf_printf(why, "the part for %s is too large", to->object);
		return -ERR_LIMIT;
	}
	return 0;
}

static int take_pieces(struct measure_plan *p, struct pmsl_plan *from, const struct world *w,
		       struct buf *why)
{
	int rc = 0;

	p->piece = calloc(from->pieces.n + 1, sizeof(*p->piece));
	if (!p->piece)
		return -ERR_NOMEM;
	for (size_t i = 0; !rc && i < from->pieces.n; i++)
		rc = take_piece(p, &from->pieces.v[i], w, why);
	return rc;
}

/*
 * Prints a partner and the name of a region as values of the request language; either may be NULL.
 */
static char *print_with(const char *partner, const char *region)
{
	struct buf b = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);

	if (partner)
		omis_write_token(&w, partner);
	if (region)
		omis_write_string(&w, region);
	if (!b.failed)
		return (char *)buf_take(&b, NULL);
	buf_done(&b);
	return NULL;
}

static int take_with(struct measure_plan *p, size_t i, const struct bind_output *o,
		     const struct world *w)
{
	const char *partner = o->partner != WORLD_NONE ? w->v[o->partner].token : NULL;

	if (o->region || partner)
		p->with[i] = print_with(partner, o->region);
	return p->with[i] || (!o->region && o->partner == WORLD_NONE) ? 0 : -ERR_NOMEM;
}

static int take_labels(struct measure_plan *p, const struct pmsl_plan *from, const struct world *w)
{
	int rc = 0;

	p->label = calloc(from->outputs.n + 1, sizeof(*p->label));
	p->with = calloc(from->outputs.n + 1, sizeof(*p->with));
	if (!p->label || !p->with)
		return -ERR_NOMEM;
	p->nlabel = from->outputs.n;
	for (size_t i = 0; i < p->nlabel && !rc; i++) {
		if (from->outputs.v[i].object != WORLD_NONE)
			str_copy(p->label[i], sizeof(p->label[i]),
				 w->v[from->outputs.v[i].object].token);
		rc = take_with(p, i, &from->outputs.v[i], w);
	}
	return rc;
}

static int take_plan(struct pmsl_plan *from, const struct world *w, struct measure_plan **out,
		     struct buf *why)
{
	struct measure_plan *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return -ERR_NOMEM;
	rc = take_pieces(p, from, w, why);
	if (!rc)
		rc = take_labels(p, from, w);
	if (rc)
		measure_plan_free(p);
	else
		*out = p;
	return rc;
}

int measure_plan_make(const struct measure *m, struct measure_world **world,
		      struct measure_plan **out, struct buf *why)
{
	const struct world *w = &(*world)->world;
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct asked_binding b;
	struct pmsl_plan plan;
	int rc = asked_bind(m, *world, &b, why);

	if (rc)
		return rc;
	rc = pmsl_plan(&(struct pmsl_demand){ .text = m->pmsl,
					      .metric = m->metric,
					      .world = w,
					      .options = &b.options,
					      .measurement = m->number },
		       &d, &plan);
	asked_unbind(&b);
	if (rc) {
		measure_plan_explain(m->pmsl, &d, why);
		return rc;
	}
	rc = take_plan(&plan, w, out, why);
	pmsl_plan_done(&plan);
	if (rc)
		return rc;
	(*out)->world = *world;
	*world = NULL;
	return 0;
}
