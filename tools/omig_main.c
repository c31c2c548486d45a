/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "neko/cmd/cmd_neko.h"
#include "tools/cmd/cmd.h"
#include "tools/cmd/summary/cmd_summary.h"
#include "tools/launch/launch.h"
#include "tools/model/cmd_model.h"

#include <stdio.h>

enum group { WATCH, MEASURE, EXTEND, OPERATE, RESEARCH, GROUPS };

static const char *const group_names[GROUPS] = { "Watch", "Measure", "Extend", "Run it",
						 "Research" };

struct cmd {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the name; returns the exit status */
	enum group group;
	const char *summary; /* one line for `omig help` */
};

/*
 * In groups, as `omig help` shows them. Ends with a NULL name. tools/module.mk has a manual page
 * for each name that begins a line here.
 */
static const struct cmd commands[] = {
	{ "run", cmd_run, WATCH, "run a program watched: omig run -- mpirun -np 4 ./a.out" },
	{ "env", cmd_env, WATCH, "the same as lines for a shell: eval \"$(omig env)\"" },
	{ "exec", cmd_exec, WATCH, "run one rank watched, after mpirun: mpirun omig exec ./a.out" },
	{ "attach", cmd_attach, WATCH, "watch a program that runs unwatched: omig attach PID" },
	{ "detach", cmd_detach, WATCH, "let such a program run unwatched again" },
	{ "jobs", cmd_jobs, WATCH, "jobs that run: program, nodes, ranks, time, state" },
	{ "why", cmd_why, WATCH, "where a job loses time, which rank or host is late, and why" },
	{ "top", cmd_top, WATCH, "watch ranks and nodes live" },
	{ "web", cmd_web, WATCH, "the same and any metric in a browser, with 600 samples" },
	{ "calls", cmd_calls, WATCH,
	  "which MPI calls take the time: by call, rank, node, partner or line" },
	{ "alert", cmd_alert, WATCH,
	  "report when a condition holds: omig alert 'imbalance > 30 %'" },
	{ "stacks", cmd_stacks, WATCH, "where all ranks are: their stacks as one tree" },
	{ "waits", cmd_waits, WATCH, "which rank waits for which, how long, and in which call" },
	{ "matrix", cmd_matrix, WATCH, "how much each rank exchanges with each other one" },
	{ "tree", cmd_tree, WATCH, "sites, nodes, processes and threads that are known" },
	{ "measure", cmd_measure, MEASURE,
	  "measure a metric, live: omig measure Send_volume --by process" },
	{ "watch", cmd_watch, MEASURE,
	  "the same as pictures: omig watch Receive_delay --by process" },
	{ "show", cmd_show, MEASURE,
	  "show the summary of a job: omig run --summary=FILE writes it" },
	{ "compare", cmd_compare, MEASURE, "show what changed between two such summaries" },
	{ "metrics", cmd_metrics, MEASURE, "list metrics: built in, and from files" },
	{ "events", cmd_events, MEASURE,
	  "switch events of running programs on and off, and show them" },
	{ "log", cmd_log, MEASURE, "show event logs, and convert them to other forms and back" },
	{ "interaction", cmd_interaction, MEASURE,
	  "where the time of a request went, across programs and hosts" },
	{ "stats", cmd_stats, MEASURE,
	  "summary statistics of numbers in files, with confidence intervals" },
	{ "request", cmd_request, EXTEND, "send an OMIS request" },
	{ "services", cmd_services, EXTEND, "services that requests may use, with help" },
	{ "plugin", cmd_plugin, EXTEND, "add services of your own to the monitor of each host" },
	{ "probes", cmd_probes, EXTEND, "generate probe functions that mark regions of a program" },
	{ "check", cmd_check, EXTEND, "check a file of metrics" },
	{ "dot", cmd_dot, EXTEND, "draw how a metric is evaluated, and where" },
	{ "explain", cmd_explain, EXTEND,
	  "show how a running measurement is distributed (for debugging Omig)" },
	{ "export", cmd_export, EXTEND, "serve metrics for Prometheus over HTTP" },
	{ "status", cmd_status, OPERATE, "health of the monitor's own daemons" },
	{ "doctor", cmd_doctor, OPERATE, "find problems and print remedies" },
	{ "cert", cmd_cert, OPERATE, "list, issue and revoke certificates" },
	{ "stop", cmd_stop, OPERATE, "end mainsm and all daemons below it" },
	{ "site", cmd_site, OPERATE, "join the sm that a site's admin runs for many users" },
	{ "admin", cmd_admin, OPERATE, "manage the users of such an sm: list, limit, drain, drop" },
	{ "audit", cmd_audit, OPERATE,
	  "requests that changed programs, with owner and result, and refused ones" },
	{ "selftest", cmd_selftest, OPERATE,
	  "try every service on a test process: what works on this machine" },
	{ "version", cmd_version, OPERATE, "version and features" },
	{ "model", cmd_model, RESEARCH,
	  "estimate demands of services, and answer what happens at another load" },
	{ "neko", cmd_neko, RESEARCH,
	  "run distributed algorithms, simulated or real, and measure them" },
	{ "sim", cmd_sim, RESEARCH,
	  "run Omig's daemons in a simulated world, with faults from a seed" },
	{ NULL, NULL, WATCH, NULL },
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
	fputs("usage: omig [OPTION...] COMMAND [ARGUMENT...]\n\n"
	      "Watches MPI programs while they run.\n",
	      to);
	for (const struct cmd *c = commands; c->name; c++) {
		if (c == commands || c->group != c[-1].group)
			fprintf(to, "\n%s\n", group_names[c->group]);
		fprintf(to, "  %-10s %s\n", c->name, c->summary);
	}
	fputs("\n`omig help COMMAND` shows its options, `man omig-COMMAND` its manual page.\n"
	      "`omig mainsm`, `omig sm` and `omig lm` run the daemons: man mainsm, man sm, man lm.\n"
	      "Options before the command are those of the command. -h, --help and --version\n"
	      "always work. Exit status: 0 done, 1 failed, 2 usage, 3 no mainsm answers, 4 no such\n"
	      "object, 5 not permitted, 6 not all answered, 124 time-out, 128+N signal N.\n",
	      to);
}

static void print_names(void)
{
	for (const struct cmd *c = commands; c->name; c++)
		printf("%s\t%s\t%s\n", c->name, c->summary, group_names[c->group]);
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

/* Daemons are programs of their own; `omig lm` is how to run them where bin/ has only omig. */
static bool is_daemon(const char *name)
{
	return str_eq(name, "mainsm") || str_eq(name, "sm") || str_eq(name, "lm");
}

static int run_daemon(char **argv)
{
	struct err e = { 0 };

	launch_exec_daemon(argv, &e);
	return cmd_fail(CMD_FAILURE, "%s", e.text);
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
	if (is_daemon(argv[1])) {
		char *asked[] = { argv[1], flag, NULL };

		return run_daemon(asked);
	}
	c = cmd_find(argv[1]);
	if (!c)
		return unknown(argv[1]);
	str_copy(name, sizeof(name), c->name);
	return c->run(2, one);
}

/* True for options whose argument is the next word, while the command is unknown. */
static bool takes_word(const char *arg)
{
	return str_eq(arg, "--timeout") || str_eq(arg, "-t") || str_eq(arg, "--mainsm") ||
	       str_eq(arg, "-m") || str_eq(arg, "--color");
}

/* Moves the command's name in front of the options before it. Returns false when there is none. */
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
	if (argc > 1 && is_daemon(argv[1]))
		return run_daemon(argv + 1);
	if (!hoist_command(argc, argv)) {
		print_help(stderr);
		return CMD_USAGE;
	}
	if (str_eq(argv[1], "help"))
		return help(argc - 1, argv + 1);
	c = cmd_find(argv[1]);
	return c ? c->run(argc - 1, argv + 1) : unknown(argv[1]);
}

/* Returns a failure, too, if output could not be written. */
int main(int argc, char **argv)
{
	int status = run(argc, argv);

	cmd_end(status);
	if ((fflush(stdout) || ferror(stdout)) && (status == CMD_OK || status == CMD_PARTIAL))
		return cmd_fail(CMD_FAILURE, "the output could not be written");
	return status;
}
