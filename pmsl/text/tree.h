/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of a text: metrics, their declarations, expressions. The parser makes it, and the check
 * (check.h) sets the members marked `by the check`. One arena holds the tree. Lists are linked by
 * `next`, in the order of the text.
 */
#ifndef PMSL_TEXT_TREE_H
#define PMSL_TEXT_TREE_H

#include "common/omis/text/arena.h"
#include "pmsl/text/type.h"
#include "pmsl/text/unit.h"

#include <stdbool.h>
#include <stdint.h>

/* A text of the largest size with the shortest words needs 40 MiB. */
#define PMSL_HEAP_MAX_BYTES (48 * 1024 * 1024)

/* the tallest tree that a sequence of operators makes: functions that walk trees recurse */
#define PMSL_HEIGHT_MAX 1000

/* Limits of one metric. */
#define PMSL_PARAMS_MAX 16
#define PMSL_VARIABLES_MAX 64 /* free variables of one metric: a set of them is one word */
#define PMSL_INDICES_MAX 4

enum pmsl_fold {
	PMSL_SUM,
	PMSL_PROD,
	PMSL_MIN,
	PMSL_MAX,
	PMSL_MEAN,
	PMSL_STDEV,
	PMSL_COUNT,
	PMSL_UNIQUE,
	PMSL_QUANTILE,
	PMSL_HISTOGRAM,
	PMSL_VARIANCE,
	PMSL_SKEWNESS,
	PMSL_KURTOSIS,
	PMSL_CI,
	PMSL_COVARIANCE,
	PMSL_CORRELATION,
	PMSL_WHO_MAX,
	PMSL_WHO_MIN,
	PMSL_TOP,
	PMSL_FOLDS
};

enum pmsl_op {
	PMSL_NEG,
	PMSL_NOT,
	PMSL_ADD,
	PMSL_SUB,
	PMSL_MUL,
	PMSL_DIV,
	PMSL_MOD,
	PMSL_EQ,
	PMSL_NE,
	PMSL_LT,
	PMSL_LE,
	PMSL_GT,
	PMSL_GE,
	PMSL_AND,
	PMSL_OR,
	PMSL_OPS
};

enum pmsl_expr_kind {
	PMSL_E_NUMBER,
	PMSL_E_REGION, /* name: a text in quotes */
	PMSL_E_NAME, /* name, arg = indices */
	PMSL_E_CALL, /* name(arg...): a metric or a function */
	PMSL_E_FOLD, /* op; arg = values, behind a share if there is one; where; over */
	PMSL_E_ATTR, /* arg[0].name */
	PMSL_E_INTERVAL, /* [arg[0], arg[1]] */
	PMSL_E_OP, /* op; one or two arg */
	PMSL_E_IN, /* arg[0] IN arg[1] */
	PMSL_E_AT, /* arg[0] AT name(arg[1]...) */
	PMSL_E_IF, /* IF(arg[0], arg[1], arg[2]) */
	PMSL_E_PAIR, /* arg[0] with arg[1]: the value of a fold of pairs */
};

/* When a value exists. */
enum pmsl_domain {
	PMSL_ALWAYS, /* a constant */
	PMSL_MOMENT, /* at any evaluation: at a read, or at a probe */
	PMSL_SPAN, /* MOMENT or READ: depends on the interval that is the metric's parameter */
	PMSL_READ, /* once a read */
	PMSL_EACH_VT, /* once for each virtual time of a probe */
};

/* A name in a list: the bound variables of MAX[p][q](...). */
struct pmsl_names {
	const char *name;
	uint32_t at;
	struct pmsl_names *next;
	const struct pmsl_decl *decl; /* by the check */
};

struct pmsl_expr {
	enum pmsl_expr_kind kind;
	uint8_t op; /* enum pmsl_op, enum pmsl_fold */
	bool is_integer; /* NUMBER */
	uint16_t height, narg;
	uint32_t at, len; /* position in the text */
	const char *name;
	double number;
	struct pmsl_expr *arg, *next;
	struct pmsl_expr *where; /* FOLD; NULL = all */
	struct pmsl_names *over; /* FOLD; NULL = all free variables */

	/* by the check */
	struct pmsl_type type;
	struct pmsl_unit unit;
	enum pmsl_domain domain;
	uint64_t free; /* numbers of the free variables in it */
	uint64_t bound; /* FOLD: variables that it runs over */
	const struct pmsl_decl *decl; /* NAME: what it names; AT: the probe */
	const struct pmsl_metric *metric; /* CALL of a user's metric */
	int builtin; /* CALL of a built-in metric, -1 = none */
	int function; /* CALL of a function, -1 = none */
	int64_t shift; /* a virtual time: the distance to an earlier one */
};

enum pmsl_decl_kind {
	PMSL_D_PARAM,
	PMSL_D_VARIABLE,
	PMSL_D_PROBE,
	PMSL_D_PROBE_PARAM, /* a further parameter of a probe */
};

/* A parameter, a variable, a probe. A variable without a value is free. */
struct pmsl_decl {
	enum pmsl_decl_kind kind;
	const char *name; /* NULL: a probe's parameter without a name */
	uint32_t at, len;
	struct pmsl_type type;
	struct pmsl_decl *next; /* next parameter of the metric, or of the probe */
	struct pmsl_decl *param; /* PROBE: its parameters */
	unsigned nparam; /* PROBE */
	unsigned position; /* PARAM and PROBE_PARAM: index of the parameter */

	struct pmsl_names *index; /* VARIABLE: the indices of name[index] = value */
	struct pmsl_expr *value; /* VARIABLE, NULL = free */

	/* by the check */
	int number; /* number of a free variable in its metric, -1 = none */
	bool is_used;
	const struct pmsl_decl *probe; /* PROBE_PARAM: the probe that it belongs to */
};

enum pmsl_stmt_kind { PMSL_S_DECLARE, PMSL_S_ASSIGN, PMSL_S_RETURN };

struct pmsl_stmt {
	enum pmsl_stmt_kind kind;
	uint32_t at, len; /* position of the name, or of RETURN */
	struct pmsl_decl *decl; /* DECLARE */
	const char *name; /* ASSIGN */
	struct pmsl_names *index; /* ASSIGN */
	struct pmsl_expr *value; /* ASSIGN, RETURN */
	struct pmsl_stmt *next;
};

struct pmsl_metric {
	const char *name;
	uint32_t at, len;
	struct pmsl_decl *param;
	unsigned nparam;
	const char *unit_text; /* NULL = none is written */
	uint32_t unit_at;
	struct pmsl_stmt *stmt;
	struct pmsl_metric *next;

	/* by the check */
	struct pmsl_expr *result;
	struct pmsl_unit unit;
	enum pmsl_domain domain;
	struct pmsl_decl *time; /* its parameter of kind VirtualTime or TimeInterval, NULL = none */
	unsigned nvariable; /* free variables, numbered from 0 */
	unsigned number; /* number in the text, from 0 */
	bool is_good; /* it has no error */
	bool is_used; /* another metric uses it */
	bool is_elsewhere; /* it belongs to another text than the one that is compiled */
};

/* A whole text. */
struct pmsl_tree {
	struct pmsl_metric *metric;
	unsigned nmetric;
	struct arena *arena;
	/* checked trees whose metrics this text may use; borrowed */
	struct pmsl_tree *const *known;
	size_t nknown;
};

/* Returns the name, such as "SUM"; NULL out of range. */
const char *pmsl_fold_name(unsigned fold);
/* True if a fold runs over two values: COVARIANCE(x, y), CORRELATION(x, y) */
bool pmsl_fold_is_of_pairs(unsigned fold);
/* True if a number precedes the value: QUANTILE(0.9, x), CI(0.95, x) */
bool pmsl_fold_has_share(unsigned fold);
/* True if the result of a fold is values with their objects: WHO_MAX, WHO_MIN, TOP. */
bool pmsl_fold_is_of_objects(unsigned fold);
/* Returns the operator as text, such as "+" or "NOT"; NULL out of range. */
const char *pmsl_op_name(unsigned op);

/* Returns NULL if there is none. */
struct pmsl_metric *pmsl_tree_find(const struct pmsl_tree *t, const char *name);

#endif
