/* SPDX-License-Identifier: Apache-2.0 */
/*
 * omig neko: distributed algorithms, simulated and measured. Over several hosts their certificates
 * are those of a monitor.
 */
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/cli/endsignal.h"
#include "neko/algorithms/chen.h"
#include "neko/run/run.h"
#include "tools/term/say.h"
#include "neko/cmd/cmd_neko.h"
#include "neko/cmd/neko_compare.h"
#include "neko/cmd/neko_delays.h"
#include "neko/cmd/neko_form.h"
#include "neko/cmd/neko_hosts.h"
#include "neko/cmd/neko_messages.h"
#include "neko/cmd/neko_text.h"
#include "neko/cmd/neko_progress.h"
#include "neko/cmd/neko_show.h"
#include "neko/cmd/neko_sweep.h"
#include "tools/term/outfile.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct neko_options {
	const char *seed, *output, *messages, *delays, *hosts;
	struct neko_hosts_options over;
	bool is_simulated, is_real, json, csv;
	int64_t deadline_ns;
	struct neko_messages to_messages;
	struct neko_trace trace; /* trace of the first run, for JSON */
	struct neko_delays to_delays;
	struct neko_sweep sweep;
	size_t point; /* of the sweep, while it runs */
	const struct run *run; /* borrowed, of a single run */
	unsigned logs; /* logarithmic axes of a picture */
	struct text_form form; /* of plot */
	struct progress progress;
};

static void write_message(void *arg, const struct sim_step *t)
{
	struct neko_options *w = arg;

	neko_trace_message(&w->trace, t);
	neko_messages_step(&w->to_messages, t);
}

static void write_event(void *arg, const struct neko_event *v)
{
	struct neko_options *w = arg;

	neko_trace_event(&w->trace, w->run, v);
	neko_messages_event(&w->to_messages, v);
}

static int blame(const char *path, const struct err *e)
{
	bool is_ours = e->code == ERR_NOMEM || e->code == ERR_SYS || e->code == ERR_TIMEOUT;
	int status = e->code == ERR_NOTFOUND && !e->line ? CMD_NOTFOUND
		     : is_ours				 ? CMD_FAILURE
							 : CMD_USAGE;

	return e->line ? cmd_fail(status, "%s:%u: %s", path, e->line, e->text)
		       : cmd_fail(status, "%s: %s", path, e->text);
}

/* Returns the status of a run that did not complete. */
static int status_of(const struct run_counts *f)
{
	if (f->broken)
		return cmd_fail(CMD_FAILURE, "%s", f->broken);
	if (f->is_interrupted)
		return CMD_SIGNAL + end_signal;
	if (f->missing)
		return CMD_PARTIAL;
	return f->is_cut ? CMD_TIMEOUT : CMD_OK;
}

static enum neko_form form_of_output(const struct neko_options *w)
{
	return w->json ? NEKO_FORM_JSON : w->csv ? NEKO_FORM_CSV : NEKO_FORM_TEXT;
}

static void print_results(const struct neko_options *w, enum neko_form form,
			  const struct neko_form_run *v, struct buf *b)
{
	buf_clear(b);
	if (v->run)
		neko_form_run(b, form, v);
	else
		neko_form_sweep(b, form, v->path, &w->sweep);
}

/* Results go to the file, and to the standard output in another form. */
static int show(const struct neko_options *w, const struct neko_form_run *v)
{
	struct buf b = BUF_INIT(NEKO_SHOW_MAX_BYTES);
	int status = CMD_OK;

	if (w->output) {
		print_results(w, neko_form_of_file(w->output), v, &b);
		if (!b.failed)
			status = outfile_write(w->output, &b);
	}
	if (!b.failed)
		print_results(w, form_of_output(w), v, &b);
	if (b.failed)
		status = cmd_fail(CMD_FAILURE, "out of memory");
	else
		fputs(buf_str(&b), stdout);
	buf_done(&b);
	return status;
}

static int show_run(struct neko_options *w, const char *path, const struct run_counts *f)
{
	const struct neko_form_run v = { path, w->run, f, &w->sweep, &w->trace };
	int status;

	if (neko_sweep_note(&w->sweep, 0, w->run, f, NULL))
		return cmd_fail(CMD_FAILURE, "out of memory");
	status = show(w, &v);
	return status == CMD_OK ? status_of(f) : status;
}

/* Other hosts need a monitor. */
static int blame_run(const char *path, const struct err *e)
{
	return e->code == ERR_NOTFOUND && !e->line ? cmd_fail(CMD_UNREACHABLE, "%s", e->text)
						   : blame(path, e);
}

static void write_delay(void *arg, const struct neko_delay *d)
{
	struct neko_options *w = arg;

	if (w->delays)
		neko_delays_add(&w->to_delays, d);
	neko_trace_delay(&w->trace, d, run_type_name(w->run, d->type));
	neko_messages_delay(&w->to_messages, d);
}

static void warn_missing(const struct run *r)
{
	size_t n;
	const struct run_missing *m = run_missing(r, &n);

	for (size_t i = 0; i < n; i++)
		cmd_warn("process %u %s: the results cover a part only", m[i].id, m[i].why);
}

static int run_it(const struct neko_options *w, struct run *r, const struct run_options *options,
		  struct run_counts *f, struct err *e)
{
	struct neko_hosts_options over = w->over;

	if (!w->is_real)
		return run_simulate(r, options, f, e);
	over.list = w->hosts ? w->hosts : run_hosts(r);
	return over.list ? neko_hosts_run(&over, r, options, f, e) : run_real(r, options, f, e);
}

static void on_turn(void *arg, const struct run_turn *t)
{
	struct neko_options *w = arg;

	neko_progress(&w->progress, t, w->point + 1, neko_sweep_points(&w->sweep));
}

/* Prepares the files of messages and delays. Returns an exit status. */
static int open_records(struct neko_options *w, const struct run *r, struct run_options *options)
{
	bool is_traced = w->messages || w->output || w->json;

	w->run = r;
	if (is_traced) {
		options->on_message = write_message;
		options->on_event = write_event;
	}
	if (w->is_real && (w->delays || is_traced))
		options->on_delay = write_delay;
	neko_messages_begin(&w->to_messages, r, w->is_real);
	return neko_delays_open(&w->to_delays, w->delays, r);
}

/* Returns the status of the first file that is incomplete. */
static int finish_records(struct neko_options *w, const struct run_counts *f)
{
	int delays = neko_delays_finish(&w->to_delays);
	int messages = neko_messages_finish(&w->to_messages);

	w->trace.has_lost = f->has_lost_delays;
	if (delays != CMD_OK || messages != CMD_OK)
		return delays != CMD_OK ? delays : messages;
	if (!f->has_lost_delays || (!w->delays && !w->messages))
		return CMD_OK;
	cmd_warn("the files of messages have a part only: there were more than there is room for");
	return CMD_PARTIAL;
}

static int run_with_options(struct neko_options *w, struct run *r, const char *path)
{
	struct run_options options = { .deadline = clock_mono() + w->deadline_ns,
				       .interrupt = &end_signal,
				       .on_turn = on_turn,
				       .arg = w };
	struct run_counts f;
	struct err e = { 0 };
	int status = open_records(w, r, &options), written, rc;

	if (status != CMD_OK)
		return status;
	end_signal_catch();
	progress_begin(&w->progress, false);
	rc = run_it(w, r, &options, &f, &e);
	progress_end(&w->progress);
	if (rc || run_flush(r, &e))
		return blame_run(path, &e);
	warn_missing(r);
	if (f.stuck)
		cmd_warn("%u active layers did not return at the end of their run", f.stuck);
	written = finish_records(w, &f);
	status = show_run(w, path, &f);
	return status == CMD_OK ? written : status;
}

static int run_setup(struct neko_options *w, struct setup *s, const char *path)
{
	struct run *r = NULL;
	struct err e = { 0 };
	int status;

	if ((w->seed && setup_set(s, "simulation.seed", w->seed, &e)) ||
	    neko_sweep_apply(&w->sweep, 0, s, &e))
		return blame(path, &e);
	if (run_new(s, &r, &e))
		return blame(path, &e);
	status = run_with_options(w, r, path);
	neko_delays_done(&w->to_delays);
	run_free(r);
	return status;
}

static int run_file(struct neko_options *w, const char *path)
{
	struct setup *s = NULL;
	struct err e = { 0 };
	int status;

	if (setup_read(path, &s, &e))
		return e.line ? blame(path, &e)
			      : cmd_fail(e.code == ERR_NOTFOUND ? CMD_NOTFOUND : CMD_FAILURE, "%s",
					 e.text);
	if (w->output && file_check_writable(w->output, &e)) {
		setup_free(s);
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	}
	status = neko_messages_open(&w->to_messages, w->messages);
	if (status == CMD_OK)
		status = run_setup(w, s, path);
	neko_messages_done(&w->to_messages);
	setup_free(s);
	return status;
}

/* --- sweeps */

/* *status: exit status of the first run that did not complete. */
static int run_point(struct neko_options *w, struct run *r, const struct run_options *options,
		     int *status, struct err *e)
{
	struct run_counts f;
	int rc = run_it(w, r, options, &f, e);

	if (!rc)
		rc = run_flush(r, e);
	if (!rc)
		rc = neko_sweep_note(&w->sweep, w->point, r, &f, e);
	if (!rc && *status == CMD_OK) {
		progress_end(&w->progress);
		warn_missing(r);
		*status = status_of(&f);
	}
	return rc;
}

static int sweep_point(struct neko_options *w, const char *path, const struct run_options *options,
		       int *status)
{
	struct setup *s = NULL;
	struct run *r = NULL;
	struct err e = { 0 };
	int rc = setup_read(path, &s, &e);

	if (rc) {
		setup_free(s);
		return e.line ? blame(path, &e)
			      : cmd_fail(e.code == ERR_NOTFOUND ? CMD_NOTFOUND : CMD_FAILURE, "%s",
					 e.text);
	}
	rc = w->seed ? setup_set(s, "simulation.seed", w->seed, &e) : 0;
	if (!rc)
		rc = neko_sweep_apply(&w->sweep, w->point, s, &e);
	if (!rc)
		rc = run_new(s, &r, &e);
	if (!rc)
		rc = run_point(w, r, options, status, &e);
	progress_end(&w->progress);
	if (rc)
		rc = r ? blame_run(path, &e) : blame(path, &e);
	run_free(r);
	setup_free(s);
	return rc;
}

/* Runs before an error or a signal are shown, too. */
static int sweep_file(struct neko_options *w, const char *path)
{
	const struct run_options options = { .deadline = clock_mono() + w->deadline_ns,
					     .interrupt = &end_signal,
					     .on_turn = on_turn,
					     .arg = w };
	size_t n = neko_sweep_points(&w->sweep);
	int status = CMD_OK, rc = CMD_OK, shown;
	struct err e = { 0 };

	if (w->output && file_check_writable(w->output, &e))
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	end_signal_catch();
	progress_begin(&w->progress, false);
	for (w->point = 0; w->point < n && rc == CMD_OK; w->point++) {
		rc = sweep_point(w, path, &options, &status);
		if (end_signal || clock_mono() >= options.deadline)
			break;
	}
	if (rc != CMD_OK && !w->sweep.row)
		return rc;
	if (rc == CMD_OK && status == CMD_OK && w->point + 1 < n)
		status = end_signal ? CMD_SIGNAL + end_signal : w->point < n ? CMD_TIMEOUT : CMD_OK;
	shown = show(w, &(struct neko_form_run){ .path = path });
	return rc != CMD_OK ? rc : status != CMD_OK ? status : shown;
}

static int print_json(struct json *j, struct buf *b)
{
	int rc = json_end(j) || printf("%s\n", buf_str(b)) < 0 ? CMD_FAILURE : CMD_OK;

	buf_done(b);
	return rc ? cmd_fail(rc, "standard output: %m") : CMD_OK;
}

static int list_json(void)
{
	struct buf b = BUF_INIT(65536);
	struct json j;

	json_init(&j, &b);
	json_array(&j);
	for (const struct neko_kind *a = apps; a->name; a++) {
		json_object(&j);
		json_key_str(&j, "name", a->name);
		json_key_str(&j, "summary", a->summary);
		json_object_end(&j);
	}
	json_array_end(&j);
	return print_json(&j, &b);
}

static int list(bool json)
{
	if (json)
		return list_json();
	for (const struct neko_kind *a = apps; a->name; a++)
		printf("%-10s %s\n", a->name, a->summary);
	return CMD_OK;
}

static int show_configured(double eta, double delta, bool json)
{
	struct buf b = BUF_INIT(4096);
	struct json j;

	if (!json) {
		printf("fd.eta = %.4fs\nfd.delta = %.4fs\n", eta, delta);
		return CMD_OK;
	}
	json_init(&j, &b);
	json_object(&j);
	json_key_double(&j, "eta_s", eta);
	json_key_double(&j, "delta_s", delta);
	json_object_end(&j);
	return print_json(&j, &b);
}

/*
 * DETECTION RECURRENCE DURATION LOSS DELAY: requirements of the failure detector, and the network.
 */
static int configure(const struct opt_spec *spec, char **argv, bool json)
{
	int64_t ns[3];
	struct chen_requirements w;
	struct chen c = { 0 };
	struct err e = { 0 };

	for (int i = 0; i < 3; i++)
		if (opt_to_nsec(argv[i], 1, INT64_MAX / 2, &ns[i]))
			return cmd_usage(spec, "'%s' is not a time", argv[i]);
	if (str_to_double(argv[3], 0, 1, &c.loss))
		return cmd_usage(spec, "'%s' is not a chance of a loss: a number from 0 to 1",
				 argv[3]);
	if (delay_parse(argv[4], &c.delay, &e))
		return cmd_usage(spec, "%s", e.text);
	w = (struct chen_requirements){ (double)ns[0] / 1e9, (double)ns[1] / 1e9,
					(double)ns[2] / 1e9 };
	if (chen_configure(&w, &c, &e))
		return cmd_fail(CMD_FAILURE, "%s", e.text);
	return show_configured(c.eta, c.delta, json);
}

static const char verbs[] = "run compare plot factory list configure";

static bool is_verb(const char *word)
{
	size_t n = strlen(word);
	const char *at = n ? strstr(verbs, word) : NULL;

	return at && (at == verbs || at[-1] == ' ') && (!at[n] || at[n] == ' ');
}

/* "simulation = true" of the file. Its errors are reported by the run. */
static void choose_world(struct neko_options *w, const char *path)
{
	struct setup *s = NULL;

	if (setup_read(path, &s, NULL))
		return;
	if (setup_get(s, "simulation") && !setup_bool(s, "simulation", &w->is_simulated, NULL))
		w->is_real = !w->is_simulated;
	setup_free(s);
}

static int dispatch(const struct opt_spec *spec, struct neko_options *w, int argc, char **argv)
{
	uint64_t seed;

	if (argc == 1 && str_eq(argv[0], "list"))
		return list(w->json);
	if (argc == 6 && str_eq(argv[0], "configure"))
		return configure(spec, argv + 1, w->json);
	if ((argc == 2 || argc == 3) && str_eq(argv[0], "plot"))
		return neko_plot(argv + 1, (size_t)argc - 1,
				 &(struct plot_options){ w->output, w->logs, &w->form });
	if (argc == 3 && str_eq(argv[0], "compare"))
		return neko_compare(argv[1], argv[2], w->json);
	if (argc == 1 && str_eq(argv[0], "factory"))
		return neko_factory(&w->over);
	if (!argc || !is_verb(argv[0]))
		return cmd_usage_verb(spec, argc ? argv[0] : NULL);
	if (argc != 2 || !str_eq(argv[0], "run"))
		return cmd_usage(
			spec,
			"run FILE, compare FILE FILE, plot FILE [FILE], factory, list, or configure with "
			"five values");
	if (w->sweep.n && (w->messages || w->delays))
		return cmd_usage(spec, "--messages and --delays are for one run, not for a sweep");
	if (!w->is_simulated && !w->is_real)
		choose_world(w, argv[1]);
	if (w->is_simulated == w->is_real)
		return cmd_usage(spec, "either --simulate or --real");
	if ((w->delays || w->hosts) && !w->is_real)
		return cmd_usage(spec, "--delays and --hosts are for a run with --real");
	if (w->seed && str_to_u64(w->seed, 0, UINT64_MAX, &seed))
		return cmd_usage(spec, "--seed %s: a whole number from 0 to %" PRIu64, w->seed,
				 UINT64_MAX);
	if (w->trace.from > w->trace.until)
		return cmd_usage(spec, "--trace-until is before --trace-from; exchange them");
	return w->sweep.n ? sweep_file(w, argv[1]) : run_file(w, argv[1]);
}

static const char details[] =
	"`factory` waits on its host for processes that runs with --hosts "
	"order, from tools of the "
	"same user that may manipulate; it prints its address when it is "
	"ready. "
	"`compare` shows results of -o side by side; its status is 0 when they "
	"agree, "
	"1 when they differ. "
	"`list` shows the kinds of processes. `plot` draws what `run -o` wrote: "
	"distributions, values over time, and a space-time diagram; of a sweep the means and their "
	"95 % intervals over the first key, a curve for each combination of the others; of two runs "
	"the share of values up to each value. On a terminal, or with --chart, it draws with "
	"characters. `configure` "
	"computes the largest eta "
	"of NFD-S that finds a "
	"crash within DETECTION, errs at most once in RECURRENCE, and for "
	"DURATION: 30s 30d 60s 0.01 "
	"'exponential(20ms)'. The exit status is 124 when the deadline ends a run. Ctrl-C or "
	"SIGTERM ends it with partial results, also of a sweep: 130 or 143.";

#define SWEEP_HELP "run: once for each value, A..B:STEP or A,B,C: a row each; several combine"

#define SWEEP_OPTIONS(w)                                                                        \
	OPTION_CALL("set", 0, "KEY=VALUE", "run: as if the file had that line", &(w)->sweep,    \
		    neko_sweep_set),                                                            \
		OPTION_CALL("sweep", 0, "KEY=VALUES", SWEEP_HELP, &(w)->sweep, neko_sweep_add), \
		OPTION("csv", 0, NULL, "run: CSV, a line a quantity", OPT_FLAG, &(w)->csv),     \
		OPTION("seed", 0, "N", "run: seed (overrides simulation.seed)", OPT_STR,        \
		       &(w)->seed)

#define PLOT_OPTIONS(w)                                                                          \
	OPTION_CALL("log", 0, "AXES", "plot: axes by powers of ten: x, y or xy", &(w)->logs,     \
		    neko_plot_log),                                                              \
		OPTION_CALL("chart", 'c', "KIND", "plot: as text: line, hist or auto",           \
			    &(w)->form.chart, neko_text_chart),                                  \
		OPTION_CALL("glyphs", 0, "SET",                                                  \
			    "plot: ascii, blocks, braille or auto (the default: by the locale)", \
			    &(w)->form, neko_text_glyphs),                                       \
		OPTION("color", 0, "auto|always|never", "plot: colour (default auto)", OPT_WORD, \
		       &(w)->form.color)

int cmd_neko(int argc, char **argv)
{
	struct neko_options w = { .deadline_ns = 600 * NSEC_PER_SEC,
				  .trace = { .until = NEKO_TIME_MAX },
				  .over = { .timeout_ns = 5 * NSEC_PER_SEC, .listen = "127.0.0.1" },
				  .form = { .color = "auto" } };
	const struct opt table[] = {
		OPTION("simulate", 's', NULL, "run: in virtual time, in this process", OPT_FLAG,
		       &w.is_simulated),
		OPTION("real", 'r', NULL, "run: as processes of the system, over UDP or TCP",
		       OPT_FLAG, &w.is_real),
		OPTION("hosts", 0, "LIST",
		       "run --real: on these hosts in turn, where factories wait: a:8765,b "
		       "(real.hosts)",
		       OPT_STR, &w.hosts),
		OPTION("listen", 'l', "ADDRESS:PORT",
		       "factory: address to listen on (default 127.0.0.1:8765; port 0: a free one)",
		       OPT_STR, &w.over.listen),
		OPTION("objects", 0, NULL,
		       "factory: also for runs that name a shared object of this host (application)",
		       OPT_FLAG, &w.over.takes_objects),
		OPTION("mainsm", 'm', "STRING",
		       "factory, run --hosts: connection string, or @FILE that has it, of the monitor "
		       "whose certificates they "
		       "show",
		       OPT_STR, &w.over.mainsm),
		SWEEP_OPTIONS(&w),
		OPTION("output", 'o', "FILE",
		       "output file (replaced only when complete): plot: SVG; run: JSON, or as named .csv or .R",
		       OPT_STR, &w.output),
		PLOT_OPTIONS(&w),
		OPTION("json", 'j', NULL,
		       "run, compare, list, configure: JSON on the standard output", OPT_FLAG,
		       &w.json),
		OPTION_RANGE(
			"trace-from", 0, "TIME",
			"run: JSON has the messages and events of the first run from here (default 0)",
			OPT_NSEC, &w.trace.from, 0, NEKO_TIME_MAX),
		OPTION_RANGE("trace-until", 0, "TIME", "run: up to here, and to 1000 of each",
			     OPT_NSEC, &w.trace.until, 0, NEKO_TIME_MAX),
		OPTION("messages", 0, "FILE",
		       "run: a line for each event, and each message sent, lost and delivered",
		       OPT_STR, &w.messages),
		OPTION("delays", 0, "FILE",
		       "run --real: the delay of each message, which a simulation replays with delay = "
		       "file:FILE",
		       OPT_STR, &w.delays),
		OPTION_RANGE("deadline", 0, "TIME",
			     "run: end after this, with partial results (default 10m)", OPT_NSEC,
			     &w.deadline_ns, NSEC_PER_MSEC, 86400 * NSEC_PER_SEC),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig neko",
		.verbs = verbs,
		.usage = "run [OPTION...] FILE|compare FILE FILE|plot FILE [FILE]|factory "
			 "[OPTION...]|list|configure DETECTION "
			 "RECURRENCE DURATION LOSS DELAY",
		.summary = "runs distributed algorithms, simulated or real, and measures them",
		.details = details,
		.table = table,
	};
	int first, status = cmd_parse(&spec, argc, argv, &first);

	if (status < 0)
		status = dispatch(&spec, &w, argc - first, argv + first);
	neko_trace_done(&w.trace);
	neko_sweep_done(&w.sweep);
	return status;
}
