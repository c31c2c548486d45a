/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler of your own for algorithms of omig, as figure 11 of the NekoStat report has it. It
 * measures how long the mistakes of a failure detector last. The run ends when the interval of the
 * mean is narrow enough. The file tm then has each value, and tm.txt the statistics.
 *
 *	make && omig neko run figure11.conf --simulate
 */
#include <omig/neko.h>
#include <omig/stats.h>

#include <string.h>

struct handler {
	struct quantity *tm;
	nsec_t started_at; /* -1: there is no mistake */
};

static int handler_init(void *state, struct neko_figures *f, struct setup *s, struct err *e)
{
	struct handler *h = state;

	(void)s;
	h->tm = neko_quantity(f, QUANTITY_ON_FILE, "tm", "s", e);
	return h->tm ? quantity_stop_on_interval(h->tm, 0.95, 0.05, e) : -1;
}

static int handler_begin(void *state, uint32_t m)
{
	struct handler *h = state;

	(void)m;
	h->started_at = -1;
	return 0;
}

static void handler_handle(void *state, struct neko_figures *f, const struct neko_event *v)
{
	struct handler *h = state;

	(void)f;
	if (strcmp(v->what, "startSuspect") == 0) {
		h->started_at = v->at;
	} else if (strcmp(v->what, "stopSuspect") == 0 && h->started_at >= 0) {
		quantity_add(h->tm, (double)(v->at - h->started_at) / 1e9);
		h->started_at = -1;
	}
}

static bool handler_should_stop(void *state, struct neko_figures *f)
{
	(void)f;
	return quantity_is_done(((struct handler *)state)->tm);
}

static int handler_write_results(void *state, struct neko_figures *f, struct err *e)
{
	(void)f;
	return quantity_export(((struct handler *)state)->tm, "tm.txt", e);
}

static const struct neko_measure handler = {
	.name = "figure11",
	.bytes = sizeof(struct handler),
	.init = handler_init,
	.begin = handler_begin,
	.handle = handler_handle,
	.should_stop = handler_should_stop,
	.write_results = handler_write_results,
};

/* The process does nothing: stat.handler takes its handler. */
static int nothing_init(struct neko_process *p, struct setup *s, struct err *e)
{
	(void)p;
	(void)s;
	(void)e;
	return 0;
}

static const struct neko_kind kinds[] = {
	{ "figure11", "the handler of figure 11", nothing_init, &handler },
	{ 0 },
};
NEKO_APPLICATION(kinds)
