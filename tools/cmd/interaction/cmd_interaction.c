/* SPDX-License-Identifier: Apache-2.0 */
/* omig interaction: where the time of an interaction went, across programs and hosts. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "interaction/netpath.h"
#include "tools/cmd/cmd.h"
#include "tools/cmd/interaction/cmd_watch.h"
#include "tools/interaction/netcompare.h"
#include "tools/interaction/netfiles.h"
#include "tools/interaction/netjob.h"

struct interaction_options {
	struct netjob_options job;
	struct netfiles_options files;
	struct logmerge_clocks clocks;
	const char *from;
};

enum file_kind { DUMP, SPLIT, FILTER, DRAW, FILE_KINDS };

static int check_job(const struct opt_spec *spec, const struct netjob_options *w,
		     enum netjob_kind kind)
{
	if (kind == NETJOB_WHAT_IF && !w->nchange)
		return cmd_usage(spec, "what-if needs --what-if VERTEX,VERTEX=TIME");
	if (kind != NETJOB_WHAT_IF && kind != NETJOB_ANALYZE && w->nchange)
		return cmd_usage(spec, "--what-if is of analyze and what-if");
	if (kind != NETJOB_PATH && kind != NETJOB_ANALYZE && w->near)
		return cmd_usage(spec, "--near is of analyze and path");
	return CMD_OK;
}

static int run_job(const struct opt_spec *spec, struct interaction_options *w, char **files,
		   int kind)
{
	int status = check_job(spec, &w->job, (enum netjob_kind)kind);

	return status == CMD_OK ? netjob_run((enum netjob_kind)kind, &w->job, files) : status;
}

static int check_files(const struct opt_spec *spec, const struct interaction_options *w, int kind)
{
	const struct netfiles_options *f = &w->files;

	if (kind != DUMP && kind != DRAW && f->to)
		return cmd_usage(spec, "--to is of dump and draw");
	if (kind == FILTER && !f->omit.n)
		return cmd_usage(spec, "filter needs --omit OBJECT");
	if (kind != FILTER && f->omit.n)
		return cmd_usage(spec, "--omit is of filter");
	return CMD_OK;
}

static int run_compare(const struct opt_spec *spec, struct interaction_options *w, char **files,
		       int kind)
{
	(void)kind;
	if (!files[0] || !files[1] || files[2])
		return cmd_usage(spec, "compare needs two files: the earlier and the later one");
	return netcompare_run(&w->job.read, w->job.json, files);
}

static int run_files(const struct opt_spec *spec, struct interaction_options *w, char **files,
		     int kind)
{
	static int (*const functions[FILE_KINDS])(const struct netfiles_options *w,
						  char **files) = {
		[DUMP] = netfiles_dump,
		[SPLIT] = netfiles_split,
		[FILTER] = netfiles_filter,
		[DRAW] = netfiles_draw,
	};
	int status = check_files(spec, w, kind);

	w->files.read = w->job.read;
	w->files.only = w->job.only;
	if (kind == DUMP && w->job.json && !w->files.to)
		w->files.to = "json";
	return status == CMD_OK ? functions[kind](&w->files, files) : status;
}

static const struct verb {
	const char *name;
	int (*run)(const struct opt_spec *spec, struct interaction_options *w, char **files,
		   int kind);
	int kind;
} verbs[] = {
	{ "analyze", run_job, NETJOB_ANALYZE },
	{ "path", run_job, NETJOB_PATH },
	{ "states", run_job, NETJOB_STATES },
	{ "what-if", run_job, NETJOB_WHAT_IF },
	{ "clocks", run_job, NETJOB_CLOCKS },
	{ "dump", run_files, DUMP },
	{ "split", run_files, SPLIT },
	{ "filter", run_files, FILTER },
	{ "draw", run_files, DRAW },
	{ "compare", run_compare, 0 },
};

static int run(const struct opt_spec *spec, struct interaction_options *w, int n, char **operand)
{
	const struct verb *v = verbs, *end = verbs + ARRAY_LEN(verbs);

	if (n && str_eq(operand[0], "watch"))
		return cmd_usage(spec, "watch comes before its options");
	while (v < end && !(n && str_eq(operand[0], v->name)))
		v++;
	if (v == end)
		return cmd_usage_verb(spec, n ? operand[0] : NULL);
	if (w->job.read.step && w->job.read.request)
		return cmd_usage(spec, "--step and --request exclude each other");
	if (logread_form(&w->job.read.log, w->from))
		return cmd_usage(spec, "--from is auto, olog, ulm, bp, lite or xml");
	w->job.read.clocks = w->clocks.n ? &w->clocks : NULL;
	return v->run(spec, w, operand + 1, v->kind);
}

static int run_on_files(int argc, char **argv)
{
	struct interaction_options w = { .from = "auto" };
	struct netjob_options *j = &w.job;
	struct netfiles_options *f = &w.files;
	const struct opt table[] = {
		OPTION_CALL("state", 's', "NAME=OBJECTS",
			    "a state: all these objects, with + between, are in use",
			    &j->read.state, netread_add_term),
		OPTION_CALL(
			"member", 'm', "OBJECTS",
			"count interactions in which all these objects are in use at once; repeated: or",
			&j->read.member, netread_add_term),
		OPTION_CALL("inherit", 'i', "OBJECT",
			    "new sub-tasks use the object too (default: as the file declares)",
			    &j->read.inherit, netread_add_term),
		OPTION_CALL("what-if", 'w', "VERTEX,VERTEX=TIME",
			    "analyze, what-if: times if that arc took so long; repeated: together",
			    j, netjob_add_change),
		OPTION_RANGE("near", 'k', "PATHS",
			     "analyze, path: show this many of the longest paths", OPT_U64,
			     &j->near, 1, NETPATH_NEAR_MAX),
		OPTION_CALL("clock", 'c', "NODE=TIME",
			    "the clock of NODE is TIME ahead, or behind where TIME begins with -",
			    &w.clocks, logmerge_add_clock),
		OPTION("step", 'p', "REGION",
		       "logs of messages: each step of all ranks is an interaction: a region, BEGIN..END or an event",
		       OPT_STR, &j->read.step),
		OPTION("request", 'r', "REGION",
		       "logs of messages: an interaction begins each time that a thread enters REGION; outside: each time that bytes of no recorded process arrive",
		       OPT_STR, &j->read.request),
		OPTION("only", 'n', "NAME", "only the interaction of this name", OPT_STR, &j->only),
		OPTION("from", 'f', "FORM",
		       "auto, olog, ulm, bp, lite or xml (default: as the file looks)", OPT_STR,
		       &w.from),
		OPTION("json", 'j', NULL,
		       "write JSON; errors too. dump: the same as --to json; split, filter: always so",
		       OPT_FLAG, &j->json),
		OPTION("output", 'o', "FILE",
		       "dump, filter, draw: output file; split: a folder, with a file for each",
		       OPT_STR, &f->output),
		OPTION("to", 't', "FORM",
		       "dump: a form of omig log (default bp); draw: svg, html, dot, chrome or otlp",
		       OPT_STR, &f->to),
		OPTION_CALL(
			"omit", 'x', "OBJECT",
			"filter: leave out uses of this object, and vertices that have no other purpose; or all",
			&f->omit, netread_add_term),
		OPTION("equal", 'e', NULL, "draw: equal spacing, in the order of times", OPT_FLAG,
		       &f->is_equal),
		OPTION("quiet", 'q', NULL, "no progress on the terminal", OPT_FLAG,
		       &j->read.log.is_quiet),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig interaction",
		.verbs = "analyze path states what-if clocks dump split filter draw compare watch",
		.usage =
			"analyze|path|states|what-if|clocks|dump|split|filter|draw [OPTION...] [FILE|ARCHIVE...], compare [OPTION...] BEFORE AFTER, watch [OPTION...]",
		.summary = "shows where the time of interactions went, across programs and hosts",
		.details =
			"A FILE is JSON of interaction networks, or an event log. Without a FILE, and for -, "
			"the standard input is read. The status is 6 when an interaction is incomplete. watch (of running "
			"programs) has a --help of its own.",
		.table = table,
	};
	int first, exit_status = cmd_parse(&spec, argc, argv, &first);

	return exit_status >= 0 ? exit_status : run(&spec, &w, argc - first, argv + first);
}

int cmd_interaction(int argc, char **argv)
{
	if (argc > 1 && str_eq(argv[1], "watch"))
		return cmd_interaction_watch(argc - 1, argv + 1);
	return run_on_files(argc, argv);
}
