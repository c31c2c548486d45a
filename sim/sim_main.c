/* SPDX-License-Identifier: Apache-2.0 */
/* omig-sim, the program that `omig sim` runs. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/cli/endsignal.h"
#include "common/cli/opt.h"
#include "common/cli/progress.h"
#include "common/json/failure.h"
#include "sim/nodes/cluster.h"
#include "sim/studies/detector.h"
#include "sim/studies/detector_compare.h"
#include "sim/studies/growth_run.h"
#include "sim/studies/run.h"
#include "sim/studies/why_study.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define EXIT_BROKEN 1
#define EXIT_FAILURE_OWN 3
#define FOR_EVER_NS (INT64_C(400) * 86400 * NSEC_PER_SEC)
#define HOSTS 6 /* hosts of a cluster by default */
#define RANKS 2 /* of each host, by default */
#define UNSET UINT64_MAX /* of an option with several defaults */
#define LOSS 0.01 /* of segments of a detector, by default */
#define LOSS_MAX 0.9
#define OPTIONS_MAX 32 /* rows of the table, and a last one of zeros */
#define WHY_RANKS 64 /* of the program of why, by default */
#define WHY_LOSS 0.1
#define CLUSTER_TIME_NS (60 * NSEC_PER_SEC)
#define DETECTOR_TIME_NS (24 * 3600 * NSEC_PER_SEC)

struct sim_options {
	struct run_conf run;
	uint64_t sites, ranks, tools;
	/* The requested numbers of hosts and levels. A cluster has one number of each. */
	struct growth_plan plan;
	uint64_t first, last;
	const char *faults;
	bool verbose, log, twice, is_range;
	struct run_result sum; /* sums over all worlds */
	uint64_t worlds, broken;
	struct progress progress;
	/* options of the detector */
	const char *delay;
	double loss; /* NaN: not given */
	uint64_t links;
	bool compare;
	/* options of why */
	struct why_study_conf why;
	uint64_t blocks;
};

/* The seed that runs, as text for on_crash(). */
static char crash_words[512];

static void on_crash(int sig)
{
	ssize_t n = write(STDOUT_FILENO, crash_words, strlen(crash_words));

	(void)n;
	raise(sig); /* the default action applies now */
}

static void note_command(const struct run_conf *c)
{
	struct buf b = BUF_INIT(sizeof(crash_words));

	buf_printf(&b, "seed %" PRIu64 " crashed\n  again: ", c->seed);
	run_print_command(c, &b);
	buf_printf(&b, "\n");
	str_copy(crash_words, sizeof(crash_words), buf_str(&b));
	buf_done(&b);
}

static void report_counts(const struct run_result *r)
{
	const struct ledger_counts *n = &r->counts;

	printf("%.0f s in %.3f s, %" PRIu64 " frames of %" PRIu64 " bytes\n",
	       (double)r->virtual_time / 1e9, (double)r->real_time / 1e9, r->frames, r->bytes);
	printf("  requests %" PRIu64 ", answers %" PRIu64 ", manipulations with an id %" PRIu64
	       " (sent again %" PRIu64 "), triggers %" PRIu64 ", reads %" PRIu64
	       ", processes compared %" PRIu64 "\n",
	       n->requests, n->answers, n->manipulations, n->repeats, n->triggers, n->reads,
	       n->infos);
	printf("  killed %" PRIu64 ", links cut %" PRIu64 ", slow %" PRIu64 ", breaking %" PRIu64
	       "\n",
	       n->kills, n->cuts, n->slow_links, n->breaks);
	printf("  %" PRIu64 " rogue peers, %" PRIu64 " forged frames\n", n->rogues, n->lies);
	printf("  stood still %" PRIu64 ", clocks stepped %" PRIu64 ", hosts switched off %" PRIu64
	       ", disks full %" PRIu64 ", failing %" PRIu64 ", valid tokens %" PRIu64 "\n",
	       n->pauses, n->steps, n->switched_off, n->full_disks, n->failing_disks, n->tokens);
	printf("  %" PRIu64 " subscriptions, %" PRIu64 " events kept, %" PRIu64
	       " counted as lost\n",
	       n->kept, n->kept_events, n->kept_lost);
}

static void report_broken(const struct run_conf *c, const struct run_result *r)
{
	struct buf b = BUF_INIT(sizeof(crash_words));

	run_print_command(c, &b);
	printf("seed %" PRIu64 ", at %.3f s: %s\n  again: %s\n", c->seed,
	       (double)r->broken_at / 1e9, r->broken, buf_str(&b));
	fflush(stdout);
	buf_done(&b);
}

static void add(struct sim_options *w, const struct run_result *r)
{
	const uint64_t *from = (const uint64_t *)(const void *)&r->counts;
	uint64_t *to = (uint64_t *)(void *)&w->sum.counts;

	for (size_t i = 0; i < sizeof(r->counts) / sizeof(*from); i++)
		to[i] += from[i];
	w->sum.frames += r->frames;
	w->sum.bytes += r->bytes;
	w->sum.virtual_time += r->virtual_time;
	w->sum.real_time += r->real_time;
	w->worlds++;
	w->broken += r->broken[0] != 0;
}

static int run_seed(struct sim_options *w, struct err *e)
{
	struct run_result r, again;
	int rc;

	note_command(&w->run);
	rc = run_world(&w->run, &r, e);
	if (!rc && w->twice)
		rc = run_world(&w->run, &again, e);
	if (rc)
		return rc;
	if (w->twice && r.hash != again.hash && !r.broken[0])
		snprintf(r.broken, sizeof(r.broken),
			 "the same seed gives another run: %016" PRIx64 ", %016" PRIx64, r.hash,
			 again.hash);
	if (w->verbose || !w->is_range) {
		printf("seed %" PRIu64 ": hash %016" PRIx64 ", ", w->run.seed, r.hash);
		report_counts(&r);
	}
	if (r.broken[0])
		report_broken(&w->run, &r);
	add(w, &r);
	return 0;
}

static void show_progress(struct sim_options *w, uint64_t left)
{
	if (progress_is_due(&w->progress))
		progress_show(&w->progress,
			      "%.0f s, %" PRIu64 " worlds, %" PRIu64 " to go, %" PRIu64
			      " broken; ctrl-C shows the results so far",
			      progress_seconds(&w->progress), w->worlds, left, w->broken);
}

static int run_all(struct sim_options *w)
{
	uint64_t left = w->last - w->first + 1;
	struct err e = { 0 };

	progress_begin(&w->progress, w->verbose || w->log);
	for (uint64_t seed = w->first; left && !end_signal; left--, seed++) {
		show_progress(w, left);
		w->run.seed = seed;
		if (run_seed(w, &e)) {
			progress_end(&w->progress);
			fprintf(stderr, "omig: %s\n", e.text);
			return EXIT_FAILURE_OWN;
		}
	}
	progress_end(&w->progress);
	if (left)
		printf("interrupted: partial results, %" PRIu64 " of %" PRIu64 " worlds\n",
		       w->worlds, w->worlds + left);
	if (w->is_range) {
		printf("%" PRIu64 " worlds, %" PRIu64 " broken: ", w->worlds, w->broken);
		report_counts(&w->sum);
	}
	return w->broken ? EXIT_BROKEN : left ? 128 + end_signal : 0;
}

static int set_seeds(void *into, const char *value, struct err *e)
{
	struct sim_options *w = into;
	const char *dots = strstr(value, "..");
	char first[24];

	snprintf(first, sizeof(first), "%.*s", dots ? (int)(dots - value) : 0, value);
	if (!dots || str_to_u64(first, 0, UINT64_MAX, &w->first) ||
	    str_to_u64(dots + 2, 0, UINT64_MAX - 1, &w->last) || w->first > w->last)
		return err_set(e, ERR_INVALID, "\"%.60s\": as 1..1000", value);
	w->is_range = true;
	return 0;
}

static int set_faults(void *into, const char *value, struct err *e)
{
	struct sim_options *w = into;

	if (!str_eq(value, "default") && !str_eq(value, "none"))
		return err_set(e, ERR_INVALID, "\"%.60s\": default or none", value);
	w->run.with_faults = str_eq(value, "default");
	return 0;
}

static int set_rogues(void *into, const char *value, struct err *e)
{
	static const char *const when[] = {
		[ROGUE_SOMETIMES] = "sometimes", [ROGUE_ALWAYS] = "always", [ROGUE_NEVER] = "never"
	};
	struct sim_options *w = into;

	for (size_t i = 0; i < ARRAY_LEN(when); i++)
		if (str_eq(value, when[i])) {
			w->run.rogues = (enum rogue_when)i;
			return 0;
		}
	return err_set(e, ERR_INVALID, "\"%.60s\": sometimes, always or never", value);
}

static int compare_detectors(const struct detector_conf *c)
{
	struct buf b = BUF_INIT(4096);
	struct detector_compared r[DETECTORS_MAX];
	struct err e = { 0 };
	int n = detectors_measure(c, r, &e);

	if (n < 0) {
		fprintf(stderr, "omig: %s\n", e.text);
		return EXIT_FAILURE_OWN;
	}
	detectors_print(r, (unsigned)n, &b);
	printf("\nheartbeats of the same period over the same network:\n\n%s", buf_str(&b));
	buf_done(&b);
	return 0;
}

static int set_hosts(void *into, const char *value, struct err *e)
{
	struct growth_plan *p = into;

	return growth_parse_list(value,
				 &(struct growth_list){ p->hosts, GROWTH_STEPS_MAX, RUN_HOSTS_MAX },
				 &p->nhosts, e);
}

static int set_levels(void *into, const char *value, struct err *e)
{
	struct growth_plan *p = into;

	return growth_parse_list(
		value, &(struct growth_list){ p->levels, GROWTH_LEVELS_MAX, CLUSTER_LEVELS_MAX },
		&p->nlevels, e);
}

static bool has_to_end(void)
{
	return end_signal;
}

/* Finds --json also behind a wrong option, so that the error is printed as JSON. */
static bool is_asked_for_json(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (str_eq(argv[i], "--json") || str_eq(argv[i], "-j"))
			return true;
	return false;
}

static void print_usage_failure(const char *text)
{
	json_print_failure(stdout, OPT_EXIT_USAGE, text);
}

static int run_growth(struct sim_options *w, bool is_speed)
{
	struct growth_plan p = w->plan;
	struct err e = { 0 };

	if (!p.nhosts)
		set_hosts(&p, "100,1000", &e);
	if (!p.nlevels)
		set_levels(&p, is_speed ? "1" : "1,2,3", &e);
	p.seed = w->first;
	p.must_end = has_to_end;
	p.is_watched = isatty(STDERR_FILENO);
	if (!(is_speed ? growth_run_speed(&p, w->run.time ? w->run.time : CLUSTER_TIME_NS, &e)
		       : growth_run(&p, &e))) {
		if (end_signal)
			fputs("interrupted: partial results\n", p.json ? stderr : stdout);
		return end_signal ? 128 + end_signal : 0;
	}
	fprintf(stderr, "omig: %s\n", e.text);
	if (p.json)
		json_print_failure(stdout, EXIT_FAILURE_OWN, e.text);
	return EXIT_FAILURE_OWN;
}

/* A month of a link has some two million frames. */
static int run_detector(struct sim_options *w, const struct opt_spec *spec)
{
	double loss = isnan(w->loss) ? LOSS : w->loss;
	struct detector_conf c = { .seed = w->first,
				   .links = (unsigned)w->links,
				   .time = w->run.time ? w->run.time : DETECTOR_TIME_NS,
				   .delay_text = w->delay,
				   .loss = loss };
	struct buf b = BUF_INIT(4096);
	struct detector_result r;
	struct err e = { 0 };

	if (delay_parse(w->delay, &c.delay, &e) || c.loss < 0 || c.loss > LOSS_MAX)
		return opt_usage_error(spec, "%s", e.code ? e.text : "--loss is from 0 to 0.9");
	if (detector_measure(&c, &r, &e)) {
		fprintf(stderr, "omig: %s\n", e.text);
		return EXIT_FAILURE_OWN;
	}
	detector_print(&c, &r, &b);
	fputs(buf_str(&b), stdout);
	fflush(stdout);
	buf_done(&b);
	return w->compare ? compare_detectors(&c) : 0;
}

static int set_plant(void *into, const char *value, struct err *e)
{
	struct why_study_conf *c = into;

	return simulated_parse(value, &c->program.plant, e);
}

static int run_why(struct sim_options *w, const struct opt_spec *spec)
{
	struct why_study_conf *c = &w->why;
	struct err e = { 0 };

	c->program.ranks = w->ranks == UNSET ? WHY_RANKS : w->ranks;
	c->program.hosts = w->plan.nhosts ? w->plan.hosts[0] : (c->program.ranks + 7) / 8;
	c->program.loss = isnan(w->loss) ? WHY_LOSS : w->loss;
	c->first = w->first;
	c->last = w->is_range ? w->last : w->first;
	c->blocks = (unsigned)w->blocks;
	c->must_end = has_to_end;
	c->is_json = w->plan.json;
	if (law_parse(c->noise_text, &c->program.noise, &e))
		return opt_usage_error(spec, "%s", e.text);
	if (w->plan.nhosts > 1)
		return opt_usage_error(spec, "a program has one number of hosts");
	switch (why_study_show(c, &e)) {
	case 0:
		return end_signal ? 128 + end_signal : 0;
	case -ERR_INVALID:
		return opt_usage_error(spec, "%s", e.text);
	default:
		fprintf(stderr, "omig: %s\n", e.text);
		if (c->is_json)
			json_print_failure(stdout, EXIT_FAILURE_OWN, e.text);
		return EXIT_FAILURE_OWN;
	}
}

#define FILES_BESIDE 512 /* files for tools, audits, and processes that begin later */

/*
 * Raises the limit of open files. Each lm has one open file. Each process has a segment, which its
 * lm has open, too. Returns the permitted number.
 */
static uint64_t want_files(void)
{
	struct rlimit files = { 0 };

	if (getrlimit(RLIMIT_NOFILE, &files))
		return UINT64_MAX;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	return files.rlim_max;
}

static bool has_files(const struct sim_options *w)
{
	uint64_t needed = (uint64_t)w->run.hosts * (1 + 2 * w->run.ranks) + w->run.sites +
			  FILES_BESIDE,
		 most = want_files();

	if (needed <= most)
		return true;
	fprintf(stderr,
		"omig: %u hosts with %u ranks each need %" PRIu64 " open files, and %" PRIu64
		" are allowed; raise that "
		"(ulimit -Hn), or take fewer --hosts or --ranks\n",
		w->run.hosts, w->run.ranks, needed, most);
	return false;
}

static int run_cluster(struct sim_options *w, const struct opt_spec *spec)
{
	if (w->plan.nhosts > 1 || w->plan.nlevels > 1)
		return opt_usage_error(spec,
				       "a cluster has one number of hosts, and one of levels");
	w->run.hosts = w->plan.nhosts ? w->plan.hosts[0] : HOSTS;
	w->run.levels = w->plan.nlevels ? w->plan.levels[0] : 1;
	w->run.sites = (unsigned)w->sites;
	w->run.ranks = w->ranks == UNSET ? RANKS : (unsigned)w->ranks;
	w->run.tools = (unsigned)w->tools;
	if (w->run.ranks > RUN_RANKS_MAX)
		return opt_usage_error(spec, "a host has at most %d ranks", RUN_RANKS_MAX);
	if (w->run.sites > w->run.hosts)
		return opt_usage_error(spec, "more sites than hosts");
	if (!w->run.time)
		w->run.time = CLUSTER_TIME_NS;
	if (!w->is_range)
		w->last = w->first;
	return has_files(w) ? run_all(w) : EXIT_FAILURE_OWN;
}

static bool has_no_figures(const char *world)
{
	return str_eq(world, "cluster") || str_eq(world, "detector");
}

static int begin(struct sim_options *w, const struct opt_spec *spec, int argc, char **argv,
		 int first)
{
	const struct sigaction crash = { .sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND };

	want_files();
	/* warnings are dropped, because full disks are normal here */
	log_open(&(struct log_conf){ .level = w->log ? LOG_LEVEL_INFO : LOG_LEVEL_ERROR,
				     .fd = w->log ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC) });
	if ((w->plan.json || w->plan.output) && argc - first == 1 && has_no_figures(argv[first]))
		return opt_usage_error(
			spec,
			"--json belongs to growth, speed and why, --output to growth and speed");
	if (argc - first == 1 && str_eq(argv[first], "detector"))
		return run_detector(w, spec);
	sigaction(SIGSEGV, &crash, NULL);
	sigaction(SIGABRT, &crash, NULL);
	end_signal_catch(); /* prints the results so far */
	if (argc - first == 1 && str_eq(argv[first], "cluster"))
		return run_cluster(w, spec);
	if (argc - first == 1 && str_eq(argv[first], "why"))
		return run_why(w, spec);
	if (argc - first == 1 && (str_eq(argv[first], "growth") || str_eq(argv[first], "speed")))
		return run_growth(w, str_eq(argv[first], "speed"));
	return opt_verb_error(spec, first < argc ? argv[first] : NULL);
}

static int document(const struct opt_spec *spec, const char *form)
{
	if (str_eq(form, "complete"))
		opt_print_complete(spec, stdout);
	else
		opt_print_man(spec, stdout);
	return 0;
}

static int go(struct sim_options *w, const struct opt_spec *spec, int argc, char **argv)
{
	int first;

	if (argc == 3 && str_eq(argv[1], "--omig-doc"))
		return document(spec, argv[2]);
	switch (opt_parse(spec, argc, argv, &first)) {
	case OPT_DONE:
		return 0;
	case OPT_USAGE:
		return OPT_EXIT_USAGE;
	case OPT_GO:
		break;
	}
	return begin(w, spec, argc, argv, first);
}

/* Appends to a table that has rows of zeros at its end. */
static void add_options_of_studies(struct opt *table, struct sim_options *w)
{
	const struct opt rows[] = {
		{ "compare", 0, NULL,
		  "for detector: compare with others of the same cost, over the same network",
		  OPT_FLAG, &w->compare, 0, 0, NULL },
		{ "plant", 0, "NAME",
		  "for why: healthy, more-work, descheduled, paging, disk, slow-host, late-root, late-sender, slow-collective, file or two (healthy)",
		  OPT_CALL, &w->why, 0, 0, set_plant },
		{ "blocks", 0, "N", "for why: blocks of each search (30)", OPT_U64, &w->blocks, 1,
		  WHY_STUDY_BLOCKS_MAX, NULL },
		{ "noise", 0, "LAW",
		  "for why: distribution of the work of an iteration (normal(0.003))", OPT_STR,
		  &w->why.noise_text, 0, 0, NULL },
		{ "dependence", 0, "R",
		  "for why: correlation of the noise of a block with that of the one before (0)",
		  OPT_DOUBLE, &w->why.program.dependence, 0, 0, NULL },
		{ "threshold", 0, "P", "for why: smallest share of the time that matters (0.02)",
		  OPT_DOUBLE, &w->why.options.threshold, 0, 0, NULL },
	};

	while (table->name)
		table++;
	memcpy(table, rows, sizeof(rows));
}

int main(int argc, char **argv)
{
	struct sim_options w = { .sites = 2,
				 .ranks = UNSET,
				 .tools = 3,
				 .first = 1,
				 .delay = "lognormal(5ms, 5ms)",
				 .loss = NAN,
				 .links = 10,
				 .blocks = 30,
				 .why = { .noise_text = "normal(0.003)",
					  .options = { WHY_THRESHOLD_DEFAULT, WHY_ALPHA_DEFAULT },
					  .program.iterations = 10 },
				 .run = { .with_faults = true } };
	struct opt table[OPTIONS_MAX] = {
		{ "seed", 0, "N", "seed of all random numbers (1)", OPT_U64, &w.first, 0, 0, NULL },
		{ "seeds", 0, "A..B", "a world for each; broken ones are reported", OPT_CALL, &w, 0,
		  0, set_seeds },
		{ "sites", 0, "N", "sites, each with an sm (2)", OPT_U64, &w.sites, 1,
		  RUN_SITES_MAX, NULL },
		{ "levels", 0, "N",
		  "levels of sms: those of the sites, and further ones below them (1); for growth a list (1,2,3)",
		  OPT_CALL, &w.plan, 0, 0, set_levels },
		{ "hosts", 0, "N", "hosts, each with an lm (6); for growth a list (100,1000)",
		  OPT_CALL, &w.plan, 0, 0, set_hosts },
		{ "json", 'j', NULL,
		  "for growth and speed: a line of JSON for each value, no tables; for why: one line",
		  OPT_FLAG, &w.plan.json, 0, 0, NULL },
		{ "output", 'o', "FILE",
		  "for growth and speed: the lines of --json, beside the tables", OPT_STR,
		  &w.plan.output, 0, 0, NULL },
		{ "ranks", 0, "N",
		  "MPI processes of each host at the start (2); for why, of the program (64)",
		  OPT_U64, &w.ranks, 0, WHY_RANKS_MAX, NULL },
		{ "tools", 0, "N", "number of random clients (3)", OPT_U64, &w.tools, 1,
		  RUN_TOOLS_MAX, NULL },
		{ "time", 0, "TIME",
		  "simulated time: for cluster, before the final checks (60s); for speed (60s); for detector, of each link (24h)",
		  OPT_NSEC, &w.run.time, 0, FOR_EVER_NS, NULL },
		{ "faults", 0, "WHICH", "default or none", OPT_CALL, &w, 0, 0, set_faults },
		{ "rogues", 0, "WHEN",
		  "with faults, whether an lm, an sm or a tool is malicious: sometimes (in a tenth of the worlds), always or never",
		  OPT_CALL, &w, 0, 0, set_rogues },
		{ "links", 0, "N", "for detector: pairs of daemons (10)", OPT_U64, &w.links, 1,
		  DETECTOR_LINKS_MAX, NULL },
		{ "delay", 0, "D", "for detector: delay one way (lognormal(5ms, 5ms))", OPT_STR,
		  &w.delay, 0, 0, NULL },
		{ "loss", 0, "P",
		  "for detector: probability that a sent segment is lost (0.01); for why: planted share of the time (0.1)",
		  OPT_DOUBLE, &w.loss, 0, 0, NULL },
		{ "twice", 0, NULL, "run each seed twice: both runs must be the same", OPT_FLAG,
		  &w.twice, 0, 0, NULL },
		{ "verbose", 'v', NULL, "print the counts of each run", OPT_FLAG, &w.verbose, 0, 0,
		  NULL },
		{ "log", 0, NULL, "print the logs of the daemons, and their faults", OPT_FLAG,
		  &w.log, 0, 0, NULL },
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig sim",
		.usage = "cluster|growth|speed|detector|why [OPTION...]",
		.verbs = "cluster growth speed detector why",
		.table = table,
		.manual = "omig-sim",
		.on_usage = is_asked_for_json(argc, argv) ? print_usage_failure : NULL,
		.summary = "runs Omig's daemons, or the search for lost time, in a simulated world"
	};

	add_options_of_studies(table, &w);
	return go(&w, &spec, argc, argv);
}
