/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "tools/cmd.h"

#include <stdio.h>

static void print_help(FILE *to)
{
	const struct cmd *c;

	fputs("usage: omig [OPTION...] COMMAND [ARGUMENT...]\n\n"
	      "Watches MPI programs while they run.\n\nCommands:\n",
	      to);
	for (c = cmd_table; c->name; c++)
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

	for (c = cmd_table; c->name; c++)
		printf("%s\t%s\n", c->name, c->summary);
}

static int unknown(const char *name)
{
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

/* Options that take an argument in the next word, as long as nobody knows the command yet. */
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
