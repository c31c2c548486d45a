/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of mainsm: the pieces of a measurement, each checked as hostile input. */
#include "common/base/hash.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/omis/text/status.h"
#include "common/omis/text/value.h"
#include "sm/measure/measure_internal.h"
#include "tree/refusal.h"
#include "tree/wire.h"

#include <stdlib.h>
#include <string.h>

#define READS_AHEAD_MAX 64 /* relative to our clock: clocks differ by less */

/* --- one host's piece */

/* A graph from its text. */
static int read_graph(const struct site_measure *m, const struct msg_flow_piece *p,
		      struct flow_graph **out, struct err *e)
{
	struct omis_values *v = NULL;
	int rc = omis_parse_values((const char *)p->graph.p, p->graph.n, &v, e);

	if (rc)
		return rc;
	rc = v->n == 1 ? flow_graph_from_value(&v->v[0], out, e)
		       : err_set(e, ERR_PARSE, "this is not a graph");
	omis_values_free(v);
	if (!rc && (*out)->measurement != m->id) {
		rc = err_set(e, ERR_INVALID, "the graph is one of measurement %u",
			     (*out)->measurement);
		flow_graph_free(*out);
	}
	return rc;
}

static struct host_piece *piece_new(struct site_measure *m, const char *token, uint32_t node)
{
	struct host_piece *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	str_copy(s->token.s, sizeof(s->token.s), token);
	s->node = node;
	s->branch = STAGE_NOWHERE;
	if (!smap_put(&m->parts, token, s, NULL))
		return s;
	free(s);
	return NULL;
}

static int set_graph(struct site_measure *m, struct host_piece *s, const struct msg_flow_piece *p)
{
	struct site_measures *f = m->f;
	uint8_t *copy;

	if (f->stats.bytes - s->ngraph + p->graph.n > SITE_MEASURES_BYTES_MAX)
		return -ERR_LIMIT;
	copy = malloc(p->graph.n + 1);
	if (!copy)
		return -ERR_NOMEM;
	memcpy(copy, p->graph.p, p->graph.n);
	f->stats.bytes += p->graph.n - s->ngraph;
	free(s->graph);
	s->graph = copy;
	s->ngraph = p->graph.n;
	return 0;
}

/* Unchanged pieces are not sent again. */
static int add_part(struct site_measure *m, const struct msg_flow_piece *p, uint32_t node,
		    struct err *e)
{
	struct host_piece *s = smap_find(&m->parts, p->object);
	struct flow_graph *g = NULL;
	int rc;

	if (s && s->ngraph == p->graph.n && !memcmp(s->graph, p->graph.p, p->graph.n)) {
		s->of = m->version;
		return 0;
	}
	rc = read_graph(m, p, &g, e);
	if (rc)
		return rc;
	if (!s)
		s = piece_new(m, p->object, node);
	rc = s ? set_graph(m, s, p) : -ERR_NOMEM;
	if (!rc)
		rc = stage_set_sender(m->stage, s->token.s, g, s);
	flow_graph_free(g);
	if (rc)
		return err_set(e, (enum err_code)(-rc), "no room for it: %s", err_name(rc));
	s->of = m->version;
	s->number = hash_mix64(++m->f->graphs);
	s->is_refused = false;
	return 0;
}

/* --- the site's piece */

static int need_engine(struct site_measures *f)
{
	const struct flow_limits limits = { SITE_MEASURES_MAX, SITE_MEASURES_NODES_MAX,
					    SITE_MEASURES_STATE_MAX_BYTES };
	const struct flow_out out = { site_measures_on_result, site_measures_on_batch, f };

	if (!f->engine)
		f->engine = flow_new(&limits, &out);
	return f->engine ? 0 : -ERR_NOMEM;
}

static int note_kinds(struct site_measure *m, const struct flow_graph *g)
{
	enum flow_kind *kind = calloc(g->nnode, sizeof(*kind));

	if (!kind)
		return -ERR_NOMEM;
	for (size_t i = 0; i < g->nnode; i++)
		kind[i] = g->node[i].kind;
	free(m->kind);
	m->kind = kind;
	m->nnode = g->nnode;
	return 0;
}

static int load_own(struct site_measure *m, const struct msg_flow_piece *p, struct err *e)
{
	struct flow_graph *g = NULL;
	int rc = need_engine(m->f) ? err_nomem(e) : read_graph(m, p, &g, e);

	if (rc)
		return rc;
	rc = stage_load(m->stage, m->f->engine, g, m->reads.start, e);
	if (!rc) {
		m->piece_of = m->version;
		m->reads.is_running = true;
		rc = note_kinds(m, g);
	}
	flow_graph_free(g);
	return rc;
}

static int add_piece(struct site_measure *m, const struct msg_flow_piece *p, struct err *e)
{
	struct token site;
	uint32_t node;

	site_measures_site_token(m->f, &site);
	if (str_eq(p->object, site.s))
		return load_own(m, p, e);
	if (!token_node(p->object, strlen(p->object), &node) || p->object[0] != 'n')
		return err_set(e, ERR_NOTFOUND, "neither this site nor a node");
	return add_part(m, p, node, e);
}

static void add_pieces(struct site_measure *m, const struct msg_flow_load *l)
{
	for (size_t i = 0; i < l->npiece; i++) {
		struct err e = { 0 };
		int rc = add_piece(m, &l->piece[i], &e);

		if (rc)
			site_measure_complain(m, l->piece[i].object, status_from_err(rc), e.text);
	}
}

static void end_own(struct site_measure *m)
{
	if (!stage_is_loaded(m->stage) || m->piece_of == m->version)
		return;
	stage_unload(m->stage);
	read_clock_stop(&m->reads);
	m->nnode = 0;
}

/* Ends the pieces of hosts that the last version does not name. */
static void drop_old(struct site_measure *m)
{
	struct smap_iter i = { 0 };

	while (smap_next(&m->parts, &i)) {
		struct host_piece *s = i.value;

		if (s->of != m->version)
			piece_free(m, s);
	}
}

/* --- a measurement */

static int check(const struct site_measures *f, const struct msg_flow_load *l, struct err *e)
{
	if (!l->measurement)
		return err_set(e, ERR_INVALID, "a measurement without a number");
	if (!l->identity[0])
		return err_set(e, ERR_DENIED, "a measurement without an owner");
	if (l->start_ns < TIME_MIN_WALL_NS ||
	    l->start_ns > site_measures_now(f) + TIME_FUTURE_MAX_NS)
		return err_set(e, ERR_INVALID, "it starts at no sensible time");
	if (l->every_ns && (l->every_ns < FLOW_EVERY_MIN_NS || l->every_ns > FLOW_EVERY_MAX_NS))
		return err_set(e, ERR_INVALID, "between two reads are %lld ns at least",
			       (long long)FLOW_EVERY_MIN_NS);
	if (l->read > INT64_MAX / 2 ||
	    (l->every_ns && (int64_t)l->read > (site_measures_now(f) - l->start_ns) / l->every_ns +
						       READS_AHEAD_MAX))
		return err_set(e, ERR_INVALID, "read %llu is far ahead",
			       (unsigned long long)l->read);
	if (!map_find(&f->by_number, l->measurement) && f->by_number.n >= SITE_MEASURES_MAX)
		return err_set(e, ERR_LIMIT, "%d measurements run in this sm", SITE_MEASURES_MAX);
	return 0;
}

static struct site_measure *site_measure_new(struct site_measures *f, const struct msg_flow_load *l)
{
	struct site_measure *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->f = f;
	m->id = l->measurement;
	m->last_asked = (int64_t)l->read;
	smap_init(&m->parts);
	m->identity = str_dup(l->identity);
	m->standing = site_measure_standing_new(m);
	m->stage = stage_new(m->id, m->last_asked);
	m->box = flowbox_new(&(struct flowbox_conf){ m->id, f->conf.send, f->conf.arg });
	if (!map_put(&f->by_number, m->id, m, NULL) && !site_measure_reads_init(m) && m->identity &&
	    m->standing && m->stage && m->box) {
		read_clock_start(&m->reads, l->start_ns, l->every_ns, m->last_asked);
		read_clock_stop(&m->reads); /* until there is a graph */
		return m;
	}
	site_measure_end(m);
	return NULL;
}

/* Another start or interval: a mainsm that restarts numbers its measurements from the beginning. */
static struct site_measure *find_or_new(struct site_measures *f, const struct msg_flow_load *l)
{
	struct site_measure *m = map_find(&f->by_number, l->measurement);

	if (m && (m->reads.start != l->start_ns || m->reads.every != l->every_ns ||
		  !str_eq(m->identity, l->identity))) {
		site_measure_end(m);
		m = NULL;
	}
	return m ? m : site_measure_new(f, l);
}

void site_measures_load(struct site_measures *f, const struct msg_flow_load *l)
{
	struct err e = { 0 };
	int rc = check(f, l, &e);
	struct site_measure *m = rc ? NULL : find_or_new(f, l);
	struct refusal refusal;

	if (!m) {
		refusal_of_load(&refusal, l, status_from_err(rc ? rc : -ERR_NOMEM),
				rc ? e.text : "out of memory");
		f->conf.send(f->conf.arg, &refusal.m);
		return;
	}
	if (!m->has_more) {
		/* of a load that this one replaces: its version is obsolete */
		reply_free(m->answer);
		m->answer = reply_new();
	}
	m->tool = l->tool;
	m->version = l->version;
	m->is_stale = false;
	m->has_more = l->more;
	add_pieces(m, l);
	if (l->more)
		return;
	end_own(m);
	drop_old(m);
	site_measure_settle(m);
	site_measure_check_answer(m);
	flowbox_flush(m->box);
}
