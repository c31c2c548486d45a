/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/loading.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/limits.h"
#include "tree/branches.h"

#include <stdlib.h>

/* bytes of graphs in one FLOW_LOAD, unless a single graph is larger */
#define PART_BYTES (FRAME_MAX_BYTES / 2)
#define PART_PIECES 4000 /* pieces of one message: far below PROTO_ELEMENTS_MAX */

static void send_part(struct loading *x, bool more)
{
	struct msg m = { .type = MSG_FLOW_LOAD, .flow_load = x->head };

	m.flow_load.piece = x->piece;
	m.flow_load.npiece = x->n;
	m.flow_load.more = more;
	if (!x->rc)
		x->rc = branches_send(x->branches, x->branch, &m);
	x->n = x->bytes = 0;
}

void loading_add(struct loading *x, const char *object, const void *graph, size_t n)
{
	if (x->n && (x->bytes + n > PART_BYTES || x->n == PART_PIECES))
		send_part(x, true);
	if (array_grow(&x->piece, &x->cap, x->n + 1, sizeof(*x->piece), PART_PIECES)) {
		x->rc = -ERR_NOMEM;
		return;
	}
	x->piece[x->n++] = (struct msg_flow_piece){ object, { graph, n } };
	x->bytes += n;
}

int loading_end(struct loading *x)
{
	send_part(x, false);
	free(x->piece);
	return x->rc;
}
