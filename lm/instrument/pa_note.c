/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters that outlive an lm. The rank's cells survive its death, and so do its notes in the
 * segment. The next lm uses a note only if it is plausible. The process could damage only its own
 * counters.
 */
#include "lm/instrument/pa_internal.h"

#include <math.h>
#include <string.h>

static bool is_integrator(uint32_t kind)
{
	return kind == TOKEN_INTEGRATOR_LOCAL || kind == TOKEN_INTEGRATOR_GLOBAL;
}

static bool makes_sense(const struct seg_note *n)
{
	return n->kind >= TOKEN_COUNTER_LOCAL && n->kind <= TOKEN_INTEGRATOR_GLOBAL &&
	       isfinite(n->base_integral) && isfinite(n->base_v) && isfinite(n->own_integral) &&
	       isfinite(n->own_v) && isfinite(n->own_t) && n->own_v >= 0;
}

void pa_note(const struct pa_object *o, const struct pa_cell *c)
{
	struct token_parts parts;
	struct seg_note n = { .tool = o->tool,
			      .base_n = c->base_n,
			      .own_n = c->own_n,
			      .base_integral = c->base_integral,
			      .base_v = c->base_v,
			      .base_ticks = c->base_ticks,
			      .own_integral = c->own.integral,
			      .own_v = c->own.v,
			      .own_t = c->own.t };

	if (c->cell < 0 || !c->proc->seg || token_parse(o->token.s, strlen(o->token.s), &parts))
		return;
	n.kind = parts.kind;
	n.number = parts.number;
	segview_note_set(c->proc->seg, (unsigned)c->cell, &n);
}

void pa_note_none(const struct pa_cell *c, bool was_integrator)
{
	struct seg_note n = { .kind = was_integrator ? TOKEN_INTEGRATOR_LOCAL
						     : TOKEN_COUNTER_LOCAL };

	if (c->cell >= 0 && c->proc->seg)
		segview_note_set(c->proc->seg, (unsigned)c->cell, &n);
}

/* Returns the use of the cell by its note. A torn or invalid note: the cell is never used again. */
static enum cell_use use_of(const struct proc *p, unsigned cell, struct seg_note *n)
{
	if (!segview_note_get(p->seg, cell, n))
		return CELL_USED;
	if (!n->kind)
		return CELL_FRESH;
	if (!makes_sense(n))
		return CELL_USED;
	if (n->number)
		return CELL_KEPT;
	return is_integrator(n->kind) ? CELL_WAS_INTEGRATOR : CELL_WAS_COUNTER;
}

/* Continues the object in this cell, as if this lm had written the note. */
static void revive(struct pa *a, struct pa_object *o, struct proc *p, unsigned cell,
		   const struct seg_note *n)
{
	struct pa_cell *c = pa_record(a, o, p);

	if (!c || c->cell >= 0)
		return;
	p->cell[cell] = CELL_USED;
	c->cell = (int)cell;
	c->base_n = n->base_n;
	c->own_n = n->own_n;
	c->base_integral = n->base_integral;
	c->base_v = n->base_v;
	c->base_ticks = n->base_ticks;
	c->own = (struct pa_integral){ n->own_integral, n->own_v, n->own_t };
	pa_gain_go_on(a, o, c);
}

static void token_of(const struct seg_note *n, struct token *out)
{
	token_print_number(out, (enum token_kind)n->kind, n->number);
}

void pa_notes_take(struct pa *a, struct proc *p)
{
	struct seg_note n;
	struct token token;

	for (unsigned i = 0; p->seg && i < SEG_CELLS; i++) {
		struct pa_object *o;

		p->cell[i] = (uint8_t)use_of(p, i, &n);
		if (p->cell[i] != CELL_KEPT)
			continue;
		token_of(&n, &token);
		o = smap_find(&a->objects, token.s);
		if (o)
			revive(a, o, p, i, &n);
	}
}

/* Calls fn for each note that is kept and whole. */
static void each_kept(struct pa *a,
		      void (*fn)(struct pa *a, struct proc *p, unsigned cell,
				 const struct seg_note *n, const void *arg),
		      const void *arg)
{
	struct seg_note n;

	list_each (i, procs_all(a->conf.procs)) {
		struct proc *p = list_entry(i, struct proc, link);

		for (unsigned k = 0; p->seg && k < SEG_CELLS; k++)
			if (p->cell[k] == CELL_KEPT && use_of(p, k, &n) == CELL_KEPT)
				fn(a, p, k, &n, arg);
	}
}

static void revive_if_it_is(struct pa *a, struct proc *p, unsigned cell, const struct seg_note *n,
			    const void *arg)
{
	struct pa_name name = { arg, n->tool };
	struct pa_object *o = smap_find(&a->objects, name.token);
	struct token token;

	token_of(n, &token);
	if (strcmp(token.s, name.token) != 0)
		return;
	if (o || !pa_object_make(a, &name, &o, NULL))
		revive(a, o, p, cell, n);
}

void pa_notes_revive(struct pa *a, const char *token)
{
	each_kept(a, revive_if_it_is, token);
}

int pa_notes_give_up(struct proc *p, bool integrator)
{
	struct seg_note n;

	for (unsigned i = 0; i < SEG_CELLS; i++)
		if (p->cell[i] == CELL_KEPT && use_of(p, i, &n) == CELL_KEPT &&
		    is_integrator(n.kind) == integrator) {
			p->cell[i] = CELL_USED;
			return (int)i;
		}
	return -1;
}

static void forget_if_it_is(struct pa *a, struct proc *p, unsigned cell, const struct seg_note *n,
			    const void *arg)
{
	struct pa_cell c = { .proc = p, .cell = (int)cell };

	if (n->tool != *(const uint32_t *)arg)
		return;
	p->cell[cell] = is_integrator(n->kind) ? CELL_WAS_INTEGRATOR : CELL_WAS_COUNTER;
	pa_note_none(&c, is_integrator(n->kind));
}

void pa_notes_tool_gone(struct pa *a, uint32_t tool)
{
	each_kept(a, forget_if_it_is, &tool);
}
