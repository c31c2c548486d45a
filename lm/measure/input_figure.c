/* SPDX-License-Identifier: Apache-2.0 */
/* Sampled metrics: counters of a process and of the node, from the kernel. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "lm/measure/input_internal.h"

#include <math.h>
#include <stddef.h>

/* Sets the value. Returns false for an unknown one, which is negative. */
static bool put(struct measurement_value *v, double figure)
{
	v->value = figure;
	return figure >= 0;
}

/* Returns the share of the time since the last sample; unknown for the first one. */
static bool share(struct input *in, nsec_t now, double used, double step,
		  struct measurement_value *v)
{
	double span = (double)(now - in->used_at) * 1e-9;
	bool has = in->has_used && span > 0;

	if (has) {
		v->value = (used - in->used) / span * 100;
		v->error = 2 * step / span * 100;
	}
	if (has || !in->has_used) {
		in->used = used;
		in->used_at = now;
		in->has_used = true;
	}
	return has;
}

static bool read_time(struct input *in, const struct input_moment *m, size_t unused,
		      struct measurement_value *v)
{
	v->value = (double)(m->now - m->start) * 1e-9;
	v->error = m->clock_error;
	return true;
}

/* --- of a process */

static bool look(const struct input *in, const struct input_moment *m, unsigned what,
		 struct host_figures *out)
{
	return in->proc && in->proc->held && !host_figures(m->host, in->proc->pid, what, out, NULL);
}

static bool read_compute_time(struct input *in, const struct input_moment *m, size_t unused,
			      struct measurement_value *v)
{
	struct host_figures f;

	if (!look(in, m, HOST_FIGURES_STAT, &f))
		return false;
	v->error = 2 * CPU_STEP_S;
	return put(v, f.user_s + f.system_s);
}

static bool read_cpu_usage(struct input *in, const struct input_moment *m, size_t unused,
			   struct measurement_value *v)
{
	struct host_figures f;

	return look(in, m, HOST_FIGURES_STAT, &f) &&
	       share(in, m->now, f.user_s + f.system_s, 2 * CPU_STEP_S, v);
}

/* at: of an int64_t in struct host_figures. */
static bool read_stat(struct input *in, const struct input_moment *m, size_t at,
		      struct measurement_value *v)
{
	struct host_figures f;

	return look(in, m, HOST_FIGURES_STAT, &f) &&
	       put(v, (double)*(const int64_t *)((const char *)&f + at));
}

static bool read_switches(struct input *in, const struct input_moment *m, size_t unused,
			  struct measurement_value *v)
{
	struct host_figures f;

	return look(in, m, HOST_FIGURES_SWITCHES, &f) && put(v, (double)f.involuntary);
}

/* Bytes and calls of the kernel's accounting. at: of an int64_t in struct host_figures. */
static bool read_io(struct input *in, const struct input_moment *m, size_t at,
		    struct measurement_value *v)
{
	struct host_figures f;

	return look(in, m, HOST_FIGURES_IO, &f) &&
	       put(v, (double)*(const int64_t *)((const char *)&f + at));
}

/* Figures that cost files of their own. at: of a double in struct host_figures. */
static bool read_delays(struct input *in, const struct input_moment *m, size_t at,
			struct measurement_value *v)
{
	static const struct {
		size_t at;
		unsigned what;
		double error;
	} of[] = {
		{ offsetof(struct host_figures, run_delay_s), HOST_FIGURES_RUN_DELAY, 0 },
		{ offsetof(struct host_figures, block_delay_s), HOST_FIGURES_BLOCK_DELAY,
		  CPU_STEP_S },
		{ offsetof(struct host_figures, throttled_s), HOST_FIGURES_GROUP, 0 },
		{ offsetof(struct host_figures, frequency_hz), HOST_FIGURES_FREQUENCY, 0 },
	};
	struct host_figures f;

	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		if (of[i].at != at)
			continue;
		v->error = 2 * of[i].error;
		return look(in, m, of[i].what, &f) &&
		       put(v, *(const double *)((const char *)&f + at));
	}
	return false;
}

enum { CALLS_READ, CALLS_WRITTEN, BYTES_READ, BYTES_WRITTEN };

/* which: one of these constants. */
static bool read_mounts(struct input *in, const struct input_moment *m, size_t which,
			struct measurement_value *v)
{
	const struct mount_figure f = { which == CALLS_WRITTEN || which == BYTES_WRITTEN,
					which == BYTES_READ || which == BYTES_WRITTEN };

	return mounts_sample(in, m, &f, v);
}

static bool read_plugin(struct input *in, const struct input_moment *m, size_t unused,
			struct measurement_value *v)
{
	return plugged_sample(in, v);
}

/* --- of the node */

/* Busy and all ticks of all processors since boot; the share is of the ticks, not of a clock. */
static bool read_cpus(struct input *in, const struct input_moment *m, size_t unused,
		      struct measurement_value *v)
{
	static const enum host_count busy[] = { HOST_CPU_USER, HOST_CPU_SYSTEM },
				     idle[] = { HOST_CPU_IDLE, HOST_CPU_IOWAIT, HOST_CPU_STEAL };
	const struct host_counts *c = sampler_counts(m->sampler);
	int64_t used = 0, all = 0;

	if (!c || c->v[HOST_CPU_IDLE] < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(busy); i++)
		used += c->v[busy[i]];
	all = used;
	for (size_t i = 0; i < ARRAY_LEN(idle); i++)
		all += c->v[idle[i]] > 0 ? c->v[idle[i]] : 0;
	/* Ticks are hundredths of a second, and are the clock here. */
	return share(in, all * (NSEC_PER_SEC / 100), (double)used / 100, CPU_STEP_S, v);
}

static bool read_ticks(struct input *in, const struct input_moment *m, size_t which,
		       struct measurement_value *v)
{
	const struct host_counts *c = sampler_counts(m->sampler);

	v->error = 2 * CPU_STEP_S;
	return c && c->v[which] >= 0 && put(v, (double)c->v[which] / 100);
}

static bool read_foreign(struct input *in, const struct input_moment *m, size_t unused,
			 struct measurement_value *v)
{
	return foreign_sample(in, m, v);
}

/* at: of a double in struct host_now. */
static bool read_now(struct input *in, const struct input_moment *m, size_t at,
		     struct measurement_value *v)
{
	const struct host_now *now = sampler_now(m->sampler);

	return now && put(v, *(const double *)((const char *)now + at));
}

/* at: of an int64_t in struct host_now, in pages. */
static bool read_pages(struct input *in, const struct input_moment *m, size_t at,
		       struct measurement_value *v)
{
	const struct host_now *now = sampler_now(m->sampler);
	const struct host_facts *f = now ? sampler_facts(m->sampler) : NULL;
	int64_t pages = f ? *(const int64_t *)((const char *)now + at) : -1;

	return f && f->page_size > 0 &&
	       put(v, pages < 0 ? -1 : (double)pages * (double)f->page_size);
}

static bool read_count(struct input *in, const struct input_moment *m, size_t which,
		       struct measurement_value *v)
{
	const struct host_counts *c = sampler_counts(m->sampler);

	return c && put(v, (double)c->v[which]);
}

/*
 * --- the rows of builtin.def: read_SOURCE() reads the value, and at_SOURCE(item) is its place in
 * what the source has. A new metric of an old source is one row there.
 */

#define at_time(item) 0
#define at_compute_time(item) 0
#define at_cpu_usage(item) 0
#define at_stat(item) offsetof(struct host_figures, item)
#define at_switches(item) 0
#define at_io(item) offsetof(struct host_figures, item)
#define at_mounts(item) item
#define at_plugin(item) 0
#define at_cpus(item) 0
#define at_delays(item) offsetof(struct host_figures, item)
#define at_ticks(item) item
#define at_foreign(item) 0
#define at_now(item) offsetof(struct host_now, item)
#define at_pages(item) offsetof(struct host_now, item)
#define at_count(item) item

static const struct {
	const char *name;
	bool (*read)(struct input *in, const struct input_moment *m, size_t at,
		     struct measurement_value *v);
	size_t at;
} figures[] = {
#define SAMPLED(name_, object_, kind_, unit_, text_, source_, item_) \
	{ #name_, read_##source_, at_##source_(item_) },
#include "pmsl/check/builtin.def"
};

int figure_open(struct input *in, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(figures); i++) {
		if (!str_eq(figures[i].name, in->metric.name))
			continue;
		in->figure = (int)i;
		return 0;
	}
	return err_set(e, ERR_UNSUPPORTED, "this host does not have %s", in->metric.name);
}

bool figure_sample(struct input *in, const struct input_moment *m, struct measurement_value *v)
{
	if (in->from == INPUT_TIME)
		return read_time(in, m, 0, v);
	return figures[in->figure].read(in, m, figures[in->figure].at, v);
}

/* The limit of processor time is one second per second and processor. */
double figure_growth(const struct input *in, const struct input_moment *m, nsec_t span)
{
	const struct host_facts *f;

	if (in->from != INPUT_PROC || figures[in->figure].read != read_compute_time || span <= 0)
		return 0;
	f = sampler_facts(m->sampler);
	return f && f->cpus > 0 ? (double)span * 1e-9 * (double)f->cpus : INFINITY;
}
