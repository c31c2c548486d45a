/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the binding. */
#ifndef PMSL_PLAN_BINDING_H
#define PMSL_PLAN_BINDING_H

#include "pmsl/check/builtin.h"
#include "pmsl/plan/bind.h"

enum known_kind {
	KNOWN_NUMBER, /* a condition is 1 or 0 */
	KNOWN_OBJECT, /* one */
	KNOWN_OBJECTS, /* a list of objects */
	KNOWN_REGIONS,
	KNOWN_NODE, /* a node of the graph: the value is known only during the measurement */
	/* a virtual time, a number computed from one, or a condition on one; .choice */
	KNOWN_CHOICE,
	KNOWN_NOTHING, /* an interval: the node that has it as input reads it itself */
};

struct known {
	enum known_kind kind;
	double number;
	uint32_t node;
	uint32_t object;
	const uint32_t *objects; /* OBJECT and OBJECTS */
	size_t nobject;
	const char *const *region;
	size_t nregion;
	/*
	 * CHOICE: its words. NUMBER, NODE: a condition holds for these virtual times; NULL: for all
	 */
	const struct flow_choice *choice;
	const struct bind_range *vt; /* virtual times of a list */
	size_t nvt;
};

struct remembered;

struct binder {
	const struct dag *g;
	const struct bind_options *options;
	struct bound *b;
	struct pmsl_diags *d;
	struct arena *arena;
	struct bind_arg arg[PMSL_PARAMS_MAX];
	/* current values of the variables: an object, the index of a region */
	uint32_t run[PMSL_VARIABLES_MAX];
	struct flow_names all_regions; /* the regions that a variable of kind Region runs over */
	uint32_t *all[PMSL_KINDS]; /* objects of each kind */
	size_t nall[PMSL_KINDS];
	const char *probe; /* the probe of the left side of AT, NULL = none */
	uint32_t process; /* the process of that probe */
	struct map remembered; /* cache for the current arguments: hash -> struct remembered */
	struct map chosen; /* hash -> struct chosen of bind_choice.c */
	/* by node of the template: it is evaluated more than once with the same variables */
	bool *is_remembered;
	const struct pmsl_builtin **builtin; /* by node of the template, for METRIC */
	const uint32_t *marked; /* the list of objects for which `mark` is set */
	size_t nmarked;
	bool *mark; /* by object: it is in the list `marked` */
	const uint32_t *partner; /* the list of partners of the last request */
	size_t npartner;
	uint32_t partner_job; /* the job of the last request */
	struct flow_names partners; /* the names of `partner` in partner_job */
	unsigned depth;
	uint64_t left; /* combinations that may still be examined */
};

/* Called before any evaluation. -ERR_NOMEM. */
int bind_prepare(struct binder *b);

/* Called after the arguments have changed. */
void bind_forget(struct binder *b);

/* Returns 0, or an error of bind_metric(). */
int bind_eval(struct binder *b, uint32_t node, struct known *out);

/* --- bind_remember.c */

/* Chooses the nodes of the template that are worth caching. */
int bind_choose_remembered(struct binder *b);

/*
 * Returns the cached value for the current process, probe and variables; NULL: not evaluated yet.
 * Valid until bind_forget().
 */
const struct known *bind_recall(const struct binder *b, uint32_t node);
int bind_remember(struct binder *b, uint32_t node, const struct known *known);

/* --- parts of the binding, one file each */
/* True if the node is a metric of calls, which a process without MPI does not make. */
bool bind_counts_calls(const struct binder *b, const struct dag_node *n);
int bind_source(struct binder *b, const struct dag_node *n, struct known *out);
int bind_context(struct binder *b, const struct dag_node *n, struct known *out);
int bind_fold(struct binder *b, const struct dag_node *n, struct known *out);
int bind_at(struct binder *b, const struct dag_node *n, struct known *out);

/* Kinds of objects, by enum bind_by. */
extern const enum pmsl_kind bind_by_kind[];

/* --- bind_choice.c */

/* Makes a virtual time that is `shift` earlier. */
int bind_choice_vt(struct binder *b, int64_t shift, struct known *out);
/* Makes an operation of choices, or of conditions that hold for some virtual times only. */
int bind_choice_op(struct binder *b, const struct dag_node *n, enum flow_op op,
		   const struct known in[2], struct known *out);
/* Makes the condition that a virtual time, or a number computed from one, is in a list. */
int bind_choice_in(struct binder *b, const struct dag_node *n, const struct known *vt,
		   const struct known *of, struct known *out);
/*
 * Drops values of node v that are not chosen, at the sources of these values. Has no effect without
 * a choice, or if v is not a node.
 */
int bind_choose(struct binder *b, const struct flow_choice *c, struct known *v);

/* --- bind_op.c */

/* The inputs of an operation. */
struct known_list {
	const struct known *v;
	size_t n;
};
struct node_list {
	const uint32_t *v;
	size_t n;
};

/* Makes an operation over these inputs; constants are evaluated at once. */
int bind_op(struct binder *b, const struct dag_node *at, enum flow_op op, struct known_list of,
	    struct known *out);

/*
 * Makes the aggregate of nodes. For a single node and a kind that does not change one value,
 * returns that node.
 */
int bind_set(struct binder *b, const struct dag_node *at, const struct flow_fold *fold,
	     struct node_list in, struct known *out);

/* Makes node n (kind and its parameters), with the position of `at` in the text. */
int bind_put(struct binder *b, const struct dag_node *at, struct flow_node *n,
	     const struct place *place, struct known *out);

/* Returns the node of a value: a constant becomes one. */
int bind_node(struct binder *b, const struct dag_node *at, const struct known *v, uint32_t *out);

int bind_fail(struct binder *b, const struct dag_node *at, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

struct known known_number(double v);

#endif
