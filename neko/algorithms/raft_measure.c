/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how long processes were without a leader, and checks that no term has two leaders. */
#include "neko/algorithms/raft.h"

#include "common/container/map.h"
#include "neko/core/event.h"
#include "neko/core/limits.h"
#include "neko/core/setup.h"

#include <stdlib.h>
#include <string.h>

enum { ELECTION, FAILOVER, TERMS, LED };

struct view {
	uint64_t term; /* term of the last event */
	uint64_t followed;
	nsec_t stood_at; /* start of its candidacy in `term` */
	bool is_down;
};

struct run_of {
	struct view *view; /* owned */
	uint32_t m, nup;
	struct map leader; /* by term: its leader, as a pointer into `view` */
	struct view *current; /* leader of the highest term that has a leader; NULL: none yet */
	/* term of `current`; term of the last leader that a majority followed */
	uint64_t term, led_term;
	/*
	 * crash time of a leader that a majority followed; -1: no crash, or there is a new leader
	 */
	nsec_t crashed_at;
	/* start of the present state, -1 without a leader; time with a leader */
	nsec_t led_since, led;
	nsec_t last_led;
	nsec_t settle;
};

static int measure_init(void *state, struct neko_figures *f, struct setup *s, struct err *e)
{
	struct run_of *r = state;

	map_init(&r->leader);
	r->settle = MEASURE_SETTLE_NS;
	return setup_nsec(s, "raft.settle", 0, NEKO_TIME_MAX, &r->settle, e);
}

static void measure_done(void *state)
{
	struct run_of *r = state;

	free(r->view);
	map_done(&r->leader);
}

static int measure_begin(void *state, uint32_t m)
{
	struct run_of *r = state;
	nsec_t settle = r->settle;

	measure_done(r);
	*r = (struct run_of){
		.m = m, .nup = m, .settle = settle, .crashed_at = -1, .led_since = -1
	};
	map_init(&r->leader);
	r->view = calloc(m, sizeof(*r->view));
	return r->view ? 0 : -ERR_NOMEM;
}

static bool is_led(const struct run_of *r)
{
	uint32_t n = 1;

	if (!r->current || r->current->is_down)
		return false;
	for (uint32_t i = 0; i < r->m; i++)
		n += !r->view[i].is_down && &r->view[i] != r->current &&
		     r->view[i].followed == r->term;
	return n > r->m / 2;
}

static void begin_led(struct run_of *r, struct neko_figures *f, nsec_t at)
{
	r->led_since = at;
	if (r->crashed_at >= 0)
		neko_figure_time(f, FAILOVER, at - r->crashed_at);
	if (r->led_term && r->term > r->led_term)
		neko_figure(f, TERMS, (double)(r->term - r->led_term), 0);
	r->led_term = r->term;
	r->crashed_at = -1;
}

static void end_led(struct run_of *r, nsec_t at)
{
	r->led += at - r->led_since;
	r->last_led = at;
	r->led_since = -1;
}

static void check_leaders(struct run_of *r, struct neko_figures *f, nsec_t at)
{
	bool is = is_led(r), was = r->led_since >= 0;

	if (is && (!was || r->term != r->led_term)) {
		if (was)
			end_led(r, at);
		begin_led(r, f, at);
	} else if (!is && was) {
		end_led(r, at);
	}
}

static bool term_of(struct neko_figures *f, const struct neko_event *e, uint64_t *out)
{
	if (neko_number(e, out))
		return true;
	neko_broken(f, "process %u reports an invalid term", e->process);
	return false;
}

static void became_leader(struct run_of *r, struct neko_figures *f, const struct neko_event *e)
{
	struct view *v = &r->view[e->process - 1], *other;
	uint64_t term;

	if (!term_of(f, e, &term))
		return;
	other = map_find(&r->leader, term);
	if (other && other != v)
		neko_broken(f, "two leaders in term %llu: processes %u and %u",
			    (unsigned long long)term, (unsigned)(other - r->view) + 1, e->process);
	else if (!other && map_put(&r->leader, term, v, NULL))
		neko_broken(f, "out of memory for the terms of a run");
	if (v->term == term)
		neko_figure_time(f, ELECTION, e->at - v->stood_at);
	if (term > r->term) {
		r->term = term;
		r->current = v;
	}
}

/* Checks that the term in the reports of a process never decreases. */
static void notice_term(struct run_of *r, struct neko_figures *f, const struct neko_event *e)
{
	struct view *v = &r->view[e->process - 1];
	uint64_t term;

	if (!term_of(f, e, &term))
		return;
	if (term < v->term)
		neko_broken(f, "process %u goes back from term %llu to %llu", e->process,
			    (unsigned long long)v->term, (unsigned long long)term);
	v->term = term;
}

static void crashed(struct run_of *r, struct view *v, nsec_t at)
{
	if (v->is_down)
		return;
	if (v == r->current && r->led_since >= 0)
		r->crashed_at = at;
	v->is_down = true;
	r->nup--;
}

static void measure_handle(void *state, struct neko_figures *f, const struct neko_event *e)
{
	struct run_of *r = state;
	struct view *v = &r->view[e->process - 1];

	if (strcmp(e->what, NEKO_CRASHED) == 0) {
		crashed(r, v, e->at);
	} else if (strcmp(e->what, RAFT_CANDIDATE) == 0) {
		notice_term(r, f, e);
		v->stood_at = e->at;
	} else if (strcmp(e->what, RAFT_LEADER) == 0) {
		became_leader(r, f, e);
		notice_term(r, f, e);
	} else if (strcmp(e->what, RAFT_FOLLOW) == 0) {
		notice_term(r, f, e);
		v->followed = v->term;
	} else if (strcmp(e->what, RAFT_RESIGN) == 0 && v == r->current) {
		r->current = NULL;
	}
	check_leaders(r, f, e->at);
}

static void measure_end(void *state, struct neko_figures *f, nsec_t now)
{
	struct run_of *r = state;

	if (r->led_since >= 0)
		end_led(r, now);
	if (now > 0)
		neko_figure(f, LED, (double)r->led / (double)now, 0);
	if (r->settle && r->nup > r->m / 2 && now - r->last_led > r->settle)
		neko_broken(f, "no majority has followed a leader for the last %.3f s",
			    (double)(now - r->last_led) / NSEC_PER_SEC);
}

static const struct neko_row rows[] = { { "election", "s", false },
					{ "failover", "s", true },
					{ "terms", NULL, false },
					{ "led", NULL, false },
					{ NULL, NULL, false } };

const struct neko_measure raft_measure = {
	.name = "raft",
	.rows = rows,
	.bytes = sizeof(struct run_of),
	.handle = measure_handle,
	.init = measure_init,
	.begin = measure_begin,
	.end = measure_end,
	.done = measure_done,
};
