/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/text/tree.h"

#include "common/base/str.h"

static const char *const folds[PMSL_FOLDS] = {
	"SUM",	      "PROD",	     "MIN",	  "MAX",      "MEAN",	  "STDEV",    "COUNT",
	"UNIQUE",     "QUANTILE",    "HISTOGRAM", "VARIANCE", "SKEWNESS", "KURTOSIS", "CI",
	"COVARIANCE", "CORRELATION", "WHO_MAX",	  "WHO_MIN",  "TOP",
};

static const char *const ops[PMSL_OPS] = {
	"-", "NOT", "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "AND", "OR",
};

const char *pmsl_fold_name(unsigned fold)
{
	return fold < PMSL_FOLDS ? folds[fold] : NULL;
}

bool pmsl_fold_is_of_pairs(unsigned fold)
{
	return fold == PMSL_COVARIANCE || fold == PMSL_CORRELATION;
}

bool pmsl_fold_has_share(unsigned fold)
{
	return fold == PMSL_QUANTILE || fold == PMSL_CI || fold == PMSL_TOP;
}

bool pmsl_fold_is_of_objects(unsigned fold)
{
	return fold == PMSL_WHO_MAX || fold == PMSL_WHO_MIN || fold == PMSL_TOP;
}

const char *pmsl_op_name(unsigned op)
{
	return op < PMSL_OPS ? ops[op] : NULL;
}

struct pmsl_metric *pmsl_tree_find(const struct pmsl_tree *t, const char *name)
{
	for (struct pmsl_metric *m = t->metric; m; m = m->next)
		if (str_eq(m->name, name))
			return m;
	return NULL;
}
