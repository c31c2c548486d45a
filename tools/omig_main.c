/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "neko/cmd/cmd_neko.h"
#include "tools/cmd/cmd.h"
#include "tools/cmd/summary/cmd_summary.h"

#include <stdio.h>

struct cmd {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the name; returns the exit status */
	const char *summary; /* one line for `omig help` */
};

/* Ends with a NULL name. */
static const struct cmd commands[] = {
	{ "run", cmd_run, "run a program watched: omig run -- mpirun -np 4 ./a.out" },
	{ "env", cmd_env, "the same as lines for a shell: eval \"$(omig env)\"" },
	{ "exec", cmd_exec, "run one rank watched, after mpirun: mpirun omig exec ./a.out" },
	{ "jobs", cmd_jobs, "jobs that run: program, nodes, ranks, time, state" },
	{ "tree", cmd_tree, "sites, nodes, processes and threads that are known" },
	{ "top", cmd_top, "watch ranks and nodes live" },
	{ "show", cmd_show, "show the summary of a job: omig run --summary=FILE writes it" },
	{ "request", cmd_request, "send an OMIS request" },
	{ "export", cmd_export, "serve metrics for Prometheus over HTTP" },
	{ "services", cmd_services, "services that requests may use, with help" },
	{ "metrics", cmd_metrics, "what can be measured: built in, and from files of metrics" },
	{ "measure", cmd_measure, "measure a metric, live: omig measure Send_volume --by process" },
	{ "explain", cmd_explain,
	  "show how a running measurement is distributed (for debugging Omig)" },
	{ "check", cmd_check, "check a file of metrics" },
	{ "dot", cmd_dot, "draw how a metric is evaluated, and where" },
	{ "events", cmd_events, "switch events of running programs on and off, and show them" },
	{ "log", cmd_log, "show event logs, and convert them to other forms and back" },
	{ "stats", cmd_stats, "summary statistics of numbers in files, with confidence intervals" },
	{ "neko", cmd_neko, "run distributed algorithms, simulated or real, and measure them" },
	{ "sim", cmd_sim, "run our own daemons in a simulated world, with faults from a seed" },
	{ "probes", cmd_probes, "generate probe functions that mark regions of a program" },
	{ "status", cmd_status, "health of the monitor's own daemons" },
	{ "audit", cmd_audit,
	  "requests that changed programs, with owner and result, and refused ones" },
	{ "cert", cmd_cert, "list, issue and revoke certificates" },
	{ "site", cmd_site, "join the sm that a site's admin runs for many users" },
	{ "admin", cmd_admin, "the users of such an sm: list, limit, drain, drop" },
	{ "stop", cmd_stop, "end mainsm and all daemons below it" },
	{ "doctor", cmd_doctor, "find problems and print remedies" },
	{ "selftest", cmd_selftest,
	  "try every service on a test process: what works on this machine" },
	{ "version", cmd_version, "version and features" },
	{ NULL, NULL, NULL },
};

static const struct cmd *cmd_find(const char *name)
{
	for (const struct cmd *c = commands; c->name; c++)
		if (str_eq(c->name, name))
			return c;
	return NULL;
}

static void print_help(FILE *to)
{
	const struct cmd *c;

	fputs("usage: omig [OPTION...] COMMAND [ARGUMENT...]\n\n"
	      "Watches MPI programs while they run.\n\nCommands:\n",
	      to);
	for (c = commands; c->name; c++)
		fprintf(to, "  %-10s %s\n", c->name, c->summary);
	fputs("  help       this text; `omig help COMMAND` for one of them\n\n"
	      "Options before the command are those of the command. -h, --help and --version\n"
	      "always work. Exit status: 0 done, 1 failed, 2 usage, 3 no mainsm answers, 4 no such\n"
	      "object, 5 not permitted, 6 not all answered, 124 time-out, 128+N signal N.\n",
	      to);
}

static void print_names(void)
{
	const struct cmd *c;

	for (c = commands; c->name; c++)
		printf("%s\t%s\n", c->name, c->summary);
}

static int unknown(const char *name)
{
	struct nearest near = nearest_to(name);

	for (const struct cmd *c = commands; c->name; c++)
		nearest_try(&near, c->name);
	if (near.best)
		return cmd_fail(CMD_USAGE, "'%s' is not a command; did you mean %s?", name,
				near.best);
	return cmd_fail(CMD_USAGE, "'%s' is not a command; try: omig help", name);
}

static int help(int argc, char **argv)
{
	char name[32], flag[] = "--help";
	char *one[] = { name, flag, NULL };
	const struct cmd *c;

	if (argc < 2) {
		print_help(stdout);
		return CMD_OK;
	}
	c = cmd_find(argv[1]);
	if (!c)
		return unknown(argv[1]);
	str_copy(name, sizeof(name), c->name);
	return c->run(2, one);
}

/* Options that take an argument in the next word, while the command is unknown. */
static bool takes_word(const char *arg)
{
	return str_eq(arg, "--timeout") || str_eq(arg, "-t") || str_eq(arg, "--mainsm") ||
	       str_eq(arg, "-m") || str_eq(arg, "--color");
}

/* Moves the command's name in front of the options that stand before it. Returns false when there
 * is none. */
static bool hoist_command(int argc, char **argv)
{
	char *name;
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++)
		if (takes_word(argv[i]))
			i++;
	if (i >= argc)
		return false;
	name = argv[i];
	for (; i > 1; i--)
		argv[i] = argv[i - 1];
	argv[1] = name;
	return true;
}

static int run(int argc, char **argv)
{
	const struct cmd *c;
	char version[] = "version";
	char *only[] = { version, NULL };

	if (argc > 1 && (str_eq(argv[1], "--help") || str_eq(argv[1], "-h")))
		return help(1, argv);
	if (argc > 1 && str_eq(argv[1], "--version"))
		return cmd_version(1, only);
	if (argc > 1 && str_eq(argv[1], "--omig-commands")) {
		print_names();
		return CMD_OK;
	}
	if (!hoist_command(argc, argv)) {
		print_help(stderr);
		return CMD_USAGE;
	}
	if (str_eq(argv[1], "help"))
		return help(argc - 1, argv + 1);
	c = cmd_find(argv[1]);
	return c ? c->run(argc - 1, argv + 1) : unknown(argv[1]);
}

/* What was not written was not done. */
int main(int argc, char **argv)
{
	int status = run(argc, argv);

	cmd_end(status);
	if ((fflush(stdout) || ferror(stdout)) && (status == CMD_OK || status == CMD_PARTIAL))
		return cmd_fail(CMD_FAILURE, "the output could not be written");
	return status;
}
