/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the state of a measurement. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "mainsm/measure/measure_internal.h"
#include "tree/branches.h"

#include <stdio.h>
#include <string.h>

static const char *state_name(const struct measure *m)
{
	return m->state == MEASURE_NEW ? "new" : measure_runs(m) ? "running" : "stopped";
}

static void write_by(const struct measure_asked *a, struct omis_writer *w)
{
	static const char *const names[] = { "", "process", "node", "site" };
	static const char *const each[] = { "", "partner", "region", "partner,region" };
	char text[40];

	snprintf(text, sizeof(text), "%s%s%s", names[a->by], a->by && a->each ? "," : "",
		 each[a->each]);
	omis_write_string(w, text);
}

static void write_asked(const struct measure *m, struct omis_writer *w)
{
	char unit[PMSL_UNIT_TEXT_BYTES];

	omis_write_string(w, m->asked.metric);
	omis_write_string(w, pmsl_unit_text(pmsl_units(m->pmsl), m->metric->unit, unit));
	omis_write_string(w, state_name(m));
	omis_write_string(w, m->asked.since == FLOW_SINCE_LAST ? "last" : "start");
	omis_write_int(w, m->asked.every / NSEC_PER_MSEC);
	omis_write_int(w, m->asked.per_second);
	write_by(&m->asked, w);
	omis_write_int(w, m->metric->domain == PMSL_EACH_VT);
}

static void write_marks(const struct asked_objects *a, bool is_out, struct omis_writer *w)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->mark[i].is_out == is_out)
			omis_write_token(w, a->mark[i].token);
}

static bool is_cut(const struct asked_objects *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->mark[i].is_out)
			return true;
	return false;
}

static void write_objects(const struct measure *m, struct omis_writer *w)
{
	write_marks(&m->asked.objects, false, w);
	if (!is_cut(&m->asked.objects))
		return;
	omis_write_list(w);
	write_marks(&m->asked.objects, true, w);
	omis_write_list_end(w);
}

static void write_size(const struct measure *m, struct omis_writer *w)
{
	const struct measure_world *world = m->plan ? m->plan->world : NULL;
	size_t nodes = 0;

	for (size_t i = 0; m->plan && i < m->plan->npiece; i++)
		nodes += m->plan->piece[i].graph->nnode;
	omis_write_int(w, world ? (int64_t)world->count[PMSL_T_SITE] : 0);
	omis_write_int(w, world ? (int64_t)world->count[PMSL_T_NODE] : 0);
	omis_write_int(w, world ? (int64_t)world->count[PMSL_T_PROCESS] : 0);
	omis_write_int(w, m->plan ? (int64_t)m->plan->npiece : 0);
	omis_write_int(w, (int64_t)nodes);
	omis_write_int(w, m->plan ? (int64_t)m->plan->nlabel : 0);
}

static void write_reads(const struct measure *m, struct omis_writer *w)
{
	omis_write_int(w, m->reads.read);
	omis_write_int(w, m->reads.read_at);
	omis_write_int(w, m->reads.start);
	omis_write_int(w, (int64_t)m->frames);
	omis_write_int(w, (int64_t)m->bytes);
	omis_write_int(w, (int64_t)m->dropped);
}

static void write_troubles(const struct measure *m, struct omis_writer *w)
{
	for (size_t i = 0; i < m->ntrouble; i++) {
		omis_write_list(w);
		omis_write_string(w, m->trouble[i].object);
		omis_write_string(w, m->trouble[i].text);
		omis_write_int(w, m->trouble[i].status);
		omis_write_list_end(w);
	}
}

/* --- the graph: where each node runs */

static const char *where(const struct measure *m, const struct measure_piece *p)
{
	const struct branches *c = m->ms->conf.branches;

	if (p->branch == STAGE_HERE)
		return "mainsm";
	if (p->branch == STAGE_NOWHERE)
		return "nowhere";
	return p->kind == PLACE_NODE ? p->object : branches_name(c, p->branch);
}

/* Returns the text that distinguishes a node from others of its kind. */
static const char *words_of(const struct flow_node *n)
{
	switch (n->kind) {
	case FLOW_INPUT:
		return n->source.metric[0] ? n->source.metric : flow_source_name(n->source.kind);
	case FLOW_OP:
		return flow_op_name(n->op);
	case FLOW_SET:
	case FLOW_VT_AGG:
	case FLOW_PAIR:
		return agg_kind_name(n->fold.agg);
	case FLOW_WHO:
		return agg_kind_name(n->who.fold.agg);
	case FLOW_LINK_IN:
	case FLOW_LINK_OUT:
		return n->link.name;
	case FLOW_STOP:
		return n->stop.until;
	default:
		return "";
	}
}

static void write_choice(const struct flow_choice *c, struct omis_writer *w)
{
	struct buf words = BUF_INIT(CHOICE_TEXT_MAX_BYTES);

	choice_print(c, &words);
	omis_write_string_n(w, buf_str(&words), words.n);
	buf_done(&words);
}

static const char *object_of(const struct flow_node *n)
{
	if (n->kind == FLOW_WHO)
		return n->who.object;
	if (n->kind != FLOW_INPUT)
		return "";
	return n->source.process[0] ? n->source.process : n->source.object;
}

static void write_node(const struct measure *m, const struct measure_piece *p, uint32_t i,
		       struct omis_writer *w)
{
	const struct flow_node *n = &p->graph->node[i];

	omis_write_list(w);
	omis_write_string(w, p->object);
	omis_write_string(w, where(m, p));
	omis_write_int(w, i);
	omis_write_string(w, flow_kind_name(n->kind));
	if (n->kind == FLOW_CHOICE)
		write_choice(&n->choice, w);
	else
		omis_write_string(w, words_of(n));
	omis_write_string(w, object_of(n));
	omis_write_string(w, flow_domain_name(n->domain));
	omis_write_int(w, n->line);
	omis_write_int(w, n->col);
	omis_write_list(w);
	for (size_t k = 0; k < n->nin; k++)
		omis_write_int(w, n->in[k]);
	omis_write_list_end(w);
	omis_write_list_end(w);
}

static void write_graph(const struct measure *m, struct omis_writer *w)
{
	for (size_t i = 0; m->plan && i < m->plan->npiece; i++)
		for (uint32_t k = 0; k < m->plan->piece[i].graph->nnode; k++)
			write_node(m, &m->plan->piece[i], k, w);
}

static void write_counts_of(const struct measure *m, const struct measure_piece *p, uint32_t i,
			    struct omis_writer *w)
{
	struct flow_look l;
	const struct flow_counts *c = &l.count;

	if (flow_look(p->engine, m->number, i, &l))
		return;
	omis_write_list(w);
	omis_write_string(w, p->object);
	omis_write_int(w, i);
	omis_write_int(w, (int64_t)c->in);
	omis_write_int(w, (int64_t)c->out);
	omis_write_int(w, (int64_t)c->late);
	omis_write_int(w, (int64_t)c->doubles);
	omis_write_int(w, (int64_t)c->unmatched);
	omis_write_int(w, (int64_t)c->incomplete);
	omis_write_int(w, (int64_t)c->overflow);
	omis_write_int(w, l.open);
	omis_write_int(w, l.window);
	omis_write_list_end(w);
}

static void write_counts(const struct measure *m, struct omis_writer *w)
{
	for (size_t i = 0; m->plan && i < m->plan->npiece; i++)
		for (uint32_t k = 0; m->plan->piece[i].stage && k < m->plan->piece[i].graph->nnode;
		     k++)
			write_counts_of(m, &m->plan->piece[i], k, w);
}

static void write_link(void *arg, const struct stage_link_counts *l)
{
	struct omis_writer *w = arg;

	omis_write_list(w);
	omis_write_string(w, l->name);
	omis_write_string(w, l->from);
	omis_write_int(w, l->is_awaited);
	omis_write_int(w, (int64_t)l->batches);
	omis_write_int(w, (int64_t)l->strays);
	omis_write_list_end(w);
}

static void write_links(const struct measure *m, struct omis_writer *w)
{
	for (size_t i = 0; m->plan && i < m->plan->npiece; i++)
		if (m->plan->piece[i].stage)
			stage_each_link(m->plan->piece[i].stage, write_link, w);
}

void measure_info(const struct measure *m, int64_t flags, struct omis_writer *w)
{
	static void (*const fields[])(const struct measure *, struct omis_writer *) = {
		write_asked, write_objects, write_size,	 write_reads,	      write_troubles,
		write_graph, write_counts,  write_links, measure_write_until,
	};

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		if (!(flags >> i & 1))
			continue;
		omis_write_list(w);
		fields[i](m, w);
		omis_write_list_end(w);
	}
}

void measures_list(const struct measures *ms, struct omis_writer *w)
{
	struct smap_iter i = { 0 };

	while (smap_next(&ms->by_token, &i)) {
		const struct measure *m = i.value;

		omis_write_list(w);
		omis_write_token(w, m->token.s);
		omis_write_int(w, m->session->number);
		omis_write_string(w, m->session->identity);
		write_asked(m, w);
		omis_write_list_end(w);
	}
}
