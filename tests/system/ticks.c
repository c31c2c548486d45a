/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An algorithm for neko/one-host: a ticker logs a number each millisecond, then sends it. A
 * listener logs what it receives. After ticks.stop numbers the ticker ends the run. A received
 * number that was not logged is an error of the run: its log is incomplete.
 */
#include <omig/neko.h>
#include <stdio.h>
#include <string.h>

#define TYPE_TICK 1
#define MS INT64_C(1000000)

enum { TICK, HEARD };

struct ticks {
	uint64_t stop; /* 0: never */
};

static const struct neko_type types[] = { { TYPE_TICK, "tick" }, { 0, NULL } };

static void ticker_run(struct neko_layer *l)
{
	const struct ticks *t = neko_state(l);

	for (uint32_t n = 1; neko_sleep(l, MS) == 0; n++) {
		neko_log(l, "tick", n);
		neko_send_to(l, 1, 0, TYPE_TICK, &n, sizeof(n));
		if (n == t->stop)
			neko_stop(l);
	}
}

static void listener_run(struct neko_layer *l)
{
	struct neko_msg *m;
	uint32_t n;

	while (neko_receive(l, -1, &m) == 0) {
		memcpy(&n, m->content, sizeof(n));
		neko_log(l, "heard", n);
		neko_log_bytes(l, "bytes", m->content, m->n);
		neko_log_bytes(l, "text", "a\tb", 3);
		neko_msg_unref(l, m);
	}
}

static const struct neko_layer_ops ticker = { "ticker", sizeof(struct ticks), types,
					      .run = ticker_run };
static const struct neko_layer_ops listener = { "listener", 0, types, .run = listener_run };

static int ticker_init(struct neko_process *p, struct setup *s, struct err *e)
{
	struct ticks *t;
	int rc = neko_push(p, &ticker, &t, e);

	return rc ? rc : neko_setup_u64(s, "ticks.stop", 0, 1000000, &t->stop, e);
}

static int listener_init(struct neko_process *p, struct setup *s, struct err *e)
{
	(void)s;
	return neko_push(p, &listener, NULL, e);
}

static int begin(void *state, uint32_t m)
{
	memset(state, 0, sizeof(double));
	(void)m;
	return 0;
}

static void handle(void *state, struct neko_figures *f, const struct neko_event *v)
{
	double *last = state;

	if (strcmp(v->what, "tick") == 0) {
		*last = v->content;
		neko_figure(f, TICK, v->content, 0);
	} else if (strcmp(v->what, "heard") == 0) {
		neko_figure(f, HEARD, v->content, 0);
		if (v->content > *last)
			neko_broken(f, "%g was heard, %g was logged last", v->content, *last);
	}
}

static bool print(const struct neko_event *v, char *out, size_t cap)
{
	uint32_t n;

	if (strcmp(v->what, "bytes") != 0 || v->n != sizeof(n))
		return false;
	memcpy(&n, v->bytes, sizeof(n));
	snprintf(out, cap, "number %u", n);
	return true;
}

static const struct neko_row rows[] = { { "tick", "n", true }, { "heard", "n", false }, { 0 } };
static const struct neko_measure measure = { .name = "ticks",
					     .rows = rows,
					     .bytes = sizeof(double),
					     .handle = handle,
					     .begin = begin,
					     .print = print };
static const struct neko_kind kinds[] = {
	{ "ticker", "logs numbers and sends them", ticker_init, &measure },
	{ "listener", "logs what it hears", listener_init, &measure },
	{ 0 },
};
NEKO_APPLICATION(kinds)
