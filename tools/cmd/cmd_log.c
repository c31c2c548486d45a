/* SPDX-License-Identifier: Apache-2.0 */
/* omig log: shows, converts and archives event logs from files. No monitor is involved. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "tools/cmd/cmd.h"
#include "tools/cmd/log/cmd_log_verbs.h"
#include "tools/events/logarchive.h"
#include "tools/events/logmerge.h"
#include "tools/events/logread.h"
#include "tools/events/logtail.h"
#include "tools/events/logwrite.h"
#include "tools/term/signals.h"

struct log_options {
	struct logread_options read;
	struct logarchive_options archive;
	struct logmerge_clocks clocks;
	struct logtail_options tail;
	const char *from, *to, *output;
	bool json;
};

static int put(void *arg, const struct event *ev)
{
	return logwrite_event(arg, ev);
}

static int convert(const struct log_options *w, char **files)
{
	struct logwrite *to;
	int rc = logwrite_open(w->to, w->output, &to), end;

	if (rc != CMD_OK)
		return rc;
	rc = logread_files(&w->read, files, put, to);
	if (rc == CMD_OK || rc == CMD_DAMAGED) {
		end = logwrite_finish(to);
		rc = end != CMD_OK ? end : rc;
	}
	logwrite_close(to);
	return rc;
}

static int run_cat(const struct opt_spec *spec, struct log_options *w, char **files)
{
	if (w->to || w->output)
		return cmd_usage(spec, "--to and --output are of convert");
	w->to = w->json ? "json" : "bp";
	return convert(w, files);
}

static int run_convert(const struct opt_spec *spec, struct log_options *w, char **files)
{
	if (!w->to)
		return cmd_usage(spec, "convert needs --to");
	if (w->json)
		return cmd_usage(spec, "--json is not of convert, which has --to json");
	return convert(w, files);
}

/* Opens the output of merge and tail: bp lines unless --to or --json is given. */
static int open_shown(const struct opt_spec *spec, const struct log_options *w,
		      struct logwrite **to)
{
	if (w->to && w->json)
		return cmd_usage(spec, "--json and --to exclude each other");
	return logwrite_open(w->to ? w->to : w->json ? "json" : "bp", w->output, to);
}

static int run_merge(const struct opt_spec *spec, struct log_options *w, char **files)
{
	struct logwrite *to;
	int rc = open_shown(spec, w, &to);

	if (rc != CMD_OK)
		return rc;
	rc = logmerge(&w->read, &w->clocks, files, to);
	logwrite_close(to);
	return rc;
}

/* A signal is the usual end of tail, and no failure. */
static int run_tail(const struct opt_spec *spec, struct log_options *w, char **files)
{
	struct logwrite *to;
	int rc = open_shown(spec, w, &to);

	if (rc != CMD_OK)
		return rc;
	signals_catch(false);
	w->tail.signal = &signals_last;
	rc = logtail(&w->read, &w->tail, files, to);
	logwrite_close(to);
	return signals_status(rc);
}

static int run_load(const struct opt_spec *spec, struct log_options *w, char **files)
{
	if (!w->archive.archive)
		return cmd_usage(spec, "load needs --archive");
	return logarchive_load(&w->archive, &w->read, files);
}

static int run_query(const struct opt_spec *spec, struct log_options *w, char **operands)
{
	if (!operands[0])
		return cmd_usage(spec, "query needs an archive");
	if (!w->archive.sql == !operands[1])
		return cmd_usage(spec, "query needs a sentence, or --sql");
	w->archive.archive = operands[0];
	return logarchive_query(&w->archive, operands + 1);
}

static int run_compare(const struct opt_spec *spec, struct log_options *w, char **operands)
{
	if (!operands[0] || !operands[1] || operands[2])
		return cmd_usage(spec, "compare needs an archive and a baseline");
	if (!(w->archive.least >= 0 && w->archive.least <= 1000))
		return cmd_usage(spec, "--least is from 0 to 1000");
	if (!(w->archive.sure >= 50 && w->archive.sure <= 99.9999))
		return cmd_usage(spec, "--sure is from 50 to 99.9999");
	w->archive.archive = operands[0];
	return logarchive_compare(&w->archive, operands[1]);
}

static const struct verb {
	const char *name;
	int (*run)(const struct opt_spec *spec, struct log_options *w, char **operands);
} verbs[] = {
	{ "cat", run_cat },	    { "merge", run_merge }, { "tail", run_tail },
	{ "convert", run_convert }, { "load", run_load },   { "query", run_query },
	{ "compare", run_compare },
};

static int run(const struct opt_spec *spec, struct log_options *w, int n, char **operand)
{
	const struct verb *v = verbs, *end = verbs + ARRAY_LEN(verbs);

	while (v < end && !(n && str_eq(operand[0], v->name)))
		v++;
	if (v == end)
		return cmd_usage_verb(spec, n ? operand[0] : NULL);
	if (logread_form(&w->read, w->from))
		return cmd_usage(spec, "--from is auto, olog, ulm, bp, lite or xml");
	w->archive.json = w->json;
	return v->run(spec, w, operand + 1);
}

/* Verbs with tables of their own. -1: it is none. */
static int run_own(int argc, char **argv)
{
	if (str_eq(argv[0], "lifelines"))
		return cmd_lifelines(argc, argv);
	if (str_eq(argv[0], "receive"))
		return cmd_receive(argc, argv);
	return str_eq(argv[0], "sense") ? cmd_sense(argc, argv) : -1;
}

static const struct log_options defaults = { .from = "auto",
					     .tail = { .past = 10 },
					     .archive = { .timeout_ns = 60 * NSEC_PER_SEC,
							  .batch = 50000,
							  .least = 5,
							  .sure = 99,
							  .color = "auto" } };

int cmd_log(int argc, char **argv)
{
	struct log_options w = defaults;
	const struct opt table[] = {
		OPTION("from", 'f', "FORM", "auto, olog, ulm, bp, lite or xml (default: detected)",
		       OPT_STR, &w.from),
		OPTION("to", 't', "FORM", "olog, ulm, bp, lite, xml, json, chrome, otlp or ctf",
		       OPT_STR, &w.to),
		OPTION("output", 'o', "FILE",
		       "output file (replaced only when complete); for ctf a new folder", OPT_STR,
		       &w.output),
		OPTION("fraction", 0, "auto|decimal|padded",
		       "what .21 is in a DATE of ULM: decimal 210 ms, padded 21 us, auto padded for globus-gridftp-server",
		       OPT_CHOICE, &w.read.fraction),
		OPTION_CALL(
			"clock", 0, "NODE=TIME",
			"merge: the clock of NODE is TIME ahead, or behind where TIME begins with -",
			&w.clocks, logmerge_add_clock),
		OPTION_RANGE("past", 'n', "EVENTS",
			     "tail: show this many existing events first (default 10)", OPT_U64,
			     &w.tail.past, 0, INT64_MAX),
		OPTION_RANGE("for", 0, "TIME", "tail: end after this time", OPT_NSEC,
			     &w.tail.for_ns, NSEC_PER_MSEC, INT64_C(31536000000000000)),
		OPTION("archive", 'a', "WHERE",
		       "load: a file, or postgresql://..., created if it does not exist", OPT_STR,
		       &w.archive.archive),
		OPTION("least", 0, "PERCENT", "compare: ignore changes below this (default 5)",
		       OPT_DOUBLE, &w.archive.least),
		OPTION("sure", 0, "PERCENT",
		       "compare: confidence level for all rows together (default 99)", OPT_DOUBLE,
		       &w.archive.sure),
		OPTION("color", 0, "auto|always|never", "compare: colour (default auto)", OPT_WORD,
		       &w.archive.color),
		OPTION("json", 'j', NULL,
		       "cat, merge, tail, query, compare: an object a line; load: one for each stored batch",
		       OPT_FLAG, &w.json),
		OPTION_RANGE("batch", 0, "EVENTS",
			     "load: events of one transaction (default 50000)", OPT_U64,
			     &w.archive.batch, 1, 10000000),
		OPTION("sql", 's', "SELECT",
		       "query: a statement that only reads, instead of a sentence", OPT_STR,
		       &w.archive.sql),
		OPTION_RANGE("timeout", 0, "TIME",
			     "query, compare: time limit of a query (default 60s)", OPT_NSEC,
			     &w.archive.timeout_ns, NSEC_PER_MSEC, 86400 * NSEC_PER_SEC),
		OPTION("quiet", 'q', NULL, "no progress on the terminal", OPT_FLAG,
		       &w.read.is_quiet),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig log",
		.verbs = "cat convert merge tail load query compare lifelines receive sense",
		.usage =
			"cat|convert|merge|tail|load [OPTION...] [FILE|ARCHIVE...], query [OPTION...] ARCHIVE SENTENCE, compare [OPTION...] ARCHIVE BASELINE",
		.summary =
			"shows event logs, merges them, converts them to other forms and back, and keeps them in SQL",
		.details =
			"Without a FILE, and for -, the standard input is read. Unreadable parts are skipped, "
			"counted and reported; the exit status is 2 then. An ARCHIVE is read by time. "
			"lifelines (pictures), receive (events of the net) and sense (load of hosts) have a --help of their own.",
		.table = table,
	};
	int first, exit_status;

	if (argc > 1 && (exit_status = run_own(argc - 1, argv + 1)) >= 0)
		return exit_status;
	exit_status = cmd_parse(&spec, argc, argv, &first);
	return exit_status >= 0 ? exit_status : run(&spec, &w, argc - first, argv + first);
}
