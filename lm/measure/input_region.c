/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of regions: those of a thread between two probes. The rank counts them separately, by
 * meters in its segment; this file requests and reads the meters.
 */
#include "common/ring/calls.h"
#include "common/ring/region.h"
#include "lm/instrument/functions.h"
#include "lm/measure/input_internal.h"
#include "lm/proc/tickbase.h"

#include <math.h>
#include <stdlib.h>

#define METERS_EACH 2 /* meters of a volume in both directions */

int regions_open(struct input *in, struct err *e)
{
	const struct flow_names *names = &in->source->regions;

	if (in->metric.is_of_plugin)
		return plugged_open(in, e);
	if (in->metric.is_by_mount)
		return mounts_open(in, e);
	if (!names->n)
		return 0;
	if (in->from != INPUT_CALLS)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s has no values by regions: it is not a metric of calls",
			       in->metric.name);
	for (size_t i = 0; i < names->n; i++)
		if (!region_is_name(names->v[i]))
			return err_set(
				e, ERR_INVALID,
				"%s: a region is BEGIN..END, two probes, a NAME that makes two, or "
				"function:NAME",
				names->v[i]);
	in->meter = calloc(names->n * METERS_EACH, sizeof(*in->meter));
	return in->meter ? 0 : err_nomem(e);
}

void regions_done(struct input *in)
{
	regions_detach(in);
	free(in->meter);
	in->meter = NULL;
}

/* --- meters */

/* -ERR_AGAIN: it is not on; later it may be. */
static int find_function(const struct proc *p, const char *name, struct segview_meter *want)
{
	const struct function *f = functions_find(p, name);
	struct function_state s;

	if (!f)
		return -ERR_AGAIN;
	function_state(f, &s);
	want->begin = SEG_FUNCTION_BEGIN(s.slot);
	want->end = SEG_FUNCTION_END(s.slot);
	return 0;
}

static int find_probes(const struct segview *seg, const char *name, struct segview_meter *want)
{
	struct region r;

	for (unsigned way = 0; way < REGION_WAYS; way++) {
		int begin, end;

		if (!region_from_name(name, way, &r))
			continue;
		begin = segview_probe_find(seg, r.begin);
		end = segview_probe_find(seg, r.end);
		if (begin < 0 || end < 0)
			continue;
		want->begin = (unsigned)begin;
		want->end = (unsigned)end;
		return 0;
	}
	return -ERR_NOTFOUND;
}

static int find_region(const struct proc *p, const char *name, struct segview_meter *want)
{
	const char *function = region_function(name);

	return function ? find_function(p, function, want) : find_probes(p->seg, name, want);
}

static int add_meter(struct input *in, struct segview_meter *want, enum seg_read_kind kind,
		     uint64_t now)
{
	int rc;

	if (in->metric.is_of_region)
		kind = kind == SEG_READ_CALLS ? SEG_READ_PASSES : SEG_READ_TICKS;
	want->read.kind = in->npartner ? SEG_OF_PARTNERS(kind) : kind;
	rc = segview_meter_add(in->proc->seg, want, now, &in->meter[in->nmeter]);
	in->nmeter += !rc;
	return rc;
}

static int add_meters(struct input *in, struct segview_meter *want, uint64_t now)
{
	int rc = 0;

	switch (in->metric.quantity) {
	case PMSL_Q_COUNT:
		return add_meter(in, want, SEG_READ_CALLS, now);
	case PMSL_Q_DELAY:
		return add_meter(in, want, SEG_READ_DELAY, now);
	default:
		if (in->metric.counts_out)
			rc = add_meter(in, want, SEG_READ_OUT, now);
		if (!rc && in->metric.counts_in)
			rc = add_meter(in, want, SEG_READ_IN, now);
		return rc;
	}
}

/* Ids of the calls that it counts, ascending, into func[call_count]. */
static unsigned funcs_of(const struct input *in, uint16_t *func)
{
	unsigned n = 0;

	for (unsigned i = 0; i < call_count && i < segview_funcs(in->proc->seg); i++)
		if (input_counts_call(in, i))
			func[n++] = (uint16_t)i;
	return n;
}

static int attach(struct input *in, uint64_t now)
{
	const struct flow_names *names = &in->source->regions;
	uint16_t *func = calloc(call_count, sizeof(*func));
	struct segview_meter want = {
		.read = { .func = func, .rank = in->partner, .nrank = (unsigned)in->npartner }
	};
	int rc = func ? 0 : -ERR_NOMEM;

	if (!rc)
		want.read.nfunc = funcs_of(in, func);
	for (size_t i = 0; i < names->n && !rc; i++) {
		rc = find_region(in->proc, names->v[i], &want);
		if (!rc)
			rc = add_meters(in, &want, now);
	}
	free(func);
	return rc;
}

void regions_attach(struct input *in, struct tickbase *ticks)
{
	if (!in->meter || !in->proc || !in->proc->seg || in->nmeter)
		return;
	in->meter_rc = attach(in, tickbase_now(ticks, in->proc->own.tick_source));
	if (in->meter_rc)
		regions_detach(in);
}

void regions_detach(struct input *in)
{
	for (size_t i = 0; i < in->nmeter && in->proc && in->proc->seg; i++)
		segview_meter_del(in->proc->seg, in->meter[i]);
	in->nmeter = 0;
}

void regions_continue(struct input *in, struct input *from)
{
	unsigned *none = in->meter;

	in->meter = from->meter;
	in->nmeter = from->nmeter;
	in->meter_rc = from->meter_rc;
	from->meter = none;
	from->nmeter = 0;
}

const char *regions_fault(const struct input *in)
{
	if (!in->meter || !in->proc || !in->proc->seg || in->nmeter)
		return NULL;
	switch (-in->meter_rc) {
	case ERR_AGAIN:
		return "the function is not on in the process: omig_function_on";
	case ERR_NOTFOUND:
		return "the process has no probes of that name: a region is BEGIN..END, two "
		       "probes, or a NAME that makes two, as NAME_begin and NAME_end";
	case ERR_LIMIT:
		return "more counters by regions than a process has room for";
	default:
		return "out of memory";
	}
}

bool regions_sample(const struct input *in, uint64_t now, const struct ticks_scale *scale,
		    struct measurement_value *v)
{
	bool is_delay = in->metric.quantity == PMSL_Q_DELAY;
	struct segview_metered m;

	for (size_t i = 0; i < in->nmeter; i++) {
		if (segview_meter_read(in->proc->seg, in->meter[i], now, &m))
			return false;
		v->value += is_delay ? (double)ticks_delta_to_nsec(scale, m.value) * 1e-9
				     : (double)m.value;
		v->open += is_delay ? (double)ticks_delta_to_nsec(scale, m.doubt) * 1e-9
				    : (double)m.doubt;
		if (m.torn)
			v->error = INFINITY;
	}
	v->error += v->open + (is_delay ? v->value * INPUT_SCALE_ERROR : 0);
	return in->nmeter != 0;
}
