/* SPDX-License-Identifier: Apache-2.0 */
/* The services of the history: jobs, calls, samples and ranks. Each request reads all samples once.
 */
#include "mainsm/service/service.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/omis/text/value.h"
#include "mainsm/history/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_MAX 20000 /* per reply: two days of a job */
#define JOBS_MAX 65536 /* runs that are listed; a week of one run a minute has a sixth of them */

/* One run of a job: a name may be used again after its end. */
struct run_seen {
	char *job, *program; /* owned */
	nsec_t first, last, began;
	int64_t world_size, processes, ranks, nodes, exit_status, samples;
	bool has_ended;
};

struct sample_kept {
	struct history_job job; /* without its texts and calls, which are freed */
	int64_t count, delay_ns, bytes_out, bytes_in;
};

struct rank_set { /* the ranks of a job at the requested moment */
	char *job, *nodes; /* owned */
	nsec_t wall;
	int64_t span_ms;
	struct history_rank *rank; /* owned */
	size_t n, cap;
};

struct reading {
	struct service_call c; /* call and reply live as long as the run */
	struct history_query *query;
	char *job; /* owned; "": all */
	nsec_t from, to;
	int rc;
	void (*answer)(struct reading *r, struct omis_writer *w);
	/* the results */
	struct run_seen *run_seen; /* owned */
	size_t nrun, run_cap;
	struct smap open; /* job -> its last run, number + 1 as a pointer */
	struct history_call *call; /* owned, with names */
	size_t ncall, call_cap;
	struct sample_kept *sample; /* owned */
	size_t nsample, sample_cap;
	struct rank_set *set; /* owned */
	size_t nset, set_cap;
	nsec_t first, last; /* of the samples that are in it */
	int64_t covered_ms, process_ms, counted_ms, volume_ms, missing, ranks, nodes, fell, samples;
};

static void reading_free(struct reading *r)
{
	for (size_t i = 0; i < r->nrun; i++) {
		free(r->run_seen[i].job);
		free(r->run_seen[i].program);
	}
	for (size_t i = 0; i < r->ncall; i++) {
		free((char *)r->call[i].name);
		free((char *)r->call[i].class);
	}
	for (size_t i = 0; i < r->nset; i++) {
		free(r->set[i].job);
		free(r->set[i].nodes);
		free(r->set[i].rank);
	}
	smap_done(&r->open);
	free(r->run_seen);
	free(r->call);
	free(r->sample);
	free(r->set);
	free(r->job);
	free(r);
}

static bool is_of(const struct reading *r, const char *job)
{
	return !r->job[0] || str_eq(r->job, job);
}

/* True: the interval of the sample overlaps the requested time. */
static bool is_in(const struct reading *r, const struct history_job *j)
{
	return is_of(r, j->job) && j->wall > r->from &&
	       j->wall - j->span_ms * NSEC_PER_MSEC < r->to;
}

/* --- jobs */

static struct run_seen *run_of(struct reading *r, const struct history_job *j)
{
	size_t at = (size_t)(uintptr_t)smap_find(&r->open, j->job);
	struct run_seen *s = at ? &r->run_seen[at - 1] : NULL;

	if (s && !(s->has_ended && j->alive && j->began_ms * NSEC_PER_MSEC > s->last))
		return s;
	if (array_grow(&r->run_seen, &r->run_cap, r->nrun + 1, sizeof(*r->run_seen), JOBS_MAX))
		return NULL;
	s = &r->run_seen[r->nrun];
	*s = (struct run_seen){ .job = str_dup(j->job),
				.program = str_dup(j->program),
				.first = j->wall,
				.exit_status = -1 };
	r->nrun++;
	if (!s->job || !s->program || smap_put(&r->open, j->job, (void *)(uintptr_t)r->nrun, NULL))
		return NULL;
	return s;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void see_run(void *arg, const struct history_job *j)
{
	struct reading *r = arg;
	struct run_seen *s = is_in(r, j) ? run_of(r, j) : NULL;

	if (!s) {
		r->rc = is_in(r, j) ? -ERR_NOMEM : r->rc;
		return;
	}
	s->last = larger(s->last, j->wall);
	s->first = s->first < j->wall ? s->first : j->wall;
	if (j->began_ms)
		s->began = j->began_ms * NSEC_PER_MSEC;
	s->world_size = larger(s->world_size, j->world_size);
	s->processes = larger(s->processes, j->processes);
	s->ranks = larger(s->ranks, j->ranks);
	s->nodes = larger(s->nodes, j->nodes);
	s->samples++;
	s->has_ended = j->flags & HISTORY_ENDED;
	s->exit_status = s->has_ended ? j->exit_status : -1;
}

static void answer_jobs(struct reading *r, struct omis_writer *w)
{
	for (size_t i = 0; i < r->nrun; i++) {
		const struct run_seen *s = &r->run_seen[i];

		omis_write_list(w);
		omis_write_string(w, s->job);
		omis_write_string(w, s->program);
		omis_write_int(w, s->began);
		omis_write_int(w, s->first);
		omis_write_int(w, s->last);
		omis_write_int(w, s->has_ended);
		omis_write_int(w, s->exit_status);
		omis_write_int(w, s->world_size);
		omis_write_int(w, s->processes);
		omis_write_int(w, s->ranks);
		omis_write_int(w, s->nodes);
		omis_write_int(w, s->samples);
		omis_write_list_end(w);
	}
}

/* --- calls */

static struct history_call *call_of(struct reading *r, const struct history_call *like)
{
	struct history_call *c;

	for (size_t i = 0; i < r->ncall; i++)
		if (str_eq(r->call[i].name, like->name))
			return &r->call[i];
	if (array_grow(&r->call, &r->call_cap, r->ncall + 1, sizeof(*r->call), HISTORY_CALLS_MAX))
		return NULL;
	c = &r->call[r->ncall++];
	*c = (struct history_call){ .name = str_dup(like->name), .class = str_dup(like->class) };
	return c->name && c->class ? c : NULL;
}

static void see_calls(void *arg, const struct history_job *j)
{
	struct reading *r = arg;

	if (!is_in(r, j))
		return;
	r->samples++;
	r->first = r->first && r->first < j->wall - j->span_ms * NSEC_PER_MSEC
			   ? r->first
			   : j->wall - j->span_ms * NSEC_PER_MSEC;
	r->last = larger(r->last, j->wall);
	r->covered_ms += j->span_ms;
	r->process_ms += j->span_ms * larger(j->alive, j->counted);
	r->counted_ms += j->span_ms * j->counted;
	r->volume_ms += j->span_ms * j->volumes;
	r->missing += j->missing;
	r->ranks = larger(r->ranks, j->ranks);
	r->nodes = larger(r->nodes, j->nodes);
	r->fell += (j->flags & HISTORY_FELL) != 0;
	for (size_t i = 0; i < j->ncall; i++) {
		struct history_call *c = call_of(r, &j->call[i]);

		if (!c) {
			r->rc = -ERR_NOMEM;
			return;
		}
		c->count += j->call[i].count;
		c->delay_ns += j->call[i].delay_ns;
		c->bytes_out += j->call[i].bytes_out;
		c->bytes_in += j->call[i].bytes_in;
	}
}

static void answer_calls(struct reading *r, struct omis_writer *w)
{
	omis_write_int(w, r->first);
	omis_write_int(w, r->last);
	omis_write_int(w, r->samples);
	omis_write_int(w, r->covered_ms * NSEC_PER_MSEC);
	omis_write_float(w, (double)r->process_ms / 1e3);
	omis_write_float(w, (double)r->counted_ms / 1e3);
	omis_write_float(w, (double)r->volume_ms / 1e3);
	omis_write_int(w, r->ranks);
	omis_write_int(w, r->nodes);
	omis_write_int(w, r->missing);
	omis_write_int(w, r->fell);
	for (size_t i = 0; i < r->ncall; i++) {
		omis_write_list(w);
		omis_write_string(w, r->call[i].name);
		omis_write_string(w, r->call[i].class);
		omis_write_int(w, r->call[i].count);
		omis_write_int(w, r->call[i].delay_ns);
		omis_write_int(w, r->call[i].bytes_out);
		omis_write_int(w, r->call[i].bytes_in);
		omis_write_list_end(w);
	}
}

/* --- samples */

static void see_sample(void *arg, const struct history_job *j)
{
	struct reading *r = arg;
	struct sample_kept *s;

	if (!is_in(r, j))
		return;
	if (array_grow(&r->sample, &r->sample_cap, r->nsample + 1, sizeof(*r->sample),
		       SAMPLES_MAX)) {
		r->rc = -ERR_LIMIT;
		return;
	}
	s = &r->sample[r->nsample++];
	*s = (struct sample_kept){ .job = *j };
	s->job.job = s->job.program = NULL;
	s->job.call = NULL;
	for (size_t i = 0; i < j->ncall; i++) {
		s->count += j->call[i].count;
		s->delay_ns += j->call[i].delay_ns;
		s->bytes_out += j->call[i].bytes_out;
		s->bytes_in += j->call[i].bytes_in;
	}
}

static void answer_samples(struct reading *r, struct omis_writer *w)
{
	for (size_t i = 0; i < r->nsample; i++) {
		const struct sample_kept *s = &r->sample[i];
		const int64_t v[] = { s->job.wall,	s->job.span_ms * NSEC_PER_MSEC,
				      s->job.processes, s->job.alive,
				      s->job.ranks,	s->job.nodes,
				      s->job.missing,	s->job.counted,
				      s->job.volumes,	s->job.answered,
				      s->job.in_mpi,	s->job.cpu_ms,
				      s->job.rss,	s->job.rss_max,
				      s->count,		s->delay_ns,
				      s->bytes_out,	s->bytes_in };

		omis_write_list(w);
		for (size_t k = 0; k < ARRAY_LEN(v); k++)
			omis_write_int(w, v[k]);
		omis_write_list_end(w);
	}
}

/* --- ranks: the last sample of each job up to the requested moment */

static struct rank_set *set_of(struct reading *r, const char *job)
{
	struct rank_set *s;

	for (size_t i = 0; i < r->nset; i++)
		if (str_eq(r->set[i].job, job))
			return &r->set[i];
	if (array_grow(&r->set, &r->set_cap, r->nset + 1, sizeof(*r->set), JOBS_MAX))
		return NULL;
	s = &r->set[r->nset++];
	*s = (struct rank_set){ .job = str_dup(job), .wall = INT64_MIN };
	return s->job ? s : NULL;
}

static int add_ranks(struct rank_set *s, const struct history_ranks *in)
{
	size_t was = s->n && s->nodes ? strlen(s->nodes) : 0, more = strlen(in->nodes);
	char *nodes = realloc(s->nodes, was + more + 2);

	if (!nodes)
		return -ERR_NOMEM;
	s->nodes = nodes;
	if (was)
		nodes[was++] = ' ';
	memcpy(nodes + was, in->nodes, more + 1);
	if (array_grow(&s->rank, &s->cap, s->n + in->n, sizeof(*s->rank), HISTORY_RANKS_MAX))
		return -ERR_NOMEM;
	memcpy(s->rank + s->n, in->rank, in->n * sizeof(*s->rank));
	s->n += in->n;
	return 0;
}

static void see_ranks(void *arg, const struct history_ranks *in)
{
	struct reading *r = arg;
	struct rank_set *s;

	if (!is_of(r, in->job) || in->wall - in->span_ms * NSEC_PER_MSEC >= r->to ||
	    in->wall <= r->from)
		return;
	s = set_of(r, in->job);
	if (!s) {
		r->rc = -ERR_NOMEM;
		return;
	}
	/* prefers the interval that contains the moment, else the last one before it */
	if (s->rank && (in->wall < s->wall || (s->wall >= r->to && in->wall != s->wall)))
		return;
	if (in->wall != s->wall)
		s->n = 0;
	s->wall = in->wall;
	s->span_ms = in->span_ms;
	if (add_ranks(s, in))
		r->rc = -ERR_NOMEM;
}

static void answer_ranks(struct reading *r, struct omis_writer *w)
{
	for (size_t i = 0; i < r->nset; i++) {
		const struct rank_set *s = &r->set[i];

		omis_write_list(w);
		omis_write_string(w, s->job);
		omis_write_int(w, s->wall);
		omis_write_int(w, s->span_ms * NSEC_PER_MSEC);
		omis_write_float(w, HISTORY_RANK_ERROR);
		omis_write_string(w, s->nodes);
		omis_write_list(w);
		for (unsigned k = 0; k < CALL_CLASSES; k++)
			omis_write_string(w, call_class_name(k));
		omis_write_list_end(w);
		for (size_t k = 0; k < s->n; k++) {
			omis_write_list(w);
			omis_write_int(w, s->rank[k].rank);
			for (unsigned f = 0; f < HISTORY_COLUMNS; f++)
				omis_write_float(w, (double)s->rank[k].value[f]);
			omis_write_list_end(w);
		}
		omis_write_list_end(w);
	}
}

/* --- the request */

static int add_answer(struct reading *r, const struct history_outcome *o)
{
	struct reply *into = run_reply(r->c.run);
	struct buf b = BUF_INIT(SERVICE_VALUE_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	int rc = r->rc;

	if (!rc)
		r->answer(r, &w);
	if (rc == -ERR_LIMIT || (!rc && b.failed))
		rc = reply_add_error(into, r->c.action, NULL, STATUS_PARAMETER_ERROR,
				     "the answer is too long: choose a job, or less time");
	else if (rc)
		rc = reply_add(into, r->c.action, NULL, status_from_err(rc), err_name(rc));
	else
		rc = reply_add_n(into, r->c.action, NULL, STATUS_OK, buf_bytes(&b));
	if (o->is_partial)
		reply_add_missing(into, "history",
				  "the disk fails: the newest samples are missing");
	buf_done(&b);
	return rc;
}

static void on_done(void *arg, const struct history_outcome *o)
{
	struct reading *r = arg;
	struct run *run = r->c.run;

	add_answer(r, o);
	reading_free(r);
	run_here_done(run);
}

static void abandon(void *arg)
{
	struct reading *r = arg;

	history_query_cancel(r->query);
	reading_free(r);
}

struct way {
	void (*on_job)(void *arg, const struct history_job *j);
	void (*on_ranks)(void *arg, const struct history_ranks *ranks);
	void (*answer)(struct reading *r, struct omis_writer *w);
};

static int begin(struct service_call *c, struct reading *r, const struct way *way)
{
	const struct history_visit visit = { way->on_job, way->on_ranks, r };
	struct history_store *store = history_store(c->services->conf.history);
	struct err e = { 0 };
	int rc;

	r->c = *c;
	r->answer = way->answer;
	smap_init(&r->open);
	rc = store ? history_query(store, &visit, on_done, &r->query, &e)
		   : err_set(&e, ERR_NOTFOUND, "this mainsm keeps no history");
	if (rc) {
		reading_free(r);
		return reply_add(c->into, c->action, NULL,
				 store ? status_from_err(rc) : STATUS_UNSPECIFIED_ERROR, e.text);
	}
	run_set_abandon(c->run, abandon, r);
	return 1;
}

/* A time of 0: from the beginning, or until now. */
static int read_between(struct service_call *c, const char *job, unsigned from, const struct way *w)
{
	struct reading *r = calloc(1, sizeof(*r));

	if (!r)
		return -ERR_NOMEM;
	r->job = str_dup(job);
	r->from = service_int(c, from);
	r->to = service_int(c, from + 1);
	if (r->to <= 0)
		r->to = INT64_MAX;
	if (r->job)
		return begin(c, r, w);
	free(r);
	return -ERR_NOMEM;
}

static int history_jobs(struct service_call *c)
{
	return read_between(c, "", 0, &(struct way){ see_run, NULL, answer_jobs });
}

static int history_calls(struct service_call *c)
{
	return read_between(c, service_text(c, 0), 1,
			    &(struct way){ see_calls, NULL, answer_calls });
}

static int history_samples(struct service_call *c)
{
	return read_between(c, service_text(c, 0), 1,
			    &(struct way){ see_sample, NULL, answer_samples });
}

static int history_ranks(struct service_call *c)
{
	return read_between(c, service_text(c, 0), 1,
			    &(struct way){ NULL, see_ranks, answer_ranks });
}

const struct service mainsm_history_services[] = {
	{ "omig_history_calls", history_calls },
	{ "omig_history_jobs", history_jobs },
	{ "omig_history_ranks", history_ranks },
	{ "omig_history_samples", history_samples },
	{ 0 },
};
