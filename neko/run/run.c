/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/hash.h"
#include "common/base/str.h"
#include "common/cli/opt.h"
#include "neko/algorithms/chen.h"
#include "neko/algorithms/fd.h"
#include "neko/core/net.h"
#include "neko/run/crew.h"
#include "neko/run/run_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 1000000000
#define STACK_MIN_BYTES 16384 /* enough for a wait and printf() */
#define STACK_MAX_BYTES (1 << 30) /* address space only: unused pages cost no memory */
/* a loaded host may suspend a process for some seconds */
#define SILENCE_NS (10 * NSEC_PER_SEC)
/* time for ten blocks, or two requests for the time */
#define SILENCE_MIN_NS (500 * NSEC_PER_MSEC)

static int choose_app(struct run *r, uint32_t id, struct err *e)
{
	const char *own = setup_of_process(r->setup, id, "initializer");
	const char *name = own ? own : setup_get(r->setup, "process.initializer");

	if (!name)
		return err_set(
			e, ERR_INVALID,
			"process %u has no application; write process.%u.initializer = nfd-s", id,
			id);
	if (!apps_find(name, r->own.kinds, &r->app[id - 1], e))
		return 0;
	return own ? setup_blame_process(r->setup, id, "initializer", e)
		   : setup_blame(r->setup, "process.initializer", e);
}

/* Reads "30s", or "30s..31s": a random time between both. */
static int parse_crash(struct run *r, uint32_t id, struct err *e)
{
	const char *text = setup_of_process(r->setup, id, "crash"), *dots;
	nsec_t *at = &r->crash[id - 1], *by = &r->crash_by[id - 1];
	char first[64];

	*at = *by = -1;
	if (!text)
		return 0;
	dots = strstr(text, "..");
	str_copy(first, sizeof(first), text);
	if (dots && (size_t)(dots - text) < sizeof(first))
		first[dots - text] = 0;
	if (opt_to_nsec_unit(first, 0, NEKO_TIME_MAX, at) ||
	    opt_to_nsec_unit(dots ? dots + 2 : first, *at, NEKO_TIME_MAX, by)) {
		err_set(e, ERR_INVALID, "'%s': write a time as 30s, or a span of times as 30s..31s",
			text);
		return setup_blame_process(r->setup, id, "crash", e);
	}
	return 0;
}

/* Loads "application = ./mine.so". */
static int load_own(struct run *r, struct err *e)
{
	const char *path = setup_get(r->setup, "application");

	if (!path || !apps_load(path, &r->own, e))
		return 0;
	return setup_blame(r->setup, "application", e);
}

/* Sets the handler by `stat.handler = KIND`: the measure of that kind of processes. */
static int choose_handler(struct run *r, const char *name, struct err *e)
{
	const struct neko_kind *k;

	if (apps_find(name, r->own.kinds, &k, e))
		return setup_blame(r->setup, "stat.handler", e);
	if (!k->measure) {
		err_set(e, ERR_INVALID, "%s has no measure; remove the line, or name another one",
			name);
		return setup_blame(r->setup, "stat.handler", e);
	}
	r->stat = stat_measured(k->measure);
	return 0;
}

/* Sets the handler: the configured one, or that of the first process with a measure. */
static int choose_stat(struct run *r, struct err *e)
{
	const char *name = setup_get(r->setup, "stat.handler");

	r->stat = stat_fd;
	if (name)
		return choose_handler(r, name, e);
	for (uint32_t i = 0; i < r->m; i++)
		if (r->app[i]->measure) {
			r->stat = stat_measured(r->app[i]->measure);
			break;
		}
	return 0;
}

static int read_processes(struct run *r, struct err *e)
{
	uint64_t m = 0;
	int rc = load_own(r, e);

	if (!rc)
		rc = setup_u64(r->setup, "process.num", 1, NEKO_PROCESSES_MAX, &m, e);
	if (!rc && !m)
		rc = err_set(e, ERR_INVALID,
			     "the number of processes is missing; write process.num = 2");
	if (!rc)
		rc = setup_check_processes(r->setup, (uint32_t)m, e);
	if (rc)
		return rc;
	r->m = (uint32_t)m;
	r->app = calloc(m, sizeof(*r->app));
	r->crash = calloc(m, sizeof(*r->crash));
	r->crash_by = calloc(m, sizeof(*r->crash_by));
	r->crash_at = calloc(m, sizeof(*r->crash_at));
	if (!r->app || !r->crash || !r->crash_by || !r->crash_at)
		return err_nomem(e);
	setup_get(r->setup, "process.initializer");
	for (uint32_t id = 1; id <= r->m && !rc; id++) {
		rc = choose_app(r, id, e);
		if (!rc)
			rc = parse_crash(r, id, e);
	}
	return rc;
}

static int read_end(struct run *r, struct err *e)
{
	int rc = setup_u64(r->setup, "simulation.seed", 0, UINT64_MAX, &r->seed, e);
	bool is_simulated = false;

	/* The command may choose between simulation and real run; otherwise this key does. */
	if (!rc)
		rc = setup_bool(r->setup, "simulation", &is_simulated, e);

	r->runs = 1;
	if (!rc)
		rc = setup_u64(r->setup, "simulation.runs", 1, RUNS_MAX, &r->runs, e);
	r->stack_bytes = NEKO_STACK_BYTES;
	if (!rc)
		rc = setup_u64(r->setup, "simulation.stack", STACK_MIN_BYTES, STACK_MAX_BYTES,
			       &r->stack_bytes, e);
	if (!rc)
		rc = setup_nsec(r->setup, "simulation.until", 1, NEKO_TIME_MAX, &r->until, e);
	return rc;
}

/* Checks that the run ends: by a stop rule of the handler, or by its time. */
static int check_end(struct run *r, struct err *e)
{
	if (!r->until && !r->is_part && !r->stat.has_rule(r->handler))
		return err_set(e, ERR_INVALID,
			       "this run would never end; write simulation.until = 1h, or "
			       "stat.stop = ci(0.95) < 5%%");
	if (!r->until)
		r->until = NEKO_TIME_MAX;
	return 0;
}

/* Reads "clock.model = mine", and checks its settings like a process of a real run. */
static int read_clock(struct run *r, struct err *e)
{
	const char *name = setup_get(r->setup, "clock.model");
	void *state;
	int rc;

	if (!name)
		return 0;
	if (apps_find_clock(name, r->own.clocks, &r->clock_model, e))
		return setup_blame(r->setup, "clock.model", e);
	state = calloc(1, r->clock_model->bytes + 1);
	if (!state)
		return err_nomem(e);
	rc = r->clock_model->init ? r->clock_model->init(state, r->setup, e) : 0;
	free(state);
	return rc;
}

/* Reads settings of real runs only; a simulation accepts the keys. */
static int read_real(struct run *r, struct err *e)
{
	int rc = read_clock(r, e);

	r->silence = SILENCE_NS;
	r->hosts = setup_get(r->setup, "real.hosts");
	return rc ? rc
		  : setup_nsec(r->setup, "real.silence", SILENCE_MIN_NS, NEKO_TIME_MAX, &r->silence,
			       e);
}

static int run_make(struct setup *s, bool is_part, struct run **out, struct err *e)
{
	struct run *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return err_nomem(e);
	r->setup = s;
	r->is_part = is_part;
	rc = read_processes(r, e);
	if (!rc)
		rc = choose_stat(r, e);
	if (!rc)
		rc = run_nets(r, e);
	if (!rc)
		rc = read_end(r, e);
	if (!rc)
		rc = read_real(r, e);
	if (!rc && !is_part)
		rc = r->stat.init(&r->stat, s, r->m, &r->handler, e);
	if (!rc)
		rc = check_end(r, e);
	if (rc)
		run_free(r);
	else
		*out = r;
	return rc;
}

int run_new(struct setup *s, struct run **out, struct err *e)
{
	return run_make(s, false, out, e);
}

int run_new_part(struct setup *s, struct run **out, struct err *e)
{
	return run_make(s, true, out, e);
}

void run_free(struct run *r)
{
	if (!r)
		return;
	if (r->handler)
		r->stat.done(r->handler);
	run_nets_free(r);
	free(r->app);
	free(r->crash);
	free(r->crash_by);
	free(r->crash_at);
	free(r->missing);
	free(r->clock);
	free(r);
}

static void handle(void *arg, const struct neko_event *v)
{
	struct run *r = arg;

	if (r->options->on_event)
		r->options->on_event(r->options->arg, v);
	r->stat.handle(r->handler, v);
}

static bool should_stop(void *arg)
{
	struct run *r = arg;

	return r->stat.should_stop(r->handler);
}

void run_draw_crashes(struct run *r, uint64_t seed)
{
	struct rng rng;

	rng_init(&rng, hash_mix64(seed ^ 0x63726173686573));
	for (uint32_t i = 0; i < r->m; i++) {
		nsec_t from = r->crash[i], span = r->crash_by[i] - from;

		r->crash_at[i] =
			from < 0 ? NEKO_NEVER : from + (nsec_t)rng_below(&rng, (uint64_t)span + 1);
	}
}

static int place_crashes(struct run *r, struct sim *s, uint64_t seed)
{
	int rc = 0;

	run_draw_crashes(r, seed);
	for (uint32_t i = 0; i < r->m && !rc; i++)
		if (r->crash_at[i] != NEKO_NEVER)
			rc = sim_crash(s, i + 1, r->crash_at[i]);
	return rc;
}

/* Makes a real network of a shared object once, without opening it, to check its settings. */
static int check_own(const struct run *r, const struct simnet_conf *c, struct err *e)
{
	static const struct net_world none;
	const struct net_conf conf = { .ops = c->own,
				       .world = &none,
				       .name = c->name,
				       .setup = r->setup,
				       .m = r->m,
				       .id = 1 };
	struct neko_net *n = NULL;
	int rc = net_check_real(c->own, c->name, e);

	if (!rc)
		rc = net_new(&conf, &n, e);
	net_free(n);
	return rc;
}

/*
 * Adds a network for a simulation. A real run checks its layers in a simulation, for which its
 * networks need no delays.
 */
static int add_net(const struct run *r, struct sim *s, const struct simnet_conf *conf,
		   struct err *e)
{
	struct simnet_conf c = *conf;
	int rc = r->is_real && c.own ? check_own(r, &c, e) : 0;

	if (r->is_real)
		c.own = NULL;
	return rc ? rc : sim_add_net(s, &c, e);
}

static int build(struct run *r, uint64_t seed, struct sim **out, struct err *e)
{
	const struct neko_handler h = { handle, should_stop, r };
	int rc = sim_new(r->m, seed, out, e);

	if (!rc)
		sim_set_stack(*out, r->stack_bytes);
	for (unsigned i = 0; i < r->nnet && !rc; i++)
		rc = add_net(r, *out, &r->net[i], e);
	for (uint32_t id = 1; id <= r->m && !rc; id++)
		rc = r->app[id - 1]->init(sim_process(*out, id), r->setup, e);
	if (!rc && place_crashes(r, *out, seed))
		rc = err_nomem(e);
	if (!rc && !r->is_finished)
		rc = setup_finish(r->setup, e);
	if (rc)
		return rc;
	r->is_finished = true;
	sim_set_handler(*out, &h);
	if (r->options->on_message)
		sim_set_trace(*out, r->options->on_message, r->options->arg);
	return 0;
}

int run_check(struct run *r, struct err *e)
{
	struct sim *s = NULL;
	int rc = build(r, r->seed, &s, e);

	if (!rc)
		sim_type_names(s, r->type_name);
	sim_free(s);
	return rc;
}

bool run_is_interrupted(const struct run *r)
{
	return r->options->interrupt && *r->options->interrupt;
}

bool run_is_late(const struct run *r)
{
	return run_is_interrupted(r) ||
	       (r->options->deadline && clock_mono() >= r->options->deadline);
}

void run_report_turn(const struct run *r, uint64_t done, double seconds)
{
	const struct run_options *w = r->options;

	if (w->on_turn)
		w->on_turn(w->arg, &(struct run_turn){ r, done, r->runs, seconds,
						       (double)(clock_mono() - r->begun) / 1e9 });
}

static void count(struct run_counts *f, struct sim *s, enum sim_end end)
{
	const struct sim_counts *c = sim_counts(s);

	f->runs++;
	f->events += c->events;
	f->sent += c->sent;
	f->delivered += c->delivered;
	f->hash = hash_mix64(f->hash ^ sim_hash(s));
	f->seconds += (double)sim_now(s) / 1e9;
	f->is_stopped = end == SIM_STOPPED;
	f->is_left = end == SIM_LEFT;
	f->is_cut = end == SIM_PAUSED;
	f->whole_runs += !f->is_cut;
}

const char *run_broken(const struct run *r)
{
	return r->stat.broken ? r->stat.broken(r->handler) : NULL;
}

static int run_once(struct run *r, uint64_t seed, struct run_counts *f, struct err *e)
{
	enum sim_end end = SIM_PAUSED;
	struct sim *s = NULL;
	int rc = build(r, seed, &s, e);

	if (!rc && r->stat.begin(r->handler, r->m))
		rc = err_nomem(e);
	while (!rc && end == SIM_PAUSED && !run_is_late(r)) {
		run_report_turn(r, f->runs, (double)sim_now(s) / 1e9);
		rc = sim_run(s, r->until, &end, e);
	}
	if (!rc) {
		r->stat.end(r->handler, sim_now(s));
		count(f, s, end);
		f->stuck += sim_end_run(s);
	}
	sim_free(s);
	return rc;
}

/* Each run has its own seed; the first run has the seed of the configuration. */
int run_simulate(struct run *r, const struct run_options *w, struct run_counts *out, struct err *e)
{
	struct run_counts f = { .seed = r->seed, .runs_requested = r->runs };
	int rc = run_check_delays(r, e);

	r->options = w;
	r->begun = clock_mono();
	for (uint64_t i = 0; i < r->runs && !rc; i++) {
		f.seed_of_last = i ? hash_mix64(hash_mix64(r->seed) + i) : r->seed;
		rc = run_once(r, f.seed_of_last, &f, e);
		f.broken = run_broken(r);
		f.is_stopped |= should_stop(r);
		if (f.is_stopped || f.is_cut || f.broken)
			break;
		if (run_is_late(r))
			f.is_cut = i + 1 < r->runs;
		if (f.is_cut)
			break;
	}
	f.is_interrupted = f.is_cut && run_is_interrupted(r);
	r->options = NULL;
	if (!rc)
		*out = f;
	return rc;
}

/*
 * Predicts the quality by formulas, which apply to one NFD-S over a network that only loses and
 * delays messages.
 */
static bool predict(const struct run *r, struct chen_qos *out)
{
	nsec_t eta = NSEC_PER_SEC, delta;
	const struct simnet_conf *c;
	uint64_t net = 1;
	struct chen chen;
	bool is_nfds = false;

	for (uint32_t id = 0; id < r->m; id++) {
		is_nfds |= r->app[id]->init == fd_nfds;
		if (r->app[id]->init != fd_nfds && r->app[id]->init != fd_heartbeat &&
		    r->app[id]->init != apps_nothing)
			return false;
	}
	if (!is_nfds || setup_nsec(r->setup, "fd.eta", 1, FD_TIME_MAX, &eta, NULL))
		return false;
	delta = eta;
	if (setup_nsec(r->setup, "fd.delta", 0, FD_TIME_MAX, &delta, NULL) ||
	    setup_u64(r->setup, "fd.network", 1, r->nnet, &net, NULL))
		return false;
	c = &r->net[net - 1];
	if (c->ncut || c->is_fifo || c->resend || c->bits_per_s > 0 || c->reorder > 0 ||
	    c->duplicate > 0 || c->trace || c->medium.kind != MEDIUM_NONE)
		return false;
	chen = (struct chen){ (double)eta / 1e9, (double)delta / 1e9, c->loss, c->delay };
	return !chen_predict(&chen, out, NULL);
}

size_t run_results(const struct run *r, struct stat_result *out)
{
	size_t n = r->stat.results(r->handler, out);
	struct chen_qos q;

	if (r->is_real || !predict(r, &q))
		return n;
	for (size_t i = 0; i < n; i++) {
		const char *name = quantity_name(out[i].quantity);

		if (str_eq(name, "T_M"))
			out[i].expected = q.duration;
		else if (str_eq(name, "T_MR"))
			out[i].expected = q.recurrence;
		else if (str_eq(name, "P_A"))
			out[i].expected = q.accuracy;
	}
	return n;
}

int run_flush(const struct run *r, struct err *e)
{
	struct stat_result v[STAT_QUANTITIES_MAX];
	size_t n = r->stat.results(r->handler, v);
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = quantity_flush(v[i].quantity, e);
	if (!rc && r->stat.write_results)
		rc = r->stat.write_results(r->handler, e);
	return rc;
}

void run_event_text(const struct run *r, const struct neko_event *v, char out[RUN_EVENT_TEXT_BYTES])
{
	const struct neko_measure *m = r->stat.measure;
	char text[RUN_EVENT_TEXT_BYTES] = "";

	if (m && m->print && m->print(v, text, sizeof(text)))
		str_escape(out, RUN_EVENT_TEXT_BYTES, text, strnlen(text, sizeof(text)));
	else if (v->n)
		str_escape(out, RUN_EVENT_TEXT_BYTES, v->bytes, v->n);
	else
		snprintf(out, RUN_EVENT_TEXT_BYTES, "%.9g", v->content);
}
