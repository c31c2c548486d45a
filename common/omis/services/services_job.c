/* SPDX-License-Identifier: Apache-2.0 */
/* Applications, by the names that users have given them. */
#include "common/omis/services/services.h"

static const struct omis_service jobs[] = {
	{ EXT_SERVICE("omig", "omig_job_attach", MANIP, 0, TOP, OBSERVE, DONE), .flags = OMIS_SCOPE,
	  .param = { P_STRING("job") }, .result = "n",
	  .help = "Attaches all processes of an application, by the name of its job as omig_tree "
		  "shows it, with their nodes and sites." },
	{ EXT_SERVICE("omig", "omig_job_find", INFO, 0, TOP, OBSERVE, DONE),
	  .param = { P_STRING("word") }, .result = "job",
	  .help = "The name of the one job that a word fits: the job of that name, else a step of "
		  "it (4711.0 of 4711), else the job whose program has that name. \"\" when there "
		  "is none; PARAMETER_ERROR names the jobs when several fit. Jobs that run come "
		  "before those that have ended. A job whose programs began less than 10 s ago is "
		  "waited for until its first process is known; the word \"\" waits so for any job "
		  "while no process is known at all." },
	{ EXT_SERVICE("omig", "omig_job_sample", INFO, 'n', NODE, OBSERVE, DONE),
	  .param = { NODES, P_STRINGS("jobs") },
	  .result = "time_ns, job, program, lowest_rank, world_size, processes, alive, ranks, "
		    "counted, volumes, answered, in_mpi, age_s, cpu_s, rss, rss_max, [[name, "
		    "class, count, delay_ns, bytes_out, bytes_in]...], [[rank, pid, state, "
		    "counts, cpu_s, rss, count, bytes_out, bytes_in, delay_ns of each "
		    "class...]...]",
	  .help = "What each job has done on a node, an entry for each job: sums over its "
		  "processes since their calls were counted. Nothing is switched on for it: "
		  "counted and volumes are the living processes whose calls, and bytes, are "
		  "counted now, in_mpi those of the answered ones that are in a call. Of the jobs "
		  "that are named also each rank; counts: bit 0 time, bit 1 bytes." },
	{ EXT_SERVICE("omig", "omig_job_token", MANIP, 0, TOP, ADMIN, DONE),
	  .param = { P_STRING("job"), P_STRING_OR_NONE("site") }, .result = "connection_string",
	  .help = "A connection string for the environment of a job's programs: it lets hosts (of "
		  "that site, \"\" = any) in as lms, and no tool. It ends a day after the last "
		  "process of the job." },
};

const struct omis_services omis_services_jobs = SERVICES(jobs);
