/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph from hostile text, and hostile input for it. The input has the length of the text (2
 * bytes), the text of a value, and a script. A step of the script has 4 bytes: tokens, reads,
 * inputs that close and open. The output of links is encoded and decoded into the links that fit.
 */
#include "common/base/limits.h"
#include "common/flow/batch/batch.h"
#include "common/omis/text/value.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

#define START (100 * NSEC_PER_SEC)
#define STATE_MAX_BYTES (512 * 1024) /* of the engine: more only makes it slow */
#define OUTPUTS_MAX 100000 /* the most outputs of one step */

static void demand(int truth)
{
	if (!truth)
		abort();
}

struct life {
	struct flow *f;
	const struct flow_graph *g;
	struct flow_batch_room room;
	struct buf bytes;
	size_t outputs;
	int64_t read;
	nsec_t now;
};

static void demand_token(const struct flow_token *t)
{
	demand(t->k <= t->n && t->flags <= FLOW_FLAGS_ALL && t->error >= 0);
	demand(flow_token_has_value(t) || t->flags);
	demand(t->k == t->n ||
	       t->flags & (FLOW_PARTIAL | FLOW_NONE_YET | FLOW_DIV0 | FLOW_NAN | FLOW_MISSING));
}

static void on_result(void *arg, const struct flow_result *r)
{
	struct life *l = arg;

	demand_token(&r->t);
	demand(r->measurement == l->g->measurement && r->t.requester == r->measurement);
	demand(l->outputs++ < OUTPUTS_MAX);
}

/* Passes a batch to one of the links of this graph. The engine has to check whether it fits. */
static void feed_back(struct life *l, struct flow_batch *b)
{
	for (size_t i = 0; i < l->g->nnode; i++) {
		if (l->g->node[i].kind != FLOW_LINK_IN)
			continue;
		b->link = l->g->node[i].link.name;
		b->read = l->read + (int64_t)(l->outputs % 4) - 1;
		if (b->read > 0)
			flow_take(l->f, b, NULL);
	}
}

static void on_batch(void *arg, const struct flow_batch *b)
{
	struct life *l = arg;

	demand(b->n == 0 || b->t);
	demand(!b->partial || b->n == 0 || b->a);
	buf_clear(&l->bytes);
	flow_batch_encode(&l->bytes, b);
	l->outputs++;
}

static void push(struct life *l, uint32_t node, uint8_t key, uint8_t value)
{
	static const double some[] = {
		0, 1, -1, NAN, INFINITY, -INFINITY, 1e308, 1e-308, 0.1, 1e9
	};
	double v = value < 10 ? some[value] : (double)value - 100;
	struct flow_token t = flow_token_make(key < 250 ? (int64_t)key - 10 : INT64_MAX - 255 + key,
					      v, value % 7 ? 0 : value, l->now + key);

	if (l->g->node[node].domain == FLOW_READ)
		t.key = l->read + key % 3;
	flow_push(l->f, flow_input(l->f, l->g->measurement, node), &t);
}

/*
 * Messages that the engine sends during the call are passed to it afterwards: callbacks may not
 * change the engine.
 */
static void read_once(struct life *l, uint8_t skip)
{
	struct flow_batch b;

	l->now += 1 + skip;
	l->read += 1 + (skip > 250 ? skip : 0);
	buf_clear(&l->bytes);
	demand(!flow_read(l->f, l->g->measurement, l->read, l->now, NULL));
	if (!l->bytes.n)
		return;
	demand(!l->bytes.failed);
	demand(!flow_batch_decode(&l->room, l->bytes.p, l->bytes.n, &b, NULL));
	feed_back(l, &b);
}

static void step(struct life *l, const uint8_t s[4])
{
	uint32_t node = s[1] % (uint32_t)l->g->nnode, m = l->g->measurement;
	const struct flow_node *n = &l->g->node[node];

	l->outputs = 0;
	if (s[0] % 8 == 0)
		read_once(l, s[2]);
	else if (s[0] % 8 == 1 && n->kind == FLOW_LINK_IN)
		(s[2] % 2 ? flow_link_close : flow_link_open)(l->f, m, n->link.name);
	else if (s[0] % 8 == 1)
		(s[2] % 2 ? flow_close : flow_open)(l->f, flow_input(l->f, m, node));
	else if (s[0] % 8 == 2)
		demand(!flow_announce(l->f, m, l->now + s[2]));
	else
		push(l, node, s[2], s[3]);
}

static void live(struct flow_graph *g, const uint8_t *script, size_t n)
{
	static struct life l;
	struct flow_limits limits = { 1, FLOW_NODES_MAX, STATE_MAX_BYTES };
	struct flow_out out = { on_result, on_batch, &l };

	l.g = g;
	l.read = 0;
	l.now = START;
	l.bytes.max = 16 * FRAME_MAX_BYTES;
	l.f = flow_new(&limits, &out);
	demand(l.f != NULL);
	if (!flow_load(l.f, g, START, NULL)) {
		demand(flow_size(l.f).state_bytes <= flow_graph_state_bytes(g));
		for (size_t i = 0; i + 4 <= n; i += 4)
			step(&l, script + i);
		flow_remove(l.f, g->measurement);
		demand(!flow_size(l.f).nodes && !flow_size(l.f).state_bytes);
	}
	flow_free(l.f);
}

static void demand_same_again(const struct flow_graph *g)
{
	static struct buf first = BUF_INIT(16 * FRAME_MAX_BYTES),
			  second = BUF_INIT(16 * FRAME_MAX_BYTES);
	struct omis_values *v = NULL;
	struct flow_graph *again = NULL;

	buf_clear(&first);
	buf_clear(&second);
	flow_graph_print(&first, g);
	if (first.n > FRAME_MAX_BYTES)
		return;
	demand(!first.failed && !omis_parse_values(buf_str(&first), first.n, &v, NULL));
	demand(!flow_graph_from_value(&v->v[0], &again, NULL));
	flow_graph_print(&second, again);
	demand(first.n == second.n && !memcmp(first.p, second.p, first.n));
	flow_graph_free(again);
	omis_values_free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct omis_values *v = NULL;
	struct flow_graph *g = NULL;
	size_t text = n >= 2 ? p[0] | (size_t)p[1] << 8 : 0;

	if (n < 2 || text > n - 2 || omis_parse_values((const char *)p + 2, text, &v, NULL))
		return 0;
	if (v->n == 1 && !flow_graph_from_value(&v->v[0], &g, NULL)) {
		demand_same_again(g);
		live(g, p + 2 + text, n - 2 - text);
		flow_graph_free(g);
	}
	omis_values_free(v);
	return 0;
}
