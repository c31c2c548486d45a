/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/history/live.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "mainsm/history/live_internal.h"

#include <stdlib.h>
#include <string.h>

void live_init(struct live *l, nsec_t wall)
{
	*l = (struct live){ .started = wall };
	smap_init(&l->jobs);
}

static void part_free(struct live_part *p)
{
	list_del(&p->in_parts);
	for (size_t i = 0; i < p->ncall; i++)
		free(p->call[i].name);
	free(p->call);
	free(p->rank);
	free(p);
}

static void job_free(struct live_job *j)
{
	for (struct list *i = list_first(&j->parts); i; i = list_first(&j->parts))
		part_free(list_entry(i, struct live_part, in_parts));
	for (size_t i = 0; i < j->ncall; i++) {
		free((char *)j->call[i].name);
		free((char *)j->call[i].class);
	}
	free(j->call);
	free(j->rank);
	free(j->name);
	free(j);
}

void live_done(struct live *l)
{
	for (struct smap_iter i = { 0 }; smap_next(&l->jobs, &i);)
		job_free(i.value);
	smap_done(&l->jobs);
}

/* --- the directory */

static struct live_job *add_job(struct live *l, const char *name)
{
	struct live_job *j = l->jobs.n < LIVE_JOBS_MAX ? calloc(1, sizeof(*j)) : NULL;

	if (!j) {
		l->refused++;
		return NULL;
	}
	list_init(&j->parts);
	j->live = l;
	j->age_s = -1;
	j->name = str_dup(name);
	if (j->name && !smap_put(&l->jobs, name, j, NULL))
		return j;
	job_free(j);
	return NULL;
}

static void begin_round(struct live_job *j, uint64_t round)
{
	j->round = round;
	j->processes = j->alive = j->ranks = j->nodes = j->world_size = 0;
	j->exit_status = -1;
}

static void note_process(struct live_job *j, const struct object *p)
{
	bool has_ended = p->state == MSG_STATE_ENDED;

	j->processes++;
	j->alive += !has_ended;
	j->ranks += p->rank >= 0;
	if (p->world_size > j->world_size)
		j->world_size = p->world_size;
	if (has_ended && j->exit_status <= 0)
		j->exit_status = p->exit_status;
	if (!j->program[0] || p->rank == 0)
		str_copy(j->program, sizeof(j->program), p->name);
}

static void scan_node(struct live *l, const struct object *node)
{
	const struct live_job *last = NULL;

	list_each (i, &node->children) {
		const struct object *p = list_entry(i, struct object, sibling);
		struct live_job *j = p->job[0] ? smap_find(&l->jobs, p->job) : NULL;

		if (!j && p->job[0])
			j = add_job(l, p->job);
		if (!j)
			continue;
		if (j->round != l->round)
			begin_round(j, l->round);
		j->nodes += j != last;
		last = j;
		note_process(j, p);
	}
}

/* Starts a later run of the same job name. */
static void run_again(struct live_job *j)
{
	j->is_done = false;
	j->age_s = -1;
	j->began = j->sampled_at = j->ranks_at = 0;
}

static bool is_due(const struct live_job *j)
{
	return !j->is_done && (!j->sampled_at || !j->alive);
}

bool live_scan(struct live *l, const struct directory *d)
{
	bool has_due = false;

	l->round++;
	list_each (i, directory_sites(d))
		list_each (k, &list_entry(i, struct object, sibling)->children)
			scan_node(l, list_entry(k, struct object, sibling));
	for (struct smap_iter i = { 0 }; smap_next(&l->jobs, &i);) {
		struct live_job *j = i.value;

		if (j->round != l->round)
			j->alive = 0;
		if (j->round != l->round && j->is_done) {
			smap_del(&l->jobs, j->name);
			job_free(j);
			continue;
		}
		if (j->is_done && j->alive)
			run_again(j);
		has_due |= is_due(j);
	}
	return has_due;
}

bool live_has_work(const struct live *l)
{
	for (struct smap_iter i = { 0 }; smap_next(&l->jobs, &i);)
		if (!((const struct live_job *)i.value)->is_done)
			return true;
	return false;
}

/* --- samples */

void live_ask(struct live_job *j)
{
	j->sum.counted = j->sum.volumes = j->sum.answered = j->sum.in_mpi = 0;
	j->sum.rss = j->sum.rss_max = 0;
	j->answered_nodes = 0;
	j->nrank = 0;
}

void live_sample(struct live_job *j, nsec_t wall, struct history_job *out)
{
	if (!j->began && j->age_s >= 0)
		j->began = wall - (nsec_t)(j->age_s * 1e9);
	*out = j->sum;
	out->wall = wall;
	out->job = j->name;
	out->program = j->program;
	out->began_ms = j->began / NSEC_PER_MSEC;
	if (j->sampled_at && wall > j->sampled_at)
		out->span_ms = (wall - j->sampled_at) / NSEC_PER_MSEC;
	else if (!j->sampled_at && j->began >= j->live->started && wall > j->began)
		out->span_ms = (wall - j->began) / NSEC_PER_MSEC;
	out->world_size = j->world_size;
	out->processes = j->processes;
	out->alive = j->alive;
	out->ranks = j->ranks;
	out->nodes = j->nodes;
	out->missing = j->nodes > j->answered_nodes ? j->nodes - j->answered_nodes : 0;
	out->exit_status = j->alive ? -1 : j->exit_status;
	out->flags |= j->alive ? 0 : HISTORY_ENDED;
	/* counters of the last interval are no longer known */
	out->counted = j->alive ? out->counted : j->counted;
	out->volumes = j->alive ? out->volumes : j->volumes;
	j->counted = out->counted;
	j->volumes = out->volumes;
	out->call = j->call;
	out->ncall = j->ncall;
	j->sampled_at = wall;
}

static void clear_calls(struct live_job *j)
{
	for (size_t i = 0; i < j->ncall; i++)
		j->call[i].count = j->call[i].delay_ns = j->call[i].bytes_out =
			j->call[i].bytes_in = 0;
}

void live_next(struct live_job *j)
{
	j->sum = (struct history_job){ 0 };
	j->answered_nodes = 0;
	j->nrank = 0;
	j->wants_ranks = false;
	clear_calls(j);
	j->is_done = !j->alive;
}
