/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view/jobs.h"

#include "common/base/err.h"
#include "tools/term/table.h"

#include <math.h>
#include <stdio.h>
#include <sys/wait.h>

#define STATE_BYTES 128

static size_t count_running(const struct jobs *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n; i++)
		n += j->job[i].alive > 0;
	return n;
}

static const char *s_of(size_t n)
{
	return n == 1 ? "" : "s";
}

static void say_summary(const struct jobs *j, bool all, struct buf *out)
{
	size_t run = count_running(j), ended = j->n - run;

	if (!j->n) {
		buf_puts(out, "no job is known yet; start one with: omig run -- PROGRAM ...\n");
		return;
	}
	if (run)
		buf_printf(out, "%zu job%s run%s on %zu node%s, with %zu %s%s", run, s_of(run),
			   run == 1 ? "s" : "", j->nodes, s_of(j->nodes),
			   j->ranks ? j->ranks : j->processes, j->ranks ? "rank" : "process",
			   j->ranks	       ? s_of(j->ranks)
			   : j->processes == 1 ? ""
					       : "es");
	else
		buf_puts(out, "no job runs");
	if (ended)
		buf_printf(out, "; %zu ha%s ended%s", ended, ended == 1 ? "s" : "ve",
			   run || all ? "" : " (omig jobs --all)");
	buf_putc(out, '\n');
}

static void say_end(const struct job *job, char *out, size_t size)
{
	char ago[TABLE_NUMBER_BYTES], how[32] = "";
	int status = job->exit_status;

	if (status > 0 && WIFSIGNALED(status))
		snprintf(how, sizeof(how), " (signal %d)", WTERMSIG(status));
	else if (status > 0)
		snprintf(how, sizeof(how), " (status %d)", WEXITSTATUS(status));
	if (job->is_cut)
		snprintf(out, size, "seen last %s ago: its end is not known",
			 table_duration(ago, job->ended_s));
	else if (isnan(job->ended_s))
		snprintf(out, size, "ended%s", how);
	else
		snprintf(out, size, "ended %s ago%s", table_duration(ago, job->ended_s), how);
}

static const char *state_text(const struct job *job, char out[STATE_BYTES])
{
	size_t n;

	if (!job->alive) {
		say_end(job, out, STATE_BYTES);
		return out;
	}
	if (job->unreachable == job->alive)
		return "unreachable";
	if (job->stopped == job->alive)
		return "stopped";
	n = (size_t)snprintf(out, STATE_BYTES, "run");
	if (job->ranks_ended)
		n += (size_t)snprintf(out + n, STATE_BYTES - n, ", %zu rank%s ended",
				      job->ranks_ended, s_of(job->ranks_ended));
	if (job->stopped)
		n += (size_t)snprintf(out + n, STATE_BYTES - n, ", %zu stopped", job->stopped);
	if (job->unreachable)
		snprintf(out + n, STATE_BYTES - n, ", %zu unreachable", job->unreachable);
	return out;
}

static void rank_cells(struct table *tab, const struct job *job)
{
	if (!job->ranks)
		table_cell(tab, "-");
	else if (job->world_size > (int64_t)job->ranks)
		table_cell(tab, "%zu/%lld", job->ranks, (long long)job->world_size);
	else
		table_cell(tab, "%zu", job->ranks);
	if (job->answered)
		table_cell(tab, "%zu/%zu", job->in_mpi, job->answered);
	else
		table_cell(tab, "-");
}

static void row(struct table *tab, const struct job *job)
{
	char text[TABLE_NUMBER_BYTES], state[STATE_BYTES];

	table_cell(tab, "%s", job->name[0] ? job->name : "-");
	table_cell(tab, "%s", job->program);
	table_cell(tab, "%zu", job->nodes);
	table_cell(tab, "%zu", job->processes);
	rank_cells(tab, job);
	table_cell(tab, "%s", table_duration(text, job_seconds(job)));
	table_cell(tab, "%s", state_text(job, state));
}

int jobs_show(const struct term *t, const struct jobs *j, bool all, struct buf *out)
{
	static const char *const heads[] = { "JOB",   "PROGRAM", "NODES", "PROCESSES",
					     "RANKS", "IN MPI",	 "TIME",  "STATE" };
	struct table *tab;

	say_summary(j, all, out);
	if (!(all ? j->n : count_running(j)))
		return 0;
	tab = table_new(8, heads, "llrrrrrl");
	for (size_t i = 0; tab && i < j->n; i++)
		if (all || j->job[i].alive)
			row(tab, &j->job[i]);
	return table_end(tab, t->is_tty ? t->cols : 0, out);
}

static void job_json(struct json *to, const struct job *job)
{
	json_object(to);
	json_key_str(to, "job", job->name);
	json_key_str(to, "program", job->program);
	json_key_bool(to, "running", job->alive > 0);
	json_key_i64(to, "nodes", (int64_t)job->nodes);
	json_key_i64(to, "processes", (int64_t)job->processes);
	json_key_i64(to, "alive", (int64_t)job->alive);
	json_key_i64(to, "stopped", (int64_t)job->stopped);
	json_key_i64(to, "unreachable", (int64_t)job->unreachable);
	json_key_i64(to, "ranks", (int64_t)job->ranks);
	json_key_i64(to, "ranks_ended", (int64_t)job->ranks_ended);
	json_key_i64(to, "world_size", job->world_size);
	json_key_i64(to, "ranks_in_mpi", (int64_t)job->in_mpi);
	json_key_i64(to, "ranks_answered", (int64_t)job->answered);
	json_key_double(to, "seconds", job_seconds(job));
	json_key_double(to, "ended_seconds_ago", job->ended_s);
	if (job->exit_status < 0)
		json_key_str(to, "exit_status", NULL);
	else
		json_key_i64(to, "exit_status", job->exit_status);
	json_key_bool(to, "history", job->is_past);
	json_key_bool(to, "end_seen", !job->alive && !job->is_cut);
	json_object_end(to);
}

void jobs_to_json(struct json *to, const struct jobs *j, bool all)
{
	json_array(to);
	for (size_t i = 0; i < j->n; i++)
		if (all || j->job[i].alive)
			job_json(to, &j->job[i]);
	json_array_end(to);
}
