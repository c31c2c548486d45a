/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the graph of a FLOW_LOAD: verifies it, finds its inputs and starts it. If it is refused,
 * the old one continues.
 */
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/omis/text/value.h"
#include "lm/measure/measurements_internal.h"
#include "lm/task/rights.h"
#include "tree/wire.h"

#include <stdlib.h>
#include <string.h>

#define READS_AHEAD_MAX 64 /* relative to our clock: clocks differ by less */

/* A message under processing, and the report about it. */
struct load {
	struct measurements *r;
	const struct msg_flow_load *m;
	struct reply *answer;
	struct flow_graph *graph; /* owned until it is in use */
	struct input *input; /* owned, likewise; as their nodes in the graph */
	size_t ninput;
	struct err e;
};

static void complain(struct load *l, const char *object, int rc, const struct err *e)
{
	unsigned status = rc == -ERR_UNSUPPORTED ? STATUS_UNSUPPORTED_SERVICE : status_from_err(rc);

	if (l->answer->nentry < MEASUREMENTS_ENTRIES_MAX)
		reply_add_n(l->answer, 0, object, status, bytes_at(e->text, strlen(e->text)));
}

/* --- checks */

static int check_times(struct load *l)
{
	const struct msg_flow_load *m = l->m;
	nsec_t now = measurements_now(l->r), since = now > m->start_ns ? now - m->start_ns : 0;

	if (m->start_ns < TIME_MIN_WALL_NS || m->start_ns > now + TIME_FUTURE_MAX_NS)
		return err_set(&l->e, ERR_INVALID, "it starts at no sensible time");
	if (m->every_ns && (m->every_ns < FLOW_EVERY_MIN_NS || m->every_ns > FLOW_EVERY_MAX_NS))
		return err_set(&l->e, ERR_INVALID, "between two reads are %lld ns at least",
			       (long long)FLOW_EVERY_MIN_NS);
	if (m->read > INT64_MAX / 2 ||
	    (m->every_ns && (int64_t)m->read > since / m->every_ns + READS_AHEAD_MAX))
		return err_set(&l->e, ERR_INVALID, "read %llu is far ahead",
			       (unsigned long long)m->read);
	return 0;
}

static int check(struct load *l)
{
	if (!l->m->measurement)
		return err_set(&l->e, ERR_INVALID, "a measurement without a number");
	if (rights_of(l->m->identity) < OMIS_OBSERVE)
		return err_set(&l->e, ERR_DENIED, "%s may not observe",
			       l->m->identity[0] ? "this identity" : "nobody");
	if (l->r->n >= MEASUREMENTS_MAX && !measurements_find(l->r, l->m->measurement))
		return err_set(&l->e, ERR_LIMIT, "%d measurements run on this host",
			       MEASUREMENTS_MAX);
	return check_times(l);
}

static const struct msg_flow_piece *own_piece(const struct load *l)
{
	const char *node = procs_node_token(l->r->conf.procs);

	for (size_t i = 0; i < l->m->npiece; i++)
		if (str_eq(l->m->piece[i].object, node))
			return &l->m->piece[i];
	return NULL;
}

static int read_graph(struct load *l, const struct msg_flow_piece *p)
{
	struct omis_values *v = NULL;
	int rc = omis_parse_values((const char *)p->graph.p, p->graph.n, &v, &l->e);

	if (rc)
		return rc;
	rc = v->n == 1 ? flow_graph_from_value(&v->v[0], &l->graph, &l->e)
		       : err_set(&l->e, ERR_PARSE, "this is not a graph");
	omis_values_free(v);
	if (!rc && l->graph->measurement != l->m->measurement)
		rc = err_set(&l->e, ERR_INVALID, "the graph is one of measurement %u",
			     l->graph->measurement);
	return rc;
}

/* --- inputs of a piece */

static bool is_ours(const struct load *l, const struct input *in)
{
	return in->from != INPUT_NODE ||
	       str_eq(in->source->object, procs_node_token(l->r->conf.procs));
}

static const char *object_of(const struct flow_source *s)
{
	return s->process[0] ? s->process : s->object;
}

/* Opens an input. One that this host lacks is not in the list: it is missing in each read. */
static int open_input(struct load *l, uint32_t number)
{
	const struct flow_source *s = &l->graph->node[number].source;
	struct input *in = &l->input[l->ninput];
	struct err e = { 0 };
	int rc = input_open(in, s, &e);

	if (rc == -ERR_NOMEM)
		return err_nomem(&l->e);
	if (!rc && !is_ours(l, in)) {
		input_done(in);
		rc = err_set(&e, ERR_NOTFOUND, "%s is not this node", s->object);
	}
	if (rc)
		complain(l, object_of(s), rc, &e);
	else
		l->ninput++;
	return 0;
}

static int open_inputs(struct load *l)
{
	size_t n = l->graph->nnode;
	int rc = 0;

	l->input = calloc(n + 1, sizeof(*l->input));
	if (!l->input)
		return err_nomem(&l->e);
	for (uint32_t i = 0; i < n && !rc; i++)
		if (l->graph->node[i].kind == FLOW_INPUT)
			rc = open_input(l, i);
	return rc;
}

/* Continues the inputs of the version before. Versions are alike, so few comparisons fail. */
static void continue_inputs(struct load *l, struct measurement *old)
{
	for (size_t i = 0, at = 0; i < l->ninput; i++) {
		for (size_t k = 0; k < old->ninput; k++, at++) {
			struct input *from = &old->input[at % old->ninput];

			if (!input_is_same(&l->input[i], from))
				continue;
			input_continue(&l->input[i], from);
			at++;
			break;
		}
	}
}

/* --- replacing the old graph */

static struct measurement *new_reading(struct measurements *r, uint32_t id)
{
	struct measurement *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->owner = r;
	g->id = id;
	list_init(&g->link);
	g->timer = loop_timer_new(r->conf.loop, measurement_on_timer, g);
	g->box = flowbox_new(&(struct flowbox_conf){
		.measurement = id, .send = r->conf.send, .arg = r->conf.arg });
	if (g->timer && g->box)
		return g;
	measurement_free(g);
	return NULL;
}

static int need_engine(struct measurements *r)
{
	const struct flow_limits limits = { MEASUREMENTS_MAX, MEASUREMENTS_NODES_MAX,
					    MEASUREMENTS_STATE_MAX_BYTES };
	const struct flow_out out = { measurements_on_result, measurements_on_batch, r };

	if (!r->engine)
		r->engine = flow_new(&limits, &out);
	return r->engine ? 0 : -ERR_NOMEM;
}

/* Another start or interval: a mainsm that was restarted numbers its measurements from 1. */
static struct measurement *of_same_times(struct load *l)
{
	struct measurement *g = measurements_find(l->r, l->m->measurement);

	if (!g || (g->start == l->m->start_ns && g->every == l->m->every_ns))
		return g;
	measurement_free(g);
	return NULL;
}

static void swap_in(struct load *l, struct measurement *g)
{
	continue_inputs(l, g);
	for (size_t i = 0; i < g->ninput; i++)
		input_done(&g->input[i]);
	free(g->input);
	flow_graph_free(g->graph);
	g->input = l->input;
	g->ninput = l->ninput;
	g->graph = l->graph;
	for (size_t i = 0; i < g->ninput; i++) {
		measurement_attach_input(g, &g->input[i]);
		input_attach(&g->input[i], l->r->conf.ticks);
	}
	measurement_place_inputs(g);
	l->input = NULL;
	l->ninput = 0;
	l->graph = NULL;
	g->tool = l->m->tool;
	g->version = l->m->version;
	g->is_stale = false;
}

static void want_all(struct load *l, struct measurement *g)
{
	list_each (i, procs_all(l->r->conf.procs)) {
		struct proc *p = list_entry(i, struct proc, link);

		if (p->seg && measurement_add_interest(g, p))
			complain(l, p->token.s, -ERR_NOMEM,
				 &(struct err){ .text = "out of memory" });
	}
}

static void complain_of(struct load *l, const char *object, const char *what, const char *name,
			const char *fault)
{
	struct err e;

	if (!fault)
		return;
	err_set(&e, ERR_NOTFOUND, "%s %s: %s", what, name, fault);
	complain(l, object, -ERR_NOTFOUND, &e);
}

static void complain_of_probes(struct load *l, const struct measurement *g)
{
	for (size_t i = 0; i < g->ninput; i++) {
		const struct input *in = &g->input[i];
		const struct flow_source *s = in->source;

		complain_of(l, s->process, "probe", s->probe, measurements_watch_fault(in));
		complain_of(l, s->object, "region", s->regions.n ? s->regions.v[0] : "",
			    input_fault(in));
	}
}

static void start(struct load *l, struct measurement *g, bool is_first)
{
	struct measurements *r = l->r;
	nsec_t now = measurements_now(r);

	want_all(l, g);
	if (is_first && l->m->read)
		measurement_skip(g, (int64_t)l->m->read,
				 g->every ? g->start + (int64_t)l->m->read * g->every
					  : (now > g->start ? now : g->start + 1));
	if (g->has_begun || now >= g->start)
		measurement_begin_reads(g);
	else
		measurements_watch(r);
	complain_of_probes(l, g);
	measurement_arm(g);
	flowbox_flush(g->box);
}

static int take_place(struct load *l)
{
	struct measurement *g = of_same_times(l);
	bool is_first = !g;
	int rc;

	if (!g)
		g = new_reading(l->r, l->m->measurement);
	if (!g || need_engine(l->r))
		rc = err_nomem(&l->e);
	else
		rc = flow_load(l->r->engine, l->graph, l->m->start_ns, &l->e);
	if (rc) {
		if (g && is_first)
			measurement_free(g);
		return rc;
	}
	if (is_first) {
		g->start = l->m->start_ns;
		g->every = l->m->every_ns;
		list_push_back(&l->r->all, &g->link);
		l->r->n++;
	}
	swap_in(l, g);
	start(l, g, is_first);
	return 0;
}

static void load_done(struct load *l)
{
	for (size_t i = 0; i < l->ninput; i++)
		input_done(&l->input[i]);
	free(l->input);
	flow_graph_free(l->graph);
}

static int load(struct load *l)
{
	const struct msg_flow_piece *p = own_piece(l);
	int rc = check(l);

	if (!rc && !p) {
		measurements_end(l->r, l->m->measurement);
		return 0;
	}
	if (!rc)
		rc = read_graph(l, p);
	if (!rc)
		rc = open_inputs(l);
	if (!rc)
		rc = take_place(l);
	load_done(l);
	return rc;
}

static void acknowledge(struct load *l)
{
	struct msg_entry entry[MEASUREMENTS_ENTRIES_MAX + 1];
	size_t n = wire_entries(l->answer, 0, entry, MEASUREMENTS_ENTRIES_MAX + 1);

	l->r->conf.send(l->r->conf.arg,
			&(struct msg){ .type = MSG_FLOW_ACK,
				       .flow_ack = { .measurement = l->m->measurement,
						     .version = l->m->version,
						     .entry = entry,
						     .nentry = n } });
}

void measurements_load(struct measurements *r, const struct msg_flow_load *m)
{
	struct load l = { .r = r, .m = m, .answer = reply_new() };
	int rc;

	if (!l.answer)
		return; /* without memory no error can be sent either; it is loaded again when the
			   link is */
	rc = load(&l);
	if (rc)
		complain(&l, procs_node_token(r->conf.procs), rc, &l.e);
	acknowledge(&l);
	reply_free(l.answer);
}
