/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside measurements: measure.c (creation and end), measure_wait.c (waiters), measure_asked.c (the
 * request of a tool), measure_objects.c (its objects). measure_world.c (existing objects),
 * measure_plan.c (graphs), measure_load.c (branches), measure_read.c (reads). measure_until.c (the
 * rule that ends a measurement), measure_info.c (replies about one).
 */
#ifndef MAINSM_MEASURE_MEASURE_INTERNAL_H
#define MAINSM_MEASURE_MEASURE_INTERNAL_H

#include "common/base/clock.h"
#include "common/container/list.h"
#include "common/container/map.h"
#include "common/flow/batch/batch.h"
#include "common/loop/loop.h"
#include "common/omis/text/token.h"
#include "mainsm/measure/measure.h"
#include "mainsm/tool/session.h"
#include "pmsl/pmsl.h"
#include "stats/moments.h"
#include "tree/read_clock.h"
#include "tree/stage.h"
#include "tree/standing.h"

struct measures {
	struct measures_conf conf;
	struct smap by_token;
	struct map by_number;
	struct loop_timer *follow; /* owned */
	nsec_t follow_next; /* earliest time of the next attempt */
	/* number of the round of following, in which each measurement has a turn */
	uint64_t round;
	bool is_round_over, has_more_changed; /* the next round is requested already */
	struct flow_batch_room room;
	/* handles the output of a stage; its arg is the measurement */
	void (*on_result)(void *arg, const struct flow_result *r);
	void (*on_batch)(void *arg, const struct flow_batch *b);
	struct list ready; /* waiters that are due; their callbacks may do anything */
	struct loop_job calling;
	struct measures_stats stats;
};

/*
 * The nearest mark above an object decides whether it is measured; without a mark, is_all decides.
 */
struct asked_objects {
	struct asked_mark {
		char token[TOKEN_BYTES];
		bool is_out; /* removed */
	} * mark; /* owned */
	size_t n, cap;
	bool is_all; /* all objects, also later ones */
};

/* The request of a tool, stored so that it can be bound again. */
struct measure_asked {
	char *metric, *name; /* owned; of the text, for diagnostics */
	struct omis_values *parameters; /* owned: name, value, ... */
	struct asked_objects objects;
	bool is_builtin, has_agg, is_central, per_second;
	enum flow_since since;
	enum bind_by by;
	enum bind_each each;
	enum agg_kind agg;
	nsec_t every; /* 0: read by request */
	char *until; /* owned: the rule that ends it; NULL: none */
};

/* A part of the graph, and the place where it runs. */
struct measure_piece {
	enum place_kind kind;
	char object[TOKEN_BYTES]; /* "" for the top */
	struct flow_graph *graph; /* owned */
	struct buf text;
	struct stage *stage; /* owned; NULL: the piece runs at a branch */
	struct flow *engine; /* owned; of the stage */
	uint32_t branch; /* branch with the object, or the path to it; STAGE_NOWHERE */
};

struct measure_plan {
	struct measure_piece *piece; /* the top is the first; sites precede their nodes */
	size_t npiece;
	char (*label)[TOKEN_BYTES]; /* of each output */
	char **with; /* of each output: its partner's token, or its region as a string; NULL: all */
	size_t nlabel;
	struct measure_world *world; /* the objects that it was made for */
};

struct measure_waiter {
	struct list in_waiters; /* in the measurement's list, then in that of the ready ones */
	char *values; /* owned; values of the read, NULL: none */
	void (*on_loaded)(void *arg);
	void (*on_read)(void *arg, const char *values); /* exactly one of the two is not NULL */
	void *arg;
	int64_t read; /* requested read, or a later one */
};

/* An error of an object's part. */
struct measure_trouble {
	uint32_t branch; /* branch that reported it */
	char object[TOKEN_BYTES];
	unsigned status; /* of the request language */
	char *text; /* owned */
};

struct measure_value {
	uint32_t output;
	struct flow_token t;
	char *list; /* owned; of a HISTOGRAM its buckets, of WHO_MAX and such its objects */
};

/* The count of an output with a stop, at the last read. */
struct measure_counted {
	uint32_t output;
	struct moments moments;
	bool is_enough;
	/* Dependence of its values: an interval for independent ones would be too narrow. */
	enum dependence dependence;
};

enum measure_state {
	MEASURE_NEW,
	MEASURE_LOADING, /* running; pieces must be sent to their current branches */
	MEASURE_RUNNING, /* running; each piece is loaded at its branch */
	MEASURE_STOPPED,
	MEASURE_STATES
};

enum measure_event { MEASURE_START, MEASURE_SENT, MEASURE_MOVED, MEASURE_STOP, MEASURE_EVENTS };

struct measure {
	struct measures *ms;
	struct session *session;
	struct token token;
	uint32_t number;
	struct measure_asked asked;
	struct pmsl *pmsl; /* owned */
	const struct pmsl_metric *metric;
	enum measure_state state;

	struct measure_plan *plan; /* owned; NULL: none could be made yet */
	uint64_t followed; /* the round in which it had its turn */
	uint64_t tried; /* hash of the world of the last attempt to plan */
	struct standing *standing; /* owned; mark: a hash of the branch's pieces */
	uint32_t version; /* version of the last load that was sent */
	struct measure_trouble *trouble;
	size_t ntrouble, captrouble;

	struct read_clock reads;
	struct list waiters;
	struct measure_value *value;
	size_t nvalue, capvalue;
	/* owned; counts of the last read, for its plan */
	struct measure_counted *counted;
	size_t ncounted, capcounted;
	bool has_enough; /* ended by its rule */
	uint64_t lost; /* values that had no room in their read */
	uint64_t frames, bytes, dropped;
};

/* --- measure_world.c */

struct measure_world {
	struct world world;
	struct smap index; /* token -> place + 1 */
	struct arena *arena;
	uint64_t hash; /* hash of all objects and attributes on which a graph depends */
	size_t count[PMSL_T_SITE + 1]; /* by kind */
};

/*
 * Makes the set of the tool's attached objects. A process that has ended is included if `before`
 * (may be NULL) has it: its values continue to count. Returns NULL without memory.
 */
struct measure_world *measure_world_new(const struct session *s,
					const struct measure_world *before);
void measure_world_free(struct measure_world *w);
uint32_t measure_world_find(const struct measure_world *w, const char *token);

/* --- measure_wait.c */

/* -ERR_NOMEM. */
int measure_wait(struct measure *m, const struct measure_waiter *waiter);

/* True if the read has waiters. */
bool measure_has_readers(const struct measure *m, int64_t read);

/*
 * Makes waiters ready: those for branches; those for reads up to that one, with a copy of these
 * values.
 */
void measure_ready_loaded(struct measure *m);
void measure_ready_read(struct measure *m, int64_t read, const char *values);
/* Ends the remaining waits without a result. */
void measure_drop_waiters(struct measure *m);
/* Drops ready waiters without calling them. */
void measures_drop_ready(struct measures *ms);

/* --- measure_asked.c */

int asked_init(struct measure_asked *a, const struct measure_request *w, struct buf *why);
void asked_done(struct measure_asked *a);

/* Returns the first parameter that takes objects; NULL: none does. */
const struct pmsl_decl *asked_first(const struct pmsl_metric *m);

struct asked_binding {
	struct bind_arg arg[PMSL_PARAMS_MAX];
	struct arena *arena; /* of what they point to */
	struct bind_options options;
};

/* Returns the options without the arguments. */
struct bind_options asked_options(const struct measure_asked *a);

/* Binds the request to the objects of a world. */
int asked_bind(const struct measure *m, const struct measure_world *w, struct asked_binding *out,
	       struct buf *why);
void asked_unbind(struct asked_binding *b);

/*
 * --- measure_objects.c: lists of tokens. ERR_NOTFOUND: the tool does not see that object, or it is
 * not in the list; ERR_INVALID.
 */

/* An empty list means all. */
int asked_objects_init(struct asked_objects *a, const struct session *s,
		       const struct omis_value *objects, struct buf *why);

/* Adds or removes the objects. ERR_INVALID: none would remain, or one of them is wrong. */
int asked_objects_change(struct asked_objects *a, const struct session *s,
			 const struct omis_value *objects, bool add, struct buf *why);
int asked_objects_copy(const struct asked_objects *from, struct asked_objects *out);
void asked_objects_done(struct asked_objects *a);

/* --- measure_plan.c */

/*
 * Writes the text of a built-in metric with the given parameters. -ERR_INVALID, -ERR_UNSUPPORTED
 * with a message in why, -ERR_NOMEM.
 */
int measure_builtin(const struct measure *m, struct buf *text, struct buf *why);

/*
 * -ERR_INVALID, -ERR_LIMIT, -ERR_UNSUPPORTED with a message in why; -ERR_NOMEM. Consumes *world on
 * success.
 */
int measure_plan_make(const struct measure *m, struct measure_world **world,
		      struct measure_plan **out, struct buf *why);
void measure_plan_free(struct measure_plan *p);
/* ends the stage of the piece, if there is one */
void measure_piece_close(struct measure_piece *p);

/* Writes diagnostics of the compiler as text. */
void measure_plan_explain(const struct pmsl *p, const struct pmsl_diags *d, struct buf *why);

/* --- measure_load.c */

/*
 * Replaces the current plan. -ERR_INVALID, -ERR_LIMIT: the top refuses its graph, and the old one
 * continues. -ERR_NOMEM.
 */
int measure_use(struct measure *m, struct measure_plan **plan, struct err *e);

/*
 * Decides again where each piece runs. After a change, sends each branch the pieces that it lacks.
 */
int measure_route(struct measure *m, struct err *e);
void measure_lose_branch(struct measure *m, uint32_t branch);

void measure_step(struct measure *m, enum measure_event ev);
bool measure_runs(const struct measure *m);

/* When it is settled, the waiters for the branches are called. Returns NULL without memory. */
struct standing *measure_standing_new(struct measure *m);

#define MEASURE_TROUBLES_MAX 64 /* faults that are stored; more are of no use */
/* Adds an error that concerns the whole measurement, at mainsm. */
void measure_add_fault(struct measure *m, const char *text);
void measure_drop_troubles(struct measure *m, uint32_t branch);

/* --- measure_read.c */

nsec_t measure_now(const struct measures *ms);
int measure_reads_init(struct measure *m);
void measure_on_result(void *arg, const struct flow_result *r);
void measure_on_batch(void *arg, const struct flow_batch *b);
void measure_values_clear(struct measure *m);

/* --- measure_until.c */

/* Counts a result of the read that is being closed, and stores it if it belongs to a stop. */
void measure_count(struct measure *m, const struct flow_result *r);

/* True if the rule holds for each object that continues. False without a rule. */
bool measure_has_enough(const struct measure *m);

/*
 * Writes the rule, 1 if it has ended the measurement, and a list for each value. A list has object,
 * with, n, mean, variance, 1 if the rule holds, 1 if samples depend on each other. Writes nothing
 * without a rule.
 */
void measure_write_until(const struct measure *m, struct omis_writer *w);

#endif
