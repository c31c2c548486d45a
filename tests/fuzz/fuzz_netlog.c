/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of event logs as vertices: each is one, another event, or refused with a reason. */
#include "eventlog/text/evline.h"
#include "interaction/form/netlog.h"
#include "interaction/set/netsplit.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void demand(int truth)
{
	if (!truth)
		abort();
}

static int on_part(void *arg, const struct netsplit_part *p, struct err *e)
{
	struct err why = { 0 };

	(void)arg;
	(void)e;
	if (p->outcome == NETSPLIT_WHOLE && network_build(p->w, &why))
		demand(why.text[0] != '\0');
	return 0;
}

static void take(struct netuse *use, struct netsplit *split, const struct event *ev)
{
	static struct netlog l;
	struct err e = { 0 };
	int got = netlog_declare(use, ev, &e);

	if (!got)
		got = netlog_vertex(&l, use, ev, &e);
	else if (got == 1)
		return;
	if (got == 1)
		demand(!netsplit_add(split, &l.vertex, l.interaction, &e));
	else if (got < 0)
		demand(e.text[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static struct evline *line;
	struct netuse *use = netuse_new();
	struct netsplit *split = use ? netsplit_new(use, 1000, on_part, NULL) : NULL;
	struct err e = { 0 };

	if (!line)
		line = evline_new(EVWORDS_AUTO);
	demand(split && line);
	for (size_t at = 0, k; at < n; at += k + 1) {
		for (k = 0; at + k < n && p[at + k] != '\n';)
			k++;
		if (evline_read(line, EVLINE_BP, (const char *)p + at, k, &e) == 1)
			take(use, split, &line->event);
	}
	demand(!netsplit_end(split, &e));
	netsplit_free(split);
	netuse_free(use);
	return 0;
}
