/* SPDX-License-Identifier: Apache-2.0 */
#include "why/symptom.h"

#include "common/base/array.h"
#include "why/partners.h"

#include <math.h>

#define SMALL_BYTES 1024 /* a message below it costs its latency: 1 us at 1 GB/s */
#define SMALL_SECONDS 5e-4 /* a call that takes longer waits: latencies are microseconds */

/* How the loss follows from the shares of the ranks in some classes of calls. */
enum rule {
	RULE_NONE, /* this version has no evidence */
	RULE_ALL, /* all of their time */
	RULE_LAST, /* the time beyond that of the rank with the least: it came last */
	RULE_LEAST, /* the least time of any rank, for each of them */
	RULE_SMALL, /* RULE_LEAST, if messages are small */
	RULE_LINK, /* pairs of hosts */
	RULE_SERVER, /* waits for one rank */
};

#define CLASS(c) (1u << WHY_##c)
#define COLLECTIVES (CLASS(BARRIER) | CLASS(NXN) | CLASS(FROM_ROOT) | CLASS(TO_ROOT))

static const struct {
	enum rule rule;
	unsigned classes;
	const char *reason; /* of RULE_NONE, and of others if the classes are not known */
} symptoms[WHY_SYMPTOMS] = {
	[WHY_W] = { RULE_ALL, (1u << WHY_CLASSES) - 1, "times in MPI calls are not known" },
	[WHY_W1] = { RULE_LAST, CLASS(BARRIER), "times in barriers are not known" },
	[WHY_W2] = { RULE_LAST, CLASS(NXN), "times in collectives are not known" },
	[WHY_W3] = { RULE_LAST, CLASS(FROM_ROOT), "times in broadcasts are not known" },
	[WHY_W4] = { RULE_LAST, CLASS(TO_ROOT), "times in reductions are not known" },
	[WHY_W5] = { RULE_LAST, CLASS(RECEIVE) | CLASS(WAIT), "times in receives are not known" },
	[WHY_W6] = { RULE_LAST, CLASS(SEND), "times in sends are not known" },
	[WHY_W7] = { RULE_LEAST, COLLECTIVES, "times in collectives are not known" },
	[WHY_W8] = { RULE_NONE, 0, "instances of collectives are not compared one by one" },
	[WHY_W9] = { RULE_LINK, 0, "partners of messages are not known" },
	[WHY_W10] = { RULE_NONE, 0, "loads of links are not known" },
	[WHY_W11] = { RULE_SERVER, 0, "partners of messages are not known" },
	[WHY_W12] = { RULE_NONE, 0, "the order of messages is not known" },
	[WHY_W13] = { RULE_SMALL, CLASS(SEND) | CLASS(RECEIVE) | CLASS(WAIT),
		      "times in sends and receives are not known" },
	[WHY_W14] = { RULE_LAST, CLASS(RMA_SYNC), "times in one-sided calls are not known" },
	[WHY_W15] = { RULE_ALL, CLASS(FILE), "times in MPI-IO are not known" },
};

bool why_has_culprits(enum why_id id)
{
	return symptoms[id].rule == RULE_LAST;
}

static bool is_explained(const struct why_explained *x, const struct why_rank *r)
{
	for (size_t k = 0; k < x->n; k++) {
		const struct why_finding *f = x->by[k];

		for (size_t i = 0; !f->is_host && i < f->nrank; i++)
			if (f->rank[i] == r->rank)
				return true;
		for (size_t i = 0; f->is_host && i < f->nhost; i++)
			if (f->host[i] == r->host)
				return true;
	}
	return false;
}

static double sum_of(const double *by_class, unsigned classes)
{
	double sum = 0;

	for (size_t i = 0; i < WHY_CLASSES; i++)
		if (classes >> i & 1)
			sum += by_class[i];
	return sum;
}

/* The time of all ranks in the classes. */
struct total {
	double share; /* sum of shares */
	double calls; /* mean of alike ranks that make such calls */
	size_t known;
};

/* Fills v->share with the shares of ranks in the classes; NaN: not known, or explained. */
static struct total fill_shares(struct view *v, unsigned classes, const struct why_explained *x)
{
	struct total t = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < v->b->nrank; i++) {
		const struct why_rank *r = &v->b->rank[i];
		double calls = sum_of(r->calls, classes);

		v->share[i] = NAN;
		v->is_explained[i] = is_explained(x, r);
		if (isnan(v->useful[i]) || v->is_explained[i])
			continue;
		v->share[i] = at_most(sum_of(r->delay, classes) / r->seconds, 1);
		if (isnan(v->share[i]))
			continue;
		t.known++;
		t.share += v->share[i];
		if (v->is_alike[i] && calls > 0) {
			t.calls += calls;
			n++;
		}
	}
	t.calls /= n ? (double)n : 1;
	return t;
}

/*
 * Ranks that call as often as alike ranks do are taken as members of one communicator: within a
 * factor of two. Others get NaN. Returns the number of members.
 */
static size_t keep_members(struct view *v, unsigned classes, const struct total *t)
{
	size_t n = 0;

	for (size_t i = 0; i < v->b->nrank; i++) {
		double calls = sum_of(v->b->rank[i].calls, classes);

		if (!(calls > 0) || calls > 2 * t->calls || calls < t->calls / 2)
			v->share[i] = NAN;
		n += !isnan(v->share[i]);
	}
	return n;
}

/* Returns the index of the rank with the least share; (size_t)-1 without members. */
static size_t least(const struct view *v, bool are_alike_only)
{
	size_t best = (size_t)-1;

	for (size_t i = 0; i < v->b->nrank; i++) {
		if (isnan(v->share[i]) || (are_alike_only && !v->is_alike[i]))
			continue;
		if (best == (size_t)-1 || v->share[i] < v->share[best])
			best = i;
	}
	return best;
}

/* True if rank i stands out by `ahead`, and works longer than the median by a quarter of that. */
static bool is_late(const struct view *v, size_t i, double ahead, double least_ahead)
{
	return ahead >= least_ahead && v->useful[i] - v->useful_median >= ahead / 4;
}

/* Adds the ranks that are ahead of the median by a quarter of `most` or more. */
static void name_late(const struct view *v, double median, double most, double threshold,
		      struct why_loss *l)
{
	size_t n = 0;

	for (size_t i = 0; i < v->b->nrank; i++) {
		if (!v->is_alike[i] || isnan(v->share[i]) ||
		    !is_late(v, i, median - v->share[i], fmax(threshold / 2, most / 4)))
			continue;
		if (n < WHY_LATE_MAX)
			l->late[n] = v->b->rank[i].rank;
		n++;
	}
	l->nlate = n <= WHY_LATE_MAX ? n : 0;
}

/*
 * The last rank has the least time in the calls. It must stand out by half of the threshold, and
 * work longer than the median. Otherwise it is late for another reason, such as a message that it
 * waited for.
 */
static void name_last(struct view *v, double threshold, struct why_loss *l)
{
	size_t i = least(v, true);
	double median, ahead;

	l->compared = 0;
	for (size_t k = 0; k < v->b->nrank; k++)
		l->compared += v->is_alike[k] && !isnan(v->share[k]);
	if (i == (size_t)-1 || l->compared < 2)
		return;
	median = view_median(v, v->share);
	ahead = median - v->share[i];
	/* The median of two lies in the middle of both. */
	if (!is_late(v, i, ahead, threshold / (l->compared == 2 ? 4 : 2)))
		return;
	l->last = v->b->rank[i].rank;
	name_late(v, median, ahead, threshold, l);
}

/* The root of reductions waits alone if it comes early: it has most time, and no rank is late. */
static void name_early_root(const struct view *v, double threshold, struct why_loss *l)
{
	double median = view_median(v, v->share);
	size_t root = (size_t)-1;

	for (size_t i = 0; i < v->b->nrank; i++)
		if (v->is_alike[i] && !isnan(v->share[i]) &&
		    (root == (size_t)-1 || v->share[i] > v->share[root]))
			root = i;
	if (root != (size_t)-1 && l->compared > 2 &&
	    v->share[root] - median >= threshold / 2 * (double)v->b->world_size)
		l->last = v->b->rank[root].rank;
}

static void lose_to_last(struct view *v, unsigned classes, double threshold, struct why_loss *l)
{
	size_t i = least(v, false);
	double sum = 0, floor;

	if (i == (size_t)-1)
		return;
	floor = v->share[i];
	for (size_t k = 0; k < v->b->nrank; k++)
		sum += isnan(v->share[k]) ? 0 : v->share[k] - floor;
	l->low = sum / (double)v->b->world_size;
	l->is_lower_bound = true;
	name_last(v, threshold, l);
	if (l->last < 0 && classes == CLASS(TO_ROOT))
		name_early_root(v, threshold, l);
	partners_refine(v, classes, threshold, l);
}

static double least_of_all(struct view *v, unsigned classes, const struct why_explained *x)
{
	double sum = 0;

	for (size_t c = 0; c < WHY_CLASSES; c++) {
		struct total t;
		size_t n, i;

		if (!(classes >> c & 1) || !(v->seconds[c] > 0))
			continue;
		t = fill_shares(v, 1u << c, x);
		n = keep_members(v, 1u << c, &t);
		i = least(v, false);
		sum += i == (size_t)-1 ? 0 : v->share[i] * (double)n;
	}
	return sum / (double)v->b->world_size;
}

static bool are_small(const struct view *v)
{
	static const enum why_class of[] = { WHY_SEND, WHY_RECEIVE, WHY_WAIT };
	double bytes = 0, calls = 0, all = 0, seconds = 0;

	/* Completions have no bytes of their own, unless they are exchanges. */
	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		bytes += v->bytes[of[i]];
		calls += v->bytes[of[i]] > 0 ? v->calls[of[i]] : 0;
		all += v->calls[of[i]];
		seconds += v->seconds[of[i]];
	}
	return calls > 0 && bytes < calls * SMALL_BYTES && seconds < all * SMALL_SECONDS;
}

/* All time of one class that most of it belongs to one rank. */
static void name_most(const struct view *v, double sum, struct why_loss *l)
{
	for (size_t i = 0; i < v->b->nrank; i++)
		if (v->share[i] > sum / 2)
			l->last = v->b->rank[i].rank;
	l->compared = v->known;
}

/* The part of all ranks of which the classes are not known. */
static double unknown_part(const struct view *v, size_t known)
{
	return ((double)v->b->world_size - (double)known) / (double)v->b->world_size;
}

static void lose(struct view *v, enum why_id id, const struct total *t, double threshold,
		 struct why_loss *l)
{
	const struct why_explained none = { .n = 0 };
	struct why_loss server = { .low = 0 };
	unsigned classes = symptoms[id].classes;

	switch (symptoms[id].rule) {
	case RULE_ALL:
		l->low = t->share / (double)v->b->world_size;
		if (id != WHY_W)
			name_most(v, t->share, l);
		break;
	case RULE_LAST:
		keep_members(v, classes, t);
		lose_to_last(v, classes, threshold, l);
		break;
	case RULE_LEAST:
		l->low = least_of_all(v, classes, &none);
		l->high = l->low + unknown_part(v, t->known);
		break;
	case RULE_SMALL:
		if (!are_small(v)) {
			l->high = unknown_part(v, t->known);
			break;
		}
		/* Waits for a server are counted there. */
		partners_lose_by_server(v, threshold, &server);
		l->low = fmax(least_of_all(v, classes, &none) - server.low, 0);
		l->high = l->low + unknown_part(v, t->known);
		break;
	default:
		break;
	}
}

/* True if no rank was in such calls, as far as ranks are known. Sets the loss then. */
static bool is_unused(const struct view *v, unsigned classes, struct why_loss *l)
{
	size_t known = v->known;

	for (size_t c = 0; c < WHY_CLASSES; c++) {
		if (!(classes >> c & 1))
			continue;
		if (v->seconds[c] > 0 || !v->has_class[c])
			return false;
		known = v->has_class[c] < known ? v->has_class[c] : known;
	}
	l->high = unknown_part(v, known);
	return classes != 0;
}

/* The time in MPI calls is what is not useful: classes that are not measured are left out. */
static struct total fill_in_mpi(struct view *v)
{
	struct total t = { .known = v->known };

	for (size_t i = 0; i < v->b->nrank; i++) {
		v->share[i] = 1 - v->useful[i];
		t.share += isnan(v->share[i]) ? 0 : v->share[i];
	}
	return t;
}

static struct why_loss with_last(struct why_loss l)
{
	if (l.last >= 0 && !l.nlate)
		l.late[l.nlate++] = l.last;
	return l;
}

struct why_loss why_loss(struct view *v, enum why_id id, const struct why_explained *x,
			 double threshold)
{
	struct why_loss l = { .last = -1 };
	enum rule rule = symptoms[id].rule;
	struct total t;

	if (rule == RULE_LINK || rule == RULE_SERVER) {
		if (rule == RULE_LINK)
			partners_lose_by_link(v, threshold, &l);
		else
			partners_lose_by_server(v, threshold, &l);
		if (!v->b->npair)
			l.reason = symptoms[id].reason;
		return with_last(l);
	}
	if (id != WHY_W && is_unused(v, symptoms[id].classes, &l))
		return l;
	t = id == WHY_W ? fill_in_mpi(v) : fill_shares(v, symptoms[id].classes, x);
	if (rule == RULE_NONE || !t.known) {
		l.reason = symptoms[id].reason;
		return l;
	}
	l.high = t.share / (double)v->b->world_size;
	l.high += x->n ? 0 : unknown_part(v, t.known);
	lose(v, id, &t, threshold, &l);
	l.low = fmin(l.low, 1);
	l.high = fmin(fmax(l.low, l.high), 1);
	return with_last(l);
}
