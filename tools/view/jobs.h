/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs for `omig jobs`, derived from all known processes. */
#ifndef TOOLS_VIEW_JOBS_H
#define TOOLS_VIEW_JOBS_H

#include "common/json/json.h"
#include "tools/libomis/omis.h"
#include "tools/term/term.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cmd_common;

#define JOB_NAME_BYTES 64

struct job {
	char name[JOB_NAME_BYTES]; /* "": its processes have none */
	/* program of the lowest rank; without ranks, of the first process */
	char program[JOB_NAME_BYTES];
	size_t processes, nodes;
	size_t alive, stopped, unreachable; /* processes; alive has both others */
	size_t ranks, ranks_ended;
	int64_t world_size; /* 0: no MPI */
	size_t in_mpi, answered; /* ranks in a call now, and ranks that answered */
	int exit_status; /* as of wait(), the first that is not 0; -1: none is known */
	bool is_past; /* from the history: it does not exist now */
	bool is_cut; /* the end was not seen: ended_s is since its last sample */
	double age_s; /* since its first process began; NaN: not known */
	double ended_s; /* since its last process ended; NaN: running, or not known */
	int64_t lowest; /* rank; -1: none */
	const char *node; /* of the last process, while the jobs are read; then NULL */
};

struct jobs {
	struct job *job; /* owned; by name, numbers in names count as numbers */
	size_t n, cap;
	size_t nodes; /* with a living process */
	size_t ranks, processes; /* living ones */
};

/* The fields of proc_get_info that jobs_read() expects: age and ended_age. */
#define JOBS_PROC_FLAGS (1 << 26 | 1 << 27)

/*
 * Reads the replies of omig_tree(), proc_get_info([],JOBS_PROC_FLAGS) and omig_calls_now([]). The
 * last two may be NULL: ages and calls are then unknown. False: no memory; *j is empty.
 */
bool jobs_read(struct jobs *j, const Omis_value *tree, const Omis_object_result *info,
	       const Omis_object_result *now);
void jobs_done(struct jobs *j);

/* Sorts by name, and runs of the same name by their end. */
void jobs_sort(struct jobs *j);

/*
 * Chooses the job with ranks if none is named: the running one, else the one that has ended.
 * Returns an exit status; reports if there is none, or several.
 */
int jobs_choose(char out[JOB_NAME_BYTES]);

/*
 * Opens a session, chooses the job if *job is NULL, calls run(arg), and closes the session. *job is
 * valid in run(). Returns an exit status: that of run(), or of a signal that came.
 */
int jobs_serve(const struct cmd_common *c, const char **job, int (*run)(void *arg), void *arg);

/* Returns its duration so far, or in total; NaN: not known. */
double job_seconds(const struct job *job);

/* Writes a sentence, and a table of the running jobs, or of all. */
int jobs_show(const struct term *t, const struct jobs *j, bool all, struct buf *out);
/* Writes an array. */
void jobs_to_json(struct json *to, const struct jobs *j, bool all);

#endif
