/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts, times and volumes of library calls, from the cells that the rank writes. An open call's
 * time so far is included; its count is added at its begin, and its bytes at its end. For a call
 * that began before the measurement, time counts from the measurement's start.
 */
#include "common/base/str.h"
#include "common/ring/calls.h"
#include "lm/proc/current.h"
#include "lm/proc/hooks.h"
#include "lm/measure/input_internal.h"
#include "lm/proc/tickbase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Error after a writer was killed in an update: the missing amount is unknown. */
#define TORN_ERROR INFINITY

static bool is_volume(const struct input *in)
{
	return in->metric.quantity >= PMSL_Q_VOLUME;
}

static bool is_delay(const struct input *in)
{
	return in->metric.quantity == PMSL_Q_DELAY;
}

static uint32_t hooks_of(const struct input *in)
{
	uint32_t bits = HOOK_COUNT;

	if (is_delay(in))
		bits |= HOOK_TIME;
	if (is_volume(in))
		bits |= HOOK_VOLUME;
	if (in->npartner)
		bits |= HOOK_VOLUME | HOOK_PARTNER;
	return bits;
}

static bool counts_class(const struct input *in, enum call_class class)
{
	return in->metric.call >= 0 ? call_table[in->metric.call].class == class
				    : in->metric.classes >> class & 1;
}

int cells_open(struct input *in, struct err *e)
{
	const struct pmsl_builtin_use use = { in->npartner > 0, in->source->regions.n > 0,
					      input_is_vt(in) };
	const char *refusal = pmsl_builtin_refusal(&in->metric, &use);

	if (refusal)
		return err_set(e, ERR_UNSUPPORTED, "%s %s", in->metric.name, refusal);
	in->hooks = hooks_of(in);
	return 0;
}

/* The bytes of a started receive count when a call completes it; its sender is known then. */
static bool completes(const struct input *in, unsigned func)
{
	bool is_wanted =
		is_volume(in) ? in->metric.counts_in : in->npartner && counts_class(in, CALL_RECV);

	return is_wanted && call_table[func].class == CALL_COMPLETE;
}

/* The bytes of a persistent request count when another call starts it. */
static bool sends_later(const struct input *in, unsigned func)
{
	return is_volume(in) && in->metric.counts_out && call_starts(&call_table[func]);
}

/* The partner of a wait is that of a request, which another call has made. */
static bool is_waited_for(const struct input *in, unsigned func)
{
	return in->npartner && is_delay(in) && counts_class(in, CALL_COMPLETE) &&
	       call_posts(&call_table[func]);
}

void input_add_hooks(const struct input *in, uint32_t *bits)
{
	if (in->from != INPUT_CALLS)
		return;
	for (unsigned i = 0; i < call_count; i++) {
		if (input_counts_call(in, i))
			bits[i] |= in->hooks;
		else if (completes(in, i) || sends_later(in, i) || is_waited_for(in, i))
			bits[i] |= HOOK_VOLUME;
	}
}

static double bytes_of(const struct input *in, uint64_t out, uint64_t came)
{
	return (in->metric.counts_out ? (double)out : 0) +
	       (in->metric.counts_in ? (double)came : 0);
}

static double seconds(const struct ticks_scale *scale, uint64_t ticks)
{
	return (double)ticks_delta_to_nsec(scale, ticks) * 1e-9;
}

static double quantity(const struct input *in, const struct segview_call *c,
		       const struct ticks_scale *scale)
{
	if (in->metric.quantity == PMSL_Q_COUNT)
		return (double)c->count;
	if (is_delay(in))
		return seconds(scale, c->delay + c->open_delay);
	return bytes_of(in, c->bytes_out, c->bytes_in);
}

/* --- by partner */

struct partner_sum {
	const struct input *in;
	const struct ticks_scale *scale;
	double sum;
	struct input_parts *parts;
};

static bool is_partner(const struct input *in, int32_t rank)
{
	size_t from = 0, to = in->npartner;

	while (from < to) {
		size_t i = (from + to) / 2;

		if (in->partner[i] == rank)
			return true;
		if (in->partner[i] < rank)
			from = i + 1;
		else
			to = i;
	}
	return false;
}

static void add_shares(struct partner_sum *s, const struct segview_partner *p, bool is_of_these)
{
	struct input_shares *to = is_of_these ? &s->parts->of_these : &s->parts->of_others;

	to->shared += seconds(s->scale, p->shared);
	to->possible += seconds(s->scale, p->possible);
	if (p->rank == CALL_PARTNER_UNKNOWN)
		to->unknown += seconds(s->scale, p->delay);
}

/*
 * Returns the error of shared time that was divided among partners. Part of it may belong to the
 * others, at most what is possible for them beyond their share; the reverse holds, too.
 */
static double shares_error(const struct input_parts *p)
{
	const struct input_shares *a = &p->of_these, *b = &p->of_others;
	double less = fmin(a->shared, b->possible - b->shared);
	double more = fmin(a->possible - a->shared, b->shared) + b->unknown;

	return fmax(less, more);
}

static void on_partner(void *arg, const struct segview_partner *p)
{
	struct partner_sum *s = arg;
	bool is_of_these = p->rank >= 0 && is_partner(s->in, p->rank);

	if (p->func >= call_count || !input_counts_call(s->in, p->func))
		return;
	add_shares(s, p, is_of_these);
	if (!is_of_these)
		return;
	if (is_delay(s->in))
		s->sum += seconds(s->scale, p->delay) + seconds(s->scale, p->shared);
	else
		s->sum += is_volume(s->in) ? bytes_of(s->in, p->bytes_out, p->bytes_in)
					   : (double)p->count;
}

/* Returns the time so far of the open calls of a thread: at most one counts. */
static double open_delay(const struct input *in, const struct ticks_scale *scale, uint64_t now,
			 unsigned thread)
{
	const struct segview *seg = in->proc->seg;
	struct segview_call c;
	double open = 0;

	for (unsigned i = 0; i < segview_funcs(seg) && i < call_count; i++)
		if (input_counts_call(in, i) && !segview_call(seg, thread, i, now, &c))
			open += seconds(scale, c.open_delay);
	return open;
}

/*
 * Adds a call with an unknown partner: it is known when the call ends, and then all its time is in
 * that sum.
 */
static void add_open(const struct input *in, const struct ticks_scale *scale, uint64_t now,
		     unsigned thread, struct measurement_value *v)
{
	double open = open_delay(in, scale, now, thread);
	int32_t partner = CALL_PARTNER_UNKNOWN;
	struct segview_current c;

	if (open > 0 && segview_current(in->proc->seg, thread, &c) && c.is_inside &&
	    input_counts_call(in, c.func))
		partner = current_awaited(&in->proc->own, &c);
	if (partner == CALL_PARTNER_UNKNOWN)
		v->open += open;
	else if (is_partner(in, partner))
		v->value += open;
}

/* Calls whose partner found no room in the tables may belong to any. */
static double lost_error(const struct input *in, double lost)
{
	if (!(lost > 0))
		return 0;
	return is_volume(in) || is_delay(in) ? INFINITY : lost;
}

/* Returns the bound of the error that the parts cause. */
static double parts_error(const struct input *in, const struct input_parts *p)
{
	double error = p->fixed + lost_error(in, p->lost);

	return is_delay(in) ? error + p->open + p->unmatched + shares_error(p) + p->scale : error;
}

static struct input_shares shares_between(const struct input_shares *before,
					  const struct input_shares *now)
{
	return (struct input_shares){ now->shared - before->shared,
				      now->possible - before->possible,
				      now->unknown - before->unknown };
}

/*
 * Returns the error of a difference. A call that was open at `before` may have ended, so all its
 * time is uncertain.
 */
double cells_step_error(const struct input *in, const struct input_parts *before,
			const struct input_parts *now)
{
	const struct input_parts step = {
		.of_these = shares_between(&before->of_these, &now->of_these),
		.of_others = shares_between(&before->of_others, &now->of_others),
		.unmatched = now->unmatched - before->unmatched,
		.lost = now->lost - before->lost,
		.open = now->open + before->open,
		.scale = now->scale + before->scale,
		.fixed = now->fixed,
	};

	return parts_error(in, &step);
}

static bool has_persistent(const struct input *in)
{
	for (unsigned i = 0; i < call_count; i++)
		if (input_counts_call(in, i) && call_table[i].persistent)
			return true;
	return false;
}

/* Bytes of persistent requests that the rank had no room for are in no sum. */
static double requests_error(const struct input *in)
{
	struct seg_own own;

	if (!is_volume(in) || !has_persistent(in))
		return 0;
	segview_own(in->proc->seg, &own);
	return own.requests_lost ? INFINITY : 0;
}

static void sample_partners(const struct input *in, const struct ticks_scale *scale, uint64_t now,
			    struct measurement_value *v)
{
	const struct segview *seg = in->proc->seg;
	struct partner_sum s = { .in = in, .scale = scale, .parts = &v->parts };
	struct segview_thread t;

	for (unsigned i = 0; i < segview_threads(seg); i++) {
		if (segview_thread(seg, i, &t) || !t.tid)
			continue;
		segview_partners(seg, i, on_partner, &s);
		v->parts.lost += (double)t.partner_lost;
		if (!is_delay(in))
			continue;
		add_open(in, scale, now, i, v);
		v->parts.unmatched += seconds(scale, t.partner_unknown);
	}
	v->value += s.sum;
	v->parts.fixed = requests_error(in);
	v->parts.open = v->open;
	v->parts.scale = v->value * INPUT_SCALE_ERROR;
	v->error = parts_error(in, &v->parts);
}

/*
 * Samples some partners in some regions. The error of the partners in the whole process applies
 * there, too. A call that is under way is in no sum of partners yet.
 */
static bool sample_both(const struct input *in, const struct ticks_scale *scale, uint64_t now,
			struct measurement_value *v)
{
	struct measurement_value anywhere = { 0 };

	if (!regions_sample(in, now, scale, v))
		return false;
	sample_partners(in, scale, now, &anywhere);
	v->error += anywhere.error;
	for (unsigned i = 0; is_delay(in) && i < segview_threads(in->proc->seg); i++)
		v->error += open_delay(in, scale, now, i);
	return true;
}

bool cells_sample(struct input *in, const struct input_moment *m, struct measurement_value *v)
{
	const struct proc *p = in->proc;
	const struct ticks_scale *scale;
	struct segview_call c;
	uint64_t now;

	if (!p->seg || (proc_is_alone(p) && !in->metric.is_of_region))
		return false;
	scale = tickbase_scale(m->ticks, p->own.tick_source);
	now = tickbase_now(m->ticks, p->own.tick_source);
	v->error = requests_error(in);
	if (in->meter && in->npartner)
		return sample_both(in, scale, now, v);
	if (in->meter)
		return regions_sample(in, now, scale, v);
	if (in->npartner) {
		sample_partners(in, scale, now, v);
		return true;
	}
	for (unsigned i = 0; i < segview_funcs(p->seg) && i < call_count; i++) {
		if (!input_counts_call(in, i) || segview_call(p->seg, SEGVIEW_ALL, i, now, &c))
			continue;
		v->value += quantity(in, &c, scale);
		if (c.torn)
			v->error = TORN_ERROR;
	}
	if (is_delay(in))
		v->error += v->value * INPUT_SCALE_ERROR;
	return true;
}

/* --- values known only at the end of a call */

bool cells_moves(const struct input *in)
{
	return in->from == INPUT_CALLS && is_volume(in) && !in->source->from_start &&
	       !input_is_vt(in);
}

/* True for calls that transfer the caller's own data all the time; a receive mostly waits. */
static bool moves(const struct input *in, const struct segview_current *c)
{
	unsigned class = call_table[c->func].class;
	int32_t partner = in->npartner ? current_partner(&in->proc->own, c) : CALL_PARTNER_UNKNOWN;

	return input_counts_call(in, c->func) &&
	       (class == CALL_IO || class == CALL_SEND || class == CALL_RMA) &&
	       (partner == CALL_PARTNER_UNKNOWN || is_partner(in, partner));
}

bool cells_under_way(struct input *in)
{
	struct segview_current c;
	bool is_all_along = false;

	for (unsigned i = 0; in->proc && in->proc->seg && i < segview_threads(in->proc->seg); i++) {
		bool is_in = segview_current(in->proc->seg, i, &c) && c.is_inside && moves(in, &c);

		is_all_along |= is_in && in->under_way[i] == c.number;
		in->under_way[i] = is_in ? c.number : 0;
	}
	return is_all_along;
}
