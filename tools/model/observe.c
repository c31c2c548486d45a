/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/model/observe.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "tools/measure/measurement_ended.h"
#include "tools/session/session.h"
#include "tools/session/waiting.h"
#include "tools/term/outfile.h"
#include "tools/term/signals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ATTACH_NS NSEC_PER_SEC /* interval of the search for new processes */

enum { COUNTS, TIMES, BUSY, MEASUREMENTS };

int observe_region(void *into, const char *text, struct err *e)
{
	struct observe_options *w = into;

	if (w->nregion == OBSERVE_SERVICES_MAX)
		return err_set(e, ERR_LIMIT, "at most %d services", OBSERVE_SERVICES_MAX);
	if (!region_is_name(text))
		return err_set(e, ERR_INVALID, "NAME, BEGIN..END or function:NAME, not '%.60s'",
			       text);
	w->region[w->nregion++] = text;
	return 0;
}

/* --- services */

static bool is_function(const char *name)
{
	return region_function(name) != NULL;
}

/* True for the same probes, under any name. */
static bool is_known(const struct observation *o, const struct region *r)
{
	for (size_t i = 0; i < o->nservice; i++) {
		const struct region *s = &o->service[i].region;

		if (str_eq(s->name, r->name) ||
		    (r->end[0] && str_eq(s->begin, r->begin) && str_eq(s->end, r->end)))
			return true;
	}
	return false;
}

static int add_service(struct observation *o, const struct region *r)
{
	struct observed_service *s = &o->service[o->nservice];

	if (is_known(o, r))
		return CMD_OK;
	if (o->nservice == OBSERVE_SERVICES_MAX)
		return cmd_fail(CMD_FAILURE,
				"the programs have more than %d regions: choose some with --region",
				OBSERVE_SERVICES_MAX);
	s->region = *r;
	if (r->end[0])
		snprintf(s->reverse, sizeof(s->reverse), "%s..%s", r->end, r->begin);
	o->nservice++;
	return CMD_OK;
}

struct adding {
	struct observation *o;
	struct buf *processes; /* tokens by commas */
	int status;
};

static bool is_wanted(const struct observation *o, const struct region *r)
{
	const struct observe_options *w = o->options;

	for (size_t i = 0; i < w->nregion; i++)
		if (str_eq(w->region[i], r->name))
			return true;
	return !w->nregion || is_known(o, r);
}

/* Processes come with all of their regions in a row. */
static void add_found(void *arg, const char *processes, const struct region *r)
{
	struct adding *a = arg;

	if (a->status != CMD_OK || !is_wanted(a->o, r))
		return;
	a->status = add_service(a->o, r);
	if (str_has_suffix(buf_str(a->processes), processes))
		return;
	buf_printf(a->processes, "%s%s", a->processes->n ? "," : "", processes);
}

/* Regions of two given probes, and functions. */
static int add_named(struct observation *o)
{
	const struct observe_options *w = o->options;
	int status = CMD_OK;

	for (size_t i = 0; status == CMD_OK && i < w->nregion; i++) {
		struct region r = { 0 };

		if (!strstr(w->region[i], "..") && !is_function(w->region[i]))
			continue;
		if (is_function(w->region[i]) || !region_from_name(w->region[i], 0, &r))
			r = (struct region){ 0 };
		if (!str_copy(r.name, sizeof(r.name), w->region[i]))
			return cmd_fail(CMD_USAGE, "the name '%.60s...' is too long", w->region[i]);
		status = add_service(o, &r);
	}
	return status;
}

static int check_found(const struct observation *o)
{
	const struct observe_options *w = o->options;

	for (size_t i = 0; i < w->nregion; i++) {
		bool is_found = false;

		for (size_t k = 0; k < o->nservice; k++)
			is_found = is_found || str_eq(o->service[k].region.name, w->region[i]);
		if (!is_found)
			return cmd_fail(CMD_NOTFOUND,
					"no process has two probes of the region '%s' (omig probes "
					"--list)",
					w->region[i]);
	}
	return o->nservice ? CMD_OK : measurement_no_regions();
}

/* processes: gets those that have one of the services between probes. */
static int find_services(struct observation *o, struct buf *processes)
{
	struct adding a = { o, processes, CMD_OK };
	int status = add_named(o);

	if (status == CMD_OK)
		status = session_attach(o->options->job);
	if (status == CMD_OK)
		status = measurement_regions_each(add_found, &a);
	if (status == CMD_OK)
		status = a.status;
	if (status == CMD_OK)
		status = check_found(o);
	o->has_completed = true;
	for (size_t i = 0; i < o->nservice; i++)
		o->has_completed = o->has_completed && o->service[i].reverse[0];
	return status;
}

/* --- counts of a period */

static struct observed_process *find_process(struct observation *o, const char *object)
{
	for (size_t i = 0; i < o->nprocess; i++)
		if (str_eq(o->process[i].object, object))
			return &o->process[i];
	return NULL;
}

static struct observed_process *add_process(struct observation *o, const char *object)
{
	struct observed_process p = { .shown = { .options = &o->options->estimate } };

	if (!str_copy(p.object, sizeof(p.object), object) ||
	    array_grow(&o->process, &o->process_cap, o->nprocess + 1, sizeof(p),
		       OBSERVE_PROCESSES_MAX) ||
	    periods_new(o->nservice, o->has_completed, false, &p.periods))
		return NULL;
	for (size_t i = 0; i < o->nservice; i++)
		str_copy(p.periods->name[i], sizeof(p.periods->name[i]), o->service[i].region.name);
	p.shown.periods = p.periods;
	o->process[o->nprocess] = p;
	return &o->process[o->nprocess++];
}

static void forget_counts(struct observation *o)
{
	for (size_t i = 0; i < o->nprocess; i++) {
		o->process[i].busy = NAN;
		for (size_t k = 0; k < OBSERVE_SERVICES_MAX; k++)
			o->process[i].now[k] = (struct observed_counts){ NAN, NAN, NAN };
	}
}

struct noting {
	struct observation *o;
	const struct measurement *m;
	unsigned which;
	bool has_failed;
};

/* Returns the place of a count; NULL: it is of no service. */
static double *place_of(const struct noting *n, struct observed_process *p, const char *region)
{
	if (n->which == BUSY)
		return &p->busy;
	for (size_t i = 0; i < n->o->nservice; i++) {
		const struct observed_service *s = &n->o->service[i];

		if (n->which == COUNTS && s->reverse[0] && str_eq(s->reverse, region))
			return &p->now[i].completed;
		if (str_eq(s->region.name, region))
			return n->which == COUNTS ? &p->now[i].begun : &p->now[i].time;
	}
	return NULL;
}

/* A count with an error is none: the thread has not reached a probe yet. */
static bool is_sure(const struct noting *n, const struct measured *v)
{
	return (!v->flags[0] || str_eq(v->flags, "ended")) && isfinite(v->value) && v->value >= 0 &&
	       (n->which != COUNTS || v->error <= 0);
}

static void note(void *arg, const struct measured *v)
{
	struct noting *n = arg;
	struct observed_process *p = find_process(n->o, v->object);
	double *place;

	if (!p)
		p = add_process(n->o, v->object);
	if (!p) {
		n->has_failed = true;
		return;
	}
	if (!p->label[0])
		measurement_label(n->m, v->object, p->label, sizeof(p->label));
	place = place_of(n, p, v->with);
	if (place)
		*place = is_sure(n, v) ? v->value : NAN;
}

static int add_period(const struct observation *o, struct observed_process *p)
{
	size_t k = o->nservice, at;
	bool is_known = !isnan(p->busy);

	for (size_t i = 0; i < k; i++)
		is_known = is_known && !isnan(p->now[i].begun) &&
			   (!o->has_completed || !isnan(p->now[i].completed));
	if (!is_known || !p->has_begun) {
		p->skipped += p->has_begun;
		p->has_begun = true;
		return 0;
	}
	if (periods_add(p->periods, &at))
		return -ERR_LIMIT;
	p->periods->response[at] = p->busy;
	for (size_t i = 0; i < k; i++) {
		p->periods->begun[at * k + i] = p->now[i].begun;
		if (o->has_completed)
			p->periods->completed[at * k + i] = p->now[i].completed;
	}
	if (!estimate_run(&p->shown, &p->unknown))
		p->unknown = (struct err){ 0 };
	return 0;
}

/* --- rounds of reads */

struct watch {
	struct observation *o;
	struct measurement m[MEASUREMENTS];
	struct reading *r[MEASUREMENTS]; /* owned; read, but not joined yet */
	struct measurement_options options[MEASUREMENTS];
	int status;
	bool is_over, has_ended;
};

/* Sets the next read of each measurement, all of the same number. False: one is missing. */
static bool next_round(struct watch *w)
{
	int64_t most = 0;
	bool is_same = true;

	for (unsigned i = 0; i < MEASUREMENTS; i++) {
		if (!w->r[i])
			w->r[i] = measurement_next(&w->m[i]);
		if (!w->r[i])
			return false;
		if (reading_number(w->r[i]) > most)
			most = reading_number(w->r[i]);
	}
	for (unsigned i = 0; i < MEASUREMENTS; i++) {
		if (reading_number(w->r[i]) == most)
			continue;
		reading_free(w->r[i]);
		w->r[i] = NULL;
		is_same = false;
	}
	return is_same || next_round(w);
}

static int take_round(struct watch *w)
{
	int64_t until = omis_list_int(w->r[BUSY]->part[0], READ_UNTIL);
	int status = CMD_OK;

	forget_counts(w->o);
	for (unsigned i = MEASUREMENTS; status == CMD_OK && i-- > 0;) {
		struct noting n = { w->o, &w->m[i], i, false };

		status = measurement_each(&w->m[i], w->r[i], note, &n);
		if (n.has_failed)
			status = cmd_fail(CMD_FAILURE, "more than %d processes, or out of memory",
					  OBSERVE_PROCESSES_MAX);
	}
	for (size_t i = 0; status == CMD_OK && i < w->o->nprocess; i++)
		if (add_period(w->o, &w->o->process[i]))
			status = cmd_fail(CMD_FAILURE, "more than %d periods, or out of memory",
					  PERIODS_MAX);
	if (status == CMD_OK && w->o->npast++)
		status = observe_put(w->o, until);
	return status;
}

static void take_rounds(struct watch *w)
{
	while (w->status == CMD_OK && !w->is_over && next_round(w)) {
		w->status = take_round(w);
		w->has_ended = measurement_has_ended(&w->m[BUSY], w->r[BUSY]);
		w->is_over = w->has_ended && !w->o->options->for_ns;
		for (unsigned i = 0; i < MEASUREMENTS; i++) {
			reading_free(w->r[i]);
			w->r[i] = NULL;
		}
	}
}

static void run(struct watch *w)
{
	const struct observe_options *o = w->o->options;
	nsec_t end = o->for_ns ? clock_mono() + o->for_ns : INT64_MAX, now;
	nsec_t attach = clock_mono() + ATTACH_NS;
	struct waiting waiting;

	waiting_begin(&waiting, "waiting for the second period", "ends it",
		      clock_mono() + 2 * o->every_ns, o->common.json);
	while (w->status == CMD_OK && !w->is_over && !signals_last && (now = clock_mono()) < end) {
		if (now >= attach) {
			measurement_attach(&w->m[BUSY]);
			attach = now + ATTACH_NS;
		}
		session_turn(end - now, false);
		waiting_show(&waiting);
		if (w->m[BUSY].first && w->o->npast)
			waiting_end(&waiting);
		take_rounds(w);
		for (unsigned i = 0; w->status == CMD_OK && i < MEASUREMENTS; i++)
			w->status = measurement_check(&w->m[i]);
	}
	waiting_end(&waiting);
}

/* Processes without MPI are measured only when they are named. */
static void set_up(struct watch *w, const char *processes)
{
	static const char *const metrics[] = { "Region_count", "Region_delay", "Compute_time" };
	const struct observe_options *o = w->o->options;

	for (unsigned i = 0; i < MEASUREMENTS; i++) {
		struct measurement_options *m = &w->options[i];

		*m = (struct measurement_options){ .common = o->common,
						   .metric = metrics[i],
						   .objects = o->objects   ? o->objects
							      : *processes ? processes
									   : "all",
						   .by = i == BUSY ? "process" : "process,region",
						   .each_region = i != BUSY,
						   .job = o->job,
						   .every_ns = o->every_ns,
						   .since_last = true };
		for (size_t k = 0; i != BUSY && k < w->o->nservice; k++) {
			m->region[m->nregion++] = w->o->service[k].region.name;
			if (i == COUNTS && w->o->service[k].reverse[0])
				m->region[m->nregion++] = w->o->service[k].reverse;
		}
		w->m[i] = (struct measurement){ .options = m, .text = BUF_INIT(1) };
	}
}

static int watch(struct watch *w)
{
	struct buf processes = BUF_INIT(OMIS_REQUEST_MAX_BYTES);

	w->status = find_services(w->o, &processes);
	if (w->status == CMD_OK && processes.failed)
		w->status = cmd_fail(CMD_FAILURE, "too many processes: choose some by --objects");
	set_up(w, buf_str(&processes));
	if (w->status == CMD_OK)
		w->status = measurement_begin_all(w->m, MEASUREMENTS);
	buf_done(&processes);
	if (w->status == CMD_OK)
		run(w);
	for (unsigned i = 0; i < MEASUREMENTS; i++) {
		reading_free(w->r[i]);
		measurement_end(&w->m[i]);
	}
	return w->status;
}

static int finish(const struct watch *w)
{
	const struct observation *o = w->o;
	int status = CMD_OK;

	if (w->has_ended)
		fprintf(stderr, "omig: the processes have ended\n");
	if (o->options->output)
		status = observe_write(o);
	if (status == CMD_OK && o->npast < 2 && !signals_last)
		return cmd_fail(CMD_TIMEOUT, "no period has ended in that time");
	return status;
}

int observe_show(struct observe_options *w)
{
	struct observation o = { .options = w };
	struct watch x = { .o = &o };
	int status = w->output ? outfile_check(w->output) : CMD_OK;

	if (status == CMD_OK)
		status = session_open_job(&w->common, &w->job);
	if (status != CMD_OK)
		return status;
	signals_catch(false);
	status = watch(&x);
	session_close();
	if (status == CMD_OK)
		status = finish(&x);
	for (size_t i = 0; i < o.nprocess; i++)
		periods_free(o.process[i].periods);
	free(o.process);
	return signals_status(status);
}
