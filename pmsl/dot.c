/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/dot.h"

#include "common/base/str.h"

#include <string.h>

void dot_put_escaped(struct buf *b, const char *s)
{
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_putc(b, '\\');
		buf_putc(b, (uint8_t)(*s == '\n' ? ' ' : *s));
	}
}

void dot_begin(struct buf *b, const char *title)
{
	buf_puts(b, "digraph \"");
	dot_put_escaped(b, title);
	buf_puts(b,
		 "\" {\n\tgraph [fontname=\"Helvetica\", rankdir=TB];\n"
		 "\tnode [fontname=\"Helvetica\", fontsize=11, shape=box];\n\tedge [dir=back];\n");
}

void dot_end(struct buf *b)
{
	buf_puts(b, "}\n");
}

static void begin_cluster(struct buf *b, const char *id, const char *title)
{
	buf_printf(b, "\tsubgraph \"cluster_%s\" {\n\tlabel=\"", id);
	dot_put_escaped(b, title);
	buf_puts(b, "\";\n");
}

static void end_cluster(struct buf *b)
{
	buf_puts(b, "\t}\n");
}

/* --- templates */

static const char *template_shape(enum dag_kind k)
{
	if (k == DAG_METRIC || k == DAG_CONTEXT)
		return "ellipse";
	if (k == DAG_PROBE)
		return "hexagon";
	return k == DAG_OP || k == DAG_FOLD || k == DAG_AT || k == DAG_IF || k == DAG_PAIR ||
			       k == DAG_LIST || k == DAG_FUNCTION
		       ? "box"
		       : "plaintext";
}

/* Marks the needed nodes: others, such as arguments that are checked but not used, are left out. */
static void mark(const struct dag *g, bool *is_live)
{

	memset(is_live, 0, DAG_NODES_MAX * sizeof(*is_live));
	is_live[g->root] = true;
	for (size_t i = g->n; i-- > 0;)
		for (unsigned k = 0; k < g->node[i].nin && is_live[i]; k++)
			is_live[g->node[i].in[k]] = true;
}

void dot_template(struct buf *b, const struct dag *g, const char *id, const char *title)
{
	bool is_live[DAG_NODES_MAX];

	mark(g, is_live);
	begin_cluster(b, id, title);
	for (size_t i = 0; i < g->n; i++) {
		const struct dag_node *n = &g->node[i];
		struct buf label = BUF_INIT(4096);

		if (!is_live[i])
			continue;
		dag_label(g, n, &label);
		buf_printf(b, "\t\t%s_%zu [shape=%s, label=\"", id, i, template_shape(n->kind));
		dot_put_escaped(b, buf_str(&label));
		buf_puts(b, "\"];\n");
		buf_done(&label);
		for (unsigned k = 0; k < n->nin; k++)
			buf_printf(b, "\t\t%s_%zu -> %s_%u;\n", id, i, id, n->in[k]);
	}
	end_cluster(b);
}

/* --- nodes of a dataflow graph */

static void label_source(struct buf *b, const struct flow_source *s)
{
	if (s->kind == FLOW_SOURCE_METRIC)
		dot_put_escaped(b, s->metric);
	else if (s->kind == FLOW_SOURCE_PARAMETER)
		buf_printf(b, "parameter %u", s->parameter);
	else
		buf_puts(b, s->kind == FLOW_SOURCE_TIME ? "Time" : "1");
	if (s->object && *s->object) {
		buf_puts(b, "\\n");
		dot_put_escaped(b, s->object);
	}
	if (s->probe && *s->probe) {
		buf_puts(b, "\\nAT ");
		dot_put_escaped(b, s->probe);
		buf_puts(b, " of ");
		dot_put_escaped(b, s->process);
	}
}

static void label_fold(struct buf *b, const struct flow_node *n)
{
	buf_printf(b, "%s%s%s", n->kind == FLOW_VT_AGG ? "VT_" : "", agg_kind_name(n->fold.agg),
		   n->fold.partial_out ? " (part)" : "");
	if (agg_kind_has_share(n->fold.agg))
		buf_printf(b, " %g", n->fold.q);
	if (n->kind == FLOW_VT_AGG)
		buf_puts(b, n->fold.since == FLOW_SINCE_LAST ? "\\nsince last" : "\\nsince start");
}

static void label_flow(struct buf *b, const struct flow_node *n)
{
	switch (n->kind) {
	case FLOW_CONST:
		buf_printf(b, "%g", n->constant);
		return;
	case FLOW_INPUT:
		label_source(b, &n->source);
		return;
	case FLOW_OP:
		buf_puts(b, flow_op_name(n->op));
		return;
	case FLOW_SET:
	case FLOW_VT_AGG:
		label_fold(b, n);
		return;
	case FLOW_PAIR:
		buf_printf(b, "pair for %s", agg_kind_name(n->fold.agg));
		return;
	case FLOW_WHO:
		buf_printf(b, "%s of %s", agg_kind_name(n->who.fold.agg), n->who.object);
		return;
	case FLOW_CHOICE:
		buf_puts(b, "choice of ");
		choice_print(&n->choice, b);
		return;
	case FLOW_SHIFT:
		buf_printf(b, "shift vt by %lld", (long long)n->shift);
		return;
	case FLOW_LINK_IN:
	case FLOW_LINK_OUT:
		buf_printf(b, "%s %s", n->kind == FLOW_LINK_IN ? "from" : "to", n->link.name);
		return;
	case FLOW_RESULT:
		buf_printf(b, "result %u", n->output);
		return;
	case FLOW_STOP:
		buf_printf(b, "%s until ", agg_kind_name(n->stop.agg));
		dot_put_escaped(b, n->stop.until);
		return;
	default:
		buf_puts(b, flow_kind_name(n->kind));
	}
}

static const char *flow_shape(enum flow_kind k)
{
	if (k == FLOW_INPUT)
		return "ellipse";
	if (k == FLOW_LINK_IN || k == FLOW_LINK_OUT)
		return "cds";
	if (k == FLOW_RESULT)
		return "doubleoctagon";
	return k == FLOW_CONST ? "plaintext" : "box";
}

static void put_flow(struct buf *b, const char *id, size_t i, const struct flow_node *n)
{
	buf_printf(b, "\t\t%s_%zu [shape=%s, label=\"", id, i, flow_shape(n->kind));
	label_flow(b, n);
	buf_puts(b, "\"];\n");
	for (size_t k = 0; k < n->nin; k++)
		buf_printf(b, "\t\t%s_%zu -> %s_%u;\n", id, i, id, n->in[k]);
}

void dot_bound(struct buf *b, const struct bound *bound)
{
	begin_cluster(b, "graph", "graph");
	for (size_t i = 0; i < bound->n; i++)
		if (bound->node[i]->is_live)
			put_flow(b, "graph", i, &bound->node[i]->n);
	end_cluster(b);
}

/* --- pieces */

static const char *piece_id(size_t i, char out[24])
{
	snprintf(out, 24, "piece%zu", i);
	return out;
}

static void begin_piece(struct buf *b, const struct pieces *p, size_t i, const struct world *w)
{
	const struct piece *v = &p->v[i];
	const struct world_object *o = v->place.kind == PLACE_TOP ? NULL : &w->v[v->place.object];
	char id[24];

	begin_cluster(b, piece_id(i, id), !o ? "top" : o->name ? o->name : o->token);
}

static void put_nodes(struct buf *b, const struct pieces *p, size_t i)
{
	const struct flow_graph *g = p->v[i].graph;
	char id[24];

	for (size_t k = 0; k < g->nnode; k++)
		put_flow(b, piece_id(i, id), k, &g->node[k]);
}

/* A site's cluster contains those of its nodes. */
static void put_site(struct buf *b, const struct pieces *p, size_t i, const struct world *w)
{
	begin_piece(b, p, i, w);
	put_nodes(b, p, i);
	for (size_t k = 0; k < p->n; k++) {
		if (p->v[k].place.kind != PLACE_NODE || p->v[i].place.kind != PLACE_SITE ||
		    world_site(w, p->v[k].place.object) != p->v[i].place.object)
			continue;
		begin_piece(b, p, k, w);
		put_nodes(b, p, k);
		end_cluster(b);
	}
	end_cluster(b);
}

/* Finds the other end of a link in all pieces. */
static void put_link(struct buf *b, const struct pieces *p, size_t i, size_t k, const char *name)
{
	for (size_t j = 0; j < p->n; j++) {
		const struct flow_graph *g = p->v[j].graph;

		for (size_t m = 0; m < g->nnode; m++)
			if (g->node[m].kind == FLOW_LINK_OUT && str_eq(g->node[m].link.name, name))
				buf_printf(b,
					   "\tpiece%zu_%zu -> piece%zu_%zu [style=dashed, "
					   "label=\"%s\"];\n",
					   i, k, j, m, name);
	}
}

static void put_links(struct buf *b, const struct pieces *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct flow_graph *g = p->v[i].graph;

		for (size_t k = 0; k < g->nnode; k++)
			if (g->node[k].kind == FLOW_LINK_IN)
				put_link(b, p, i, k, g->node[k].link.name);
	}
}

void dot_pieces(struct buf *b, const struct pieces *p, const struct world *w)
{
	for (size_t i = 0; i < p->n; i++) {
		bool is_in_site = p->v[i].place.kind == PLACE_NODE &&
				  world_site(w, p->v[i].place.object) != WORLD_NONE;

		if (!is_in_site)
			put_site(b, p, i, w);
	}
	put_links(b, p);
}
