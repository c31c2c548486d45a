/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/judge/series.h"

#include "sim/tools/answers.h"

#include <inttypes.h>
#include <math.h>

/*
 * Tolerance after the speed of the link changes, until an interval is complete or its part is late.
 */
#define SETTLE_NS (300 * NSEC_PER_MSEC)
#define GRACE_NS (1500 * NSEC_PER_MSEC) /* longer than daemons wait for the parts of a read */

void series_begin(struct series *s, struct cluster *c, unsigned slow_host)
{
	*s = (struct series){ .c = c, .slow_host = slow_host };
}

void series_go(struct series *s)
{
	s->from = loop_now(s->c->w->loop) - 1;
}

void series_done(struct series *s)
{
	s->n = 0;
}

/* --- received reads */

/* Returns the largest distance of the end of a host's interval from its nominal time. */
static nsec_t slack(const struct series *s)
{
	nsec_t most = 0, error;

	for (unsigned i = 0; i < s->c->conf.hosts; i++) {
		simnode_time(s->c->node[i], &error);
		most = error > most ? error : most;
	}
	return most;
}

static void take(struct series *s, const struct values *vs)
{
	struct world *w = s->c->w;
	const char *fault = vs->n ? value_fault(vs, &vs->v[0]) : "has no value";

	if (fault || vs->n != 1)
		world_break(w, "INV-37: read %" PRId64 " of parts %s", vs->read,
			    fault ? fault : "has more than one value");
	else if (s->n && vs->read != s->part[s->n - 1].read + 1)
		world_break(w, "INV-37: read %" PRId64 " follows read %" PRId64, vs->read,
			    s->part[s->n - 1].read);
	else if (s->n < SERIES_READS_MAX)
		s->part[s->n++] = (struct part){ vs->read, vs->until, slack(s), vs->v[0] };
}

void series_take(struct series *s, const char *value)
{
	struct values vs;

	if (values_parse_print(value, &vs)) {
		world_break(s->c->w, "INV-37: the event of a read has no values: %.300s", value);
		return;
	}
	take(s, &vs);
	values_done(&vs);
}

/* --- expected values */

/* Converts mainsm's time to the world's: their difference is constant during the series. */
static nsec_t world_time(const struct series *s, nsec_t t)
{
	return t - simtop_time(s->c->top) + loop_now(s->c->w->loop);
}

static void judge_sum(const struct series *s)
{
	const struct answers_truth truth = answers_sent(s->c, "", s->from, loop_now(s->c->w->loop));
	double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += isnan(s->part[i].v.value) ? 0 : s->part[i].v.value;
	if (sum != truth.bytes)
		world_break(s->c->w,
			    "INV-40: the parts of %zu reads have %g bytes, but %g were sent", s->n,
			    sum, truth.bytes);
}

static size_t alive_elsewhere(const struct series *s)
{
	const struct simproc *p;
	size_t n = 0;

	for (size_t i = 0; (p = cluster_each_rank(s->c, &i));)
		n += p->is_alive && p->rank / CLUSTER_RANKS_MAX != (int)s->slow_host;
	return n;
}

/*
 * Judges a read that follows another one while no link is slow. It must contain all data sent in
 * its interval.
 */
static void judge_whole(const struct series *s, const struct part *p, nsec_t since, nsec_t until)
{
	nsec_t e = p[-1].error > p->error ? p[-1].error : p->error;
	double least = answers_sent(s->c, "", since + e, until - e).bytes,
	       most = answers_sent(s->c, "", since - e, until + e).bytes;
	int64_t n = (int64_t)cluster_alive(s->c);

	if (p->v.k != n || p->v.n != n)
		world_break(s->c->w,
			    "INV-38: read %" PRId64 " has %" PRId64 " of %" PRId64
			    " processes instead of %" PRId64 " run",
			    p->read, p->v.k, p->v.n, n);
	if (isnan(p->v.value) || !value_is_within(&p->v, least, most))
		world_break(s->c->w,
			    "INV-38: read %" PRId64
			    " has %g bytes, but %g to %g were sent in its interval",
			    p->read, p->v.value, least, most);
}

static void judge_slow(const struct series *s, const struct part *p)
{
	int64_t n = (int64_t)cluster_alive(s->c), k = (int64_t)alive_elsewhere(s);

	if (p->v.k != k || p->v.n != n)
		world_break(s->c->w,
			    "INV-39: read %" PRId64 " reports %" PRId64 " of %" PRId64
			    " processes, but lacks the host that is late: %" PRId64 " of %" PRId64,
			    p->read, p->v.k, p->v.n, k, n);
}

void series_judge(struct series *s)
{
	for (size_t i = 1; i < s->n; i++) {
		nsec_t since = world_time(s, s->part[i - 1].until),
		       until = world_time(s, s->part[i].until);

		if (since > s->from && until < s->slow_from - SETTLE_NS)
			judge_whole(s, &s->part[i], since, until);
		else if (since > s->slow_from + SETTLE_NS && until < s->slow_to - GRACE_NS)
			judge_slow(s, &s->part[i]);
	}
	if (!s->n || world_time(s, s->part[s->n - 1].until) < s->slow_to)
		world_break(s->c->w, "INV-37: no fault remains, but only %zu reads are reported",
			    s->n);
	judge_sum(s);
}
