/* SPDX-License-Identifier: Apache-2.0 */
#include "common/ring/calls.h"
#include "common/ring/calls_id.h"

#include <string.h>

const struct call_desc *call_get(unsigned id)
{
	return id < call_count ? &call_table[id] : NULL;
}

int call_find(const char *name)
{
	for (unsigned i = 0; i < call_count; i++)
		if (strcmp(call_table[i].name, name) == 0)
			return (int)i;
	return -1;
}

bool call_starts(const struct call_desc *d)
{
	switch (d->volume) {
	case CALL_V_START:
	case CALL_V_STARTALL:
	case CALL_V_PREADY:
	case CALL_V_PREADY_RANGE:
	case CALL_V_PREADY_LIST:
		return true;
	default:
		return false;
	}
}

bool call_posts(const struct call_desc *d)
{
	return d->nparam && d->param[d->nparam - 1].kind == CALL_P_REQUEST &&
	       d->class != CALL_COMPLETE;
}

bool call_waits(const struct call_desc *d)
{
	switch (d->volume) {
	case CALL_V_WAIT:
	case CALL_V_TEST:
	case CALL_V_WAITANY:
	case CALL_V_TESTANY:
	case CALL_V_WAITALL:
	case CALL_V_TESTALL:
	case CALL_V_WAITSOME:
		return true;
	default:
		return false;
	}
}

const char *call_class_name(unsigned class)
{
	static const char *const name[CALL_CLASSES] = {
		[CALL_SEND] = "send",
		[CALL_RECV] = "receive",
		[CALL_PROBE] = "message_probe",
		[CALL_COMPLETE] = "wait",
		[CALL_COLLECTIVE] = "collective",
		[CALL_BARRIER] = "barrier",
		[CALL_RMA] = "onesided",
		[CALL_RMA_SYNC] = "onesided_sync",
		[CALL_IO] = "io",
		[CALL_COMM] = "communicator",
		[CALL_OTHER] = "other",
	};

	return class < CALL_CLASSES ? name[class] : "?";
}
