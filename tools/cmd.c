/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cmd.h"

#include "common/base/str.h"

#include <stdarg.h>
#include <stdio.h>

const struct cmd cmd_table[] = {
	{ "run", cmd_run, "run a program watched: omig run -- mpirun -np 4 ./a.out" },
	{ "env", cmd_env, "the same as lines for a shell: eval \"$(omig env)\"" },
	{ "exec", cmd_exec, "run one rank watched, after mpirun: mpirun omig exec ./a.out" },
	{ "tree", cmd_tree, "sites, nodes, processes and threads that are known" },
	{ "top", cmd_top, "watch ranks and nodes live" },
	{ "request", cmd_request, "send an OMIS request" },
	{ "export", cmd_export, "answer Prometheus and its like with figures of all that is watched" },
	{ "services", cmd_services, "services that requests may use, with help" },
	{ "metrics", cmd_metrics, "what can be measured: built in, and from files of metrics" },
	{ "measure", cmd_measure, "measure a metric, live: omig measure Send_volume --by process" },
	{ "explain", cmd_explain, "which part of a running measurement is where, and what flows" },
	{ "check", cmd_check, "say what is wrong with a file of metrics" },
	{ "dot", cmd_dot, "draw how a metric is evaluated, and where" },
	{ "events", cmd_events, "switch events of running programs on and off, and show them" },
	{ "log", cmd_log, "show event logs, and convert them to other forms and back" },
	{ "stats", cmd_stats, "what numbers in files tell, and how sure it is" },
	{ "neko", cmd_neko, "run distributed algorithms, simulated or real, and measure them" },
	{ "sim", cmd_sim, "run our own daemons in a simulated world, with faults from a seed" },
	{ "probes", cmd_probes, "make the functions that mark regions of a program" },
	{ "status", cmd_status, "health of the monitor's own daemons" },
	{ "audit", cmd_audit, "who did what to programs, and who was refused" },
	{ "cert", cmd_cert, "list, issue and revoke certificates" },
	{ "site", cmd_site, "join the sm that a site's admin runs for many users" },
	{ "admin", cmd_admin, "the users of such an sm: list, limit, drain, drop" },
	{ "stop", cmd_stop, "end mainsm and all daemons below it" },
	{ "doctor", cmd_doctor, "look for what is wrong, and say what to do" },
	{ "selftest", cmd_selftest, "do every service to a scratch process: what works here" },
	{ "version", cmd_version, "version and features" },
	{ NULL, NULL, NULL },
};

const struct cmd *cmd_find(const char *name)
{
	const struct cmd *c;

	for (c = cmd_table; c->name; c++)
		if (str_eq(c->name, name))
			return c;
	return NULL;
}

static int document(const struct opt_spec *spec, const char *form)
{
	if (str_eq(form, "man"))
		opt_print_man(spec, stdout);
	else if (str_eq(form, "complete"))
		opt_print_complete(spec, stdout);
	else
		opt_print_help(spec, stdout);
	return CMD_OK;
}

int cmd_parse(const struct opt_spec *given, int argc, char **argv, int *first)
{
	struct opt_spec of_omig = *given;
	const struct opt_spec *spec = &of_omig;

	of_omig.manual = "omig";
	if (argc == 3 && str_eq(argv[1], "--omig-doc"))
		return document(spec, argv[2]);
	switch (opt_parse(spec, argc, argv, first)) {
	case OPT_DONE:
		return CMD_OK;
	case OPT_USAGE:
		return CMD_USAGE;
	case OPT_GO:
		break;
	}
	return -1;
}

__attribute__((format(printf, 2, 0))) static void say(const char *before, const char *fmt, va_list ap)
{
	char text[1024], safe[2048];

	vsnprintf(text, sizeof(text), fmt, ap);
	fprintf(stderr, "omig: %s%s\n", before, str_escape(safe, sizeof(safe), text, strlen(text)));
}

static struct {
	char *words; /* borrowed; NULL: what fails is told */
	size_t size;
} hush;

void cmd_hush(char *words, size_t size)
{
	hush.words = words;
	hush.size = size;
}

int cmd_fail(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!hush.words)
		say("", fmt, ap);
	else if (!hush.words[0])
		vsnprintf(hush.words, hush.size, fmt, ap);
	va_end(ap);
	return status;
}

void cmd_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("warning: ", fmt, ap);
	va_end(ap);
}
