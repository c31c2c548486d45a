/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/jobs.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/session/now_fields.h"
#include "tools/session/reply_each.h"
#include "tools/session/session.h"
#include "tools/term/signals.h"
#include "tools/libomis/tree_fields.h"
#include "tools/view/top.h"
#include "tools/view/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INFO_AGE, INFO_ENDED };

#define NAMES_SHOWN_BYTES 300 /* of jobs in a message: some lines on a screen */
#define NAMES_MAX_BYTES (NAMES_SHOWN_BYTES + 2 * JOB_NAME_BYTES)

struct member {
	const char *token; /* the tree's */
	size_t job;
};

struct reading {
	struct jobs *jobs;
	struct member *member; /* by token */
	size_t n;
};

/* --- the tree */

static struct job *find_job(struct jobs *j, const char *name)
{
	struct job *job;

	for (size_t i = j->n; i > 0; i--) /* processes of a job are adjacent */
		if (str_eq(j->job[i - 1].name, name))
			return &j->job[i - 1];
	if (array_grow(&j->job, &j->cap, j->n + 1, sizeof(*j->job), OMIS_OBJECTS_MAX))
		return NULL;
	job = &j->job[j->n++];
	*job = (struct job){ .exit_status = -1, .age_s = NAN, .ended_s = NAN, .lowest = -1 };
	str_copy(job->name, sizeof(job->name), name);
	return job;
}

static void add_rank(struct job *job, const Omis_value *o, bool has_ended)
{
	int64_t rank = value_int(o, TREE_RANK);

	if (rank < 0)
		return;
	job->ranks++;
	job->ranks_ended += has_ended;
	if (value_int(o, TREE_WORLD) > job->world_size)
		job->world_size = value_int(o, TREE_WORLD);
	if (job->lowest < 0 || rank < job->lowest) {
		job->lowest = rank;
		str_copy(job->program, sizeof(job->program), value_text(o, TREE_NAME));
	}
}

static void add_process(struct job *job, const Omis_value *o)
{
	const char *state = value_text(o, TREE_STATE), *node = value_text(o, TREE_PARENT);
	bool has_ended = str_eq(state, "ended") || str_eq(state, "zombie");
	int status = (int)value_int(o, TREE_EXIT);

	if (!job->node || !str_eq(job->node, node))
		job->nodes++;
	job->node = node;
	if (!job->processes++)
		str_copy(job->program, sizeof(job->program), value_text(o, TREE_NAME));
	job->alive += !has_ended;
	job->stopped += str_eq(state, "stopped");
	job->unreachable += str_eq(state, "unreachable");
	if (has_ended && job->exit_status <= 0)
		job->exit_status = status;
	add_rank(job, o, has_ended);
}

static int by_token(const void *a, const void *b)
{
	return strcmp(((const struct member *)a)->token, ((const struct member *)b)->token);
}

/* Processes follow their node, grouped by job. */
static bool read_tree(struct reading *r, const struct tree *tree)
{
	const char *counted = NULL;

	r->member = calloc(tree->n + 1, sizeof(*r->member));
	for (size_t i = 0; r->member && i < tree->n; i++) {
		const Omis_value *o = tree->object[i];
		struct job *job;
		size_t alive;

		if (tree_level(o) != TREE_PROCESSES)
			continue;
		job = find_job(r->jobs, value_text(o, TREE_JOB));
		if (!job)
			return false;
		alive = job->alive;
		add_process(job, o);
		r->member[r->n++] =
			(struct member){ value_text(o, TREE_TOKEN), (size_t)(job - r->jobs->job) };
		if (job->alive == alive)
			continue;
		r->jobs->processes++;
		r->jobs->ranks += value_int(o, TREE_RANK) >= 0;
		if (!counted || !str_eq(counted, value_text(o, TREE_PARENT)))
			r->jobs->nodes++;
		counted = value_text(o, TREE_PARENT);
	}
	if (r->n > 1)
		qsort(r->member, r->n, sizeof(*r->member), by_token);
	return r->member;
}

/* --- reports of hosts about processes */

static struct job *job_of(const struct reading *r, const char *token)
{
	const struct member key = { token, 0 },
			    *m = r->n ? bsearch(&key, r->member, r->n, sizeof(key), by_token)
				      : NULL;

	return m ? &r->jobs->job[m->job] : NULL;
}

static void add_info(void *arg, const char *token, const Omis_value *v)
{
	struct job *job = job_of(arg, token);
	double age = value_float(v, INFO_AGE), ended = value_float(v, INFO_ENDED);

	if (!job)
		return;
	if (age >= 0)
		job->age_s = fmax(job->age_s, age); /* NaN is not an age */
	if (ended >= 0 && !job->alive)
		job->ended_s = fmin(job->ended_s, ended);
}

static void add_now(void *arg, const char *token, const Omis_value *v)
{
	struct job *job = job_of(arg, token);
	const Omis_value *thread;
	bool is_known = false, is_in = false;

	if (!job || value_int(v, NOW_SIZE) <= 0)
		return;
	for (size_t i = NOW_FIRST; (thread = value_at(v, i)); i++) {
		int64_t state = value_at(thread, NOW_STATE) ? value_int(thread, NOW_STATE) : -1;

		is_known |= state >= TOP_CALL_IN && state <= TOP_CALL_OUT;
		is_in |= state == TOP_CALL_IN;
	}
	job->answered += is_known;
	job->in_mpi += is_in;
}

static int by_name(const void *a, const void *b)
{
	const struct job *x = a, *y = b;
	int d = strverscmp(x->name, y->name);

	if (d)
		return d;
	return (x->ended_s < y->ended_s) - (x->ended_s > y->ended_s);
}

void jobs_sort(struct jobs *j)
{
	if (j->n > 1)
		qsort(j->job, j->n, sizeof(*j->job), by_name);
}

bool jobs_read(struct jobs *j, const Omis_value *tree, const Omis_object_result *info,
	       const Omis_object_result *now)
{
	struct reading r = { .jobs = j };
	struct tree sorted;
	bool ok;

	*j = (struct jobs){ 0 };
	if (!tree_sort(&sorted, tree))
		return false;
	ok = read_tree(&r, &sorted);
	if (ok) {
		reply_each(info, add_info, &r);
		reply_each(now, add_now, &r);
	} else {
		jobs_done(j);
	}
	for (size_t i = 0; i < j->n; i++)
		j->job[i].node = NULL; /* the tree's, which is the caller's */
	jobs_sort(j);
	free(r.member);
	tree_done(&sorted);
	return ok;
}

void jobs_done(struct jobs *j)
{
	free(j->job);
	*j = (struct jobs){ 0 };
}

/* --- choice of a job */

static int refuse_several(const struct jobs *j, bool alive, size_t n)
{
	struct buf names = BUF_INIT(NAMES_MAX_BYTES);

	for (size_t i = 0; i < j->n && names.n < NAMES_SHOWN_BYTES; i++)
		if (j->job[i].ranks && (j->job[i].alive > 0) == alive)
			buf_printf(&names, "%s%s", names.n ? ", " : "", j->job[i].name);
	cmd_fail(CMD_USAGE, "%zu jobs %s: choose one with --job: %s", n,
		 alive ? "run" : "have ended", buf_str(&names));
	buf_done(&names);
	return CMD_USAGE;
}

static int choose(const struct jobs *j, char out[JOB_NAME_BYTES])
{
	for (int alive = 1; alive >= 0; alive--) {
		size_t n = 0;

		for (size_t i = 0; i < j->n; i++)
			if (j->job[i].ranks && (j->job[i].alive > 0) == alive && !n++)
				str_copy(out, JOB_NAME_BYTES, j->job[i].name);
		if (n)
			return n == 1 ? CMD_OK : refuse_several(j, alive, n);
	}
	return cmd_fail(CMD_NOTFOUND, "no MPI job is known; start one with: omig run -- mpirun "
				      "...");
}

int jobs_choose(char out[JOB_NAME_BYTES])
{
	struct jobs j;
	Omis_value *tree;
	int rc = session_ask_value(&tree, ":omig_tree()");

	if (rc != CMD_OK)
		return rc;
	if (jobs_read(&j, tree, NULL, NULL)) {
		rc = choose(&j, out);
		jobs_done(&j);
	} else {
		rc = cmd_fail(CMD_FAILURE, "no memory");
	}
	omis_value_free(tree);
	return rc;
}

int jobs_serve(const struct cmd_common *c, const char **job, int (*run)(void *arg), void *arg)
{
	char chosen[JOB_NAME_BYTES];
	int rc = session_open_job(c, job);

	if (rc != CMD_OK)
		return rc;
	signals_catch(false);
	if (!*job) {
		rc = jobs_choose(chosen);
		*job = chosen;
	}
	if (rc == CMD_OK)
		rc = run(arg);
	session_close();
	return signals_status(rc);
}

double job_seconds(const struct job *job)
{
	return job->alive || isnan(job->ended_s) ? job->age_s : job->age_s - job->ended_s;
}
