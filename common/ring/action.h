/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actions that run in the rank. Conditional requests are compiled to actions, so that a counter is
 * incremented where the call is made. The lm writes the entries. The rank runs the chain of entries
 * at (function, phase).
 *
 * A sequence word guards each entry. To install an entry, the lm writes it with its `next`, then
 * the head. To remove it, the lm unlinks it from the head or the previous entry, then clears its
 * op. `next` is part of the sequence word, so that both change together. The rank copies an entry
 * before it runs it. An entry that changes meanwhile, or is now in another chain, ends the walk and
 * is counted.
 */
#ifndef COMMON_RING_ACTION_H
#define COMMON_RING_ACTION_H

#include "common/ring/seg.h"

#include <stdbool.h>
#include <stddef.h>

enum action_op {
	ACTION_NONE, /* free entry: does nothing, and ends no chain */
	ACTION_COUNTER_ADD, /* cell.n += operand */
	/* if v + operand < 0, ignored; otherwise I += v (now - t), t = now, v += operand */
	ACTION_INTEGRATOR_ADD,
	/* as ACTION_INTEGRATOR_ADD, with `potential`: see cell_patop_add() */
	ACTION_PATOP_INTEGRATOR_ADD,
};

enum action_operand {
	ACTION_CONST, /* the member `value` */
	ACTION_PAR, /* $par<par> of the event */
	/*
	 * bytes of the call times matched partners, which is $par1 of patop_lib_call_*; 0 if
	 * unknown
	 */
	ACTION_VOLUME,
};

/* A condition: the action runs only if it is true. */
enum action_test {
	ACTION_ALWAYS,
	ACTION_IF_EQ,
	ACTION_IF_NE,
	ACTION_IF_LT,
	ACTION_IF_LE,
	ACTION_IF_GT,
	ACTION_IF_GE,
};

enum {
	ACTION_PATOP = 1
}; /* flag of a patop event: the partner list is tested, and any source counts as "potential" */

struct seg_action {
	uint32_t seq;
	uint16_t op; /* enum action_op */
	uint16_t next; /* index + 1 of the next entry; 0 = end */
	uint16_t func;
	/* func and phase name the chain of this entry; an entry of another chain ends the walk */
	uint8_t phase;
	uint8_t flags;
	uint16_t cell;
	uint16_t operand; /* enum action_operand */
	uint32_t par;
	uint32_t partner_first, partner_count; /* ascending world ranks in the lists; 0 = any */
	uint32_t thread_first, thread_count; /* ascending tids in the lists; 0 = any */
	uint16_t test; /* enum action_test, of $par<test_par> against test_value */
	uint16_t test_par;
	double value; /* for ACTION_CONST */
	/*
	 * Ticks, or 0. For a start that adds to an integrator: threads that were in the call at
	 * that time count as inside since then. There must be an end of the call that subtracts
	 * from the same cell.
	 */
	uint64_t since;
	double test_value;
};
static_assert(sizeof(struct seg_action) == 64, "one cache line");

/*
 * The heads of chains are u16 head[SEG_CHAINS][2]: index + 1 of the first entry of (function,
 * phase); 0 = none. SEG_HOOKS + n in place of a function means probe n, with CALL_START.
 */
#define ACTION_HEADS_BYTES (SEG_CHAINS * 2 * sizeof(uint16_t))

/* --- functions of the rank: one thread, wait-free, signal-safe */

void cell_count_add(struct seg_cell *c, int64_t n);

/* Apply the rule of ACTION_COUNTER_ADD, and that of ACTION_INTEGRATOR_ADD. */
void cell_integrator_add(struct seg_cell *c, double delta, uint64_t now);

/* A start of an integrator in one thread, while the partner of its call is not known. */
struct cell_potential {
	uint64_t t;
	double delta;
	bool set;
};

/*
 * With potential: only stores (delta, now), and replaces an older one. Otherwise: if delta < 0 and
 * one is stored, applies that first, at its own time, and clears it. Then adds delta at now.
 */
void cell_patop_add(struct seg_cell *c, struct cell_potential *p, double delta, uint64_t now,
		    bool potential);

/* The event for which a chain runs. */
struct action_event {
	const int64_t *par; /* npar values */
	uint32_t npar;
	uint32_t floats; /* bit k: par[k] is a double */
	uint16_t func;
	uint8_t phase;
	uint32_t tid;
	uint64_t now; /* ticks */
	int64_t partner; /* world rank or CALL_PARTNER_X */
	bool any_source; /* the partner is known at the end of the call */
	int64_t bytes; /* 0 if unknown */
	/*
	 * 0, or `late` - 1 is the begin of a call whose actions were installed later. Then only
	 * actions run that add to an integrator and need no parameters. At the start of the call,
	 * these are the actions with a later `since`. They use the later of their `since` and
	 * `now`.
	 */
	uint64_t late;
};

/* True if the action may run late: see `late` above. */
bool action_may_be_late(const struct seg_action *a);

/* True if `end` undoes `start`: both add to the same integrator, with opposite signs. */
bool action_is_pair(const struct seg_action *start, const struct seg_action *end);

/* The tables of a segment and the cells of one thread. */
struct action_tables {
	const uint16_t *heads;
	const struct seg_action *actions;
	const int32_t *lists;
	struct seg_cell *cells; /* SEG_CELLS entries */
	struct cell_potential *potentials; /* SEG_CELLS entries, in private memory */
};

/* Runs the chain, at most SEG_ACTIONS steps. Returns how many times a change has cut it short. */
unsigned action_run(const struct action_tables *t, const struct action_event *e);

/* --- functions of the lm on a mapped segment: see segview.h */

#endif
