/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a graph, the reverse of graph_value.c. The value is untrusted. */
#include "common/flow/graph/graph.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/flow/graph/graph_limits.h"
#include "common/omis/text/value.h"

#include <stdlib.h>
#include <string.h>

/* Reads the members of a list one after the other. After a failure every getter returns 0 or "". */
struct reader {
	const struct omis_value *v;
	size_t n, at;
	bool failed;
	const char *unknown; /* the unknown word; NULL = another failure */
};

static struct reader reader_of(const struct omis_value *v)
{
	struct reader r = { .failed = v->kind != OMIS_LIST };

	if (!r.failed) {
		r.v = v->list.v;
		r.n = v->list.n;
	}
	return r;
}

static const struct omis_value *take(struct reader *r)
{
	static const struct omis_value none = { .kind = OMIS_LIST };

	if (r->failed || r->at >= r->n) {
		r->failed = true;
		return &none;
	}
	return &r->v[r->at++];
}

static int64_t take_int(struct reader *r, int64_t min, int64_t max)
{
	int64_t i = 0;

	if (!omis_value_i64(take(r), &i) || i < min || i > max)
		r->failed = true;
	return r->failed ? 0 : i;
}

static uint32_t take_u32(struct reader *r)
{
	return (uint32_t)take_int(r, 0, UINT32_MAX);
}

static bool take_bool(struct reader *r)
{
	return take_int(r, 0, 1);
}

static double take_float(struct reader *r)
{
	double d = 0;

	if (!omis_value_double(take(r), &d))
		r->failed = true;
	return d;
}

static const char *take_text(struct reader *r)
{
	const struct omis_value *v = take(r);

	if (v->kind != OMIS_STRING && v->kind != OMIS_TOKEN)
		r->failed = true;
	return r->failed ? "" : v->s.p;
}

static bool take_is_word(struct reader *r, const char *word)
{
	return !strcmp(take_text(r), word);
}

/*
 * is_known: this build has that word. A later build may have further words: a valid one is reported
 * as unknown.
 */
static void expect_known(struct reader *r, bool is_known, const char *word)
{
	if (is_known || r->failed)
		return;
	r->failed = true;
	r->unknown = str_is_name(word, strlen(word)) ? word : NULL;
}

static enum agg_kind take_agg(struct reader *r)
{
	const char *word = take_text(r);
	enum agg_kind kind = AGG_COUNT;

	expect_known(r, agg_kind_find(word, &kind), word);
	return kind;
}

static enum flow_op take_op(struct reader *r)
{
	const char *word = take_text(r);
	enum flow_op op = FLOW_OP_ADD;

	expect_known(r, flow_op_find(word, &op), word);
	return op;
}

static enum flow_source_kind take_source_kind(struct reader *r)
{
	const char *word = take_text(r);
	enum flow_source_kind kind = FLOW_SOURCE_METRIC;

	expect_known(r, flow_source_find(word, &kind), word);
	return kind;
}

static enum flow_kind take_kind(struct reader *r)
{
	const char *word = take_text(r);
	enum flow_kind kind = FLOW_CONST;

	expect_known(r, flow_kind_find(word, &kind), word);
	return kind;
}

static bool is_done(const struct reader *r)
{
	return !r->failed && r->at == r->n;
}

/* Room for the lists of a node, which is used again for the next node. */
struct lists {
	uint32_t in[FLOW_INPUTS_MAX];
	const char *partner[FLOW_NAMES_MAX], *region[FLOW_NAMES_MAX];
	struct choice_word word[CHOICE_WORDS_MAX];
};

static size_t take_inputs(struct reader *r, uint32_t *in)
{
	struct reader list = reader_of(take(r));
	size_t n = 0;

	while (!list.failed && list.at < list.n && n < FLOW_INPUTS_MAX)
		in[n++] = take_u32(&list);
	r->failed |= !is_done(&list);
	return n;
}

static struct flow_names take_names(struct reader *r, const char **v)
{
	struct reader list = reader_of(take(r));
	struct flow_names names = { .v = v };

	while (!list.failed && list.at < list.n && names.n < FLOW_NAMES_MAX)
		v[names.n++] = take_text(&list);
	r->failed |= !is_done(&list);
	return names;
}

static struct choice_word take_choice_word(struct reader *r)
{
	struct choice_word w = { .kind = CHOICE_NUMBER };
	enum flow_op op = FLOW_OP_ADD;
	const char *word;

	if (!r->failed && r->at < r->n && omis_value_i64(&r->v[r->at], &w.number)) {
		r->at++;
		return w;
	}
	word = take_text(r);
	w.kind = strcmp(word, CHOICE_VT_WORD) ? CHOICE_OP : CHOICE_VT;
	if (w.kind == CHOICE_OP)
		expect_known(r, flow_op_find(word, &op) && choice_takes(op), word);
	w.op = op;
	return w;
}

static struct flow_choice take_choice(struct reader *r, struct choice_word *v)
{
	struct reader list = reader_of(take(r));
	struct flow_choice c = { .v = v };

	while (!list.failed && list.at < list.n && c.n < CHOICE_WORDS_MAX)
		v[c.n++] = take_choice_word(&list);
	r->unknown = list.unknown;
	r->failed |= !is_done(&list);
	return c;
}

static void take_source(struct reader *r, struct flow_source *s, struct lists *lists)
{
	s->kind = take_source_kind(r);
	s->metric = take_text(r);
	s->object = take_text(r);
	s->probe = take_text(r);
	s->process = take_text(r);
	s->parameter = take_u32(r);
	s->from_start = take_bool(r);
	s->partners = take_names(r, lists->partner);
	s->regions = take_names(r, lists->region);
}

static void take_fold(struct reader *r, struct flow_fold *f)
{
	f->agg = take_agg(r);
	f->q = take_float(r);
}

static enum flow_since take_since(struct reader *r)
{
	return take_bool(r) ? FLOW_SINCE_LAST : FLOW_SINCE_START;
}

static enum flow_domain take_domain(struct reader *r)
{
	const char *word = take_text(r);

	if (!strcmp(word, flow_domain_name(FLOW_VT)))
		return FLOW_VT;
	r->failed |= strcmp(word, flow_domain_name(FLOW_READ)) != 0;
	return FLOW_READ;
}

static void take_link(struct reader *r, struct flow_link *l)
{
	l->name = take_text(r);
	l->domain = take_domain(r);
	l->partial = take_bool(r);
	take_fold(r, &l->fold);
	l->fold.since = take_since(r);
	l->behind = take_u32(r);
}

static void take_vt_agg(struct reader *r, struct flow_fold *f)
{
	take_fold(r, f);
	f->partial_out = take_bool(r);
	f->since = take_since(r);
}

static void take_attributes(struct reader *r, struct flow_node *n, struct lists *lists)
{
	switch (n->kind) {
	case FLOW_CONST:
		n->constant = take_float(r);
		break;
	case FLOW_INPUT:
		take_source(r, &n->source, lists);
		break;
	case FLOW_OP:
		n->op = take_op(r);
		break;
	case FLOW_SET:
		take_fold(r, &n->fold);
		n->fold.partial_out = take_bool(r);
		break;
	case FLOW_VT_AGG:
		take_vt_agg(r, &n->fold);
		break;
	case FLOW_SHIFT:
		n->shift = take_int(r, INT64_MIN, INT64_MAX);
		break;
	case FLOW_DELTA:
		n->per_second = take_bool(r);
		break;
	case FLOW_RATE:
		n->since = take_since(r);
		break;
	case FLOW_LINK_IN:
		take_link(r, &n->link);
		break;
	case FLOW_LINK_OUT:
		n->link.name = take_text(r);
		break;
	case FLOW_RESULT:
		n->output = take_u32(r);
		break;
	case FLOW_STOP:
		n->stop.agg = take_agg(r);
		n->stop.q = take_float(r);
		n->stop.until = take_text(r);
		break;
	case FLOW_PAIR:
		n->fold.agg = take_agg(r);
		n->fold.partial_out = true;
		break;
	case FLOW_CHOICE:
		n->choice = take_choice(r, lists->word);
		break;
	case FLOW_WHO:
		n->who.fold.agg = take_agg(r);
		n->who.fold.partial_out = true;
		n->who.object = take_text(r);
		break;
	case FLOW_NKINDS:
		break;
	}
}

static int add_node(struct flow_graph *g, const struct omis_value *v, struct lists *lists,
		    struct err *e)
{
	struct reader r = reader_of(v);
	struct flow_node n = { 0 };
	int got;

	n.kind = take_kind(&r);
	n.line = take_u32(&r);
	n.col = take_u32(&r);
	n.window = take_u32(&r);
	n.in = lists->in;
	n.nin = take_inputs(&r, lists->in);
	if (!r.failed)
		take_attributes(&r, &n, lists);
	if (r.unknown)
		return err_set(e, ERR_UNSUPPORTED, "node %zu: '%.40s' is not known here", g->nnode,
			       r.unknown);
	if (!is_done(&r))
		return err_set(e, ERR_PARSE, "node %zu: its element %zu does not fit", g->nnode,
			       r.at);
	got = flow_graph_add(g, &n, e);
	return got < 0 ? got : 0;
}

static int add_nodes(struct flow_graph *g, const struct omis_value *nodes, struct err *e)
{
	struct lists *lists = malloc(sizeof(*lists)); /* too large for a stack */
	int rc = lists ? 0 : err_nomem(e);

	for (size_t i = 0; i < nodes->list.n && !rc; i++)
		rc = add_node(g, &nodes->list.v[i], lists, e);
	free(lists);
	return rc ? rc : flow_graph_verify(g, e);
}

int flow_graph_from_value(const struct omis_value *v, struct flow_graph **out, struct err *e)
{
	struct reader r = reader_of(v);
	bool is_flow = take_is_word(&r, "flow");
	int64_t version = take_int(&r, 1, 1);
	uint32_t measurement = take_u32(&r);
	const struct omis_value *nodes = take(&r);
	struct flow_graph *g;
	int rc;

	if (!is_done(&r) || !is_flow || version != 1 || nodes->kind != OMIS_LIST)
		return err_set(e, ERR_PARSE, "this is not a graph of version 1");
	if (nodes->list.n > FLOW_NODES_MAX)
		return err_set(e, ERR_LIMIT, "%zu nodes, %d are the limit", nodes->list.n,
			       FLOW_NODES_MAX);
	g = flow_graph_new(measurement);
	if (!g)
		return err_nomem(e);
	rc = add_nodes(g, nodes, e);
	if (rc) {
		flow_graph_free(g);
		return rc;
	}
	*out = g;
	return 0;
}
