/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a run of reliable broadcasts, and checks that it was reliable. */
#include "neko/algorithms/broadcast.h"

#include "common/base/array.h"
#include "common/container/map.h"
#include "neko/core/event.h"
#include "neko/core/limits.h"
#include "neko/core/setup.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGES_MAX (1u << 26) /* messages of a run: memory ends before */

enum { TIME_TO_DELIVER, DELAY };

struct message {
	uint64_t id;
	nsec_t sent_at; /* -1: not reported */
	nsec_t first_at, last_at; /* times of the first and last delivery */
	uint32_t n; /* number of living processes that have the message */
	/* owned: a bit for each process that has delivered it; NULL: all living ones have */
	uint8_t *by;
};

struct run_of {
	struct map message; /* by id */
	struct message **all; /* owned, each message too: in the order of their first reports */
	size_t nall, cap;
	bool *is_down; /* owned */
	uint32_t m, nup;
	nsec_t settle;
};

static int measure_init(void *state, struct neko_figures *f, struct setup *s, struct err *e)
{
	struct run_of *r = state;

	map_init(&r->message);
	r->settle = MEASURE_SETTLE_NS;
	return setup_nsec(s, "broadcast.settle", 0, NEKO_TIME_MAX, &r->settle, e);
}

static void forget(struct run_of *r)
{
	for (size_t i = 0; i < r->nall; i++) {
		free(r->all[i]->by);
		free(r->all[i]);
	}
	r->nall = 0;
	map_done(&r->message);
	free(r->is_down);
	r->is_down = NULL;
}

static void measure_done(void *state)
{
	struct run_of *r = state;

	forget(r);
	free(r->all);
}

static int measure_begin(void *state, uint32_t m)
{
	struct run_of *r = state;

	forget(r);
	r->m = r->nup = m;
	r->is_down = calloc(m, sizeof(*r->is_down));
	return r->is_down ? 0 : -ERR_NOMEM;
}

static struct message *add(struct run_of *r, uint64_t id)
{
	struct message *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	*v = (struct message){ .id = id, .sent_at = -1, .first_at = -1 };
	v->by = calloc((r->m + 7) / 8, 1);
	if (!v->by ||
	    array_grow(&r->all, &r->cap, r->nall + 1, sizeof(struct message *), MESSAGES_MAX) ||
	    map_put(&r->message, id, v, NULL)) {
		free(v->by);
		free(v);
		return NULL;
	}
	r->all[r->nall++] = v;
	return v;
}

static unsigned origin_of(uint64_t id)
{
	return (unsigned)(id >> 32);
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

static bool has(const struct message *v, uint32_t process)
{
	return v->by[(process - 1) / 8] >> (process - 1) % 8 & 1;
}

/*
 * Completes a message when all living processes have it: TimeToDeliver of figure 7 ends at the last
 * of them.
 */
static void check_agreement(const struct run_of *r, struct neko_figures *f, struct message *v)
{
	if (!v->by || v->n < r->nup || v->sent_at < 0)
		return;
	neko_figure_time(f, TIME_TO_DELIVER, v->last_at - v->sent_at);
	free(v->by);
	v->by = NULL;
}

static void sent(struct run_of *r, struct neko_figures *f, const struct neko_event *e)
{
	struct message *v = find(r, f, e);

	if (!v)
		return;
	v->sent_at = e->at;
	check_agreement(r, f, v);
}

static void delivered(struct run_of *r, struct neko_figures *f, const struct neko_event *e)
{
	struct message *v = find(r, f, e);

	if (!v)
		return;
	if (!v->by || has(v, e->process)) {
		neko_broken(f, "integrity: process %u delivered message %u of process %u twice",
			    e->process, (unsigned)(uint32_t)v->id, origin_of(v->id));
		return;
	}
	if (v->sent_at >= 0 && e->process != origin_of(v->id))
		neko_figure_time(f, DELAY, e->at - v->sent_at);
	if (v->first_at < 0)
		v->first_at = e->at;
	v->last_at = e->at;
	v->by[(e->process - 1) / 8] |= (uint8_t)(1u << (e->process - 1) % 8);
	v->n++;
	check_agreement(r, f, v);
}

/* Removes a crashed process from the counts: it is not expected to deliver messages any longer. */
static void crashed(struct run_of *r, struct neko_figures *f, uint32_t process)
{
	if (r->is_down[process - 1])
		return;
	r->is_down[process - 1] = true;
	r->nup--;
	for (size_t i = 0; i < r->nall; i++) {
		struct message *v = r->all[i];

		if (!v->by)
			continue;
		v->n -= has(v, process);
		if (v->n)
			check_agreement(r, f, v);
	}
}

static void measure_handle(void *state, struct neko_figures *f, const struct neko_event *e)
{
	struct run_of *r = state;

	if (strcmp(e->what, NEKO_CRASHED) == 0)
		crashed(r, f, e->process);
	else if (strcmp(e->what, BROADCAST_SENT) == 0)
		sent(r, f, e);
	else if (strcmp(e->what, BROADCAST_DELIVERED) == 0)
		delivered(r, f, e);
}

/*
 * Judges a message at the end of a run. A killed process may have sent its last messages to no
 * process.
 */
static void judge(const struct run_of *r, struct neko_figures *f, const struct message *v,
		  nsec_t now)
{
	unsigned origin = origin_of(v->id), number = (unsigned)(uint32_t)v->id;
	bool is_up = !r->is_down[origin - 1];

	if (v->sent_at < 0 && is_up)
		neko_broken(
			f, "integrity: message %u of process %u was delivered, but never broadcast",
			number, origin);
	if (!v->by)
		return;
	if (v->n && v->n < r->nup && v->first_at < now - r->settle)
		neko_broken(f,
			    "agreement: message %u of process %u was delivered by %u of the %u "
			    "processes that are up",
			    number, origin, v->n, r->nup);
	if (is_up && v->sent_at >= 0 && v->sent_at < now - r->settle && !has(v, origin))
		neko_broken(f, "validity: process %u never delivered its own message %u", origin,
			    number);
}

static void measure_end(void *state, struct neko_figures *f, nsec_t now)
{
	const struct run_of *r = state;

	for (size_t i = 0; i < r->nall; i++)
		judge(r, f, r->all[i], now);
}

static const struct neko_row rows[] = { { "TimeToDeliver", "s", true },
					{ "delay", "s", false },
					{ NULL, NULL, false } };

const struct neko_measure broadcast_measure = {
	.name = "broadcast",
	.rows = rows,
	.bytes = sizeof(struct run_of),
	.handle = measure_handle,
	.init = measure_init,
	.begin = measure_begin,
	.end = measure_end,
	.done = measure_done,
};
