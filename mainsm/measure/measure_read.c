/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads of a measurement: receives batches, closes intervals, and sends their values to the tool.
 */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/flow/graph/graph_limits.h"
#include "common/omis/services/check.h"
#include "common/time/timebase.h"
#include "mainsm/csr/csr.h"
#include "mainsm/measure/measure_internal.h"

#include <math.h>
#include <stdlib.h>

#define EVENT_MAX_BYTES (FRAME_MAX_BYTES - 64 * 1024) /* values of one event, as text */
#define READ_MAX_BYTES (8 * 1024 * 1024) /* values of a requested read */

nsec_t measure_now(const struct measures *ms)
{
	return timebase_now(ms->conf.timebase, loop_now(ms->conf.loop));
}

/* --- values */

void measure_values_clear(struct measure *m)
{
	for (size_t i = 0; i < m->nvalue; i++)
		free(m->value[i].list);
	m->nvalue = 0;
}

/* [from,to,count],... */
static void write_buckets(struct omis_writer *w, const struct agg *a)
{
	struct sketch_bucket bucket;

	for (uint32_t i = 0; sketch_next(a->sketch, &i, &bucket);) {
		omis_write_list(w);
		omis_write_float(w, bucket.from);
		omis_write_float(w, bucket.to);
		omis_write_int(w, (int64_t)bucket.count);
		omis_write_list_end(w);
	}
}

/* [object,value,bound],... */
static void write_objects(struct omis_writer *w, const struct agg *a, double q)
{
	struct token token;
	uint32_t n;
	const struct who *of = agg_whos(a, q, &n);

	for (uint32_t i = 0; i < n; i++) {
		omis_write_list(w);
		omis_write_token(w, who_token(&token, of[i].object));
		omis_write_float(w, of[i].value);
		omis_write_float(w, of[i].error);
		omis_write_list_end(w);
	}
}

/* Prints the parts of a value that is not a number. Returns NULL without memory. */
static char *print_list(const struct agg *a, double q)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);

	omis_write_list(&w);
	if (agg_kind_is_of_objects(a->kind))
		write_objects(&w, a, q);
	else
		write_buckets(&w, a);
	omis_write_list_end(&w);
	if (!b.failed)
		return (char *)buf_take(&b, NULL);
	buf_done(&b);
	return NULL;
}

/* No object has a value, so the result has none. */
static struct flow_token no_value(const struct flow_token *t)
{
	struct flow_token none = *t;

	none.value = NAN;
	none.flags |= FLOW_MISSING;
	return none;
}

void measure_on_result(void *arg, const struct flow_result *r)
{
	struct measure *m = arg;
	struct measure_value v = { .output = r->output, .t = r->t };

	measure_count(m, r);
	if (array_grow(&m->value, &m->capvalue, m->nvalue + 1, sizeof(v), MEASURE_RESULTS_MAX)) {
		m->lost++;
		return;
	}
	if (r->a && agg_kind_is_of_objects(r->a->kind) && !agg_count(r->a))
		v.t = no_value(&r->t);
	else if (r->a && (agg_kind_has_sketch(r->a->kind) || agg_kind_is_of_objects(r->a->kind)))
		v.list = print_list(r->a, r->q);
	m->value[m->nvalue++] = v;
}

/* [object,key,value,bound,time,oldest,newest,k,n,flags], and the partner or region where the
 * metric groups by them */
static void write_value(struct omis_writer *w, const struct measure *m,
			const struct measure_value *v)
{
	char flags[FLOW_FLAGS_TEXT_BYTES];
	const struct flow_token *t = &v->t;

	omis_write_list(w);
	if (v->output < m->plan->nlabel && m->plan->label[v->output][0])
		omis_write_token(w, m->plan->label[v->output]);
	else
		omis_write_string(w, "");
	omis_write_int(w, t->key);
	if (v->list)
		omis_write_token(w, v->list); /* a list as print_list() has written it */
	else
		omis_write_float(w, t->value);
	omis_write_float(w, t->error);
	omis_write_int(w, t->time);
	omis_write_int(w, t->oldest);
	omis_write_int(w, t->newest);
	omis_write_int(w, t->k);
	omis_write_int(w, t->n);
	omis_write_string(w, flow_flags_print(flags, t->flags));
	if (v->output < m->plan->nlabel && m->plan->with[v->output])
		omis_write_token(
			w, m->plan->with[v->output]); /* unchanged: take_with() has written it */
	omis_write_list_end(w);
}

/* Values from number `from` on, as many as an event takes; returns how many. */
static size_t write_some(struct omis_writer *w, const struct measure *m, size_t from, size_t max,
			 size_t max_bytes)
{
	size_t n = 0;

	omis_write_list(w);
	for (; from + n < m->nvalue && n < max && w->b->n < max_bytes; n++)
		write_value(w, m, &m->value[from + n]);
	omis_write_list_end(w);
	return n;
}

/* --- to the tool */

/* Values for predicates: over the whole read, whichever part the event has. */
struct bounds {
	double greatest, least; /* NaN: no value is known */
	int64_t unknown; /* contributors that are missing */
};

static struct bounds bounds_of(const struct measure *m)
{
	struct bounds b = { (double)NAN, (double)NAN, 0 };

	for (size_t i = 0; i < m->nvalue; i++) {
		const struct flow_token *t = &m->value[i].t;

		b.greatest = fmax(b.greatest, t->value);
		b.least = fmin(b.least, t->value);
		if (t->n > t->k)
			b.unknown += (int64_t)(t->n - t->k);
		else if (isnan(t->value))
			b.unknown++;
	}
	return b;
}

/*
 * Writes dfg, read, until, [values], more, lost, enough, greatest, least, unknown: the event's
 * parameters in the catalogue's order.
 */
static size_t write_event(struct measure *m, struct buf *b, size_t from)
{
	const struct bounds bounds = bounds_of(m);
	struct omis_writer w = OMIS_WRITER(b);
	size_t n;

	omis_write_token(&w, m->token.s);
	omis_write_int(&w, m->reads.read);
	omis_write_int(&w, m->reads.read_at);
	n = write_some(&w, m, from, MEASURE_VALUES_PER_EVENT, EVENT_MAX_BYTES / 2);
	omis_write_int(&w, from + n < m->nvalue);
	omis_write_int(&w, (int64_t)m->lost);
	omis_write_int(&w, from + n == m->nvalue && measure_has_enough(m));
	omis_write_float(&w, bounds.greatest);
	omis_write_float(&w, bounds.least);
	omis_write_int(&w, bounds.unknown);
	return n;
}

/* Returns true if the event was raised. */
static bool raise_event(struct measure *m, const struct buf *b)
{
	const struct trigger when = { "", "", "", m->reads.read_at, NULL };
	struct omis_value list = { .kind = OMIS_LIST };
	struct omis_values *v = NULL;
	int rc = b->failed ? -ERR_LIMIT : omis_parse_values(buf_str(b), b->n, &v, NULL);

	if (!rc) {
		list.list.v = v->v;
		list.list.n = v->n;
		rc = tool_csrs_raise(m->ms->conf.csrs, m->session,
				     &(struct csr_raise){ m->token.s, &list, &when, 0 });
	}
	omis_values_free(v);
	return !rc;
}

/*
 * Reports a read as events. Returns false if an action has deleted the measurement. *reported: the
 * tool has the last values.
 */
static bool report_event(struct measure *m, bool *reported)
{
	struct measures *ms = m->ms;
	uint32_t number = m->number;
	size_t from = 0, n;

	do {
		struct buf b = BUF_INIT(EVENT_MAX_BYTES);

		n = write_event(m, &b, from);
		*reported = raise_event(m, &b);
		if (!*reported)
			m->lost += n;
		buf_done(&b);
		if (map_find(&ms->by_number, number) != m)
			return false;
		from += n;
	} while (from < m->nvalue && n);
	return true;
}

static void ready_readers(struct measure *m)
{
	struct buf b = BUF_INIT(READ_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);

	if (!measure_has_readers(m, m->reads.read))
		return;
	omis_write_int(&w, m->reads.read);
	omis_write_int(&w, m->reads.read_at);
	write_some(&w, m, 0, m->nvalue, READ_MAX_BYTES / 2);
	measure_ready_read(m, m->reads.read, b.failed ? NULL : buf_str(&b));
	buf_done(&b);
}

/* --- closing */

/* Reads sites before the top, which reads their output. */
static void read_stages(struct measure *m)
{
	const struct read_clock *r = &m->reads;

	for (size_t i = m->plan ? m->plan->npiece : 0; i > 0; i--) {
		struct stage *s = m->plan->piece[i - 1].stage;
		struct err e = { 0 };

		if (s && stage_read(s, r->read, r->read_at, &e))
			log_warn("measure", "dfg=%s read=%lld: %s", m->token.s, (long long)r->read,
				 e.text);
	}
}

/* Passes a batch of a site's stage to the stage of the top. */
void measure_on_batch(void *arg, const struct flow_batch *b)
{
	struct measure *m = arg;

	stage_take(m->plan->piece[0].stage, STAGE_HERE, b, NULL);
}

/* Requests a read of the branches: it covers the time before all requests up to now. */
static void ask_below(struct measure *m)
{
	const struct read_clock *r = &m->reads;
	nsec_t t = measure_now(m->ms), after = r->read_at > r->start ? r->read_at : r->start;
	struct msg msg = { .type = MSG_FLOW_READ };
	const struct standing_part *p;

	read_clock_ask(&m->reads, r->read + 1, t > after ? t : after + 1);
	msg.flow_read = (struct msg_flow_read){ m->number, (uint64_t)r->asked, r->asked_at };
	for (size_t i = 0; (p = standing_at(m->standing, i)); i++)
		branches_send(m->ms->conf.branches, p->branch, &msg);
}

/*
 * Ends a measurement whose rule holds, if the tool has got the report; otherwise at the next read.
 */
static void end_if_enough(struct measure *m, bool reported)
{
	if (!reported || !measure_runs(m) || !measure_has_enough(m))
		return;
	m->has_enough = true;
	log_info("measure", "dfg=%s read=%lld: enough by '%s'", m->token.s,
		 (long long)m->reads.read, m->asked.until);
	measure_stop(m);
}

/* Returns false if the measurement has been freed. */
static bool on_close(void *arg, bool is_late)
{
	struct measure *m = arg;
	bool is_there, reported;

	m->ms->stats.reads++;
	m->ms->stats.late_reads += is_late;
	m->lost = 0;
	m->ncounted = 0;
	read_stages(m);
	is_there = report_event(m, &reported);
	if (is_there) {
		ready_readers(m);
		measure_values_clear(m);
		end_if_enough(m, reported);
		if (!m->asked.every && measure_has_readers(m, INT64_MAX))
			ask_below(m);
	}
	return is_there;
}

static bool is_whole(void *arg, int64_t read)
{
	const struct measure *m = arg;

	for (size_t i = 0; m->plan && i < m->plan->npiece; i++) {
		struct stage *s = m->plan->piece[i].stage;

		if (s && stage_complete(s) < read)
			return false;
	}
	return true;
}

static nsec_t grace(void *arg)
{
	const struct measure *m = arg;
	nsec_t by_reads = MEASURE_GRACE_READS * m->asked.every;

	return by_reads && by_reads < MEASURE_GRACE_NS ? by_reads : MEASURE_GRACE_NS;
}

static nsec_t now_of(void *arg)
{
	return measure_now(((const struct measure *)arg)->ms);
}

int measure_reads_init(struct measure *m)
{
	return read_clock_init(&m->reads, &(struct read_clock_conf){ .loop = m->ms->conf.loop,
								     .now = now_of,
								     .grace = grace,
								     .is_whole = is_whole,
								     .close = on_close,
								     .arg = m });
}

/* --- batches */

/* Returns the stage of a link's other end; NULL: it is not here. */
static struct stage *stage_of(const struct measure *m, const char *link)
{
	for (size_t i = 0; m->plan && i < m->plan->npiece; i++) {
		struct stage *s = m->plan->piece[i].stage;

		if (s && stage_user(s, link))
			return s;
	}
	return NULL;
}

static void add_batch(struct measure *m, uint32_t branch, const struct flow_batch *b)
{
	struct stage *to = stage_of(m, b->link);

	if (!to || stage_take(to, branch, b, NULL))
		m->ms->stats.strays++;
}

static int add_batches(struct measure *m, uint32_t branch, const struct msg_flow_batch *f,
		       struct err *e)
{
	for (size_t i = 0; i < f->nbatch; i++) {
		struct flow_batch b;
		int rc = flow_batch_decode(&m->ms->room, f->batch[i].p, f->batch[i].n, &b, e);

		if (rc)
			return rc;
		if (b.measurement != m->number || b.read < 1 || (uint64_t)b.read != f->read)
			return err_set(e, ERR_PROTO,
				       "a batch of another measurement or read than its message");
		add_batch(m, branch, &b);
		m->bytes += f->batch[i].n;
		m->ms->stats.bytes += f->batch[i].n;
	}
	return 0;
}

int measures_batch(struct measures *ms, uint32_t branch, const struct msg_flow_batch *f,
		   struct err *e)
{
	struct msg end = { .type = MSG_FLOW_END, .flow_end = { .measurement = f->measurement } };
	struct measure *m = map_find(&ms->by_number, f->measurement);
	int rc;

	if (!m || !measure_runs(m) || !standing_find(m->standing, branch)) {
		ms->stats.strays++;
		branches_send(ms->conf.branches, branch, &end);
		return err_set(e, ERR_NOTFOUND, "there is no such measurement");
	}
	m->frames++;
	m->dropped += f->dropped;
	ms->stats.frames++;
	rc = add_batches(m, branch, f, e);
	if (!rc)
		read_clock_tick(&m->reads);
	return rc;
}

/* --- by request */

int measure_read(struct measure *m, void (*on_read)(void *arg, const char *values), void *arg)
{
	/* A pending read covers an earlier time, so the request gets the next one. */
	const struct read_clock *r = &m->reads;
	bool is_late = r->asked && r->asked_at < measure_now(m->ms);
	struct measure_waiter waiter = { .on_read = on_read,
					 .arg = arg,
					 .read = is_late ? r->asked + 1 : 0 };
	int rc;

	if (!measure_runs(m))
		return -ERR_INVALID;
	rc = measure_wait(m, &waiter);
	if (!rc && !m->asked.every && !r->asked)
		ask_below(m);
	return rc;
}
