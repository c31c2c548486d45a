/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a process start under `omig run`: processor time from its start to its end. It runs
 * in turns with the same program without `omig run`, so that other load concerns both alike. Values
 * are differences of neighbours in time.
 */
#include "bench/bench.h"

#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 800
#define CONN "OMIG_MAINSM=omig1:127.0.0.1:1:absentaa00000000"

static char here[PATH_MAX]; /* the build folder */

static double start_us(const char *program, char *const *env)
{
	char path[2 * PATH_MAX], *argv[] = { path, NULL };
	posix_spawn_file_actions_t quiet;
	struct rusage used;
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), "%s%s", program[0] == '/' ? "" : here, program);
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", 1, 0);
	if (posix_spawn(&pid, path, &quiet, NULL, argv, env) ||
	    wait4(pid, &status, 0, &used) != pid)
		bench_fail("%s does not start", path);
	posix_spawn_file_actions_destroy(&quiet);
	return 1e6 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Each with its environment; the value of the second is its time beyond the first. */
static void compare(const char *name, const char *program, char *const *first, char *const *second)
{
	struct bench_series s = { 0 };

	for (unsigned i = 0; i < ROUNDS; i++) {
		double a = i % 2 ? start_us(program, first) : 0, b = start_us(program, second);

		if (!(i % 2))
			a = start_us(program, first);
		if (i > 10)
			bench_add(&s, b - a);
	}
	bench_print(name, "us", &s, NULL);
	bench_done(&s);
}

int main(void)
{
	char preload[PATH_MAX + 64], folder[] = "/tmp/omig-bench.XXXXXX", run[64],
				     lm[] = "OMIG_LM=/dev/null/none", mark[] = "OMIG_CHOSEN=1",
				     conn[] = CONN;
	char *bare[] = { run, NULL }, *loaded[] = { run, preload, NULL };
	char *watched[] = { run, preload, conn, lm, mark, NULL };
	struct bench_series s = { 0 };

	bench_build(here);
	if (!mkdtemp(folder))
		bench_fail("%s", folder);
	snprintf(run, sizeof(run), "OMIG_RUNTIME_DIR=%s", folder);
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%slib/libomig.so", here);
	for (unsigned i = 0; i < ROUNDS; i++)
		bench_add(&s, start_us("/bin/true", bare));
	bench_print("start.bare.us", "us", &s, NULL);
	bench_done(&s);
	compare("start.preload.us", "/bin/true", bare, loaded);
	compare("start.watched.us", "/bin/true", loaded, watched);
	compare("start.with_probes.us", "tests/system/alone-probe", loaded, watched);
	compare("start.with_events.us", "tests/system/alone", loaded, watched);
	rmdir(folder);
	return 0;
}
