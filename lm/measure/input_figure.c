/* SPDX-License-Identifier: Apache-2.0 */
/* Sampled metrics: counters of a process and of the node, from the kernel. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "lm/measure/input_internal.h"

#include <math.h>
#include <stddef.h>

/* The kernel counts processor time in hundredths of a second. */
#define CPU_STEP_S 0.01

/* A figure that is not known is negative. */
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

/* which: 1: writes, 2: bytes. */
static bool read_mounts(struct input *in, const struct input_moment *m, size_t which,
			struct measurement_value *v)
{
	const struct mount_figure f = { which & 1, which & 2 };

	return mounts_sample(in, m, &f, v);
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

/* --- all of them, by their names in builtin.def */

static const struct {
	const char *name;
	bool (*read)(struct input *in, const struct input_moment *m, size_t at,
		     struct measurement_value *v);
	size_t at;
} figures[] = {
	{ "Compute_time", read_compute_time, 0 },
	{ "CPU_usage", read_cpu_usage, 0 },
	{ "Memory_size", read_stat, offsetof(struct host_figures, resident) },
	{ "Page_faults", read_stat, offsetof(struct host_figures, major_faults) },
	{ "Context_switches", read_switches, 0 },
	{ "Read_count", read_io, offsetof(struct host_figures, read_calls) },
	{ "Read_volume", read_io, offsetof(struct host_figures, read_bytes) },
	{ "Write_count", read_io, offsetof(struct host_figures, write_calls) },
	{ "Write_volume", read_io, offsetof(struct host_figures, write_bytes) },
	{ "File_read_count", read_mounts, 0 },
	{ "File_read_volume", read_mounts, 2 },
	{ "File_write_count", read_mounts, 1 },
	{ "File_write_volume", read_mounts, 3 },
	{ "Disk_read", read_io, offsetof(struct host_figures, disk_read_bytes) },
	{ "Disk_written", read_io, offsetof(struct host_figures, disk_written_bytes) },
	{ "Node_load", read_now, offsetof(struct host_now, load1) },
	{ "Node_cpu_usage", read_cpus, 0 },
	{ "Node_memory_free", read_pages, offsetof(struct host_now, available_pages) },
	{ "Node_swap_free", read_pages, offsetof(struct host_now, free_swap_pages) },
	{ "Node_cpu_pressure", read_now, offsetof(struct host_now, cpu_some) },
	{ "Node_memory_pressure", read_now, offsetof(struct host_now, memory_some) },
	{ "Node_io_pressure", read_now, offsetof(struct host_now, io_some) },
	{ "Node_network_in", read_count, HOST_BYTES_RECEIVED },
	{ "Node_network_out", read_count, HOST_BYTES_SENT },
	{ "Node_disk_read", read_count, HOST_DISK_BYTES_READ },
	{ "Node_disk_written", read_count, HOST_DISK_BYTES_WRITTEN },
	{ "Node_interrupts", read_count, HOST_INTERRUPTS },
	{ "Node_context_switches", read_count, HOST_CONTEXT_SWITCHES },
	{ "Node_tcp_sent", read_count, HOST_TCP_SENT },
	{ "Node_tcp_retransmitted", read_count, HOST_TCP_RETRANSMITTED },
};

int figure_open(struct input *in, struct err *e)
{
	if (in->from == INPUT_TIME)
		return 0;
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
	return figures[in->figure].read(in, m, figures[in->figure].at, v);
}

/* A processor provides one second of processor time per second. */
double figure_growth(const struct input *in, const struct input_moment *m, nsec_t span)
{
	const struct host_facts *f;

	if (in->from != INPUT_PROC || figures[in->figure].read != read_compute_time || span <= 0)
		return 0;
	f = sampler_facts(m->sampler);
	return f && f->cpus > 0 ? (double)span * 1e-9 * (double)f->cpus : INFINITY;
}
