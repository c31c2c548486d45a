/* SPDX-License-Identifier: Apache-2.0 */
/* omig stats: summary statistics of numbers in files. Uses no monitor. */
#include "common/base/str.h"
#include "stats/histogram.h"
#include "stats/report.h"
#include "stats/series.h"
#include "stats/student.h"
#include "tools/cmd/cmd.h"
#include "tools/term/columns.h"
#include "tools/session/show.h"

#include <string.h>

#define OUTPUT_MAX_BYTES (64 << 20)

struct stats_options {
	struct report_options report;
	struct columns_options columns;
	struct stop until;
	uint64_t drop, lags, bins;
	int64_t drop_ns;
	uint64_t least, greatest;
	double fence;
	bool drops_transient, stores_none, json, csv;
};

/* An input file: a quantity for each column, created when the first row is read. */
struct sample {
	const struct stats_options *options;
	const char *path;
	unsigned n;
	struct quantity *quantity[COLUMNS_MAX];
	bool has_gap, is_full;
	int status;
};

/* --- input of values */

static const char *file_of(const struct sample *s)
{
	return str_eq(s->path, "-") ? "stdin" : s->path;
}

/* Names the quantity "delay.csv: value", or the available part of that. */
static int open_quantity(struct sample *s, const char *column, const struct columns_row *row)
{
	char name[FILENAME_MAX + COLUMNS_NAME_BYTES];
	struct quantity_options w = { .name = name,
				      .kind = s->options->stores_none ? QUANTITY_STATISTICS
								      : QUANTITY_VALUES,
				      .drop_count = s->options->drop,
				      .stop = s->options->until };
	struct err e = { 0 };

	if (s->options->drop_ns)
		w.drop_before = row->time_ns + s->options->drop_ns;
	snprintf(name, sizeof(name), "%s%s%s", file_of(s), *column ? ": " : "", column);
	if (quantity_open(&w, &s->quantity[s->n], &e))
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	s->n++;
	return CMD_OK;
}

static int open_all(struct sample *s, const struct columns_row *row)
{
	int rc = CMD_OK;

	if (s->options->drop_ns && !row->has_time)
		return cmd_fail(CMD_USAGE, "--drop-time needs a column of times; --time names it");
	for (unsigned i = 0; i < row->n && rc == CMD_OK; i++)
		rc = open_quantity(s, row->name[i], row);
	return rc;
}

static bool is_reached(const struct sample *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!quantity_is_done(s->quantity[i]))
			return false;
	return s->n > 0;
}

static int on_row(void *arg, const struct columns_row *row)
{
	struct sample *s = arg;

	if (!s->n)
		s->status = open_all(s, row);
	for (unsigned i = 0; i < s->n && s->status == CMD_OK; i++) {
		int rc = quantity_add_at(s->quantity[i],
					 row->has_time ? row->time_ns : QUANTITY_NO_TIME,
					 row->value[i]);

		s->has_gap |= rc == -ERR_INVALID;
		if (rc && rc != -ERR_INVALID)
			s->status = cmd_fail(CMD_FAILURE,
					     "%s: more values than fit; --stream keeps none",
					     file_of(s));
	}
	return s->status != CMD_OK || is_reached(s);
}

static int leave_out(const struct stats_options *w, struct quantity *q)
{
	struct err e = { 0 };
	int rc = 0;

	if (w->drops_transient && quantity_drop_transient(q, &e))
		cmd_warn("%s", e.text);
	if (w->least || w->greatest)
		rc = quantity_trim(q, w->least, w->greatest);
	if (!rc && w->fence > 0)
		rc = quantity_trim_beyond(q, w->fence);
	return rc ? cmd_fail(CMD_FAILURE, "out of memory") : CMD_OK;
}

/* --- their statistics */

struct pair {
	const char *a, *b;
	double covariance, correlation;
};

/* Returns the pairs of two columns. A row with a gap has no pair. */
static struct pair pair_of(const struct sample *s, unsigned i, unsigned k)
{
	size_t n, m;
	const double *x = quantity_values(s->quantity[i], &n),
		     *y = quantity_values(s->quantity[k], &m);
	bool has = !s->has_gap && x && y && n == m;

	return (struct pair){ .a = quantity_name(s->quantity[i]),
			      .b = quantity_name(s->quantity[k]),
			      .covariance = has ? series_covariance(x, y, n) : NAN,
			      .correlation = has ? series_correlation(x, y, n) : NAN };
}

static void put_pair_text(const struct pair *p, struct buf *out)
{
	char a[300], b[300];

	buf_printf(out, "%s and %s: covariance %.9g, correlation %.9g\n",
		   str_show(a, sizeof(a), p->a), str_show(b, sizeof(b), p->b), p->covariance,
		   p->correlation);
}

static void put_pair_json(const struct pair *p, struct json *out)
{
	json_object(out);
	json_key_str(out, "a", p->a);
	json_key_str(out, "b", p->b);
	json_key_double(out, "covariance", p->covariance);
	json_key_double(out, "correlation", p->correlation);
	json_object_end(out);
}

/* Writes a table to `text`, or an object to `json`. */
struct output {
	struct buf text, pairs, failed;
	struct json json, json_pairs, json_failed;
	unsigned nquantity, nfailed; /* nfailed: files of which something is missing */
};

static void put_pairs(const struct sample *s, struct output *out)
{
	for (unsigned i = 0; i < s->n && !s->options->stores_none; i++)
		for (unsigned k = i + 1; k < s->n; k++) {
			struct pair p = pair_of(s, i, k);

			if (s->options->json)
				put_pair_json(&p, &out->json_pairs);
			else if (!s->options->csv)
				put_pair_text(&p, &out->pairs);
		}
}

static void put_quantity(const struct stats_options *w, struct quantity *q, struct output *out)
{
	out->nquantity++;
	if (w->json)
		report_json(q, &w->report, &out->json);
	else if (w->csv)
		report_csv(q, &w->report, &out->text);
	else
		report_text(q, &w->report, &out->text);
}

/* The rule is evaluated again without the omitted values. */
static int report_sample(struct sample *s, struct output *out)
{
	int rc = CMD_OK;

	put_pairs(s, out);
	for (unsigned i = 0; i < s->n && rc == CMD_OK; i++) {
		rc = leave_out(s->options, s->quantity[i]);
		put_quantity(s->options, s->quantity[i], out);
	}
	if (rc == CMD_OK && !s->n)
		return cmd_fail(CMD_FAILURE,
				"%s has no values: a number a line, or CSV, is expected",
				file_of(s));
	if (rc == CMD_OK && s->options->until.n && !is_reached(s))
		return cmd_fail(CMD_FAILURE, "%s: not precise enough: --until is not reached",
				file_of(s));
	return rc;
}

static int do_file(const struct stats_options *w, const char *path, struct output *out)
{
	struct sample s = { .options = w, .path = path };
	int rc = columns_read(path, &w->columns, on_row, &s), end = s.status;

	if (end == CMD_OK && (rc == CMD_OK || rc == CMD_FAILURE))
		end = report_sample(&s, out);
	for (unsigned i = 0; i < s.n; i++)
		quantity_free(s.quantity[i]);
	return end != CMD_OK ? end : rc;
}

static void put_failed(const char *path, int status, struct output *out)
{
	out->nfailed++;
	json_object(&out->json_failed);
	json_key_str(&out->json_failed, "file", path);
	cmd_put_error(&out->json_failed, status);
	json_object_end(&out->json_failed);
}

static void begin_output(const struct stats_options *w, struct output *out)
{
	json_init(&out->json, &out->text);
	json_init(&out->json_pairs, &out->pairs);
	json_init(&out->json_failed, &out->failed);
	if (w->json) {
		json_object(&out->json);
		json_key_array(&out->json, "quantities");
		json_array(&out->json_pairs);
		json_array(&out->json_failed);
	}
	if (w->csv)
		report_csv_head(&w->report, &out->text);
}

/* Moves the list in `from`, which is a whole value. */
static void put_list(const char *key, struct json *list, const struct buf *from, struct buf *to)
{
	json_array_end(list);
	buf_printf(to, ",\"%s\":", key);
	buf_put(to, from->p, from->n);
	to->failed |= from->failed;
}

/* Without any quantity the output consists of the messages. */
static int end_output(const struct stats_options *w, struct output *out)
{
	if (!w->json) {
		buf_put(&out->text, out->pairs.p, out->pairs.n);
		fwrite(out->text.p, 1, out->text.n, stdout);
		return out->text.failed ? cmd_fail(CMD_FAILURE, "out of memory") : CMD_OK;
	}
	if (!out->nquantity)
		return CMD_OK;
	json_array_end(&out->json);
	put_list("pairs", &out->json_pairs, &out->pairs, &out->text);
	if (out->nfailed)
		put_list("failed", &out->json_failed, &out->failed, &out->text);
	json_object_end(&out->json);
	return show_json_line(&out->json, &out->text) ? CMD_OK : CMD_FAILURE;
}

static int do_files(const struct stats_options *w, char **path)
{
	struct output out = { .text = BUF_INIT(OUTPUT_MAX_BYTES),
			      .pairs = BUF_INIT(OUTPUT_MAX_BYTES),
			      .failed = BUF_INIT(OUTPUT_MAX_BYTES) };
	char input[] = "-";
	char *only[] = { input, NULL };
	int worst = CMD_OK, rc;

	begin_output(w, &out);
	for (char **p = path[0] ? path : only; *p; p++) {
		rc = do_file(w, *p, &out);
		if (rc != CMD_OK)
			put_failed(*p, rc, &out);
		worst = worst != CMD_OK ? worst : rc;
	}
	rc = end_output(w, &out);
	buf_done(&out.text);
	buf_done(&out.pairs);
	buf_done(&out.failed);
	return worst != CMD_OK ? worst : rc;
}

/* --- the command line */

static int set_until(void *into, const char *value, struct err *e)
{
	return stop_parse(value, into, e);
}

static int set_level(void *into, const char *value, struct err *e)
{
	struct report_options *w = into;

	if (str_to_double(value, STUDENT_LEVEL_MIN, STUDENT_LEVEL_MAX, &w->level))
		return err_set(e, ERR_INVALID, "a level is a number like 0.95, not '%s'", value);
	return 0;
}

static int set_quantiles(void *into, const char *value, struct err *e)
{
	struct report_options *w = into;
	char text[1024], *at = text, *one;

	w->nquantile = 0;
	if (!str_copy(text, sizeof(text), value))
		return err_set(e, ERR_LIMIT, "more than %d quantiles", REPORT_QUANTILES_MAX);
	while ((one = strsep(&at, ","))) {
		if (w->nquantile == REPORT_QUANTILES_MAX)
			return err_set(e, ERR_LIMIT, "more than %d quantiles",
				       REPORT_QUANTILES_MAX);
		if (str_to_double(one, 0, 1, &w->quantile[w->nquantile++]))
			return err_set(e, ERR_INVALID,
				       "quantiles are numbers from 0 to 1 with commas between");
	}
	return 0;
}

/* "3" from each end, "0,3" only of the greatest. */
static int set_trim(void *into, const char *value, struct err *e)
{
	struct stats_options *w = into;
	char text[64], *at = text, *one = text;

	if (str_copy(text, sizeof(text), value)) {
		strsep(&at, ",");
		if (!str_to_u64(one, 0, UINT32_MAX, &w->least) &&
		    !str_to_u64(at ? at : one, 0, UINT32_MAX, &w->greatest))
			return 0;
	}
	return err_set(e, ERR_INVALID, "--trim takes N, or LEAST,GREATEST: how many values");
}

static const char *contradiction(const struct stats_options *w)
{
	if (w->json && w->csv)
		return "--json or --csv";
	if (w->csv && (w->lags || w->report.histogram))
		return "CSV has no room for --lags and --histogram";
	if (w->fence < 0)
		return "--fence takes a number above 0: 1.5 or 3";
	if (w->stores_none &&
	    (w->drops_transient || w->least || w->greatest || w->fence > 0 || w->lags > 1))
		return "--stream keeps no values: --drop-transient, --trim, --fence and --lags "
		       "need them";
	return NULL;
}

static const char details[] =
	"Without a FILE, and for -, the standard input is read: a number a line, or columns with\n"
	"commas, semicolons, tabs or space between, with or without a line of names. Lines that cannot\n"
	"be read are skipped and counted; empty cells are gaps. Exit status 1: there were such lines,\n"
	"or --until is not fulfilled.";

int cmd_stats(int argc, char **argv)
{
	struct stats_options w = { .report = report_usual };
	const struct opt table[] = {
		OPTION("column", 'c', "LIST",
		       "names or numbers (from 1) of columns, by commas (default: 'value', else the "
		       "first)",
		       OPT_STR, &w.columns.list),
		OPTION_CALL(
			"until", 'u', "RULE",
			"read no further when it holds: 'ci(0.95) < 5%', 'n >= 1000', with and, or",
			&w.until, set_until),
		OPTION_CALL("level", 'l', "LEVEL", "of the intervals (default 0.95)", &w.report,
			    set_level),
		OPTION_CALL("quantiles", 0, "LIST",
			    "by commas (default 0.05,0.25,0.5,0.75,0.95,0.99)", &w.report,
			    set_quantiles),
		OPTION_RANGE("drop", 0, "N", "leave the first N values out", OPT_U64, &w.drop, 1,
			     INT64_MAX),
		OPTION_RANGE("drop-time", 0, "TIME", "leave the values of the first TIME out",
			     OPT_NSEC, &w.drop_ns, 1, INT64_MAX / 4),
		OPTION("drop-transient", 0, NULL,
		       "leave out as many at the beginning as MSER-5 determines", OPT_FLAG,
		       &w.drops_transient),
		OPTION("time", 0, "COLUMN",
		       "the times: nanoseconds when its name ends with _ns, else seconds (default "
		       "'time_ns')",
		       OPT_STR, &w.columns.time),
		OPTION_CALL("trim", 0, "N[,M]", "leave out the N smallest and the M largest values",
			    &w, set_trim),
		OPTION("fence", 0, "K",
		       "leave out values more than K quartile ranges outside of the quartiles",
		       OPT_DOUBLE, &w.fence),
		OPTION_RANGE("lags", 0, "N", "autocorrelation up to lag N", OPT_U64, &w.lags, 1,
			     REPORT_LAGS_MAX),
		OPTION("histogram", 0, NULL, "the distribution of the values", OPT_FLAG,
		       &w.report.histogram),
		OPTION_RANGE("bins", 0, "N", "of the histogram (default: automatic)", OPT_U64,
			     &w.bins, 1, 200),
		OPTION("stream", 0, NULL,
		       "keep no values: constant memory, quantiles within a bound", OPT_FLAG,
		       &w.stores_none),
		OPTION("csv", 0, NULL, "write CSV, a line a quantity", OPT_FLAG, &w.csv),
		OPTION("json", 'j', NULL, "write JSON", OPT_FLAG, &w.json),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig stats",
		.usage = "[OPTION...] [FILE...]",
		.summary = "summary statistics of numbers, with confidence intervals",
		.details = details,
		.table = table,
	};
	int first, status = cmd_parse(&spec, argc, argv, &first);
	const char *wrong;

	if (status >= 0)
		return status;
	wrong = contradiction(&w);
	if (wrong)
		return cmd_usage(&spec, "%s", wrong);
	w.report.lags = (unsigned)w.lags;
	w.report.bins = (unsigned)w.bins;
	w.report.histogram |= w.bins > 0;
	return do_files(&w, argv + first);
}
