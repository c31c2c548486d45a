/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of the jobs on this host: summed here, so that an answer has one entry per job. */
#include "lm/service/profile.h"

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/ring/calls.h"
#include "lm/proc/current.h"
#include "lm/proc/tickbase.h"
#include "lm/proc/totals.h"

#include <stdlib.h>
#include <string.h>

struct job_sum {
	const char *job; /* the process' */
	int64_t processes, alive, ranks, counted, volumes, answered, in_mpi;
	int32_t world_size, lowest;
	char program[sizeof(((struct seg_own *)0)->program)];
	double age_s, cpu_s, rss, rss_max; /* age: -1: not known */
	struct sum *call; /* owned: call_count of them */
	struct buf ranks_text;
};

struct job_sums {
	struct job_sum *v;
	size_t n, cap;
};

static const struct job_sampler *sampler_of(const struct service_call *c)
{
	return c->of;
}

/* --- one process */

enum { COUNTS_TIME = 1, COUNTS_VOLUME = 2 };

/* True if hooks are on for all calls: with some of them on, the others are unknown. */
static unsigned what_counts(const struct proc *p)
{
	unsigned all = COUNTS_TIME | COUNTS_VOLUME;

	if (!p->held || !p->seg)
		return 0;
	for (unsigned i = 0; all && i < call_count && i < segview_funcs(p->seg); i++) {
		uint32_t word = segview_hook_get(p->seg, i);

		if (!(word & HOOK_COUNT) || !(word & HOOK_TIME))
			return 0;
		if (!(word & HOOK_VOLUME))
			all = COUNTS_TIME;
	}
	return all;
}

static void add_calls(struct sum *to, const struct totals *t, const struct ticks_scale *s)
{
	static const struct segview_call none;

	for (size_t i = 0; i < t->ncall; i++) {
		struct sum v = sum_of(&t->call[i].v, &none, s);

		if (call_get(t->call[i].func))
			sum_add(&to[t->call[i].func], &v);
	}
}

static void add_call_now(struct service_call *c, struct proc *p, struct job_sum *j)
{
	struct tickbase *ticks = sampler_of(c)->ticks;
	const struct current_moment now = { .time = loop_now(c->loop),
					    .ticks = tickbase_now(ticks, p->own.tick_source),
					    .scale = tickbase_scale(ticks, p->own.tick_source) };
	bool is_known = false, is_in = false;
	struct current one;

	if (!p->held || !p->seg || proc_is_alone(p))
		return;
	current_sample(p, now.time);
	for (unsigned i = 0; i < segview_threads(p->seg); i++)
		if (current_get(p, i, &now, &one)) {
			is_known = true;
			is_in |= one.state != CURRENT_OUT;
		}
	j->answered += is_known;
	j->in_mpi += is_in;
}

static void write_rank(struct job_sum *j, const struct proc *p, const struct sum *call,
		       double cpu_s, double rss)
{
	struct omis_writer w = { .b = &j->ranks_text, .comma = j->ranks_text.n > 0 };
	int64_t delay[CALL_CLASSES] = { 0 };
	struct sum all = { 0 };

	for (unsigned i = 0; i < call_count; i++) {
		delay[call_table[i].class] += call[i].delay_ns;
		sum_add(&all, &call[i]);
	}
	omis_write_list(&w);
	OMIS_WRITE_INTS(&w, p->own.rank, p->pid, p->state, what_counts(p));
	omis_write_float(&w, cpu_s);
	omis_write_float(&w, rss);
	OMIS_WRITE_INTS(&w, (int64_t)all.count, (int64_t)all.bytes_out, (int64_t)all.bytes_in);
	for (unsigned k = 0; k < CALL_CLASSES; k++)
		omis_write_int(&w, delay[k]);
	omis_write_list_end(&w);
}

static int add_totals(struct service_call *c, const struct proc *p, struct sum *to)
{
	struct tickbase *ticks = sampler_of(c)->ticks;
	struct totals *live = NULL;
	int rc = p->seg ? totals_take(p->seg, tickbase_now(ticks, p->own.tick_source), false, &live)
			: 0;

	if (!rc && (live || p->last))
		add_calls(to, live ? live : p->last, tickbase_scale(ticks, p->own.tick_source));
	totals_free(live);
	return rc;
}

/* For an ended process the last sample; it has no memory. */
static void add_figures(struct service_call *c, const struct proc *p, struct job_sum *j,
			double *cpu_s, double *rss)
{
	struct host_figures f;

	if (!p->held || host_figures(sampler_of(c)->host, p->pid, HOST_FIGURES_STAT, &f, NULL) ||
	    f.start != p->start) {
		f = p->figures;
		f.resident = 0;
		if (f.age_s >= 0)
			f.age_s += (double)(loop_now(c->loop) - p->figures_at) / 1e9;
	}
	*cpu_s = f.user_s >= 0 && f.system_s >= 0 ? f.user_s + f.system_s : 0;
	*rss = f.resident > 0 ? (double)f.resident : 0;
	j->cpu_s += *cpu_s;
	j->rss += *rss;
	j->rss_max = *rss > j->rss_max ? *rss : j->rss_max;
	j->age_s = f.age_s > j->age_s ? f.age_s : j->age_s;
}

static void note_rank(struct job_sum *j, const struct proc *p)
{
	const char *program = str_base_name(p->own.program);

	if (p->own.rank >= 0) {
		j->ranks++;
		j->world_size =
			p->own.world_size > j->world_size ? p->own.world_size : j->world_size;
	}
	if (j->processes++ && (p->own.rank < 0 || (j->lowest >= 0 && p->own.rank > j->lowest)))
		return;
	j->lowest = p->own.rank;
	str_copy(j->program, sizeof(j->program), program[0] ? program : p->name);
}

static int add_process(struct service_call *c, struct proc *p, struct job_sum *j, bool with_ranks)
{
	struct sum *own = calloc(call_count, sizeof(*own));
	unsigned counts = what_counts(p);
	double cpu_s, rss;
	int rc = own ? add_totals(c, p, own) : -ERR_NOMEM;

	if (!rc) {
		for (unsigned i = 0; i < call_count; i++)
			sum_add(&j->call[i], &own[i]);
		note_rank(j, p);
		j->alive += p->held != NULL;
		j->counted += (counts & COUNTS_TIME) != 0;
		j->volumes += (counts & COUNTS_VOLUME) != 0;
		add_figures(c, p, j, &cpu_s, &rss);
		add_call_now(c, p, j);
		if (with_ranks && p->own.rank >= 0)
			write_rank(j, p, own, cpu_s, rss);
	}
	free(own);
	return rc;
}

/* --- all of a job */

/* Processes of a job are usually adjacent. */
static struct job_sum *find_job(struct job_sums *s, const char *job)
{
	struct job_sum *j;

	for (size_t i = s->n; i > 0; i--)
		if (str_eq(s->v[i - 1].job, job))
			return &s->v[i - 1];
	if (array_grow(&s->v, &s->cap, s->n + 1, sizeof(*s->v), PROCS_MAX + PROCS_ENDED_MAX))
		return NULL;
	j = &s->v[s->n];
	*j = (struct job_sum){ .job = job, .lowest = -1, .age_s = -1 };
	j->call = calloc(call_count, sizeof(*j->call));
	if (!j->call)
		return NULL;
	buf_init(&j->ranks_text, FRAME_MAX_BYTES / 4);
	s->n++;
	return j;
}

static bool wants_ranks(const struct service_call *c, const char *job)
{
	const struct omis_value *v = &c->call->param[1];

	for (size_t i = 0; v->kind == OMIS_LIST && i < v->list.n; i++)
		if (str_eq(omis_value_text(&v->list.v[i], NULL), job))
			return true;
	return false;
}

static void write_calls(struct omis_writer *w, const struct job_sum *j)
{
	omis_write_list(w);
	for (unsigned i = 0; i < call_count; i++) {
		const struct sum *s = &j->call[i];

		if (!s->count && !s->delay_ns && !s->bytes_out && !s->bytes_in)
			continue;
		omis_write_list(w);
		omis_write_string(w, call_table[i].name);
		omis_write_string(w, call_class_name(call_table[i].class));
		OMIS_WRITE_INTS(w, (int64_t)s->count, s->delay_ns, (int64_t)s->bytes_out,
				(int64_t)s->bytes_in);
		omis_write_list_end(w);
	}
	omis_write_list_end(w);
}

static void write_job(struct omis_writer *w, const struct job_sum *j)
{
	omis_write_string(w, j->job);
	omis_write_string(w, j->program);
	OMIS_WRITE_INTS(w, j->lowest, j->world_size, j->processes, j->alive, j->ranks, j->counted,
			j->volumes, j->answered, j->in_mpi);
	omis_write_float(w, j->age_s);
	omis_write_float(w, j->cpu_s);
	omis_write_float(w, j->rss);
	omis_write_float(w, j->rss_max);
	write_calls(w, j);
}

static int add_entry(struct service_call *c, const struct job_sum *j)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES / 2);
	struct omis_writer w = OMIS_WRITER(&b);

	omis_write_int(&w, call_now(c));
	write_job(&w, j);
	buf_printf(&b, ",[%s]", buf_str(&j->ranks_text));
	b.failed |= j->ranks_text.failed;
	return call_add_values(c, procs_node_token(c->procs), &b);
}

static int serve_job_sample(struct service_call *c)
{
	struct job_sums sums = { 0 };
	int rc = 0;

	if (!call_is_for_us(c))
		return 0;
	list_each (i, procs_all(c->procs)) {
		struct proc *p = list_entry(i, struct proc, link);
		struct job_sum *j;

		if (rc || !p->own.job[0])
			continue;
		j = find_job(&sums, p->own.job);
		rc = j ? add_process(c, p, j, wants_ranks(c, p->own.job)) : -ERR_NOMEM;
	}
	for (size_t i = 0; i < sums.n; i++) {
		if (!rc)
			rc = add_entry(c, &sums.v[i]);
		free(sums.v[i].call);
		buf_done(&sums.v[i].ranks_text);
	}
	free(sums.v);
	reply_add_time(c->reply, call_now(c), call_now(c));
	return rc;
}

const struct service job_services[] = {
	{ "omig_job_sample", serve_job_sample },
	{ NULL, NULL },
};
