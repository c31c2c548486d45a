/* SPDX-License-Identifier: Apache-2.0 */
/*
 * omig events: types of events of the running programs; switches events on remotely, and shows
 * them.
 */
#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "common/omis/text/value.h"
#include "common/ring/calls.h"
#include "eventlog/evwhere.h"
#include "tools/cmd/cmd.h"
#include "tools/events/event_tail.h"
#include "tools/events/subscription.h"
#include "tools/session/show.h"
#include "tools/term/signals.h"
#include "tools/term/table.h"
#include "tools/term/term.h"

#include <stdio.h>
#include <stdlib.h>

/* maximum age of a line, in addition to the host's delay */
#define FETCH_NS (200 * NSEC_PER_MSEC)
#define ATTACH_NS NSEC_PER_SEC /* interval of the search for new processes */
#define RATE_NS NSEC_PER_SEC /* between the two samples of a rate */
#define TYPES_MAX 65536
#define CALL_EVENT_BYTES 128 /* MPI_Send.start: far longer than any */

static bool is_asked(char **names, const char *name)
{
	for (char **p = names; *p; p++)
		if (evpattern_fits(*p, name))
			return true;
	return !*names;
}

/* --- list */

/* A type, with all processes that have the same definition of it. */
struct type_line {
	char *name, *level, *fields; /* owned */
	uint64_t procs, on, taken, before, lost;
};

struct types {
	struct type_line *v;
	size_t n, cap;
};

static void types_free(struct types *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->v[i].name);
		free(t->v[i].level);
		free(t->v[i].fields);
	}
	free(t->v);
	*t = (struct types){ 0 };
}

static char *fields_text(const Omis_value *list)
{
	struct buf b = BUF_INIT(65536);
	size_t n;

	for (size_t i = 0; value_at(list, i + 1); i += 2)
		buf_printf(&b, "%s%s %s", i ? ", " : "", value_text(list, i + 1),
			   value_text(list, i));
	buf_str(&b);
	return (char *)buf_take(&b, &n);
}

static struct type_line *line_of(struct types *t, const char *name, const char *fields)
{
	struct type_line *l;

	for (size_t i = 0; i < t->n; i++)
		if (str_eq(t->v[i].name, name) && str_eq(t->v[i].fields, fields))
			return &t->v[i];
	if (array_grow(&t->v, &t->cap, t->n + 1, sizeof(*t->v), TYPES_MAX))
		return NULL;
	l = &t->v[t->n];
	*l = (struct type_line){ .name = str_dup(name), .fields = str_dup(fields) };
	if (!l->name || !l->fields) {
		free(l->name);
		free(l->fields);
		return NULL;
	}
	t->n++;
	return l;
}

/* The number of objects of an entry: objects with equal results share one. */
static unsigned count_objects(const char *list)
{
	unsigned n = *list != 0;

	for (; *list; list++)
		n += *list == ',';
	return n;
}

/* [name, level, [field, kind, ...], on, taken, lost], of this many processes each */
static void add_type(struct types *t, const Omis_value *v, unsigned nproc)
{
	char *fields = fields_text(value_at(v, 2));
	struct type_line *l = fields ? line_of(t, value_text(v, 0), fields) : NULL;

	free(fields);
	if (!l)
		return;
	if (!l->level)
		l->level = str_dup(value_text(v, 1));
	l->procs += nproc;
	l->on += value_int(v, 3) ? nproc : 0;
	l->taken += nproc * (uint64_t)value_int(v, 4);
	l->lost += nproc * (uint64_t)value_int(v, 5);
}

static int fetch_types(char **names, struct types *t)
{
	Omis_reply r;
	int rc = session_ask(&r, ":proc_get_event_types([])");

	if (rc != CMD_OK)
		return rc;
	for (Omis_service_result part = r[0] ? r[1] : NULL; part && part->obj_list; part++) {
		Omis_value *v =
			part->result ? omis_value_parse(part->result, part->result_len) : NULL;

		for (size_t i = 1; value_at(v, i); i++)
			if (is_asked(names, value_text(value_at(v, i), 0)))
				add_type(t, value_at(v, i), count_objects(part->obj_list));
		omis_value_free(v);
	}
	rc = session_exit_status(r);
	omis_reply_free(r);
	return rc;
}

static bool any_on(const struct types *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].on)
			return true;
	return false;
}

static void set_before(struct types *t, const struct types *first)
{
	for (size_t i = 0; i < t->n; i++) {
		t->v[i].before = t->v[i].taken;
		for (size_t k = 0; k < first->n; k++)
			if (str_eq(first->v[k].name, t->v[i].name) &&
			    str_eq(first->v[k].fields, t->v[i].fields) &&
			    first->v[k].taken < t->v[i].taken)
				t->v[i].before = first->v[k].taken;
	}
}

/* A rate requires two samples. Types that are off have no rate. */
static int fetch_with_rates(char **names, struct types *t, double *seconds)
{
	struct types first = { 0 };
	nsec_t begin = clock_mono();
	struct timespec wait = { .tv_sec = RATE_NS / NSEC_PER_SEC };
	int rc = fetch_types(names, &first);

	if (rc == CMD_OK && any_on(&first) && !nanosleep(&wait, NULL)) {
		rc = fetch_types(names, t);
		set_before(t, &first);
		types_free(&first);
	} else {
		*t = first;
		set_before(t, &first);
	}
	*seconds = (double)(clock_mono() - begin) / 1e9;
	return rc;
}

static void show_table(const struct types *t, double seconds)
{
	static const char *const heads[] = { "EVENT",  "LEVEL", "PROCS", "ON",
					     "RATE/S", "LOST",	"FIELDS" };
	struct table *table = table_new(ARRAY_LEN(heads), heads, "llrrrrl");
	char number[TABLE_NUMBER_BYTES];

	for (size_t i = 0; table && i < t->n; i++) {
		const struct type_line *l = &t->v[i];

		table_cell(table, "%s", l->name);
		table_cell(table, "%s", l->level ? l->level : "");
		table_cell(table, "%llu", (unsigned long long)l->procs);
		table_cell(table, "%llu", (unsigned long long)l->on);
		table_cell(table, "%s",
			   l->on ? table_count(number, (double)(l->taken - l->before) / seconds)
				 : "-");
		table_cell(table, "%llu", (unsigned long long)l->lost);
		table_cell(table, "%s", l->fields);
	}
	table_show(table, 0);
}

static bool fits_calls(char **names)
{
	for (char **p = names; *p; p++)
		if (str_has_prefix(*p, "MPI_"))
			return true;
	return !*names;
}

/* Events that are not a type of <omig/event.h> can be switched on as well. */
static void show_rest(const struct event_tail_options *w)
{
	puts(*w->names ? "No process has events of such a name."
		       : "No process has events of its own (<omig/event.h>).");
	if (fits_calls(w->names))
		puts("MPI calls are events of each rank: 'MPI_*', or one by its name. "
		     "So are probes: omig probes --list.");
}

static int list(const struct event_tail_options *w)
{
	struct types t = { 0 };
	double seconds;
	Omis_reply r = NULL;
	int rc = session_attach(w->job);

	if (rc == CMD_OK && w->common.json) {
		rc = session_ask(&r, ":proc_get_event_types([])");
		if (rc == CMD_OK)
			rc = show_reply_json(r) ? session_exit_status(r) : CMD_FAILURE;
		omis_reply_free(r);
	} else if (rc == CMD_OK) {
		rc = fetch_with_rates(w->names, &t, &seconds);
		if (t.n)
			show_table(&t, seconds);
		else if (rc == CMD_OK)
			show_rest(w);
	}
	types_free(&t);
	return rc;
}

/* --- tail */

static int watch(struct event_tail *f)
{
	nsec_t end = f->options->for_ns ? clock_mono() + f->options->for_ns : INT64_MAX;
	nsec_t attach = clock_mono() + ATTACH_NS, fetch = clock_mono(), now;
	bool more;
	int rc = CMD_OK;

	while (rc == CMD_OK && !f->is_over && !signals_last && (now = clock_mono()) < end) {
		if (now >= fetch && !f->csr.gap.since) {
			rc = event_tail_fetch(f, &more);
			fetch = more ? now : now + FETCH_NS;
		}
		if (rc == CMD_OK && now >= attach && !f->csr.gap.since) {
			rc = event_tail_attach(f);
			attach = clock_mono() + ATTACH_NS;
		}
		if (session_link() == SESSION_UP && !f->csr.gap.since)
			session_turn((fetch < end ? fetch : end) - clock_mono(), false);
		else
			session_turn(FETCH_NS, false);
		if (rc == CMD_OK || session_link() != SESSION_UP)
			rc = event_tail_check(f);
	}
	return f->status ? f->status : rc;
}

static int follow(const struct event_tail_options *w)
{
	struct event_tail f = { .options = w };
	int rc, end;

	signals_catch(false);
	rc = event_tail_begin(&f);
	if (rc == CMD_OK)
		rc = watch(&f);
	end = event_tail_end(&f);
	rc = rc != CMD_OK ? rc : end;
	if (f.nlost)
		cmd_warn(
			"%llu events lost: the ranks wrote faster than they were collected; name fewer events, or use --where",
			(unsigned long long)f.nlost);
	return rc;
}

/* --- off */

static int off(const struct event_tail_options *w)
{
	struct buf b = BUF_INIT(65536);
	struct omis_writer out = OMIS_WRITER(&b);
	Omis_value *v = NULL;
	int rc;

	omis_write_list(&out);
	for (char **name = w->names; *name; name++)
		omis_write_string(&out, *name);
	omis_write_list_end(&out);
	rc = b.failed ? cmd_fail(CMD_USAGE, "the names are too long")
		      : session_ask_value(&v, ":omig_events_off(%s)", buf_str(&b));
	if (rc == CMD_OK && !value_int(v, 0))
		rc = cmd_fail(CMD_NOTFOUND, "no such events are on");
	omis_value_free(v);
	buf_done(&b);
	return rc;
}

/* --- the command line */

struct options {
	struct event_tail_options tail; /* also used by list and off */
	struct subscription_options on;
};

static const struct verb {
	const char *name;
	int (*run)(const struct event_tail_options *w); /* NULL: on */
} verbs[] = { { "list", list }, { "on", NULL }, { "off", off }, { "tail", follow } };

static const struct verb *verb_of(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_LEN(verbs); i++)
		if (str_eq(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static const char *contradiction_of_on(const struct subscription_options *w, bool is_on,
				       const char *to)
{
	if (is_on && !to)
		return "on needs --to: archive:FILE, archive:postgresql://..., or FILE; tail shows events";
	if (!is_on && (w->name || w->lease_ns || w->room_mib ||
		       !str_eq(w->when_full, SUBSCRIPTION_WHEN_FULL)))
		return "--name, --lease, --room and --when-full are of on";
	if (w->name && !subscription_is_name(w->name))
		return "--name has letters, digits, '.', '_', '-', 63 at the most";
	if (!str_eq(w->when_full, "oldest") && !str_eq(w->when_full, "newest") &&
	    !str_eq(w->when_full, "stop"))
		return "--when-full is oldest, newest or stop";
	return NULL;
}

static const char *contradiction(const struct options *options, const struct verb *verb)
{
	const struct event_tail_options *w = &options->tail;
	bool lasts = !verb->run || verb->run == follow;
	const char *wrong = contradiction_of_on(&options->on, !verb->run, w->to);
	struct evwhere where;

	if (verb->run != list && !*w->names)
		return "which events? names, beginnings of names with a *, or all";
	if (wrong)
		return wrong;
	if (w->to && !lasts)
		return "--to is of on and tail";
	if (w->reconnect_ns != SESSION_GAP_LIMIT_NS && verb->run != follow)
		return "--reconnect-for is of tail; on waits for ever";
	if ((w->where || w->for_ns || w->count) && !lasts)
		return "--where, --for and --count are of on and tail";
	if (w->where && evwhere_read(w->where, &where, NULL))
		return "--where has conditions FIELD OP VALUE: "
		       "'nbytes > 65536 and file == /scratch/*'";
	return NULL;
}

/* --- names of library calls; all other names are events of programs, which may appear later */

static bool fits_call(const char *name, const char *call)
{
	static const char *const phases[] = { "", ".start", ".end" };
	char event[CALL_EVENT_BYTES];

	for (size_t i = 0; i < ARRAY_LEN(phases); i++) {
		snprintf(event, sizeof(event), "%s%s", call, phases[i]);
		if (evpattern_fits(name, event))
			return true;
	}
	return false;
}

static int check_call(const char *name)
{
	char call[CALL_EVENT_BYTES]; /* MPI_Send of MPI_Send.start */
	struct nearest near;

	for (unsigned i = 0; i < call_count; i++)
		if (fits_call(name, call_table[i].name))
			return CMD_OK;
	snprintf(call, sizeof(call), "%.*s", (int)strcspn(name, ".*"), name);
	near = nearest_to(call);
	for (unsigned i = 0; i < call_count; i++)
		nearest_try(&near, call_table[i].name);
	return cmd_fail(CMD_NOTFOUND, "'%s' is not a library call that can be watched%s%s%s", name,
			near.best ? "; did you mean " : "", near.best ? near.best : "",
			near.best ? "?" : "");
}

static int check_names(char **names)
{
	int rc = CMD_OK;

	for (; *names && rc == CMD_OK; names++)
		if (str_has_prefix(*names, "MPI_"))
			rc = check_call(*names);
	return rc;
}

static int run_on(struct options *w)
{
	struct subscription_options *on = &w->on;

	on->common = w->tail.common;
	on->names = w->tail.names;
	on->where = w->tail.where;
	on->job = w->tail.job;
	on->to = w->tail.to;
	on->for_ns = w->tail.for_ns;
	on->count = w->tail.count;
	on->signals = &signals_count;
	signals_catch(false);
	return subscription_run(on);
}

static int run_other(struct event_tail_options *w, const struct verb *verb)
{
	int rc = session_open_job(&w->common, &w->job);

	if (rc != CMD_OK)
		return rc;
	rc = verb->run(w);
	session_close();
	return rc;
}

static int run(struct options *w, const struct verb *verb)
{
	int rc = !verb->run || verb->run == follow ? check_names(w->tail.names) : CMD_OK;

	if (rc != CMD_OK)
		return rc;
	return signals_status(verb->run ? run_other(&w->tail, verb) : run_on(w));
}

int cmd_events(int argc, char **argv)
{
	struct options options = { .tail = { .common = CMD_COMMON_INIT,
					     .reconnect_ns = SESSION_GAP_LIMIT_NS },
				   .on = { .when_full = SUBSCRIPTION_WHEN_FULL } };
	struct event_tail_options *w = &options.tail;
	const struct opt table[] = {
		CMD_OPTIONS(&w->common),
		OPTION("where", 'w', "TEXT", "of those: 'nbytes > 65536 and file == /scratch/*'",
		       OPT_STR, &w->where),
		OPTION_RANGE("for", 0, "TIME", "off after this time", OPT_NSEC, &w->for_ns,
			     NSEC_PER_MSEC, INT64_C(31536000000000000)),
		OPTION("to", 'o', "WHERE",
		       "on: keep them in archive:FILE, archive:postgresql://... or a FILE (an event log); tail: in a FILE, too",
		       OPT_STR, &w->to),
		OPTION_RANGE("count", 'n', "N", "end after N events", OPT_I64, &w->count, 1,
			     INT64_MAX),
		OPTION("job", 0, "JOB", "of the processes of this job only", OPT_STR, &w->job),
		OPTION_RANGE(
			"reconnect-for", 0, "TIME",
			"tail: wait this long for a mainsm that is lost, and continue (default 1m; 0: end)",
			OPT_NSEC, &w->reconnect_ns, 0, SESSION_GAP_MAX_NS),
		OPTION("name", 0, "NAME",
		       "on: name under which an interrupted recording is resumed (default: made of its options)",
		       OPT_STR, &options.on.name),
		OPTION_RANGE(
			"room", 0, "MIB",
			"on: limit of buffered events on the disk of each host and site (default 64)",
			OPT_I64, &options.on.room_mib, 2, 4096),
		OPTION_RANGE("lease", 0, "TIME",
			     "on: how long they are buffered without a receiver (default 5m)",
			     OPT_NSEC, &options.on.lease_ns, 10 * NSEC_PER_SEC,
			     86400 * NSEC_PER_SEC),
		OPTION("when-full", 0, "WHAT",
		       "on: when the buffer is full: drop oldest (default), drop newest, or stop",
		       OPT_STR, &options.on.when_full),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig events",
		.usage = "list|on|off|tail [OPTION...] [NAME...]",
		.verbs = "list on off tail",
		.summary =
			"switches events of running programs on and off, and shows them as they arrive",
		.details =
			"A NAME is an event's name, the beginning of names with a * behind it, or all: events of\n"
			"omig/event.h, library calls (MPI_Send is MPI_Send.start and MPI_Send.end), and probes; own:\n"
			"all but library calls. list shows the known events, with rate and loss while they are on; tail\n"
			"shows events as they happen; on stores them (--to). Events wait on disks until their\n"
			"destination has stored each once, also when daemons or this command are killed; the same\n"
			"command again continues. Events are on until --for is over, ^C, any other end of this command,\n"
			"or omig events off with one of its names or all. A token for observing switches off only\n"
			"events of the same token. The status of on is 0 when all generated events are stored, and 6\n"
			"when some were lost, which are counted and reported.",
		.table = table,
	};
	int first, exit_status = cmd_parse(&spec, argc, argv, &first);
	const struct verb *verb;
	const char *wrong;

	if (exit_status >= 0)
		return exit_status;
	verb = verb_of(first < argc ? argv[first] : NULL);
	if (!verb)
		return cmd_usage_verb(&spec, first < argc ? argv[first] : NULL);
	w->names = argv + first + 1;
	wrong = contradiction(&options, verb);
	return wrong ? cmd_usage(&spec, "%s", wrong) : run(&options, verb);
}
