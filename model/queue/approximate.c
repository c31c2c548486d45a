/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linearizer (Chandy and Neuse 1982) over the core of Bard and Schweitzer. A customer that arrives
 * finds the queues of a network without it. The share of a class at a station is slightly different
 * there. Schweitzer takes the difference as 0. Linearizer finds it from solutions with one customer
 * less. Open classes find all customers.
 */
#include "model/queue/crowd.h"
#include "model/queue/network.h"
#include "model/queue/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 20000
/* after so many steps in which queues moved more than before, they move by a part of the way */
#define SWINGS_CALM 20
#define CALM 0.3
#define SWINGS_CALMER 200
#define CALMER 0.05
#define CLOSE 1e-10 /* relative change of queues between two steps */
#define ROUNDS 3 /* of Linearizer, as published */
#define LINEARIZER_MAX 200000 /* classes^3 times stations: a tenth of a second */
#define ENDLESS 1e9 /* customers of an open class */

struct core {
	const struct network *n;
	double *population; /* owned; may have one customer less */
	double *change; /* owned; [(without * classes + class) * stations + station]; NULL: 0 */
	double *sum; /* owned; of each station: queue, its time, ghosts, their time */
	double part; /* of the way that queues move in a step */
	double work; /* as in the result */
};

/* Parts of the customers at a station that are added up. */
enum part { PART_QUEUE, PART_TIME, PART_GHOSTS, PART_GHOST_TIME, PARTS };

static bool is_open(const struct network *n, size_t c)
{
	return n->rate && n->rate[c] > 0;
}

static double after(const struct network *n, size_t at)
{
	return n->after ? n->after[at] : 0;
}

static double cv2(const struct network *n, size_t at)
{
	return n->cv2 ? n->cv2[at] : 1;
}

/* The weight of a customer of class c: of one in the queue, or of one in service. */
static double weight(const struct network *n, enum part part, size_t at)
{
	return part == PART_QUEUE ? 1 : n->service[at] + after(n, at);
}

/* Servers that work after their customer has left; a new customer finds them in use. */
static double ghosts(const struct network *n, const struct network_result *r, size_t at)
{
	return r->throughput[at / n->stations] * n->visits[at] * after(n, at);
}

static void add_up(struct core *w, const struct network_result *r)
{
	const struct network *n = w->n;

	memset(w->sum, 0, PARTS * n->stations * sizeof(*w->sum));
	for (size_t at = 0; at < n->classes * n->stations; at++) {
		double *sum = &w->sum[PARTS * (at % n->stations)], left = ghosts(n, r, at);

		sum[PART_QUEUE] += r->queue[at];
		sum[PART_TIME] += weight(n, PART_TIME, at) * r->queue[at];
		sum[PART_GHOSTS] += left;
		sum[PART_GHOST_TIME] += left * after(n, at);
	}
}

/* The part that works for the same customer as one of class c: at least that one itself. */
static double absent(const struct core *w, size_t c, size_t k, enum part part, const double *queue)
{
	const struct network *n = w->n;
	size_t at = c * n->stations + k;
	double most = w->population[c] > 0 ? weight(n, part, at) * queue[at] / w->population[c] : 0;

	for (size_t g = 0; g < n->groups; g++) {
		const double *share = &n->group_share[g * n->classes];
		double sum = 0;

		for (size_t j = 0; share[c] > 0 && j < n->classes; j++)
			if (share[j] > 0)
				sum += share[j] * weight(n, part, j * n->stations + k) *
				       queue[j * n->stations + k];
		most = fmax(most, share[c] * sum / n->group_size[g]);
	}
	return most;
}

/*
 * The probability that the second phase of a customer goes on when it returns to the station. Of
 * several servers only one is held up by it, so that it is one of all then: 0.
 */
static double own_ghost(const struct core *w, size_t c, size_t k, const struct network_result *r)
{
	const struct network *n = w->n;
	size_t at = c * n->stations + k;
	double a = after(n, at), x = r->throughput[c] * n->visits[at];

	if (is_open(n, c) || n->station[k].servers > 1 || !(a > 0) || !(x > 0) ||
	    !(w->population[c] > 0))
		return 0;
	return a / (a + fmax((w->population[c] - r->queue[at]) / x, 0));
}

/* The part of what a customer of class c finds at station k. */
static double found(const struct core *w, size_t c, size_t k, enum part part,
		    const struct network_result *r)
{
	const struct network *n = w->n;
	/* where its own second phase goes on, others are held up as if it was there */
	double v = w->sum[PARTS * k + part], gone = 1 - own_ghost(w, c, k, r);

	if (is_open(n, c))
		return v;
	v -= absent(w, c, k, part, r->queue);
	for (size_t j = 0; w->change && j < n->classes; j++)
		v += gone * weight(n, part, j * n->stations + k) * (w->population[j] - (j == c)) *
		     w->change[(c * n->classes + j) * n->stations + k];
	return fmax(v, 0);
}

/* The most customers that one of class c can find. */
static double most_found(const struct core *w, size_t c, size_t k)
{
	const struct network *n = w->n;
	double sum = is_open(n, c) ? 0 : -1;

	for (size_t j = 0; j < n->classes; j++) {
		if (!(n->visits[j * n->stations + k] > 0))
			continue;
		sum += is_open(n, j) ? ENDLESS : w->population[j];
		sum += after(n, j * n->stations + k) > 0 ? n->station[k].servers : 0;
	}
	return fmax(sum, 0);
}

/* The same for second phases: its own one, and those of others where that one has ended. */
static double ghosts_found(const struct core *w, size_t c, size_t k, enum part part,
			   const struct network_result *r)
{
	const struct network *n = w->n;
	size_t at = c * n->stations + k;
	double all = w->sum[PARTS * k + part], a = after(n, at), stays = own_ghost(w, c, k, r);
	double each = part == PART_GHOST_TIME ? a : 1;

	if (!(stays > 0))
		return all;
	all -= r->throughput[c] * n->visits[at] * a * each / w->population[c];
	return stays * each + (1 - stays) * fmax(all, 0);
}

/* Several servers, or one whose speed depends on its queue. */
static double crowded(struct core *w, size_t c, size_t k, struct network_result *r)
{
	const struct network *n = w->n;
	size_t at = c * n->stations + k;
	double queue = found(w, c, k, PART_QUEUE, r), time = n->service[at], wait, own;
	struct crowd v = { .at = &n->station[k],
			   .found = queue + ghosts_found(w, c, k, PART_GHOSTS, r),
			   .most = most_found(w, c, k),
			   .guess = &r->guess[at] };

	if (v.at->kind == STATION_FCFS && queue > 1e-12)
		time = found(w, c, k, PART_TIME, r) / queue;
	w->work += crowd_times(&v, &wait, &own);
	return n->visits[at] * (n->service[at] * own + time * wait * r->factor[k]);
}

static double residence(struct core *w, size_t c, size_t k, struct network_result *r)
{
	const struct network *n = w->n;
	const struct station *v = &n->station[k];
	size_t at = c * n->stations + k;

	if (v->kind == STATION_DELAY || !(n->visits[at] > 0))
		return n->visits[at] * n->service[at];
	if (v->servers > 1 || v->slower)
		return crowded(w, c, k, r);
	if (v->kind == STATION_SHARED)
		return n->visits[at] * n->service[at] *
		       (1 + found(w, c, k, PART_QUEUE, r) + ghosts_found(w, c, k, PART_GHOSTS, r));
	return n->visits[at] *
	       (n->service[at] + r->factor[k] * (found(w, c, k, PART_TIME, r) +
						 ghosts_found(w, c, k, PART_GHOST_TIME, r)));
}

/* --- the variation of service times */

/*
 * A customer in its second phase counts as a ghost, whose rest is that phase alone. So the mean
 * rest of a service of two exponential phases is known already, and 1 is returned for it.
 */
static double own_cv2(const struct network *n, size_t at)
{
	double all = n->service[at] + after(n, at);
	bool is_one = n->station[at % n->stations].servers == 1;
	double rest = is_one ? 1 - n->service[at] * after(n, at) / (all * all) : 1;

	return fmax((1 + cv2(n, at)) / rest - 1, 0);
}

/* Sums over the classes of a FCFS station. */
static struct source source_of(const struct network *n, const struct network_result *r, size_t k)
{
	double x = 0, mean = 0, square = 0, own = 0, queue = 0, cut = n->station[k].servers;
	struct source s = { .servers = n->station[k].servers };

	for (size_t c = 0; c < n->classes; c++) {
		size_t at = c * n->stations + k;
		double v = r->throughput[c] * n->visits[at], t = n->service[at] + after(n, at);

		if (!(v > 0) || !(t > 0))
			continue;
		x += v;
		mean += v * t;
		square += v * t * t;
		own += v * t * t * own_cv2(n, at);
		queue += r->queue[at];
		s.customers += is_open(n, c) ? ENDLESS : n->population[c];
	}
	if (!(mean > 0))
		return s;
	/* differences of classes are in the times that are found */
	s.cv2 = own / square;
	mean *= station_slower(&n->station[k], cut) / x;
	s.service = mean / cut;
	s.away = fmax((s.customers - queue) / x, 0) + mean * (1 - 1 / cut);
	return s;
}

static void set_factors(struct core *w, struct network_result *r)
{
	for (size_t k = 0; k < w->n->stations; k++) {
		struct source s = { 0 };

		r->factor[k] = 1;
		if (w->n->station[k].kind != STATION_FCFS || !w->n->cv2)
			continue;
		s = source_of(w->n, r, k);
		if (s.service > 0)
			r->factor[k] = source_factor(&s);
	}
}

static double move(const struct core *w, double *v, double to, double size)
{
	double by = fabs(to - *v) / fmax(size, 1);

	*v += w->part * (to - *v);
	return by;
}

/* One step for all classes. Returns the greatest relative change of a queue. */
static double step(struct core *w, struct network_result *out)
{
	const struct network *n = w->n;
	double most = 0;

	w->work += (double)n->classes * (double)n->stations *
		   ((w->change ? (double)n->classes : 1) + (double)n->groups * (double)n->classes);
	add_up(w, out);
	for (size_t c = 0; c < n->classes; c++) {
		double cycle = n->think[c];

		for (size_t k = 0; k < n->stations; k++) {
			size_t at = c * n->stations + k;

			out->residence[at] = residence(w, c, k, out);
			cycle += out->residence[at];
		}
		if (is_open(n, c))
			out->throughput[c] = n->rate[c];
		else
			out->throughput[c] = cycle > 0 ? w->population[c] / cycle : 0;
	}
	for (size_t at = 0; at < n->classes * n->stations; at++) {
		size_t c = at / n->stations;
		double x = out->throughput[c], q = x * out->residence[at];
		double size = is_open(n, c) ? q : w->population[c];

		most = fmax(most, move(w, &out->queue[at], q, size));
	}
	return most;
}

static int converge(struct core *w, struct network_result *out, struct err *e)
{
	unsigned swings = 0;
	double last = INFINITY;

	for (unsigned i = 0; i < STEPS_MAX; i++) {
		double change;

		if (w->work > NETWORK_WORK_MAX)
			return err_set(e, ERR_LIMIT,
				       "it needs more than %g residence times: too large, or "
				       "without convergence",
				       NETWORK_WORK_MAX);
		w->part = swings < SWINGS_CALM ? 1 : swings < SWINGS_CALMER ? CALM : CALMER;
		change = step(w, out);
		if (change < CLOSE)
			return 0;
		swings += change > last;
		last = change;
	}
	return err_set(e, ERR_LIMIT, "mean value analysis does not converge");
}

static void set_population(struct core *w)
{
	for (size_t c = 0; c < w->n->classes; c++)
		w->population[c] = is_open(w->n, c) ? 1 : w->n->population[c];
}

/* A class that has gone has no share to compare. */
static double change_of(const struct core *w, size_t j, double with, double without)
{
	double all = is_open(w->n, j) ? 1 : w->n->population[j];

	return w->population[j] > 0 ? without / w->population[j] - with / all : 0;
}

/* The shares without a customer of class c, minus those with all. */
static void note_change(struct core *w, size_t c, const struct network_result *all,
			const struct network_result *less, double *to)
{
	const struct network *n = w->n;

	for (size_t j = 0; j < n->classes; j++)
		for (size_t k = 0; k < n->stations; k++) {
			size_t at = j * n->stations + k;

			to[(c * n->classes + j) * n->stations + k] =
				change_of(w, j, all->queue[at], less->queue[at]);
		}
}

static void copy_result(const struct network *n, const struct network_result *from,
			struct network_result *to)
{
	memcpy(to->queue, from->queue, n->classes * n->stations * sizeof(double));
	memcpy(to->guess, from->guess, n->classes * n->stations * sizeof(double));
	memcpy(to->throughput, from->throughput, n->classes * sizeof(double));
	memcpy(to->factor, from->factor, n->stations * sizeof(double));
}

/* One round: solutions without a customer of each class, then that with all. */
static int linearize_once(struct core *w, struct network_result *out, struct network_result *less,
			  double **next, struct err *e)
{
	double *was = w->change;

	for (size_t c = 0; c < w->n->classes; c++) {
		int rc;

		if (is_open(w->n, c) || !w->n->population[c])
			continue;
		w->population[c]--;
		copy_result(w->n, out, less);
		rc = converge(w, less, e);
		if (!rc)
			note_change(w, c, out, less, *next);
		w->population[c]++;
		if (rc)
			return rc;
	}
	w->change = *next;
	*next = was;
	return converge(w, out, e);
}

static int linearize(struct core *w, struct network_result *out, struct err *e)
{
	const struct network *n = w->n;
	struct network_result less;
	int rc = network_result_init(n, &less);
	double *next = calloc(n->classes * n->classes * n->stations + 1, sizeof(double));

	if (rc || !next)
		rc = err_nomem(e);
	for (unsigned round = 0; !rc && round < ROUNDS; round++)
		rc = linearize_once(w, out, &less, &next, e);
	network_result_done(&less);
	free(next);
	return rc;
}

static void begin(const struct network *n, struct network_result *out)
{
	for (size_t at = 0; !out->steps && at < n->classes * n->stations; at++)
		out->queue[at] =
			n->visits[at] * n->service[at] > 0 && !is_open(n, at / n->stations)
				? (double)n->population[at / n->stations] / (double)n->stations
				: 0;
	out->steps++;
}

int network_approximate(const struct network *n, struct network_result *out, struct err *e)
{
	struct core w = { .n = n, .work = out->work };
	double size =
		(double)n->classes * (double)n->classes * (double)n->classes * (double)n->stations;
	bool is_fine = size <= LINEARIZER_MAX;
	int rc = network_check(n, e);

	if (rc)
		return rc;
	w.population = calloc(n->classes + 1, sizeof(double));
	w.sum = calloc(PARTS * n->stations + 1, sizeof(double));
	if (is_fine)
		w.change = calloc(n->classes * n->classes * n->stations + 1, sizeof(double));
	if (!w.population || !w.sum || (is_fine && !w.change)) {
		rc = err_nomem(e);
	} else {
		set_population(&w);
		begin(n, out);
		set_factors(&w, out);
		rc = converge(&w, out, e);
	}
	if (!rc)
		set_factors(&w, out);
	if (!rc && is_fine)
		rc = linearize(&w, out, e);
	out->work = w.work;
	free(w.population);
	free(w.sum);
	free(w.change);
	return rc;
}
