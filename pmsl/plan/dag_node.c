/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/plan/dag_node.h"

#include "common/base/str.h"

#include <string.h>

uint64_t dag_mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * UINT64_C(1099511628211);
}

static uint64_t mix_text(uint64_t h, const char *s)
{
	for (; s && *s; s++)
		h = dag_mix(h, (unsigned char)*s);
	return h;
}

uint64_t dag_node_hash(const struct dag_node *n)
{
	uint64_t h = UINT64_C(14695981039346656037), number;

	memcpy(&number, &n->number, sizeof(number));
	h = dag_mix(dag_mix(dag_mix(h, n->kind), n->op), number);
	h = dag_mix(dag_mix(dag_mix(h, (uint64_t)n->builtin), n->param), n->variable);
	h = dag_mix(dag_mix(h, (uint64_t)n->shift), n->bound);
	for (unsigned i = 0; i < n->nin; i++)
		h = dag_mix(h, n->in[i]);
	return mix_text(h, n->name);
}

bool dag_node_is_equal(const struct dag_node *a, const struct dag_node *b)
{
	return a->kind == b->kind && a->op == b->op &&
	       !memcmp(&a->number, &b->number, sizeof(a->number)) && a->builtin == b->builtin &&
	       a->param == b->param && a->variable == b->variable && a->shift == b->shift &&
	       a->bound == b->bound && a->nin == b->nin && a->objects == b->objects &&
	       a->partners == b->partners && a->regions == b->regions && str_eq(a->name, b->name) &&
	       !memcmp(a->in, b->in, a->nin * sizeof(a->in[0]));
}
