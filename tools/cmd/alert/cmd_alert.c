/* SPDX-License-Identifier: Apache-2.0 */
/* omig alert: reports when a condition holds, and is silent otherwise. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/json/json.h"
#include "common/omis/text/value.h"
#include "tools/alert/condition.h"
#include "tools/alert/hook.h"
#include "tools/cmd/alert/explain.h"
#include "tools/cmd/cmd.h"
#include "tools/session/session_csr.h"
#include "tools/session/show.h"
#include "tools/session/waiting.h"
#include "tools/term/signals.h"
#include "tools/view/jobs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ATTACH_NS (5 * NSEC_PER_SEC) /* processes that start later are included after this time */
#define EVERY_DEFAULT_NS (5 * NSEC_PER_SEC)
#define EVERY_MIN_NS (500 * NSEC_PER_MSEC)
#define KEPT_MAX 64 /* events per turn of the loop; there is one per interval */
/* a value must fall to this share of the threshold, or rise by the same distance */
#define RATIO_CLEAR 0.9

/* Events requested from mainsm; it sends nothing else. */
enum watch { WATCH_TRUE, WATCH_CLEAR, WATCH_UNKNOWN, WATCH_KNOWN, WATCHES };

struct alert;

struct watched {
	struct alert *alert;
	enum watch what;
	struct session_csr csr;
	bool is_on;
};

struct alert {
	struct cmd_common common;
	struct condition condition;
	const char *text; /* text of the condition, from argv */
	const char *job; /* NULL: all */
	double clear; /* NaN: RATIO_CLEAR of the threshold */
	int64_t every_ns, for_ns;
	bool once, has_clear;
	struct hook hook;
	char dfg[SESSION_TOKEN_BYTES];
	struct watched watch[WATCHES];
	struct session_gap gap;
	struct waiting waiting;
	bool is_firing, is_unknown, has_fired, is_over;
	int64_t last_read; /* the last read in which the condition held; 0: it does not hold */
	int64_t unknown_read; /* the last read without a value */
	nsec_t since; /* wall time from which the condition holds */
	nsec_t attach_at;
	struct {
		struct watched *by;
		Omis_value *v; /* owned */
	} kept[KEPT_MAX];
	size_t nkept;
};

/* --- output */

static void put_json(const struct alert *a, const char *state, double v, const char *text,
		     int64_t rank)
{
	struct show_doc d;
	struct json *j = show_doc_open(&d);

	json_object(j);
	json_key_i64(j, "time_ns", clock_wall());
	json_key_str(j, "state", state);
	json_key_str(j, "condition", a->text);
	json_key_str(j, "job", a->job ? a->job : "");
	json_key_double(j, "value", v / a->condition.scale);
	json_key_str(j, "unit", a->condition.unit);
	json_key_i64(j, "rank", rank);
	json_key_str(j, "text", text);
	json_object_end(j);
	show_doc_next(&d);
}

static void start_hook(struct alert *a, const char *state, double v, const char *text, int64_t rank)
{
	char value[32] = "", number[24] = "";
	struct err e = { 0 };
	const char *const word[HOOK_WORDS] = { state, a->text, a->job ? a->job : "",
					       value, number,  text };

	if (!isnan(v))
		snprintf(value, sizeof(value), "%.6g", v / a->condition.scale);
	if (rank >= 0)
		snprintf(number, sizeof(number), "%lld", (long long)rank);
	if (hook_start(&a->hook, word, &e))
		cmd_warn("%s", e.text);
}

static void say(struct alert *a, const char *state, double v, const char *more, int64_t rank)
{
	char value[CONDITION_VALUE_BYTES], when[16], text[1200];
	time_t now = (time_t)(clock_wall() / NSEC_PER_SEC);
	bool has_value = a->condition.kind != CONDITION_SILENT &&
			 a->condition.kind != CONDITION_HANG && !isnan(v);
	struct tm t;

	waiting_hide(&a->waiting);
	localtime_r(&now, &t);
	strftime(when, sizeof(when), "%H:%M:%S", &t);
	snprintf(text, sizeof(text), "%s%s%s%s%s", condition_name(&a->condition),
		 has_value ? " " : "", has_value ? condition_value(&a->condition, v, value) : "",
		 *more ? " " : "", more);
	if (a->common.json)
		put_json(a, state, v, text, rank);
	else
		printf("%s %s\n", when, text);
	if (fflush(stdout) != 0)
		a->is_over = true;
	start_hook(a, state, v, text, rank);
}

/* --- states */

static void set_watch(struct alert *a, enum watch what, bool on)
{
	struct watched *w = &a->watch[what];
	Omis_reply r;

	if (w->is_on == on || !w->csr.token[0])
		return;
	w->is_on = on;
	if (session_ask(&r, ":csr_%s([%s])", on ? "enable" : "disable", w->csr.token) == CMD_OK)
		omis_reply_free(r);
}

/* Ends a firing condition, and reports that to the command of --exec. */
static void end(struct alert *a)
{
	char text[JOB_NAME_BYTES + 32];

	a->is_over = true;
	waiting_end(&a->waiting);
	snprintf(text, sizeof(text), "job %s has ended", a->job);
	if (a->common.json)
		put_json(a, "ended", (double)NAN, text, -1);
	else
		cmd_warn("%s", text);
	if (a->is_firing)
		start_hook(a, "ended", (double)NAN, text, -1);
}

/*
 * Returns false if no process runs. A value of that time, or its absence, only shows the end of
 * the processes.
 */
static bool runs(struct alert *a)
{
	bool is_running = explain_runs(a->job);

	if (!is_running && a->job && !a->is_over)
		end(a);
	return is_running;
}

static void fire(struct alert *a, double v)
{
	char why[EXPLAIN_BYTES] = "";
	int64_t rank = -1;

	if (!runs(a))
		return;
	/* For a hang: ranks that compute do not hang, although they make no new call. */
	if (!explain(a->condition.kind, a->job, a->for_ns, why, &rank))
		return;
	a->is_firing = a->has_fired = true;
	say(a, "firing", v, why, rank);
	a->is_over |= a->once;
	set_watch(a, WATCH_TRUE, false);
	set_watch(a, WATCH_CLEAR, true);
}

/* Called for each read in which the condition holds. A gap between reads restarts the time. */
static void on_true(struct alert *a, int64_t read, nsec_t until, double v)
{
	if (a->is_firing)
		return;
	if (!a->last_read || read > a->last_read + 1)
		a->since = until - a->every_ns;
	a->last_read = read;
	if (until - a->since >= a->for_ns)
		fire(a, v);
}

static void on_clear(struct alert *a, double v)
{
	if (!a->is_firing)
		return;
	a->is_firing = false;
	a->last_read = 0;
	say(a, "cleared", v, "is over", -1);
	set_watch(a, WATCH_CLEAR, false);
	set_watch(a, WATCH_TRUE, true);
}

static void set_unknown(struct alert *a, bool is_unknown, const char *text)
{
	a->is_unknown = is_unknown;
	a->last_read = 0;
	say(a, is_unknown ? "unknown" : "known", (double)NAN, text, -1);
	set_watch(a, WATCH_UNKNOWN, !is_unknown);
	set_watch(a, WATCH_KNOWN, is_unknown);
}

/*
 * Without a value the condition is unknown: neither true nor false. A process that ends has none in
 * one read.
 */
static void on_unknown(struct alert *a, int64_t read, int64_t missing)
{
	bool is_second = read == a->unknown_read + 1;
	char text[96];

	a->unknown_read = read;
	if (a->is_unknown || !is_second)
		return;
	if (!runs(a)) {
		if (!a->is_over)
			on_clear(a, (double)NAN); /* of all jobs: its job has ended */
		return;
	}
	snprintf(text, sizeof(text), "is unknown: %lld process%s or host%s gave no value",
		 (long long)missing, missing == 1 ? "" : "es", missing == 1 ? "" : "s");
	set_unknown(a, true, text);
}

static void on_known(struct alert *a)
{
	if (a->is_unknown)
		set_unknown(a, false, "is known again");
}

/* n, read, until, greatest, least, unknown */
enum { GOT_READ = 1, GOT_UNTIL, GOT_GREATEST, GOT_LEAST, GOT_UNKNOWN, GOT_VALUES };

static void on_event(struct watched *w, const Omis_value *v)
{
	struct alert *a = w->alert;
	double value = value_float(v, condition_is_above(&a->condition) ? GOT_GREATEST : GOT_LEAST);

	switch (w->what) {
	case WATCH_TRUE:
		on_true(a, value_int(v, GOT_READ), value_int(v, GOT_UNTIL), value);
		break;
	case WATCH_CLEAR:
		on_clear(a, value);
		break;
	case WATCH_UNKNOWN:
		on_unknown(a, value_int(v, GOT_READ), value_int(v, GOT_UNKNOWN));
		break;
	default:
		on_known(a);
		break;
	}
}

/* Stores a value. A callback may not send requests to mainsm, so values are examined after it. */
static void keep(struct watched *w, Omis_value *v)
{
	struct alert *a = w->alert;

	if (a->nkept == ARRAY_LEN(a->kept)) {
		omis_value_free(v); /* a missing interval restarts the time */
		return;
	}
	a->kept[a->nkept].by = w;
	a->kept[a->nkept++].v = v;
}

static void look_at_kept(struct alert *a)
{
	for (size_t i = 0; i < a->nkept; i++) {
		if (a->kept[i].by->is_on && !a->is_over)
			on_event(a->kept[i].by, a->kept[i].v);
		omis_value_free(a->kept[i].v);
	}
	a->nkept = 0;
}

/* The result of the second action; the first one is the predicate. */
static Omis_value *printed(Omis_reply r)
{
	const Omis_object_result *p = r[0] && r[1] ? r[2] : NULL;

	return p && p->obj_list && p->status < OMIS_FIRST_ERROR && p->result
		       ? omis_value_parse(p->result, p->result_len)
		       : NULL;
}

static void on_reply(Omis_reply r, void *arg)
{
	struct watched *w = arg;
	Omis_value *v = NULL;

	if (session_csr_note(&w->csr, r) == OMIS_CSR_TRIGGERED)
		v = printed(r);
	if (v && v->n >= GOT_VALUES)
		keep(w, v);
	else
		omis_value_free(v);
	omis_reply_free(r);
}

/* --- beginning */

static double clear_at(const struct alert *a)
{
	double t = a->condition.threshold;

	if (a->has_clear)
		return a->clear * a->condition.scale;
	return condition_is_above(&a->condition) ? t - fabs(t) * (1 - RATIO_CLEAR)
						 : t + fabs(t) * (1 - RATIO_CLEAR);
}

static void predicate(const struct alert *a, enum watch what, char *out, size_t size)
{
	const char *ecp = condition_is_above(&a->condition) ? "greatest" : "least";

	if (what >= WATCH_UNKNOWN || a->condition.kind == CONDITION_SILENT)
		snprintf(out, size, "omig_if($unknown,\"%s\",0)",
			 what == WATCH_TRUE || what == WATCH_UNKNOWN ? ">" : "==");
	else if (what == WATCH_TRUE)
		snprintf(out, size, "omig_if($%s,\"%s\",%.17g)", ecp, a->condition.op,
			 a->condition.threshold);
	else
		snprintf(out, size, "omig_if($%s,\"%s\",%.17g)", ecp,
			 condition_is_above(&a->condition) ? "<=" : ">=", clear_at(a));
}

static int subscribe(struct alert *a, enum watch what)
{
	struct watched *w = &a->watch[what];
	char text[400], when[160];
	int n;

	if (what >= WATCH_UNKNOWN && a->condition.kind == CONDITION_SILENT)
		return CMD_OK;
	predicate(a, what, when, sizeof(when));
	n = snprintf(text, sizeof(text),
		     "dfg_has_read([%s]): %s print([$read,$until,$greatest,$least,$unknown])",
		     a->dfg, when);
	if (session_csr_define(&w->csr, text, (size_t)n, on_reply, w) != CMD_OK)
		return session_csr_fail(&w->csr, CMD_FAILURE, "mainsm does not watch for it: ");
	return CMD_OK;
}

static void write_request(const struct alert *a, struct buf *b)
{
	const struct condition *c = &a->condition;
	struct buf text = BUF_INIT(8192);
	struct omis_writer w = OMIS_WRITER(b);
	const char *name;

	condition_metric(c, a->every_ns, &text, &name);
	buf_puts(b, ":dfg_create([],");
	omis_write_string(&w, buf_str(&text));
	buf_printf(b, ",\"%s\",[\"every_ms\",%lld,\"mode\",\"last\",\"name\",\"the condition\"%s])",
		   name, (long long)(a->every_ns / NSEC_PER_MSEC),
		   c->kind == CONDITION_METRIC && c->per_second ? ",\"rate\",1" : "");
	buf_done(&text);
}

static int create(struct alert *a)
{
	struct buf b = BUF_INIT(16384);
	Omis_value *v;
	int rc;

	write_request(a, &b);
	rc = session_ask_value(&v, "%s", buf_str(&b));
	buf_done(&b);
	if (rc != CMD_OK)
		return rc;
	str_copy(a->dfg, sizeof(a->dfg), value_text(v, 0));
	omis_value_free(v);
	return CMD_OK;
}

static int begin(struct alert *a)
{
	Omis_reply r = NULL;
	int rc = session_attach(a->job);

	if (rc == CMD_OK)
		rc = create(a);
	for (int i = 0; rc == CMD_OK && i < WATCHES; i++)
		rc = subscribe(a, (enum watch)i);
	if (rc == CMD_OK)
		rc = session_ask(&r, ":dfg_start([%s])", a->dfg);
	omis_reply_free(r);
	if (rc != CMD_OK)
		return rc;
	set_watch(a, WATCH_TRUE, !a->is_firing);
	set_watch(a, WATCH_CLEAR, a->is_firing);
	set_watch(a, WATCH_UNKNOWN, !a->is_unknown);
	set_watch(a, WATCH_KNOWN, a->is_unknown);
	return CMD_OK;
}

static int begin_again(void *arg)
{
	struct alert *a = arg;

	for (int i = 0; i < WATCHES; i++) {
		session_csr_reset(&a->watch[i].csr);
		a->watch[i].is_on = false;
	}
	a->dfg[0] = 0;
	a->last_read = 0;
	a->unknown_read = 0;
	a->attach_at = clock_mono() + ATTACH_NS; /* hosts reconnect one after the other */
	return begin(a);
}

/* --- continuing */

/* Processes that start later are watched too. The end of the last one is the end of the job. */
static void follow(struct alert *a)
{
	char words[256] = "";
	int rc;

	if (clock_mono() < a->attach_at || session_link() != SESSION_UP)
		return;
	a->attach_at = clock_mono() + ATTACH_NS;
	cmd_hush(words, sizeof(words));
	rc = session_attach(a->job);
	cmd_hush(NULL, 0);
	if (a->job && rc == CMD_OK)
		runs(a);
}

static int watch(struct alert *a)
{
	struct err e = { 0 };
	int rc = begin(a);

	a->attach_at = clock_mono() + ATTACH_NS;
	waiting_begin(&a->waiting, "watching", "ends it", WAITING_FOREVER, a->common.json);
	while (rc == CMD_OK && !a->is_over && !signals_last) {
		session_turn(NSEC_PER_SEC, false);
		waiting_show(&a->waiting);
		look_at_kept(a);
		if (hook_reap(&a->hook, &e)) {
			waiting_hide(&a->waiting);
			cmd_warn("%s", e.text);
		}
		follow(a);
		rc = session_bridge(&a->gap);
	}
	waiting_end(&a->waiting);
	return rc;
}

static int run(struct alert *a)
{
	int rc = session_open_job(&a->common, &a->job);

	if (rc != CMD_OK)
		return rc;
	signals_catch(false);
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	a->gap.again = begin_again;
	a->gap.arg = a;
	for (int i = 0; i < WATCHES; i++) {
		a->watch[i].alert = a;
		a->watch[i].what = (enum watch)i;
	}
	rc = watch(a);
	session_close();
	if (!signals_last)
		hook_end(&a->hook);
	if (rc == CMD_OK && a->once && !a->has_fired)
		rc = CMD_FAILURE;
	return signals_status(rc);
}

/* --- the command line */

static const char details[] =
	"CONDITION is a metric, a comparison, a number with its unit, and the time for which it must\n"
	"hold: 'imbalance > 30 % for 1m', 'mpi > 80 %', 'rss > 10 GB', 'Send_volume > 1 GB/s for 30s',\n"
	"or 'hang for 1m' and 'silent for 30s'. A metric of omig metrics is of all processes together;\n"
	"an expression of metrics is of each process, and the greatest one counts (with <: the least).\n"
	"Hosts and mainsm evaluate it; nothing is sent to this command while it does not hold. The\n"
	"command of --exec gets the line on its standard input, and the variables OMIG_ALERT_STATE,\n"
	"_CONDITION, _JOB, _VALUE, _RANK and _TEXT. One command runs at a time; the latest state waits\n"
	"for its end. States: firing, cleared, unknown (hosts or processes have no value), known (they\n"
	"have values again), ended (the job has ended while the alert was firing). Exit status 0 at the\n"
	"end of the job; 1 with --once if the condition did not hold before; 3 if mainsm was lost for a\n"
	"minute. The alert continues if mainsm returns before that.";

int cmd_alert(int argc, char **argv)
{
	struct alert a = { .common = CMD_COMMON_INIT, .gap = { .limit_ns = SESSION_GAP_LIMIT_NS } };
	const struct opt table[] = {
		CMD_OPTIONS(&a.common),
		OPTION("job", 0, "JOB", "of this job only", OPT_STR, &a.job),
		OPTION_RANGE("every", 'e', "TIME",
			     "interval of the values (default 5s, less with "
			     "a short `for`)",
			     OPT_NSEC, &a.every_ns, EVERY_MIN_NS, 3600 * NSEC_PER_SEC),
		OPTION("exec", 'x', "COMMAND", "run this with sh when the condition begins or ends",
		       OPT_STR, &a.hook.command),
		OPTION("clear", 0, "NUMBER",
		       "the condition ends at this value (default 10 % before the threshold)",
		       OPT_DOUBLE, &a.clear),
		OPTION("once", '1', NULL, "end when the condition holds", OPT_FLAG, &a.once),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig alert",
		.usage = "[OPTION...] CONDITION",
		.summary = "reports when a condition holds, and prints nothing otherwise",
		.details = details,
		.table = table,
	};
	struct err e = { 0 };
	int first, status;

	a.clear = (double)NAN;
	status = cmd_parse(&spec, argc, argv, &first);
	if (status >= 0)
		return status;
	if (argc - first != 1)
		return cmd_usage(&spec, first == argc ? "a condition is missing, such as "
							"'imbalance > 30 %% for 1m'"
						      : "one condition, between quotes");
	a.text = argv[first];
	if (condition_parse(a.text, &a.condition, &e))
		return cmd_usage(&spec, "%s\n  %s\n  %*s", e.text, a.text, (int)e.col, "^");
	a.has_clear = !isnan(a.clear);
	a.for_ns = a.condition.for_ns;
	if (!a.every_ns) {
		a.every_ns = a.for_ns && a.for_ns / 4 < EVERY_DEFAULT_NS ? a.for_ns / 4
									 : EVERY_DEFAULT_NS;
		a.every_ns = a.every_ns < EVERY_MIN_NS ? EVERY_MIN_NS : a.every_ns;
	}
	if (a.condition.kind == CONDITION_SILENT && a.for_ns < 2 * a.every_ns)
		a.for_ns = 2 * a.every_ns; /* a process that ends has no value in one read */
	return run(&a);
}
