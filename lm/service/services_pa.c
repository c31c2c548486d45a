/* SPDX-License-Identifier: Apache-2.0 */
/* Services on counters and integrators. */
#include "lm/service/families.h"

#include "common/base/buf.h"
#include "common/base/limits.h"
#include "lm/instrument/pa_internal.h"

#include <string.h>

static struct pa *pa_of(const struct service_call *c)
{
	const struct tool_objects *of = c->of;

	return of->pa;
}

static struct pa_name name_in(const struct service_call *c, unsigned param)
{
	return (struct pa_name){ call_text(c, param), c->tool };
}

static int create_one(struct service_call *c, struct proc *p, struct err *e)
{
	struct pa_name name = name_in(c, 1);
	struct pa_cell *cell;

	if (!p->held)
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	return pa_make(pa_of(c), &name, p, &cell, e);
}

static bool is_trace_buffer(const struct service_call *c)
{
	const char *token = call_text(c, 1);

	return token && token_measure(token, strlen(token)) == 'b';
}

/*
 * Succeeds also if all its processes here have ended: a read asks this host as well, and that is
 * not an error.
 */
static int serve_pa_create(struct service_call *c)
{
	struct pa_name name = name_in(c, 1);
	struct pa_object *o;
	struct err e = { 0 };
	int rc;

	if (is_trace_buffer(c))
		return tracebuf_create(c);
	rc = pa_know(pa_of(c), &name, &o, &e);
	if (rc)
		return reply_add_error(c->reply, c->action, "", status_from_err(rc), "%s", e.text);
	return call_each_proc(c, create_one);
}

/* Calls fn for each known object of the list. Unknown objects get an entry, unless `quiet`. */
static int for_each_object(struct service_call *c, bool quiet,
			   int (*fn)(struct service_call *, struct pa_object *))
{
	const struct omis_value *list = &c->call->param[0];
	int got = 0;

	c->reply->coverage.asked += (uint32_t)list->list.n;
	c->reply->coverage.answered += (uint32_t)list->list.n;
	for (size_t i = 0; got >= 0 && i < list->list.n; i++) {
		const char *token = omis_value_text(&list->list.v[i], NULL);
		struct pa_object *o = token ? pa_find(pa_of(c), token) : NULL;

		if (o)
			got = fn(c, o);
		else if (!quiet)
			got = reply_add_error(c->reply, c->action, token ? token : "",
					      STATUS_UNKNOWN_OBJECT, "there is no such object");
	}
	return got;
}

static int delete_one(struct service_call *c, struct pa_object *o)
{
	pa_delete(pa_of(c), o);
	return 0;
}

static int serve_pa_delete(struct service_call *c)
{
	return for_each_object(c, true, delete_one);
}

static int reset_one(struct service_call *c, struct pa_object *o)
{
	list_each (i, &o->cells)
		pa_reset_cell(pa_of(c), o, list_entry(i, struct pa_cell, link));
	return reply_add(c->reply, c->action, o->token.s, STATUS_OK, NULL);
}

static int serve_pa_reset(struct service_call *c)
{
	return for_each_object(c, false, reset_one);
}

static void write_integral(struct omis_writer *w, const struct pa_integral *v)
{
	omis_write_float(w, v->integral);
	omis_write_float(w, v->v);
	omis_write_float(w, v->t);
}

static int read_local(struct service_call *c, const struct pa_object *o, const struct pa_cell *cell)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	struct pa_integral v;

	omis_write_token(&w, o->token.s);
	if (o->is_integrator) {
		pa_integrator_value(pa_of(c), cell, &v);
		write_integral(&w, &v);
	} else {
		omis_write_int(&w, pa_counter_value(cell));
	}
	return call_add_values(c, cell->proc->token.s, &b);
}

static int read_global(struct service_call *c, const struct pa_object *o)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	struct pa_integral all = { 0 }, v;
	int64_t n = 0;

	all.t = pa_now(pa_of(c));
	list_each (i, &o->cells) {
		const struct pa_cell *cell = list_entry(i, struct pa_cell, link);

		if (!o->is_integrator) {
			n = (int64_t)((uint64_t)n + (uint64_t)pa_counter_value(cell));
			continue;
		}
		pa_integrator_value(pa_of(c), cell, &v);
		all.integral += v.integral;
		all.v += v.v;
	}
	if (o->is_integrator)
		write_integral(&w, &all);
	else
		omis_write_int(&w, n);
	return call_add_values(c, o->token.s, &b);
}

static int read_one(struct service_call *c, struct pa_object *o)
{
	int rc = 0;

	if (o->is_global)
		return read_global(c, o);
	list_each (i, &o->cells)
		if (!rc)
			rc = read_local(c, o, list_entry(i, struct pa_cell, link));
	return rc;
}

enum { MODE_SINCE_LAST = 1, MODE_PER_SECOND = 2, MODE_KNOWN = 3 };

static double rate(double gain, const struct pa_gain *g)
{
	return g->to > g->from ? gain / (g->to - g->from) : 0;
}

/* Adds the values, over the widest interval. */
static void add_gain(struct service_call *c, const struct pa_object *o, struct pa_cell *cell,
		     struct pa_gain *sum)
{
	struct pa_gain g;

	pa_gain(pa_of(c), o, cell, call_int(c, 1) & MODE_SINCE_LAST, &g);
	if (call_int(c, 1) & MODE_PER_SECOND)
		g.integral = rate(o->is_integrator ? g.integral : (double)g.n, &g);
	sum->n = (int64_t)((uint64_t)sum->n + (uint64_t)g.n);
	sum->integral += g.integral;
	sum->from = g.from < sum->from ? g.from : sum->from;
	sum->to = g.to;
}

static void write_gain(struct service_call *c, const struct pa_object *o, const struct pa_gain *g,
		       struct omis_writer *w)
{
	if (o->is_integrator || (call_int(c, 1) & MODE_PER_SECOND))
		omis_write_float(w, g->integral);
	else
		omis_write_int(w, g->n);
	omis_write_float(w, g->from);
	omis_write_float(w, g->to);
}

static int gain_of(struct service_call *c, const struct pa_object *o, struct pa_cell *only)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);
	struct omis_writer w = OMIS_WRITER(&b);
	struct pa_gain sum = { .from = pa_now(pa_of(c)), .to = pa_now(pa_of(c)) };

	if (!o->is_global)
		omis_write_token(&w, o->token.s);
	list_each (i, &o->cells) {
		struct pa_cell *cell = list_entry(i, struct pa_cell, link);

		if (!only || cell == only)
			add_gain(c, o, cell, &sum);
	}
	write_gain(c, o, &sum, &w);
	return call_add_values(c, only ? only->proc->token.s : o->token.s, &b);
}

static int measure_one(struct service_call *c, struct pa_object *o)
{
	int rc = 0;

	if (o->is_global)
		return gain_of(c, o, NULL);
	list_each (i, &o->cells)
		if (!rc)
			rc = gain_of(c, o, list_entry(i, struct pa_cell, link));
	return rc;
}

static int serve_patop_read(struct service_call *c)
{
	if (call_int(c, 1) & ~(int64_t)MODE_KNOWN)
		return reply_add_error(c->reply, c->action, "", STATUS_PARAMETER_ERROR,
				       "mode is 0 to %d", MODE_KNOWN);
	reply_add_time(c->reply, call_now(c), call_now(c));
	return for_each_object(c, false, measure_one);
}

static int serve_pa_read(struct service_call *c)
{
	reply_add_time(c->reply, call_now(c), call_now(c));
	return for_each_object(c, false, read_one);
}

/* Finds the cell for an increment from here: that of the event's process, else the only one. */
static int target(struct service_call *c, struct pa_object **object, struct pa_cell **out,
		  struct err *e)
{
	struct pa_name name = name_in(c, 0);
	struct pa_object *o;
	struct list *first;
	int rc = 0;

	*object = NULL;
	if (c->is_proc_gone)
		return err_set(e, ERR_NOTFOUND, "the process of the event is forgotten");
	if (c->proc)
		rc = pa_make(pa_of(c), &name, c->proc, out, e);
	o = pa_find(pa_of(c), call_text(c, 0));
	*object = o;
	if (rc || c->proc)
		return rc;
	first = o ? list_first(&o->cells) : NULL;
	if (!first)
		return err_set(e, ERR_NOTFOUND, "there is no such object");
	if (!o->is_global && first->next != &o->cells)
		return err_set(e, ERR_INVALID,
			       "outside of an event it is not clear which process counts");
	*out = list_entry(first, struct pa_cell, link);
	return 0;
}

/* An increment of one cell; its amounts are parameters of the call. */
typedef void increment_fn(struct service_call *c, struct pa_object *o, struct pa_cell *cell);

static int serve_increment(struct service_call *c, increment_fn *add)
{
	struct err e = { 0 };
	struct pa_object *o;
	struct pa_cell *cell;
	int rc = target(c, &o, &cell, &e);

	call_count_object(c);
	if (rc)
		return call_add_failure(c, call_text(c, 0), rc, &e);
	add(c, o, cell);
	return reply_add(c->reply, c->action, call_text(c, 0), STATUS_OK, NULL);
}

static void add_to_counter(struct service_call *c, struct pa_object *o, struct pa_cell *cell)
{
	pa_counter_add(o, cell, call_int(c, 1));
}

static void add_to_integrator(struct service_call *c, struct pa_object *o, struct pa_cell *cell)
{
	pa_integrator_add(o, cell, call_float(c, 1), call_float(c, 2));
}

static void add_when_over(struct service_call *c, struct pa_object *o, struct pa_cell *cell)
{
	pa_patop_add(o, cell, call_float(c, 1), call_float(c, 2), call_int(c, 3) != 0);
}

static int serve_counter_increment(struct service_call *c)
{
	return serve_increment(c, add_to_counter);
}

static int serve_integrator_increment(struct service_call *c)
{
	return serve_increment(c, add_to_integrator);
}

static int serve_patop_increment(struct service_call *c)
{
	return serve_increment(c, add_when_over);
}

const struct service pa_services[] = {
	{ "omig_pa_create", serve_pa_create },
	{ "pa_counter_delete", serve_pa_delete },
	{ "pa_counter_global_increment", serve_counter_increment },
	{ "pa_counter_local_increment", serve_counter_increment },
	{ "pa_counter_read", serve_pa_read },
	{ "pa_counter_reset", serve_pa_reset },
	{ "pa_integrator_delete", serve_pa_delete },
	{ "pa_integrator_global_increment", serve_integrator_increment },
	{ "pa_integrator_local_increment", serve_integrator_increment },
	{ "pa_integrator_read", serve_pa_read },
	{ "pa_integrator_reset", serve_pa_reset },
	{ "patop_integrator_global_increment", serve_patop_increment },
	{ "patop_integrator_local_increment", serve_patop_increment },
	{ "patop_measurement_counter_read", serve_patop_read },
	{ "patop_measurement_integrator_read", serve_patop_read },
	{ NULL, NULL },
};
