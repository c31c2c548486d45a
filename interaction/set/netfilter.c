/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/set/netfilter.h"

#include "common/base/array.h"

#include <stdlib.h>
#include <string.h>

/* Collects the uses that are not left out. */
static size_t keep_uses(const struct netfilter *f, const struct network *w,
			const struct network_vertex *v, struct network_use *out)
{
	size_t n = 0;

	for (uint32_t i = 0; i < v->nops; i++) {
		const struct network_use *op = &w->op[v->ops + i];

		if (!f->has_all && !(f->object && f->object[op->object]))
			out[n++] = *op;
	}
	return n;
}

static bool is_left_out(const struct netfilter *f, const struct network_vertex *v, size_t kept)
{
	return v->kind == NETWORK_SIMPLE && !v->blocks && !kept && (v->nops || f->has_all);
}

int netfilter_run(const struct netfilter *f, const struct network *from, struct network *to,
		  struct err *e)
{
	struct network_use *use = NULL;
	size_t cap = 0;
	int rc = 0;

	for (size_t i = 0; i < from->n && !rc; i++) {
		const struct network_vertex *v = &from->v[i];
		size_t n;

		if (array_grow(&use, &cap, v->nops + 1, sizeof(*use), UINT32_MAX)) {
			rc = err_nomem(e);
			break;
		}
		n = keep_uses(f, from, v, use);
		if (!is_left_out(f, v, n))
			rc = network_add_copy(
				to, &(struct network_copy){ from, (uint32_t)i, use, n }, e);
	}
	free(use);
	return rc;
}
