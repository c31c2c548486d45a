/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the binding. */
#ifndef PMSL_PLAN_BINDING_H
#define PMSL_PLAN_BINDING_H

#include "pmsl/check/builtin.h"
#include "pmsl/plan/bind.h"

enum known_kind {
	KNOWN_NUMBER, /* truths are 1 and 0 */
	KNOWN_OBJECT, /* one */
	KNOWN_OBJECTS, /* a list */
	KNOWN_REGIONS,
	KNOWN_NODE, /* in the graph: known only during the measurement */
	KNOWN_CHOICE, /* a virtual time, a number of one, a condition on it: .choice */
	KNOWN_NOTHING, /* a span: a node with this input reads it itself */
};

struct known {
	enum known_kind kind;
	double number;
	uint32_t node;
	uint32_t object;
	const uint32_t *objects; /* of OBJECTS, and of an OBJECT */
	size_t nobject;
	const char *const *region;
	size_t nregion;
	/* CHOICE: its words. NUMBER, NODE: of a condition, the virtual times that it is for; NULL:
	 * all */
	const struct flow_choice *choice;
	const struct bind_range *vt; /* of a list of virtual times */
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
	struct flow_names all_regions; /* that a variable of kind Region runs over */
	uint32_t *all[PMSL_KINDS]; /* objects of each kind */
	size_t nall[PMSL_KINDS];
	const char *probe; /* the probe of the left side of AT, NULL = none */
	uint32_t process; /* and of which process */
	struct map remembered; /* of this argset: hash -> struct remembered */
	struct map chosen; /* hash -> struct chosen, of bind_choice.c */
	/* by node of the template: evaluated more than once with the same variables */
	bool *is_remembered;
	const struct pmsl_builtin **builtin; /* by node of the template: of a METRIC */
	const uint32_t *marked; /* the list of objects that `mark` is of */
	size_t nmarked;
	bool *mark; /* by object: it is in the list */
	const uint32_t *partner; /* the last list of partners that was requested, */
	size_t npartner;
	uint32_t partner_job; /* job of the processes, */
	struct flow_names partners; /* and the names of those in that job */
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

/* --- parts, one file each */
/* True if the node is a metric of calls, which a process without MPI does not make. */
bool bind_counts_calls(const struct binder *b, const struct dag_node *n);
int bind_source(struct binder *b, const struct dag_node *n, struct known *out);
int bind_context(struct binder *b, const struct dag_node *n, struct known *out);
int bind_fold(struct binder *b, const struct dag_node *n, struct known *out);
int bind_at(struct binder *b, const struct dag_node *n, struct known *out);

/* Kinds of objects, by enum bind_by. */
extern const enum pmsl_kind bind_by_kind[];

/* --- bind_choice.c */

/* A virtual time, so much earlier. */
int bind_choice_vt(struct binder *b, int64_t shift, struct known *out);
/* An operation with a choice in it, or with conditions that are for some virtual times only. */
int bind_choice_op(struct binder *b, const struct dag_node *n, enum flow_op op,
		   const struct known in[2], struct known *out);
/* The virtual time (or its number) is in a list. */
int bind_choice_in(struct binder *b, const struct dag_node *n, const struct known *vt,
		   const struct known *of, struct known *out);
/*
 * Drops what is not chosen of the node that v is, at the sources of its values. Nothing happens
 * without a choice, or when v is no node.
 */
int bind_choose(struct binder *b, const struct flow_choice *c, struct known *v);

/* --- bind_op.c */

/* The inputs of a node. */
struct known_list {
	const struct known *v;
	size_t n;
};
struct node_list {
	const uint32_t *v;
	size_t n;
};

/* Makes a node of the graph over these; constants are evaluated at once. */
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
