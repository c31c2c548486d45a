/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/measure/input.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "lm/measure/input_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- kinds of sources */

static int open_time(struct input *in)
{
	in->from = INPUT_TIME;
	return 0;
}

/* Reads the world ranks that name partners: a host has no names of other hosts' processes. */
static int read_partners(struct input *in, const struct flow_names *names, struct err *e)
{
	int64_t rank;

	if (!names->n)
		return 0;
	if (names->n > INPUT_PARTNERS_MAX)
		return err_set(e, ERR_LIMIT, "%zu partners, %d are the limit", names->n,
			       INPUT_PARTNERS_MAX);
	in->partner = calloc(names->n, sizeof(*in->partner));
	if (!in->partner)
		return err_nomem(e);
	for (size_t i = 0; i < names->n; i++) {
		if (str_to_i64(names->v[i], 0, INT32_MAX, &rank))
			return err_set(e, ERR_UNSUPPORTED, "the partner %s has no rank",
				       names->v[i]);
		in->partner[i] = (int32_t)rank;
	}
	in->npartner = names->n;
	qsort(in->partner, in->npartner, sizeof(*in->partner), array_order_int32);
	return 0;
}

static int open_metric(struct input *in, const struct flow_source *s, struct err *e)
{
	int id = pmsl_builtin_find(s->metric);

	if (id < 0 || !pmsl_builtin_get((unsigned)id, &in->metric))
		return err_set(e, ERR_NOTFOUND, "there is no metric %s", s->metric);
	if (in->metric.quantity == PMSL_Q_SAMPLED) {
		in->from = in->metric.object == PMSL_T_PROCESS ? INPUT_PROC
			   : in->metric.object == PMSL_T_NODE  ? INPUT_NODE
							       : INPUT_TIME;
		return figure_open(in, e);
	}
	in->from = INPUT_CALLS;
	return cells_open(in, e);
}

int input_open(struct input *in, const struct flow_source *s, struct err *e)
{
	int rc;

	*in = (struct input){ .source = s };
	if (s->kind == FLOW_SOURCE_TIME)
		return open_time(in);
	if (s->kind != FLOW_SOURCE_METRIC) {
		in->from = INPUT_EVENT;
		return s->probe[0] ? 0
				   : err_set(e, ERR_UNSUPPORTED, "only a probe has such a value");
	}
	rc = read_partners(in, &s->partners, e);
	if (!rc)
		rc = open_metric(in, s, e);
	if (!rc)
		rc = regions_open(in, e);
	if (!rc && cells_moves(in)) {
		in->under_way = calloc(SEG_THREADS_MAX, sizeof(*in->under_way));
		rc = in->under_way ? 0 : err_nomem(e);
	}
	if (rc)
		input_done(in);
	return rc;
}

void input_done(struct input *in)
{
	regions_done(in);
	plugged_done(in);
	foreign_free(in->foreign);
	in->foreign = NULL;
	free(in->partner);
	free(in->under_way);
	in->under_way = NULL;
	in->partner = NULL;
	in->npartner = 0;
}

/* --- comparing inputs of two versions */

static bool same_names(const struct flow_names *a, const struct flow_names *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!str_eq(a->v[i], b->v[i]))
			return false;
	return true;
}

bool input_is_same(const struct input *a, const struct input *b)
{
	const struct flow_source *x = a->source, *y = b->source;

	return x->kind == y->kind && x->from_start == y->from_start &&
	       str_eq(x->metric, y->metric) && str_eq(x->object, y->object) &&
	       str_eq(x->probe, y->probe) && str_eq(x->process, y->process) &&
	       x->parameter == y->parameter && same_names(&x->partners, &y->partners) &&
	       same_names(&x->regions, &y->regions);
}

void input_attach(struct input *in, struct tickbase *ticks)
{
	regions_attach(in, ticks);
}

const char *input_fault(const struct input *in)
{
	if (in->plugged)
		return plugged_fault(in);
	return in->metric.is_by_mount ? mounts_fault(in) : regions_fault(in);
}

void input_continue(struct input *in, struct input *from)
{
	uint64_t *none = in->under_way;
	struct plugged *fresh = in->plugged;
	struct foreign *none_yet = in->foreign;

	in->foreign = from->foreign;
	from->foreign = none_yet;
	in->plugged = from->plugged;
	from->plugged = fresh;
	regions_continue(in, from);
	if (none && from->under_way) {
		in->under_way = from->under_way;
		from->under_way = none;
	}
	in->proc = from->proc;
	in->has_base = from->has_base;
	in->is_closed = from->is_closed;
	in->closed_at = from->closed_at;
	in->is_lost = from->is_lost;
	in->is_cut = from->is_cut;
	in->base = from->base;
	in->base_open = from->base_open;
	in->before = from->before;
	in->before_open = from->before_open;
	in->is_new = from->is_new;
	in->is_given = from->is_given;
	in->is_late = from->is_late;
	in->seen = from->seen;
	in->seen_error = from->seen_error;
	in->seen_parts = from->seen_parts;
	in->base_parts = from->base_parts;
	in->base_error = from->base_error;
	in->begun = from->begun;
	in->last = from->last;
	in->is_over = from->is_over;
	in->has_seen = from->has_seen;
	in->used = from->used;
	in->used_at = from->used_at;
	in->has_used = from->has_used;
}

/* --- values */

/* Returns the accumulated or current value; false: unknown. */
static bool look(struct input *in, const struct input_moment *m, struct measurement_value *v)
{
	*v = (struct measurement_value){ 0 };
	switch (in->from) {
	case INPUT_CALLS:
		return in->proc && cells_sample(in, m, v);
	case INPUT_EVENT:
		return false;
	default:
		return (in->proc || in->from != INPUT_PROC) && figure_sample(in, m, v);
	}
}

static bool is_total(const struct input *in)
{
	return in->from != INPUT_TIME && in->from != INPUT_EVENT && in->metric.is_total;
}

/* True if the input has a baseline. Meters of regions end with their lm and have none. */
bool input_has_base(const struct input *in)
{
	return is_total(in) && (in->metric.is_by_mount || in->plugged || !in->source->regions.n);
}

static uint64_t hash(uint64_t h, const void *p, size_t n)
{
	for (const uint8_t *at = p, *end = at + n; at < end; at++)
		h = (h ^ *at) * UINT64_C(1099511628211);
	return h;
}

/* Hashes which calls count, since when, and where they are examined. */
static uint64_t hash_choice(const struct input *in)
{
	const struct flow_source *s = in->source;
	uint64_t h = hash(UINT64_C(14695981039346656037), s->probe, strlen(s->probe) + 1);

	h = hash(h, s->process, strlen(s->process) + 1);
	if (!s->from_start)
		h = hash(h, "last", sizeof("last"));
	for (size_t i = 0; i < s->regions.n; i++)
		h = hash(h, s->regions.v[i], strlen(s->regions.v[i]) + 1);
	return in->npartner ? hash(h, in->partner, in->npartner * sizeof(*in->partner)) : h;
}

/*
 * Makes the key of a baseline. It contains the segment, because a process that calls exec gets
 * another one.
 */
bool input_base_key(const struct input *in, const char *object, char *out, size_t size)
{
	int n = snprintf(
		out, size, "%s %s %llu %llu %zu %llx", in->metric.name, object,
		in->proc ? (unsigned long long)in->proc->start : 0,
		in->proc && in->from == INPUT_CALLS ? (unsigned long long)in->proc->seg_inode : 0,
		in->npartner, (unsigned long long)hash_choice(in));

	return n > 0 && (size_t)n < size;
}

void input_begin(struct input *in, const struct input_moment *m, bool is_new)
{
	struct measurement_value v;

	in->is_closed = in->is_lost = false;
	in->base = in->base_open = 0;
	in->has_base = look(in, m, &v);
	if (in->has_base && is_total(in) && !is_new) {
		in->base = v.value;
		in->base_open = v.open;
	}
	in->has_base |= is_new;
	in->before = in->has_base && is_total(in) ? v.value : 0;
	in->before_open = in->has_base && is_total(in) ? v.open : 0;
	in->is_new = is_new;
	in->begun = v.parts;
	in->base_parts = in->last = is_new ? (struct input_parts){ 0 } : v.parts;
	in->base_error = 0;
	in->is_over = false;
	if (in->under_way)
		cells_under_way(in);
}

bool input_judge_again(struct input *in, bool is_new)
{
	bool is_in_a_read = in->is_given && !in->source->from_start;
	double by = is_new ? -1 : 1;

	if (!in->has_base || in->is_new == is_new || (is_in_a_read && !is_new))
		return false;
	in->is_new = is_new;
	in->is_late |= is_in_a_read && in->before != 0;
	in->base += by * in->before;
	in->base_open += by * in->before_open;
	in->base_parts = in->last = is_new ? (struct input_parts){ 0 } : in->begun;
	return in->before != 0 || in->before_open != 0;
}

void input_go_on(struct input *in)
{
	input_judge_again(in, false);
	in->before = in->before_open = 0;
}

void input_renew(struct input *in)
{
	in->is_closed = in->is_lost = false;
	if (in->from == INPUT_CALLS && in->has_base) {
		in->base = -in->seen;
		in->before = in->before_open = 0;
		in->base_parts = in->last = (struct input_parts){ 0 };
		in->base_error = in->seen_error;
	}
	in->is_over = false;
}

/* True if the bound is a sum of parts, of which those from before the base are subtracted. */
static bool has_parts(const struct input *in)
{
	return in->from == INPUT_CALLS && in->npartner && !in->meter;
}

/* The process of a plug-in has ended, and its counter is at 0 again: what it had is known no more.
 */
static void begin_again(struct input *in, double value)
{
	in->base += value - in->seen;
	in->is_cut = true;
}

static bool read_value(struct input *in, const struct input_moment *m, struct measurement_value *v)
{
	if (in->is_closed) {
		*v = (struct measurement_value){ .value = in->seen, .parts = in->seen_parts };
		if (in->source->from_start)
			v->error = in->seen_error;
		return in->has_seen && !in->is_lost;
	}
	if (!look(in, m, v))
		return false;
	if (!is_total(in))
		return true;
	if (!in->has_base) {
		in->base = v->value;
		in->base_open = v->open;
		in->base_parts = in->last = v->parts;
		in->has_base = true;
	}
	v->value -= in->base;
	if (in->plugged && in->has_seen && v->value < in->seen) {
		begin_again(in, v->value);
		return false;
	}
	if (has_parts(in))
		v->error = in->base_error + cells_step_error(in, &in->base_parts, &v->parts);
	else if (in->metric.is_by_mount)
		v->error = fdim(v->error, in->base_parts.fixed);
	else
		v->error += in->base_open;
	in->seen = v->value;
	in->seen_error = v->error;
	in->seen_parts = v->parts;
	in->has_seen = true;
	return true;
}

/*
 * Bounds of totals by partners grow without limit. The increase between two reads has a separate
 * bound.
 */
static void bound_step(struct input *in, struct measurement_value *v)
{
	v->error = in->is_over ? 0 : cells_step_error(in, &in->last, &v->parts);
	in->last = v->parts;
	in->is_over = in->is_closed;
}

/* The system is read once for any number of events in one pass over the rings. */
bool input_sample(struct input *in, const struct input_moment *m, nsec_t at, double *value,
		  double *error)
{
	struct measurement_value v;

	if (!in->has_sample || in->sampled_at != m->now) {
		in->knows_sample = look(in, m, &v);
		in->sample = v.value - (is_total(in) ? in->base : 0);
		in->sample_error = v.error;
		in->sampled_at = m->now;
		in->has_sample = true;
	}
	*value = in->sample;
	*error = in->sample_error + figure_growth(in, m, m->now - at);
	return in->knows_sample;
}

void input_close(struct input *in, const struct input_moment *m, bool has_ended)
{
	struct measurement_value v;

	if (is_total(in) && !in->is_closed)
		read_value(in, m, &v);
	in->is_closed = true;
	in->closed_at = m->now;
	in->is_lost = !has_ended;
	regions_detach(in);
	in->proc = NULL;
}

/* Sets flag and time of a value whose process has ended. */
static void say_ended(const struct input *in, struct flow_token *t)
{
	if (!in->is_closed || in->is_lost)
		return;
	t->flags |= FLOW_ENDED;
	t->time = t->oldest = t->newest = in->closed_at;
}

/* Sets the flag of a late part in the first read that has a value. */
static void say_late(struct input *in, struct flow_token *t)
{
	if (!flow_token_has_value(t))
		return;
	in->is_given = true;
	if (in->is_late)
		t->flags |= FLOW_LATE;
	in->is_late = false;
}

struct flow_token input_read(struct input *in, const struct input_moment *m, int64_t read)
{
	struct measurement_value v;
	struct flow_token t;

	if (!read_value(in, m, &v)) {
		t = flow_token_missing(read, m->now, 1);
		say_ended(in, &t);
		if (in->plugged)
			plugged_used(in, &t);
		return t;
	}
	if (has_parts(in) && flow_source_bounds_steps(in->source))
		bound_step(in, &v);
	t = flow_token_make(read, v.value, v.error, m->now);
	if (in->under_way && !in->is_closed && cells_under_way(in)) {
		t.value = NAN;
		t.error = 0;
		t.flags |= FLOW_NONE_YET;
	}
	if (in->is_cut && in->source->from_start)
		t.flags |= FLOW_LOST;
	if (in->plugged && !in->is_closed)
		plugged_used(in, &t);
	say_late(in, &t);
	say_ended(in, &t);
	return t;
}
