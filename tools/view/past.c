/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/past.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values of omig_history_jobs(). */
enum {
	RUN_JOB,
	RUN_PROGRAM,
	RUN_BEGAN,
	RUN_FIRST,
	RUN_LAST,
	RUN_HAS_ENDED,
	RUN_EXIT_STATUS,
	RUN_WORLD,
	RUN_PROCESSES,
	RUN_RANKS,
	RUN_NODES
};

/* Values of omig_history_ranks(), and of each rank in it. */
enum { SET_JOB, SET_TIME, SET_SPAN, SET_ERROR, SET_NODES, SET_CLASSES, SET_RANKS };
enum {
	PAST_RANK,
	PAST_STATE,
	PAST_COUNTS,
	PAST_CPU,
	PAST_RSS,
	PAST_CALLS_S,
	PAST_OUT_S,
	PAST_IN_S,
	PAST_SHARES
};

/* --- jobs */

static double ago_s(nsec_t now, int64_t then)
{
	return then > 0 ? (double)(now - then) / 1e9 : (double)NAN;
}

/* True: the run is in the list of live jobs, which has more about it. */
static bool is_there(const struct jobs *j, size_t n, const Omis_value *v, nsec_t now)
{
	double seen = ago_s(now, value_int(v, RUN_LAST));

	for (size_t i = 0; i < n; i++)
		if (str_eq(j->job[i].name, value_text(v, RUN_JOB)) &&
		    (isnan(j->job[i].age_s) || seen <= j->job[i].age_s))
			return true;
	return false;
}

static void fill(struct job *job, const Omis_value *v, nsec_t now)
{
	int64_t began = value_int(v, RUN_BEGAN);
	double last = ago_s(now, value_int(v, RUN_LAST));

	*job = (struct job){
		.processes = (size_t)value_int(v, RUN_PROCESSES),
		.nodes = (size_t)value_int(v, RUN_NODES),
		.ranks = (size_t)value_int(v, RUN_RANKS),
		.ranks_ended = (size_t)value_int(v, RUN_RANKS),
		.world_size = value_int(v, RUN_WORLD),
		.exit_status = (int)value_int(v, RUN_EXIT_STATUS),
		.age_s = ago_s(now, began > 0 ? began : value_int(v, RUN_FIRST)),
		.ended_s = last,
		.lowest = -1,
		.is_past = true,
		.is_cut = !value_int(v, RUN_HAS_ENDED),
	};
	str_copy(job->name, sizeof(job->name), value_text(v, RUN_JOB));
	str_copy(job->program, sizeof(job->program), value_text(v, RUN_PROGRAM));
}

bool past_jobs(struct jobs *j, const Omis_value *history, nsec_t now)
{
	const Omis_value *v;
	size_t n = j->n;

	for (size_t i = 0; (v = value_at(history, i)); i++) {
		if (is_there(j, n, v, now))
			continue;
		if (array_grow(&j->job, &j->cap, j->n + 1, sizeof(*j->job), 2 * OMIS_OBJECTS_MAX))
			return false;
		fill(&j->job[j->n++], v, now);
	}
	jobs_sort(j);
	return true;
}

/* --- ranks */

/* The host of that rank in "n1:0-3 n2:4"; its number in the text, or -1. */
static int host_of(const char *nodes, int64_t rank, char *name, size_t size)
{
	int n = 0;

	for (const char *p = nodes; *p; n++) {
		size_t len = strcspn(p, " ");
		const char *colon = memrchr(p, ':', len);
		char *end = NULL;
		int64_t from = colon ? strtoll(colon + 1, &end, 10) : -1, to = from;

		if (end && *end == '-')
			to = strtoll(end + 1, NULL, 10);
		if (colon && rank >= from && rank <= to) {
			size_t k = (size_t)(colon - p);

			k = k < size ? k : size - 1;
			memcpy(name, p, k);
			name[k] = 0;
			return n;
		}
		p += len;
		p += *p == ' ';
	}
	str_copy(name, size, "?");
	return -1;
}

static bool add_node(struct top_sample *s, const char *name)
{
	struct top_node *n;

	if (top_node_find(s, name))
		return true;
	if (array_grow(&s->node, &s->node_cap, s->nnode + 1, sizeof(*s->node), OMIS_OBJECTS_MAX))
		return false;
	n = &s->node[s->nnode++];
	*n = (struct top_node){ .load = NAN,
				.running = NAN,
				.cpus = NAN,
				.mem_bytes = NAN,
				.mem_used_bytes = NAN,
				.cpu_some = NAN,
				.memory_some = NAN,
				.memory_full = NAN,
				.io_some = NAN,
				.io_full = NAN };
	str_copy(n->token, sizeof(n->token), name);
	str_copy(n->name, sizeof(n->name), name);
	return true;
}

static void fill_rank(struct top_rank *r, const Omis_value *classes, const Omis_value *v)
{
	int64_t state = (int64_t)value_float(v, PAST_STATE);

	r->rank = value_int(v, PAST_RANK);
	r->state = state;
	r->cpu = 100 * value_float(v, PAST_CPU);
	r->cpu_s = NAN;
	r->rss_bytes = value_float(v, PAST_RSS);
	r->calls_s = value_float(v, PAST_CALLS_S);
	r->messages_s = NAN; /* no sample has it */
	r->out_s = value_float(v, PAST_OUT_S);
	r->in_s = value_float(v, PAST_IN_S);
	r->call.state = TOP_CALL_UNKNOWN;
	r->mpi = 0;
	for (size_t k = 0; k < TOP_CLASSES; k++)
		r->share[k] = 0;
	for (size_t k = 0; value_at(v, PAST_SHARES + k); k++) {
		double share = 100 * value_float(v, PAST_SHARES + k);

		r->share[top_class_of(value_text(classes, k))] += share;
		r->mpi += share;
	}
}

static bool add_rank(struct top_sample *s, const Omis_value *set, const Omis_value *v)
{
	struct top_rank *r;

	if (array_grow(&s->rank, &s->rank_cap, s->nrank + 1, sizeof(*s->rank), OMIS_OBJECTS_MAX))
		return false;
	r = &s->rank[s->nrank++];
	*r = (struct top_rank){ 0 };
	fill_rank(r, value_at(set, SET_CLASSES), v);
	str_copy(r->job, sizeof(r->job), value_text(set, SET_JOB));
	host_of(value_text(set, SET_NODES), r->rank, r->node, sizeof(r->node));
	return add_node(s, r->node);
}

static bool fill_sample(struct top_sample *s, const Omis_value *history)
{
	const Omis_value *set, *v;

	*s = (struct top_sample){ 0 };
	for (size_t i = 0; (set = value_at(history, i)); i++) {
		if (value_int(set, SET_TIME) > s->wall)
			s->wall = value_int(set, SET_TIME);
		for (size_t k = SET_RANKS; (v = value_at(set, k)); k++)
			if (!add_rank(s, set, v))
				return false;
	}
	return true;
}

/* The longest interval of the samples, in seconds. */
static double span_of(const Omis_value *history)
{
	const Omis_value *set;
	double span = NAN;

	for (size_t i = 0; (set = value_at(history, i)); i++)
		span = fmax(span, (double)value_int(set, SET_SPAN) / 1e9);
	return span;
}

int past_ask_ranks(struct top_sample *s, const char *job, nsec_t at, double *span_s)
{
	char when[CLOCK_TEXT_BYTES];
	Omis_value *v;
	int rc = session_ask(&s->reply, ":omig_history_ranks(\"%s\",%lld,%lld)", job ? job : "",
			     (long long)(at - (job ? PAST_JOB_NS : PAST_RANKS_NS)), (long long)at);

	if (rc != CMD_OK)
		return rc;
	v = session_values(s->reply);
	*span_s = span_of(v);
	if (v && !fill_sample(s, v))
		rc = cmd_fail(CMD_FAILURE, "no memory");
	omis_value_free(v);
	if (rc == CMD_OK && !s->nrank)
		rc = cmd_fail(
			CMD_NOTFOUND,
			"the history has no ranks%s%s at %s; omig jobs --all shows what it has",
			job ? " of " : "", job ? job : "", clock_format_rfc3339(when, at, 0));
	return rc;
}

static bool adds_job(const Omis_value *v, const char *first, struct buf *names)
{
	if (str_eq(value_text(v, RUN_JOB), first))
		return false;
	buf_printf(names, "%s%s", names->n ? ", " : "", value_text(v, RUN_JOB));
	return true;
}

int past_choose(char out[JOB_NAME_BYTES], nsec_t from, nsec_t to)
{
	struct buf names = BUF_INIT(4096);
	const Omis_value *v;
	Omis_value *all;
	int rc = session_ask_value(&all, ":omig_history_jobs(%lld,%lld)", (long long)from,
				   (long long)to);
	size_t n = 0;

	if (rc != CMD_OK)
		return rc;
	*out = 0;
	for (size_t i = 0; (v = value_at(all, i)); i++) {
		n += adds_job(v, out, &names);
		if (!*out)
			str_copy(out, JOB_NAME_BYTES, value_text(v, RUN_JOB));
	}
	if (!n)
		rc = cmd_fail(CMD_NOTFOUND, "the history has no job of that time; omig jobs --all "
					    "shows what it has");
	else if (n > 1)
		rc = cmd_fail(CMD_USAGE, "choose one with --job: %s", buf_str(&names));
	omis_value_free(all);
	buf_done(&names);
	return rc;
}
