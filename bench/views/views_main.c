/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_views [RUNS]: commands that show a job of 1,024 ranks on 16 hosts, as a user waits for
 * them: from the start of the process to its end. All daemons and ranks share this machine; on 16
 * hosts their work is done side by side. The floor is a command that asks each host for one value
 * and shows it. All run in turns, so that other load concerns them alike. The time of top has its
 * interval of 100 ms in it.
 */
#include "bench/treebed.h"
#include "common/base/array.h"

#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

#define HOSTS 16
#define RANKS 1024
#define RUNS 15
#define READY_NS (INT64_C(120) * 1000000000)
#define WORDS_MAX 8

struct view {
	const char *name;
	const char *words[WORDS_MAX];
};

#define FLOOR "views.request.ms"

static const struct view views[] = {
	{ FLOOR, { "request", ":node_get_info([],1)" } },
	{ "views.calls.ms", { "calls", "--job", "crowd" } },
	{ "views.calls.by_rank.ms", { "calls", "--job", "crowd", "--by", "rank" } },
	{ "views.jobs.ms", { "jobs" } },
	{ "views.tree.ms", { "tree", "--job", "crowd" } },
	{ "views.top.ms", { "top", "--job", "crowd", "--once", "--every", "100ms" } },
	{ "views.stacks.ms", { "stacks", "--job", "crowd" } },
};

static char omig[2 * PATH_MAX];

/* --- the job: its calls are counted while this program is connected */

static unsigned ranks_seen(void)
{
	static const char text[] = ":omig_job_attach(\"crowd\") ; omig_calls_enable([],\"volume\") "
				   "; omig_calls_profile([],\"call\")";
	Omis_reply r = omis_request_n(text, sizeof(text) - 1, NULL, NULL, 0);
	unsigned n = 0;

	for (int k = 0; r && r[0] && r[1] && r[2] && r[3] && r[3][k].obj_list; k++) {
		Omis_value *v = r[3][k].result
					? omis_value_parse(r[3][k].result, r[3][k].result_len)
					: NULL;

		n += v ? (unsigned)omis_list_int(v, 2) : 0;
		omis_value_free(v);
	}
	omis_reply_free(r);
	return n;
}

static void start_job(struct treebed *t)
{
	char count[16], size[16];
	const char *argv[] = { "bench-crowd", count, size, NULL };
	int64_t until = bench_now() + READY_NS;
	unsigned n = 0;

	snprintf(count, sizeof(count), "%d", RANKS / HOSTS);
	snprintf(size, sizeof(size), "%d", RANKS);
	for (unsigned i = 0; i < HOSTS; i++) {
		treebed_host(t, "bench", argv, 1);
		treebed_wait(i + 1);
	}
	treebed_connect();
	omis_request_policy(OMIS_WAIT_ALL, 0, 20000);
	while ((n = ranks_seen()) < RANKS) {
		if (bench_now() > until)
			bench_fail("%u of %d ranks are seen: %s", n, RANKS, omis_last_error());
		poll(NULL, 0, 200);
	}
}

/* --- the commands */

static double run_ms(const struct view *v)
{
	char *argv[WORDS_MAX + 2] = { omig };
	posix_spawn_file_actions_t quiet;
	int64_t begin = bench_now();
	int status;
	pid_t pid;

	for (size_t i = 0; i < WORDS_MAX && v->words[i]; i++)
		argv[i + 1] = (char *)v->words[i]; /* posix_spawn() does not modify it */
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", 1, 0);
	if (posix_spawn(&pid, omig, &quiet, NULL, argv, environ) ||
	    waitpid(pid, &status, 0) != pid || status)
		bench_fail("omig %s does not work", v->words[0]);
	posix_spawn_file_actions_destroy(&quiet);
	return (double)(bench_now() - begin) / 1e6;
}

int main(int argc, char **argv)
{
	unsigned runs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : RUNS;
	struct bench_series s[ARRAY_LEN(views)] = { { 0 } };
	struct treebed *t;
	char here[PATH_MAX];

	bench_build(here);
	snprintf(omig, sizeof(omig), "%sbin/omig", here);
	t = treebed_start();
	start_job(t);
	for (unsigned i = 0; i <= runs; i++)
		for (size_t k = 0; k < ARRAY_LEN(views); k++) {
			double ms = run_ms(&views[k]);

			if (i) /* the first one fills caches */
				bench_add(&s[k], ms);
		}
	for (size_t k = 0; k < ARRAY_LEN(views); k++) {
		bench_print(views[k].name, "ms", &s[k], k ? FLOOR : NULL);
		bench_done(&s[k]);
	}
	omis_finalize();
	treebed_stop(t);
	return 0;
}
