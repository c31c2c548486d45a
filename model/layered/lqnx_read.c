/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text is read twice: for processors, tasks and entries, then for calls between entries, which
 * may be called before they are there.
 */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/cli/nearest.h"
#include "model/layered/named.h"
#include "model/layered/xml.h"

#include <math.h>
#include <string.h>

struct reader {
	struct xml x;
	struct layered *m;
	struct err *e;
	bool has_calls; /* this is the second pass */
	size_t processor, task, entry; /* that are open */
	size_t phase;
};

static int fail_name(const struct reader *r, int rc)
{
	err_at(r->e, r->x.name_line, r->x.name_col);
	return rc;
}

static int fail_at(const struct reader *r, const struct xml_attribute *a, int rc)
{
	err_at(r->e, a->line, a->col);
	return rc;
}

/* --- attributes */

/* Sets *out if the attribute is there. */
static int number(struct reader *r, const char *name, double least, double *out)
{
	const struct xml_attribute *a = xml_find(&r->x, name);

	if (!a || !str_to_double(a->value, least, LAYERED_NUMBER_MAX, out))
		return 0;
	return fail_at(r, a,
		       err_set(r->e, ERR_PARSE, "%s: a number from %g, not '%.30s'", name, least,
			       a->value));
}

static int whole(struct reader *r, const char *name, unsigned *out)
{
	const struct xml_attribute *a = xml_find(&r->x, name);
	uint64_t v;

	if (!a)
		return 0;
	if (str_to_u64(a->value, 1, NETWORK_POPULATION_MAX, &v))
		return fail_at(r, a,
			       err_set(r->e, ERR_PARSE, "%s: a whole number from 1, not '%.30s'",
				       name, a->value));
	*out = (unsigned)v;
	return 0;
}

static int name(struct reader *r, char out[LAYERED_NAME_BYTES])
{
	const struct xml_attribute *a = xml_find(&r->x, "name");

	if (!a)
		return fail_name(r, err_set(r->e, ERR_PARSE, "a %s needs a name", r->x.name));
	if (!layered_is_name(a->value))
		return fail_at(r, a,
			       err_set(r->e, ERR_PARSE, "a name of a %s, not '%.30s'", r->x.name,
				       a->value));
	str_copy(out, LAYERED_NAME_BYTES, a->value);
	return 0;
}

/* Accepts an attribute that has no effect with this value. */
static int plain(struct reader *r, const char *name, const char *value)
{
	const struct xml_attribute *a = xml_find(&r->x, name);

	if (!a || str_eq(a->value, value))
		return 0;
	return fail_at(r, a,
		       err_set(r->e, ERR_UNSUPPORTED, "%s='%.30s' is not served: only %s", name,
			       a->value, value));
}

/* Returns the value of the scheduling, or the usual one. */
static const char *scheduling(struct reader *r)
{
	const struct xml_attribute *a = xml_find(&r->x, "scheduling");

	return a ? a->value : "fcfs";
}

/* Call after all attributes have been read. */
static int no_more(struct reader *r)
{
	for (size_t i = 0; i < r->x.n; i++) {
		const struct xml_attribute *a = &r->x.attribute[i];

		if (!a->is_used)
			return fail_at(r, a,
				       err_set(r->e, ERR_PARSE,
					       "the attribute '%s' of a %s is unknown here",
					       a->name, r->x.name));
	}
	return 0;
}

static int twice(struct reader *r, const char *text)
{
	return fail_name(r, err_set(r->e, ERR_INVALID, "a second %s '%s'", r->x.name, text));
}

/* Returns rc of an addition, with the reason. */
static int added(struct reader *r, int rc)
{
	if (!rc)
		return 0;
	if (rc == -ERR_NOMEM)
		return err_nomem(r->e);
	return fail_name(r, err_set(r->e, ERR_LIMIT, "too many: no further %s", r->x.name));
}

/* --- elements */

static int begin_processor(struct reader *r)
{
	struct layered_processor p = { .servers = 1, .speed = 1, .kind = STATION_FCFS };
	const char *how = scheduling(r);
	int rc = name(r, p.name);

	if (!rc && r->has_calls) {
		r->processor = layered_find_processor(r->m, p.name);
		return 0;
	}
	if (!rc && layered_find_processor(r->m, p.name) != LAYERED_NOTHING)
		rc = twice(r, p.name);
	if (str_eq(how, "ps"))
		p.kind = STATION_SHARED;
	else if (str_eq(how, "inf"))
		p.kind = STATION_DELAY;
	else if (!rc && !str_eq(how, "fcfs"))
		rc = fail_name(r, err_set(r->e, ERR_UNSUPPORTED,
					  "the scheduling '%.30s' is not served: fcfs, ps or inf",
					  how));
	if (!rc)
		rc = whole(r, "multiplicity", &p.servers);
	if (!rc)
		rc = number(r, "speed-factor", 1e-9, &p.speed);
	if (!rc)
		rc = plain(r, "replication", "1");
	xml_find(&r->x, "quantum");
	if (!rc)
		rc = no_more(r);
	r->processor = r->m->nprocessor;
	return rc ? rc : added(r, layered_add_processor(r->m, &p));
}

static int begin_task(struct reader *r)
{
	struct layered_task t = { .threads = 1, .processor = r->processor };
	const char *how = scheduling(r);
	int rc = name(r, t.name);

	if (!rc && r->has_calls) {
		r->task = layered_find_task(r->m, t.name);
		return 0;
	}
	if (!rc && layered_find_task(r->m, t.name) != LAYERED_NOTHING)
		rc = twice(r, t.name);
	t.is_reference = str_eq(how, "ref");
	t.is_infinite = str_eq(how, "inf");
	if (!rc && !t.is_reference && !t.is_infinite && !str_eq(how, "fcfs"))
		rc = fail_name(r, err_set(r->e, ERR_UNSUPPORTED,
					  "the scheduling '%.30s' is not served: ref, fcfs or inf",
					  how));
	if (!rc)
		rc = whole(r, "multiplicity", &t.threads);
	if (!rc)
		rc = number(r, "think-time", 0, &t.think);
	if (!rc)
		rc = plain(r, "replication", "1");
	if (!rc)
		rc = plain(r, "priority", "0");
	if (!rc)
		rc = plain(r, "queue-length", "0");
	if (!rc)
		rc = plain(r, "activity-graph", "NO");
	if (!rc)
		rc = no_more(r);
	r->task = r->m->ntask;
	return rc ? rc : added(r, layered_add_task(r->m, &t));
}

static int begin_entry(struct reader *r)
{
	struct layered_entry v = { .task = r->task, .phase = { { .cv2 = 1 }, { .cv2 = 1 } } };
	int rc = name(r, v.name);

	if (!rc && r->has_calls) {
		r->entry = layered_find_entry(r->m, v.name);
		return 0;
	}
	if (!rc && layered_find_entry(r->m, v.name) != LAYERED_NOTHING)
		rc = twice(r, v.name);
	if (!rc)
		rc = number(r, "open-arrival-rate", 0, &v.arrivals);
	if (!rc)
		rc = plain(r, "type", "PH1PH2");
	if (!rc)
		rc = plain(r, "priority", "0");
	if (!rc)
		rc = no_more(r);
	r->entry = r->m->nentry;
	return rc ? rc : added(r, layered_add_entry(r->m, &v));
}

static int call_order(struct reader *r, struct layered_phase *p)
{
	const struct xml_attribute *a = xml_find(&r->x, "call-order");

	p->is_fixed = a && str_eq(a->value, "DETERMINISTIC");
	if (!a || p->is_fixed || str_eq(a->value, "STOCHASTIC"))
		return 0;
	return fail_at(r, a,
		       err_set(r->e, ERR_PARSE,
			       "call-order: STOCHASTIC or DETERMINISTIC, not "
			       "'%.30s'",
			       a->value));
}

static int begin_activity(struct reader *r)
{
	struct layered_phase *p;
	unsigned phase = 0;
	int rc = whole(r, "phase", &phase);

	if (!rc && (phase < 1 || phase > LAYERED_PHASES))
		return fail_name(r, err_set(r->e, ERR_UNSUPPORTED,
					    phase ? "third phases are not served"
						  : "an activity needs its phase"));
	if (rc)
		return rc;
	r->phase = phase - 1;
	if (r->has_calls)
		return 0;
	p = &r->m->entry[r->entry].phase[r->phase];
	xml_find(&r->x, "name");
	rc = number(r, "host-demand-mean", 0, &p->demand);
	if (!rc)
		rc = number(r, "host-demand-cvsq", 0, &p->cv2);
	if (!rc)
		rc = number(r, "think-time", 0, &p->think);
	if (!rc)
		rc = plain(r, "max-service-time", "0");
	if (!rc)
		rc = call_order(r, p);
	return rc ? rc : no_more(r);
}

/* --- calls */

static int destination(struct reader *r, size_t *out)
{
	const struct xml_attribute *a = xml_find(&r->x, "dest");
	struct nearest near;

	if (!a)
		return fail_name(r, err_set(r->e, ERR_PARSE, "a %s needs its dest", r->x.name));
	*out = layered_find_entry(r->m, a->value);
	if (*out != LAYERED_NOTHING)
		return 0;
	near = nearest_to(a->value);
	for (size_t i = 0; i < r->m->nentry; i++)
		nearest_try(&near, r->m->entry[i].name);
	return fail_at(r, a,
		       err_set(r->e, ERR_INVALID, "no task has an entry '%.30s'%s%s", a->value,
			       near.best ? "; did you mean " : "", near.best ? near.best : ""));
}

/* The same call in the other phase is one call with two numbers. */
static int add_call(struct reader *r, const struct layered_call *c)
{
	for (size_t i = r->m->ncall; i-- > 0 && r->m->call[i].from == c->from;) {
		struct layered_call *was = &r->m->call[i];

		if (was->to != c->to || was->kind != c->kind || was->count[r->phase] > 0)
			continue;
		was->count[r->phase] = c->count[r->phase];
		return 0;
	}
	return added(r, layered_add_call(r->m, c));
}

static int begin_call(struct reader *r, enum layered_call_kind kind)
{
	struct layered_call c = { .from = r->entry, .kind = kind };
	double count = kind == LAYERED_FORWARD;
	int rc;

	if (!r->has_calls)
		return 0;
	r->phase = kind == LAYERED_FORWARD ? 0 : r->phase;
	rc = destination(r, &c.to);
	if (!rc)
		rc = number(r, kind == LAYERED_FORWARD ? "prob" : "calls-mean", 0, &count);
	if (!rc)
		rc = plain(r, "fanin", "1");
	if (!rc)
		rc = plain(r, "fanout", "1");
	if (!rc)
		rc = no_more(r);
	c.count[r->phase] = count;
	return rc || !(count > 0) ? rc : add_call(r, &c);
}

/* --- the tree */

static int begin_wait(struct reader *r)
{
	return begin_call(r, LAYERED_WAIT);
}

static int begin_send(struct reader *r)
{
	return begin_call(r, LAYERED_SEND);
}

static int begin_forward(struct reader *r)
{
	return begin_call(r, LAYERED_FORWARD);
}

static int begin_nothing(struct reader *r)
{
	return 0;
}

/* An element is known in one place. */
static const struct {
	const char *in, *name;
	int (*begin)(struct reader *r);
} elements[] = {
	{ "", "lqn-model", begin_nothing },
	{ "lqn-model", "processor", begin_processor },
	{ "processor", "task", begin_task },
	{ "task", "entry", begin_entry },
	{ "entry", "forwarding", begin_forward },
	{ "entry", "entry-phase-activities", begin_nothing },
	{ "entry-phase-activities", "activity", begin_activity },
	{ "activity", "synch-call", begin_wait },
	{ "activity", "asynch-call", begin_send },
};

/* Parameters and results of the solver of LQNS, with all that is in them. */
static bool is_skipped(const char *name)
{
	return str_eq(name, "solver-params") || str_has_prefix(name, "result-") ||
	       str_eq(name, "run-control") || str_eq(name, "plot-control");
}

static int skip_element(struct reader *r)
{
	unsigned depth = r->x.depth - 1;

	while (r->x.depth > depth) {
		int event = xml_next(&r->x, r->e);

		if (event < 0)
			return event;
	}
	return 0;
}

static int begin_element(struct reader *r)
{
	const char *in = r->x.depth > 1 ? r->x.open[r->x.depth - 2] : "";

	for (size_t i = 0; i < ARRAY_LEN(elements); i++)
		if (str_eq(elements[i].in, in) && str_eq(elements[i].name, r->x.name))
			return elements[i].begin(r);
	if (is_skipped(r->x.name))
		return skip_element(r);
	return fail_name(r, err_set(r->e, ERR_UNSUPPORTED, "the element '%s' is not served here",
				    r->x.name));
}

static int comment(struct reader *r)
{
	static const char word[] = "interval ";
	size_t n = strlen(word);

	if (!r->has_calls || r->x.comment_bytes < n || memcmp(r->x.comment, word, n) != 0)
		return 0;
	return lqn_read_interval(r->m,
				 &(struct lqn_part){ r->x.comment + n, r->x.comment_bytes - n,
						     r->x.name_line, r->x.name_col + (unsigned)n },
				 r->e);
}

static int read_pass(struct reader *r)
{
	int event, rc = 0;

	while (!rc && (event = xml_next(&r->x, r->e)) != XML_END_OF_TEXT) {
		if (event < 0)
			rc = event;
		else if (event == XML_BEGIN)
			rc = begin_element(r);
		else if (event == XML_COMMENT)
			rc = comment(r);
	}
	return rc;
}

int layered_read_lqnx(const char *text, size_t n, struct layered *out, struct err *e)
{
	struct err own = { 0 };
	struct layered m = { 0 };
	struct reader r = { .m = &m, .e = e ? e : &own };
	int rc = 0;

	for (unsigned pass = 0; !rc && pass < 2; pass++) {
		xml_init(&r.x, text, n);
		r.has_calls = pass > 0;
		rc = read_pass(&r);
	}
	for (size_t i = 0; !rc && i < m.ntask; i++) {
		size_t entries = 0;

		for (size_t k = 0; k < m.nentry; k++)
			entries += m.entry[k].task == i;
		if (!entries)
			rc = err_set(r.e, ERR_INVALID, "task '%s' has no entry", m.task[i].name);
	}
	if (!rc)
		rc = layered_check(&m, r.e);
	if (rc)
		layered_done(&m);
	else
		*out = m;
	return rc;
}

int layered_read(const char *text, size_t n, struct layered *out, struct err *e)
{
	size_t at = 0;

	while (at < n && strchr(" \t\r\n", text[at]) && text[at])
		at++;
	return at < n && text[at] == '<' ? layered_read_lqnx(text, n, out, e)
					 : layered_read_lqn(text, n, out, e);
}
