/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a run of atomic broadcasts, and checks that all processes have one order. */
#include "common/base/array.h"
#include "neko/algorithms/abcast.h"
#include "neko/core/event.h"
#include "neko/core/limits.h"
#include "neko/core/setup.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGES_MAX (1u << 28) /* messages of a run: memory ends before */

enum { LATENCY, TIME_TO_DELIVER, VIEW };

struct message {
	uint64_t id;
	nsec_t sent_at, first_at; /* -1: not reported */
};

/* The first delivery at each place determines the order. */
struct run_of {
	struct map message; /* by id */
	struct message **all; /* owned, each message too: in the order of their first reports */
	struct message **order; /* owned; pointers into `all`, by place in the order */
	size_t nall, cap_all, norder, cap_order;
	size_t *at; /* owned, by process: number of messages that it has delivered */
	bool *is_down; /* owned */
	size_t everywhere; /* messages delivered by all processes that are up */
	uint32_t m, view;
	nsec_t settle, view_at;
};

static int measure_init(void *state, struct neko_figures *f, struct setup *s, struct err *e)
{
	struct run_of *r = state;

	map_init(&r->message);
	r->settle = MEASURE_SETTLE_NS;
	return setup_nsec(s, "abcast.settle", 0, NEKO_TIME_MAX, &r->settle, e);
}

static void forget(struct run_of *r)
{
	for (size_t i = 0; i < r->nall; i++)
		free(r->all[i]);
	map_done(&r->message);
	free(r->at);
	free(r->is_down);
	r->at = NULL;
	r->is_down = NULL;
	r->nall = r->norder = r->everywhere = 0;
	r->view = 0;
}

static void measure_done(void *state)
{
	struct run_of *r = state;

	forget(r);
	free(r->all);
	free(r->order);
}

static int measure_begin(void *state, uint32_t m)
{
	struct run_of *r = state;

	forget(r);
	r->m = m;
	r->at = calloc(m, sizeof(*r->at));
	r->is_down = calloc(m, sizeof(*r->is_down));
	return r->at && r->is_down ? 0 : -ERR_NOMEM;
}

static unsigned origin_of(uint64_t id)
{
	return (unsigned)(id >> 32);
}

static unsigned number_of(uint64_t id)
{
	return (unsigned)(uint32_t)id;
}

static struct message *add(struct run_of *r, uint64_t id)
{
	struct message *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	*v = (struct message){ id, -1, -1 };
	if (array_grow(&r->all, &r->cap_all, r->nall + 1, sizeof(struct message *), MESSAGES_MAX) ||
	    map_put(&r->message, id, v, NULL)) {
		free(v);
		return NULL;
	}
	r->all[r->nall++] = v;
	return v;
}

/* Returns NULL, and reports a violation, for an unknown number of a message. */
static struct message *find(struct run_of *r, struct neko_figures *f, const struct neko_event *e)
{
	struct message *v;
	uint64_t id;

	if (!neko_number(e, &id) || origin_of(id) < 1 || origin_of(id) > r->m) {
		neko_broken(f, "integrity: process %u names a message of no process", e->process);
		return NULL;
	}
	v = map_find(&r->message, id);
	if (!v)
		v = add(r, id);
	if (!v)
		neko_broken(f, "no memory for more messages of a run than %zu", r->nall);
	return v;
}

static void add_latency(struct neko_figures *f, const struct message *v)
{
	if (v->sent_at >= 0 && v->first_at >= 0)
		neko_figure_time(f, LATENCY, v->first_at - v->sent_at);
}

/* Completes messages that the last process that is up has delivered now. */
static void complete(struct run_of *r, struct neko_figures *f, nsec_t now)
{
	size_t least = r->norder;

	for (uint32_t i = 0; i < r->m; i++)
		if (!r->is_down[i] && r->at[i] < least)
			least = r->at[i];
	for (; r->everywhere < least; r->everywhere++) {
		const struct message *v = r->order[r->everywhere];

		if (v->sent_at >= 0)
			neko_figure_time(f, TIME_TO_DELIVER, now - v->sent_at);
	}
}

static void sent(struct run_of *r, struct neko_figures *f, const struct neko_event *e)
{
	struct message *v = find(r, f, e);

	if (!v)
		return;
	v->sent_at = e->at;
	add_latency(f, v);
}

/* Compares a delivery with the first one at the same place. Returns false if the order differs. */
static bool has_order(struct run_of *r, struct neko_figures *f, struct message *v,
		      const struct neko_event *e)
{
	size_t place = r->at[e->process - 1];
	const struct message *other = place < r->norder ? r->order[place] : NULL;

	if (other == v)
		return true;
	if (other) {
		neko_broken(f,
			    "total order: process %u delivered message %u of process %u as number "
			    "%zu, but another process delivered message %u of process %u",
			    e->process, number_of(v->id), origin_of(v->id), place + 1,
			    number_of(other->id), origin_of(other->id));
		return false;
	}
	if (v->first_at >= 0) {
		neko_broken(f, "integrity: process %u delivered message %u of process %u twice",
			    e->process, number_of(v->id), origin_of(v->id));
		return false;
	}
	if (array_grow(&r->order, &r->cap_order, r->norder + 1, sizeof(struct message *),
		       MESSAGES_MAX)) {
		neko_broken(f, "no memory for more messages of a run than %zu", r->norder);
		return false;
	}
	r->order[r->norder++] = v;
	v->first_at = e->at;
	add_latency(f, v);
	return true;
}

static void delivered(struct run_of *r, struct neko_figures *f, const struct neko_event *e)
{
	struct message *v = find(r, f, e);

	if (!v || !has_order(r, f, v, e))
		return;
	r->at[e->process - 1]++;
	complete(r, f, e->at);
}

static void crashed(struct run_of *r, struct neko_figures *f, const struct neko_event *e)
{
	r->is_down[e->process - 1] = true;
	complete(r, f, e->at);
}

/* Counts a view when the first process begins it. */
static void view(struct run_of *r, struct neko_figures *f, const struct neko_event *e)
{
	uint64_t number;

	if (!neko_number(e, &number) || number <= r->view || number > UINT32_MAX)
		return;
	if (r->view)
		neko_figure_time(f, VIEW, e->at - r->view_at);
	r->view = (uint32_t)number;
	r->view_at = e->at;
}

static void measure_handle(void *state, struct neko_figures *f, const struct neko_event *e)
{
	struct run_of *r = state;

	if (e->process - 1 >= r->m)
		return;
	if (strcmp(e->what, NEKO_CRASHED) == 0)
		crashed(r, f, e);
	else if (strcmp(e->what, ABCAST_SENT) == 0)
		sent(r, f, e);
	else if (strcmp(e->what, ABCAST_DELIVERED) == 0)
		delivered(r, f, e);
	else if (strcmp(e->what, ABCAST_VIEW) == 0)
		view(r, f, e);
}

/* Returns the number of messages whose first delivery was before that time. */
static size_t count_settled(const struct run_of *r, nsec_t before)
{
	size_t n = r->norder;

	while (n && r->order[n - 1]->first_at >= before)
		n--;
	return n;
}

static void measure_end(void *state, struct neko_figures *f, nsec_t now)
{
	const struct run_of *r = state;
	nsec_t before = now - r->settle;
	size_t settled = count_settled(r, before);

	for (uint32_t i = 0; i < r->m; i++)
		if (!r->is_down[i] && r->at[i] < settled)
			neko_broken(f,
				    "agreement: process %u delivered %zu messages, but others %zu",
				    i + 1, r->at[i], settled);
	for (size_t i = 0; i < r->nall; i++) {
		const struct message *v = r->all[i];
		bool is_up = !r->is_down[origin_of(v->id) - 1];

		if (v->sent_at < 0 && is_up)
			neko_broken(f,
				    "integrity: message %u of process %u was delivered, but never "
				    "broadcast",
				    number_of(v->id), origin_of(v->id));
		if (is_up && v->first_at < 0 && v->sent_at < before)
			neko_broken(f, "validity: message %u of process %u was never delivered",
				    number_of(v->id), origin_of(v->id));
	}
}

static const struct neko_row rows[] = { { "latency", "s", true },
					{ "TimeToDeliver", "s", false },
					{ "view", "s", false },
					{ NULL, NULL, false } };

const struct neko_measure abcast_measure = {
	.name = "abcast",
	.rows = rows,
	.bytes = sizeof(struct run_of),
	.handle = measure_handle,
	.init = measure_init,
	.begin = measure_begin,
	.end = measure_end,
	.done = measure_done,
};
