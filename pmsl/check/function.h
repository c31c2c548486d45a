/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of numbers: sqrt(x). An extension of the language, as IF, QUANTILE and HISTOGRAM
 * are. */
#ifndef PMSL_CHECK_FUNCTION_H
#define PMSL_CHECK_FUNCTION_H

#include "common/flow/graph/graph.h"

enum pmsl_function_unit {
	PMSL_F_KEEPS, /* the result has the unit of the argument */
	PMSL_F_PLAIN, /* takes and returns numbers without a unit */
	PMSL_F_ROOT, /* the result has half of each power of the argument's unit */
};

struct pmsl_function {
	const char *name;
	enum flow_op op;
	enum pmsl_function_unit unit;
};

/* Returns NULL beyond the last one. */
const struct pmsl_function *pmsl_function_get(unsigned i);
int pmsl_function_find(const char *name); /* -1 = none */

#endif
