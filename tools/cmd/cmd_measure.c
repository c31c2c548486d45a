/* SPDX-License-Identifier: Apache-2.0 */
/* omig measure and omig watch: a metric, on objects, live, as text or as pictures. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "pmsl/check/builtin.h"
#include "tools/cmd/cmd.h"
#include "tools/measure/charts.h"
#include "tools/measure/measurement.h"
#include "tools/measure/measurement_ended.h"
#include "tools/measure/pmsl_text.h"
#include "tools/session/waiting.h"
#include "tools/term/signals.h"
#include "tools/term/wholefile.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ATTACH_NS NSEC_PER_SEC /* interval of the search for new processes */

/* --- the text */

/*
 * Notes the kinds of objects, under any name in the text: partners are its second processes,
 * regions its first.
 */
static int note_names(struct measurement *m, const struct pmsl_metric *metric)
{
	const struct pmsl_decl *partners = NULL, *regions = NULL;
	bool has_objects = false;

	for (const struct pmsl_decl *d = metric->param; d; d = d->next) {
		m->is_of_processes |= d->type.kind == PMSL_T_PROCESS;
		if (d->type.kind == PMSL_T_PROCESS && has_objects && !partners)
			partners = d;
		if (d->type.kind == PMSL_T_REGION && !regions)
			regions = d;
		has_objects |= pmsl_is_object(d->type.kind);
	}
	m->partners_name = partners ? str_dup(partners->name) : NULL;
	m->regions_name = regions ? str_dup(regions->name) : NULL;
	if ((partners && !m->partners_name) || (regions && !m->regions_name))
		return cmd_fail(CMD_FAILURE, "out of memory");
	return CMD_OK;
}

/*
 * Reports errors as `omig check` does, before any request is sent. Metrics that the text does
 * not have may be known to mainsm.
 */
static int check_text(struct measurement *m, const char *text, size_t n)
{
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct pmsl *p = NULL;
	const char *file = m->options->file;
	const char *name = file ? wholefile_name(file) : m->options->metric;
	const struct pmsl_metric *metric;
	bool is_open;
	int rc;

	if (pmsl_compile(name, text, n, &d, &p))
		return cmd_fail(CMD_FAILURE, "out of memory");
	is_open = d.nerror && d.nerror == d.nunknown;
	metric = pmsl_metric(p, m->options->metric, &d);
	if (!metric && is_open)
		metric = pmsl_tree_find(pmsl_tree(p), m->options->metric);
	rc = metric ? note_names(m, metric) : CMD_FAILURE;
	if (!metric) {
		pmsl_text_report(&m->term, stderr, p, &d);
		cmd_note(rc, "the text of the metric has errors: omig check names them");
	}
	pmsl_free(p);
	return rc;
}

static int read_text(struct measurement *m)
{
	struct err e = { 0 };
	int rc = wholefile_read(m->options->file, PMSL_SOURCE_MAX_BYTES, &m->text, &e);

	if (rc)
		return cmd_fail(rc == -ERR_NOTFOUND ? CMD_NOTFOUND : CMD_FAILURE, "%s", e.text);
	return check_text(m, buf_str(&m->text), m->text.n);
}

/* --- the loop */

static void serve_terminal(struct measurement *m)
{
	bool is_changed = false;
	int key;

	while ((key = term_key(&m->term)) >= 0) {
		m->is_over |= key == 'q' || key == 'Q';
		is_changed |= m->charts && charts_key(m->charts, key);
	}
	if (signals_resize) {
		signals_resize = 0;
		term_measure(&m->term);
		is_changed |= m->charts != NULL;
	}
	if (is_changed && m->term.is_raw && m->shown)
		m->is_over |= !measurement_show_charts(m);
}

static bool has_enough(const struct measurement *m)
{
	return measurement_is_reached(m) || (m->options->count && m->shown >= m->options->count);
}

static bool count_read(struct measurement *m, const struct reading *r)
{
	int rc = measurement_count(m, r);

	if (rc != CMD_OK)
		m->status = rc;
	return rc == CMD_OK;
}

/* True: the missing value was shown with its reason, so the command does not wait for it. */
static bool is_refused(struct measurement *m, const struct reading *r)
{
	if (measurement_is_refused(m, r))
		m->status = cmd_fail(CMD_PARTIAL, "none of the objects can measure %s",
				     m->options->metric);
	return m->status != CMD_OK;
}

/* Without --count and --for, a measurement lasts until its processes have ended. */
static bool is_done(struct measurement *m, const struct reading *r)
{
	if (m->options->count || m->options->for_ns || !measurement_has_ended(m, r))
		return false;
	m->has_ended = true;
	return true;
}

static void show_all(struct measurement *m)
{
	struct reading *r;

	while (!m->is_over && !has_enough(m) && (r = measurement_next(m))) {
		m->is_over = is_done(m, r) || !measurement_show(m, r) || !count_read(m, r) ||
			     is_refused(m, r);
		reading_free(r);
	}
}

static void watch(struct measurement *m)
{
	nsec_t end = m->options->for_ns ? clock_mono() + m->options->for_ns : INT64_MAX;
	nsec_t attach = clock_mono() + ATTACH_NS, now;
	struct waiting waiting;

	waiting_begin(&waiting, "waiting for the first interval", "ends it",
		      clock_mono() + m->options->every_ns,
		      m->options->common.json || m->options->csv);
	while (!m->is_over && !signals_last && !has_enough(m) && (now = clock_mono()) < end) {
		if (now >= attach && !m->csr.gap.since) {
			measurement_attach(m);
			attach = now + ATTACH_NS;
		}
		session_turn(end - now, m->term.is_raw);
		serve_terminal(m);
		waiting_show(&waiting);
		if (m->first)
			waiting_end(&waiting);
		show_all(m);
		m->status = m->status ? m->status : measurement_check(m);
		m->is_over |= m->status != CMD_OK;
	}
	waiting_end(&waiting);
}

static bool is_live(const struct measurement_options *w)
{
	return !w->common.json && !w->csv && !w->count && !w->for_ns;
}

/* True if entry i of the list of registered texts has the metric: [name, version, added, bytes,
 * [metric...]].
 */
static bool is_in(const Omis_value *texts, size_t i, const char *metric)
{
	const Omis_value *metrics = value_at(value_at(texts, i), 4);

	for (size_t k = 0; metrics && k < metrics->n; k++)
		if (str_eq(value_text(metrics, k), metric))
			return true;
	return false;
}

static int note_registered(struct measurement *m, const char *name)
{
	Omis_value *v = NULL;
	int rc = session_ask_value(&v, ":omig_metrics_get(\"%s\")", name);

	if (rc == CMD_OK)
		rc = check_text(m, value_text(v, 2), strlen(value_text(v, 2)));
	omis_value_free(v);
	return rc;
}

/* A metric without a file that is not built in: the names of its parameters. mainsm has its text,
 * or reports that there is none. */
static int find_registered(struct measurement *m)
{
	const char *metric = m->options->metric;
	Omis_value *texts;
	Omis_reply r;
	int rc = CMD_OK;

	if (m->options->file || pmsl_builtin_find(metric) >= 0)
		return CMD_OK;
	rc = session_ask(&r, ":omig_metrics_list()");
	if (rc != CMD_OK)
		return rc;
	texts = session_values(r);
	for (size_t i = 0; rc == CMD_OK && value_at(texts, i); i++)
		if (is_in(texts, i, metric))
			rc = note_registered(m, value_text(value_at(texts, i), 0));
	omis_value_free(texts);
	omis_reply_free(r);
	return rc;
}

static int measure(struct measurement *m, const char **job)
{
	int rc = session_open_job(&m->options->common, job);

	if (rc != CMD_OK)
		return rc;
	signals_catch(false);
	rc = find_registered(m);
	if (rc == CMD_OK)
		rc = measurement_begin(m);
	if (rc == CMD_OK) {
		if (is_live(m->options))
			term_raw(&m->term);
		watch(m);
		term_restore();
		if (m->charts && m->shown && !m->term.is_raw)
			measurement_show_charts(m);
		measurement_report_until(m);
		rc = m->status;
	}
	session_close();
	if (signals_status(rc) != rc)
		return signals_status(rc);
	if (rc == CMD_OK && !m->shown && !signals_last && !m->is_over)
		return cmd_fail(CMD_TIMEOUT, "no interval has ended in that time");
	if (rc == CMD_OK && m->has_ended)
		fprintf(stderr, "omig: the processes have ended\n");
	if (rc == CMD_OK && m->options->until.n && !measurement_is_reached(m) && !signals_last &&
	    (!m->is_over || m->has_ended))
		return cmd_fail(CMD_FAILURE, "not precise enough yet: --until is not reached");
	return rc == CMD_OK && m->shown && m->is_partial ? CMD_PARTIAL : rc;
}

/* Options of `omig watch`; NULL for `omig measure`. */
struct pictures {
	enum charts_kind kind;
	enum paint_glyphs glyphs;
};

static int make_charts(struct measurement *m, const struct pictures *as)
{
	struct paint paint;

	if (!as || m->options->common.json || m->options->csv)
		return CMD_OK;
	paint.glyphs = as->glyphs;
	paint.depth = paint_depth(m->term.has_color);
	m->charts = charts_new(as->kind, paint, m->options->every_ns);
	return m->charts ? CMD_OK : cmd_fail(CMD_FAILURE, "out of memory");
}

static int run(struct measurement_options *w, const struct pictures *as)
{
	struct measurement m = { .options = w, .text = BUF_INIT(PMSL_SOURCE_MAX_BYTES + 1) };
	int rc;

	term_open(&m.term, w->common.color);
	rc = make_charts(&m, as);
	if (rc == CMD_OK && w->file)
		rc = read_text(&m);
	if (rc == CMD_OK)
		rc = measure(&m, &w->job);
	charts_free(m.charts);
	measurement_end(&m);
	return rc;
}

/* --- the command line */

static int add_region(void *into, const char *value, struct err *e)
{
	struct measurement_options *w = into;

	if (w->nregion == MEASUREMENT_REGIONS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d regions", MEASUREMENT_REGIONS_MAX);
	w->region[w->nregion++] = value;
	return 0;
}

static int add_set(void *into, const char *value, struct err *e)
{
	struct measurement_options *w = into;

	if (w->nset == MEASUREMENT_SETS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d parameters", MEASUREMENT_SETS_MAX);
	w->set[w->nset++] = value;
	return 0;
}

static bool is_word(const char *word, const char *s, size_t n)
{
	return strlen(word) == n && !memcmp(word, s, n);
}

static bool is_group(const char *s, size_t n)
{
	static const char *const groups[] = { "process", "node", "site" };

	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		if (is_word(groups[i], s, n))
			return true;
	return false;
}

/* Takes one word of --by; each kind may occur once. */
static bool take_by(struct measurement_options *w, const char *s, size_t n, bool *has_group)
{
	bool *taken = is_group(s, n)		 ? has_group
		      : is_word("partner", s, n) ? &w->each_partner
		      : is_word("region", s, n)	 ? &w->each_region
						 : NULL;

	if (!taken || *taken)
		return false;
	*taken = true;
	return true;
}

static int set_by(void *into, const char *value, struct err *e)
{
	struct measurement_options *w = into;
	bool has_group = false, ok = true;

	w->each_partner = w->each_region = false;
	w->by = value;
	for (const char *s = value; ok; s += strcspn(s, ",") + 1) {
		ok = take_by(w, s, strcspn(s, ","), &has_group);
		if (!s[strcspn(s, ",")])
			break;
	}
	return ok ? 0
		  : err_set(e, ERR_INVALID,
			    "process, node or site, partner, region, or one of each by commas, not '%s'",
			    value);
}

static int set_until(void *into, const char *value, struct err *e)
{
	return stop_parse(value, into, e);
}

static const char *contradiction(const struct measurement_options *w)
{
	if (w->since_start && w->since_last)
		return "--since-start or --since-last";
	if (w->csv && w->common.json)
		return "--csv or --json";
	return NULL;
}

static const char details[] =
	"omig metrics lists the built-in metrics. Each value has the number of objects in it and of all\n"
	"objects, and its flags. The command ends when all processes have ended; with --count or --for\n"
	"it continues. On a terminal: q quits. Elsewhere one line a value: time, read, object, value,\n"
	"unit, bound of the error, k/n, flags; with --json one object a read. Exit status 6: objects\n"
	"were missing in the last read, or none can measure the metric. When mainsm is lost and\n"
	"returns, the measurement begins again: values that lack the time before have the flag lost,\n"
	"the numbers of reads continue, and JSON has the gap (gap_ns). --until counts the values of\n"
	"which a metric of a file returns MEAN, STDEV, VARIANCE, SKEWNESS, KURTOSIS or CI, over virtual\n"
	"times since the start. Otherwise a value is a read; with ci() it is the increase since the\n"
	"last read, unless --since-start is given. At the end are their statistics, on stderr or as a\n"
	"last object of JSON. Exit status 1: the rule was not fulfilled.";

static const char watch_details[] =
	"The first line names the object with the highest value. `auto` draws curves of up to 8\n"
	"objects, a map of more, and the histogram of a metric that returns one. Ten minutes of reads\n"
	"are kept. On a terminal: c shows the next kind of chart, space freezes the picture, left and\n"
	"right scroll through the reads, q quits. Elsewhere one picture is written at the end; --json\n"
	"and --csv write what omig measure does. A read without a value is a gap in a curve, and a\n"
	"hatch in a map. All other options are those of omig measure, and so is the exit status.";

static int run_with(const struct opt_spec *spec, struct measurement_options *w,
		    const struct pictures *as, char **metric, int n)
{
	const char *wrong = contradiction(w);

	if (n != 1)
		return cmd_usage(spec, n ? "one metric" : "which metric?");
	if (wrong)
		return cmd_usage(spec, "%s", wrong);
	w->metric = metric[0];
	return run(w, as);
}

static int parse(const struct opt *table, struct measurement_options *w, const struct pictures *as,
		 int argc, char **argv)
{
	const struct opt_spec spec = {
		.program = as ? "omig watch" : "omig measure",
		.usage = "[OPTION...] METRIC",
		.summary = as ? "shows a metric live, as curves, bars or a map"
			      : "measures a metric live, a line for each value and interval",
		.details = as ? watch_details : details,
		.table = table,
	};
	int first, status = cmd_parse(&spec, argc, argv, &first);

	return status >= 0 ? status : run_with(&spec, w, as, argv + first, argc - first);
}

#define WATCH_OPTIONS 2 /* the last ones of the table */

static int command(int argc, char **argv, bool is_watch)
{
	struct pictures as = { .kind = CHARTS_AUTO };
	struct measurement_options w = { .common = CMD_COMMON_INIT,
					 .objects = "all",
					 .every_ns = NSEC_PER_SEC,
					 .reconnect_ns = SESSION_GAP_LIMIT_NS };
	struct opt table[] = {
		CMD_OPTIONS(&w.common),
		OPTION("file", 'f', "FILE",
		       "the metric is of this file ('-': standard input), not built in", OPT_STR,
		       &w.file),
		OPTION("objects", 'o', "LIST",
		       "all (the default), or sites, hosts, ranks and tokens, by commas", OPT_STR,
		       &w.objects),
		OPTION_CALL(
			"by", 'b', "WHAT",
			"process, node, site, partner or region: a value for each; for each of several: process,partner,region",
			&w, set_by),
		OPTION_RANGE("every", 'e', "TIME", "between two reads (default 1s)", OPT_NSEC,
			     &w.every_ns, FLOW_EVERY_MIN_NS, FLOW_EVERY_MAX_NS),
		OPTION_RANGE("count", 'n', "N", "end after N reads", OPT_I64, &w.count, 1,
			     INT64_MAX),
		OPTION_RANGE("for", 0, "TIME", "end after this time", OPT_NSEC, &w.for_ns,
			     NSEC_PER_MSEC, INT64_MAX / 4),
		OPTION_CALL(
			"until", 'u', "RULE",
			"end when the rule holds for each object: 'ci(0.95) < 5%', 'n >= 1000', with and, or",
			&w.until, set_until),
		OPTION("since-start", 0, NULL,
		       "the increase since the measurement began (the default)", OPT_FLAG,
		       &w.since_start),
		OPTION("since-last", 0, NULL, "the increase since the last read", OPT_FLAG,
		       &w.since_last),
		OPTION("rate", 0, NULL, "the increase divided by that time", OPT_FLAG, &w.rate),
		OPTION("agg", 0, "HOW",
		       "how values of many objects become one: SUM, MEAN, MIN, MAX, ...", OPT_STR,
		       &w.agg),
		OPTION("partners", 0, "LIST", "calls with these partners only; as --objects",
		       OPT_STR, &w.partners),
		OPTION_CALL(
			"region", 0, "NAME",
			"calls in this region of the program: NAME or BEGIN..END of its probes, or function:NAME; of File_ metrics a path on a file system; may be given again",
			&w, add_region),
		OPTION_CALL(
			"set", 0, "NAME=VALUE",
			"a further parameter of the metric, a number or virtual times 10,20,30-40; may be given again",
			&w, add_set),
		OPTION("job", 0, "JOB", "see the processes of this job only", OPT_STR, &w.job),
		OPTION_RANGE(
			"reconnect-for", 0, "TIME",
			"wait this long for a mainsm that is lost, and continue (default 1m; 0: end)",
			OPT_NSEC, &w.reconnect_ns, 0, SESSION_GAP_MAX_NS),
		OPTION("csv", 0, NULL, "write CSV", OPT_FLAG, &w.csv),
		OPTION("tokens", 0, NULL, "show tokens, which requests take, in place of names",
		       OPT_FLAG, &w.tokens),
		OPTION_CALL("chart", 'c', "KIND",
			    "line, band, heat, bar, spark, hist or auto (the default)", &as.kind,
			    charts_kind),
		OPTION_CALL("glyphs", 0, "SET",
			    "ascii, blocks, braille or auto (the default: by the locale)",
			    &as.glyphs, charts_glyphs),
		{ 0 },
	};
	if (!is_watch)
		table[ARRAY_LEN(table) - 1 - WATCH_OPTIONS] = (struct opt){ 0 };
	paint_glyphs("auto", &as.glyphs);
	return parse(table, &w, is_watch ? &as : NULL, argc, argv);
}

int cmd_measure(int argc, char **argv)
{
	return command(argc, argv, false);
}

int cmd_watch(int argc, char **argv)
{
	return command(argc, argv, true);
}
