/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by pa.c and services_pa.c. */
#ifndef LM_INSTRUMENT_PA_INTERNAL_H
#define LM_INSTRUMENT_PA_INTERNAL_H

#include "common/container/map.h"
#include "lm/instrument/pa.h"

struct pa {
	struct pa_conf conf;
	struct smap objects; /* token -> struct pa_object */
	struct procs_listener listener;
	/* number of roots of the time base at the last conversion of times, and its offset then */
	unsigned roots;
	nsec_t offset;
	void (*on_delete)(void *arg);
	void *on_delete_arg;
};

struct pa_object {
	struct token token;
	uint32_t tool;
	bool is_integrator, is_global;
	struct list cells; /* struct pa_cell, in the order of making */
};

/* State of an integrator: I over seconds, v, at time t (system seconds). */
struct pa_integral {
	double integral, v, t;
};

/*
 * One object in one process. Its value: the gain of the segment's cell since `base`, plus `own`.
 * Without a segment, only `own`.
 */
struct pa_cell {
	struct list link;
	struct proc *proc;
	int cell; /* -1: none */
	int64_t base_n, own_n;
	uint64_t base_ticks;
	double base_integral, base_v; /* v x ticks, v */
	struct pa_integral own;
	/* a stored potential increment: patop_integrator_local_increment() from outside the rank */
	struct {
		double delta, time;
		bool is_set;
	} potential;
	double start; /* making or reset, system seconds */
	/* pa_gain(): value and time of the last read since the last read */
	int64_t mark_n;
	double mark_integral, mark_time;
	bool frozen; /* the process has ended: time does not continue */
};

/* Uses of proc.cell. Kinds never mix: the cell of a counter has no bits of an integrator, and vice
 * versa. */
enum cell_use {
	CELL_FRESH,
	CELL_WAS_COUNTER,
	CELL_WAS_INTEGRATOR,
	CELL_KEPT, /* noted by an earlier lm; not requested yet */
	CELL_USED,
};

/* Returns NULL if there is none. */
struct pa_object *pa_find(struct pa *a, const char *token);

/* pa_note.c: writes the note of a cell to the segment, for the next lm. */
void pa_note(const struct pa_object *o, const struct pa_cell *c);
void pa_note_none(const struct pa_cell *c, bool is_integrator);

/* Reads the notes of an earlier lm for the cells of this process. */
void pa_notes_take(struct pa *a, struct proc *p);

/* Restores this token from the notes of all processes. */
void pa_notes_revive(struct pa *a, const char *token);

/*
 * Frees a cell of that kind whose note was not requested, for another use. Returns -1 if there is
 * none.
 */
int pa_notes_give_up(struct proc *p, bool is_integrator);

/* Drops the notes of the tool's cells. */
void pa_notes_tool_gone(struct pa *a, uint32_t tool);

/*
 * Finds or makes the record of the object in the process, without a cell. Returns NULL without
 * memory.
 */
struct pa_cell *pa_record(struct pa *a, struct pa_object *o, struct proc *p);

/* Makes an object with that token, in no process yet. */
int pa_object_make(struct pa *a, const struct pa_name *name, struct pa_object **out, struct err *e);

/* Finds or makes the object; a new one is in no process yet. */
int pa_know(struct pa *a, const struct pa_name *name, struct pa_object **out, struct err *e);

/* Finds or makes the cell; for a process without a segment, it counts here only. */
int pa_make(struct pa *a, const struct pa_name *name, struct proc *p, struct pa_cell **out,
	    struct err *e);
void pa_delete(struct pa *a, struct pa_object *o);

int64_t pa_counter_value(const struct pa_cell *c);
void pa_integrator_value(struct pa *a, const struct pa_cell *c, struct pa_integral *out);
void pa_reset_cell(struct pa *a, struct pa_object *o, struct pa_cell *c);

/* Adds increments from outside the rank. */
void pa_counter_add(struct pa_object *o, struct pa_cell *c, int64_t n);
void pa_integrator_add(struct pa_object *o, struct pa_cell *c, double delta, double time);

/* The same; `potential` ones are stored until a negative one makes them count. */
void pa_patop_add(struct pa_object *o, struct pa_cell *c, double delta, double time,
		  bool potential);

/* The gain between two times. */
struct pa_gain {
	int64_t n; /* of a counter */
	double integral; /* of an integrator */
	double from, to; /* system seconds */
};
void pa_gain(struct pa *a, const struct pa_object *o, struct pa_cell *c, bool since_last,
	     struct pa_gain *out);

/* The counter or integrator was made or reset now. */
void pa_gain_start(struct pa *a, struct pa_cell *c);

/* The object was made under an earlier lm. The time of its last read is unknown, so now is used. */
void pa_gain_go_on(struct pa *a, const struct pa_object *o, struct pa_cell *c);

/* Returns system seconds of the moment at which the segment's cell had the value `base`. */
double pa_base_time(struct pa *a, const struct pa_cell *c);

/* System time in seconds. */
double pa_now(struct pa *a);

#endif
