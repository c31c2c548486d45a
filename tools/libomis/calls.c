/* SPDX-License-Identifier: Apache-2.0 */
/* omis_calls(): omig_calls_read() as rows with names. */
#include "common/base/limits.h"
#include "common/omis/text/value.h"
#include "tools/libomis/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JOB_BYTES 256

/* Positions of the values of a function in the result of omig_calls_read(). */
enum { CALL_NAME, CALL_CLASS, CALL_COUNT, CALL_DELAY, CALL_IN_CALL, CALL_OUT, CALL_IN };

static double amount(const Omis_value *v, size_t i)
{
	double d = omis_list_float(v, i);

	return d >= 0 ? d : (double)NAN;
}

/* Each call takes some time: a time of 0 means that time was not counted. */
static double seconds(const Omis_value *v)
{
	double ns = amount(v, CALL_DELAY);

	return ns > 0 || omis_list_int(v, CALL_COUNT) == 0 ? ns * 1e-9 : (double)NAN;
}

struct reading {
	const struct names *names;
	const char *job;
	int (*fn)(const Omis_call *call, void *param);
	void *param;
};

static int show_call(const struct reading *rd, const char *token, const Omis_value *v)
{
	Omis_call c = {
		.object = token,
		.host = names_host(rd->names, token),
		.job = rd->job,
		.name = omis_list_text(v, CALL_NAME),
		.kind = omis_list_text(v, CALL_CLASS),
		.calls = amount(v, CALL_COUNT),
		.seconds = seconds(v),
		.bytes_out = amount(v, CALL_OUT),
		.bytes_in = amount(v, CALL_IN),
		.in_call = omis_list_int(v, CALL_IN_CALL),
	};
	struct name n;

	names_find(rd->names, token, &n);
	c.rank = n.rank;
	return rd->fn(&c, rd->param);
}

/* An entry describes one process. Returns other than 0 if fn asks to stop. */
static int show_entry(const struct reading *rd, const Omis_object_result *o)
{
	Omis_value *v = o->status < OMIS_FIRST_ERROR && o->result
				? omis_value_parse(o->result, o->result_len)
				: NULL;
	int stop = 0;

	for (size_t i = 1; v && !stop && i < v->n; i++)
		stop = show_call(rd, o->obj_list, &v->list[i]);
	omis_value_free(v);
	return stop;
}

static Omis_reply ask(const char *service, const struct buf *ranks, const char *rest)
{
	struct buf b = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	Omis_reply r;

	buf_printf(&b, ":%s(", service);
	buf_put(&b, ranks->p, ranks->n);
	buf_puts(&b, rest);
	r = b.failed ? NULL : omis_request_n((const char *)b.p, b.n, NULL, NULL, 0);
	buf_done(&b);
	return r;
}

/* Ranks that have ended are read, but no longer counted: their refusal is not a failure. */
static void enable(const struct buf *ranks)
{
	omis_reply_free(ask("omig_calls_enable", ranks, ",\"volume\")"));
}

struct entry {
	const Omis_object_result *o;
	int64_t rank;
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* By rank: hosts reply in any order. */
static Omis_status show_entries(const struct reading *rd, const Omis_object_result *o)
{
	size_t n = 0, i = 0;
	struct entry *e;
	int stop = 0;

	while (o && o[n].obj_list)
		n++;
	e = calloc(n + 1, sizeof(*e));
	if (!e)
		return own_refuse(OMIS_OS_ERROR, "out of memory");
	for (i = 0; i < n; i++) {
		struct name name;

		names_find(rd->names, o[i].obj_list, &name);
		e[i] = (struct entry){ &o[i], name.rank };
	}
	if (n > 1)
		qsort(e, n, sizeof(*e), compare_entries);
	for (i = 0; i < n && !stop; i++)
		stop = show_entry(rd, e[i].o);
	free(e);
	return OMIS_OK;
}

static Omis_status read_and_show(const struct reading *rd, const struct buf *ranks,
				 Omis_coverage *coverage)
{
	Omis_reply r = ask("omig_calls_read", ranks, ")");
	Omis_status s = r && r[0] && r[0]->obj_list ? r[0]->status : OMIS_OK;

	if (!r)
		return own_refuse(OMIS_PARAMETER_ERROR, "more ranks than a request may name");
	if (s >= OMIS_FIRST_ERROR)
		s = own_refuse(s & ~OMIS_FATAL, r[0]->result ? r[0]->result : omis_strerror(s));
	if (r[0] && show_entries(rd, r[1]) != OMIS_OK)
		s = OMIS_OS_ERROR;
	if (coverage) {
		omis_reply_coverage(r, coverage);
		coverage->n_missing = 0;
		coverage->missing = NULL;
	}
	omis_reply_free(r);
	return s < OMIS_FIRST_ERROR ? OMIS_OK : s;
}

Omis_status omis_calls(const char *job, int (*fn)(const Omis_call *call, void *param), void *param,
		       Omis_coverage *coverage)
{
	struct buf ranks = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	struct names names = { 0 };
	char name[JOB_BYTES];
	const struct reading rd = { &names, name, fn, param };
	Omis_status s;

	if (!fn)
		return own_refuse(OMIS_PARAMETER_ERROR, "omis_calls needs a function");
	s = names_job(&names, job, name, sizeof(name));
	if (s == OMIS_OK)
		s = names_write(&names, name, NAMES_RANKS, &ranks);
	if (s == OMIS_OK) {
		enable(&ranks);
		s = read_and_show(&rd, &ranks, coverage);
	}
	buf_done(&ranks);
	names_done(&names);
	return s;
}
