/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/ledger.h"

#include "common/base/err.h"

#include <stdlib.h>
#include <string.h>

int ledger_open(struct ledger *l, size_t ranks)
{
	*l = (struct ledger){ .n = ranks };
	l->done = calloc(ranks, sizeof(*l->done));
	l->unknown = calloc(ranks, sizeof(*l->unknown));
	l->asked = calloc(ranks, sizeof(*l->asked));
	if (l->done && l->unknown && l->asked)
		return 0;
	ledger_close(l);
	return -ERR_NOMEM;
}

void ledger_close(struct ledger *l)
{
	free(l->done);
	free(l->unknown);
	free(l->asked);
	l->done = l->unknown = l->asked = NULL;
}

enum verdict verdict_of(const struct reply *r)
{
	if (r->coverage.nmissing)
		return strncmp(r->coverage.missing[0].reason, "not done", 8) ? VERDICT_UNKNOWN
									     : VERDICT_NOT_DONE;
	for (size_t i = 0; i < r->nentry; i++) {
		if (strstr(r->entry[i].value, "done before, with the status OK"))
			return VERDICT_DONE;
		if (r->entry[i].status)
			return strstr(r->entry[i].value, "not done") ? VERDICT_NOT_DONE
								     : VERDICT_UNKNOWN;
	}
	return r->nentry ? VERDICT_DONE : VERDICT_UNKNOWN;
}
