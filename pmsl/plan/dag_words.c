/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of a template: names of its nodes, and whether it grows with the objects. */
#include "pmsl/check/builtin.h"
#include "pmsl/check/function.h"
#include "pmsl/plan/dag.h"

#include "common/base/str.h"

static void label_variables(const struct dag *g, uint64_t set, struct buf *b)
{
	for (unsigned i = 0; i < g->nvariable; i++)
		if (set >> i & 1)
			buf_printf(b, " %s", g->variable[i].decl->name);
}

void dag_label(const struct dag *g, const struct dag_node *n, struct buf *b)
{
	static const char *const spans[] = { "[START,NOW]", "[LAST,NOW]", "interval", "NOW" };

	switch (n->kind) {
	case DAG_NUMBER:
		buf_printf(b, "%g", n->number);
		return;
	case DAG_SPAN:
		buf_puts(b, spans[n->op]);
		return;
	case DAG_VT:
		buf_puts(b, g->variable[n->variable].decl->name);
		if (n->shift)
			buf_printf(b, " - %lld", (long long)n->shift);
		return;
	case DAG_ATTR:
		buf_printf(b, ".%s", n->name);
		return;
	case DAG_REGION:
		buf_printf(b, "\"%s\"", n->name);
		return;
	case DAG_OP:
		buf_puts(b, pmsl_op_name(n->op));
		return;
	case DAG_IN:
	case DAG_TIMES:
		buf_puts(b, n->kind == DAG_IN ? "IN" : "time IN");
		return;
	case DAG_PAIR:
		buf_puts(b, "with");
		return;
	case DAG_AT:
	case DAG_IF:
		buf_puts(b, n->kind == DAG_AT ? "AT" : "IF");
		return;
	case DAG_LIST:
	case DAG_FOLD:
		buf_puts(b, pmsl_fold_name(n->op));
		label_variables(g, n->bound, b);
		return;
	default:
		buf_puts(b, n->name ? n->name : "?");
	}
}

/* A metric that is not total is a current value: bytes of memory add up, shares of time do not. */
static bool is_extensive_metric(const struct dag_node *n)
{
	struct pmsl_builtin b;

	return pmsl_builtin_get((unsigned)n->builtin, &b) && (b.is_total || str_eq(b.unit, "B"));
}

static bool is_constant(const struct dag *g, uint32_t i)
{
	return g->node[i].kind == DAG_NUMBER ||
	       (g->node[i].kind == DAG_PARAM && g->node[i].type.kind == PMSL_T_VALUE);
}

static bool is_extensive_op(const struct dag *g, const struct dag_node *n, const bool *known)
{
	bool a = known[n->in[0]], b = n->nin > 1 && known[n->in[1]];

	switch (n->op) {
	case PMSL_NEG:
		return a;
	case PMSL_ADD:
	case PMSL_SUB:
		return a && b;
	case PMSL_MUL:
		return (a && is_constant(g, n->in[1])) || (b && is_constant(g, n->in[0]));
	case PMSL_DIV:
		return a && is_constant(g, n->in[1]);
	}
	return false;
}

static bool is_extensive_fold(const struct dag *g, const struct dag_node *n, const bool *known)
{
	const struct dag_node *value = &g->node[n->in[0]];

	if (n->op == PMSL_COUNT)
		return true;
	/* SUM(1 AT e(p, vt)) is a count, which grows with the objects. */
	return n->op == PMSL_SUM &&
	       (known[n->in[0]] || (value->kind == DAG_AT && is_constant(g, value->in[0])));
}

static bool is_extensive(const struct dag *g, const struct dag_node *n, const bool *known)
{
	if (n->kind == DAG_METRIC)
		return is_extensive_metric(n);
	if (n->kind == DAG_AT)
		return known[n->in[0]];
	if (n->kind == DAG_OP)
		return is_extensive_op(g, n, known);
	if (n->kind == DAG_FOLD)
		return is_extensive_fold(g, n, known);
	if (n->kind == DAG_IF)
		return known[n->in[1]] && known[n->in[2]];
	return false;
}

bool dag_is_extensive(const struct dag *g)
{
	bool known[DAG_NODES_MAX];

	for (size_t i = 0; i < g->n; i++)
		known[i] = is_extensive(g, &g->node[i], known);
	return known[g->root];
}
