/* SPDX-License-Identifier: Apache-2.0 */
/* omig run, omig exec, omig env: programs that are watched. */
#include "common/base/clock.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "common/ring/chosen.h"
#include "tools/cmd/log/run_board.h"
#include "tools/cmd/log/run_record.h"
#include "tools/cmd/log/run_sensors.h"
#include "tools/cmd/run_waits.h"
#include "tools/cmd/summary/run_summary.h"
#include "tools/launch/launch.h"
#include "tools/sensors/sense.h"
#include "tools/session/show.h"
#include "tools/term/outfile.h"
#include "tools/view/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAITS_NS (20 * NSEC_PER_SEC) /* programs that run well rarely wait this long in a ring */
#define MEASURE_HELP "switch on from the start: off, count, time, volume or partner (default off)"
#define SITES_HELP \
	"also count by the place in the program that calls (with volume, the default then, or partner)"
#define INTERACTIONS_HELP \
	"number messages from the start, so that interaction.* events can be recorded"
#define FILES_HELP \
	"count reads and writes by file system, also without MPI: omig measure File_write_volume --region /"
#define RECORD_HELP                                                                  \
	"number messages from the start; write all events but library calls to FILE" \
	" (an event log) until the end; without MPI: processes, pipes and waits"
#define SITE_HELP "name of the site that the hosts belong to"
#define JOB_HELP \
	"name of the job (default: the batch system's number, else PROGRAM.PID of the started program, such as mpirun)"
#define MAINSM_HELP \
	"connection string, or @FILE that has it, instead of OMIG_MAINSM or your own mainsm"
#define LISTEN_HELP \
	"address or name of this host for a mainsm that must be started, or auto (default 127.0.0.1)"

#define LAUNCH_OPTIONS(l)                                                                      \
	{ "measure", 0, "WHAT", MEASURE_HELP, OPT_CALL, (l), 0, 0, set_measure },              \
		{ "callsites", 'c', NULL, SITES_HELP, OPT_FLAG, &(l)->callsites, 0, 0, NULL }, \
		{ "files", 0, NULL, FILES_HELP, OPT_FLAG, &(l)->files, 0, 0, NULL },           \
		{ "site", 0, "NAME", SITE_HELP, OPT_STR, &(l)->site, 0, 0, NULL },             \
		{ "job", 0, "NAME", JOB_HELP, OPT_CALL, &(l)->job, 0, 0, set_job },            \
	{                                                                                      \
		"mainsm", 'm', "STRING", MAINSM_HELP, OPT_STR, &(l)->mainsm, 0, 0, NULL        \
	}

static int set_measure(void *into, const char *value, struct err *e)
{
	struct launch *l = into;

	if (!str_eq(value, "off") && !str_eq(value, "count") && !str_eq(value, "time") &&
	    !str_eq(value, "volume") && !str_eq(value, "partner"))
		return err_set(e, ERR_INVALID, "off, count, time, volume or partner, not '%s'",
			       value);
	l->measure = value;
	return 0;
}

static int set_job(void *into, const char *value, struct err *e)
{
	const char **job = into;

	/* A segment has no room for a longer name. */
	if (!str_is_name(value, strlen(value)) || strlen(value) >= JOB_NAME_BYTES)
		return err_set(e, ERR_INVALID, "a job's name is 1 to %d bytes of UTF-8 %s",
			       JOB_NAME_BYTES - 1, "without control characters");
	*job = value;
	return 0;
}

struct how {
	int (*find)(struct launch *, struct err *);
	bool is_here; /* the program runs on this host only */
	int64_t waits_ns; /* ranks that wait this long for each other are reported; 0: never */
	bool has_summary; /* is written at the end */
	const char *summary; /* its file; NULL: none */
	int64_t sensors_ns; /* interval; 0: none */
	const char *record; /* event log for interactions; NULL: none */
};

static int set_variable(void *arg, const char *name, const char *value)
{
	(void)arg;
	return setenv(name, value, 1);
}

static int exec_program(char **argv)
{
	execvp(argv[0], argv);
	return cmd_fail(errno == ENOENT ? CMD_NOPROGRAM : CMD_NOEXEC, "%s: %s", argv[0],
			strerror(errno));
}

/* Prepares the environment in which `program` is watched; prints one line of warning at most. */
static int find_all(struct launch *l, const struct how *how, const char *program, struct err *e)
{
	int rc = launch_find_files(l, e);

	if (!rc)
		rc = launch_need_place(l, e);
	if (!rc)
		rc = how->find(l, e);
	launch_name_job(l, program);
	if (!rc)
		rc = launch_take_token(l, how->is_here, e);
	if (!rc && l->warning[0])
		cmd_warn("%s", l->warning);
	return rc;
}

/* Within another `omig run` of this job, that one reports. */
static void report_waits(const struct launch *l, nsec_t least)
{
	const char *job = getenv("OMIG_JOB");

	if (!getenv("OMIG_CHOSEN") || !job || !str_eq(job, l->job_name))
		run_waits_start(&(struct run_waits){ l->job_name, l->mainsm, least });
}

struct start {
	const struct launch *l;
	char **argv;
};

/* The lm searches for the process that becomes the program: this one. */
static int become_program(void *arg)
{
	const struct start *s = arg;

	launch_choose(s->l, s->argv[0]);
	return exec_program(s->argv);
}

/* Returns when the program could not be started that way. */
static void run_with_summary(struct start *s, const struct how *how)
{
	const struct run_summary r = { .job = s->l->job_name,
				       .mainsm = s->l->mainsm,
				       .command = str_base_name(s->argv[0]),
				       .measured = s->l->measure,
				       .has_sites = s->l->callsites,
				       .path = how->summary };

	/* The program runs in any case: it may make the folder itself. */
	if (r.path && outfile_check(r.path) != CMD_OK)
		cmd_warn("the summary can be written nowhere but to stderr as it is now");
	run_summary(&r, become_program, s);
}

struct recorded {
	struct start *start;
	const struct how *how;
};

/* In a child of the recorder's parent. */
static int run_recorded(void *arg)
{
	struct recorded *x = arg;

	if (x->how->has_summary)
		run_with_summary(x->start, x->how);
	return become_program(x->start);
}

/* MPI programs record their messages themselves. */
static void open_board(struct launch *l, const struct how *how, const char *program,
		       struct run_board *b)
{
	struct err e = { 0 };

	if (!how->record || chosen_is_launcher(program))
		return;
	if (run_board_open(b, &e))
		cmd_warn("no events of processes: %s", e.text);
	else
		l->board = b->path;
}

/* The program runs even if the monitor fails. */
static int run_program(struct launch *l, char **argv, const struct how *how)
{
	struct start s = { l, argv };
	struct run_board board = { .reader = -1 };
	struct err e = { 0 };
	int rc = find_all(l, how, argv[0], &e);

	if (rc) {
		cmd_warn("not watched%s: %s", how->has_summary ? ", no summary" : "", e.text);
		return exec_program(argv);
	}
	report_waits(l, how->waits_ns);
	if (!l->warning[0] && (launch_check_program(argv[0], &e) < 0 || launch_check_lm(l, &e) < 0))
		cmd_warn("not watched: %s", e.text);
	open_board(l, how, argv[0], &board);
	launch_each_variable(l, set_variable, NULL);
	run_sensors_start(&(struct run_sensors){ l->job_name, l->mainsm, how->sensors_ns });
	if (how->record)
		run_record(&(struct run_record){ l->job_name, l->mainsm, how->record,
						 l->board ? &board : NULL },
			   run_recorded, &(struct recorded){ &s, how });
	return run_recorded(&(struct recorded){ &s, how });
}

struct into {
	struct launch *launch;
	struct how *how;
};

static int set_interactions(void *into, const char *value, struct err *e)
{
	struct into *x = into;

	(void)e;
	x->launch->interactions = true;
	x->how->record = value;
	return 0;
}

static int set_summary(void *into, const char *value, struct err *e)
{
	struct how *how = into;

	(void)e;
	how->has_summary = true;
	how->summary = value;
	return 0;
}

static int set_sensors(void *into, const char *value, struct err *e)
{
	struct how *how = into;

	how->sensors_ns = NSEC_PER_SEC;
	if (value && opt_to_nsec(value, SENSE_EVERY_MIN_NS, SENSE_EVERY_MAX_NS, &how->sensors_ns))
		return err_set(e, ERR_INVALID, "'%s' is not a time from 10ms to a day", value);
	return 0;
}

/* A summary and call sites need times: without them they would show no time in MPI. */
static int choose_measure(struct launch *l, const char *for_option, const char *usual,
			  const struct opt_spec *spec)
{
	if (!l->measure)
		l->measure = usual;
	if (str_eq(l->measure, "volume") || str_eq(l->measure, "partner"))
		return CMD_OK;
	return cmd_usage(spec, "%s needs --measure=volume or partner, not %s", for_option,
			 l->measure);
}

static int choose_measures(struct launch *l, bool has_summary, const struct opt_spec *spec)
{
	int status = CMD_OK;

	if (has_summary)
		status = choose_measure(l, "--summary", "partner", spec);
	if (status == CMD_OK && l->callsites)
		status = choose_measure(l, "--callsites", "volume", spec);
	return status;
}

int cmd_run(int argc, char **argv)
{
	struct launch l = { 0 };
	struct how how = { .find = launch_need_mainsm, .waits_ns = WAITS_NS };
	struct into interactions = { &l, &how };
	const struct opt table[] = {
		LAUNCH_OPTIONS(&l),
		OPTION_CALL("interactions", 0, "[FILE]", RECORD_HELP, &interactions,
			    set_interactions),
		OPTION("listen", 0, "ADDR", LISTEN_HELP, OPT_STR, &l.listen),
		OPTION_RANGE(
			"waits", 0, "TIME",
			"warn on stderr when ranks wait this long for each other (default 20s, from 5s on; 0: never)",
			OPT_NSEC, &how.waits_ns, 0, 24 * 3600 * NSEC_PER_SEC),
		OPTION_CALL(
			"summary", 0, "[FILE]",
			"at the end, show on stderr what the job did, and write it to FILE for omig show",
			&how, set_summary),
		OPTION_CALL(
			"sensors", 0, "[TIME]",
			"each second, or TIME, write the load of the hosts as events to OMIG_EVENT_LOG, else to JOB.sensors.olog",
			&how, set_sensors),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig run",
		.usage = "[OPTION...] [--] PROGRAM [ARGUMENT...]",
		.summary =
			"runs PROGRAM watched: the MPI ranks of an mpirun or srun, or a program without MPI and all that it starts",
		.details =
			"The program's input, output, exit status and signals are unchanged. A mainsm is started when\n"
			"you have none. When the monitor cannot start, the program runs without it. With --summary, the\n"
			"end is delayed until the summary is written, for 10 s at most. With --interactions=FILE it is\n"
			"delayed until FILE is complete, and the start for 2 s at most.",
		.table = table,
		.stop_at_first = true,
	};
	int first, exit_status = cmd_parse(&spec, argc, argv, &first);

	if (exit_status >= 0)
		return exit_status;
	if (first >= argc)
		return cmd_usage(&spec, "which program?");
	exit_status = choose_measures(&l, how.has_summary, &spec);
	if (exit_status != CMD_OK)
		return exit_status;
	return run_program(&l, argv + first, &how);
}

int cmd_exec(int argc, char **argv)
{
	struct launch l = { 0 };
	const struct opt table[] = { LAUNCH_OPTIONS(&l),
				     OPTION("interactions", 0, NULL, INTERACTIONS_HELP, OPT_FLAG,
					    &l.interactions),
				     { 0 } };
	const struct opt_spec spec = {
		.program = "omig exec",
		.usage = "[OPTION...] [--] PROGRAM [ARGUMENT...]",
		.summary = "runs one rank watched: mpirun -np 4 omig exec ./a.out",
		.details = "Starts no mainsm: one must run, or OMIG_MAINSM must name it.",
		.table = table,
		.stop_at_first = true,
	};
	int first, status = cmd_parse(&spec, argc, argv, &first);

	if (status >= 0)
		return status;
	if (first >= argc)
		return cmd_usage(&spec, "which program?");
	status = choose_measures(&l, false, &spec);
	if (status != CMD_OK)
		return status;
	return run_program(&l, argv + first,
			   &(struct how){ .find = launch_find_mainsm, .is_here = true });
}

/* Single quotes keep everything but themselves. */
static int print_export(void *arg, const char *name, const char *value)
{
	(void)arg;
	printf("export %s='", name);
	for (; *value; value++) {
		if (*value == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*value);
	}
	puts("'");
	return 0;
}

static int put_variable(void *arg, const char *name, const char *value)
{
	json_key_str(arg, name, value);
	return 0;
}

static int print_json(const struct launch *l)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	launch_each_variable(l, put_variable, j);
	json_object_end(j);
	return show_doc_close(&d);
}

/* Keeps the other items of the variable. */
static void print_rest(const char *name, const char *rest)
{
	if (*rest)
		print_export(NULL, name, rest);
	else
		printf("unset %s\n", name);
}

static void print_unset(void)
{
	char rest[8192];

	launch_preload_rest(rest, sizeof(rest));
	print_rest("LD_PRELOAD", rest);
	launch_env_list_rest(rest, sizeof(rest));
	print_rest(launch_env_list_name(), rest);
	for (size_t i = 0; launch_variables[i]; i++)
		printf("unset %s\n", launch_variables[i]);
}

int cmd_env(int argc, char **argv)
{
	struct launch l = { 0 };
	bool unset = false, no_start = false, json = false;
	struct how how = { .find = launch_need_mainsm };
	const struct opt table[] = {
		LAUNCH_OPTIONS(&l),
		OPTION("interactions", 0, NULL, INTERACTIONS_HELP, OPT_FLAG, &l.interactions),
		OPTION("listen", 0, "ADDR", LISTEN_HELP, OPT_STR, &l.listen),
		OPTION("no-start", 0, NULL, "use a running mainsm, start none", OPT_FLAG,
		       &no_start),
		OPTION("here", 0, NULL, "for programs on this host only: no token is requested",
		       OPT_FLAG, &how.is_here),
		OPTION("json", 'j', NULL, "one JSON object instead: names and values", OPT_FLAG,
		       &json),
		OPTION("unset", 'u', NULL, "print lines that undo it", OPT_FLAG, &unset),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig env",
		.usage = "[OPTION...]",
		.summary =
			"prints lines for a shell, after which MPI programs are watched: eval \"$(omig env)\"",
		.details =
			"A program without MPI is not watched by its environment alone, or the shell and all its\n"
			"commands would be. Behind these lines it is started by `omig exec ./program`, or without\n"
			"them by `omig run -- ./program`.",
		.table = table,
	};
	struct err e = { 0 };
	int first, status = cmd_parse(&spec, argc, argv, &first);

	if (status >= 0)
		return status;
	if (first < argc)
		return cmd_usage(&spec, "unexpected '%s'", argv[first]);
	if (unset && json)
		return cmd_usage(&spec, "--unset writes lines for a shell only");
	if (unset) {
		print_unset();
		return CMD_OK;
	}
	status = choose_measures(&l, false, &spec);
	if (status != CMD_OK)
		return status;
	l.resolves_names = true;
	if (no_start)
		how.find = launch_find_mainsm;
	status = find_all(&l, &how, "job", &e);
	if (status < 0)
		return cmd_fail(CMD_UNREACHABLE, "%s", e.text);
	if (json)
		return print_json(&l);
	launch_each_variable(&l, print_export, NULL);
	return CMD_OK;
}
