/* SPDX-License-Identifier: Apache-2.0 */
#include "pmsl/check/function.h"

#include "common/base/array.h"
#include "common/base/str.h"

static const struct pmsl_function functions[] = {
	{ "abs", FLOW_OP_ABS, PMSL_F_KEEPS },	{ "floor", FLOW_OP_FLOOR, PMSL_F_KEEPS },
	{ "ceil", FLOW_OP_CEIL, PMSL_F_KEEPS }, { "round", FLOW_OP_ROUND, PMSL_F_KEEPS },
	{ "sqrt", FLOW_OP_SQRT, PMSL_F_ROOT },	{ "exp", FLOW_OP_EXP, PMSL_F_PLAIN },
	{ "log", FLOW_OP_LOG, PMSL_F_PLAIN },	{ "pow", FLOW_OP_POW, PMSL_F_PLAIN },
};

const struct pmsl_function *pmsl_function_get(unsigned i)
{
	return i < ARRAY_LEN(functions) ? &functions[i] : NULL;
}

int pmsl_function_find(const char *name)
{
	for (unsigned i = 0; i < ARRAY_LEN(functions); i++)
		if (str_eq(functions[i].name, name))
			return (int)i;
	return -1;
}
