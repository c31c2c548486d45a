/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/instrument/pa.h"

#include "common/loop/loop.h"
#include "common/time/timebase.h"
#include "lm/instrument/pa_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * Moves stored times, which are mainsm's, to the clock of another mainsm. Durations do not change.
 */
static void move_times(struct pa_cell *c, double by)
{
	c->own.t += by;
	c->potential.time += by;
	c->start += by;
	c->mark_time += by;
}

static void follow_time(struct pa *a)
{
	const struct timebase *t = a->conf.timebase;
	double by = (double)(t->offset - a->offset) / 1e9;
	struct smap_iter i = { 0 };
	bool is_other = t->roots != a->roots;

	a->roots = t->roots;
	a->offset = t->offset;
	while (is_other && smap_next(&a->objects, &i)) {
		struct pa_object *o = i.value;

		list_each (k, &o->cells) {
			struct pa_cell *c = list_entry(k, struct pa_cell, link);

			move_times(c, by);
			pa_note(o, c);
		}
	}
}

double pa_now(struct pa *a)
{
	follow_time(a);
	return (double)timebase_at(a->conf.timebase, loop_now(a->conf.loop)) / 1e9;
}

static uint64_t ticks_of(const struct pa *a, const struct proc *p)
{
	return tickbase_now(a->conf.ticks, p->own.tick_source);
}

static double seconds_per_tick(struct pa *a, const struct proc *p)
{
	const struct ticks_scale *s = tickbase_scale(a->conf.ticks, p->own.tick_source);

	return (double)s->mult / (double)(UINT64_C(1) << s->shift) / 1e9;
}

static void read_cell(struct pa *a, const struct pa_cell *c, bool is_integrator,
		      struct segview_cell *out)
{
	memset(out, 0, sizeof(*out));
	if (is_integrator)
		segview_integrator(c->proc->seg, SEGVIEW_ALL, (unsigned)c->cell,
				   ticks_of(a, c->proc), out);
	else
		segview_counter(c->proc->seg, SEGVIEW_ALL, (unsigned)c->cell, out);
}

static void note_base(struct pa *a, struct pa_cell *c, bool is_integrator)
{
	struct segview_cell v;

	if (c->cell < 0)
		return;
	c->base_ticks = ticks_of(a, c->proc);
	read_cell(a, c, is_integrator, &v);
	c->base_n = v.n;
	c->base_integral = v.integral;
	c->base_v = v.v;
}

static int64_t gained(const struct pa_cell *c)
{
	struct segview_cell v = { 0 };

	if (c->cell < 0 || segview_counter(c->proc->seg, SEGVIEW_ALL, (unsigned)c->cell, &v))
		return 0;
	return (int64_t)((uint64_t)v.n - (uint64_t)c->base_n);
}

int64_t pa_counter_value(const struct pa_cell *c)
{
	return (int64_t)((uint64_t)c->own_n + (uint64_t)gained(c));
}

/* A v left by an earlier owner of the cell continues to integrate: it is subtracted. */
static void rank_integral(struct pa *a, const struct pa_cell *c, double *integral, double *v)
{
	uint64_t ticks = ticks_of(a, c->proc);
	struct segview_cell now;

	memset(&now, 0, sizeof(now));
	segview_integrator(c->proc->seg, SEGVIEW_ALL, (unsigned)c->cell, ticks, &now);
	*v = now.v - c->base_v;
	*integral =
		(now.integral - c->base_integral - c->base_v * (double)(ticks - c->base_ticks)) *
		seconds_per_tick(a, c->proc);
}

/* Adds an increment of the lm to an integrator. */
static void pa_integral_add(struct pa_integral *i, double delta, double time)
{
	if (i->v + delta < 0)
		return;
	i->integral += i->v * (time - i->t);
	i->t = time;
	i->v += delta;
}

void pa_integrator_value(struct pa *a, const struct pa_cell *c, struct pa_integral *out)
{
	double integral, v;

	*out = c->own;
	if (c->frozen)
		return;
	pa_integral_add(out, 0, pa_now(a));
	if (c->cell < 0)
		return;
	rank_integral(a, c, &integral, &v);
	out->integral += integral;
	out->v += v;
}

void pa_reset_cell(struct pa *a, struct pa_object *o, struct pa_cell *c)
{
	double v = c->base_v;

	c->own_n = 0;
	if (!c->frozen)
		pa_integral_add(&c->own, 0, pa_now(a));
	c->own.integral = 0;
	note_base(a, c, o->is_integrator);
	c->base_v = v; /* open values remain open */
	pa_gain_start(a, c);
	pa_note(o, c);
}

double pa_base_time(struct pa *a, const struct pa_cell *c)
{
	uint64_t now = ticks_of(a, c->proc), ticks = now > c->base_ticks ? now - c->base_ticks : 0;

	return pa_now(a) - (double)ticks * seconds_per_tick(a, c->proc);
}

void pa_counter_add(struct pa_object *o, struct pa_cell *c, int64_t n)
{
	c->own_n = (int64_t)((uint64_t)c->own_n + (uint64_t)n);
	pa_note(o, c);
}

void pa_integrator_add(struct pa_object *o, struct pa_cell *c, double delta, double time)
{
	pa_integral_add(&c->own, delta, time);
	pa_note(o, c);
}

static int take_slot_of(struct proc *p, enum cell_use use)
{
	for (int i = 0; i < SEG_CELLS; i++)
		if (p->cell[i] == use) {
			p->cell[i] = CELL_USED;
			return i;
		}
	return -1;
}

static int take_slot(struct proc *p, bool is_integrator)
{
	int i = take_slot_of(p, CELL_FRESH);

	if (i < 0)
		i = take_slot_of(p, is_integrator ? CELL_WAS_INTEGRATOR : CELL_WAS_COUNTER);
	return i >= 0 ? i : pa_notes_give_up(p, is_integrator);
}

static void give_slot(struct pa_cell *c, bool is_integrator)
{
	if (c->cell >= 0) {
		c->proc->cell[c->cell] = is_integrator ? CELL_WAS_INTEGRATOR : CELL_WAS_COUNTER;
		pa_note_none(c, is_integrator);
	}
	c->cell = -1;
}

/* The segment is being unmapped: stores the counts of the rank here. */
static void take_over(struct pa *a, struct pa_object *o, struct pa_cell *c)
{
	struct pa_integral all;

	if (o->is_integrator) {
		pa_integrator_value(a, c, &all);
		c->own = all;
		if (c->cell >= 0) /* calls that were open are closed by the end */
			c->own.v = 0;
	} else {
		c->own_n = pa_counter_value(c);
	}
	give_slot(c, o->is_integrator);
}

static void on_proc_of(struct pa *a, struct pa_object *o, struct pa_cell *c, enum proc_event what)
{
	switch (what) {
	case PROC_ENDING:
		take_over(a, o, c);
		c->frozen = true;
		break;
	case PROC_DETACHING:
		take_over(a, o, c);
		break;
	case PROC_FORGOTTEN:
		list_del(&c->link);
		free(c);
		break;
	default:
		break;
	}
}

static struct pa_cell *pa_find_cell(struct pa_object *o, const struct proc *p)
{
	list_each (i, &o->cells)
		if (list_entry(i, struct pa_cell, link)->proc == p)
			return list_entry(i, struct pa_cell, link);
	return NULL;
}

static void on_proc(void *arg, struct proc *p, enum proc_event what)
{
	struct pa *a = arg;
	struct smap_iter i = { 0 };

	if (what == PROC_BORN || what == PROC_RENEWED)
		pa_notes_take(a, p);
	while (smap_next(&a->objects, &i)) {
		struct pa_object *o = i.value;
		struct pa_cell *c = pa_find_cell(o, p);

		if (c)
			on_proc_of(a, o, c, what);
	}
}

struct pa *pa_new(const struct pa_conf *conf)
{
	struct pa *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->conf = *conf;
	a->roots = conf->timebase->roots;
	a->offset = conf->timebase->offset;
	smap_init(&a->objects);
	a->listener = (struct procs_listener){ .on_proc = on_proc, .arg = a };
	procs_listen(conf->procs, &a->listener);
	return a;
}

static void object_free(struct pa_object *o)
{
	list_each_safe (i, &o->cells)
		free(list_entry(i, struct pa_cell, link));
	free(o);
}

void pa_free(struct pa *a)
{
	struct smap_iter i = { 0 };

	if (!a)
		return;
	while (smap_next(&a->objects, &i))
		object_free(i.value);
	smap_done(&a->objects);
	procs_unlisten(&a->listener);
	free(a);
}

void pa_on_delete(struct pa *a, void (*fn)(void *arg), void *arg)
{
	a->on_delete = fn;
	a->on_delete_arg = arg;
}

size_t pa_count(const struct pa *a)
{
	return a->objects.n;
}

struct pa_object *pa_find(struct pa *a, const char *token)
{
	struct pa_object *o = smap_find(&a->objects, token);

	follow_time(a); /* before anything is added */
	if (o)
		return o;
	pa_notes_revive(a, token);
	return smap_find(&a->objects, token);
}

int pa_object_make(struct pa *a, const struct pa_name *name, struct pa_object **out, struct err *e)
{
	const char *token = name->token;
	struct token_parts parts;
	struct pa_object *o;
	int rc;

	if (token_parse(token, strlen(token), &parts) || parts.kind < TOKEN_COUNTER_LOCAL ||
	    parts.kind > TOKEN_INTEGRATOR_GLOBAL)
		return err_set(e, ERR_INVALID, "this is neither a counter nor an integrator");
	if (a->objects.n >= PA_OBJECTS_MAX)
		return err_set(e, ERR_LIMIT, "there are %d counters and integrators already",
			       PA_OBJECTS_MAX);
	o = calloc(1, sizeof(*o));
	if (!o)
		return err_nomem(e);
	token_print(&o->token, &parts);
	o->tool = name->tool;
	o->is_integrator =
		parts.kind == TOKEN_INTEGRATOR_LOCAL || parts.kind == TOKEN_INTEGRATOR_GLOBAL;
	o->is_global = parts.kind == TOKEN_COUNTER_GLOBAL || parts.kind == TOKEN_INTEGRATOR_GLOBAL;
	list_init(&o->cells);
	rc = smap_put(&a->objects, token, o, NULL);
	if (rc) {
		free(o);
		return err_nomem(e);
	}
	*out = o;
	return 0;
}

int pa_know(struct pa *a, const struct pa_name *name, struct pa_object **out, struct err *e)
{
	*out = pa_find(a, name->token);
	return *out ? 0 : pa_object_make(a, name, out, e);
}

static int give_cell(struct pa *a, struct pa_object *o, struct pa_cell *c, struct err *e)
{
	if (c->cell >= 0 || !c->proc->seg)
		return 0;
	c->cell = take_slot(c->proc, o->is_integrator);
	if (c->cell < 0)
		return err_set(e, ERR_LIMIT, "all %d cells of the process are in use", SEG_CELLS);
	note_base(a, c, o->is_integrator);
	pa_note(o, c);
	return 0;
}

struct pa_cell *pa_record(struct pa *a, struct pa_object *o, struct proc *p)
{
	struct pa_cell *c = pa_find_cell(o, p);

	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->proc = p;
	c->cell = -1;
	c->own.t = pa_now(a);
	pa_gain_start(a, c);
	list_push_back(&o->cells, &c->link);
	return c;
}

int pa_make(struct pa *a, const struct pa_name *name, struct proc *p, struct pa_cell **out,
	    struct err *e)
{
	struct pa_object *o;
	struct pa_cell *c;
	int rc = pa_know(a, name, &o, e);

	if (rc)
		return rc;
	c = pa_record(a, o, p);
	if (!c)
		return err_nomem(e);
	*out = c;
	return give_cell(a, o, c, e);
}

int pa_cell(struct pa *a, const struct pa_name *name, struct proc *p, unsigned *cell, struct err *e)
{
	struct pa_cell *c;
	int rc;

	if (!p->seg)
		return err_set(e, ERR_NOTFOUND, "the process has no segment");
	rc = pa_make(a, name, p, &c, e);
	if (!rc)
		*cell = (unsigned)c->cell;
	return rc;
}

void pa_delete(struct pa *a, struct pa_object *o)
{
	smap_del(&a->objects, o->token.s);
	list_each (i, &o->cells)
		give_slot(list_entry(i, struct pa_cell, link), o->is_integrator);
	object_free(o);
	if (a->on_delete)
		a->on_delete(a->on_delete_arg);
}

void pa_tool_gone(struct pa *a, uint32_t tool)
{
	struct smap_iter i = { 0 };

	pa_notes_tool_gone(a, tool);
	while (smap_next(&a->objects, &i)) {
		struct pa_object *o = i.value;

		if (o->tool == tool)
			pa_delete(a, o);
	}
}
