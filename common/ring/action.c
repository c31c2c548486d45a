/* SPDX-License-Identifier: Apache-2.0 */
/* Runs actions in the rank. This is hot code, with the rules of ring.c. */
#include "common/ring/action.h"

#include "common/ring/calls.h"

#include <string.h>

#define ACTION_WORDS (sizeof(struct seg_action) / 8)

union action_copy {
	struct seg_action a;
	uint64_t word[ACTION_WORDS];
};

/* Returns false if the lm was changing the action. */
static bool action_copy(union action_copy *out, const struct seg_action *from)
{
	const uint64_t *word = (const uint64_t *)(const void *)from;
	uint32_t seq = __atomic_load_n(&from->seq, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < ACTION_WORDS; i++)
		out->word[i] = __atomic_load_n(&word[i], __ATOMIC_ACQUIRE);
	return !(seq & 1) && __atomic_load_n(&from->seq, __ATOMIC_RELAXED) == seq &&
	       out->a.seq == seq;
}

/*
 * True if the value is in the ascending list. If entries change meanwhile, the result may be
 * either, but the search must end.
 */
static bool list_has(const int32_t *lists, uint32_t first, uint32_t count, int64_t value)
{
	uint32_t low = first;

	if (first > SEG_LIST_WORDS || count > SEG_LIST_WORDS - first)
		return false;
	for (uint32_t high = first + count; low < high;) {
		uint32_t mid = low + (high - low) / 2;
		int32_t v = __atomic_load_n(&lists[mid], __ATOMIC_RELAXED);

		if (v == value)
			return true;
		if (v < value)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

static bool is_float(const struct action_event *e, uint32_t par)
{
	return par >= 1 && par <= 32 && e->floats >> (par - 1) & 1;
}

static double par_as_double(const struct action_event *e, uint32_t par)
{
	double v;

	if (par < 1 || par > e->npar)
		return 0;
	if (!is_float(e, par))
		return (double)e->par[par - 1];
	memcpy(&v, &e->par[par - 1], sizeof(v));
	return v;
}

static double operand(const struct seg_action *a, const struct action_event *e)
{
	switch (a->operand) {
	case ACTION_CONST:
		return a->value;
	case ACTION_PAR:
		return par_as_double(e, a->par);
	case ACTION_VOLUME:
		return (double)e->bytes;
	default:
		return 0;
	}
}

/* Whole numbers stay exact beyond 2^53. */
static int64_t operand_whole(const struct seg_action *a, const struct action_event *e)
{
	double v = a->operand == ACTION_PAR ? par_as_double(e, a->par) : a->value;

	if (a->operand == ACTION_PAR && !is_float(e, a->par))
		return a->par >= 1 && a->par <= e->npar ? e->par[a->par - 1] : 0;
	if (a->operand == ACTION_VOLUME)
		return e->bytes;
	return v > -9e18 && v < 9e18 ? (int64_t)v : 0;
}

static void action_apply(const struct action_tables *t, const struct seg_action *a,
			 const struct action_event *e, bool potential)
{
	if (a->cell >= SEG_CELLS)
		return;
	switch (a->op) {
	case ACTION_COUNTER_ADD:
		cell_count_add(&t->cells[a->cell], operand_whole(a, e));
		return;
	case ACTION_INTEGRATOR_ADD:
		cell_integrator_add(&t->cells[a->cell], operand(a, e), e->now);
		return;
	case ACTION_PATOP_INTEGRATOR_ADD:
		cell_patop_add(&t->cells[a->cell], &t->potentials[a->cell], operand(a, e), e->now,
			       potential);
		return;
	default:
		return;
	}
}

/* The call has ended with a partner that is not requested, so its potential value is dropped. */
static void action_forget(const struct action_tables *t, const struct seg_action *a)
{
	if (a->op == ACTION_PATOP_INTEGRATOR_ADD && a->phase == CALL_END && a->cell < SEG_CELLS)
		t->potentials[a->cell].set = false;
}

/* A missing parameter fails the test. */
static bool action_passes(const struct seg_action *a, const struct action_event *e)
{
	double v;

	if (a->test == ACTION_ALWAYS)
		return true;
	if (a->test_par < 1 || a->test_par > e->npar)
		return false;
	v = par_as_double(e, a->test_par);
	switch (a->test) {
	case ACTION_IF_EQ:
		return v == a->test_value;
	case ACTION_IF_NE:
		return v != a->test_value;
	case ACTION_IF_LT:
		return v < a->test_value;
	case ACTION_IF_LE:
		return v <= a->test_value;
	case ACTION_IF_GT:
		return v > a->test_value;
	case ACTION_IF_GE:
		return v >= a->test_value;
	default:
		return false;
	}
}

bool action_may_be_late(const struct seg_action *a)
{
	return (a->op == ACTION_INTEGRATOR_ADD || a->op == ACTION_PATOP_INTEGRATOR_ADD) &&
	       a->operand == ACTION_CONST && a->test == ACTION_ALWAYS;
}

bool action_is_pair(const struct seg_action *start, const struct seg_action *end)
{
	return action_may_be_late(start) && action_may_be_late(end) && start->cell == end->cell &&
	       start->func == end->func && start->phase == CALL_START && end->phase == CALL_END &&
	       start->value > 0 && end->value < 0;
}

/*
 * True if the start has an action at the end of the call: without one, the thread would stay inside
 * for ever.
 */
static bool has_end(const struct action_tables *t, const struct seg_action *start)
{
	uint16_t at = __atomic_load_n(&t->heads[start->func * 2 + CALL_END], __ATOMIC_ACQUIRE);
	union action_copy copy;

	for (unsigned steps = 0; at && at <= SEG_ACTIONS && steps < SEG_ACTIONS; steps++) {
		if (!action_copy(&copy, &t->actions[at - 1]))
			return false;
		if (action_is_pair(start, &copy.a))
			return true;
		at = copy.a.next;
	}
	return false;
}

/*
 * Applies a late action. If the cell has changed since its `since`, it contains the call already:
 * an earlier lm had the same action there. The lm uses the same test when it adds the open call to
 * a reading.
 */
static void apply_late(const struct action_tables *t, const struct seg_action *a,
		       const struct action_event *e)
{
	struct seg_cell *c = a->cell < SEG_CELLS ? &t->cells[a->cell] : NULL;
	uint64_t since = e->now > a->since ? e->now : a->since;

	if (!c || !action_may_be_late(a))
		return;
	if (e->phase == CALL_END)
		cell_integrator_add(c, a->value, e->now);
	else if (a->since >= e->late && c->v == 0 && c->t < since && has_end(t, a))
		cell_integrator_add(c, a->value, since);
}

static void action_filter(const struct action_tables *t, const struct seg_action *a,
			  const struct action_event *e)
{
	bool potential = false;

	if (!action_passes(a, e))
		return;
	if (a->thread_count && !list_has(t->lists, a->thread_first, a->thread_count, e->tid))
		return;
	if (a->partner_count) {
		potential = (a->flags & ACTION_PATOP) && e->any_source && !e->late;
		if (!potential &&
		    !list_has(t->lists, a->partner_first, a->partner_count, e->partner)) {
			action_forget(t, a);
			return;
		}
	}
	if (e->late)
		apply_late(t, a, e);
	else
		action_apply(t, a, e, potential);
}

unsigned action_run(const struct action_tables *t, const struct action_event *e)
{
	unsigned skipped = 0;
	union action_copy copy;
	uint16_t at;

	if (e->func >= SEG_CHAINS || e->phase > 1)
		return 0;
	at = __atomic_load_n(&t->heads[e->func * 2 + e->phase], __ATOMIC_ACQUIRE);
	for (unsigned steps = 0; at && at <= SEG_ACTIONS && steps < SEG_ACTIONS; steps++) {
		if (!action_copy(&copy, &t->actions[at - 1])) {
			skipped++;
			break;
		}
		if (copy.a.func != e->func || copy.a.phase != e->phase) {
			skipped++;
			break;
		}
		action_filter(t, &copy.a, e);
		at = copy.a.next;
	}
	return skipped;
}
