/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last sample as families of metrics: first the monitor, then nodes, then programs, so that a
 * limit cuts the most numerous ones.
 */
#include "common/base/array.h"
#include "common/base/str.h"
#include "tools/export/export.h"
#include "tools/session/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define OWN_SERIES 64 /* about the export itself: the limit does not apply to them */

static void single(struct metrics *m, const struct metric *f, double v)
{
	metrics_family(m, f);
	metrics_sample(m, NULL, v);
}

/* --- the monitor */

static void write_nodes_by_state(struct metrics *m, const struct export *x)
{
	static const struct metric f = { "omig_nodes", METRIC_GAUGE, "",
					 "Hosts that are known, by state." };
	static const char *const states[] = { "up", "silent", "lost", "hung" };

	metrics_family(m, &f);
	for (size_t k = 0; k < ARRAY_LEN(states); k++) {
		size_t n = 0;

		for (size_t i = 0; i < x->nnode; i++)
			n += str_eq(x->node[i].state, states[k]);
		metrics_sample(m, (struct metric_label[]){ { "state", states[k] }, { 0 } },
			       (double)n);
	}
}

static void write_sample(struct metrics *m, const struct export *x)
{
	single(m,
	       &(struct metric){ "omig_up", METRIC_GAUGE, "",
				 "1 when the last sample came, 0 when mainsm did not answer." },
	       x->is_up);
	single(m,
	       &(struct metric){ "omig_sample_timestamp_seconds", METRIC_GAUGE, "seconds",
				 "When the last sample was taken, since 1970." },
	       (double)x->taken_wall / 1e9);
	single(m,
	       &(struct metric){ "omig_sample_duration_seconds", METRIC_GAUGE, "seconds",
				 "How long the last sample took." },
	       (double)x->took / 1e9);
	single(m,
	       &(struct metric){ "omig_sample_objects_asked", METRIC_GAUGE, "",
				 "Objects that the last sample asked." },
	       x->asked);
	single(m,
	       &(struct metric){ "omig_sample_objects_answered", METRIC_GAUGE, "",
				 "Of them, those that answered in time." },
	       x->answered);
}

static void count(struct metrics *m, const struct export *x, const struct metric *f, double v)
{
	metrics_family(m, f);
	metrics_count(m, NULL, v, (double)x->started_wall / 1e9);
}

static void write_own(struct metrics *m, const struct export *x)
{
	count(m, x,
	      &(struct metric){ "omig_export_samples", METRIC_COUNTER, "",
				"Samples that were tried." },
	      (double)x->samples);
	count(m, x,
	      &(struct metric){ "omig_export_sample_failures", METRIC_COUNTER, "",
				"Of them, those that did not come." },
	      (double)x->failures);
	count(m, x,
	      &(struct metric){ "omig_export_scrapes", METRIC_COUNTER, "",
				"Answers that were given to scrapers." },
	      (double)x->scrapes);
	count(m, x,
	      &(struct metric){
		      "omig_export_count_restarts", METRIC_COUNTER, "",
		      "Processes whose counts restarted at zero; they continue where they "
		      "were here." },
	      (double)x->totals.resets);
}

/* Written last: it names what the limit left out. */
static void write_limit(struct metrics *m, const struct export *x)
{
	size_t series = m->series, left_out = m->left_out;

	metrics_raise(m, OWN_SERIES);
	single(m,
	       &(struct metric){ "omig_export_series", METRIC_GAUGE, "",
				 "Series in this answer, but for these four." },
	       (double)series);
	single(m,
	       &(struct metric){ "omig_export_series_limit", METRIC_GAUGE, "",
				 "How many there may be." },
	       (double)x->series_max);
	single(m,
	       &(struct metric){ "omig_export_series_left_out", METRIC_GAUGE, "",
				 "Series beyond the limit, which are missing here." },
	       (double)left_out);
	single(m,
	       &(struct metric){
		       "omig_export_processes_left_out", METRIC_GAUGE, "",
		       "Processes beyond what is remembered, which are missing in all sums." },
	       (double)x->totals.forgotten);
}

/* --- daemons */

#define DAEMON_LABELS(d)                                \
	{ "daemon", (d)->name }, { "site", (d)->site }, \
	{                                               \
		"node", (d)->node                       \
	}

#define COUNTER(name, help)                                   \
	{                                                     \
		"omig_daemon_" name, METRIC_COUNTER, "", help \
	}
#define GAUGE(name, unit, help)                        \
	{                                              \
		"omig_" name, METRIC_GAUGE, unit, help \
	}

static const struct {
	const char *daemon, *value; /* as omig_status() names them; "": each daemon */
	struct metric family; /* equal ones are adjacent, the first has the help */
	double scale;
} daemon_values[] = {
	{ "lm", "requests", COUNTER("requests", "Requests that a daemon was asked."), 1 },
	{ "sm", "requests_asked", COUNTER("requests", ""), 1 },
	{ "lm", "requests_waiting", GAUGE("daemon_requests_active", "", "Requests at work."), 1 },
	{ "sm", "requests", GAUGE("daemon_requests_active", "", ""), 1 },
	{ "mainsm", "requests", GAUGE("daemon_requests_active", "", ""), 1 },
	{ "lm", "events_dropped",
	  COUNTER("events_dropped", "Events that were not reported, because there were too many."),
	  1 },
	{ "sm", "events_dropped", COUNTER("events_dropped", ""), 1 },
	{ "lm", "records_dropped",
	  COUNTER("records_dropped", "Records that did not fit into the rings of ranks."), 1 },
	{ "", "parent_dropped",
	  COUNTER("messages_dropped", "Messages upwards that did not fit into a queue."), 1 },
	{ "", "parent_queued_bytes", GAUGE("daemon_queue_bytes", "bytes", "What waits to be sent."),
	  1 },
	{ "mainsm", "queued_bytes", GAUGE("daemon_queue_bytes", "bytes", ""), 1 },
	{ "", "lag_max_ns",
	  GAUGE("daemon_loop_lag_seconds", "seconds",
		"The longest that a daemon's timers were late, in the last half minute or so."),
	  1e-9 },
	{ "", "rss_bytes", GAUGE("daemon_resident_memory_bytes", "bytes", "Memory of a daemon."),
	  1 },
	{ "mainsm", "tools", GAUGE("tools", "", "Tools that are connected, this one included."),
	  1 },
};

static double daemon_value(const struct export_daemon *d, const char *name)
{
	const Omis_value *pair;

	for (size_t i = 3; (pair = value_at(d->status, i)); i++)
		if (str_eq(value_text(pair, 0), name))
			return value_float(pair, 1);
	return (double)NAN;
}

static void write_daemon_value(struct metrics *m, const struct export *x, size_t k)
{
	bool is_count = daemon_values[k].family.kind == METRIC_COUNTER;

	for (size_t i = 0; i < x->ndaemon; i++) {
		const struct export_daemon *d = &x->daemon[i];
		const struct metric_label labels[] = { DAEMON_LABELS(d), { 0 } };

		if (daemon_values[k].daemon[0] && !str_eq(daemon_values[k].daemon, d->name))
			continue;
		metrics_count(m, labels,
			      daemon_value(d, daemon_values[k].value) * daemon_values[k].scale,
			      is_count ? (double)x->taken_wall / 1e9 - d->uptime_s : 0);
	}
}

static void write_daemons(struct metrics *m, const struct export *x)
{
	static const struct metric info = { "omig_daemon", METRIC_INFO, "",
					    "Daemons that answered, with their versions." };
	static const struct metric up = { "omig_daemon_uptime_seconds", METRIC_GAUGE, "seconds",
					  "How long a daemon runs." };

	metrics_family(m, &info);
	for (size_t i = 0; i < x->ndaemon; i++)
		metrics_sample(m,
			       (struct metric_label[]){ DAEMON_LABELS(&x->daemon[i]),
							{ "version", x->daemon[i].version },
							{ 0 } },
			       1);
	metrics_family(m, &up);
	for (size_t i = 0; i < x->ndaemon; i++)
		metrics_sample(m, (struct metric_label[]){ DAEMON_LABELS(&x->daemon[i]), { 0 } },
			       x->daemon[i].uptime_s);
	for (size_t k = 0; k < ARRAY_LEN(daemon_values); k++) {
		if (!k || !str_eq(daemon_values[k].family.name, daemon_values[k - 1].family.name))
			metrics_family(m, &daemon_values[k].family);
		write_daemon_value(m, x, k);
	}
}

/* --- programs: by job and node, and by rank on request */

#define GROUP_LABELS(g)                             \
	{ "job", (g)->job }, { "site", (g)->site }, \
	{                                           \
		"node", (g)->node                   \
	}

static const struct {
	const char *name, *unit, *help;
	double scale;
} mpi_values[EXPORT_KINDS] = {
	{ "mpi_calls", "", "MPI calls by class.", 1 },
	{ "mpi_seconds", "seconds", "Time in MPI calls by class, of all threads.", 1e-9 },
	{ "mpi_sent_bytes", "bytes", "Bytes that MPI calls named as going out.", 1 },
	{ "mpi_received_bytes", "bytes", "Bytes that came in with MPI calls.", 1 },
};

/*
 * Uses separate names for classes of a job on a node and of a rank: one name would count them
 * twice.
 */
static void mpi_family(struct metric *f, char name[64], const char *of, size_t kind)
{
	snprintf(name, 64, "omig_%s_%s", of, mpi_values[kind].name);
	*f = (struct metric){ name, METRIC_COUNTER, mpi_values[kind].unit, mpi_values[kind].help };
}

/* A class that a program has never called has no series. */
static double mpi_value(const struct export_counters *f, size_t kind, size_t class)
{
	return f->mpi[EXPORT_CALLS][class] > 0 ? f->mpi[kind][class] * mpi_values[kind].scale
					       : (double)NAN;
}

static void write_group_mpi(struct metrics *m, struct export_group **g, size_t n, size_t kind)
{
	struct metric f;
	char name[64];

	mpi_family(&f, name, "job", kind);
	metrics_family(m, &f);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < TOP_CLASSES; k++)
			metrics_sample(m,
				       (struct metric_label[]){ GROUP_LABELS(g[i]),
								{ "class", top_class_names[k] },
								{ 0 } },
				       mpi_value(&g[i]->sum, kind, k));
}

static void write_groups(struct metrics *m, const struct export *x)
{
	static const struct metric processes = { "omig_job_processes", METRIC_GAUGE, "",
						 "Processes that run, by job and host." };
	static const struct metric rss = { "omig_job_resident_memory_bytes", METRIC_GAUGE, "bytes",
					   "Memory of the processes that run." };
	static const struct metric cpu = { "omig_job_cpu_seconds", METRIC_COUNTER, "seconds",
					   "Processor time, of processes that have ended too." };
	size_t n;
	struct export_group **g = export_totals_groups(&x->totals, &n);

	metrics_family(m, &processes);
	for (size_t i = 0; i < n; i++)
		metrics_sample(m, (struct metric_label[]){ GROUP_LABELS(g[i]), { 0 } },
			       (double)g[i]->running);
	metrics_family(m, &rss);
	for (size_t i = 0; i < n; i++)
		metrics_sample(m, (struct metric_label[]){ GROUP_LABELS(g[i]), { 0 } },
			       g[i]->rss_bytes);
	metrics_family(m, &cpu);
	for (size_t i = 0; i < n; i++)
		metrics_sample(m, (struct metric_label[]){ GROUP_LABELS(g[i]), { 0 } },
			       g[i]->sum.cpu_s);
	for (size_t k = 0; k < EXPORT_KINDS; k++)
		write_group_mpi(m, g, n, k);
	free(g);
}

/* A rank may be there twice under one job: the token distinguishes them. */
#define RANK_LABELS(p, rank)                          \
	GROUP_LABELS((p)->group), { "rank", (rank) }, \
	{                                             \
		"process", (p)->token                 \
	}

static const char *rank_text(char out[24], int64_t rank)
{
	snprintf(out, 24, "%lld", (long long)rank);
	return rank < 0 ? "" : out;
}

static void write_rank_mpi(struct metrics *m, struct export_process **p, size_t n, size_t kind)
{
	struct metric f;
	char name[64], rank[24];

	mpi_family(&f, name, "rank", kind);
	metrics_family(m, &f);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; p[i]->is_seen && k < TOP_CLASSES; k++) {
			const struct metric_label labels[] = {
				RANK_LABELS(p[i], rank_text(rank, p[i]->rank)),
				{ "class", top_class_names[k] },
				{ 0 }
			};

			metrics_sample(m, labels,
				       mpi_value(&p[i]->last, kind, k) +
					       p[i]->base.mpi[kind][k] * mpi_values[kind].scale);
		}
}

static void write_rank_info(struct metrics *m, struct export_process **p, size_t n)
{
	static const struct metric info = { "omig_rank", METRIC_INFO, "",
					    "Processes, with what does not change." };
	char rank[24], pid[24];

	metrics_family(m, &info);
	for (size_t i = 0; i < n; i++)
		if (p[i]->is_seen)
			metrics_sample(m,
				       (struct metric_label[]){
					       RANK_LABELS(p[i], rank_text(rank, p[i]->rank)),
					       { "pid", rank_text(pid, p[i]->pid) },
					       { "program", p[i]->program },
					       { 0 } },
				       1);
}

static void write_ranks(struct metrics *m, const struct export *x)
{
	static const struct metric rss = { "omig_rank_resident_memory_bytes", METRIC_GAUGE, "bytes",
					   "Memory of a process." };
	static const struct metric cpu = { "omig_rank_cpu_seconds", METRIC_COUNTER, "seconds",
					   "Processor time of a process." };
	size_t n;
	struct export_process **p = export_totals_processes(&x->totals, &n);
	char rank[24];

	write_rank_info(m, p, n);
	metrics_family(m, &rss);
	for (size_t i = 0; i < n; i++)
		if (p[i]->is_seen && !p[i]->has_ended)
			metrics_sample(
				m,
				(struct metric_label[]){
					RANK_LABELS(p[i], rank_text(rank, p[i]->rank)), { 0 } },
				p[i]->rss_bytes);
	metrics_family(m, &cpu);
	for (size_t i = 0; i < n; i++)
		if (p[i]->is_seen)
			metrics_sample(
				m,
				(struct metric_label[]){
					RANK_LABELS(p[i], rank_text(rank, p[i]->rank)), { 0 } },
				p[i]->last.cpu_s);
	for (size_t k = 0; k < EXPORT_KINDS; k++)
		write_rank_mpi(m, p, n, k);
	free(p);
}

void export_write(const struct export *x, enum metrics_form form, struct buf *out)
{
	static const struct metric build = { "omig_export", METRIC_INFO, "",
					     "The program that exports this." };
	struct metrics m;

	metrics_init(&m, out, form, x->series_max);
	metrics_family(&m, &build);
	metrics_sample(&m, (struct metric_label[]){ { "version", omis_library_version() }, { 0 } },
		       1);
	write_sample(&m, x);
	write_own(&m, x);
	if (x->is_up) {
		write_nodes_by_state(&m, x);
		write_daemons(&m, x);
		export_node_write(x, &m);
		write_groups(&m, x);
		if (x->per_rank)
			write_ranks(&m, x);
	}
	write_limit(&m, x);
	metrics_end(&m);
}
