/* SPDX-License-Identifier: Apache-2.0 */
/* A measurement: its request, and the reads that mainsm reports. */
#include "tools/measure/measurement.h"
#include "tools/measure/measurement_ended.h"
#include "tools/term/ranges.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/text/value.h"
#include "pmsl/check/builtin.h"

#include <stdlib.h>
#include <string.h>

#define PARTS_MAX 64 /* parts of a read; mainsm sends fewer */

/* --- asking */

static void write_option(struct omis_writer *w, const char *name, const char *value)
{
	if (!value)
		return;
	omis_write_string(w, name);
	omis_write_string(w, value);
}

static void write_until(const struct stop *rule, struct omis_writer *out)
{
	struct buf text = BUF_INIT(4096);

	stop_print(rule, &text);
	write_option(out, "until", buf_str(&text));
	buf_done(&text);
}

static void write_options(const struct measurement *m, struct omis_writer *out)
{
	const struct measurement_options *w = m->options;

	omis_write_list(out);
	omis_write_string(out, "every_ms");
	omis_write_int(out, w->every_ns / NSEC_PER_MSEC);
	omis_write_string(out, "rate");
	omis_write_int(out, w->rate);
	write_option(out, "mode", m->since_last ? "last" : "start");
	if (m->by_mainsm)
		write_until(&w->until, out);
	write_option(out, "by", w->by);
	write_option(out, "agg", w->agg);
	write_option(out, "name", w->file && !str_eq(w->file, "-") ? w->file : NULL);
	omis_write_list_end(out);
}

/* "10,20,30-40": virtual times. */
static int write_times(struct omis_writer *out, const char *text)
{
	struct ranges r;
	struct err e = { 0 };

	if (ranges_parse(text, &r, &e))
		return cmd_fail(CMD_USAGE,
				"--set wants NAME=NUMBER, or virtual times as NAME=10,20,30-40, "
				"not '%s'",
				text);
	omis_write_list(out);
	for (size_t i = 0; i < r.n; i++) {
		omis_write_list(out);
		omis_write_int(out, r.piece[i].first);
		omis_write_int(out, r.piece[i].last);
		omis_write_list_end(out);
	}
	omis_write_list_end(out);
	return CMD_OK;
}

/* Writes the value of NAME=VALUE: a number, or virtual times. A whole number may be either. */
static int write_set(struct omis_writer *out, const char *set)
{
	const char *equals = strchr(set, '=');
	int64_t whole;
	double v;

	if (!equals)
		return cmd_fail(CMD_USAGE, "--set wants NAME=NUMBER, not '%s'", set);
	omis_write_string_n(out, set, (size_t)(equals - set));
	if (!str_to_i64(equals + 1, INT64_MIN, INT64_MAX, &whole))
		omis_write_int(out, whole);
	else if (!str_to_double(equals + 1, -1e300, 1e300, &v))
		omis_write_float(out, v);
	else
		return write_times(out, equals + 1);
	return CMD_OK;
}

static void put_list(struct omis_writer *out, const struct buf *values)
{
	omis_write_list(out);
	buf_put(out->b, values->p, values->n);
	omis_write_list_end(out);
}

static void write_regions(const struct measurement *m, struct omis_writer *out)
{
	const struct measurement_options *w = m->options;

	omis_write_string(out, m->regions_name ? m->regions_name : "regions");
	omis_write_list(out);
	for (unsigned i = 0; i < w->nregion; i++)
		omis_write_string(out, w->region[i]);
	for (unsigned i = 0; i < m->nregion; i++)
		omis_write_string(out, m->region[i]);
	omis_write_list_end(out);
}

static int write_parameters(const struct measurement *m, struct omis_writer *out)
{
	const struct measurement_options *w = m->options;
	struct buf partners = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	int rc = w->partners ? measurement_objects(m, w->partners, &partners) : CMD_OK;

	omis_write_list(out);
	if (w->partners) {
		omis_write_string(out, m->partners_name ? m->partners_name : "partners");
		put_list(out, &partners);
	}
	if (w->nregion || m->nregion)
		write_regions(m, out);
	for (unsigned i = 0; rc == CMD_OK && i < w->nset; i++)
		rc = write_set(out, w->set[i]);
	omis_write_list_end(out);
	buf_done(&partners);
	return rc;
}

static int write_request(const struct measurement *m, struct buf *b)
{
	struct omis_writer out = OMIS_WRITER(b);
	struct buf objects = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	int rc = measurement_objects(m, m->options->objects, &objects);

	buf_puts(b, ":dfg_create(");
	put_list(&out, &objects);
	omis_write_string(&out, buf_str(&m->text));
	omis_write_string(&out, m->options->metric);
	write_options(m, &out);
	if (rc == CMD_OK)
		rc = write_parameters(m, &out);
	buf_putc(b, ')');
	buf_done(&objects);
	if (rc == CMD_OK && b->failed)
		rc = cmd_fail(CMD_FAILURE,
			      "the metrics are longer than a request may be (%d bytes)",
			      OMIS_REQUEST_MAX_BYTES);
	return rc;
}

/*
 * Messages of several lines are printed unchanged: they come from the compiler and include the
 * text.
 */
static int report_refused(const Omis_object_result *o)
{
	const char *words = o->result ? o->result : omis_strerror(o->status);
	/* the metric cannot be measured on any of the objects */
	bool is_nobodys = (o->status & ~OMIS_FATAL) == OMIS_UNSUPPORTED_SERVICE;

	if (!strchr(words, '\n'))
		return cmd_fail(is_nobodys ? CMD_PARTIAL : session_status_of(o->status), "%s",
				words);
	term_put_lines(stderr, words, strlen(words));
	return cmd_note(is_nobodys ? CMD_PARTIAL : CMD_FAILURE, words);
}

static int take_token(struct measurement *m, Omis_reply r)
{
	const Omis_object_result *o = r[0] && r[1] ? r[1] : r[0];
	Omis_value *v;

	if (r[0] && r[0]->obj_list && r[0]->status >= OMIS_FIRST_ERROR)
		o = r[0];
	if (!o || !o->obj_list)
		return cmd_fail(CMD_FAILURE, "mainsm's answer cannot be read");
	if (o->status >= OMIS_FIRST_ERROR)
		return report_refused(o);
	v = o->result ? omis_value_parse(o->result, o->result_len) : NULL;
	str_copy(m->dfg, sizeof(m->dfg), value_text(v, 0));
	omis_value_free(v);
	return CMD_OK;
}

static int ask_for_it(struct measurement *m, Omis_reply *r)
{
	struct buf b = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	int rc = write_request(m, &b);

	*r = rc == CMD_OK ? omis_request_n((const char *)b.p, b.n, NULL, NULL, 0) : NULL;
	buf_done(&b);
	return rc == CMD_OK && !*r ? cmd_fail(CMD_FAILURE, "out of memory") : rc;
}

static bool is_refused(Omis_reply r)
{
	return (r[0] && r[0]->obj_list && r[0]->status >= OMIS_FIRST_ERROR) ||
	       (r[0] && r[1] && r[1]->obj_list && r[1]->status >= OMIS_FIRST_ERROR);
}

/*
 * If mainsm cannot evaluate the rule of --until, each read is one value of the sample. Then values
 * since the last read are requested: totals since the start depend on each other.
 */
static int create(struct measurement *m)
{
	const struct measurement_options *w = m->options;
	Omis_reply r = NULL;
	int rc = CMD_OK;

	m->by_mainsm = measurement_may_stop_there(w);
	m->since_last = false;
	if (m->by_mainsm)
		rc = ask_for_it(m, &r);
	if (rc == CMD_OK && (!r || is_refused(r))) {
		omis_reply_free(r);
		m->by_mainsm = false;
		m->since_last = w->since_last || (stop_has_interval(&w->until) && !w->since_start);
		rc = ask_for_it(m, &r);
	}
	if (rc == CMD_OK)
		rc = take_token(m, r);
	omis_reply_free(r);
	return rc;
}

/* --- received reads */

static struct reading *reading_of(struct measurement *m)
{
	if (!m->open)
		m->open = calloc(1, sizeof(*m->open));
	return m->open;
}

/*
 * A missing part makes all later totals since the start wrong, but only one value since the last
 * read.
 */
static bool is_cut(const struct measurement *m)
{
	return m->is_behind_gap || (m->before && !m->since_last && m->is_total);
}

static void place_reading(struct measurement *m, struct reading *r)
{
	int64_t until = value_int(r->part[0], READ_UNTIL);

	r->before = m->before;
	r->is_cut = is_cut(m);
	if (m->is_behind_gap && until - m->options->every_ns > m->last_until_ns)
		r->gap_ns = until - m->options->every_ns - m->last_until_ns;
	m->is_behind_gap = false;
	m->last_read = reading_number(r);
	m->last_until_ns = until;
}

/* Consumes v. */
static void take_part(struct measurement *m, Omis_value *v)
{
	struct reading *r = reading_of(m);

	if (!r || array_grow(&r->part, &r->cap, r->npart + 1, sizeof(*r->part), PARTS_MAX)) {
		omis_value_free(v);
		return;
	}
	r->part[r->npart++] = v;
	r->is_enough = value_int(v, READ_ENOUGH);
	if (value_int(v, READ_MORE))
		return;
	place_reading(m, r);
	*m->last = r;
	m->last = &r->next;
	m->open = NULL;
}

static void on_event(struct measurement *m, Omis_reply r)
{
	Omis_value *v;

	if (!r[0] || !r[1] || !r[1]->obj_list || r[1]->status >= OMIS_FIRST_ERROR)
		return;
	v = r[1]->result ? omis_value_parse(r[1]->result, r[1]->result_len) : NULL;
	if (v && v->n >= READ_VALUES)
		take_part(m, v);
	else
		omis_value_free(v);
}

static void on_reply(Omis_reply r, void *arg)
{
	struct measurement *m = arg;

	if (session_csr_note(&m->csr, r) == OMIS_CSR_TRIGGERED)
		on_event(m, r);
	omis_reply_free(r);
}

static int report_end(const struct measurement *m)
{
	return session_csr_fail(&m->csr, CMD_FAILURE, "the measurement has ended: ");
}

static int subscribe(struct measurement *m)
{
	char text[160];
	int n = snprintf(text, sizeof(text),
			 "dfg_has_read([%s]): print([$read,$until,$more,$lost,$enough,$values])",
			 m->dfg);

	if (session_csr_define(&m->csr, text, (size_t)n, on_reply, m) != CMD_OK)
		return m->csr.ended ? report_end(m)
				    : cmd_fail(CMD_FAILURE, "mainsm does not report what it reads");
	return session_csr_enable(&m->csr) == CMD_OK ? CMD_OK : CMD_FAILURE;
}

/* --- beginning and ending */

/* Reports a reason once, for its first object, with the number of objects that have it. */
static void report_refusal(const struct measurement *m, const Omis_value *list, size_t at)
{
	const char *why = value_text(&list->list[at], 1);
	char label[MEASURED_LABEL_BYTES];
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		bool is_same = str_eq(value_text(&list->list[i], 1), why);

		if (is_same && i < at)
			return;
		n += is_same;
	}
	measurement_label(m, value_text(&list->list[at], 0), label, sizeof(label));
	if (!value_text(&list->list[at], 0)[0])
		cmd_warn("%s", why);
	else if (n == 1)
		cmd_warn("%s: %s", label, why);
	else
		cmd_warn("%zu objects (%s, ...): %s", n, label, why);
}

/*
 * Counts objects that will never have a value. A refusal may also concern all objects, or be one
 * of memory.
 */
static void report_refusals(struct measurement *m, const Omis_value *list)
{
	m->refused = 0;
	for (size_t i = 0; list && i < list->n; i++) {
		int64_t status = value_int(&list->list[i], 2);

		m->refused += status == OMIS_UNSUPPORTED_SERVICE || status == OMIS_UNKNOWN_OBJECT;
		report_refusal(m, list, i);
	}
}

static int take_info(struct measurement *m)
{
	Omis_value *v;
	int rc = session_ask_value(&v, ":dfg_get_info([%s],17)", m->dfg);

	if (rc != CMD_OK)
		return rc;
	snprintf(m->unit, sizeof(m->unit), "%s%s", value_text(value_at(v, 0), 1),
		 m->options->rate ? "/s" : "");
	m->each_vt = value_int(value_at(v, 0), 7) != 0;
	report_refusals(m, value_at(v, 1));
	omis_value_free(v);
	return CMD_OK;
}

/* All but the start. */
static int prepare(struct measurement *m)
{
	int rc = session_attach(m->options->job);

	if (rc == CMD_OK)
		measurement_poll_tree(m);
	if (rc == CMD_OK && measurement_is_too_late(m))
		rc = cmd_fail(CMD_NOTFOUND, "job '%s' has ended: none of its processes runs",
			      m->options->job);
	if (rc == CMD_OK && m->options->each_region && !m->options->nregion && !m->nregion)
		rc = measurement_regions(m);
	if (rc == CMD_OK)
		rc = measurement_functions(m);
	if (rc == CMD_OK)
		rc = create(m);
	return rc == CMD_OK ? subscribe(m) : rc;
}

/* One request: the intervals of all begin with it. */
static int start(const struct measurement *m, size_t n)
{
	struct buf b = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	Omis_reply r = NULL;
	int rc;

	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%s", i ? "," : "", m[i].dfg);
	rc = session_ask(&r, ":dfg_start([%s])", buf_str(&b));
	buf_done(&b);
	omis_reply_free(r);
	return rc;
}

static int begin(struct measurement *m, size_t n)
{
	int rc = CMD_OK;

	for (size_t i = 0; rc == CMD_OK && i < n; i++)
		rc = prepare(&m[i]);
	if (rc == CMD_OK)
		rc = start(m, n);
	if (rc == CMD_OK)
		measurement_note_since(m);
	for (size_t i = 0; rc == CMD_OK && i < n; i++)
		rc = take_info(&m[i]);
	return rc;
}

/* Also if it is incomplete or ended by mainsm. */
void measurement_delete(struct measurement *m)
{
	Omis_reply r;

	session_csr_delete(&m->csr);
	if (m->dfg[0] && session_ask(&r, ":dfg_delete([%s])", m->dfg) == CMD_OK)
		omis_reply_free(r);
	m->dfg[0] = 0;
}

/* Requests the same measurement of another mainsm, which numbers its reads from 1. */
static int begin_again(void *arg)
{
	struct measurement *m = arg;
	int rc;

	session_csr_reset(&m->csr);
	m->dfg[0] = 0;
	reading_free(m->open);
	m->open = NULL;
	m->before = m->last_read;
	m->is_behind_gap = true;
	rc = begin(m, 1);
	if (rc != CMD_OK)
		measurement_delete(m);
	return rc;
}

static void note_metric(struct measurement *m)
{
	int id = m->options->file ? -1 : pmsl_builtin_find(m->options->metric);
	struct pmsl_builtin b;

	m->is_total = id < 0 || !pmsl_builtin_get((unsigned)id, &b) || b.is_total;
	if (id >= 0)
		m->is_of_processes = b.object == PMSL_T_PROCESS;
	m->last = &m->first;
	m->csr.gap = (struct session_gap){ .limit_ns = m->options->reconnect_ns,
					   .again = begin_again,
					   .arg = m };
}

int measurement_begin_all(struct measurement *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		note_metric(&m[i]);
	return begin(m, n);
}

int measurement_begin(struct measurement *m)
{
	return measurement_begin_all(m, 1);
}

int measurement_check(struct measurement *m)
{
	bool has_ended;
	int rc = session_csr_check(&m->csr, &has_ended);

	return has_ended ? report_end(m) : rc;
}

void measurement_end(struct measurement *m)
{
	struct reading *r;

	while ((r = measurement_next(m)))
		reading_free(r);
	reading_free(m->open);
	until_free(m->until);
	measurement_regions_free(m);
	free(m->partners_name);
	free(m->regions_name);
	omis_value_free(m->tree);
	buf_done(&m->text);
}

static void ignore(Omis_reply r, void *arg)
{
	omis_reply_free(r);
}

void measurement_attach(struct measurement *m)
{
	char all[] = ":site_attach([]) node_attach([]) proc_attach([])", job[300];
	char *text = all;

	if (m->options->job) {
		snprintf(job, sizeof(job), ":omig_job_attach(\"%s\")", m->options->job);
		text = job;
	}
	omis_reply_free(omis_request(text, ignore, NULL, 0));
}

struct reading *measurement_next(struct measurement *m)
{
	struct reading *r = m->first;

	if (!r)
		return NULL;
	m->first = r->next;
	if (!m->first)
		m->last = &m->first;
	return r;
}
