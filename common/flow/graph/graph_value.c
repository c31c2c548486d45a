/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph as a value of the request language. A node is
 *	[kind, line, col, window, [input,...], attribute,...]
 * with the attributes of its kind:
 *	const    value
 *	input    source, metric, object, probe, process, parameter, from_start,
 *		 [partner,...], [region,...]
 *	op       name
 *	set      aggregate, q, partial_out
 *	vt_agg   aggregate, q, partial_out, since last read
 *	shift    n
 *	delta    per second
 *	rate     since last read
 *	link_in  name, domain, partial, aggregate, q, since last read, contributors
 *	link_out name
 *	result   output
 *	stop     aggregate, q, rule
 *	pair     aggregate
 *	choice   [word,...]
 *
 * Yes is 1, no is 0. graph_read.c reads such a value.
 */
#include "common/flow/graph/graph_internal.h"

#include "common/omis/text/value.h"

static void print_names(struct omis_writer *w, const struct flow_names *names)
{
	omis_write_list(w);
	for (size_t i = 0; i < names->n; i++)
		omis_write_string(w, names->v[i]);
	omis_write_list_end(w);
}

static void print_source(struct omis_writer *w, const struct flow_source *s)
{
	omis_write_string(w, flow_source_name(s->kind));
	omis_write_string(w, s->metric);
	omis_write_string(w, s->object);
	omis_write_string(w, s->probe);
	omis_write_string(w, s->process);
	omis_write_int(w, s->parameter);
	omis_write_int(w, s->from_start);
	print_names(w, &s->partners);
	print_names(w, &s->regions);
}

static void print_fold(struct omis_writer *w, const struct flow_fold *f)
{
	omis_write_string(w, agg_kind_name(f->agg));
	omis_write_float(w, f->q);
}

static void print_link(struct omis_writer *w, const struct flow_link *l)
{
	omis_write_string(w, l->name);
	omis_write_string(w, flow_domain_name(l->domain));
	omis_write_int(w, l->partial);
	print_fold(w, &l->fold);
	omis_write_int(w, l->fold.since == FLOW_SINCE_LAST);
	omis_write_int(w, l->behind);
}

static void print_set(struct omis_writer *w, const struct flow_fold *f)
{
	print_fold(w, f);
	omis_write_int(w, f->partial_out);
}

/* Prints each word: "vt", a number, or the name of an operator. */
static void print_choice(struct omis_writer *w, const struct flow_choice *c)
{
	omis_write_list(w);
	for (size_t i = 0; i < c->n; i++) {
		if (c->v[i].kind == CHOICE_OP)
			omis_write_string(w, flow_op_name((enum flow_op)c->v[i].op));
		else if (c->v[i].kind == CHOICE_VT)
			omis_write_string(w, CHOICE_VT_WORD);
		if (c->v[i].kind == CHOICE_NUMBER || (c->v[i].kind == CHOICE_VT && c->v[i].number))
			omis_write_int(w, c->v[i].number);
		if (c->v[i].kind == CHOICE_VT && c->v[i].number)
			omis_write_string(w, flow_op_name(FLOW_OP_ADD));
	}
	omis_write_list_end(w);
}

static void print_attributes(struct omis_writer *w, const struct flow_node *n)
{
	switch (n->kind) {
	case FLOW_CONST:
		return omis_write_float(w, n->constant);
	case FLOW_INPUT:
		return print_source(w, &n->source);
	case FLOW_OP:
		return omis_write_string(w, flow_op_name(n->op));
	case FLOW_SET:
		return print_set(w, &n->fold);
	case FLOW_VT_AGG:
		print_set(w, &n->fold);
		return omis_write_int(w, n->fold.since == FLOW_SINCE_LAST);
	case FLOW_SHIFT:
		return omis_write_int(w, n->shift);
	case FLOW_DELTA:
		return omis_write_int(w, n->per_second);
	case FLOW_RATE:
		return omis_write_int(w, n->since == FLOW_SINCE_LAST);
	case FLOW_LINK_IN:
		return print_link(w, &n->link);
	case FLOW_LINK_OUT:
		return omis_write_string(w, n->link.name);
	case FLOW_RESULT:
		return omis_write_int(w, n->output);
	case FLOW_STOP:
		omis_write_string(w, agg_kind_name(n->stop.agg));
		omis_write_float(w, n->stop.q);
		return omis_write_string(w, n->stop.until);
	case FLOW_PAIR:
		return omis_write_string(w, agg_kind_name(n->fold.agg));
	case FLOW_CHOICE:
		return print_choice(w, &n->choice);
	case FLOW_WHO:
		omis_write_string(w, agg_kind_name(n->who.fold.agg));
		return omis_write_string(w, n->who.object);
	case FLOW_NKINDS:
		return;
	}
}

static void print_node(struct omis_writer *w, const struct flow_node *n)
{
	omis_write_list(w);
	omis_write_string(w, flow_kind_name(n->kind));
	OMIS_WRITE_INTS(w, n->line, n->col, n->window);
	omis_write_list(w);
	for (size_t k = 0; k < n->nin; k++)
		omis_write_int(w, n->in[k]);
	omis_write_list_end(w);
	print_attributes(w, n);
	omis_write_list_end(w);
}

void graph_print_node(struct buf *b, const struct flow_node *n)
{
	struct omis_writer w = OMIS_WRITER(b);

	print_node(&w, n);
}

void flow_graph_print(struct buf *b, const struct flow_graph *g)
{
	struct omis_writer w = OMIS_WRITER(b);

	omis_write_list(&w);
	omis_write_string(&w, "flow");
	omis_write_int(&w, 1);
	omis_write_int(&w, g->measurement);
	omis_write_list(&w);
	for (size_t i = 0; i < g->nnode; i++)
		print_node(&w, &g->node[i]);
	omis_write_list_end(&w);
	omis_write_list_end(&w);
}
