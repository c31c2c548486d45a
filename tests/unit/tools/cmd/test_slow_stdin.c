/* SPDX-License-Identifier: Apache-2.0 */
/* Commands read a text to its end from a standard input that does not block and arrives late. */
#include "tests/suite.h"
#include "tests/unit/tools/term/slow_stdin.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session.h"

#define ASKED 99 /* the request was read, and no monitor is asked */

int __wrap_session_open_job(const struct cmd_common *c, const char *job);

int __wrap_session_open_job(const struct cmd_common *c, const char *job)
{
	return ASKED;
}

struct command {
	int (*run)(int argc, char **argv);
	char *argv[6];
	int argc;
};

/* Its output is not part of the report of this test. */
static int run_quietly(void *arg)
{
	struct command *c = arg;
	int saved = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC), rc;

	fflush(stdout);
	dup2(null, STDOUT_FILENO);
	rc = c->run(c->argc, c->argv);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(null);
	return rc;
}

TEST(a_text_that_comes_late_is_read_whole)
{
	static char name[] = "omig", from[] = "-", m[] = "M";
	static const char metric[] = "M(Process[] p, TimeInterval t) {\n",
			  body[] = "RETURN 1;\n}\n";
	struct command check = { cmd_check, { name, from }, 2 };
	struct command dot = { cmd_dot, { name, from, m }, 3 };
	struct command probes = { cmd_probes, { name, from }, 2 };
	struct command request = { cmd_request, { name, from }, 2 };

	ck_assert_int_eq(with_slow_stdin(O_NONBLOCK, metric, body, run_quietly, &check), CMD_OK);
	ck_assert_int_eq(with_slow_stdin(O_NONBLOCK, metric, body, run_quietly, &dot), CMD_OK);
	ck_assert_int_eq(
		with_slow_stdin(O_NONBLOCK, "void loop_start", "(int vt);\n", run_quietly, &probes),
		CMD_OK);
	ck_assert_int_eq(with_slow_stdin(O_NONBLOCK, ":omig_", "tree()", run_quietly, &request),
			 ASKED);
}

SUITE("slow standard input")
