/* SPDX-License-Identifier: Apache-2.0 */
/* What is sampled: counters of a process and of the node, from the kernel. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "lm/measure/input_internal.h"

#include <math.h>

/* The kernel counts processor time in hundredths of a second. */
#define CPU_STEP_S 0.01

enum figure {
	COMPUTE_TIME,
	CPU_USAGE,
	MEMORY_SIZE,
	PAGE_FAULTS,
	CONTEXT_SWITCHES,
	NODE_LOAD,
	NODE_CPU_USAGE,
	NODE_MEMORY_FREE,
	NODE_SWAP_FREE,
	NODE_CPU_PRESSURE,
	NODE_MEMORY_PRESSURE,
	NODE_IO_PRESSURE,
	NODE_NETWORK_IN,
	NODE_NETWORK_OUT,
	NODE_DISK_READ,
	NODE_DISK_WRITTEN,
};

static const struct {
	const char *name;
	enum figure figure;
} figures[] = {
	{ "Compute_time", COMPUTE_TIME },
	{ "CPU_usage", CPU_USAGE },
	{ "Memory_size", MEMORY_SIZE },
	{ "Page_faults", PAGE_FAULTS },
	{ "Context_switches", CONTEXT_SWITCHES },
	{ "Node_load", NODE_LOAD },
	{ "Node_cpu_usage", NODE_CPU_USAGE },
	{ "Node_memory_free", NODE_MEMORY_FREE },
	{ "Node_swap_free", NODE_SWAP_FREE },
	{ "Node_cpu_pressure", NODE_CPU_PRESSURE },
	{ "Node_memory_pressure", NODE_MEMORY_PRESSURE },
	{ "Node_io_pressure", NODE_IO_PRESSURE },
	{ "Node_network_in", NODE_NETWORK_IN },
	{ "Node_network_out", NODE_NETWORK_OUT },
	{ "Node_disk_read", NODE_DISK_READ },
	{ "Node_disk_written", NODE_DISK_WRITTEN },
};

int figure_open(struct input *in, struct err *e)
{
	if (in->from == INPUT_TIME)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(figures); i++) {
		if (!str_eq(figures[i].name, in->metric.name))
			continue;
		in->figure = (int)figures[i].figure;
		return 0;
	}
	return err_set(e, ERR_UNSUPPORTED, "this host does not have %s", in->metric.name);
}

/* A figure that is not known is negative. */
static bool put(struct measurement_value *v, double figure)
{
	v->value = figure;
	return figure >= 0;
}

/* The share of the time since the last look; of the first one nothing is known yet. */
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

/* --- of a process */

static unsigned figures_for(int figure)
{
	return figure == CONTEXT_SWITCHES ? HOST_FIGURES_SWITCHES : HOST_FIGURES_STAT;
}

static bool sample_proc(struct input *in, const struct input_moment *m, struct measurement_value *v)
{
	struct host_figures f;

	if (!in->proc->held ||
	    host_figures(m->host, in->proc->pid, figures_for(in->figure), &f, NULL))
		return false;
	switch (in->figure) {
	case COMPUTE_TIME:
		v->error = 2 * CPU_STEP_S;
		return put(v, f.user_s + f.system_s);
	case CPU_USAGE:
		return share(in, m->now, f.user_s + f.system_s, 2 * CPU_STEP_S, v);
	case MEMORY_SIZE:
		return put(v, (double)f.resident);
	case PAGE_FAULTS:
		return put(v, (double)f.major_faults);
	default:
		return put(v, (double)f.involuntary);
	}
}

/* --- of the node */

/* Busy and all ticks of all processors since boot; the share is of the ticks, not of a clock. */
static bool sample_cpus(struct input *in, struct sampler *s, struct measurement_value *v)
{
	static const enum host_count busy[] = { HOST_CPU_USER, HOST_CPU_SYSTEM },
				     idle[] = { HOST_CPU_IDLE, HOST_CPU_IOWAIT, HOST_CPU_STEAL };
	const struct host_counts *c = sampler_counts(s);
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

static bool sample_pages(struct sampler *s, int64_t pages, struct measurement_value *v)
{
	const struct host_facts *f = sampler_facts(s);

	return f && f->page_size > 0 &&
	       put(v, pages < 0 ? -1 : (double)pages * (double)f->page_size);
}

static bool sample_bytes(const struct input *in, struct sampler *s, struct measurement_value *v)
{
	static const enum host_count counts[] = {
		[NODE_NETWORK_IN - NODE_NETWORK_IN] = HOST_BYTES_RECEIVED,
		[NODE_NETWORK_OUT - NODE_NETWORK_IN] = HOST_BYTES_SENT,
		[NODE_DISK_READ - NODE_NETWORK_IN] = HOST_DISK_BYTES_READ,
		[NODE_DISK_WRITTEN - NODE_NETWORK_IN] = HOST_DISK_BYTES_WRITTEN,
	};
	const struct host_counts *c = sampler_counts(s);

	return c && put(v, (double)c->v[counts[in->figure - NODE_NETWORK_IN]]);
}

static bool sample_node(struct input *in, const struct input_moment *m, struct measurement_value *v)
{
	const struct host_now *now;

	if (in->figure == NODE_CPU_USAGE)
		return sample_cpus(in, m->sampler, v);
	if (in->figure >= NODE_NETWORK_IN)
		return sample_bytes(in, m->sampler, v);
	now = sampler_now(m->sampler);
	if (!now)
		return false;
	switch (in->figure) {
	case NODE_LOAD:
		return put(v, now->load1);
	case NODE_MEMORY_FREE:
		return sample_pages(m->sampler, now->available_pages, v);
	case NODE_SWAP_FREE:
		return sample_pages(m->sampler, now->free_swap_pages, v);
	case NODE_CPU_PRESSURE:
		return put(v, now->cpu_some);
	case NODE_MEMORY_PRESSURE:
		return put(v, now->memory_some);
	default:
		return put(v, now->io_some);
	}
}

bool figure_sample(struct input *in, const struct input_moment *m, struct measurement_value *v)
{
	return in->from == INPUT_PROC ? sample_proc(in, m, v) : sample_node(in, m, v);
}

/* A processor gives a second of itself a second. */
double figure_growth(const struct input *in, const struct input_moment *m, nsec_t span)
{
	const struct host_facts *f;

	if (in->from != INPUT_PROC || in->figure != COMPUTE_TIME || span <= 0)
		return 0;
	f = sampler_facts(m->sampler);
	return f && f->cpus > 0 ? (double)span * 1e-9 * (double)f->cpus : INFINITY;
}
