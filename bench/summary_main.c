/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of `omig run --summary`, without and with call sites: processor time and time of a whole
 * run, beside those of the same run that is only counted. They run in turns, so that other load
 * concerns all alike. Both values include the collector; only the second one includes the monitor's
 * daemons.
 */
#include "bench/bench.h"
#include "common/base/array.h"

#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define TURNS 15
#define ROUNDS "150000" /* some seconds: several readings of the job */

struct spent {
	double cpu_ms, wall_ms;
};

static char here[PATH_MAX]; /* the build folder */

/* Runs a command without output. A status other than 0 ends the benchmark. */
static struct spent spend(char *const *argv)
{
	int64_t begin = bench_now();
	posix_spawn_file_actions_t quiet;
	struct rusage used;
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", 1, 0);
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", 1, 0);
	if (posix_spawnp(&pid, argv[0], &quiet, NULL, argv, environ) ||
	    wait4(pid, &status, 0, &used) != pid || status)
		bench_fail("%s %s does not work", argv[0], argv[1]);
	posix_spawn_file_actions_destroy(&quiet);
	return (struct spent){
		.cpu_ms = 1e3 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
			  (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3,
		.wall_ms = (double)(bench_now() - begin) / 1e6,
	};
}

/* How the program is run, and the names of its figures. */
static const struct way {
	const char *flags[2], *cpu, *wall;
} ways[] = {
	{ { "--measure=partner", "--waits=20s" },
	  "summary.counting.cpu.ms",
	  "summary.counting.ms" },
	{ { "--summary", "--waits=20s" }, "summary.cpu.ms", "summary.ms" },
	{ { "--summary", "--callsites" }, "summary.sites.cpu.ms", "summary.sites.ms" },
};
#define WAYS ARRAY_LEN(ways)

static struct spent run(const struct way *how)
{
	char omig[2 * PATH_MAX], program[2 * PATH_MAX], flag[2][64],
		two[] = "--", mpirun[] = "mpirun.openmpi", n[] = "-n", ranks[] = "2",
		rounds[] = "--rounds", count[] = ROUNDS, verb[] = "run";
	char *argv[] = { omig, verb,  flag[0], flag[1], two,   mpirun,
			 n,    ranks, program, rounds,	count, NULL };

	snprintf(omig, sizeof(omig), "%sbin/omig", here);
	snprintf(program, sizeof(program), "%stests/system/steady.openmpi", here);
	for (int i = 0; i < 2; i++)
		snprintf(flag[i], sizeof(flag[i]), "%s", how->flags[i]);
	return spend(argv);
}

static void own_monitor(char *folder)
{
	char state[PATH_MAX], place[PATH_MAX];

	if (!mkdtemp(folder))
		bench_fail("%s", folder);
	snprintf(state, sizeof(state), "%s/state", folder);
	snprintf(place, sizeof(place), "%s/run", folder);
	setenv("OMIG_STATE_DIR", state, 1);
	setenv("OMIG_RUNTIME_DIR", place, 1);
	setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
	setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
	unsetenv("OMIG_MAINSM");
}

static void end_monitor(char *folder)
{
	char omig[2 * PATH_MAX], stop[] = "stop", rm[] = "rm", all[] = "-rf";
	char *ends[] = { omig, stop, NULL }, *removes[] = { rm, all, folder, NULL };

	snprintf(omig, sizeof(omig), "%sbin/omig", here);
	spend(ends);
	spend(removes);
}

int main(void)
{
	char folder[] = "/tmp/omig-bench.XXXXXX";
	struct bench_series cpu[WAYS] = { { 0 } }, wall[WAYS] = { { 0 } };

	bench_build(here);
	own_monitor(folder);
	run(&ways[0]); /* starts the daemons */
	for (size_t i = 0; i < TURNS; i++)
		for (size_t k = 0; k < WAYS; k++) {
			size_t which = (i + k) % WAYS;
			struct spent s = run(&ways[which]);

			bench_add(&cpu[which], s.cpu_ms);
			bench_add(&wall[which], s.wall_ms);
		}
	for (size_t i = 0; i < WAYS; i++)
		bench_print(ways[i].cpu, "ms", &cpu[i], i ? ways[0].cpu : NULL);
	for (size_t i = 0; i < WAYS; i++)
		bench_print(ways[i].wall, "ms", &wall[i], i ? ways[0].wall : NULL);
	end_monitor(folder);
	return 0;
}
