/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detectors that set a deadline with each heartbeat: silence, NFD-E, adaptive, phi-accrual. They
 * differ in one function.
 */
#include "neko/algorithms/fd.h"
#include "stats/student.h"

#include <math.h>
#include <stdlib.h>

/* The last values and their sum, in whole ns so that no rounding errors accumulate. */
struct window {
	int64_t *v; /* owned */
	uint64_t cap, n, at;
	int64_t sum;
};

struct detector {
	struct fd_params params;
	nsec_t (*next)(struct detector *f, uint64_t number, nsec_t now);
	struct window window;
	double alpha, gamma, beta, phi, margin_delay, margin_variation,
		expected; /* in ns, except the factors gamma, beta and phi */
	nsec_t timeout; /* for silence */
	double z; /* for phi-accrual: quantile in deviations */
	uint64_t last;
	nsec_t last_at, deadline;
	bool is_suspected;
};

static void window_add(struct window *w, int64_t v)
{
	if (w->n == w->cap)
		w->sum -= w->v[w->at];
	else
		w->n++;
	w->sum += v;
	w->v[w->at] = v;
	w->at = (w->at + 1) % w->cap;
}

static double window_mean(const struct window *w)
{
	return (double)w->sum / (double)w->n;
}

static double window_deviation(const struct window *w)
{
	double mean = window_mean(w), squares = 0;

	for (uint64_t i = 0; i < w->n; i++)
		squares += ((double)w->v[i] - mean) * ((double)w->v[i] - mean);
	return w->n > 1 ? sqrt(squares / (double)(w->n - 1)) : 0;
}

/*
 * Predicts the arrival of heartbeat `number` by the mean delay of earlier ones, whatever the
 * clocks.
 */
static double expect(const struct detector *f, uint64_t number)
{
	return window_mean(&f->window) + (double)number * (double)f->params.eta;
}

static nsec_t next_silence(struct detector *f, uint64_t number, nsec_t now)
{
	return now + f->timeout;
}

static nsec_t next_nfde(struct detector *f, uint64_t number, nsec_t now)
{
	window_add(&f->window, now - (nsec_t)number * f->params.eta);
	return (nsec_t)(expect(f, number + 1) + f->alpha);
}

static nsec_t next_adaptive(struct detector *f, uint64_t number, nsec_t now)
{
	double error;

	if (f->window.n) {
		error = (double)now - expect(f, number) - f->margin_delay;
		f->margin_delay += f->gamma * error;
		f->margin_variation += f->gamma * (fabs(error) - f->margin_variation);
	}
	window_add(&f->window, now - (nsec_t)number * f->params.eta);
	return (nsec_t)(expect(f, number + 1) + f->beta * f->margin_delay +
			f->phi * f->margin_variation);
}

/*
 * Before the second heartbeat, the interval is eta and its deviation is a quarter of eta, as in
 * Akka.
 */
static nsec_t next_phi(struct detector *f, uint64_t number, nsec_t now)
{
	double deviation, least = (double)f->params.eta / 1000;

	if (f->last)
		window_add(&f->window, now - f->last_at);
	if (f->window.n < 2)
		return now + (nsec_t)((double)f->params.eta * (1 + f->z / 4));
	deviation = window_deviation(&f->window);
	return now +
	       (nsec_t)(window_mean(&f->window) + f->z * (deviation > least ? deviation : least));
}

static void trust(struct neko_layer *l, struct detector *f)
{
	if (!f->is_suspected)
		return;
	f->is_suspected = false;
	neko_log(l, FD_STOP, f->params.monitored);
}

static void suspect(struct neko_layer *l, struct detector *f)
{
	if (f->is_suspected)
		return;
	f->is_suspected = true;
	neko_log(l, FD_START, f->params.monitored);
}

static void hear(struct neko_layer *l, struct detector *f, const struct neko_msg *m)
{
	uint64_t number = fd_hear(l, &f->params, m);

	if (number <= f->last)
		return;
	f->deadline = f->next(f, number, neko_now(l));
	f->last = number;
	f->last_at = neko_now(l);
	if (f->deadline > f->last_at)
		trust(l, f);
}

/*
 * Returns the time to wait: below 0, which means without limit, if there is no deadline; 0 if the
 * deadline has passed.
 */
static nsec_t patience(const struct neko_layer *l, const struct detector *f)
{
	nsec_t left = f->deadline - neko_now(l);

	if (!f->last || f->is_suspected)
		return -1;
	return left > 0 ? left : 0;
}

/* A process is not suspected before its first heartbeat, because no deadline is known. */
static void watch(struct neko_layer *l)
{
	struct detector *f = neko_state(l);
	struct neko_msg *m;
	int rc;

	neko_log(l, FD_WATCH, f->params.monitored);
	for (;;) {
		rc = neko_receive(l, patience(l, f), &m);
		if (rc == -ERR_CLOSED)
			return;
		if (!rc)
			hear(l, f, m);
		if (f->last && f->deadline <= neko_now(l))
			suspect(l, f);
	}
}

static void detector_done(struct neko_layer *l)
{
	free(((struct detector *)neko_state(l))->window.v);
}

#define DETECTOR(text)                                                                             \
	{                                                                                          \
		.name = (text), .bytes = sizeof(struct detector), .types = fd_types, .run = watch, \
		.done = detector_done                                                              \
	}
static const struct neko_layer_ops silence_ops = DETECTOR("silence");
static const struct neko_layer_ops nfde_ops = DETECTOR("nfd-e");
static const struct neko_layer_ops adaptive_ops = DETECTOR("adaptive");
static const struct neko_layer_ops phi_ops = DETECTOR("phi");

struct kind {
	const struct neko_layer_ops *ops;
	uint64_t window; /* default of the key; 0: the detector has no window */
};

static int push(struct neko_process *p, struct setup *s, const struct kind *of,
		struct detector **out, struct err *e)
{
	uint64_t window = of->window;
	struct detector *f;
	int rc = neko_push(p, of->ops, &f, e);

	if (!rc)
		rc = fd_params(p, s, &f->params, e);
	if (!rc && window)
		rc = setup_u64(s, "fd.window", 1, FD_WINDOW_MAX, &window, e);
	if (!rc)
		rc = fd_check_monitored(p, s, &f->params, e);
	if (rc)
		return rc;
	f->window.cap = window;
	f->window.v = window ? calloc(window, sizeof(*f->window.v)) : NULL;
	*out = f;
	return f->window.v || !window ? 0 : err_nomem(e);
}

int fd_silence(struct neko_process *p, struct setup *s, struct err *e)
{
	struct detector *f;
	int rc = push(p, s, &(struct kind){ .ops = &silence_ops }, &f, e);

	if (rc)
		return rc;
	f->next = next_silence;
	f->timeout = 2 * f->params.eta;
	return setup_nsec(s, "fd.timeout", 1, FD_TIME_MAX, &f->timeout, e);
}

int fd_nfde(struct neko_process *p, struct setup *s, struct err *e)
{
	struct detector *f;
	nsec_t alpha;
	int rc = push(p, s, &(struct kind){ .ops = &nfde_ops, .window = 32 }, &f, e);

	if (rc)
		return rc;
	f->next = next_nfde;
	alpha = f->params.eta;
	rc = setup_nsec(s, "fd.alpha", 0, FD_TIME_MAX, &alpha, e);
	f->alpha = (double)alpha;
	return rc;
}

int fd_adaptive(struct neko_process *p, struct setup *s, struct err *e)
{
	struct detector *f;
	int rc = push(p, s, &(struct kind){ .ops = &adaptive_ops, .window = 1000 }, &f, e);

	if (rc)
		return rc;
	f->next = next_adaptive;
	f->gamma = 0.1;
	f->beta = 1;
	f->phi = 4;
	f->margin_variation = (double)f->params.eta / 4;
	rc = setup_double(s, "fd.gamma", 1e-6, 1, &f->gamma, e);
	if (!rc)
		rc = setup_double(s, "fd.beta", 0, 1000, &f->beta, e);
	return rc ? rc : setup_double(s, "fd.phi", 0, 1000, &f->phi, e);
}

int fd_phi(struct neko_process *p, struct setup *s, struct err *e)
{
	double threshold = 8;
	struct detector *f;
	int rc = push(p, s, &(struct kind){ .ops = &phi_ops, .window = 1000 }, &f, e);

	if (rc)
		return rc;
	f->next = next_phi;
	rc = setup_double(s, "fd.threshold", 0.4, 15, &threshold, e);
	f->z = -normal_quantile(pow(10, -threshold));
	return rc;
}
