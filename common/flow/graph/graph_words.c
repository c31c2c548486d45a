/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion between kinds or operators and their names. */
#include "common/flow/graph/graph.h"

#include "common/base/array.h"

#include <string.h>

static const char *const agg_name[AGG_NKINDS] = {
	[AGG_COUNT] = "COUNT",
	[AGG_SUM] = "SUM",
	[AGG_MIN] = "MIN",
	[AGG_MAX] = "MAX",
	[AGG_PROD] = "PROD",
	[AGG_MEAN] = "MEAN",
	[AGG_STDEV] = "STDEV",
	[AGG_UNIQUE] = "UNIQUE",
	[AGG_QUANTILE] = "QUANTILE",
	[AGG_HISTOGRAM] = "HISTOGRAM",
	[AGG_VARIANCE] = "VARIANCE",
	[AGG_SKEWNESS] = "SKEWNESS",
	[AGG_KURTOSIS] = "KURTOSIS",
	[AGG_CI] = "CI",
	[AGG_COVARIANCE] = "COVARIANCE",
	[AGG_CORRELATION] = "CORRELATION",
	[AGG_WHO_MAX] = "WHO_MAX",
	[AGG_WHO_MIN] = "WHO_MIN",
	[AGG_TOP] = "TOP",
};

static const char *const kind_name[FLOW_NKINDS] = {
	[FLOW_CONST] = "const",	      [FLOW_INPUT] = "input",	[FLOW_OP] = "op",
	[FLOW_SET] = "set",	      [FLOW_VT_AGG] = "vt_agg", [FLOW_SHIFT] = "shift",
	[FLOW_DELTA] = "delta",	      [FLOW_RATE] = "rate",	[FLOW_LINK_IN] = "link_in",
	[FLOW_LINK_OUT] = "link_out", [FLOW_RESULT] = "result", [FLOW_STOP] = "stop",
	[FLOW_PAIR] = "pair",	      [FLOW_CHOICE] = "choice", [FLOW_WHO] = "who",
};

static const char *const source_name[FLOW_NSOURCES] = {
	[FLOW_SOURCE_METRIC] = "metric",
	[FLOW_SOURCE_PARAMETER] = "parameter",
	[FLOW_SOURCE_TIME] = "time",
	[FLOW_SOURCE_EVENT] = "event",
};

static const char *const domain_name[] = { "any", "vt", "read" };

static const struct {
	const char *name;
	size_t nin;
} op_word[FLOW_NOPS] = {
	[FLOW_OP_ADD] = { "+", 2 },	  [FLOW_OP_SUB] = { "-", 2 },
	[FLOW_OP_MUL] = { "*", 2 },	  [FLOW_OP_DIV] = { "/", 2 },
	[FLOW_OP_MOD] = { "%", 2 },	  [FLOW_OP_NEG] = { "neg", 1 },
	[FLOW_OP_EQ] = { "==", 2 },	  [FLOW_OP_NE] = { "!=", 2 },
	[FLOW_OP_LT] = { "<", 2 },	  [FLOW_OP_LE] = { "<=", 2 },
	[FLOW_OP_GT] = { ">", 2 },	  [FLOW_OP_GE] = { ">=", 2 },
	[FLOW_OP_AND] = { "and", 2 },	  [FLOW_OP_OR] = { "or", 2 },
	[FLOW_OP_NOT] = { "not", 1 },	  [FLOW_OP_IF] = { "if", 3 },
	[FLOW_OP_WHERE] = { "where", 2 }, [FLOW_OP_TIME] = { "time", 1 },
	[FLOW_OP_MIN] = { "min", 2 },	  [FLOW_OP_MAX] = { "max", 2 },
	[FLOW_OP_ABS] = { "abs", 1 },	  [FLOW_OP_FLOOR] = { "floor", 1 },
	[FLOW_OP_CEIL] = { "ceil", 1 },	  [FLOW_OP_ROUND] = { "round", 1 },
	[FLOW_OP_SQRT] = { "sqrt", 1 },	  [FLOW_OP_EXP] = { "exp", 1 },
	[FLOW_OP_LOG] = { "log", 1 },	  [FLOW_OP_POW] = { "pow", 2 },
};

static bool find(const char *const *names, size_t n, const char *name, size_t *at)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(names[i], name)) {
			*at = i;
			return true;
		}
	}
	return false;
}

const char *agg_kind_name(enum agg_kind kind)
{
	return (size_t)kind < AGG_NKINDS ? agg_name[kind] : NULL;
}

bool agg_kind_find(const char *name, enum agg_kind *out)
{
	size_t at;

	if (!find(agg_name, AGG_NKINDS, name, &at))
		return false;
	*out = (enum agg_kind)at;
	return true;
}

const char *flow_kind_name(enum flow_kind kind)
{
	return (size_t)kind < FLOW_NKINDS ? kind_name[kind] : NULL;
}

bool flow_kind_find(const char *name, enum flow_kind *out)
{
	size_t at;

	if (!find(kind_name, FLOW_NKINDS, name, &at))
		return false;
	*out = (enum flow_kind)at;
	return true;
}

const char *flow_source_name(enum flow_source_kind kind)
{
	return (size_t)kind < FLOW_NSOURCES ? source_name[kind] : NULL;
}

bool flow_source_find(const char *name, enum flow_source_kind *out)
{
	size_t at;

	if (!find(source_name, FLOW_NSOURCES, name, &at))
		return false;
	*out = (enum flow_source_kind)at;
	return true;
}

const char *flow_domain_name(enum flow_domain domain)
{
	return (size_t)domain < ARRAY_LEN(domain_name) ? domain_name[domain] : NULL;
}

const char *flow_op_name(enum flow_op op)
{
	return (size_t)op < FLOW_NOPS ? op_word[op].name : NULL;
}

size_t flow_op_arity(enum flow_op op)
{
	return (size_t)op < FLOW_NOPS ? op_word[op].nin : 0;
}

bool flow_op_find(const char *name, enum flow_op *out)
{
	for (size_t i = 0; i < FLOW_NOPS; i++) {
		if (!strcmp(op_word[i].name, name)) {
			*out = (enum flow_op)i;
			return true;
		}
	}
	return false;
}
