/* SPDX-License-Identifier: Apache-2.0 */
/* Operations: constants are evaluated at once, others become nodes of the graph. */
#include "pmsl/plan/binding.h"

#include "common/flow/graph/op.h"

#include <stdarg.h>
#include <stdio.h>

struct known known_number(double v)
{
	return (struct known){ .kind = KNOWN_NUMBER, .number = v };
}

int bind_fail(struct binder *b, const struct dag_node *at, int code, const char *fmt, ...)
{
	char text[PMSL_DIAG_TEXT_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pmsl_error(b->d, at ? at->at : PMSL_NOWHERE, at ? at->len : 0, "%s", text);
	return code;
}

int bind_put(struct binder *b, const struct dag_node *at, struct flow_node *n,
	     const struct place *place, struct known *out)
{
	int rc;

	n->line = at->at + 1; /* an offset in the text, until the graph is cut */
	*out = (struct known){ .kind = KNOWN_NODE };
	rc = bound_put(b->b, n, place, &out->node);
	return rc == -ERR_LIMIT
		       ? bind_fail(b, at, rc, "for these objects the graph has more than %d nodes",
				   BOUND_NODES_MAX)
		       : rc;
}

int bind_node(struct binder *b, const struct dag_node *at, const struct known *v, uint32_t *out)
{
	struct flow_node n = { .kind = FLOW_CONST, .constant = v->number };
	struct known made = *v;
	int rc = v->kind == KNOWN_NODE ? 0 : bind_put(b, at, &n, NULL, &made);

	*out = made.node;
	return rc;
}

/* Evaluates constants as the engine would. */
static double apply(enum flow_op op, const struct known *in, size_t n)
{
	struct flow_token t[3], out;

	for (size_t i = 0; i < n; i++)
		t[i] = flow_token_constant(in[i].number);
	flow_op_eval(op, t, &out);
	return out.value;
}

/* Evaluates AND and OR if one side is a constant. Returns false when both sides are nodes. */
static bool is_decided(enum flow_op op, const struct known *in, struct known *out)
{
	if (op != FLOW_OP_AND && op != FLOW_OP_OR)
		return false;
	for (size_t i = 0; i < 2; i++) {
		if (in[i].kind != KNOWN_NUMBER)
			continue;
		*out = (in[i].number != 0) == (op == FLOW_OP_OR) ? known_number(op == FLOW_OP_OR)
								 : in[1 - i];
		return true;
	}
	return false;
}

/* Returns the node of an event's time if that is the value, for any virtual time; else NULL. */
static const struct bound_node *time_behind(const struct binder *b, const struct known *v)
{
	const struct bound_node *n = v->kind == KNOWN_NODE ? b->b->node[v->node] : NULL;

	while (n && n->n.kind == FLOW_SHIFT)
		n = b->b->node[n->n.in[0]];
	return n && n->n.kind == FLOW_INPUT && n->n.source.kind == FLOW_SOURCE_TIME &&
			       n->place.kind == PLACE_NODE
		       ? n
		       : NULL;
}

static int put_local(struct binder *b, const struct dag_node *at, struct known *v)
{
	const struct bound_node *was = b->b->node[v->node];
	struct flow_node n = was->n;
	struct known in = { .kind = KNOWN_NODE };
	int rc = 0;

	if (n.kind == FLOW_INPUT) {
		n.source.from_start = false;
		return bind_put(b, at, &n, &was->place, v);
	}
	in.node = n.in[0];
	rc = put_local(b, at, &in);
	n.in = &in.node;
	return rc ? rc : bind_put(b, at, &n, NULL, v);
}

/* The difference of two times on one host uses the host's clock, whose error is smaller. */
static int put_local_times(struct binder *b, const struct dag_node *at, struct known in[2])
{
	const struct bound_node *first = time_behind(b, &in[0]), *second = time_behind(b, &in[1]);
	int rc;

	if (!first || !second || !place_equal(first->place, second->place))
		return 0;
	rc = put_local(b, at, &in[0]);
	return rc ? rc : put_local(b, at, &in[1]);
}

int bind_op(struct binder *b, const struct dag_node *at, enum flow_op op, struct known_list of,
	    struct known *out)
{
	const struct known *in = of.v;
	size_t n = of.n;
	struct flow_node node = { .kind = FLOW_OP, .op = op, .nin = n };
	uint32_t ids[3];
	struct known own[2];
	bool is_constant = true;
	int rc;

	if (is_decided(op, in, out))
		return 0;
	if (op == FLOW_OP_SUB) {
		own[0] = in[0];
		own[1] = in[1];
		rc = put_local_times(b, at, own);
		if (rc)
			return rc;
		in = own;
	}
	for (size_t i = 0; i < n; i++)
		is_constant &= in[i].kind == KNOWN_NUMBER;
	if (is_constant) {
		*out = known_number(apply(op, in, n));
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		rc = bind_node(b, at, &in[i], &ids[i]);
		if (rc)
			return rc;
	}
	node.in = ids;
	return bind_put(b, at, &node, NULL, out);
}

int bind_set(struct binder *b, const struct dag_node *at, const struct flow_fold *fold,
	     struct node_list in, struct known *out)
{
	struct flow_node node = { .kind = FLOW_SET, .in = in.v, .nin = in.n, .fold = *fold };
	bool goes_through = fold->agg == AGG_SUM || fold->agg == AGG_PROD || fold->agg == AGG_MIN ||
			    fold->agg == AGG_MAX || fold->agg == AGG_MEAN ||
			    fold->agg == AGG_UNIQUE;

	if (in.n == 1 && goes_through && !b->b->node[in.v[0]]->n.partial && !fold->partial_out) {
		*out = (struct known){ .kind = KNOWN_NODE, .node = in.v[0] };
		return 0;
	}
	return bind_put(b, at, &node, NULL, out);
}
