/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs at probes. All measurements that sample one probe of one process share one interest, with
 * all counters that they need. Each input of the engine gets each event once.
 */
#include "common/base/array.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/ring/calls.h"
#include "lm/instrument/probe.h"
#include "lm/measure/measurements_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Error of a difference of the host's clock: INPUT_SCALE_ERROR of some 30 ms. */
#define LOCAL_CLOCK_ERROR_S 1e-6

/* A counter that the rank samples: its calls and partners. */
struct figure {
	enum seg_read_kind kind;
	uint32_t classes;
	int call;
	const int32_t *partner; /* an input's, or the interest's own */
	size_t npartner;
};

/* An input of the engine, and its part of an event. It does not refer to a measurement. */
struct tap {
	uint32_t place;
	enum flow_source_kind kind;
	uint32_t parameter;
	bool is_local; /* a time by the host's own clock */
	/* Input whose counter is read from the system, else NULL; borrowed until inputs change. */
	struct input *sampled;
	struct figure figure[2];
	unsigned nfigure;
	int read[2]; /* places of the counters in what the interest reads; -1 = it reads no such
			thing */
	double base, relative_error;
	nsec_t start;
	uint32_t flags;
};

struct interest {
	struct watch *watch;
	struct probe_interest *interest; /* NULL: removed with its segment */
	struct figure figure[SEG_READS];
	unsigned nfigure;
};

struct watch {
	struct list link;
	struct measurements *owner;
	struct proc *proc;
	char *probe; /* owned */
	struct interest *interest; /* owned */
	struct tap *tap; /* owned */
	size_t ntap, cap;
	int rc; /* reason why there is no interest, or only a partial one */
};

/* --- events */

static double parameter_of(const struct probe_hit *h, uint32_t k)
{
	if (k >= h->npar)
		return NAN;
	if (h->type[k] == SEG_U64)
		return (double)h->par[k].u;
	return SEG_IS_FLOAT(h->type[k]) ? h->par[k].f : (double)h->par[k].i;
}

static double figures_of(const struct tap *t, const struct probe_hit *h)
{
	double sum = -t->base;

	for (unsigned i = 0; i < t->nfigure; i++)
		sum += t->read[i] >= 0 && (unsigned)t->read[i] < h->nread ? h->read[t->read[i]]
									  : NAN;
	return sum;
}

/* Samples the system when the record is read, which is later than the event: the token has a bound.
 */
static struct flow_token sample(const struct watch *w, const struct tap *t,
				const struct probe_hit *h)
{
	struct measurements *r = w->owner;
	const struct input_moment m = { .ticks = r->conf.ticks,
					.sampler = r->sampler,
					.host = r->conf.host,
					.procs = r->conf.procs,
					.now = measurements_now(r),
					.start = t->start };
	struct flow_token token;
	double value, error;

	if (m.now != t->sampled->sampled_at)
		sampler_begin(r->sampler);
	if (!input_sample(t->sampled, &m, h->time, &value, &error))
		return flow_token_missing(h->vt, h->time, 1);
	token = flow_token_make(h->vt, value, error, h->time);
	token.flags |= FLOW_STALE | t->flags;
	return token;
}

static double value_of(const struct tap *t, const struct probe_hit *h)
{
	switch (t->kind) {
	case FLOW_SOURCE_TIME:
		return (double)(t->is_local ? h->local : h->time - t->start) * 1e-9;
	case FLOW_SOURCE_PARAMETER:
		return parameter_of(h, t->parameter);
	case FLOW_SOURCE_EVENT:
		return 1;
	default:
		return figures_of(t, h);
	}
}

/* True: calls with some partner had no room in the table, so each partner may lack calls. */
static bool has_lost_partners(const struct segview *seg)
{
	struct segview_thread t;

	for (unsigned i = 0; seg && i < segview_threads(seg); i++)
		if (!segview_thread(seg, i, &t) && t.partner_lost)
			return true;
	return false;
}

static double error_of(const struct watch *w, const struct tap *t, double value)
{
	if (t->kind == FLOW_SOURCE_TIME)
		return t->is_local ? LOCAL_CLOCK_ERROR_S : measurements_clock_error(w->owner);
	if (t->nfigure && t->figure[0].npartner && has_lost_partners(w->proc->seg))
		return INFINITY;
	return t->relative_error > 0 ? fabs(value) * t->relative_error : 0;
}

/* True: the event has the value. A parameter may be NaN, if the program passes NaN. */
static bool is_reported(const struct tap *t, const struct probe_hit *h, double value)
{
	return !isnan(value) || (t->kind == FLOW_SOURCE_PARAMETER && t->parameter < h->npar);
}

static void give(const struct watch *w, const struct tap *t, const struct probe_hit *h)
{
	double value = t->sampled ? 0 : value_of(t, h);
	struct flow_token token;

	if (t->sampled) {
		token = sample(w, t, h);
	} else if (!is_reported(t, h, value)) {
		token = flow_token_missing(h->vt, h->time, 1);
	} else {
		token = flow_token_make(h->vt, value, error_of(w, t, value), h->time);
		token.flags |= t->flags;
	}
	flow_push(w->owner->engine, t->place, &token);
}

/* While an interest replaces another one, only the old one reports. */
static void on_hit(void *arg, const struct probe_hit *h)
{
	const struct interest *x = arg;
	const struct watch *w = x->watch;

	for (size_t i = 0; w->interest == x && i < w->ntap; i++)
		give(w, &w->tap[i], h);
}

/* --- figures to read */

static bool same_figure(const struct figure *a, const struct figure *b)
{
	return a->kind == b->kind && a->classes == b->classes && a->call == b->call &&
	       a->npartner == b->npartner &&
	       (!a->npartner || !memcmp(a->partner, b->partner, a->npartner * sizeof(*a->partner)));
}

static int find_figure(const struct interest *x, const struct figure *f)
{
	for (unsigned i = 0; x && i < x->nfigure; i++)
		if (same_figure(&x->figure[i], f))
			return (int)i;
	return -1;
}

/* Adds a counter to the interest. On -ERR_LIMIT or -ERR_NOMEM the counter has no value. */
static int add_wanted(struct interest *x, const struct figure *f)
{
	struct figure own = *f;

	if (find_figure(x, f) >= 0)
		return 0;
	if (x->nfigure == SEG_READS)
		return -ERR_LIMIT;
	if (f->npartner) {
		int32_t *partner = calloc(f->npartner, sizeof(*partner));

		if (!partner)
			return -ERR_NOMEM;
		memcpy(partner, f->partner, f->npartner * sizeof(*partner));
		own.partner = partner;
	}
	x->figure[x->nfigure++] = own;
	return 0;
}

static int collect(const struct watch *w, struct interest *x)
{
	int rc = 0, one;

	for (size_t i = 0; i < w->ntap; i++)
		for (unsigned k = 0; k < w->tap[i].nfigure; k++) {
			one = add_wanted(x, &w->tap[i].figure[k]);
			rc = one ? one : rc;
		}
	return rc;
}

static bool is_alive(const struct watch *w)
{
	return w && w->interest && w->interest->interest;
}

static void point_taps(struct watch *w)
{
	for (size_t i = 0; i < w->ntap; i++)
		for (unsigned k = 0; k < w->tap[i].nfigure; k++)
			w->tap[i].read[k] = find_figure(w->interest, &w->tap[i].figure[k]);
}

static bool reads_all(const struct interest *x, const struct interest *wanted)
{
	for (unsigned i = 0; i < wanted->nfigure; i++)
		if (find_figure(x, &wanted->figure[i]) < 0)
			return false;
	return x->nfigure == wanted->nfigure;
}

static size_t funcs_of(const struct figure *f, const struct segview *seg, uint16_t *func)
{
	size_t n = 0;

	for (unsigned i = 0; i < call_count && i < segview_funcs(seg); i++)
		if (f->call >= 0 ? (unsigned)f->call == i : f->classes >> call_table[i].class & 1)
			func[n++] = (uint16_t)i;
	return n;
}

static int set_interest(struct watch *w, struct interest *x)
{
	struct probe_read read[SEG_READS];
	uint16_t *func = calloc((size_t)SEG_READS * call_count, sizeof(*func));
	struct probe_ask ask = {
		.probe = w->probe, .read = read, .nread = x->nfigure, .on_hit = on_hit, .arg = x
	};
	int rc = func ? 0 : -ERR_NOMEM;

	for (unsigned i = 0; i < x->nfigure && !rc; i++) {
		uint16_t *own = func + (size_t)i * call_count;

		read[i] = (struct probe_read){ x->figure[i].kind,
					       0,
					       own,
					       funcs_of(&x->figure[i], w->proc->seg, own),
					       x->figure[i].partner,
					       x->figure[i].npartner };
	}
	if (!rc)
		rc = probes_add_interest(w->owner->conf.probes, w->proc, &ask, &x->interest);
	free(func);
	return rc;
}

static void interest_free(struct interest *x)
{
	if (!x)
		return;
	probes_drop_interest(&x->interest);
	for (unsigned i = 0; i < x->nfigure; i++)
		free((int32_t *)(uintptr_t)x->figure[i].partner);
	free(x);
}

/* Adds the new interest before the old one is removed: the ring has each event once. */
static void renew(struct watch *w)
{
	struct interest *old = w->interest, *x = calloc(1, sizeof(*x));
	int full;

	if (!x) {
		w->rc = -ERR_NOMEM;
		return;
	}
	x->watch = w;
	full = collect(w, x);
	if (old && old->interest && reads_all(old, x)) {
		interest_free(x);
		return;
	}
	point_taps(w); /* for hits that the old one reports until then */
	w->rc = w->proc->seg ? set_interest(w, x) : -ERR_NOTFOUND;
	if (w->rc) {
		interest_free(x);
		return;
	}
	w->interest = x;
	w->rc = full;
	interest_free(old);
}

/* --- watched processes */

static void watch_free(struct watch *w)
{
	interest_free(w->interest);
	list_del(&w->link);
	free(w->tap);
	free(w->probe);
	free(w);
}

static struct watch *watch_of(struct measurements *r, struct proc *p, const char *probe)
{
	struct watch *w;

	list_each (i, &r->watches) {
		w = list_entry(i, struct watch, link);
		if (w->proc == p && str_eq(w->probe, probe))
			return w;
	}
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->owner = r;
	w->proc = p;
	w->probe = str_dup(probe);
	list_init(&w->link);
	if (!w->probe) {
		watch_free(w);
		return NULL;
	}
	list_push_back(&r->watches, &w->link);
	return w;
}

static void add_figure(struct tap *t, const struct input *in, enum seg_read_kind kind)
{
	t->figure[t->nfigure++] =
		(struct figure){ .kind = in->npartner ? SEG_OF_PARTNERS(kind) : kind,
				 .classes = in->metric.classes,
				 .call = in->metric.call,
				 .partner = in->partner,
				 .npartner = in->npartner };
}

static void set_figures(struct tap *t, const struct input *in)
{
	if (in->metric.quantity == PMSL_Q_COUNT) {
		add_figure(t, in, SEG_READ_CALLS);
	} else if (in->metric.quantity == PMSL_Q_DELAY) {
		add_figure(t, in, SEG_READ_DELAY);
		t->relative_error = INPUT_SCALE_ERROR;
	} else {
		if (in->metric.counts_out)
			add_figure(t, in, SEG_READ_OUT);
		if (in->metric.counts_in)
			add_figure(t, in, SEG_READ_IN);
	}
}

/* True: the parameter is the duration of a collective call, by the host's scale of its clock. */
static bool is_of_collective(const struct watch *w)
{
	const struct segview *seg = w->proc->seg;

	return seg && segview_probe_find(seg, w->probe) >= SEG_COLLECTIVE_FIRST;
}

/* Adds a tap. Two measurements may share an input, which gets each event once. */
static int add_tap(struct watch *w, const struct measurement *g, struct input *in)
{
	struct tap *t;

	for (size_t i = 0; i < w->ntap; i++)
		if (w->tap[i].place == in->place)
			return 0;
	if (array_grow(&w->tap, &w->cap, w->ntap + 1, sizeof(*w->tap), MEASUREMENTS_NODES_MAX))
		return -ERR_NOMEM;
	t = &w->tap[w->ntap++];
	*t = (struct tap){ .place = in->place,
			   .kind = in->source->kind,
			   .parameter = in->source->parameter,
			   .read = { -1, -1 },
			   .is_local = !in->source->from_start,
			   .base = in->source->from_start ? in->base : 0,
			   .start = g->start,
			   .flags = in->is_cut && in->source->from_start ? FLOW_LOST : 0 };
	if (t->kind == FLOW_SOURCE_PARAMETER && is_of_collective(w))
		t->relative_error = INPUT_SCALE_ERROR;
	if (t->kind == FLOW_SOURCE_METRIC && in->from != INPUT_CALLS)
		t->sampled = in;
	else if (t->kind == FLOW_SOURCE_METRIC)
		set_figures(t, in);
	return 0;
}

/* True: the probe of the process has no such parameter, and never will. */
static bool has_no_parameter(const struct input *in)
{
	const struct segview *seg = in->proc ? in->proc->seg : NULL;
	int number = seg ? segview_probe_find(seg, in->source->probe) : -1;

	return in->source->kind == FLOW_SOURCE_PARAMETER && number >= 0 &&
	       in->source->parameter >= segview_probe(seg, (unsigned)number)->nparam;
}

static void tap_all(struct measurements *r, struct measurement *g)
{
	for (size_t i = 0; i < g->ninput; i++) {
		struct input *in = &g->input[i];
		struct watch *w = NULL;

		if (input_is_vt(in) && in->proc && in->proc->seg && !has_no_parameter(in))
			w = watch_of(r, in->proc, in->source->probe);
		in->watch = w && !add_tap(w, g, in) ? w : NULL;
	}
}

/* Closes or ends inputs whose process lacks the probe, is on another host or has ended. */
static void settle(struct measurements *r, struct measurement *g)
{
	for (size_t i = 0; i < g->ninput; i++) {
		const struct input *in = &g->input[i];

		if (!input_is_vt(in))
			continue;
		if (is_alive(in->watch))
			flow_open(r->engine, in->place);
		else if (in->is_closed && !in->is_lost)
			flow_end(r->engine, in->place);
		else
			flow_close(r->engine, in->place);
	}
}

static void watch_once(struct measurements *r)
{
	list_each (i, &r->watches)
		list_entry(i, struct watch, link)->ntap = 0;
	list_each (i, &r->all)
		tap_all(r, list_entry(i, struct measurement, link));
	list_each_safe (i, &r->watches) {
		struct watch *w = list_entry(i, struct watch, link);

		if (!w->ntap) {
			watch_free(w);
			continue;
		}
		renew(w);
		point_taps(w);
	}
	list_each (i, &r->all)
		settle(r, list_entry(i, struct measurement, link));
}

/*
 * Adding an interest reads the ring first. A process with an invalid ring is then detached: earlier
 * results are checked again.
 */
void measurements_watch(struct measurements *r)
{
	r->watch_again = true;
	if (r->is_watching)
		return;
	r->is_watching = true;
	while (r->watch_again) {
		r->watch_again = false;
		watch_once(r);
	}
	r->is_watching = false;
}

void measurements_unwatch(struct measurements *r)
{
	list_each_safe (i, &r->watches)
		watch_free(list_entry(i, struct watch, link));
}

const char *measurements_watch_fault(const struct input *in)
{
	if (!input_is_vt(in) || !in->proc || (is_alive(in->watch) && !in->watch->rc))
		return NULL;
	if (has_no_parameter(in))
		return "the probe gives fewer values along";
	switch (in->watch ? -in->watch->rc : ERR_NOTFOUND) {
	case ERR_NOTFOUND:
		return "the process has no such probe";
	case ERR_LIMIT:
		return "more figures than can be read at one probe";
	case ERR_NOMEM:
		return "out of memory";
	default:
		return "the probe cannot be watched";
	}
}
