/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/why/class.h"

#include "common/base/array.h"
#include "common/ring/calls.h"
#include "common/ring/calls_id.h"

#include <string.h>

static bool is_one_of(unsigned func, const uint16_t *funcs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (funcs[i] == func)
			return true;
	return false;
}

/*
 * Calls without a root let few ranks leave before all have entered. Those with neighbours wait for
 * these alone.
 */
static enum why_class class_of_collective(unsigned func)
{
	static const uint16_t from_root[] = { CALL_ID_Bcast,	    CALL_ID_Scatter,
					      CALL_ID_Scatterv,	    CALL_ID_Ibcast,
					      CALL_ID_Iscatter,	    CALL_ID_Iscatterv,
					      CALL_ID_Bcast_init,   CALL_ID_Scatter_init,
					      CALL_ID_Scatterv_init };
	static const uint16_t to_root[] = { CALL_ID_Reduce,	 CALL_ID_Gather,
					    CALL_ID_Gatherv,	 CALL_ID_Ireduce,
					    CALL_ID_Igather,	 CALL_ID_Igatherv,
					    CALL_ID_Reduce_init, CALL_ID_Gather_init,
					    CALL_ID_Gatherv_init };

	if (is_one_of(func, from_root, ARRAY_LEN(from_root)))
		return WHY_FROM_ROOT;
	if (strstr(call_get(func)->name, "eighbor"))
		return WHY_OTHER;
	return is_one_of(func, to_root, ARRAY_LEN(to_root)) ? WHY_TO_ROOT : WHY_NXN;
}

enum why_class class_of_call(unsigned func)
{
	const struct call_desc *d = call_get(func);

	switch (d ? d->class : CALL_OTHER) {
	case CALL_SEND:
		/* MPI_Sendrecv ends with its receive. */
		return strstr(d->name, "endrecv") ? WHY_WAIT : WHY_SEND;
	case CALL_RECV:
	case CALL_PROBE:
		return WHY_RECEIVE;
	case CALL_COMPLETE:
		return WHY_WAIT;
	case CALL_COLLECTIVE:
		return class_of_collective(func);
	case CALL_BARRIER:
		return WHY_BARRIER;
	case CALL_RMA:
		return WHY_RMA;
	case CALL_RMA_SYNC:
		return WHY_RMA_SYNC;
	case CALL_IO:
		return WHY_FILE;
	default:
		return WHY_OTHER;
	}
}
