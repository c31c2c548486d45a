/* SPDX-License-Identifier: Apache-2.0 */
/* omis_measure(): dfg_create() and dfg_has_read() as rows with names. */
#include "common/base/array.h"
#include "common/base/clock.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/text/value.h"
#include "tools/libomis/names.h"
#include "tools/libomis/read_fields.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVERY_MS 1000
#define TURN_MS 1000 /* the longest time between two runs of the connection's timers */
#define TOKEN_BYTES 64
#define END_MS 3000 /* the last reply of a csr arrives at once, or its connection is lost */
#define PARTS_MAX 4096 /* parts of reads that wait for fn; a monitor of any size sends fewer */

struct run {
	const Omis_measurement *what;
	int (*fn)(const Omis_row *row, void *param);
	void *param;
	char dfg[TOKEN_BYTES], csr[TOKEN_BYTES];
	struct names names;
	Omis_value *info; /* contains the unit */
	Omis_value **part; /* owned: received and not shown yet */
	size_t npart, cap;
	unsigned nread; /* number of shown reads */
	Omis_status status; /* why no more parts arrive */
	bool has_ended, is_enough;
	bool is_left; /* omis_measure() has returned: the last reply frees the struct */
};

/* --- the request */

static void write_option(struct omis_writer *w, const char *name, const char *value)
{
	omis_write_string(w, name);
	omis_write_string(w, value);
}

static void write_options(const Omis_measurement *what, struct buf *b)
{
	struct omis_writer w = { .b = b, .comma = true };

	omis_write_list(&w);
	omis_write_string(&w, "every_ms");
	omis_write_int(&w, what->every_ms ? what->every_ms : EVERY_MS);
	omis_write_string(&w, "rate");
	omis_write_int(&w, what->rate != 0);
	write_option(&w, "mode", what->since_last ? "last" : "start");
	if (what->by)
		write_option(&w, "by", what->by);
	omis_write_list_end(&w);
}

/* An empty list means all visible objects, also later ones. */
static Omis_status write_objects(const struct run *m, const char *job, struct buf *b)
{
	const char *named = m->what->job;

	if (named ? !named[0] : !names_has_other(&m->names, job)) {
		buf_puts(b, "[]");
		return OMIS_OK;
	}
	return names_write(&m->names, job, NAMES_RUNNING, b);
}

static Omis_status create(struct run *m, const char *job)
{
	struct buf b = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	struct omis_writer w = { .b = &b, .comma = true };
	Omis_value *v = NULL;
	Omis_status s;

	buf_puts(&b, ":dfg_create(");
	s = write_objects(m, job, &b);
	omis_write_string(&w, m->what->text ? m->what->text : "");
	omis_write_string(&w, m->what->metric);
	write_options(m->what, &b);
	buf_putc(&b, ')');
	if (s == OMIS_OK && b.failed)
		s = own_refuse(OMIS_PARAMETER_ERROR,
			       "more objects or text than a request may have");
	if (s == OMIS_OK)
		s = own_ask(&b, &v);
	if (s == OMIS_OK)
		str_copy(m->dfg, sizeof(m->dfg), omis_list_text(v, 0));
	omis_value_free(v);
	buf_done(&b);
	return s;
}

/* Requests a service for one token. */
static Omis_status ask_of(const char *service, const char *token, const char *rest,
			  Omis_value **out)
{
	char text[160];

	snprintf(text, sizeof(text), ":%s([%s]%s)", service, token, rest);
	return own_ask_text(text, out);
}

/* --- received parts */

static void take_part(struct run *m, Omis_reply r)
{
	const Omis_object_result *o = r[0] ? r[1] : NULL;
	Omis_value *v =
		o && o->obj_list && o->result ? omis_value_parse(o->result, o->result_len) : NULL;

	if (!v || v->n < READ_VALUES ||
	    array_grow(&m->part, &m->cap, m->npart + 1, sizeof(*m->part), PARTS_MAX)) {
		omis_value_free(v);
		return;
	}
	m->part[m->npart++] = v;
}

static void note_end(struct run *m, Omis_reply r)
{
	Omis_status s = omis_reply_status(r);

	m->has_ended = true;
	if (s < OMIS_FIRST_ERROR)
		return;
	m->status = own_refuse(s & ~OMIS_FATAL, r[0] && r[0]->obj_list && r[0]->result
							? r[0]->result
							: omis_strerror(s));
}

static void run_free(struct run *m)
{
	for (size_t i = 0; i < m->npart; i++)
		omis_value_free(m->part[i]);
	free(m->part);
	omis_value_free(m->info);
	names_done(&m->names);
	free(m);
}

static void on_reply(Omis_reply r, void *arg)
{
	struct run *m = arg;
	Omis_status kind = r[0] && r[0]->obj_list ? r[0]->status : OMIS_INTERNAL_ERROR;

	if (kind == OMIS_CSR_DEFINED && r[0]->result)
		str_copy(m->csr, sizeof(m->csr), r[0]->result);
	else if (kind == OMIS_CSR_TRIGGERED)
		take_part(m, r);
	else if (kind == OMIS_CSR_DELETED || kind >= OMIS_FIRST_ERROR)
		note_end(m, r);
	omis_reply_free(r);
	if (m->has_ended && m->is_left)
		run_free(m);
}

/* Handles the first reply here; later ones go to on_reply(). */
static Omis_status subscribe(struct run *m)
{
	char text[160];
	int n = snprintf(text, sizeof(text),
			 "dfg_has_read([%s]): print([$read,$until,$more,$lost,$enough,$values])",
			 m->dfg);
	Omis_reply r = omis_request_n(text, (size_t)n, on_reply, m, OMIS_WAIT_FOR_FIRST_REPLY);

	if (!r)
		return own_refuse(OMIS_NO_MEMORY, "no memory for a request");
	on_reply(r, m);
	if (m->has_ended)
		return m->status;
	return ask_of("csr_enable", m->csr, "", NULL);
}

/* --- rows */

/* A token that is new may be a process that has just started. */
static bool find(struct run *m, const char *token, struct name *out)
{
	if (names_find(&m->names, token, out) || !token[0])
		return true;
	return names_ask(&m->names) == OMIS_OK && names_find(&m->names, token, out);
}

static void name_row(struct run *m, const Omis_value *v, Omis_row *row)
{
	const Omis_value *beside = omis_list_at(v, VALUE_WITH);
	bool has_partner = beside && beside->kind == OMIS_VALUE_TOKEN;
	struct name n;

	row->region = omis_list_text(v, beside && !has_partner ? VALUE_WITH : VALUE_IN);
	row->partner = -1;
	if (has_partner && find(m, beside->s, &n))
		row->partner = n.rank;
	find(m, row->object, &n);
	row->rank = n.rank;
	row->job = n.job;
	row->program = n.is_process ? n.name : "";
	row->host = names_host(&m->names, row->object);
}

static int show_row(struct run *m, const Omis_value *part, const Omis_value *v, size_t index,
		    size_t rows)
{
	const Omis_value *about = omis_list_at(m->info, 0);
	Omis_row row = {
		.object = omis_list_text(v, VALUE_OBJECT),
		.value = omis_list_float(v, VALUE_VALUE),
		.error = omis_list_float(v, VALUE_ERROR),
		.unit = omis_list_text(about, 1),
		.flags = omis_list_text(v, VALUE_FLAGS),
		.k = omis_list_int(v, VALUE_K),
		.n = omis_list_int(v, VALUE_N),
		.read = omis_list_int(part, READ_NUMBER),
		.time_ns = omis_list_int(part, READ_UNTIL),
		.virtual_time = omis_list_int(v, VALUE_KEY),
		.index = index,
		.rows = rows,
	};

	if (!row.k)
		row.value = row.error = (double)NAN;
	name_row(m, v, &row);
	return m->fn(&row, m->param);
}

/*
 * Shows the parts of one read; the last part has no successor. Returns other than 0 if fn asks to
 * stop.
 */
static int show_parts(struct run *m, size_t n)
{
	size_t rows = 0, index = 0;
	int stop = 0;

	for (size_t i = 0; i < n; i++)
		rows += m->part[i]->n - READ_VALUES;
	for (size_t i = 0; i < n; i++)
		for (size_t k = READ_VALUES; !stop && k < m->part[i]->n; k++)
			stop = show_row(m, m->part[i], &m->part[i]->list[k], index++, rows);
	m->is_enough = omis_list_int(m->part[n - 1], READ_ENOUGH) != 0;
	for (size_t i = 0; i < n; i++)
		omis_value_free(m->part[i]);
	m->npart -= n;
	memmove(m->part, m->part + n, m->npart * sizeof(*m->part));
	return stop;
}

/* fn may send requests, during which more parts arrive. */
static int show_reads(struct run *m)
{
	for (size_t i = 0; i < m->npart; i++) {
		if (omis_list_int(m->part[i], READ_MORE))
			continue;
		if (show_parts(m, i + 1) || m->is_enough || ++m->nread == m->what->reads)
			return 1;
		i = (size_t)-1;
	}
	return 0;
}

static void turn(int most_ms)
{
	struct pollfd p = { .fd = omis_fd(), .events = POLLIN };

	poll(&p, 1, most_ms);
	omis_handler();
}

static Omis_status follow(struct run *m)
{
	while (!show_reads(m)) {
		if (m->has_ended)
			return m->status;
		turn(TURN_MS);
	}
	return OMIS_OK;
}

/* --- beginning and end */

static Omis_status begin(struct run *m)
{
	char job[TOKEN_BYTES * 4];
	const char *named = m->what->job && m->what->job[0] ? m->what->job : NULL;
	Omis_status s = names_job(&m->names, named, job, sizeof(job));

	if (s == OMIS_PARAMETER_ERROR && m->what->job && !named)
		s = OMIS_OK; /* job "" means all objects */
	if (s == OMIS_OK)
		s = create(m, job);
	if (s == OMIS_OK)
		s = subscribe(m);
	if (s == OMIS_OK)
		s = ask_of("dfg_start", m->dfg, "", NULL);
	if (s == OMIS_OK)
		s = ask_of("dfg_get_info", m->dfg, ",17", &m->info);
	return s;
}

/* The callback of the csr has `m` until its last reply. */
static void end(struct run *m)
{
	nsec_t until = clock_mono() + END_MS * NSEC_PER_MSEC;

	if (m->csr[0] && !m->has_ended)
		ask_of("csr_delete", m->csr, "", NULL);
	if (m->dfg[0])
		ask_of("dfg_delete", m->dfg, "", NULL);
	while (m->csr[0] && !m->has_ended && clock_mono() < until)
		turn(END_MS / 10);
	if (m->csr[0] && !m->has_ended)
		m->is_left = true;
	else
		run_free(m);
}

Omis_status omis_measure(const Omis_measurement *what, int (*fn)(const Omis_row *row, void *param),
			 void *param)
{
	struct run *m = calloc(1, sizeof(*m));
	Omis_status s;

	if (!m)
		return own_refuse(OMIS_NO_MEMORY, "no memory for a measurement");
	*m = (struct run){ .what = what, .fn = fn, .param = param };
	if (what && what->metric && fn)
		s = begin(m);
	else
		s = own_refuse(OMIS_PARAMETER_ERROR, "omis_measure needs a metric and a function");
	if (s == OMIS_OK)
		s = follow(m);
	end(m);
	return s;
}
